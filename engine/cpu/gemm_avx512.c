/* The matrix product's loops with AVX-512: 32 registers of 512 bits, masked memory access. See gemm.kernel.h. */
#include "cpu/gemm_levels.h"

#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>

#define REAL         float
#define NAME(x)      x##_f32
#define KERNELS      tni_gemm_avx512_f32
#define VEC          __m512
#define LANES        16
#define ROWS_NARROW  16
#define ROWS_WIDE    12
#define ROWS_DOT     8
#define BROADCAST(x) _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
static inline __m128 fold_f32(__m512 v)
{
    __m256 half = _mm512_castps512_ps256(v) + _mm512_extractf32x8_ps(v, 1);
    return _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
}
#define FOLD(v)               fold_f32(v)
#define MASKED                1
#define MASK                  __mmask16
#define MASK_FIRST(n)         ((n) >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n)) - 1))
#define LOAD_MASKED(m, p)     _mm512_maskz_loadu_ps(m, p)
#define STORE_MASKED(m, p, v) _mm512_mask_storeu_ps(p, m, v)
#include "cpu/gemm.kernel.h"

#define REAL double
#define REAL_IS_DOUBLE
#define NAME(x)      x##_f64
#define KERNELS      tni_gemm_avx512_f64
#define VEC          __m512d
#define LANES        8
#define ROWS_NARROW  16
#define ROWS_WIDE    12
#define ROWS_DOT     8
#define BROADCAST(x) _mm512_set1_pd(x)
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
static inline __m128d fold_f64(__m512d v)
{
    __m256d half = _mm512_castpd512_pd256(v) + _mm512_extractf64x4_pd(v, 1);
    return _mm256_castpd256_pd128(half) + _mm256_extractf128_pd(half, 1);
}
#define FOLD(v)               fold_f64(v)
#define MASKED                1
#define MASK                  __mmask8
#define MASK_FIRST(n)         ((n) >= 8 ? (__mmask8)0xff : (__mmask8)((1u << (n)) - 1))
#define LOAD_MASKED(m, p)     _mm512_maskz_loadu_pd(m, p)
#define STORE_MASKED(m, p, v) _mm512_mask_storeu_pd(p, m, v)
#include "cpu/gemm.kernel.h"
#endif
