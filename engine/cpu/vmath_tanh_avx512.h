/* tanh of floats at the AVX-512 level, where looking up a table of 32 entries is one permutation: half the time of the
 * formula with a division.
 *
 * |x| falls into one of 26 intervals: below 1/8, then four to an octave up to 9.02, where tanh rounds to 1. In each,
 * tanh |x| = c0 + h (c1 + h (... c5)), h = |x| - center: minimax in relative error, 2^-25.4 at worst (near 4), 2^-26
 * elsewhere. The centers are floats whose tanh is nearly a float. Rows: center, c0 ... c5. The number of an interval is
 * exponent and two bits of the mantissa, and its entry that number modulo 32; 495 is everything below 1/8, where center
 * and c0 are 0 and c1 is 1. Included by vmath.h alone. */
static const float tanh_table[7][32] __attribute__((aligned(64))) = {
    {0x1.1ffe8p+1f, 0x1.5ffe74p+1f, 0x1.a0006ep+1f, 0x1.e001ecp+1f, 0x1.2000dcp+2f, 0x1.6005ecp+2f, 0x1.9fef5cp+2f,
     0x1.e01f3ep+2f, 0x1.10712ap+3f, 0, 0, 0, 0, 0, 0, 0, 0x1.2000dep-3f, 0x1.5fffe2p-3f, 0x1.9fff9ap-3f,
     0x1.e0061ep-3f, 0x1.1ffe3ap-2f, 0x1.600068p-2f, 0x1.9fff82p-2f, 0x1.e000eap-2f, 0x1.2000dcp-1f, 0x1.600038p-1f,
     0x1.9fff5ep-1f, 0x1.dfffbp-1f, 0x1.20009ap+0f, 0x1.5fffdap+0f, 0x1.9fff1p+0f, 0x1.e00076p+0f},
    {0x1.f4bf94p-1f, 0x1.fbd4fp-1f, 0x1.fe767cp-1f, 0x1.ff6f1cp-1f, 0x1.ffdfa8p-1f, 0x1.fffbap-1f, 0x1.ffff68p-1f,
     0x1.ffffecp-1f, 0x1.fffffep-1f, 0, 0, 0, 0, 0, 0, 0, 0x1.1e1eaap-3f, 0x1.5c92eap-3f, 0x1.9a5ebap-3f,
     0x1.d76c28p-3f, 0x1.18a1f6p-2f, 0x1.52c322p-2f, 0x1.8a8776p-2f, 0x1.bfaf28p-2f, 0x1.050912p-1f, 0x1.315804p-1f,
     0x1.5788a6p-1f, 0x1.77d814p-1f, 0x1.9e5d2p-1f, 0x1.c27894p-1f, 0x1.d9c6b6p-1f, 0x1.e878b4p-1f},
    {0x1.6418b2p-5f, 0x1.09ae0ap-6f, 0x1.88ecd2p-8f, 0x1.219f08p-9f, 0x1.02ba5ap-11f, 0x1.1801dcp-14f,
     0x1.30009ep-17f, 0x1.473968p-20f, 0x1.59f274p-23f, 0, 0, 0, 0, 0, 0, 0x1p+0f, 0x1.f601bcp-1f, 0x1.f12b02p-1f,
     0x1.eb7164p-1f, 0x1.e4df06p-1f, 0x1.d98baap-1f, 0x1.c7f704p-1f, 0x1.b3ff58p-1f, 0x1.9e235cp-1f, 0x1.7aea4p-1f,
     0x1.49e694p-1f, 0x1.198046p-1f, 0x1.d8354p-2f, 0x1.614eaap-2f, 0x1.cea7bep-3f, 0x1.266032p-3f, 0x1.6fce64p-4f},
    {-0x1.5c420ap-5f, -0x1.077f4ap-6f, -0x1.87b5dp-8f, -0x1.2146p-9f, -0x1.023e02p-11f, -0x1.1789a4p-14f,
     -0x1.2f809cp-17f, -0x1.46af12p-20f, -0x1.59535p-23f, 0, 0, 0, 0, 0, 0, 0x1.4ee54ap-22f, -0x1.188908p-3f,
     -0x1.5279e4p-3f, -0x1.89e4b8p-3f, -0x1.be7198p-3f, -0x1.038e2ap-2f, -0x1.2dafd6p-2f, -0x1.4ff6d6p-2f,
     -0x1.6a1d8ap-2f, -0x1.825e2cp-2f, -0x1.897d1cp-2f, -0x1.79c124p-2f, -0x1.5aa252p-2f, -0x1.1def8ap-2f,
     -0x1.970f2ep-3f, -0x1.10666ap-3f, -0x1.5ee784p-4f},
    {0x1.bbd81cp-6f, 0x1.599b58p-7f, 0x1.03932cp-8f, 0x1.80d95p-10f, 0x1.58351p-12f, 0x1.74bc5ep-15f,
     0x1.94c58cp-18f, 0x1.b38ec8p-21f, 0x1.cc5142p-24f, 0, 0, 0, 0, 0, 0, -0x1.555b2ep-2f, -0x1.3b1328p-2f,
     -0x1.2ea402p-2f, -0x1.202a4cp-2f, -0x1.0fdd6p-2f, -0x1.e9211ap-3f, -0x1.985806p-3f, -0x1.4272acp-3f,
     -0x1.d71d08p-4f, -0x1.bd047ap-5f, 0x1.d76f48p-7f, 0x1.072b26p-4f, 0x1.84344p-4f, 0x1.c68f22p-4f,
     0x1.97d916p-4f, 0x1.33e0f8p-4f, 0x1.a85b16p-5f},
    {-0x1.96091ep-7f, -0x1.519d3p-8f, -0x1.037342p-9f, -0x1.83dc88p-11f, -0x1.69d4p-13f, -0x1.884754p-16f,
     -0x1.a9feaep-19f, -0x1.ca8cb4p-22f, -0x1.e5bfa8p-25f, 0, 0, 0, 0, 0, 0, 0x1.ef76d2p-12f, 0x1.6b0614p-4f,
     0x1.af9b56p-4f, 0x1.ed779cp-4f, 0x1.11ec5ap-3f, 0x1.32debep-3f, 0x1.4fff9cp-3f, 0x1.5c02dp-3f, 0x1.58397ap-3f,
     0x1.39da26p-3f, 0x1.e93a88p-4f, 0x1.4744ecp-4f, 0x1.633c16p-5f, 0x1.e4da64p-9f, -0x1.599f08p-6f,
     -0x1.9b9682p-6f, -0x1.559612p-6f},
    {0x1.04948ep-8f, 0x1.f67694p-10f, 0x1.947e7ep-11f, 0x1.334ce2p-12f, 0x1.202bp-14f, 0x1.3937b6p-17f,
     0x1.534b6ap-20f, 0x1.6f5fe2p-23f, 0x1.869f64p-26f, 0, 0, 0, 0, 0, 0, 0x1.0a36dep-3f, 0x1.cab604p-4f,
     0x1.a2868ep-4f, 0x1.74c982p-4f, 0x1.42ad32p-4f, 0x1.e4bdc4p-5f, 0x1.068f36p-5f, 0x1.898036p-8f,
     -0x1.183052p-6f, -0x1.630d4p-5f, -0x1.f7f4bep-5f, -0x1.00ac5ep-4f, -0x1.b2c93ap-5f, -0x1.070c8ep-5f,
     -0x1.391728p-7f, 0x1.6961f2p-10f, 0x1.2d31fp-8f}};

static inline vf32 tanh_entry(int row, __m512i index)
{
    return _mm512_permutex2var_ps(_mm512_load_ps(tanh_table[row]), index, _mm512_load_ps(tanh_table[row] + 16));
}

static inline vf32 vf32_tanh(vf32 x)
{
    vf32 magnitude = vf32_min2(vf32_set1(9.02f), vf32_abs(x));
    __m512i index = _mm512_max_epu32(_mm512_srli_epi32(_mm512_castps_si512(magnitude), 21), _mm512_set1_epi32(495));
    vf32 h = magnitude - tanh_entry(0, index), y = tanh_entry(6, index);
#pragma GCC unroll 8
    for (int row = 5; row >= 1; row--)
        y = vf32_mul_add(y, h, tanh_entry(row, index));
    return vf32_copysign(y, x);
}
