/* What the levels of simd.h share, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h alone.
 */
static inline VUINT V(bits)(VEC v)
{
    return (VUINT)v;
}

static inline VEC V(of_bits)(VUINT bits)
{
    return (VEC)bits;
}

static inline VUINT V(set1_bits)(T_BITS bits)
{
    VUINT v;
    for (int j = 0; j < VLANES; j++)
        v[j] = bits;
    return v;
}

static inline VUINT V(srl)(VUINT v, int count)
{
    return v >> count;
}

static inline VUINT V(sll)(VUINT v, int count)
{
    return v << count;
}

static inline VEC V(abs)(VEC v)
{
    return (VEC)((VUINT)v & ~(VUINT)V(set1)((T)-0.0));
}

static inline VEC V(neg)(VEC v)
{
    return (VEC)((VUINT)v ^ (VUINT)V(set1)((T)-0.0));
}

static inline VEC V(copysign)(VEC v, VEC sign)
{
    const VUINT mask = (VUINT)V(set1)((T)-0.0);
    return (VEC)(((VUINT)v & ~mask) | ((VUINT)sign & mask));
}

static inline VMASK V(isnan)(VEC v)
{
    return V(ne)(v, v);
}

/* max2 gives b when either is NaN, so only a NaN in a is left to see to. */
static inline VEC V(max)(VEC a, VEC b)
{
    return V(select)(V(isnan)(a), a, V(max2)(a, b));
}

static inline VEC V(min)(VEC a, VEC b)
{
    return V(select)(V(isnan)(a), a, V(min2)(a, b));
}

static inline T V(hmax)(VEC v)
{
    T lanes[VLANES];
    V(store)(lanes, v);
    T most = lanes[0];
    for (int j = 1; j < VLANES; j++)
        most = lanes[j] > most || lanes[j] != lanes[j] ? lanes[j] : most;
    return most;
}

static inline T V(hmin)(VEC v)
{
    T lanes[VLANES];
    V(store)(lanes, v);
    T least = lanes[0];
    for (int j = 1; j < VLANES; j++)
        least = lanes[j] < least || lanes[j] != lanes[j] ? lanes[j] : least;
    return least;
}

static inline VEC V(gather_part)(const T *p, int64_t stride, int n, T fill)
{
    T lanes[VLANES];
    for (int j = 0; j < VLANES; j++)
        lanes[j] = j < n ? p[j * stride] : fill;
    return V(load)(lanes);
}

static inline void V(scatter_part)(T *p, int64_t stride, int n, VEC v)
{
    T lanes[VLANES];
    V(store)(lanes, v);
    for (int j = 0; j < n; j++)
        p[j * stride] = lanes[j];
}

/* No level below AVX-512 converts 64-bit integers: 1.5 * 2^52 + x holds the nearest integer to x in its low bits. */
#if T_IS_DOUBLE && TNI_SIMD_LEVEL < TNI_SIMD_AVX512
static inline VINT V(to_int)(VEC v)
{
    const VEC shift = V(set1)(0x1.8p52);
    return (VINT)(V(bits)(v + shift) - V(bits)(shift));
}

static inline VEC V(from_int)(VINT v)
{
    const VEC shift = V(set1)(0x1.8p52);
    return V(of_bits)((VUINT)v + V(bits)(shift)) - shift;
}
#endif
