/* CRC-32, eight bytes a step: table[k][b] is the remainder of byte b with k zero bytes behind it.
 * Source: Kounavis & Berry 2005, "A systematic approach to building high performance software-based CRC generators". */
#include "crc32.h"

void tni_crc32_begin(tni_crc32 *crc)
{
    crc->value = 0xffffffffu;
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t r = b;
        for (int bit = 0; bit < 8; bit++)
            r = r & 1 ? r >> 1 ^ 0xedb88320u : r >> 1;
        crc->table[0][b] = r;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            crc->table[k][b] = crc->table[k - 1][b] >> 8 ^ crc->table[0][crc->table[k - 1][b] & 0xff];
}

void tni_crc32_add(tni_crc32 *crc, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint32_t r = crc->value;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint32_t low = r ^ (p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        r = crc->table[7][low & 0xff] ^ crc->table[6][low >> 8 & 0xff] ^ crc->table[5][low >> 16 & 0xff] ^
            crc->table[4][low >> 24] ^ crc->table[3][p[4]] ^ crc->table[2][p[5]] ^ crc->table[1][p[6]] ^
            crc->table[0][p[7]];
    }
    for (; bytes > 0; bytes--)
        r = r >> 8 ^ crc->table[0][(r ^ *p++) & 0xff];
    crc->value = r;
}

uint32_t tni_crc32_value(const tni_crc32 *crc)
{
    return ~crc->value;
}
