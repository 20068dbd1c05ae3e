/* SHA-256, straight from the standard. Its constants are the first 32 bits of the fractions of square roots (start) and
 * cube roots (rounds) of the first primes, which are found with long arithmetic when first needed. */
#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t start[8], rounds[64];

/* floor(2^32 * root) of a square or cube root, less its whole part: bit by bit, root^degree <= prime 2^(32 degree). */
static uint32_t fraction(uint32_t prime, int degree)
{
    uint64_t root = 0;
    for (int bit = 35; bit >= 0; bit--) {
        uint64_t trial = root | UINT64_C(1) << bit;
        uint32_t limbs[6] = {1};
        for (int i = 0; i < degree; i++) {
            uint32_t product[6] = {0};
            for (int j = 0; j < 6; j++)
                for (int k = 0; k < 2 && j + k < 6; k++) {
                    uint64_t carry = (uint64_t)limbs[j] * (uint32_t)(trial >> (32 * k));
                    for (int l = j + k; carry && l < 6; l++) {
                        carry += product[l];
                        product[l] = (uint32_t)carry;
                        carry >>= 32;
                    }
                }
            memcpy(limbs, product, sizeof limbs);
        }
        uint32_t bound[6] = {0};
        int larger = 0;
        bound[degree] = prime;
        for (int j = 5; j >= 0 && !larger; j--)
            larger = (limbs[j] > bound[j]) - (limbs[j] < bound[j]);
        if (larger <= 0)
            root = trial;
    }
    return (uint32_t)root;
}

static void begin(void)
{
    int found = 0;
    for (uint32_t n = 2; found < 64; n++) {
        uint32_t divisor = 2;
        while (n % divisor)
            divisor++;
        if (divisor < n)
            continue;
        if (found < 8)
            start[found] = fraction(n, 2);
        rounds[found++] = fraction(n, 3);
    }
}

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void block(uint32_t state[8], const unsigned char *data)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 | (uint32_t)data[4 * i + 2] << 8 |
               data[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                     rounds[i] + w[i];
        uint32_t b =
            (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += a;
        v[0] = a + b;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256(const void *data, size_t bytes, char hex[65])
{
    uint32_t state[8];
    unsigned char tail[128] = {0};
    if (!start[0])
        begin();
    memcpy(state, start, sizeof state);
    const unsigned char *p = data;
    size_t left = bytes;
    for (; left >= 64; left -= 64, p += 64)
        block(state, p);
    if (left > 0)
        memcpy(tail, p, left);
    tail[left] = 0x80;
    size_t total = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        tail[total - 1 - i] = (unsigned char)((uint64_t)bytes * 8 >> (8 * i));
    for (size_t at = 0; at < total; at += 64)
        block(state, tail + at);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", (unsigned)state[i]);
}
