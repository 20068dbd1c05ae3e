/* The functions on vectors that every dtype has, and their rows. VADD is the vector type to add in: integers wrap, so
 * theirs is unsigned. */
static inline VEC T_NAME(add)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return (VEC)((VADD)a + (VADD)b);
}

static inline VEC T_NAME(sub)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return (VEC)((VADD)a - (VADD)b);
}

static inline VEC T_NAME(add_alpha)(VEC a, VEC b, VEC alpha)
{
    return (VEC)((VADD)a + (VADD)alpha * (VADD)b);
}

static inline VEC T_NAME(sub_alpha)(VEC a, VEC b, VEC alpha)
{
    return (VEC)((VADD)a - (VADD)alpha * (VADD)b);
}

static inline VEC T_NAME(mul)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return (VEC)((VADD)a * (VADD)b);
}

static inline VEC T_NAME(maximum)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return V(max)(a, b);
}

static inline VEC T_NAME(neg)(VEC x)
{
    return V(neg)(x);
}

static inline VEC T_NAME(abs)(VEC x)
{
    return V(abs)(x);
}

/* NaN and -0 are not below 0, so they stay */
static inline VEC T_NAME(relu)(VEC x)
{
    const VEC zero = {0};
    return V(select)(V(lt)(x, zero), zero, x);
}

#define UNARY_ROW(name)                                           \
    static void T_NAME(name##_row)(const tni_row *row)            \
    {                                                             \
        T_NAME(unary_row)(row, T_NAME(name##_row), T_NAME(name)); \
    }
#define BINARY_ROW(name)                                           \
    static void T_NAME(name##_row)(const tni_row *row)             \
    {                                                              \
        T_NAME(binary_row)(row, T_NAME(name##_row), T_NAME(name)); \
    }
BINARY_ROW(add)
BINARY_ROW(sub)
BINARY_ROW(add_alpha)
BINARY_ROW(sub_alpha)
BINARY_ROW(mul)
BINARY_ROW(maximum)
UNARY_ROW(neg)
UNARY_ROW(abs)
UNARY_ROW(relu)
