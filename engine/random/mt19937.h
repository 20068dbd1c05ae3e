/* MT19937: the recurrence and tempering of Matsumoto and Nishimura, "Mersenne Twister", ACM TOMACS 8(1), 1998. */
#ifndef TNI_RANDOM_MT19937_H
#define TNI_RANDOM_MT19937_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/random.h>

enum { TNI_MT_WORDS = 624 };

/* key[0] = seed, key[i] = 1812433253 (key[i-1] ^ key[i-1] >> 30) + i; all words used up. */
void tni_mt19937_seed(tn_mt19937 *mt, uint32_t seed);

/* Renews the words; position becomes 0. */
void tni_mt19937_renew(tn_mt19937 *mt);

/* The next n tempered words: what n calls of tni_mt19937_next give. */
void tni_mt19937_fill(tn_mt19937 *mt, uint32_t *out, int64_t n);

/* As n calls of tni_mt19937_next whose words nobody wants. */
void tni_mt19937_skip(tn_mt19937 *mt, int64_t n);

/* False for words that no seed leads to: all zero (a {0} struct, on which rejection would never end), or a position
 * outside them. */
bool tni_mt19937_ready(const tn_mt19937 *mt);

static inline uint32_t tni_mt19937_temper(uint32_t y)
{
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ y >> 18;
}

static inline uint32_t tni_mt19937_next(tn_mt19937 *mt)
{
    if (mt->position >= TNI_MT_WORDS)
        tni_mt19937_renew(mt);
    return tni_mt19937_temper(mt->key[mt->position++]);
}

/* First word high. */
static inline uint64_t tni_mt19937_next64(tn_mt19937 *mt)
{
    uint64_t high = tni_mt19937_next(mt);
    return high << 32 | tni_mt19937_next(mt);
}

#endif
