/* Three operands: addcmul self + value a b, addcdiv self + value a / b, lerp self + weight (end - self). Rules of
 * torch's functions of these names. From a weight of 1/2 on lerp is end - (1 - weight) (end - self), so that a weight
 * of 1 gives end exactly; halves compute in float32.
 *
 *     addcmul  slopes 1, value b, value a         addcdiv  slopes 1, value / b, -value a / b^2
 *     lerp     slopes 1 - weight, weight, end - self */
#include <complex.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

/* Of lerp the weight may be a number: bit 2 of numbers. */
typedef struct ternary_attr {
    uint32_t numbers;
    tn_scalar value; /* or the weight */
} ternary_attr;

typedef union number {
    float f32;
    double f64;
    int64_t i64;
    float complex c64;
    double complex c128;
} number;

#define LOOP(op, T, L)                                                                                                 \
    static void op##_##L(const tni_row *row)                                                                           \
    {                                                                                                                  \
        const T value = ((const number *)row->context)->L;                                                             \
        (void)value;                                                                                                   \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            const T x = *(const T *)(const void *)(row->data[1] + i * row->strides[1]);                                \
            const T a = *(const T *)(const void *)(row->data[2] + i * row->strides[2]);                                \
            const T b = *(const T *)(const void *)(row->data[3] + i * row->strides[3]);                                \
            *(T *)(void *)(row->data[0] + i * row->strides[0]) = op##_FORMULA(T, L);                                   \
        }                                                                                                              \
    }
#define addcmul_FORMULA(T, L) x + value *a *b
#define addcdiv_FORMULA(T, L) x + value *a / b
#define lerp_FORMULA(T, L)    (is_small_##L(b) ? x + b * (a - x) : a - (a - x) * (1 - b))

static inline bool is_small_f32(float weight)
{
    return weight < 0.5F && weight > -0.5F;
}

static inline bool is_small_f64(double weight)
{
    return weight < 0.5 && weight > -0.5;
}

static inline bool is_small_c64(float complex weight)
{
    return crealf(weight) * crealf(weight) + cimagf(weight) * cimagf(weight) < 0.25F;
}

static inline bool is_small_c128(double complex weight)
{
    return creal(weight) * creal(weight) + cimag(weight) * cimag(weight) < 0.25;
}

#define FLOAT_LOOPS(op)                                                                                                \
    LOOP(op, float, f32)                                                                                               \
    LOOP(op, double, f64)                                                                                              \
    LOOP(op, float complex, c64)                                                                                       \
    LOOP(op, double complex, c128)
FLOAT_LOOPS(addcmul)
FLOAT_LOOPS(addcdiv)
FLOAT_LOOPS(lerp)

static void addcmul_i64(const tni_row *row)
{
    const uint64_t value = (uint64_t)((const number *)row->context)->i64;
    for (int64_t i = 0; i < row->n; i++) {
        const uint64_t x = *(const uint64_t *)(const void *)(row->data[1] + i * row->strides[1]);
        const uint64_t a = *(const uint64_t *)(const void *)(row->data[2] + i * row->strides[2]);
        const uint64_t b = *(const uint64_t *)(const void *)(row->data[3] + i * row->strides[3]);
        *(uint64_t *)(void *)(row->data[0] + i * row->strides[0]) = x + value * a * b;
    }
}

enum { ADDCMUL, ADDCDIV, LERP };
static const tni_loop loops[][TNI_LANES] = {
    [ADDCMUL] = {addcmul_f32, addcmul_f64, addcmul_i64, NULL, addcmul_c64, addcmul_c128},
    [ADDCDIV] = {addcdiv_f32, addcdiv_f64, NULL, NULL, addcdiv_c64, addcdiv_c128},
    [LERP] = {lerp_f32, lerp_f64, NULL, NULL, lerp_c64, lerp_c128}};

/* The number must be one of the result's dtype. */
static tn_status check_number(const tni_call *call, tn_dtype dtype)
{
    const tn_scalar value = ((const ternary_attr *)call->attr)->value;
    if (value.kind == TN_SCALAR_COMPLEX && tni_dtype_kind(dtype) != TNI_COMPLEX)
        return TNI_FAIL(TN_ERROR_OVERFLOW, tni_call_name(call), "the number is complex and the result %s",
                        tn_dtype_name(dtype));
    if (!tni_scalar_fits(value, dtype))
        return TNI_FAIL(TN_ERROR_OVERFLOW, tni_call_name(call), "the number is beyond the range of %s",
                        tn_dtype_name(dtype));
    return TN_OK;
}

static tn_status promoted(const tni_call *call, tn_dtype *dtype)
{
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    for (int i = 0; i < 3 && fits; i++)
        fits = tni_result_type_tensor(&state, (tn_dtype)call->in[i]->dtype, call->in[i]->ndim);
    *dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (*dtype == TN_DTYPE_NONE)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the three have no common dtype; convert one with tn_to");
    return TN_OK;
}

/* lerp promotes nothing; a weight without dims may have any dtype that converts. */
static tn_status same_dtype(const tni_call *call, tn_dtype *dtype)
{
    static const char *const names[] = {"self", "end", "weight"};
    *dtype = (tn_dtype)call->in[0]->dtype;
    for (int i = 1; i < 3; i++) {
        const tn_tensor *x = call->in[i];
        if (x && (tn_dtype)x->dtype != *dtype && !(i == 2 && x->ndim == 0 && tni_is_float((tn_dtype)x->dtype)))
            return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s is %s, needed %s, as self is", names[i],
                            tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name(*dtype));
    }
    return TN_OK;
}

static tn_status ternary_infer(tni_call *call, tni_meta *meta)
{
    tn_dtype dtype;
    const int family = call->op->family;
    if (family == LERP ? same_dtype(call, &dtype) : promoted(call, &dtype))
        return tni_pending();
    if (family == ADDCDIV && tni_is_integral((tn_dtype)call->in[1]->dtype) &&
        tni_is_integral((tn_dtype)call->in[2]->dtype))
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s divided by %s, needed a floating one among them",
                        tn_dtype_name((tn_dtype)call->in[1]->dtype), tn_dtype_name((tn_dtype)call->in[2]->dtype));
    call->dense = false;
    if (tni_set_loop(call, loops[family], dtype) || check_number(call, dtype))
        return tni_pending();
    return tni_three_shape(call, meta, dtype);
}

static void ternary_run(const tni_call *call, void *workspace)
{
    static const int64_t none = 0;
    const tn_tensor *out = call->out[0];
    const tn_scalar value = ((const ternary_attr *)call->attr)->value;
    _Alignas(16) char common[16];
    number given;
    tni_iter it;
    (void)workspace;
    if (tni_dtype_kind(call->common) == TNI_FLOAT) {
        tni_scalar_to(value, call->compute, &given); /* not rounded to 16 bits */
    } else {
        tni_scalar_to(value, call->common, common);
        tni_converter_of(call->common, call->compute)(&given, 0, common, 0, 1);
    }
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_operand_via(&it, tni_data(out), out->sizes, out->strides, out->ndim, (tn_dtype)out->dtype, call->common,
                         call->compute);
    for (int i = 0; i < 3; i++) {
        const tn_tensor *x = call->in[i];
        if (x)
            tni_iter_operand_via(&it, tni_data(x), x->sizes, x->strides, x->ndim, (tn_dtype)x->dtype, call->common,
                                 call->compute);
        else
            tni_iter_operand(&it, (char *)&given, &none, &none, 0, call->compute, call->compute);
    }
    tni_iter_run(&it, call->loop, &given);
}

static tn_scalar value_of(const tni_vjp *v)
{
    return ((const ternary_attr *)v->attr)->value;
}

static tn_tensor *times_value(const tni_vjp *v, tn_tensor *x)
{
    return tn_mul_scalar(x, value_of(v));
}

static void addcmul_vjp(tni_vjp *v)
{
    v->grads[0] = v->grad;
    for (int i = 1; i < 3; i++)
        if (tni_needs(v, i))
            v->grads[i] = tn_mul(v->grad, tni_conj_of(times_value(v, tni_saved_input(v, 3 - i))));
}

static void addcdiv_vjp(tni_vjp *v)
{
    tn_tensor *b = tni_saved_input(v, 2);
    v->grads[0] = v->grad;
    if (tni_needs(v, 1))
        v->grads[1] = tn_mul(v->grad, tni_conj_of(times_value(v, tn_reciprocal(b))));
    if (tni_needs(v, 2)) {
        tn_tensor *slope = tn_div(times_value(v, tni_saved_input(v, 1)), tn_mul(b, b));
        v->grads[2] = tn_neg(tn_mul(v->grad, tni_conj_of(slope)));
    }
}

static tn_scalar one_less(tn_scalar x)
{
    if (x.kind == TN_SCALAR_COMPLEX)
        return tn_complex(1 - x.value.c.re, -x.value.c.im);
    return tn_float(1 - tni_scalar_real(x));
}

static void lerp_vjp(tni_vjp *v)
{
    tn_tensor *weight = tni_saved_input(v, 2);
    if (tni_pending())
        return;
    const bool number_weight = ((const ternary_attr *)v->attr)->numbers & 4;
    if (number_weight) {
        if (tni_needs(v, 0))
            v->grads[0] = tn_mul_scalar(v->grad, tni_conj_of_number(one_less(value_of(v))));
        if (tni_needs(v, 1))
            v->grads[1] = tn_mul_scalar(v->grad, tni_conj_of_number(value_of(v)));
        return;
    }
    if (tni_needs(v, 0))
        v->grads[0] = tn_mul(v->grad, tni_conj_of(tn_add_scalar(tn_neg(weight), tn_int(1))));
    if (tni_needs(v, 1))
        v->grads[1] = tn_mul(v->grad, tni_conj_of(weight));
    if (tni_needs(v, 2))
        v->grads[2] = tn_mul(v->grad, tni_conj_of(tn_sub(tni_saved_input(v, 1), tni_saved_input(v, 0))));
}

static const char *lerp_named(const tni_node *node)
{
    return ((const ternary_attr *)node->attr)->numbers & 4 ? "LerpBackward0" : "LerpBackward1";
}

static const tni_derivative addcmul_derivative = {.saves = {0, TNI_SAVE(2), TNI_SAVE(1)}, .vjp = addcmul_vjp};
static const tni_derivative addcdiv_derivative = {
    .saves = {0, TNI_SAVE(2), TNI_SAVE(1) | TNI_SAVE(2)}, .vjp = addcdiv_vjp};
static const tni_derivative lerp_derivative = {
    .saves = {TNI_SAVE(2), TNI_SAVE(2), TNI_SAVE(0) | TNI_SAVE(1)}, .numbers_stay = true, .vjp = lerp_vjp,
    .named = lerp_named};

static const ternary_attr ternary_default = {.value = {TN_SCALAR_INT, {1}}};
#define TERNARY(op, row, dtype_set)                                                                                    \
    .name = TNI_NAMES(op), .n_in = 3, .n_out = 1, .dtypes = dtype_set, .attr_bytes = sizeof(ternary_attr),             \
    .attr_default = &ternary_default, .derivative = &op##_derivative, .infer = ternary_infer, .run = ternary_run,      \
    .family = row
#define ADDC                                                                                                           \
    .params = {TNI_TENSOR("self", 0), TNI_TENSOR("tensor1", 1), TNI_TENSOR("tensor2", 2),                              \
               TNI_OPTIONAL("value", 'S', ternary_attr, value)},                                                       \
    .n_params = 4,                                                                                                     \
    .samples = "[3,4] [3,4] [3,4] | [3,4] [4] [3,1] | [3,4] [3,4] [3,4] 2 | [5] [5] [] -3 | [] [] [] | "               \
               "[0,4] [4] [4] | ! [3] [4] [4]"

const tni_op tni_op_addcmul = {TERNARY(addcmul, ADDCMUL, TNI_REALS | TNI_COMPLEXES | TNI_COMPLEX_HALF), ADDC};
const tni_op tni_op_addcdiv = {TERNARY(addcdiv, ADDCDIV, TNI_FLOATS | TNI_COMPLEXES), ADDC};
const tni_op tni_op_lerp = {
    TERNARY(lerp, LERP, TNI_FLOATS | TNI_COMPLEXES),
    .params = {TNI_TENSOR("self", 0), TNI_TENSOR("end", 1), TNI_OPERAND("weight", 2, ternary_attr, value)},
    .n_params = 3, .number_in = 4,
    .samples = "[3,4] [3,4] [3,4] | [3,4] [4] [3,1] | [3,4] [3,4] 0.25 | [5] [5] 0.75 | [] [] [] | [0,4] [4] 1 | "
               "[2,3,4] [3,1] 2 | ! [3] [4] 1 | ! [3] [3] [4]"};

#define WITH_VALUE(op)                                                                                                 \
    tn_tensor *tn_##op(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value)                                   \
    {                                                                                                                  \
        tn_tensor *in[3] = {self, a, b};                                                                               \
        const ternary_attr attr = {0, value};                                                                          \
        return tni_call_new(&tni_op_##op, in, &attr);                                                                  \
    }                                                                                                                  \
    tn_status tn_##op##_(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value)                                 \
    {                                                                                                                  \
        tn_tensor *in[3] = {self, a, b};                                                                               \
        const ternary_attr attr = {0, value};                                                                          \
        return tni_call_in_place(&tni_op_##op, in, &attr);                                                             \
    }                                                                                                                  \
    tn_status tn_##op##_out(tn_tensor *out, tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value)              \
    {                                                                                                                  \
        tn_tensor *in[3] = {self, a, b};                                                                               \
        const ternary_attr attr = {0, value};                                                                          \
        return tni_call_out(&tni_op_##op, out, in, &attr);                                                             \
    }
WITH_VALUE(addcmul)
WITH_VALUE(addcdiv)

tn_tensor *tn_lerp(tn_tensor *self, tn_tensor *end, tn_tensor *weight)
{
    tn_tensor *in[3] = {self, end, weight};
    return tni_call_new(&tni_op_lerp, in, &ternary_default);
}

tn_tensor *tn_lerp_scalar(tn_tensor *self, tn_tensor *end, tn_scalar weight)
{
    tn_tensor *in[3] = {self, end, NULL};
    const ternary_attr attr = {4, weight};
    return tni_call_new(&tni_op_lerp, in, &attr);
}

tn_status tn_lerp_(tn_tensor *self, tn_tensor *end, tn_tensor *weight)
{
    tn_tensor *in[3] = {self, end, weight};
    return tni_call_in_place(&tni_op_lerp, in, &ternary_default);
}

tn_status tn_lerp_scalar_(tn_tensor *self, tn_tensor *end, tn_scalar weight)
{
    tn_tensor *in[3] = {self, end, NULL};
    const ternary_attr attr = {4, weight};
    return tni_call_in_place(&tni_op_lerp, in, &attr);
}

tn_status tn_lerp_out(tn_tensor *out, tn_tensor *self, tn_tensor *end, tn_tensor *weight)
{
    tn_tensor *in[3] = {self, end, weight};
    return tni_call_out(&tni_op_lerp, out, in, &ternary_default);
}
