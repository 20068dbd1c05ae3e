/* numpy.random.Generator over PCG64: the distributions of default_rng. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "random/bounded.h"
#include "random/check.h"
#include "random/pcg64.h"
#include "random/ziggurat.h"

static void seed_from(tn_default_rng *rng, const uint64_t words[4])
{
    rng->inc_high = words[2] << 1 | words[3] >> 63;
    rng->inc_low = words[3] << 1 | 1;
    rng->state_high = rng->state_low = 0;
    tni_pcg64_step(rng);
    uint64_t low = rng->state_low + words[1];
    rng->state_high += words[0] + (low < words[1]);
    rng->state_low = low;
    tni_pcg64_step(rng);
    rng->has_uint32 = 0;
    rng->uinteger = 0;
}

tn_status tn_default_rng_from_seed_sequence(tn_default_rng *rng, const tn_seed_sequence *sequence)
{
    uint64_t words[4];
    if (!tni_check_pointer("default_rng_from_seed_sequence", rng, 1, "rng") ||
        !tni_check_pointer("default_rng_from_seed_sequence", sequence, 2, "sequence") ||
        tn_seed_sequence_generate_state64(sequence, words, 4) != TN_OK)
        return tni_pending();
    seed_from(rng, words);
    return TN_OK;
}

tn_status tn_default_rng_seed(tn_default_rng *rng, uint64_t seed)
{
    const uint32_t entropy[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    tn_seed_sequence sequence;
    if (!tni_check_pointer("default_rng_seed", rng, 1, "rng") ||
        tn_seed_sequence_init(&sequence, entropy, entropy[1] ? 2 : 1, NULL, 0) != TN_OK)
        return tni_pending();
    return tn_default_rng_from_seed_sequence(rng, &sequence);
}

/* The base layer's tail, beyond R (Marsaglia 1964): an exponential proposal, kept with the probability that makes it
 * normal. */
static double normal_tail(tn_default_rng *rng, bool negative)
{
    double x, y;
    do {
        x = -(1.0 / TNI_ZIGGURAT_R) * log1p(-tni_pcg64_double(rng));
        y = -log1p(-tni_pcg64_double(rng));
    } while (!(y + y > x * x));
    return negative ? -(TNI_ZIGGURAT_R + x) : TNI_ZIGGURAT_R + x;
}

/* -x where negative is 1, without a branch that half of the draws would mispredict. */
static inline double with_sign(double x, uint64_t negative)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= negative << 63;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A word's parts: the layer in 8 bits, the sign in one, the step along the layer in 52. */
static inline unsigned layer_of(uint64_t word)
{
    return word & 255;
}

static inline uint64_t step_of(uint64_t word)
{
    return word >> 9 & (((uint64_t)1 << 52) - 1);
}

static inline double deviate_of(uint64_t word)
{
    return with_sign((double)(int64_t)step_of(word) * tni_ziggurat_wi[layer_of(word)], word >> 8 & 1);
}

/* Goes on from a word whose step leaves its layer, with as many words as it takes. */
static __attribute__((noinline)) double normal_edge(tn_default_rng *rng, uint64_t word)
{
    for (; step_of(word) >= tni_ziggurat_ki[layer_of(word)]; word = tni_pcg64_next(rng)) {
        unsigned layer = layer_of(word);
        if (layer == 0)
            return normal_tail(rng, step_of(word) >> 8 & 1);
        double x = deviate_of(word), rise = tni_ziggurat_fi[layer - 1] - tni_ziggurat_fi[layer];
        if (rise * tni_pcg64_double(rng) + tni_ziggurat_fi[layer] < exp(-0.5 * x * x))
            return x;
    }
    return deviate_of(word);
}

/* 98.8 % of words give a deviate at once. The rest works on a copy, so that *rng may live in registers. */
static inline double next_normal(tn_default_rng *rng)
{
    uint64_t word = tni_pcg64_next(rng);
    if (TNI_LIKELY(step_of(word) < tni_ziggurat_ki[layer_of(word)]))
        return deviate_of(word);
    tn_default_rng copy = *rng;
    double x = normal_edge(&copy, word);
    *rng = copy;
    return x;
}

uint64_t tn_default_rng_next_uint64(tn_default_rng *rng)
{
    return tni_check_rng("default_rng_next_uint64", rng) ? tni_pcg64_next(rng) : 0;
}

uint32_t tn_default_rng_next_uint32(tn_default_rng *rng)
{
    return tni_check_rng("default_rng_next_uint32", rng) ? tni_pcg64_next32(rng) : 0;
}

double tn_default_rng_next_double(tn_default_rng *rng)
{
    return tni_check_rng("default_rng_next_double", rng) ? tni_pcg64_double(rng) : (double)NAN;
}

double tn_default_rng_next_normal(tn_default_rng *rng)
{
    return tni_check_rng("default_rng_next_normal", rng) ? next_normal(rng) : (double)NAN;
}

/* The loops below work on a copy of the generator, which the compiler can keep in registers. */

static void fill_uniform(tn_default_rng *rng, double low, double width, double *out, int64_t n)
{
    tn_default_rng local = *rng;
    for (int64_t i = 0; i < n; i++)
        out[i] = low + width * tni_pcg64_double(&local);
    *rng = local;
}

tn_status tn_default_rng_random(tn_default_rng *rng, double *out, int64_t n)
{
    if (!tni_check_rng("default_rng_random", rng) || !tni_check_array("default_rng_random", out, 2, "out", n))
        return tni_pending();
    fill_uniform(rng, 0.0, 1.0, out, n);
    return TN_OK;
}

tn_status tn_default_rng_random_float32(tn_default_rng *rng, float *out, int64_t n)
{
    if (!tni_check_rng("default_rng_random_float32", rng) ||
        !tni_check_array("default_rng_random_float32", out, 2, "out", n))
        return tni_pending();
    tn_default_rng local = *rng;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)(int32_t)(tni_pcg64_next32(&local) >> 8) * 0x1p-24f;
    *rng = local;
    return TN_OK;
}

tn_status tn_default_rng_uniform(tn_default_rng *rng, double low, double high, double *out, int64_t n)
{
    if (!tni_check_rng("default_rng_uniform", rng) || !tni_check_array("default_rng_uniform", out, 4, "out", n) ||
        !tni_check_bounds("default_rng_uniform", low, high, DBL_MAX))
        return tni_pending();
    fill_uniform(rng, low, high - low, out, n);
    return TN_OK;
}

tn_status tn_default_rng_normal(tn_default_rng *rng, double loc, double scale, double *out, int64_t n)
{
    if (!tni_check_rng("default_rng_normal", rng) || !tni_check_array("default_rng_normal", out, 4, "out", n) ||
        !tni_check_scale("default_rng_normal", "scale", scale))
        return tni_pending();
    tn_default_rng local = *rng;
    for (int64_t i = 0; i < n; i++)
        out[i] = loc + scale * next_normal(&local);
    *rng = local;
    return TN_OK;
}

/* Lemire's method: the high half of word * count, redrawn while the low half is below (2^w - count) mod count. */
static inline uint32_t below32(tn_default_rng *rng, uint32_t count, uint32_t threshold)
{
    uint64_t product;
    do
        product = (uint64_t)tni_pcg64_next32(rng) * count;
    while ((uint32_t)product < threshold);
    return (uint32_t)(product >> 32);
}

static inline uint64_t below64(tn_default_rng *rng, uint64_t count, uint64_t threshold)
{
    tni_uint128 product;
    do
        product = (tni_uint128)tni_pcg64_next(rng) * count;
    while ((uint64_t)product < threshold);
    return (uint64_t)(product >> 64);
}

/* Uniform on low .. low + max. Where max is all ones of a width, NumPy takes the words as they are. */
static void fill_integers(tn_default_rng *rng, uint64_t low, uint64_t max, int64_t *out, int64_t n)
{
    uint64_t count = max + 1;
    if (max == 0) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)low;
    } else if (max == UINT32_MAX) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)(low + tni_pcg64_next32(rng));
    } else if (max < UINT32_MAX) {
        uint32_t threshold = -(uint32_t)count % (uint32_t)count;
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)(low + below32(rng, (uint32_t)count, threshold));
    } else if (max == UINT64_MAX) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)(low + tni_pcg64_next(rng));
    } else {
        uint64_t threshold = -count % count;
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)(low + below64(rng, count, threshold));
    }
}

tn_status tn_default_rng_integers(tn_default_rng *rng, int64_t low, int64_t high, bool endpoint, int64_t *out,
                                  int64_t n)
{
    if (!tni_check_rng("default_rng_integers", rng) || !tni_check_array("default_rng_integers", out, 5, "out", n))
        return tni_pending();
    if (high < low || (high == low && !endpoint))
        return TNI_FAIL(TN_ERROR_ARGUMENT, "default_rng_integers", "low is %lld and high %lld, needed low %s high",
                        (long long)low, (long long)high, endpoint ? "<=" : "<");
    tn_default_rng local = *rng;
    fill_integers(&local, (uint64_t)low, (uint64_t)high - (uint64_t)low - !endpoint, out, n);
    *rng = local;
    return TN_OK;
}

static inline uint64_t interval(tn_default_rng *rng, uint64_t max)
{
    uint64_t mask = tni_mask_of(max), value;
    do
        value = (max <= UINT32_MAX ? tni_pcg64_next32(rng) : tni_pcg64_next(rng)) & mask;
    while (value > max);
    return value;
}

static void shuffle(tn_default_rng *rng, int64_t *values, int64_t n)
{
    tn_default_rng local = *rng;
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t j = interval(&local, (uint64_t)i);
        int64_t swapped = values[i];
        values[i] = values[j];
        values[j] = swapped;
    }
    *rng = local;
}

tn_status tn_default_rng_shuffle(tn_default_rng *rng, int64_t *values, int64_t n)
{
    if (!tni_check_rng("default_rng_shuffle", rng) || !tni_check_array("default_rng_shuffle", values, 2, "values", n))
        return tni_pending();
    shuffle(rng, values, n);
    return TN_OK;
}

tn_status tn_default_rng_permutation(tn_default_rng *rng, int64_t *out, int64_t n)
{
    if (!tni_check_rng("default_rng_permutation", rng) || !tni_check_array("default_rng_permutation", out, 2, "out", n))
        return tni_pending();
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    shuffle(rng, out, n);
    return TN_OK;
}
