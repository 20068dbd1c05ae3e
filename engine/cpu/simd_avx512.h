/* simd.h at the AVX-512 level, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h alone. */
#define X(op)              T_PICK(_mm512_##op##_ps, _mm512_##op##_pd)
#define COMPARE(a, b, how) T_PICK(_mm512_cmp_ps_mask, _mm512_cmp_pd_mask)((a), (b), (how))

static inline VEC V(select)(VMASK mask, VEC a, VEC b)
{
    return X(mask_blend)(mask, b, a);
}

static inline VMASK V(mask_first)(int n)
{
    return (VMASK)((1u << n) - 1);
}

static inline VEC V(load_part)(const T *p, int n, T fill)
{
    return X(mask_loadu)(X(set1)(fill), V(mask_first)(n), p);
}

static inline void V(store_part)(T *p, int n, VEC v)
{
    X(mask_storeu)(p, V(mask_first)(n), v);
}

#include "cpu/simd_avx.h"
