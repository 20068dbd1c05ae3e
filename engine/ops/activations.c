/* Activations with a shape of their own: softplus, leaky_relu, gelu, silu. A row of `rows` each: loops and derivative.
 *
 *     softplus    log(1 + e^(beta x)) / beta, x where beta x > threshold       slope  sigmoid(beta x), there 1
 *     leaky_relu  x where x > 0, else slope x                                  slope  1 or the slope
 *     gelu        x P(x), P = (1 + erf(x / sqrt 2)) / 2                        slope  P + x e^(-x^2/2) / sqrt(2 pi)
 *       tanh      x (1 + tanh u) / 2, u = sqrt(2/pi) (x + 0.044715 x^3)
 *     silu        x sigmoid(x)                                                 slope  s (1 + x (1 - s))
 *
 * Rules of torch.nn.functional's functions of these names; Hendrycks and Gimpel 2016, arXiv:1606.08415. */
#include <math.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

enum { SOFTPLUS, LEAKY_RELU, GELU, SILU };

typedef struct activation_attr {
    tn_scalar a, b; /* softplus: beta, threshold; leaky_relu: slope */
    bool tanh;      /* gelu: by tanh */
} activation_attr;

#define LOOP(name, T, L, formula)                                                                                      \
    static void name##_##L(const tni_row *row)                                                                         \
    {                                                                                                                  \
        const double *numbers = row->context;                                                                          \
        const T p = (T)numbers[0], q = (T)numbers[1];                                                                  \
        (void)p, (void)q;                                                                                              \
        for (int64_t i = 0; i < row->n; i++) {                                                                         \
            const T x = *(const T *)(const void *)(row->data[1] + i * row->strides[1]);                                \
            *(T *)(void *)(row->data[0] + i * row->strides[0]) = formula;                                              \
        }                                                                                                              \
    }
#define LOOPS(T, L, EXP, LOG1P, ERF, TANH)                                                                             \
    LOOP(softplus, T, L, x *p > q ? x : LOG1P(EXP(x * p)) / p)                                                         \
    LOOP(leaky_relu, T, L, x > 0 ? x : x * p)                                                                          \
    LOOP(gelu, T, L, x *(T)0.5 * ((T)1 + ERF(x * (T)0.70710678118654752440)))                                          \
    LOOP(gelu_tanh, T, L,                                                                                              \
         (T)0.5 * x * ((T)1 + TANH((T)0.79788456080286535588 * (x + (T)0.044715 * (x * x * x)))))                      \
    LOOP(silu, T, L, x / ((T)1 + EXP(-x)))
LOOPS(float, f32, expf, log1pf, erff, tanhf)
LOOPS(double, f64, exp, log1p, erf, tanh)

static const struct {
    tni_loop f32, f64;
} rows[] = {
    [SOFTPLUS] = {softplus_f32, softplus_f64},
    [LEAKY_RELU] = {leaky_relu_f32, leaky_relu_f64},
    [GELU] = {gelu_f32, gelu_f64},
    [SILU] = {silu_f32, silu_f64},
};

static tn_status activation_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const activation_attr *attr = call->attr;
    const bool by_tanh = call->op->family == GELU && attr->tanh;
    const tni_loop lanes[TNI_LANES] = {[TNI_LANE_F32] = by_tanh ? gelu_tanh_f32 : rows[call->op->family].f32,
                                       [TNI_LANE_F64] = by_tanh ? gelu_tanh_f64 : rows[call->op->family].f64};
    tni_meta_of_one(meta, x, (tn_dtype)x->dtype);
    call->dense = tni_contiguous(x);
    return tni_set_loop(call, lanes, (tn_dtype)x->dtype);
}

static void activation_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const activation_attr *attr = call->attr;
    const double numbers[] = {tni_scalar_real(attr->a), tni_scalar_real(attr->b)};
    tni_run_pointwise(call, 1, call->compute, numbers);
}

static tn_tensor *times(tn_tensor *x, double number)
{
    return tn_mul_scalar(x, tn_float(number));
}

static tn_tensor *plus(tn_tensor *x, double number)
{
    return tn_add_scalar(x, tn_float(number));
}

static void softplus_vjp(tni_vjp *v)
{
    const activation_attr *attr = v->attr;
    tn_tensor *z = tn_mul_scalar(tni_saved_input(v, 0), attr->a);
    v->grads[0] = tn_where(tn_gt_scalar(z, attr->b), v->grad, tn_mul(v->grad, tn_sigmoid(z)));
}

static void leaky_relu_vjp(tni_vjp *v)
{
    const activation_attr *attr = v->attr;
    v->grads[0] = tn_where(tn_gt_scalar(tni_saved_input(v, 0), tn_int(0)), v->grad,
                           tn_mul_scalar(v->grad, attr->a));
}

static void gelu_vjp(tni_vjp *v)
{
    const activation_attr *attr = v->attr;
    tn_tensor *x = tni_saved_input(v, 0), *slope;
    if (attr->tanh) {
        const double scale = 0.79788456080286535588;
        tn_tensor *square = tn_square(x), *t = tn_tanh(times(tn_mul(x, plus(times(square, 0.044715), 1)), scale));
        tn_tensor *inner = times(plus(times(square, 3 * 0.044715), 1), scale); /* u' */
        tn_tensor *rises = tn_mul(tn_mul(x, plus(tn_neg(tn_square(t)), 1)), inner);
        slope = times(tn_add(plus(t, 1), rises), 0.5);
    } else {
        tn_tensor *below = times(plus(tn_erf(times(x, 0.70710678118654752440)), 1), 0.5);
        tn_tensor *density = times(tn_exp(times(tn_square(x), -0.5)), 0.39894228040143267794);
        slope = tn_add(below, tn_mul(x, density));
    }
    v->grads[0] = tn_mul(v->grad, slope);
}

static void silu_vjp(tni_vjp *v)
{
    tn_tensor *x = tni_saved_input(v, 0), *s = tn_sigmoid(x);
    tn_tensor *slope = tn_mul(s, plus(tn_mul(x, plus(tn_neg(s), 1)), 1));
    v->grads[0] = tn_mul(v->grad, slope);
}

static const activation_attr softplus_default = {.a = {TN_SCALAR_FLOAT, {.f = 1}}, .b = {TN_SCALAR_FLOAT, {.f = 20}}},
                             leaky_default = {.a = {TN_SCALAR_FLOAT, {.f = 0.01}}}, none;

#define ACTIVATION(op, row, default_attr)                                                                              \
    static const tni_derivative op##_derivative = {.saves = {TNI_SAVE(0)}, .vjp = op##_vjp};                           \
    const tni_op tni_op_##op = {                                                                                       \
        .name = TNI_NAMES_NEW_IN_PLACE(op), .n_in = 1, .n_out = 1, .dtypes = TNI_FLOATS,                               \
        .attr_bytes = sizeof(activation_attr), .attr_default = &default_attr, .derivative = &op##_derivative,          \
        .infer = activation_infer, .run = activation_run, .family = row,

ACTIVATION(softplus, SOFTPLUS, softplus_default)
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("beta", 'S', activation_attr, a),
               TNI_OPTIONAL("threshold", 'S', activation_attr, b)},
    .n_params = 3, .samples = "[3,4] | [] | [0,3] | [37] 2.5 | [5] 0.5 1.0"};

ACTIVATION(leaky_relu, LEAKY_RELU, leaky_default)
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("negative_slope", 'S', activation_attr, a)},
    .n_params = 2, .samples = "[3,4] | [] | [0,3] | [37] 0.25 | [5] -1.0"};

ACTIVATION(gelu, GELU, none)
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("tanh", 'B', activation_attr, tanh)},
    .n_params = 2, .samples = "[3,4] | [] | [0,3] | [37] true"};

ACTIVATION(silu, SILU, none)
    .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .samples = "[3,4] | [] | [0,3] | [37]"};

tn_tensor *tn_softplus(tn_tensor *x)
{
    return tni_call_new(&tni_op_softplus, &x, &softplus_default);
}

tn_tensor *tn_softplus_beta(tn_tensor *x, double beta, double threshold)
{
    const activation_attr attr = {.a = tn_float(beta), .b = tn_float(threshold)};
    return tni_call_new(&tni_op_softplus, &x, &attr);
}

tn_tensor *tn_leaky_relu(tn_tensor *x, double negative_slope)
{
    const activation_attr attr = {.a = tn_float(negative_slope)};
    return tni_call_new(&tni_op_leaky_relu, &x, &attr);
}

tn_tensor *tn_gelu(tn_tensor *x, bool by_tanh)
{
    const activation_attr attr = {.tanh = by_tanh};
    return tni_call_new(&tni_op_gelu, &x, &attr);
}

tn_tensor *tn_silu(tn_tensor *x)
{
    return tni_call_new(&tni_op_silu, &x, &none);
}
