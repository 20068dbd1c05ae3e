/* SLEEF's expf_u10, fused form: x = q ln 2 + s, a polynomial of degree 7 in s, and a scale in two halves.
 *
 * The constants and the order of roundings are those of SLEEF 3.5.1 (N. Shibata, F. Petrogalli, "SLEEF: A Portable
 * Vectorized Library of C Standard Mathematical Functions", IEEE TPDS 2020, arXiv:2001.09258), since equal bits ask for
 * both. fmaf rounds once with or without an instruction for it. */
#include "cpu/sleef_twin.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^n for -126 <= n <= 127. */
static float power_of_two(int n)
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

float tni_sleef_expf(float x)
{
    if (!(x >= -104.0f && x <= 100.0f))
        return x < 0 ? 0.0f : x > 0 ? INFINITY : x + x;
    int q = (int)rintf(x * 0x1.715476p+0f);
    float s = fmaf((float)q, -0x1.62e4p-1f, x);
    s = fmaf((float)q, -0x1.7f7d1cp-20f, s);
    float u = fmaf(0x1.a057b4p-13f, s, 0x1.6d2d92p-10f);
    u = fmaf(u, s, 0x1.11114cp-7f);
    u = fmaf(u, s, 0x1.5554f4p-5f);
    u = fmaf(u, s, 0x1.555556p-3f);
    u = fmaf(u, s, 0.5f);
    u = fmaf(s * s, u, s) + 1.0f;
    int half = q >= 0 ? q / 2 : -((1 - q) / 2); /* floor */
    return u * power_of_two(half) * power_of_two(q - half);
}
