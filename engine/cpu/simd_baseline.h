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

static inline void V(stream)(T *p, VEC v)
{
#if defined(__SSE2__)
    T_PICK(_mm_stream_ps, _mm_stream_pd)(p, v);
#else
    V(store)(p, v);
#endif
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

static inline VEC V(mul_add)(VEC a, VEC b, VEC c)
{
    return a * b + c;
}

/* SSE2's own comparisons: gcc 12 fails at -O1 on the extension's when select follows (internal error in isel). */
#if defined(__SSE2__)
#define BASELINE_COMPARE(name, op, sse)                                                                                \
    static inline VMASK V(name)(VEC a, VEC b)                                                                          \
    {                                                                                                                  \
        return (VMASK)T_PICK(_mm_cmp##sse##_ps, _mm_cmp##sse##_pd)(a, b);                                              \
    }
#else
#define BASELINE_COMPARE(name, op, sse)                                                                                \
    static inline VMASK V(name)(VEC a, VEC b)                                                                          \
    {                                                                                                                  \
        return (VMASK)(a op b);                                                                                        \
    }
#endif

BASELINE_COMPARE(lt, <, lt)
BASELINE_COMPARE(ge, >=, ge)
BASELINE_COMPARE(eq, ==, eq)
BASELINE_COMPARE(ne, !=, neq)

#undef BASELINE_COMPARE

static inline VEC V(select)(VMASK mask, VEC a, VEC b)
{
    return (VEC)(((VMASK)a & mask) | ((VMASK)b & ~mask));
}

static inline VEC V(max2)(VEC a, VEC b)
{
#if defined(__SSE2__)
    return T_PICK(_mm_max_ps, _mm_max_pd)(a, b);
#else
    return V(select)(V(lt)(b, a), a, b);
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
