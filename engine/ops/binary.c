/* Arithmetic of two operands: add, sub, mul, div, maximum, minimum, bitwise and, or, xor, shifts. One row of
 * `arithmetic` an operator. */
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

enum { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, BITWISE_AND, BITWISE_OR, BITWISE_XOR, LEFT_SHIFT, RIGHT_SHIFT };

typedef struct arithmetic_row {
    tni_binary loop;
    tni_binary scaled;  /* the loop with alpha; the same as loop when there is none */
    bool divides;       /* integers give the default dtype */
    const char *refuse; /* why bool operands are refused; NULL: they are not */
    uint8_t exact;      /* which numbers and 0-dim operands are not rounded to 16 bits first: tni_call's `exact` */
} arithmetic_row;

static const arithmetic_row arithmetic[] = {
    [ADD] = {TNI_BINARY_add, TNI_BINARY_add_alpha, false, NULL, 0},
    [SUB] = {TNI_BINARY_sub, TNI_BINARY_sub_alpha, false, "bool operands, needed numbers; use tn_ne for exclusive or",
             0},
    [MUL] = {TNI_BINARY_mul, TNI_BINARY_mul, false, NULL, 2},
    [DIV] = {TNI_BINARY_div, TNI_BINARY_div, true, NULL, 2},
    [MAXIMUM] = {TNI_BINARY_maximum, TNI_BINARY_maximum, false, NULL, 0},
    [MINIMUM] = {TNI_BINARY_minimum, TNI_BINARY_minimum, false, NULL, 0},
    [BITWISE_AND] = {TNI_BINARY_bitwise_and, TNI_BINARY_bitwise_and, false, NULL, 0},
    [BITWISE_OR] = {TNI_BINARY_bitwise_or, TNI_BINARY_bitwise_or, false, NULL, 0},
    [BITWISE_XOR] = {TNI_BINARY_bitwise_xor, TNI_BINARY_bitwise_xor, false, NULL, 0},
    [LEFT_SHIFT] = {TNI_BINARY_bitwise_left_shift, TNI_BINARY_bitwise_left_shift, false, NULL, 0},
    [RIGHT_SHIFT] = {TNI_BINARY_bitwise_right_shift, TNI_BINARY_bitwise_right_shift, false, NULL, 0},
};

/* A complex one may have a negative zero, which the loop with alpha sees. */
static bool is_one(tn_scalar scalar)
{
    if (scalar.kind == TN_SCALAR_COMPLEX)
        return false;
    return scalar.kind == TN_SCALAR_FLOAT ? scalar.value.f == 1 : scalar.value.i == 1;
}

static tn_status check_alpha(const tni_call *call, tn_scalar alpha, tn_dtype dtype)
{
    bool complex = tni_dtype_kind(dtype) == TNI_COMPLEX;
    if (alpha.kind == TN_SCALAR_COMPLEX && !complex)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "alpha is complex and the result %s, needed a real alpha",
                        tn_dtype_name(dtype));
    if (alpha.kind == TN_SCALAR_FLOAT && !tni_is_float(dtype) && !complex)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call),
                        "alpha is a decimal and the result %s, needed an integer alpha", tn_dtype_name(dtype));
    if (alpha.kind == TN_SCALAR_BOOL && dtype != TN_BOOL)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "alpha is a bool and the result %s, needed a number",
                        tn_dtype_name(dtype));
    if (!tni_scalar_fits(alpha, dtype))
        return TNI_FAIL(TN_ERROR_OVERFLOW, tni_call_name(call), "alpha is beyond the range of %s",
                        tn_dtype_name(dtype));
    return TN_OK;
}

/* PyTorch's CPU multiplies float8 tensors, but not by a number nor by a second tensor of one element. */
static bool second_is_one(const tni_call *call)
{
    const tn_tensor *a = call->in[0], *b = call->in[1];
    return !a || ((!b || b->numel == 1) && !tni_is_meta(a));
}

static TNI_ASIDE tn_status infer_any(tni_call *call, tni_meta *meta)
{
    const arithmetic_row *row = &arithmetic[call->op->family];
    const tni_binary_attr *attr = call->attr;
    tn_dtype dtype;
    if (tni_binary_shape(call, meta, &dtype))
        return tni_pending();
    if (TNI_UNLIKELY(row->refuse != NULL)) {
        for (int i = 0; i < 2; i++)
            if (call->in[i] ? (tn_dtype)call->in[i]->dtype == TN_BOOL : attr->number[i].kind == TN_SCALAR_BOOL)
                return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s", row->refuse);
    }
    if (TNI_UNLIKELY(TNI_FLOAT8S & TNI_DTYPE_BIT(dtype)) && second_is_one(call))
        return tni_fail_no_kernel(call, dtype);
    if (row->divides && tni_dtype_kind(dtype) <= TNI_INT) {
        dtype = tn_get_default_dtype();
        call->dense = false; /* the operands are converted */
    }
    tni_binary loop = row->loop;
    if (TNI_UNLIKELY(attr != &tni_binary_default)) {
        if (check_alpha(call, attr->alpha, dtype))
            return tni_pending();
        if (dtype == TN_BOOL ? attr->alpha.value.i == 0 : !is_one(attr->alpha)) /* of bools alpha is a truth value */
            loop = row->scaled;
    }
    if (TNI_UNLIKELY(dtype == TN_BOOL && loop == TNI_BINARY_add))
        loop = TNI_BINARY_maximum; /* true and true are true, not 2, whatever dtype they are written in */
    meta->record.dtype = (uint8_t)dtype;
    call->exact = row->exact;
    if (call->op->family == MUL && !call->in[0])
        call->exact |= 1; /* a number times a tensor is the tensor times the number */
    return tni_set_loop(call, tni_pointwise_levels[tni_cpu_level()]->binary[loop], dtype);
}

/* The common call is inferred here: two dense tensors of one shape and dtype, no alpha. Equal to infer_any. */
static tn_status arithmetic_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *a = call->in[0], *b = call->in[1];
    if (TNI_UNLIKELY(call->attr != &tni_binary_default || !tni_same_dense(a, b)))
        return infer_any(call, meta);
    tn_dtype dtype = (tn_dtype)a->dtype;
    int lane = tni_lane_of(dtype), level = atomic_load_explicit(&tni_cpu_level_now, memory_order_relaxed);
    if (TNI_UNLIKELY(lane < 0 || tni_lane_dtype(lane) != dtype || level < 0))
        return infer_any(call, meta);
    call->loop = tni_pointwise_levels[level]->binary[arithmetic[call->op->family].loop][lane];
    if (TNI_UNLIKELY(!call->loop)) /* integers divided */
        return infer_any(call, meta);
    call->dense = true;
    call->compute = call->common = dtype;
    meta->record.dtype = (uint8_t)dtype;
    meta->like = a;
    return TN_OK;
}

/* An integer beyond those that can be negated becomes a float, as it would in a complex loop. */
static tn_scalar negated(tn_scalar x)
{
    if (x.kind == TN_SCALAR_COMPLEX)
        return (tn_scalar){TN_SCALAR_COMPLEX, {.c = {-x.value.c.re, -x.value.c.im}}};
    if (x.kind == TN_SCALAR_FLOAT)
        return (tn_scalar){TN_SCALAR_FLOAT, {.f = -x.value.f}};
    if (x.value.i == INT64_MIN)
        return (tn_scalar){TN_SCALAR_FLOAT, {.f = 0x1p63}};
    return (tn_scalar){TN_SCALAR_INT, {.i = -x.value.i}};
}

static void arithmetic_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tni_binary_attr *attr = call->attr;
    if (TNI_LIKELY(attr == &tni_binary_default || is_one(attr->alpha))) {
        static const tni_alpha unused;
        tni_run_pointwise(call, 2, call->compute, &unused);
        return;
    }
    tni_alpha alpha, common;
    bool negate = call->op->family == SUB && tni_dtype_kind(call->common) == TNI_COMPLEX;
    tni_scalar_to(negate ? negated(attr->alpha) : attr->alpha, call->common, &common);
    tni_converter_of(call->common, call->compute)(&alpha, 0, &common, 0, 1);
    tni_run_iterated(call, call->compute, &alpha);
}

/* The gradient times the conjugate of operand i: a tensor that the tape kept, or a number. */
static tn_tensor *times_operand(tni_vjp *v, tn_tensor *grad, int i)
{
    tn_tensor *x = tni_saved_input(v, i);
    return x || tni_pending() ? tn_mul(grad, tni_conj_of(x))
                              : tn_mul_scalar(grad, tni_conj_of_number(tni_number_of(v, i)));
}

static tn_tensor *times_alpha(const tni_vjp *v)
{
    const tni_binary_attr *attr = v->attr;
    bool none = attr == &tni_binary_default || is_one(attr->alpha);
    return none ? v->grad : tn_mul_scalar(v->grad, tni_conj_of_number(attr->alpha));
}

static void add_vjp(tni_vjp *v)
{
    v->grads[0] = v->grad;
    if (tni_needs(v, 1))
        v->grads[1] = times_alpha(v);
}

static void sub_vjp(tni_vjp *v)
{
    v->grads[0] = v->grad;
    if (tni_needs(v, 1))
        v->grads[1] = tn_neg(times_alpha(v));
}

static void mul_vjp(tni_vjp *v)
{
    for (int i = 0; i < 2; i++)
        if (tni_needs(v, i))
            v->grads[i] = times_operand(v, v->grad, 1 - i);
}

/* g / b  and  -g (a / b) / b */
static void div_vjp(tni_vjp *v)
{
    tn_tensor *b = tni_saved_input(v, 1);
    if (tni_needs(v, 0))
        v->grads[0] = b || tni_pending() ? tn_div(v->grad, tni_conj_of(b))
                                         : tn_div_scalar(v->grad, tni_conj_of_number(tni_number_of(v, 1)));
    if (!tni_needs(v, 1))
        return;
    tn_tensor *a = tni_saved_input(v, 0);
    tn_tensor *ratio = a || tni_pending() ? tn_div(a, b) : tn_mul_scalar(tn_reciprocal(b), tni_number_of(v, 0));
    v->grads[1] = tn_mul(tn_neg(v->grad), tni_conj_of(tn_div(ratio, b)));
}

/* The gradient goes to the operand that was chosen; halves where they are equal; NaN, which is not less than anything,
 * sends it to both. */
static void chosen_vjp(tni_vjp *v, tn_tensor *(*loses)(tn_tensor *a, tn_tensor *b))
{
    tn_tensor *a = tni_saved_input(v, 0), *b = tni_saved_input(v, 1);
    tn_tensor *shared = tn_where(tn_eq(a, b), tn_div_scalar(v->grad, tn_int(2)), v->grad);
    for (int i = 0; i < 2; i++)
        if (tni_needs(v, i))
            v->grads[i] = tn_masked_fill(shared, i == 0 ? loses(a, b) : loses(b, a), tn_int(0));
}

static void maximum_vjp(tni_vjp *v)
{
    chosen_vjp(v, tn_lt);
}

static void minimum_vjp(tni_vjp *v)
{
    chosen_vjp(v, tn_gt);
}

enum { BOTH = TNI_SAVE(0) | TNI_SAVE(1) };
static const tni_derivative add_derivative = {.linear = true, .vjp = add_vjp};
static const tni_derivative sub_derivative = {.linear = true, .vjp = sub_vjp};
static const tni_derivative mul_derivative = {.saves = {TNI_SAVE(1), TNI_SAVE(0)}, .vjp = mul_vjp};
static const tni_derivative div_derivative = {.saves = {TNI_SAVE(1), BOTH}, .vjp = div_vjp};
static const tni_derivative maximum_derivative = {.saves = {BOTH, BOTH}, .vjp = maximum_vjp};
static const tni_derivative minimum_derivative = {.saves = {BOTH, BOTH}, .vjp = minimum_vjp};

#define OPERANDS TNI_OPERAND("self", 0, tni_binary_attr, number[0]), TNI_OPERAND("other", 1, tni_binary_attr, number[1])
#define ARITHMETIC(row, dtype_set, texts)                                                                \
    .n_in = 2, .n_out = 1, .number_in = 3, .dtypes = dtype_set, .attr_bytes = sizeof(tni_binary_attr), \
    .attr_default = &tni_binary_default, .infer = arithmetic_infer, .run = arithmetic_run, .family = row,              \
    .samples = texts

#define PAIRS                                                                                                          \
    "[3,4] [3,4] | [3,4] [4] | [3,1] [1,4] | [] [2,3] | [0,4] [4] | [0] [] | [3,4] 2 | [5] 2.5 | 3 [5] | [2,3,4] "     \
    "[3,1] | "
#define BAD_PAIRS "! [3] [4] | ! [2,3] [3,2] | ! 1 2"

const tni_op tni_op_add = {.name = TNI_NAMES(add),
                           .derivative = &add_derivative,
                           .params = {OPERANDS, TNI_OPTIONAL("alpha", 'S', tni_binary_attr, alpha)},
                           .n_params = 3,
                           ARITHMETIC(ADD, TNI_REALS | TNI_BOOLS | TNI_COMPLEXES | TNI_COMPLEX_HALF,
                                      PAIRS "[3,4] [3,4] 2 | [3,4] [4] -3 | " BAD_PAIRS)};

const tni_op tni_op_sub = {.name = TNI_NAMES(sub),
                           .derivative = &sub_derivative,
                           .params = {OPERANDS, TNI_OPTIONAL("alpha", 'S', tni_binary_attr, alpha)},
                           .n_params = 3,
                           ARITHMETIC(SUB, TNI_REALS | TNI_COMPLEXES | TNI_COMPLEX_HALF,
                                      PAIRS "[3,4] [3,4] 2 | [3,4] [4] -3 | " BAD_PAIRS " | ! [3] true")};

const tni_op tni_op_mul = {
    .name = TNI_NAMES(mul), .derivative = &mul_derivative, .params = {OPERANDS}, .n_params = 2, .zero_through = 3,
    ARITHMETIC(MUL, TNI_ANY_REALS | TNI_FLOAT8S | TNI_COMPLEXES | TNI_COMPLEX_HALF, PAIRS BAD_PAIRS)};

const tni_op tni_op_div = {
    .name = TNI_NAMES(div), .derivative = &div_derivative, .params = {OPERANDS}, .n_params = 2, .zero_through = 1,
    ARITHMETIC(DIV, TNI_ANY_REALS | TNI_COMPLEXES, PAIRS BAD_PAIRS)};

const tni_op tni_op_maximum = {
    .name = TNI_NAMES_NEW_OUT(maximum), .params = {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)}, .n_params = 2,
    .derivative = &maximum_derivative, .n_in = 2, .n_out = 1, .dtypes = TNI_ANY_REALS,
    .attr_bytes = sizeof(tni_binary_attr),
    .attr_default = &tni_binary_default, .infer = arithmetic_infer, .run = arithmetic_run, .family = MAXIMUM,
    .samples = "[3,4] [3,4] | [3,4] [4] | [] [2] | [0,4] [4] | ! [3] [4]"};

const tni_op tni_op_minimum = {
    .name = TNI_NAMES_NEW_OUT(minimum), .params = {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)}, .n_params = 2,
    .derivative = &minimum_derivative, .n_in = 2, .n_out = 1, .dtypes = TNI_ANY_REALS,
    .attr_bytes = sizeof(tni_binary_attr),
    .attr_default = &tni_binary_default, .infer = arithmetic_infer, .run = arithmetic_run, .family = MINIMUM,
    .samples = "[3,4] [3,4] | [3,4] [4] | [] [2] | [0,4] [4] | ! [3] [4]"};

#define BITWISE(op, row, dtype_set)                                                                                    \
    const tni_op tni_op_##op = {                                                                                       \
        .name = TNI_NAMES(op), .derivative = &tni_constant, .params = {OPERANDS}, .n_params = 2,                       \
        ARITHMETIC(row, dtype_set,                                                                                     \
                   "[3,4] [3,4] | [3,4] [4] | [3,1] [1,4] | [] [2,3] | [0,4] [4] | [3,4] 2 | 3 [5] | " BAD_PAIRS       \
                   " | ! [3] 1.5")};
#define WHOLE (TNI_INTEGERS | TNI_WIDE_UNSIGNED | TNI_BOOLS)
BITWISE(bitwise_and, BITWISE_AND, WHOLE)
BITWISE(bitwise_or, BITWISE_OR, WHOLE)
BITWISE(bitwise_xor, BITWISE_XOR, WHOLE)
BITWISE(bitwise_left_shift, LEFT_SHIFT, TNI_INTEGERS | TNI_BOOLS)
BITWISE(bitwise_right_shift, RIGHT_SHIFT, TNI_INTEGERS | TNI_BOOLS)

TNI_BINARY_FRONTS(bitwise_and)
TNI_BINARY_FRONTS(bitwise_or)
TNI_BINARY_FRONTS(bitwise_xor)
TNI_BINARY_FRONTS(bitwise_left_shift)
TNI_BINARY_FRONTS(bitwise_right_shift)
TNI_BINARY_FRONTS(add)
TNI_BINARY_FRONTS(sub)
TNI_BINARY_FRONTS(mul)
TNI_BINARY_FRONTS(div)

static tn_tensor *with_alpha(const tni_op *op, tn_tensor *a, tn_tensor *b, tn_scalar alpha)
{
    tn_tensor *in[2] = {a, b};
    const tni_binary_attr attr = {.alpha = alpha};
    return tni_call_new(op, in, &attr);
}

static tn_status write_alpha(const tni_op *op, tn_tensor *self, tn_tensor *b, tn_scalar alpha)
{
    tn_tensor *in[2] = {self, b};
    const tni_binary_attr attr = {.alpha = alpha};
    return tni_call_in_place(op, in, &attr);
}

tn_tensor *tn_add_alpha(tn_tensor *a, tn_tensor *b, tn_scalar alpha)
{
    return with_alpha(&tni_op_add, a, b, alpha);
}

tn_tensor *tn_sub_alpha(tn_tensor *a, tn_tensor *b, tn_scalar alpha)
{
    return with_alpha(&tni_op_sub, a, b, alpha);
}

tn_status tn_add_alpha_(tn_tensor *self, tn_tensor *b, tn_scalar alpha)
{
    return write_alpha(&tni_op_add, self, b, alpha);
}

tn_status tn_sub_alpha_(tn_tensor *self, tn_tensor *b, tn_scalar alpha)
{
    return write_alpha(&tni_op_sub, self, b, alpha);
}

tn_tensor *tn_maximum(tn_tensor *a, tn_tensor *b)
{
    return tni_with_tensor(&tni_op_maximum, a, b);
}

tn_tensor *tn_minimum(tn_tensor *a, tn_tensor *b)
{
    return tni_with_tensor(&tni_op_minimum, a, b);
}

tn_status tn_minimum_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)
{
    return tni_write_out(&tni_op_minimum, out, a, b);
}

tn_status tn_maximum_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)
{
    return tni_write_out(&tni_op_maximum, out, a, b);
}
