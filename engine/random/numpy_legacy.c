/* numpy.random.RandomState: the legacy distributions over MT19937, frozen by NEP 19. */
#include <float.h>
#include <math.h>

#include "random/bounded.h"
#include "random/check.h"
#include "random/mt19937.h"

enum { CHUNK = 256 }; /* doubles made from one buffer of words */

static inline bool ready(const char *function, const tn_random_state *state)
{
    return tni_check_mt(function, (const tn_mt19937 *)state, "state");
}

tn_status tn_random_state_seed(tn_random_state *state, uint64_t seed)
{
    if (!tni_check_pointer("random_state_seed", state, 1, "state"))
        return tni_pending();
    if (seed > UINT32_MAX)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "random_state_seed", "seed is %llu, needed 0 to 4294967295",
                        (unsigned long long)seed);
    tni_mt19937_seed(&state->mt, (uint32_t)seed);
    state->has_gauss = 0;
    state->gauss = 0.0;
    return TN_OK;
}

static inline double to_double(uint32_t first, uint32_t second)
{
    return ((double)(first >> 5) * 67108864.0 + (double)(second >> 6)) * 0x1p-53;
}

static inline double next_double(tn_mt19937 *mt)
{
    uint32_t first = tni_mt19937_next(mt);
    return to_double(first, tni_mt19937_next(mt));
}

static inline double next_gauss(tn_random_state *state)
{
    if (state->has_gauss) {
        state->has_gauss = 0;
        double cached = state->gauss;
        state->gauss = 0.0;
        return cached;
    }
    double x1, x2, r2;
    do {
        x1 = 2.0 * next_double(&state->mt) - 1.0;
        x2 = 2.0 * next_double(&state->mt) - 1.0;
        r2 = x1 * x1 + x2 * x2;
    } while (r2 >= 1.0 || r2 == 0.0);
    double f = sqrt(-2.0 * log(r2) / r2);
    state->gauss = f * x1;
    state->has_gauss = 1;
    return f * x2;
}

static inline uint64_t interval(tn_mt19937 *mt, uint64_t max, uint64_t mask)
{
    uint64_t value = 0;
    if (max == 0)
        return 0;
    if (max <= UINT32_MAX) {
        do
            value = tni_mt19937_next(mt) & mask;
        while (value > max);
    } else {
        do
            value = tni_mt19937_next64(mt) & mask;
        while (value > max);
    }
    return value;
}

uint32_t tn_random_state_next_uint32(tn_random_state *state)
{
    return ready("random_state_next_uint32", state) ? tni_mt19937_next(&state->mt) : 0;
}

uint64_t tn_random_state_next_uint64(tn_random_state *state)
{
    return ready("random_state_next_uint64", state) ? tni_mt19937_next64(&state->mt) : 0;
}

double tn_random_state_next_double(tn_random_state *state)
{
    return ready("random_state_next_double", state) ? next_double(&state->mt) : (double)NAN;
}

double tn_random_state_next_gauss(tn_random_state *state)
{
    return ready("random_state_next_gauss", state) ? next_gauss(state) : (double)NAN;
}

uint64_t tn_random_state_interval(tn_random_state *state, uint64_t max)
{
    return ready("random_state_interval", state) ? interval(&state->mt, max, tni_mask_of(max)) : 0;
}

static void fill_uniform(tn_mt19937 *mt, double low, double width, double *out, int64_t n)
{
    uint32_t words[2 * CHUNK];
    while (n > 0) {
        int count = n < CHUNK ? (int)n : CHUNK;
        tni_mt19937_fill(mt, words, 2 * count);
        for (int i = 0; i < count; i++)
            out[i] = low + width * to_double(words[2 * i], words[2 * i + 1]);
        out += count;
        n -= count;
    }
}

tn_status tn_random_state_random_sample(tn_random_state *state, double *out, int64_t n)
{
    if (!ready("random_state_random_sample", state) || !tni_check_array("random_state_random_sample", out, 2, "out", n))
        return tni_pending();
    fill_uniform(&state->mt, 0.0, 1.0, out, n);
    return TN_OK;
}

tn_status tn_random_state_uniform(tn_random_state *state, double low, double high, double *out, int64_t n)
{
    if (!ready("random_state_uniform", state) || !tni_check_array("random_state_uniform", out, 4, "out", n) ||
        !tni_check_bounds("random_state_uniform", low, high, DBL_MAX))
        return tni_pending();
    fill_uniform(&state->mt, low, high - low, out, n);
    return TN_OK;
}

tn_status tn_random_state_normal(tn_random_state *state, double loc, double scale, double *out, int64_t n)
{
    if (!ready("random_state_normal", state) || !tni_check_array("random_state_normal", out, 4, "out", n) ||
        !tni_check_scale("random_state_normal", "scale", scale))
        return tni_pending();
    for (int64_t i = 0; i < n; i++)
        out[i] = loc + scale * next_gauss(state);
    return TN_OK;
}

tn_status tn_random_state_randint(tn_random_state *state, int64_t low, int64_t high, int64_t *out, int64_t n)
{
    if (!ready("random_state_randint", state) || !tni_check_array("random_state_randint", out, 4, "out", n) ||
        !tni_check_range("random_state_randint", low, high))
        return tni_pending();
    uint64_t max = (uint64_t)high - (uint64_t)low - 1, mask = tni_mask_of(max);
    for (int64_t i = 0; i < n; i++)
        out[i] = (int64_t)((uint64_t)low + interval(&state->mt, max, mask));
    return TN_OK;
}

static void shuffle(tn_mt19937 *mt, int64_t *values, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t j = interval(mt, (uint64_t)i, tni_mask_of((uint64_t)i));
        int64_t swapped = values[i];
        values[i] = values[j];
        values[j] = swapped;
    }
}

tn_status tn_random_state_shuffle(tn_random_state *state, int64_t *values, int64_t n)
{
    if (!ready("random_state_shuffle", state) || !tni_check_array("random_state_shuffle", values, 2, "values", n))
        return tni_pending();
    shuffle(&state->mt, values, n);
    return TN_OK;
}

tn_status tn_random_state_permutation(tn_random_state *state, int64_t *out, int64_t n)
{
    if (!ready("random_state_permutation", state) || !tni_check_array("random_state_permutation", out, 2, "out", n))
        return tni_pending();
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    shuffle(&state->mt, out, n);
    return TN_OK;
}
