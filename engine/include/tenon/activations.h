/* Activations of nets beside relu, sigmoid and tanh, and the gradients of those three as operators. "Common" is what
 * tenon/ops.h says. */
#ifndef TENON_ACTIVATIONS_H
#define TENON_ACTIVATIONS_H

#include <stdbool.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Activations beside relu, sigmoid and tanh:
 *     softplus    log(1 + e^x);  softplus_beta: log(1 + e^(beta x)) / beta, and x where beta x > threshold (20)
 *     leaky_relu  x where x > 0, else negative_slope x
 *     gelu        x (1 + erf(x / sqrt 2)) / 2;  by_tanh: x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
 *     silu        x / (1 + e^-x)
 * dtype   float16 to float64, bfloat16
 * result  x's shape and dtype
 * errors  common
 * grad    x, twice differentiable
 * cost    O(numel), by the C library's functions
 * source  torch.nn.functional.softplus, leaky_relu, gelu, silu */
TN_API tn_tensor *tn_softplus(tn_tensor *x);
TN_API tn_tensor *tn_softplus_beta(tn_tensor *x, double beta, double threshold);
TN_API tn_tensor *tn_leaky_relu(tn_tensor *x, double negative_slope);
TN_API tn_tensor *tn_gelu(tn_tensor *x, bool by_tanh);
TN_API tn_tensor *tn_silu(tn_tensor *x);

/* The gradients of relu, sigmoid and tanh in one pass, from the gradient of the result and the result y itself:
 *     relu_backward     g where y > 0 or y is NaN, else 0
 *     sigmoid_backward  g conj((1 - y) y)
 *     tanh_backward     g conj(1 - y^2)
 * dtype   float16 to float64, bfloat16; sigmoid_backward and tanh_backward also complex64 and complex128
 * result  the broadcast shape, promoted dtype
 * errors  common
 * grad    both, twice differentiable
 * cost    O(numel), at memory speed
 * source  torch.ops.aten.threshold_backward, sigmoid_backward, tanh_backward */
TN_API tn_tensor *tn_relu_backward(tn_tensor *grad, tn_tensor *result);
TN_API tn_tensor *tn_sigmoid_backward(tn_tensor *grad, tn_tensor *result);
TN_API tn_tensor *tn_tanh_backward(tn_tensor *grad, tn_tensor *result);
TN_API tn_status tn_relu_backward_out(tn_tensor *out, tn_tensor *grad, tn_tensor *result);
TN_API tn_status tn_sigmoid_backward_out(tn_tensor *out, tn_tensor *grad, tn_tensor *result);
TN_API tn_status tn_tanh_backward_out(tn_tensor *out, tn_tensor *grad, tn_tensor *result);

TN_END

#endif
