/* Steps of optimizers over one parameter: its values and its state are written in place, in one pass.
 *
 * No gradient goes through them: call them under tn_no_grad; a parameter that requires one is refused otherwise. The
 * tensors have one shape and dtype (float16 to float64, bfloat16; 16-bit floats compute in float32 and round once) and
 * share no memory. Each that is written counts one version, a parameter with decoupled decay two, as in PyTorch. An
 * error leaves all as they were. */
#ifndef TENON_STEP_H
#define TENON_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* All of it counts: lr 0 is no step, below 0 one the other way. */
typedef struct tn_sgd_step_options {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
    bool first; /* the buffer has no value yet: it becomes the gradient itself */
} tn_sgd_step_options;

/* A step of stochastic gradient descent:
 *     g = d + weight_decay param, d the gradient, or minus it to maximize
 *     buffer = momentum buffer + (1 - dampening) g, g itself the first time
 *     g = buffer, or g + momentum buffer with nesterov
 *     param = param - lr g
 * momentum_buffer  NULL where momentum is 0
 * options          NULL: lr 1e-3
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_ARGUMENT (a number but lr below 0, momentum without a
 *         buffer, nesterov with dampening or without momentum), TN_ERROR_OVERLAP, TN_ERROR_INPLACE_LEAF,
 *         TN_ERROR_STATE (read-only memory), TN_ERROR_NOT_IMPLEMENTED (another dtype)
 * cost    O(numel), at memory speed
 * source  torch.optim.SGD, with its roundings in float32 and float64 */
TN_API tn_status tn_sgd_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *momentum_buffer,
                              const tn_sgd_step_options *options);

/* All of it counts. */
typedef struct tn_adam_step_options {
    int64_t step; /* 1, 2, ... */
    double lr, beta1, beta2, eps, weight_decay;
    bool decoupled; /* weight decay shrinks the parameter instead of joining the gradient (AdamW) */
    bool maximize;
} tn_adam_step_options;

/* A step of Adam, with g as above:
 *     exp_avg = beta1 exp_avg + (1 - beta1) g           exp_avg_sq = beta2 exp_avg_sq + (1 - beta2) g^2
 *     param = param - lr / (1 - beta1^step) exp_avg / (sqrt(exp_avg_sq) / sqrt(1 - beta2^step) + eps)
 * max_exp_avg_sq  NULL; or (amsgrad) the largest exp_avg_sq so far, which then stands under the root
 * options         NULL: step 1, lr 1e-3, betas 0.9 and 0.999, eps 1e-8
 * errors  as tn_sgd_step_; TN_ERROR_ARGUMENT also for a step below 1 and a beta of 1 or more
 * cost    O(numel), at memory speed
 * source  torch.optim.Adam and AdamW, with their roundings in float32 and float64; Kingma & Ba 2015, arXiv:1412.6980;
 *         Loshchilov & Hutter 2019, arXiv:1711.05101 */
TN_API tn_status tn_adam_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *exp_avg, tn_tensor *exp_avg_sq,
                               tn_tensor *max_exp_avg_sq, const tn_adam_step_options *options);

/* All of it counts. */
typedef struct tn_rmsprop_step_options {
    double lr, alpha, eps, momentum, weight_decay;
    bool maximize;
} tn_rmsprop_step_options;

/* A step of RMSprop, with g as above:
 *     square_avg = alpha square_avg + (1 - alpha) g^2          grad_avg = alpha grad_avg + (1 - alpha) g
 *     way = g / (sqrt(square_avg) + eps), or (centered) g / (sqrt(square_avg - grad_avg^2) + eps)
 *     param = param - lr way; with momentum: buffer = momentum buffer + way, param = param - lr buffer
 * grad_avg         NULL: not centered
 * momentum_buffer  NULL where momentum is 0; zeros at first
 * options          NULL: lr 1e-2, alpha 0.99, eps 1e-8
 * errors  as tn_sgd_step_
 * cost    O(numel), at memory speed
 * source  torch.optim.RMSprop, with its roundings in float32 and float64; Graves 2013, arXiv:1308.0850 */
TN_API tn_status tn_rmsprop_step_(tn_tensor *param, tn_tensor *grad, tn_tensor *square_avg, tn_tensor *grad_avg,
                                  tn_tensor *momentum_buffer, const tn_rmsprop_step_options *options);

TN_END

#endif
