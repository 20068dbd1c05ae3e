/* simd.h at the AVX2 level, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h alone. */
#define X(op)              T_PICK(_mm256_##op##_ps, _mm256_##op##_pd)
#define COMPARE(a, b, how) ((VMASK)X(cmp)((a), (b), (how)))

static inline VEC V(set1)(T x)
{
    return X(set1)(x);
}

static inline VEC V(iota)(void)
{
#if T_IS_DOUBLE
    return (VEC){0, 1, 2, 3};
#else
    return (VEC){0, 1, 2, 3, 4, 5, 6, 7};
#endif
}

static inline VEC V(load)(const T *p)
{
    return X(loadu)(p);
}

static inline void V(store)(T *p, VEC v)
{
    X(storeu)(p, v);
}

static inline void V(store_aligned)(T *p, VEC v)
{
    X(store)(p, v);
}

static inline void V(stream)(T *p, VEC v)
{
    X(stream)(p, v);
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

static inline VEC V(gather)(const T *p, int64_t stride)
{
#if T_IS_DOUBLE
    return (VEC){p[0], p[stride], p[2 * stride], p[3 * stride]};
#else
    return (VEC){p[0],          p[stride],     p[2 * stride], p[3 * stride],
                 p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride]};
#endif
}

static inline VEC V(fma)(VEC a, VEC b, VEC c)
{
    return X(fmadd)(a, b, c);
}

static inline VEC V(mul_add)(VEC a, VEC b, VEC c)
{
    return X(fmadd)(a, b, c);
}

static inline VEC V(sqrt)(VEC v)
{
    return X(sqrt)(v);
}

static inline VEC V(round)(VEC v)
{
    return X(round)(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
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

static inline VMASK V(le)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_LE_OQ);
}

static inline VMASK V(gt)(VEC a, VEC b)
{
    return COMPARE(a, b, _CMP_GT_OQ);
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

static inline VEC V(select)(VMASK mask, VEC a, VEC b)
{
    return X(blendv)(b, a, (VEC)mask);
}

static inline VMASK V(mask_and)(VMASK a, VMASK b)
{
    return a & b;
}

static inline VMASK V(mask_or)(VMASK a, VMASK b)
{
    return a | b;
}

static inline VMASK V(mask_not)(VMASK a)
{
    return ~a;
}

static inline int V(mask_any)(VMASK a)
{
    return X(movemask)((VEC)a) != 0;
}

static inline int V(mask_all)(VMASK a)
{
    return X(movemask)((VEC)a) == (1 << VLANES) - 1;
}

#if !T_IS_DOUBLE
static inline VINT V(to_int)(VEC v)
{
    return (VINT)_mm256_cvtps_epi32(v);
}

static inline VEC V(from_int)(VINT v)
{
    return _mm256_cvtepi32_ps((__m256i)v);
}
#endif

static inline T V(sum)(VEC v)
{
#if T_IS_DOUBLE
    __m128d half = _mm256_castpd256_pd128(v) + _mm256_extractf128_pd(v, 1);
    return half[0] + half[1];
#else
    __m128 half = _mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1);
    return (half[0] + half[2]) + (half[1] + half[3]);
#endif
}

#undef X
#undef COMPARE
