/* The names of cpu/simd.h for int64, as far as pointwise kernels use them: a template written for simd_float.h and
 * simd_double.h then serves int64 too. Vectors are the level's vi64. Ended by cpu/simd_undef.h. */
#ifndef TNI_OPS_SIMD_INT64_H
#define TNI_OPS_SIMD_INT64_H

#include "cpu/simd.h"

typedef int64_t tni_loose_vi64 __attribute__((vector_size(TNI_SIMD_BYTES), aligned(8), may_alias));

static inline vi64 wi64_set1(int64_t x)
{
    return (vi64)((vu64){0} + (uint64_t)x);
}

static inline vi64 wi64_load(const int64_t *p)
{
    return (vi64)*(const tni_loose_vi64 *)p;
}

static inline void wi64_store(int64_t *p, vi64 v)
{
    *(tni_loose_vi64 *)p = (tni_loose_vi64)v;
}

static inline void wi64_stream(int64_t *p, vi64 v)
{
    vf64_stream((double *)(void *)p, (vf64)v); /* moves bits, whatever they stand for */
}

static inline vi64 wi64_load_part(const int64_t *p, int n, int64_t fill)
{
    vi64 v = wi64_set1(fill);
    for (int j = 0; j < n; j++)
        v[j] = p[j];
    return v;
}

static inline void wi64_store_part(int64_t *p, int n, vi64 v)
{
    for (int j = 0; j < n; j++)
        p[j] = v[j];
}

static inline vi64 wi64_le(vi64 a, vi64 b)
{
    return a <= b;
}

static inline vi64 wi64_lt(vi64 a, vi64 b)
{
    return a < b;
}

static inline vi64 wi64_select(vi64 mask, vi64 a, vi64 b)
{
    return (mask & a) | (~mask & b);
}

static inline vi64 wi64_max(vi64 a, vi64 b)
{
    return wi64_select(wi64_le(a, b), b, a);
}

static inline vi64 wi64_neg(vi64 v)
{
    return (vi64)(-(vu64)v);
}

static inline vi64 wi64_abs(vi64 v)
{
    return wi64_select(wi64_le(v, (vi64){0}), wi64_neg(v), v);
}

#endif

#define T int64_t
#define T_IS_DOUBLE 0
#define VEC vi64
#define VUINT vu64
#define VMASK vi64
#define VLANES VF64_LANES
#define V(op) wi64_##op
#define T_NAME(name) name##_i64
#define T_PICK(for_float, for_double) for_double
