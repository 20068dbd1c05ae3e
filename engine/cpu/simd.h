/* One set of names for the vectors of the CPU level that this file is being compiled for.
 *
 * A kernel file is compiled once per level (NAME_baseline.c, _avx2.c, _avx512.c); here the compiler's target decides
 * what vf32_load and its kin mean. Types: vf32, vf64; integers of equal lane count vi32, vi64 (signed) and vu32, vu64;
 * masks vm32, vm64, which only the functions below look into. + - * / work on all vectors; compare with vf32_lt and its
 * kin, since masks differ by level.
 *
 *     level      lanes f32 / f64   fused multiply-add
 *     AVX-512    16 / 8            yes     F, BW, DQ and VL
 *     AVX2        8 / 4            yes     with FMA and F16C
 *     baseline    4 / 2            no      SSE2, or any machine through the compilers' vector extension
 *
 * What each dtype has, here for vf32; p is float *, n a lane count 0 .. VF32_LANES:
 *     load(p)  store(p, v)        any address that floats may have
 *     stream(p, v)                around the caches; p aligned to TNI_SIMD_BYTES
 *     load_part(p, n, fill)       lanes from n on are `fill`; touches no memory beyond n
 *     store_part(p, n, v)         the first n lanes
 *     set1(x)                     x in every lane
 *     mul_add(a, b, c)            a b + c, with one rounding on AVX2 and AVX-512, two on the baseline
 *     abs(v)  neg(v)              change the sign bit alone
 *     copysign(v, sign)
 *     max(a, b)                   NaN if either is, as in PyTorch
 *     max2(a, b)  min2(a, b)      a > b ? a : b, a < b ? a : b
 *     lt  ge  eq  ne              of a and b: a mask; ne is true for NaN, the others are false
 *     select(mask, a, b)          a where the mask is set
 *     bits(v)  of_bits(u)         the same bits as vu32, and back
 *     set1_bits(x)                x in every lane of a vu32
 *     srl(u, k)  sll(u, k)        a vu32 shifted right, left
 * And tni_simd_fence after the last stream.
 *
 * simd_float.h and simd_double.h map these to V(load) and so on for a kernel template; simd_undef.h takes the map away.
 */
#ifndef TNI_CPU_SIMD_H
#define TNI_CPU_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define TNI_SIMD_AVX2   1
#define TNI_SIMD_AVX512 2

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define TNI_SIMD_LEVEL TNI_SIMD_AVX512
#define TNI_SIMD_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define TNI_SIMD_LEVEL TNI_SIMD_AVX2
#define TNI_SIMD_BYTES 32
#else
#define TNI_SIMD_LEVEL 0
#define TNI_SIMD_BYTES 16
#endif

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

#endif
