/* simd.h at the AVX2 level, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h alone. */
#define X(op)              T_PICK(_mm256_##op##_ps, _mm256_##op##_pd)
#define COMPARE(a, b, how) ((VMASK)X(cmp)((a), (b), (how)))

static inline VEC V(select)(VMASK mask, VEC a, VEC b)
{
    return X(blendv)(b, a, (VEC)mask);
}

static inline VMASK V(mask_first)(int n)
{
#if T_IS_DOUBLE
    return (VMASK)_mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
#else
    return (VMASK)_mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
#endif
}

static inline VEC V(load_part)(const T *p, int n, T fill)
{
    VMASK mask = V(mask_first)(n);
    return X(blendv)(X(set1)(fill), X(maskload)(p, (__m256i)mask), (VEC)mask);
}

static inline void V(store_part)(T *p, int n, VEC v)
{
    X(maskstore)(p, (__m256i)V(mask_first)(n), v);
}

#include "cpu/simd_avx.h"
