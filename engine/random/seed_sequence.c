/* numpy.random.SeedSequence: entropy hashed into a pool of four words; O'Neill's seed_seq_fe with NumPy's constants. */
#include "base/checked.h"
#include "random/check.h"

enum { POOL = 4 };

static uint32_t hash(uint32_t value, uint32_t *constant, uint32_t multiplier)
{
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

static uint32_t mix(uint32_t x, uint32_t y)
{
    uint32_t r = UINT32_C(0xca01f9dd) * x - UINT32_C(0x4973f715) * y;
    return r ^ r >> 16;
}

/* Word i of entropy and spawn key together. Short entropy is padded to the pool when a key follows, so that a key never
 * stands where entropy could. */
static uint32_t word(const uint32_t *entropy, int64_t n_entropy, const uint32_t *key, int64_t n_key, int64_t i)
{
    int64_t key_begin = n_entropy < POOL && n_key ? POOL : n_entropy;
    if (i < n_entropy)
        return entropy[i];
    return i >= key_begin && i - key_begin < n_key ? key[i - key_begin] : 0;
}

tn_status tn_seed_sequence_init(tn_seed_sequence *sequence, const uint32_t *entropy, int64_t n_entropy,
                                const uint32_t *spawn_key, int64_t n_spawn_key)
{
    const uint32_t multiplier = UINT32_C(0x931e8875);
    int64_t n;
    if (!tni_check_pointer("seed_sequence_init", sequence, 1, "sequence") ||
        !tni_check_array("seed_sequence_init", entropy, 2, "entropy", n_entropy) ||
        !tni_check_array("seed_sequence_init", spawn_key, 4, "spawn_key", n_spawn_key))
        return tni_pending();
    if (!tni_add_i64(n_entropy < POOL ? POOL : n_entropy, n_spawn_key, &n))
        return TNI_FAIL(TN_ERROR_OVERFLOW, "seed_sequence_init", "%lld and %lld words, needed at most 2^63-1 together",
                        (long long)n_entropy, (long long)n_spawn_key);
    uint32_t constant = UINT32_C(0x43b0d7e5), pool[POOL];
    for (int i = 0; i < POOL; i++)
        pool[i] = hash(word(entropy, n_entropy, spawn_key, n_spawn_key, i), &constant, multiplier);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++)
            if (from != to)
                pool[to] = mix(pool[to], hash(pool[from], &constant, multiplier));
    for (int64_t i = POOL; i < n; i++)
        for (int to = 0; to < POOL; to++)
            pool[to] = mix(pool[to], hash(word(entropy, n_entropy, spawn_key, n_spawn_key, i), &constant, multiplier));
    for (int i = 0; i < POOL; i++)
        sequence->pool[i] = pool[i];
    return TN_OK;
}

static uint32_t output(const tn_seed_sequence *sequence, int64_t i, uint32_t *constant)
{
    return hash(sequence->pool[i % POOL], constant, UINT32_C(0x58f38ded));
}

static const uint32_t output_constant = UINT32_C(0x8b51f9dd);

tn_status tn_seed_sequence_generate_state(const tn_seed_sequence *sequence, uint32_t *out, int64_t n)
{
    if (!tni_check_pointer("seed_sequence_generate_state", sequence, 1, "sequence") ||
        !tni_check_array("seed_sequence_generate_state", out, 2, "out", n))
        return tni_pending();
    uint32_t constant = output_constant;
    for (int64_t i = 0; i < n; i++)
        out[i] = output(sequence, i, &constant);
    return TN_OK;
}

tn_status tn_seed_sequence_generate_state64(const tn_seed_sequence *sequence, uint64_t *out, int64_t n)
{
    if (!tni_check_pointer("seed_sequence_generate_state64", sequence, 1, "sequence") ||
        !tni_check_array("seed_sequence_generate_state64", out, 2, "out", n))
        return tni_pending();
    uint32_t constant = output_constant;
    for (int64_t i = 0; i < n; i++) {
        uint64_t low = output(sequence, 2 * (i % 2), &constant);
        out[i] = low | (uint64_t)output(sequence, 2 * (i % 2) + 1, &constant) << 32;
    }
    return TN_OK;
}
