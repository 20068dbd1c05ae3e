/* The functions on vectors that floating dtypes alone have, and their rows. exp, log, sigmoid and tanh are
 * cpu/vmath.h's. */
static inline VEC T_NAME(div)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return a / b;
}

BINARY_ROW(div)

#define VMATH_ROW(name)                                      \
    static void T_NAME(name##_row)(const tni_row *row)       \
    {                                                        \
        T_NAME(unary_row)(row, T_NAME(name##_row), V(name)); \
    }
VMATH_ROW(exp)
VMATH_ROW(log)
VMATH_ROW(sigmoid)
VMATH_ROW(tanh)
#undef VMATH_ROW
