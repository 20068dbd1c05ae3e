/* Pointwise loops that stand once, for all CPU levels: uint64, complex, and the operators that are seldom the hot
 * one. A loop is a line: its name, lane, what it reads and writes, and the element's formula in x (of two operands: a
 * and b).
 *
 * Complex numbers of two floats are computed in double where that takes more than a sum or a product, and rounded once.
 * Division is by the larger part of the divisor (Smith 1962, doi:10.1145/368637.368661); by zero the parts are divided
 * by it, so that the result is infinite or NaN.
 *
 * As in PyTorch a complex sum is a + alpha b also where alpha is 1, and a difference where it is -1: an infinite part
 * of b makes the other part NaN by its product with the 0 of alpha. sub_alpha gets alpha negated. */
#include "ops/pointwise_other.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef struct c64 {
    float re, im;
} c64;

typedef struct c128 {
    double re, im;
} c128;

#define ELEMENT(T, i, k) (*(T *)(void *)(row->data[k] + (i)*row->strides[k]))

#define UNARY(name, TO, FROM, formula)                                                   \
    void tni_##name(const tni_row *row)                                                  \
    {                                                                                    \
        if (row->strides[0] == sizeof(TO) && row->strides[1] == sizeof(FROM)) {          \
            TO *y = (TO *)(void *)row->data[0];                                          \
            const FROM *from = (const FROM *)(const void *)row->data[1];                 \
            for (int64_t i = 0; i < row->n; i++) {                                       \
                const FROM x = from[i];                                                  \
                y[i] = formula;                                                          \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        for (int64_t i = 0; i < row->n; i++) {                                           \
            const FROM x = ELEMENT(FROM, i, 1);                                          \
            ELEMENT(TO, i, 0) = formula;                                                 \
        }                                                                                \
    }

#define BINARY(name, TO, FROM, formula)                                  \
    void tni_##name(const tni_row *row)                                  \
    {                                                                    \
        for (int64_t i = 0; i < row->n; i++) {                           \
            const FROM a = ELEMENT(FROM, i, 1), b = ELEMENT(FROM, i, 2); \
            ELEMENT(TO, i, 0) = formula;                                 \
        }                                                                \
    }

/* The same with a number that scales b. */
#define SCALED(name, T, formula)                                   \
    void tni_##name(const tni_row *row)                            \
    {                                                              \
        T alpha;                                                   \
        memcpy(&alpha, row->context, sizeof alpha);                \
        for (int64_t i = 0; i < row->n; i++) {                     \
            const T a = ELEMENT(T, i, 1), b = ELEMENT(T, i, 2);    \
            ELEMENT(T, i, 0) = formula;                            \
        }                                                          \
    }

static inline c128 of_double(double complex z)
{
    return (c128){creal(z), cimag(z)};
}

static inline double complex to_double(double re, double im)
{
    double complex z;
    const double parts[2] = {re, im};
    memcpy(&z, parts, sizeof z);
    return z;
}

static inline c128 divided(c128 a, c128 b)
{
    double c = fabs(b.re), d = fabs(b.im);
    if (c == 0 && d == 0)
        return (c128){a.re / c, a.im / d};
    if (c >= d) {
        double ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return (c128){(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    double ratio = b.re / b.im, scale = 1 / (b.re * ratio + b.im);
    return (c128){(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

static inline c128 sigmoid_of(double complex z)
{
    double complex e = cexp(-z);
    return divided((c128){1, 0}, (c128){1 + creal(e), cimag(e)});
}

/* Both complex lanes of an operator. Z(x) is x as a double complex; WIDE(x) as a c128. */
#define Z(x) to_double((double)(x).re, (double)(x).im)
#define WIDE(x) ((c128){(double)(x).re, (double)(x).im})
#define NARROW(T, R, z) ((T){(R)(z).re, (R)(z).im})
#define COMPLEX_FUNCTION(name, function)                                                                       \
    static inline c128 name##_of(double complex z)                                                             \
    {                                                                                                          \
        return of_double(function(z));                                                                         \
    }
COMPLEX_FUNCTION(exp, cexp)
COMPLEX_FUNCTION(log, clog)
COMPLEX_FUNCTION(tanh, ctanh)
COMPLEX_FUNCTION(sqrt, csqrt)
COMPLEX_FUNCTION(sin, csin)
COMPLEX_FUNCTION(cos, ccos)

static inline c128 rsqrt_of(double complex z)
{
    return divided((c128){1, 0}, of_double(csqrt(z)));
}

static inline c64 narrowed(c128 z)
{
    return (c64){(float)z.re, (float)z.im};
}

#define COMPLEX_UNARY(name, of)                               \
    UNARY(name##_c64, c64, c64, narrowed(of(Z(x))))           \
    UNARY(name##_c128, c128, c128, of(Z(x)))
COMPLEX_UNARY(exp, exp_of)
COMPLEX_UNARY(log, log_of)
COMPLEX_UNARY(tanh, tanh_of)
COMPLEX_UNARY(sqrt, sqrt_of)
COMPLEX_UNARY(sigmoid, sigmoid_of)
COMPLEX_UNARY(sin, sin_of)
COMPLEX_UNARY(cos, cos_of)
COMPLEX_UNARY(rsqrt, rsqrt_of)
UNARY(reciprocal_c64, c64, c64, narrowed(divided((c128){1, 0}, WIDE(x))))
UNARY(reciprocal_c128, c128, c128, divided((c128){1, 0}, x))

#define COMPLEX_PLAIN(T, L)                                                                                     \
    UNARY(neg_##L, T, T, ((T){-x.re, -x.im}))                                                                   \
    UNARY(square_##L, T, T, ((T){x.re * x.re - x.im * x.im, x.re * x.im + x.im * x.re}))                        \
    UNARY(isnan_##L, uint8_t, T, x.re != x.re || x.im != x.im)                                                  \
    UNARY(isinf_##L, uint8_t, T, isinf(x.re) || isinf(x.im))                                                    \
    UNARY(logical_not_##L, uint8_t, T, x.re == 0 && x.im == 0)                                                  \
    BINARY(add_##L, T, T, ((T){a.re + (b.re - 0 * b.im), a.im + (b.im + 0 * b.re)}))                            \
    BINARY(sub_##L, T, T, ((T){a.re + (-b.re - 0 * b.im), a.im + (-b.im + 0 * b.re)}))                          \
    BINARY(mul_##L, T, T, ((T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}))                          \
    BINARY(logical_and_##L, uint8_t, T, (a.re != 0 || a.im != 0) && (b.re != 0 || b.im != 0))                   \
    BINARY(logical_or_##L, uint8_t, T, a.re != 0 || a.im != 0 || b.re != 0 || b.im != 0)                        \
    BINARY(logical_xor_##L, uint8_t, T, (a.re != 0 || a.im != 0) != (b.re != 0 || b.im != 0))                   \
    BINARY(eq_##L, uint8_t, T, a.re == b.re && a.im == b.im)                                                    \
    BINARY(ne_##L, uint8_t, T, a.re != b.re || a.im != b.im)                                                    \
    SCALED(add_alpha_##L, T,                                                                                    \
           ((T){a.re + (alpha.re * b.re - alpha.im * b.im), a.im + (alpha.re * b.im + alpha.im * b.re)}))        \
    SCALED(sub_alpha_##L, T,                                                                                    \
           ((T){a.re + (alpha.re * b.re - alpha.im * b.im), a.im + (alpha.re * b.im + alpha.im * b.re)}))
COMPLEX_PLAIN(c64, c64)
COMPLEX_PLAIN(c128, c128)
UNARY(abs_c64, float, c64, hypotf(x.re, x.im))
UNARY(abs_c128, double, c128, hypot(x.re, x.im))
BINARY(div_c64, c64, c64, narrowed(divided(WIDE(a), WIDE(b))))
BINARY(div_c128, c128, c128, divided(a, b))

static inline c128 times(c128 a, c128 b)
{
    return (c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* grad times the conjugate of the derivative of sigmoid and tanh, told by their result b */
static inline c128 through_sigmoid(c128 grad, c128 b)
{
    c128 slope = times((c128){1 - b.re, -b.im}, b);
    return times(grad, (c128){slope.re, -slope.im});
}

static inline c128 through_tanh(c128 grad, c128 b)
{
    c128 squared = times(b, b);
    return times(grad, (c128){1 - squared.re, squared.im});
}

BINARY(sigmoid_backward_c64, c64, c64, narrowed(through_sigmoid(WIDE(a), WIDE(b))))
BINARY(sigmoid_backward_c128, c128, c128, through_sigmoid(a, b))
BINARY(tanh_backward_c64, c64, c64, narrowed(through_tanh(WIDE(a), WIDE(b))))
BINARY(tanh_backward_c128, c128, c128, through_tanh(a, b))

static inline c128 sgn_of(c128 z)
{
    double size = hypot(z.re, z.im);
    if (isinf(size))
        return (c128){(double)NAN, (double)NAN};
    return size == 0 ? (c128){0, 0} : (c128){z.re / size, z.im / size};
}
UNARY(sgn_c64, c64, c64, narrowed(sgn_of(WIDE(x))))
UNARY(sgn_c128, c128, c128, sgn_of(x))

BINARY(eq_u64, uint8_t, uint64_t, a == b)
BINARY(ne_u64, uint8_t, uint64_t, a != b)
BINARY(maximum_u64, uint64_t, uint64_t, a > b ? a : b)
UNARY(relu_u64, uint64_t, uint64_t, x)

#define LOGICAL(T, L)                                              \
    BINARY(logical_and_##L, uint8_t, T, a != 0 && b != 0)          \
    BINARY(logical_or_##L, uint8_t, T, a != 0 || b != 0)           \
    BINARY(logical_xor_##L, uint8_t, T, (a != 0) != (b != 0))
LOGICAL(int64_t, i64)

/* Of minimum NaN wins; of zeros it is a that stays. */
#define REAL_PLAIN(T, L, SQRT, FLOOR, CEIL, RINT, TRUNC)                            \
    UNARY(sqrt_##L, T, T, SQRT(x))                                                  \
    UNARY(reciprocal_##L, T, T, 1 / x)                                              \
    UNARY(square_##L, T, T, x *x)                                                   \
    UNARY(sign_##L, T, T, (T)((x > 0) - (x < 0)))                                   \
    UNARY(sgn_##L, T, T, (T)((x > 0) - (x < 0)))                                    \
    UNARY(floor_##L, T, T, FLOOR(x))                                                \
    UNARY(ceil_##L, T, T, CEIL(x))                                                  \
    UNARY(round_##L, T, T, RINT(x))                                                 \
    UNARY(trunc_##L, T, T, TRUNC(x))                                                \
    UNARY(isnan_##L, uint8_t, T, x != x)                                            \
    UNARY(isinf_##L, uint8_t, T, isinf(x) != 0)                                     \
    UNARY(logical_not_##L, uint8_t, T, x == 0)                                      \
    BINARY(minimum_##L, T, T, b != b || b < a ? b : a)                              \
    LOGICAL(T, L)
REAL_PLAIN(float, f32, sqrtf, floorf, ceilf, rintf, truncf)
REAL_PLAIN(double, f64, sqrt, floor, ceil, rint, trunc)

#define WHOLE_PLAIN(T, L)                           \
    UNARY(floor_##L, T, T, x)                       \
    UNARY(ceil_##L, T, T, x)                        \
    UNARY(round_##L, T, T, x)                       \
    UNARY(trunc_##L, T, T, x)                       \
    UNARY(isnan_##L, uint8_t, T, x != x)            \
    UNARY(isinf_##L, uint8_t, T, x != x)            \
    UNARY(logical_not_##L, uint8_t, T, x == 0)      \
    BINARY(minimum_##L, T, T, a < b ? a : b)        \
    BINARY(bitwise_and_##L, T, T, a &b)             \
    BINARY(bitwise_or_##L, T, T, a | b)             \
    BINARY(bitwise_xor_##L, T, T, a ^ b)
WHOLE_PLAIN(int64_t, i64)
WHOLE_PLAIN(uint64_t, u64)
#define LIBRARY(T, L, SIN, COS, LOG1P, LOG2, EXPM1, ERF, SQRT) \
    UNARY(sin_##L, T, T, SIN(x))                         \
    UNARY(cos_##L, T, T, COS(x))                         \
    UNARY(log1p_##L, T, T, LOG1P(x))                     \
    UNARY(log2_##L, T, T, LOG2(x))                       \
    UNARY(expm1_##L, T, T, EXPM1(x))                     \
    UNARY(erf_##L, T, T, ERF(x))                         \
    UNARY(rsqrt_##L, T, T, 1 / SQRT(x))
LIBRARY(float, f32, sinf, cosf, log1pf, log2f, expm1f, erff, sqrtf)
LIBRARY(double, f64, sin, cos, log1p, log2, expm1, erf, sqrt)

/* The context is the int64 whose bits are turned over: all of them, or the one of a bool. Shifts by more than there are
 * bits leave 0 or the sign. */
UNARY(bitwise_not_i64, int64_t, int64_t, x ^ *(const int64_t *)row->context)
BINARY(bitwise_left_shift_i64, int64_t, int64_t, b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b))
BINARY(bitwise_right_shift_i64, int64_t, int64_t, a >> (b < 0 || b > 63 ? 63 : b))
UNARY(square_i64, int64_t, int64_t, (int64_t)((uint64_t)x *(uint64_t)x))
UNARY(sign_i64, int64_t, int64_t, (x > 0) - (x < 0))
UNARY(sgn_i64, int64_t, int64_t, (x > 0) - (x < 0))
