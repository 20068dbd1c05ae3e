/* pow: a^b of tensors, with a number as exponent or base. Rules of torch.pow.
 *
 * Integers to integers stay integers and wrap; a negative power of one is 0, but for the bases 1 and -1, and refused
 * when the exponent is a number. As in PyTorch the exponents 2, 3, -1, -2 and 1/2 as numbers are products, quotients
 * and roots.
 *
 *     slope in a   b a^(b-1), 0 where b is 0
 *     slope in b   a^b log a, 0 where a is 0 and b is not negative */
#include <complex.h>
#include <math.h>
#include <string.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

typedef enum exponent { ANY, SQUARE, CUBE, INVERSE, INVERSE_SQUARE, ROOT } exponent;

#define EACH(T, formula)                                                                                               \
    for (int64_t i = 0; i < row->n; i++) {                                                                             \
        const T a = *(const T *)(const void *)(row->data[1] + i * row->strides[1]);                                    \
        const T b = *(const T *)(const void *)(row->data[2] + i * row->strides[2]);                                    \
        (void)b;                                                                                                       \
        *(T *)(void *)(row->data[0] + i * row->strides[0]) = formula;                                                  \
    }

/* The same of dense a and y, whatever b is: short formulas in a loop that compilers make vectors of. */
#define DENSE(T, formula)                                                                                              \
    if (row->strides[0] == sizeof(T) && row->strides[1] == sizeof(T)) {                                                \
        const T *from = (const T *)(const void *)row->data[1];                                                         \
        T *to = (T *)(void *)row->data[0];                                                                             \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            const T a = from[i];                                                                                       \
            to[i] = formula;                                                                                           \
        }                                                                                                              \
    } else {                                                                                                           \
        EACH(T, formula)                                                                                               \
    }                                                                                                                  \
    return;

#define REAL_POWER(L, T, POW, SQRT)                                                                                    \
    static void pow_##L(const tni_row *row)                                                                            \
    {                                                                                                                  \
        switch (*(const exponent *)row->context) {                                                                     \
        case SQUARE:                                                                                                   \
            DENSE(T, a *a)                                                                                             \
        case CUBE:                                                                                                     \
            DENSE(T, a *a *a)                                                                                          \
        case INVERSE:                                                                                                  \
            DENSE(T, 1 / a)                                                                                            \
        case INVERSE_SQUARE:                                                                                           \
            DENSE(T, 1 / (a * a))                                                                                      \
        case ROOT:                                                                                                     \
            DENSE(T, SQRT(a))                                                                                          \
        default:                                                                                                       \
            EACH(T, POW(a, b))                                                                                         \
        }                                                                                                              \
    }
REAL_POWER(f32, float, powf, sqrtf)
REAL_POWER(f64, double, pow, sqrt)

/* By squaring, wrapping. */
static inline int64_t power_i64(int64_t a, int64_t b)
{
    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    uint64_t result = 1, factor = (uint64_t)a;
    for (uint64_t left = (uint64_t)b; left > 0; left >>= 1) {
        result *= left & 1 ? factor : 1;
        factor *= factor;
    }
    return (int64_t)result;
}

static void pow_i64(const tni_row *row)
{
    EACH(int64_t, power_i64(a, b))
}

static inline double complex power_complex(double complex a, double complex b)
{
    if (creal(b) == 0 && cimag(b) == 0)
        return 1;
    return cpow(a, b);
}

#define COMPLEX_LOOP(L, T)                                                                                             \
    static void pow_##L(const tni_row *row)                                                                            \
    {                                                                                                                  \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            const T *a = (const T *)(const void *)(row->data[1] + i * row->strides[1]);                                \
            const T *b = (const T *)(const void *)(row->data[2] + i * row->strides[2]);                                \
            T *y = (T *)(void *)(row->data[0] + i * row->strides[0]);                                                  \
            double complex z = power_complex((double)a[0] + (double)a[1] * I, (double)b[0] + (double)b[1] * I);        \
            y[0] = (T)creal(z);                                                                                        \
            y[1] = (T)cimag(z);                                                                                        \
        }                                                                                                              \
    }
COMPLEX_LOOP(c64, float)
COMPLEX_LOOP(c128, double)

static tn_status pow_infer(tni_call *call, tni_meta *meta)
{
    static const tni_loop lanes[TNI_LANES] = {pow_f32, pow_f64, pow_i64, NULL, pow_c64, pow_c128};
    const tni_binary_attr *attr = call->attr;
    tn_dtype dtype;
    if (tni_binary_shape(call, meta, &dtype))
        return tni_pending();
    if (dtype == TN_BOOL)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "bool operands, needed numbers");
    if (!call->in[1] && tni_is_integral(dtype) && tni_scalar_real(attr->number[1]) < 0)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call),
                        "%s to the negative power %lld, needed a floating base or a power of 0 or more",
                        tn_dtype_name(dtype), (long long)attr->number[1].value.i);
    meta->record.dtype = (uint8_t)dtype;
    call->exact = 2;
    return tni_set_loop(call, lanes, dtype);
}

static exponent kind_of(const tni_call *call)
{
    const tni_binary_attr *attr = call->attr;
    if (call->in[1] || attr->number[1].kind == TN_SCALAR_COMPLEX)
        return ANY;
    const double b = tni_scalar_real(attr->number[1]);
    return b == 2 ? SQUARE : b == 3 ? CUBE : b == -1 ? INVERSE : b == -2 ? INVERSE_SQUARE : b == 0.5 ? ROOT : ANY;
}

static void pow_run(const tni_call *call, void *workspace)
{
    const exponent kind = kind_of(call);
    (void)workspace;
    tni_run_pointwise(call, 2, call->compute, &kind);
}

static bool is_zero(tn_scalar x)
{
    return tni_scalar_real(x) == 0 && (x.kind != TN_SCALAR_COMPLEX || x.value.c.im == 0);
}

static tn_scalar less_one(tn_scalar x)
{
    if (x.kind == TN_SCALAR_COMPLEX)
        return tn_complex(x.value.c.re - 1, x.value.c.im);
    return x.kind == TN_SCALAR_FLOAT ? tn_float(x.value.f - 1) : tn_int(x.value.i - 1);
}

/* grad conj(b a^(b-1)); 0 where b is 0, whatever a^-1 is. */
static tn_tensor *in_base(tni_vjp *v)
{
    tn_tensor *a = tni_saved_input(v, 0), *b = tni_saved_input(v, 1);
    if (tni_pending())
        return NULL;
    if (!b) {
        const tn_scalar power = tni_number_of(v, 1);
        if (is_zero(power))
            return tni_no_slope(v);
        return tn_mul(v->grad, tni_conj_of(tn_mul_scalar(tn_pow_scalar(a, less_one(power)), power)));
    }
    tn_tensor *slope = tn_mul(tn_pow(a, tn_sub_scalar(b, tn_int(1))), b);
    return tn_masked_fill(tn_mul(v->grad, tni_conj_of(slope)), tn_eq_scalar(b, tn_int(0)), tn_int(0));
}

/* grad conj(a^b log a); 0 where a is 0 and b is not negative (of complex b: its real part is positive or b is 0). */
static tn_tensor *in_exponent(tni_vjp *v)
{
    tn_tensor *a = tni_saved_input(v, 0), *b = tni_saved_input(v, 1), *y = tni_saved_result(v);
    if (tni_pending())
        return NULL;
    if (!a) {
        const tn_scalar base = tni_number_of(v, 0);
        if (!is_zero(base)) {
            tn_tensor *log_base = tn_log(tn_full(NULL, 0, base, (tn_dtype)y->dtype));
            return tn_mul(v->grad, tni_conj_of(tn_mul(y, log_base)));
        }
        a = tn_full(NULL, 0, base, (tn_dtype)y->dtype);
    }
    const bool parts = tni_dtype_kind((tn_dtype)b->dtype) == TNI_COMPLEX;
    tn_tensor *not_negative = tn_ge_scalar(parts ? tn_real(b) : b, tn_int(0));
    tn_tensor *flat = tn_logical_and(tn_eq_scalar(a, tn_int(0)), not_negative);
    tn_tensor *log_a = tn_log(tn_masked_fill(tn_to(a, (tn_dtype)y->dtype), flat, tn_int(1)));
    return tn_masked_fill(tn_mul(v->grad, tni_conj_of(tn_mul(y, log_a))), flat, tn_int(0));
}

static void pow_vjp(tni_vjp *v)
{
    if (tni_needs(v, 0))
        v->grads[0] = in_base(v);
    if (tni_needs(v, 1))
        v->grads[1] = in_exponent(v);
}

static const char *pow_node(const tni_node *node)
{
    const tni_binary_attr *attr = node->attr;
    return attr->numbers & 2 ? "PowBackward0" : attr->numbers & 1 ? "PowBackward2" : "PowBackward1";
}

static const tni_derivative pow_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE(1), TNI_SAVE(0) | TNI_SAVE(1) | TNI_SAVE_RESULT}, .vjp = pow_vjp,
    .named = pow_node};

const tni_op tni_op_pow = {
    .name = TNI_NAMES(pow),
    .params = {TNI_OPERAND("self", 0, tni_binary_attr, number[0]),
               TNI_OPERAND("exponent", 1, tni_binary_attr, number[1])},
    .n_params = 2, .n_in = 2, .n_out = 1, .number_in = 3, .dtypes = TNI_REALS | TNI_COMPLEXES,
    .attr_bytes = sizeof(tni_binary_attr), .attr_default = &tni_binary_default, .derivative = &pow_derivative,
    .infer = pow_infer, .run = pow_run,
    .samples = "[3,4] [3,4] | [3,4] [4] | [] [2,3] | [0,4] [4] | [3,4] 2 | [5] 0.5 | [5] 3 | 2 [5] | [2,3,4] [3,1] | "
               "[37] 0 | ! [3] [4] | ! 1 2"};

TNI_BINARY_FRONTS(pow)

tn_tensor *tn_scalar_pow(tn_scalar base, tn_tensor *exponent_tensor)
{
    tn_tensor *in[2] = {NULL, exponent_tensor};
    const tni_binary_attr attr = {.numbers = 1, .number[0] = base, .alpha = tni_binary_default.alpha};
    return tni_call_new(&tni_op_pow, in, &attr);
}
