/* PyTorch's CPU generator: seeding, uniform and normal tensors, integers.
 * Source of the rules: PyTorch 2.15, ATen/core/DistributionsHelper.h and ATen/native/cpu/DistributionTemplates.h. */
#include <float.h>
#include <math.h>

#include "random/check.h"
#include "random/mt19937.h"
#include "random/torch_kernels.h"

enum { CHUNK = 256, BLOCK = 16 };

static const double two_pi = 6.283185307179586476925286766559;

static inline bool ready(const char *function, const tn_torch_generator *generator)
{
    return tni_check_mt(function, (const tn_mt19937 *)generator, "generator");
}

tn_status tn_torch_manual_seed(tn_torch_generator *generator, uint64_t seed)
{
    if (!tni_check_pointer("torch_manual_seed", generator, 1, "generator"))
        return tni_pending();
    tni_mt19937_seed(&generator->mt, (uint32_t)seed);
    generator->has_normal = 0;
    generator->normal = 0.0;
    generator->initial_seed = seed;
    return TN_OK;
}

uint32_t tn_torch_next_uint32(tn_torch_generator *generator)
{
    return ready("torch_next_uint32", generator) ? tni_mt19937_next(&generator->mt) : 0;
}

uint64_t tn_torch_next_uint64(tn_torch_generator *generator)
{
    return ready("torch_next_uint64", generator) ? tni_mt19937_next64(&generator->mt) : 0;
}

int64_t tn_torch_next_random(tn_torch_generator *generator)
{
    return ready("torch_next_random", generator) ? (int64_t)(tni_mt19937_next64(&generator->mt) & INT64_MAX) : 0;
}

static inline double uniform53(uint64_t word)
{
    return (double)(int64_t)(word & (((uint64_t)1 << 53) - 1)) * 0x1p-53;
}

static void fill_float32(tn_mt19937 *mt, float low, float high, bool fused, float *out, int64_t n)
{
    const tni_torch_kernels *kernels = tni_torch_kernels_pick();
    uint32_t words[CHUNK];
    float width = high - low;
    while (n > 0) {
        int count = n < CHUNK ? (int)n : CHUNK;
        tni_mt19937_fill(mt, words, count);
        if (fused) {
            kernels->uniform_fused(words, count, width, low, high, out);
        } else {
            for (int i = 0; i < count; i++) {
                float value = (float)(int32_t)(words[i] & 0xffffff) * 0x1p-24f * width + low;
                out[i] = value == high ? low : value;
            }
        }
        out += count;
        n -= count;
    }
}

static void fill_float64(tn_mt19937 *mt, double low, double high, bool fused, double *out, int64_t n)
{
    const tni_torch_kernels *kernels = tni_torch_kernels_pick();
    uint32_t words[2 * CHUNK];
    double width = high - low;
    while (n > 0) {
        int count = n < CHUNK ? (int)n : CHUNK;
        tni_mt19937_fill(mt, words, 2 * count);
        if (fused) {
            kernels->uniform_fused64(words, count, width, low, high, out);
        } else {
            for (int i = 0; i < count; i++) {
                double value = uniform53((uint64_t)words[2 * i] << 32 | words[2 * i + 1]) * width + low;
                out[i] = value == high ? low : value;
            }
        }
        out += count;
        n -= count;
    }
}

tn_status tn_torch_uniform_float32(tn_torch_generator *generator, double low, double high, bool fused, float *out,
                                   int64_t n)
{
    if (!ready("torch_uniform_float32", generator) || !tni_check_array("torch_uniform_float32", out, 5, "out", n) ||
        !tni_check_bounds("torch_uniform_float32", low, high, FLT_MAX))
        return tni_pending();
    fill_float32(&generator->mt, (float)low, (float)high, fused, out, n);
    return TN_OK;
}

tn_status tn_torch_uniform_float64(tn_torch_generator *generator, double low, double high, bool fused, double *out,
                                   int64_t n)
{
    if (!ready("torch_uniform_float64", generator) || !tni_check_array("torch_uniform_float64", out, 5, "out", n) ||
        !tni_check_bounds("torch_uniform_float64", low, high, DBL_MAX))
        return tni_pending();
    fill_float64(&generator->mt, low, high, fused, out, n);
    return TN_OK;
}

/* One deviate of a short tensor: r (cos t, sin t) with r = sqrt(-2 log(1 - u2)), t = 2 pi u1. */
static double next_normal(tn_torch_generator *generator)
{
    if (generator->has_normal) {
        generator->has_normal = 0;
        double cached = generator->normal;
        generator->normal = 0.0;
        return cached;
    }
    double u1 = uniform53(tni_mt19937_next64(&generator->mt)), u2 = uniform53(tni_mt19937_next64(&generator->mt));
    double radius = sqrt(-2.0 * log1p(-u2)), theta = two_pi * u1;
    generator->normal = radius * sin(theta);
    generator->has_normal = 1;
    return radius * cos(theta);
}

static void normal_block(double *data, double mean, double std)
{
    for (int j = 0; j < BLOCK / 2; j++) {
        double radius = sqrt(-2.0 * log(1.0 - data[j])), theta = two_pi * data[j + BLOCK / 2];
        data[j] = fma(radius * cos(theta), std, mean);
        data[j + BLOCK / 2] = fma(radius * sin(theta), std, mean);
    }
}

tn_status tn_torch_normal_float32(tn_torch_generator *generator, double mean, double std, float *out, int64_t n)
{
    if (!ready("torch_normal_float32", generator) || !tni_check_array("torch_normal_float32", out, 4, "out", n) ||
        !tni_check_scale("torch_normal_float32", "std", std))
        return tni_pending();
    if (n < BLOCK) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (float)fma(next_normal(generator), std, mean);
        return TN_OK;
    }
    const tni_torch_kernels *kernels = tni_torch_kernels_pick();
    fill_float32(&generator->mt, 0.0f, 1.0f, false, out, n);
    kernels->normal_blocks(out, n / BLOCK, (float)mean, (float)std);
    if (n % BLOCK) {
        float *last = out + n - BLOCK;
        fill_float32(&generator->mt, 0.0f, 1.0f, false, last, BLOCK);
        kernels->normal_blocks(last, 1, (float)mean, (float)std);
    }
    return TN_OK;
}

tn_status tn_torch_normal_float64(tn_torch_generator *generator, double mean, double std, double *out, int64_t n)
{
    if (!ready("torch_normal_float64", generator) || !tni_check_array("torch_normal_float64", out, 4, "out", n) ||
        !tni_check_scale("torch_normal_float64", "std", std))
        return tni_pending();
    if (n < BLOCK) {
        for (int64_t i = 0; i < n; i++)
            out[i] = fma(next_normal(generator), std, mean);
        return TN_OK;
    }
    fill_float64(&generator->mt, 0.0, 1.0, false, out, n);
    for (int64_t i = 0; i <= n - BLOCK; i += BLOCK)
        normal_block(out + i, mean, std);
    if (n % BLOCK) {
        double *last = out + n - BLOCK;
        fill_float64(&generator->mt, 0.0, 1.0, false, last, BLOCK);
        normal_block(last, mean, std);
    }
    return TN_OK;
}

tn_status tn_torch_randint(tn_torch_generator *generator, int64_t low, int64_t high, int64_t *out, int64_t n)
{
    if (!ready("torch_randint", generator) || !tni_check_array("torch_randint", out, 4, "out", n) ||
        !tni_check_range("torch_randint", low, high))
        return tni_pending();
    uint64_t range = (uint64_t)high - (uint64_t)low;
    if (range < UINT64_C(1) << 28) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)((uint64_t)low + tni_mt19937_next(&generator->mt) % (uint32_t)range);
    } else {
        for (int64_t i = 0; i < n; i++)
            out[i] = (int64_t)((uint64_t)low + tni_mt19937_next64(&generator->mt) % range);
    }
    return TN_OK;
}
