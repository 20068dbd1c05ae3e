/* The gradients of relu, sigmoid and tanh in one pass each, from that of the result (grad) and the result (y):
 *
 *     relu_backward     grad, where y <= 0: 0        (of NaN grad)
 *     sigmoid_backward  grad conj((1 - y) y)
 *     tanh_backward     grad conj(1 - y^2)
 *
 * They are operators like any other, with derivatives of their own. */
#include "base/error.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

static tn_status backward_infer(tni_call *call, tni_meta *meta)
{
    tn_dtype dtype;
    if (tni_binary_shape(call, meta, &dtype))
        return tni_pending();
    meta->record.dtype = (uint8_t)dtype;
    return tni_set_loop(call, tni_pointwise_levels[tni_cpu_level()]->binary[call->op->family], dtype);
}

static void backward_run(const tni_call *call, void *workspace)
{
    static const tni_alpha unused;
    (void)workspace;
    tni_run_pointwise(call, 2, call->compute, &unused);
}

static void relu_vjp(tni_vjp *v)
{
    if (tni_needs(v, 0))
        v->grads[0] = tn_relu_backward(v->grad, tni_saved_input(v, 1));
    if (tni_needs(v, 1))
        v->grads[1] = tni_no_slope(v);
}

/* Of grad conj((1 - y) y) = grad conj(y - y^2): the slope in grad is that of sigmoid, that in y is 1 - 2y. */
static void sigmoid_vjp(tni_vjp *v)
{
    tn_tensor *y = tni_saved_input(v, 1);
    if (tni_needs(v, 0))
        v->grads[0] = tn_sigmoid_backward(v->grad, tni_conj_of(y));
    if (tni_needs(v, 1)) {
        tn_tensor *slope = tn_add_scalar(tn_mul_scalar(tni_conj_of(y), tn_int(-2)), tn_int(1));
        v->grads[1] = tn_mul(tn_mul(tni_conj_of(v->grad), tni_saved_input(v, 0)), slope);
    }
}

static void tanh_vjp(tni_vjp *v)
{
    tn_tensor *y = tni_saved_input(v, 1);
    if (tni_needs(v, 0))
        v->grads[0] = tn_tanh_backward(v->grad, tni_conj_of(y));
    if (tni_needs(v, 1)) {
        tn_tensor *slope = tn_mul(tn_mul_scalar(tni_conj_of(y), tn_int(-2)), tni_saved_input(v, 0));
        v->grads[1] = tn_mul(tni_conj_of(v->grad), slope);
    }
}

static const tni_derivative relu_derivative = {
    .name = "ThresholdBackwardBackward0", .saves = {TNI_SAVE(1)}, .vjp = relu_vjp};
static const tni_derivative sigmoid_derivative = {
    .name = "SigmoidBackwardBackward0", .saves = {TNI_SAVE(1), TNI_SAVE(0) | TNI_SAVE(1)}, .vjp = sigmoid_vjp};
static const tni_derivative tanh_derivative = {
    .name = "TanhBackwardBackward0", .saves = {TNI_SAVE(1), TNI_SAVE(0) | TNI_SAVE(1)}, .vjp = tanh_vjp};

#define BACKWARD(activation, dtype_set)                                                                              \
    const tni_op tni_op_##activation##_backward = {                                                                  \
        .name = TNI_NAMES_NEW_OUT(activation##_backward),                                                            \
        .params = {TNI_TENSOR("grad_output", 0), TNI_TENSOR("result", 1)}, .n_params = 2, .n_in = 2, .n_out = 1,     \
        .dtypes = dtype_set, .zero_through = 1, .attr_bytes = sizeof(tni_binary_attr),                               \
        .attr_default = &tni_binary_default, .derivative = &activation##_derivative, .infer = backward_infer,        \
        .run = backward_run, .family = TNI_BINARY_##activation##_backward,                                           \
        .samples = "[3,4] [3,4] | [3,4] [4] | [] [2] | [0,4] [4] | [37] [37] | ! [3] [4]"};                          \
                                                                                                                     \
    tn_tensor *tn_##activation##_backward(tn_tensor *grad, tn_tensor *result)                                        \
    {                                                                                                                \
        return tni_with_tensor(&tni_op_##activation##_backward, grad, result);                                       \
    }                                                                                                                \
                                                                                                                     \
    tn_status tn_##activation##_backward_out(tn_tensor *out, tn_tensor *grad, tn_tensor *result)                     \
    {                                                                                                                \
        return tni_write_out(&tni_op_##activation##_backward, out, grad, result);                                    \
    }
BACKWARD(relu, TNI_FLOATS)
BACKWARD(sigmoid, TNI_FLOATS | TNI_COMPLEXES)
BACKWARD(tanh, TNI_FLOATS | TNI_COMPLEXES)
