/* Loops of torch_kernels.h; KERNELS names the table. Included once per CPU level.
 *
 * The single precision log, sin and cos are the polynomials of Moshier's Cephes library in the arrangement that
 * PyTorch's 8-lane code has once a compiler has contracted it: which products are fused is part of the stream. */
#include <math.h>
#include <string.h>

#include "random/torch_kernels.h"

static void uniform_fused(const uint32_t *words, int n, float width, float low, float high, float *out)
{
    for (int i = 0; i < n; i++) {
        float u = (float)(int32_t)(words[i] & 0xffffff) * 0x1p-24f;
        float value = fmaf(u, width, low);
        out[i] = value == high ? low : value;
    }
}

static void uniform_fused64(const uint32_t *words, int n, double width, double low, double high, double *out)
{
    for (int i = 0; i < n; i++) {
        uint64_t word = (uint64_t)words[2 * i] << 32 | words[2 * i + 1];
        double u = (double)(int64_t)(word & (((uint64_t)1 << 53) - 1)) * 0x1p-53;
        double value = fma(u, width, low);
        out[i] = value == high ? low : value;
    }
}

static inline int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* log x for normal x > 0: x = m 2^e with m in [sqrt(1/2), sqrt 2), a polynomial in m - 1. */
static inline float log_single(float x)
{
    int32_t bits = bits_of(x);
    float e = (float)((bits >> 23) - 126);
    float m = float_of((bits & 0x007fffff) | 0x3f000000);
    int small = m < 0.707106781186547524f;
    e = small ? e - 1.0f : e;
    m = small ? (m - 1.0f) + m : m - 1.0f;
    float z = m * m;
    float y = fmaf(7.0376836292e-2f, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = fmaf(y * m, z, e * -2.12194440e-4f);
    y = fmaf(z, -0.5f, y);
    return fmaf(e, 0.693359375f, m + y);
}

/* sin x and cos x for 0 <= x < 8192: x minus the nearest even multiple of pi/4 in three steps, then a polynomial
 * each. */
static inline void sincos_single(float x, float *sine, float *cosine)
{
    int32_t octant = ((int32_t)(x * 1.27323954473516f) + 1) & ~1;
    float multiple = (float)octant;
    x = fmaf(multiple, -0.78515625f, x);
    x = fmaf(multiple, -2.4187564849853515625e-4f, x);
    x = fmaf(multiple, -3.77489497744594108e-8f, x);
    float z = x * x;
    float c = fmaf(2.443315711809948e-5f, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = fmaf(c * z, z, -0.5f * z) + 1.0f;
    float s = fmaf(-1.9515295891e-4f, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = fmaf(s * z, x, x);
    int straight = (octant & 2) == 0;
    float sine_size = straight ? s : c, cosine_size = straight ? c : s;
    *sine = octant & 4 ? -sine_size : sine_size;
    *cosine = (octant - 2) & 4 ? cosine_size : -cosine_size;
}

static void normal_blocks(float *data, int64_t blocks, float mean, float std)
{
    for (; blocks > 0; blocks--, data += 16) {
        for (int j = 0; j < 8; j++) {
            float sine, cosine, radius = sqrtf(-2.0f * log_single(1.0f - data[j]));
            sincos_single(6.283185307179586f * data[j + 8], &sine, &cosine);
            data[j] = fmaf(radius * cosine, std, mean);
            data[j + 8] = fmaf(radius * sine, std, mean);
        }
    }
}

const tni_torch_kernels KERNELS = {
    .uniform_fused = uniform_fused,
    .uniform_fused64 = uniform_fused64,
    .normal_blocks = normal_blocks,
};
