/* Floats of 16 and 8 bits from and to float32. Every such number is a float32; the way back rounds once, to nearest and
 * even, with PyTorch 2.15's choices at the ends:
 *
 *                   sign exponent mantissa bias   above the largest   infinity     NaN
 *   float16          1       5       10     15    infinity            kept         payload kept, quiet
 *   bfloat16         1       8        7    127    infinity            kept         0x7fc0
 *   float8_e4m3fn    1       4        3      7    448                 becomes 448  0x7f with the sign
 *   float8_e4m3fnuz  1       4        3      8    NaN                 NaN          0x80, there is no -0
 *   float8_e5m2      1       5        2     15    infinity            kept         0x7f with the sign
 *   float8_e5m2fnuz  1       5        2     16    NaN                 NaN          0x80, there is no -0
 *   float8_e8m0fnu   0       8        0    127    NaN                 NaN          0xff; the sign is dropped, halves go
 *                                                                                  up, 0 is 2^-127
 * Source: IEEE 754-2019; OCP 8-bit floating point specification 1.0; OCP microscaling formats 1.0. */
#ifndef TNI_CORE_NARROW_H
#define TNI_CORE_NARROW_H

#include <stdint.h>
#include <string.h>

static inline uint32_t tni_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float tni_bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A magnitude (float32 bits without sign, at most `overflow`) as exponent and mantissa of `m` bits with that bias.
 * Below the smallest normal number the sum with a power of two rounds at the right bit. */
static inline uint32_t tni_narrow_magnitude(uint32_t a, int m, int bias)
{
    const uint32_t least = (uint32_t)(128 - bias) << 23; /* 2^(1 - bias) */
    const uint32_t shift = (uint32_t)(23 - m), base = (uint32_t)(151 - bias - m) << 23;
    const uint32_t small = tni_float_bits(tni_bits_float(a < least ? a : 0) + tni_bits_float(base)) - base;
    const uint32_t normal =
        (a - ((uint32_t)(127 - bias) << 23) + ((1U << (shift - 1)) - 1) + ((a >> shift) & 1)) >> shift;
    return a < least ? small : normal;
}

/* The magnitude (no sign bit) of a number with an exponent field of zero or more, below infinity. */
static inline float tni_widen_magnitude(uint32_t a, int m, int bias)
{
    const uint32_t base = (uint32_t)(128 - bias) << 23; /* subnormal numbers: a step is 2^(1 - bias - m) */
    const float small = tni_bits_float(base | (a << (23 - m))) - tni_bits_float(base);
    const float normal = tni_bits_float((a << (23 - m)) + ((uint32_t)(127 - bias) << 23));
    return a >> m == 0 ? small : normal;
}

static inline uint16_t tni_f32_to_f16(float x)
{
    const uint32_t bits = tni_float_bits(x), a = bits & 0x7fffffff, sign = (bits >> 16) & 0x8000;
    const uint32_t nan = 0x7e00 | ((a >> 13) & 0x3ff), capped = a < 0x47800000 ? a : 0x47800000;
    const uint32_t number = tni_narrow_magnitude(capped, 10, 15);
    return (uint16_t)(sign | (a > 0x7f800000 ? nan : number));
}

static inline float tni_f16_to_f32(uint16_t h)
{
    const uint32_t a = h & 0x7fff, sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t special = 0x7f800000 | ((a & 0x3ff) << 13) | (a > 0x7c00 ? 0x400000 : 0);
    const uint32_t number = tni_float_bits(tni_widen_magnitude(a < 0x7c00 ? a : 0, 10, 15));
    return tni_bits_float(sign | (a >= 0x7c00 ? special : number));
}

static inline uint16_t tni_f32_to_bf16(float x)
{
    const uint32_t bits = tni_float_bits(x), rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

static inline float tni_bf16_to_f32(uint16_t h)
{
    return tni_bits_float((uint32_t)h << 16);
}

static inline uint8_t tni_f32_to_e4m3fn(float x)
{
    const uint32_t bits = tni_float_bits(x), a = bits & 0x7fffffff, sign = (bits >> 24) & 0x80;
    const uint32_t number = tni_narrow_magnitude(a < 0x43e00000 ? a : 0x43e00000, 3, 7); /* 448 */
    return (uint8_t)(sign | (a > 0x7f800000 ? 0x7f : number));
}

static inline float tni_e4m3fn_to_f32(uint8_t h)
{
    const uint32_t a = h & 0x7f, sign = (uint32_t)(h & 0x80) << 24;
    return tni_bits_float(sign | (a == 0x7f ? 0x7fc00000 : tni_float_bits(tni_widen_magnitude(a, 3, 7))));
}

static inline uint8_t tni_f32_to_e5m2(float x)
{
    const uint32_t bits = tni_float_bits(x), a = bits & 0x7fffffff, sign = (bits >> 24) & 0x80;
    const uint32_t number = tni_narrow_magnitude(a < 0x47800000 ? a : 0x47800000, 2, 15); /* 65536 */
    return (uint8_t)(sign | (a > 0x7f800000 ? 0x7f : number));
}

static inline float tni_e5m2_to_f32(uint8_t h)
{
    return tni_f16_to_f32((uint16_t)(h << 8));
}

/* The kinds without -0 and infinity: the code of -0 is NaN, and what rounds to zero has no sign. */
static inline uint8_t tni_narrow_fnuz(float x, int m, int bias, uint32_t overflow)
{
    const uint32_t bits = tni_float_bits(x), a = bits & 0x7fffffff, sign = (bits >> 24) & 0x80;
    const uint32_t number = tni_narrow_magnitude(a < overflow ? a : overflow, m, bias);
    return (uint8_t)(number > 0x7f ? 0x80 : number == 0 ? 0 : sign | number);
}

static inline float tni_widen_fnuz(uint8_t h, int m, int bias)
{
    const uint32_t sign = (uint32_t)(h & 0x80) << 24;
    return h == 0x80 ? tni_bits_float(0xffc00000)
                     : tni_bits_float(sign | tni_float_bits(tni_widen_magnitude(h & 0x7f, m, bias)));
}

static inline uint8_t tni_f32_to_e4m3fnuz(float x)
{
    return tni_narrow_fnuz(x, 3, 8, 0x43800000); /* 256 */
}

static inline float tni_e4m3fnuz_to_f32(uint8_t h)
{
    return tni_widen_fnuz(h, 3, 8);
}

static inline uint8_t tni_f32_to_e5m2fnuz(float x)
{
    return tni_narrow_fnuz(x, 2, 16, 0x47800000);
}

static inline float tni_e5m2fnuz_to_f32(uint8_t h)
{
    return tni_widen_fnuz(h, 2, 16);
}

static inline uint8_t tni_f32_to_e8m0fnu(float x)
{
    const uint32_t a = tni_float_bits(x) & 0x7fffffff, exponent = a >> 23, mantissa = a & 0x7fffff;
    const uint32_t up = exponent > 0 ? mantissa >= 0x400000 : mantissa > 0x400000;
    return (uint8_t)(exponent == 0xff ? 0xff : exponent + up);
}

static inline float tni_e8m0fnu_to_f32(uint8_t h)
{
    return tni_bits_float(h == 0xff ? 0x7fc00000 : h == 0 ? 0x400000 : (uint32_t)h << 23);
}

#endif
