/* The matrix product's loops with AVX2 and FMA: 16 registers of 256 bits. See gemm.kernel.h. */
#include "cpu/gemm_levels.h"

#include <string.h>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

#define REAL         float
#define NAME(x)      x##_f32
#define KERNELS      tni_gemm_avx2_f32
#define VEC          __m256
#define LANES        8
#define ROWS_NARROW  8
#define ROWS_WIDE    6
#define ROWS_DOT     4
#define BROADCAST(x) _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#define FOLD(v)      (_mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1))
#define MASKED       0
#include "cpu/gemm.kernel.h"

#define REAL double
#define REAL_IS_DOUBLE
#define NAME(x)      x##_f64
#define KERNELS      tni_gemm_avx2_f64
#define VEC          __m256d
#define LANES        4
#define ROWS_NARROW  8
#define ROWS_WIDE    6
#define ROWS_DOT     4
#define BROADCAST(x) _mm256_set1_pd(x)
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define FOLD(v)      (_mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1))
#define MASKED       0
#include "cpu/gemm.kernel.h"
#endif
