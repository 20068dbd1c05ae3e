/* Elementary functions on vectors: vf32_exp and so on, vf64_exp and so on.
 *
 *     exp expm1 log log1p tanh sigmoid
 *
 * Right for every argument: infinities, NaN (gives NaN), both zeros, denormal arguments and results. Within 2 ulp
 * everywhere; the bounds that the tests hold them to are in tests/cpu/test_vmath.c. A lane's result depends on that
 * lane alone. AVX2 and AVX-512 give the same bits (but for which NaN), except in tanh of floats; the baseline has no
 * fused multiply-add and differs in last bits.
 *
 * The polynomials are minimax in relative error of the function (Remez exchange in 220-bit arithmetic), then rounded:
 *     exp_q   e^r = 1 + r + r^2 q(r)              |r| <= ln 2 / 2     of e^r - 1: float 2^-26.0, double 2^-54.9
 *     log_q   log(1 + f) = f - f^2/2 + f^3 q(f)   -1/4 <= f <= 1/2    float 2^-26.9, double 2^-56.2
 *     tanh_p  tanh x = x + x^3 p(x^2)             |x| <= 0.5525       float 2^-29.3, double 2^-55.1
 * Coefficients from the constant up. */
#ifndef TNI_CPU_VMATH_H
#define TNI_CPU_VMATH_H

#include <math.h>

#include "cpu/simd.h"

static const float exp_q_f32[] = {0x1.fffffep-2f, 0x1.5554a8p-3f, 0x1.555796p-5f, 0x1.122e28p-7f, 0x1.6ac052p-10f};

static const double exp_q_f64[] = {
    0x1.0000000000005p-1,  0x1.5555555555539p-3,  0x1.55555555521f6p-5,  0x1.111111111918fp-7,  0x1.6c16c17f11583p-10,
    0x1.a01a017497fcep-13, 0x1.a019a6c39c57ap-16, 0x1.71de88a150a6fp-19, 0x1.28a293789e0c5p-22, 0x1.ae6ba1082e98fp-26};

static const float log_q_f32[] = {0x1.5555acp-2f, -0x1.00005ep-2f, 0x1.996676p-3f, -0x1.54e1b6p-3f,
                                  0x1.289adap-3f, -0x1.0e4096p-3f, 0x1.aeaa4p-4f,  -0x1.72e126p-5f};

static const double log_q_f64[] = {
    0x1.55555555555a7p-2,  -0x1.000000000096cp-2, 0x1.999999998bd2dp-3,  -0x1.55555554213cfp-3, 0x1.249249293e7e6p-3,
    -0x1.000000753617ap-3, 0x1.c71c7140a052dp-4,  -0x1.99996e0351281p-4, 0x1.745cd6662b0c7p-4,  -0x1.55597c988a6a7p-4,
    0x1.3b2117111d3e3p-4,  -0x1.24660e5c6bc0ep-4, 0x1.10074f1dd8434p-4,  -0x1.ff9aa8c347cbfp-5, 0x1.f2988f1b706b9p-5,
    -0x1.eb4b78b677a57p-5, 0x1.a3588ee591071p-5,  -0x1.e789f210e1866p-6, 0x1.0c87ca5b36cf8p-7};

static const float tanh_p_f32[] = {-0x1.55554ap-2f, 0x1.110ceep-3f, -0x1.b91eb4p-5f, 0x1.58e74ep-6f, -0x1.993046p-8f};

static const double tanh_p_f64[] = {-0x1.555555555548dp-2,  0x1.1111111101714p-3,  -0x1.ba1ba1ac8fd3bp-5,
                                    0x1.664f4598a7f3bp-6,   -0x1.226dd8d6ceb7ep-7, 0x1.d6c58db4a8501p-9,
                                    -0x1.7cee255061619p-10, 0x1.2f811e145fe7ap-11, -0x1.b82dd092fde1bp-13,
                                    0x1.a99c817a443a2p-15};

#define TNI_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

#if TNI_SIMD_LEVEL >= TNI_SIMD_AVX512
#include "cpu/vmath_tanh_avx512.h"
#endif

#include "cpu/simd_float.h"
#include "cpu/vmath.kernel.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "cpu/vmath.kernel.h"
#include "cpu/simd_undef.h"

#undef TNI_COUNT

#endif
