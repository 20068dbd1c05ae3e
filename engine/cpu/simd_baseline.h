/* simd.h without AVX2: 16-byte vectors of the compilers' vector extension, which are SSE2 on x86-64. For the dtype that
 * simd_float.h or simd_double.h has set. Included by simd.h alone. */
static inline VEC V(set1)(T x)
{
#if T_IS_DOUBLE
    return (VEC){x, x};
#else
    return (VEC){x, x, x, x};
#endif
}

static inline VEC V(iota)(void)
{
#if T_IS_DOUBLE
    return (VEC){0, 1};
#else
    return (VEC){0, 1, 2, 3};
#endif
}

static inline VEC V(load)(const T *p)
{
    VEC v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void V(store)(T *p, VEC v)
{
    memcpy(p, &v, sizeof v);
}

static inline void V(store_aligned)(T *p, VEC v)
{
    memcpy(__builtin_assume_aligned(p, TNI_SIMD_BYTES), &v, sizeof v);
}

static inline void V(stream)(T *p, VEC v)
{
#if defined(__SSE2__)
    T_PICK(_mm_stream_ps, _mm_stream_pd)(p, v);
#else
    V(store_aligned)(p, v);
#endif
}

static inline VMASK V(mask_first)(int n)
{
    return (VMASK)(V(iota)() < V(set1)((T)n));
}

static inline VEC V(load_part)(const T *p, int n, T fill)
{
    T lanes[VLANES];
    for (int j = 0; j < VLANES; j++)
        lanes[j] = j < n ? p[j] : fill;
    return V(load)(lanes);
}

static inline void V(store_part)(T *p, int n, VEC v)
{
    for (int j = 0; j < n; j++)
        p[j] = v[j];
}

static inline VEC V(gather)(const T *p, int64_t stride)
{
#if T_IS_DOUBLE
    return (VEC){p[0], p[stride]};
#else
    return (VEC){p[0], p[stride], p[2 * stride], p[3 * stride]};
#endif
}

static inline VEC V(mul_add)(VEC a, VEC b, VEC c)
{
    return a * b + c;
}

static inline VEC V(sqrt)(VEC v)
{
#if defined(__SSE2__)
    return T_PICK(_mm_sqrt_ps, _mm_sqrt_pd)(v);
#else
    for (int j = 0; j < VLANES; j++)
        v[j] = T_PICK(sqrtf, sqrt)(v[j]);
    return v;
#endif
}

static inline VMASK V(lt)(VEC a, VEC b)
{
    return (VMASK)(a < b);
}

static inline VMASK V(le)(VEC a, VEC b)
{
    return (VMASK)(a <= b);
}

static inline VMASK V(gt)(VEC a, VEC b)
{
    return (VMASK)(a > b);
}

static inline VMASK V(ge)(VEC a, VEC b)
{
    return (VMASK)(a >= b);
}

static inline VMASK V(eq)(VEC a, VEC b)
{
    return (VMASK)(a == b);
}

static inline VMASK V(ne)(VEC a, VEC b)
{
    return (VMASK)(a != b);
}

static inline VEC V(select)(VMASK mask, VEC a, VEC b)
{
    return (VEC)(((VMASK)a & mask) | ((VMASK)b & ~mask));
}

static inline VEC V(max2)(VEC a, VEC b)
{
#if defined(__SSE2__)
    return T_PICK(_mm_max_ps, _mm_max_pd)(a, b);
#else
    return V(select)(V(gt)(a, b), a, b);
#endif
}

static inline VEC V(min2)(VEC a, VEC b)
{
#if defined(__SSE2__)
    return T_PICK(_mm_min_ps, _mm_min_pd)(a, b);
#else
    return V(select)(V(lt)(a, b), a, b);
#endif
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
#if defined(__SSE2__)
    return T_PICK(_mm_movemask_ps, _mm_movemask_pd)((VEC)a) != 0;
#else
    int any = 0;
    for (int j = 0; j < VLANES; j++)
        any |= a[j] != 0;
    return any;
#endif
}

static inline int V(mask_all)(VMASK a)
{
    return !V(mask_any)(~a);
}

/* Adding and taking away 2^23 (2^52) leaves the nearest integer to a smaller magnitude; larger ones are integers
 * already. */
static inline VEC V(round)(VEC v)
{
    const VEC shift = V(set1)(T_PICK(0x1p23f, 0x1p52));
    VMASK sign = (VMASK)V(set1)((T)-0.0);
    VEC magnitude = (VEC)((VMASK)v & ~sign);
    VEC rounded = (VEC)((VMASK)((magnitude + shift) - shift) | ((VMASK)v & sign));
    return V(select)(V(lt)(magnitude, shift), rounded, v);
}

#if !T_IS_DOUBLE
static inline VINT V(to_int)(VEC v)
{
#if defined(__SSE2__)
    return (VINT)_mm_cvtps_epi32(v);
#else
    return __builtin_convertvector(V(round)(v), VINT);
#endif
}

static inline VEC V(from_int)(VINT v)
{
    return __builtin_convertvector(v, VEC);
}
#endif

static inline T V(sum)(VEC v)
{
#if T_IS_DOUBLE
    return v[0] + v[1];
#else
    return (v[0] + v[2]) + (v[1] + v[3]);
#endif
}
