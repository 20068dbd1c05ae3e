/* One set of names for the vectors of the CPU level that this file is being compiled for.
 *
 * A kernel file is compiled once per level (NAME_baseline.c, _avx2.c, _avx512.c); here the compiler's target decides
 * what vf32_add and its kin mean. Types: vf32, vf64; integers of equal lane count vi32, vi64 (signed) and vu32, vu64;
 * masks vm32, vm64, which only the functions below look into. + - * / work on all vectors; compare with vf32_lt and its
 * kin, since masks differ by level.
 *
 *     level      lanes f32 / f64   fused multiply-add
 *     AVX-512    16 / 8            yes     F, BW, DQ and VL
 *     AVX2        8 / 4            yes     with FMA and F16C
 *     baseline    4 / 2            no      SSE2, or any machine through the compilers' vector extension
 *
 * What each dtype has (here for vf32; p is float *, n a lane count 0 .. VF32_LANES, `part` touches no memory beyond n):
 *     load(p) store(p, v) store_aligned(p, v)     the last with p aligned to TNI_SIMD_BYTES
 *     stream(p, v)                                the same, around the caches
 *     load_part(p, n, fill) store_part(p, n, v)   lanes from n on are `fill`
 *     gather(p, stride)                           lane j is p[j * stride]
 *     gather_part(p, stride, n, fill) scatter_part(p, stride, n, v)
 *     set1(x) iota()                              iota is 0, 1, 2 ...
 *     mul_add(a, b, c)                            a b + c, one rounding where TNI_SIMD_FMA is 1, two on the baseline
 *     fma(a, b, c)                                one rounding; declared only where TNI_SIMD_FMA is 1
 *     sqrt abs neg copysign(a, sign)
 *     round                                       to the nearest integer, ties to even
 *     max min                                     NaN if either is, as PyTorch
 *     max2 min2                                   a > b ? a : b, a < b ? a : b
 *     lt le gt ge eq ne isnan                     give a mask; ne is true for NaN, the others false
 *     select(mask, a, b)                          a where the mask is set
 *     mask_first(n) mask_and mask_or mask_not mask_any mask_all
 *     bits of_bits                                the same bits as vu32, and back
 *     set1_bits(u) srl(u, k) sll(u, k)            on vu32: one value everywhere, shifts
 *     to_int from_int                             nearest integer as vi32, and back; f32 below 2^31, f64 up to 2^51
 *     sum                                         lanes in halves: j with j + LANES/2, then j + LANES/4 ... 1
 *     hmax hmin                                   over all lanes, NaN if any is
 * And across: vf64_widen_low, vf64_widen_high (halves of a vf32), vf32_narrow(low, high), vf64_load_f32,
 * vf64_store_f32, tni_simd_fence after the last stream.
 *
 * simd_float.h and simd_double.h map these to V(load) and so on for a kernel template; simd_undef.h takes the map away.
 */
#ifndef TNI_CPU_SIMD_H
#define TNI_CPU_SIMD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define TNI_SIMD_BASELINE 0
#define TNI_SIMD_AVX2     1
#define TNI_SIMD_AVX512   2

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TNI_SIMD_LEVEL 2
#define TNI_SIMD_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define TNI_SIMD_LEVEL 1
#define TNI_SIMD_BYTES 32
#else
#define TNI_SIMD_LEVEL 0
#define TNI_SIMD_BYTES 16
#endif

#define TNI_SIMD_FMA (TNI_SIMD_LEVEL >= TNI_SIMD_AVX2)

enum { VF32_LANES = TNI_SIMD_BYTES / 4, VF64_LANES = TNI_SIMD_BYTES / 8 };

typedef int32_t vi32 __attribute__((vector_size(TNI_SIMD_BYTES)));
typedef int64_t vi64 __attribute__((vector_size(TNI_SIMD_BYTES)));
typedef uint32_t vu32 __attribute__((vector_size(TNI_SIMD_BYTES)));
typedef uint64_t vu64 __attribute__((vector_size(TNI_SIMD_BYTES)));

#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
typedef __m512 vf32;
typedef __m512d vf64;
typedef __mmask16 vm32;
typedef __mmask8 vm64;
#define TNI_SIMD_FILE "cpu/simd_avx512.h"
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
typedef __m256 vf32;
typedef __m256d vf64;
typedef vi32 vm32;
typedef vi64 vm64;
#define TNI_SIMD_FILE "cpu/simd_avx2.h"
#else
typedef float vf32 __attribute__((vector_size(TNI_SIMD_BYTES)));
typedef double vf64 __attribute__((vector_size(TNI_SIMD_BYTES)));
typedef vi32 vm32;
typedef vi64 vm64;
#define TNI_SIMD_FILE "cpu/simd_baseline.h"
#endif

#include "cpu/simd_float.h"
#include TNI_SIMD_FILE
#include "cpu/simd_common.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include TNI_SIMD_FILE
#include "cpu/simd_common.h"
#include "cpu/simd_undef.h"

/* Makes streamed stores visible to other threads in program order. */
static inline void tni_simd_fence(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

static inline vf64 vf64_load_f32(const float *p)
{
#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
#else
    return (vf64){p[0], p[1]};
#endif
}

static inline void vf64_store_f32(float *p, vf64 v)
{
#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(v));
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
    _mm_storeu_ps(p, _mm256_cvtpd_ps(v));
#else
    p[0] = (float)v[0];
    p[1] = (float)v[1];
#endif
}

/* Lanes 0 .. LANES/2 - 1 of v, and the others. */
static inline vf64 vf64_widen_low(vf32 v)
{
#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
#else
    return (vf64){v[0], v[1]};
#endif
}

static inline vf64 vf64_widen_high(vf32 v)
{
#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
#else
    return (vf64){v[2], v[3]};
#endif
}

static inline vf32 vf32_narrow(vf64 low, vf64 high)
{
#if TNI_SIMD_LEVEL == TNI_SIMD_AVX512
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
#elif TNI_SIMD_LEVEL == TNI_SIMD_AVX2
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(low)), _mm256_cvtpd_ps(high), 1);
#else
    return (vf32){(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
#endif
}

#endif
