/* MT19937: seeding, renewal and bulk output. Loops are written so that compilers vectorise them. */
#include "random/mt19937.h"

enum { WORDS = TNI_MT_WORDS, SHIFT = 397 };

void tni_mt19937_seed(tn_mt19937 *mt, uint32_t seed)
{
    mt->key[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++)
        mt->key[i] = UINT32_C(1812433253) * (mt->key[i - 1] ^ mt->key[i - 1] >> 30) + i;
    mt->position = WORDS;
}

static inline uint32_t twist(uint32_t high, uint32_t low)
{
    uint32_t mixed = (high & UINT32_C(0x80000000)) | (low & UINT32_C(0x7fffffff));
    return mixed >> 1 ^ ((0 - (low & 1)) & UINT32_C(0x9908b0df));
}

void tni_mt19937_renew(tn_mt19937 *mt)
{
    uint32_t *key = mt->key;
    for (int i = 0; i < WORDS - SHIFT; i++)
        key[i] = key[i + SHIFT] ^ twist(key[i], key[i + 1]);
    for (int i = WORDS - SHIFT; i < WORDS - 1; i++)
        key[i] = key[i + SHIFT - WORDS] ^ twist(key[i], key[i + 1]);
    key[WORDS - 1] = key[SHIFT - 1] ^ twist(key[WORDS - 1], key[0]);
    mt->position = 0;
}

void tni_mt19937_fill(tn_mt19937 *mt, uint32_t *out, int64_t n)
{
    while (n > 0) {
        if (mt->position >= WORDS)
            tni_mt19937_renew(mt);
        int left = WORDS - mt->position, count = n < left ? (int)n : left;
        const uint32_t *restrict key = mt->key + mt->position;
        for (int i = 0; i < count; i++)
            out[i] = tni_mt19937_temper(key[i]);
        mt->position += count;
        out += count;
        n -= count;
    }
}

void tni_mt19937_skip(tn_mt19937 *mt, int64_t n)
{
    while (n > 0) {
        if (mt->position >= WORDS)
            tni_mt19937_renew(mt);
        int left = WORDS - mt->position, count = n < left ? (int)n : left;
        mt->position += count;
        n -= count;
    }
}

bool tni_mt19937_ready(const tn_mt19937 *mt)
{
    if (mt->position < 0 || mt->position > WORDS)
        return false;
    for (int i = 1; i < WORDS; i++)
        if (mt->key[i])
            return true;
    return mt->key[0] >> 31; /* the low 31 bits of the first word are not part of the state */
}
