/* The functions on vectors that floating dtypes alone have, and their rows. exp, log, sigmoid and tanh are
 * cpu/vmath.h's. */
static inline VEC T_NAME(div)(VEC a, VEC b, VEC alpha)
{
    (void)alpha;
    return a / b;
}

/* Of relu, sigmoid, tanh the gradient from that of the result (grad) and the result itself (y). NaN is not below 0:
 * its gradient goes through. */
static inline VEC T_NAME(relu_backward)(VEC grad, VEC y, VEC alpha)
{
    const VEC zero = {0};
    (void)alpha;
    return V(select)(V(ge)(zero, y), zero, grad);
}

static inline VEC T_NAME(sigmoid_backward)(VEC grad, VEC y, VEC alpha)
{
    (void)alpha;
    return grad * (V(set1)(1) - y) * y;
}

static inline VEC T_NAME(tanh_backward)(VEC grad, VEC y, VEC alpha)
{
    (void)alpha;
    return grad * (V(set1)(1) - y * y);
}

BINARY_ROW(div)
BINARY_ROW(relu_backward)
BINARY_ROW(sigmoid_backward)
BINARY_ROW(tanh_backward)

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
