/* simd.h at the AVX-512 level, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h alone. */
#define X(op)              T_PICK(_mm512_##op##_ps, _mm512_##op##_pd)
#define COMPARE(a, b, how) T_PICK(_mm512_cmp_ps_mask, _mm512_cmp_pd_mask)((a), (b), (how))

static inline VEC V(set1)(T x)
{
    return X(set1)(x);
}

static inline VEC V(iota)(void)
{
#if T_IS_DOUBLE
    return (VEC){0, 1, 2, 3, 4, 5, 6, 7};
#else
    return (VEC){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
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

static inline VEC V(gather)(const T *p, int64_t stride)
{
    __m512i low = _mm512_mullo_epi64(_mm512_set1_epi64(stride), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
#if T_IS_DOUBLE
    return _mm512_i64gather_pd(low, p, 8);
#else
    __m512i high = _mm512_add_epi64(low, _mm512_set1_epi64((int64_t)((uint64_t)stride * 8)));
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_i64gather_ps(low, p, 4)), _mm512_i64gather_ps(high, p, 4),
                              1);
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
    return X(roundscale)(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
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
    return X(mask_blend)(mask, b, a);
}

static inline VMASK V(mask_and)(VMASK a, VMASK b)
{
    return (VMASK)(a & b);
}

static inline VMASK V(mask_or)(VMASK a, VMASK b)
{
    return (VMASK)(a | b);
}

static inline VMASK V(mask_not)(VMASK a)
{
    return (VMASK)~a;
}

static inline int V(mask_any)(VMASK a)
{
    return a != 0;
}

static inline int V(mask_all)(VMASK a)
{
    return a == (VMASK)~0u;
}

static inline VINT V(to_int)(VEC v)
{
    return (VINT)T_PICK(_mm512_cvtps_epi32, _mm512_cvtpd_epi64)(v);
}

static inline VEC V(from_int)(VINT v)
{
    return T_PICK(_mm512_cvtepi32_ps, _mm512_cvtepi64_pd)((__m512i)v);
}

static inline T V(sum)(VEC v)
{
#if T_IS_DOUBLE
    __m256d half = _mm512_castpd512_pd256(v) + _mm512_extractf64x4_pd(v, 1);
    __m128d quarter = _mm256_castpd256_pd128(half) + _mm256_extractf128_pd(half, 1);
    return quarter[0] + quarter[1];
#else
    __m256 half = _mm512_castps512_ps256(v) + _mm512_extractf32x8_ps(v, 1);
    __m128 quarter = _mm256_castps256_ps128(half) + _mm256_extractf128_ps(half, 1);
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
#endif
}

#undef X
#undef COMPARE
