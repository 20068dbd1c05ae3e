/* What the AVX2 and AVX-512 levels of simd.h write alike, for the dtype that simd_float.h or simd_double.h has set.
 * Included by simd_avx2.h and simd_avx512.h alone, which define X(op), the intrinsic of that name for the level and
 * dtype, and COMPARE(a, b, how), a mask; undefined here. */
static inline VEC V(set1)(T x)
{
    return X(set1)(x);
}

static inline VEC V(load)(const T *p)
{
    return X(loadu)(p);
}

static inline void V(store)(T *p, VEC v)
{
    X(storeu)(p, v);
}

static inline void V(stream)(T *p, VEC v)
{
    X(stream)(p, v);
}

static inline VEC V(mul_add)(VEC a, VEC b, VEC c)
{
    return X(fmadd)(a, b, c);
}

static inline VEC V(max2)(VEC a, VEC b)
{
    return X(max)(a, b);
}

static inline VEC V(min2)(VEC a, VEC b)
{
    return X(min)(a, b);
}

static inline VMASK V(lt)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_LT_OQ);
}

static inline VMASK V(ge)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_GE_OQ);
}

static inline VMASK V(eq)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_EQ_OQ);
}

static inline VMASK V(ne)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_NEQ_UQ);
}

#undef X
#undef COMPARE
