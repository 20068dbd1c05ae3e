/* CRC-32 of ISO 3309, the one of zip, gzip and PNG; "123456789" gives cbf43926. */
#ifndef TNI_DATA_CRC32_H
#define TNI_DATA_CRC32_H

#include <stddef.h>
#include <stdint.h>

typedef struct tni_crc32 {
    uint32_t value; /* of the bytes so far, once finished by tni_crc32_value */
    uint32_t table[8][256];
} tni_crc32;

void tni_crc32_begin(tni_crc32 *crc);
void tni_crc32_add(tni_crc32 *crc, const void *data, size_t bytes);
uint32_t tni_crc32_value(const tni_crc32 *crc);

#endif
