/* The derivatives of operators of one operand: g is the gradient of the result y, and each line says that of x.
 *
 *     neg  -g                    abs  g sgn x                  sgn  0; of complex x (g - Re(g conj y) y) / |x|
 *     exp  g y                   log  g / x                    sqrt  g / 2y            rsqrt  -g y^3 / 2
 *     reciprocal  -g y^2         square  g 2x                  sin  g cos x            cos  -g sin x
 *     log1p  g / (x + 1)         log2  g / (x log 2)           expm1  g (y + 1)        erf  g e^(-x^2) 2 / sqrt(pi)
 *     relu, sigmoid, tanh        activation_backward.c         sign, floor, ceil, round, trunc  0
 *
 * Slopes of complex functions are conjugated. What is kept, operand or result, is what PyTorch keeps: writing the other
 * one afterwards is allowed. */
#include "ops/unary_derivatives.h"

#include "ops/derive.h"

static const double log_of_2 = 0.69314718055994530942;

static void zero_vjp(tni_vjp *v)
{
    v->grads[0] = tni_no_slope(v);
}

static void neg_vjp(tni_vjp *v)
{
    v->grads[0] = tn_neg(v->grad);
}

static void abs_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tn_sgn(tni_saved_input(v, 0)));
}

static void sgn_vjp(tni_vjp *v)
{
    tn_tensor *g = v->grad, *y = tni_saved_result(v);
    if (!y || tni_dtype_kind((tn_dtype)y->dtype) != TNI_COMPLEX) {
        zero_vjp(v);
        return;
    }
    tn_tensor *size = tn_abs(tni_saved_input(v, 0));
    tn_tensor *along = tn_mul(tn_real(tn_mul(g, tni_conj_of(y))), y); /* the part that changes |x| alone */
    tn_tensor *turns = tn_div(tn_sub(g, along), size);
    v->grads[0] = tn_masked_fill(turns, tn_eq_scalar(size, tn_int(0)), tn_int(0));
}

static void exp_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tni_conj_of(tni_saved_result(v)));
}

static void log_vjp(tni_vjp *v)
{
    v->grads[0] = tn_div(v->grad, tni_conj_of(tni_saved_input(v, 0)));
}

static void relu_vjp(tni_vjp *v)
{
    v->grads[0] = tn_relu_backward(v->grad, tni_saved_result(v));
}

static void sigmoid_vjp(tni_vjp *v)
{
    v->grads[0] = tn_sigmoid_backward(v->grad, tni_saved_result(v));
}

static void tanh_vjp(tni_vjp *v)
{
    v->grads[0] = tn_tanh_backward(v->grad, tni_saved_result(v));
}

static void sqrt_vjp(tni_vjp *v)
{
    v->grads[0] = tn_div(v->grad, tn_mul_scalar(tni_conj_of(tni_saved_result(v)), tn_int(2)));
}

static void rsqrt_vjp(tni_vjp *v)
{
    tn_tensor *y = tni_conj_of(tni_saved_result(v));
    v->grads[0] = tn_mul(tn_mul_scalar(v->grad, tn_float(-0.5)), tn_mul(tn_mul(y, y), y));
}

static void reciprocal_vjp(tni_vjp *v)
{
    tn_tensor *y = tni_conj_of(tni_saved_result(v));
    v->grads[0] = tn_mul(tn_neg(v->grad), tn_mul(y, y));
}

static void square_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tn_mul_scalar(tni_conj_of(tni_saved_input(v, 0)), tn_int(2)));
}

static void sin_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tni_conj_of(tn_cos(tni_saved_input(v, 0))));
}

static void cos_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tni_conj_of(tn_neg(tn_sin(tni_saved_input(v, 0)))));
}

static void log1p_vjp(tni_vjp *v)
{
    v->grads[0] = tn_div(v->grad, tn_add_scalar(tni_saved_input(v, 0), tn_int(1)));
}

static void log2_vjp(tni_vjp *v)
{
    v->grads[0] = tn_div(v->grad, tn_mul_scalar(tni_saved_input(v, 0), tn_float(log_of_2)));
}

static void expm1_vjp(tni_vjp *v)
{
    v->grads[0] = tn_mul(v->grad, tn_add_scalar(tni_saved_result(v), tn_int(1)));
}

static void erf_vjp(tni_vjp *v)
{
    static const double two_over_root_pi = 1.1283791670955126;
    tn_tensor *bell = tn_exp(tn_neg(tn_square(tni_saved_input(v, 0))));
    v->grads[0] = tn_mul(tn_mul_scalar(bell, tn_float(two_over_root_pi)), v->grad);
}

#define OF_INPUT(op) .saves = {TNI_SAVE(0)}, .vjp = op##_vjp
#define OF_RESULT(op) .saves = {TNI_SAVE_RESULT}, .vjp = op##_vjp

static const tni_domain positive = {0, 2}, above_minus_one = {-1, 2};

const tni_derivative tni_zero_derivative = {.vjp = zero_vjp};
const tni_derivative tni_neg_derivative = {.linear = true, .vjp = neg_vjp};
const tni_derivative tni_abs_derivative = {OF_INPUT(abs)};
const tni_derivative tni_sgn_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = sgn_vjp};
const tni_derivative tni_relu_derivative = {OF_RESULT(relu)};
const tni_derivative tni_exp_derivative = {OF_RESULT(exp)};
const tni_derivative tni_log_derivative = {OF_INPUT(log), .domain = &positive};
const tni_derivative tni_sigmoid_derivative = {OF_RESULT(sigmoid)};
const tni_derivative tni_tanh_derivative = {OF_RESULT(tanh)};
const tni_derivative tni_sqrt_derivative = {OF_RESULT(sqrt), .domain = &positive};
const tni_derivative tni_reciprocal_derivative = {OF_RESULT(reciprocal)};
const tni_derivative tni_rsqrt_derivative = {OF_RESULT(rsqrt), .domain = &positive};
const tni_derivative tni_sin_derivative = {OF_INPUT(sin)};
const tni_derivative tni_cos_derivative = {OF_INPUT(cos)};
const tni_derivative tni_log1p_derivative = {OF_INPUT(log1p), .domain = &above_minus_one, .name = "Log1PBackward0"};
const tni_derivative tni_log2_derivative = {OF_INPUT(log2), .domain = &positive};
const tni_derivative tni_expm1_derivative = {OF_RESULT(expm1)};
const tni_derivative tni_erf_derivative = {OF_INPUT(erf)};
const tni_derivative tni_square_derivative = {OF_INPUT(square), .name = "PowBackward0"}; /* PyTorch's is pow */
