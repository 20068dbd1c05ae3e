/* What all levels of simd.h share, for the dtype that simd_float.h or simd_double.h has set. Included by simd.h
 * alone. */
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

/* max2 gives its second operand when either is NaN, so only a NaN in b is left to see to; of zeros it is a that
 * stays. */
static inline VEC V(max)(VEC a, VEC b)
{
    return V(select)(V(ne)(b, b), b, V(max2)(b, a));
}
