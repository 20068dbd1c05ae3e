/* Optimizers, and the clipping of gradients before they step. */
#ifndef TENON_OPTIM_H
#define TENON_OPTIM_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/list.h>
#include <tenon/tensor.h>

TN_BEGIN

/* An optimizer: parameters in groups, each with its options, and what it remembers of each parameter. It holds them.
 *
 *     tn_optimizer *opt = tn_adam(tn_parameters(net), &(tn_adam_options){.lr = 1e-2});
 *     ...
 *     tn_zero_grad(opt);
 *     tn_backward(loss);
 *     tn_step(opt);
 */
typedef struct tn_optimizer tn_optimizer;

/* Options of a group; 0 (false) stands for the default. 0 itself, where an option has another default, is asked for
 * afterwards, by the field's name:
 *
 *     tn_optimizer *opt = tn_adamw(tn_parameters(net), &(tn_adam_options){.lr = 1e-2});
 *     tn_optimizer_set(opt, -1, "weight_decay", 0);
 */
typedef struct tn_sgd_options {
    double lr; /* 1e-3 */
    double momentum, dampening, weight_decay;
    bool nesterov; /* needs momentum, and no dampening */
    bool maximize;
} tn_sgd_options;

typedef struct tn_adam_options {
    double lr;           /* 1e-3 */
    double beta1, beta2; /* 0.9, 0.999 */
    double eps;          /* 1e-8 */
    double weight_decay; /* Adam: 0, added to the gradient; AdamW: 1e-2, shrinks the parameter */
    bool amsgrad, maximize;
} tn_adam_options;

typedef struct tn_rmsprop_options {
    double lr;    /* 1e-2 */
    double alpha; /* 0.99 */
    double eps;   /* 1e-8 */
    double momentum, weight_decay;
    bool centered, maximize;
} tn_rmsprop_options;

typedef struct tn_lbfgs_options {
    double lr;               /* 1 */
    int64_t max_iter;        /* 20: iterations a step */
    int64_t max_eval;        /* max_iter * 5/4: evaluations of the closure a step */
    double tolerance_grad;   /* 1e-7: a step ends where no element of the gradient is larger, */
    double tolerance_change; /* 1e-9: and where loss or parameters change by less */
    int64_t history_size;    /* 100 */
    bool strong_wolfe;       /* line search for the strong Wolfe conditions; else steps of length lr */
    bool maximize;
} tn_lbfgs_options;

/* A new optimizer over one group of parameters (tn_parameters(net)): stochastic gradient descent, Adam, Adam with
 * decoupled weight decay, RMSprop: the formulas are those of tn_sgd_step_, tn_adam_step_ and tn_rmsprop_step_; L-BFGS,
 * which steps with tn_step_closure, takes parameters of one floating dtype and has one group.
 * parameters  leaves, each once; at least one
 * options     NULL: all defaults
 * errors      TN_ERROR_NULL, TN_ERROR_ARGUMENT (no parameter, one twice, an option out of range), TN_ERROR_NOT_LEAF,
 *             TN_ERROR_DTYPE (lbfgs), TN_ERROR_MEMORY; then NULL
 * cost        L-BFGS remembers 2 history_size + 2 copies of the parameters, the others 0 (SGD) to 3
 * source      torch.optim.SGD, Adam, AdamW, RMSprop, LBFGS */
TN_API tn_optimizer *tn_sgd(const tn_list *parameters, const tn_sgd_options *options);
TN_API tn_optimizer *tn_adam(const tn_list *parameters, const tn_adam_options *options);
TN_API tn_optimizer *tn_adamw(const tn_list *parameters, const tn_adam_options *options);
TN_API tn_optimizer *tn_rmsprop(const tn_list *parameters, const tn_rmsprop_options *options);
TN_API tn_optimizer *tn_lbfgs(const tn_list *parameters, const tn_lbfgs_options *options);

/* One step: every parameter that has a gradient moves. The memory for it is taken before the first one moves: without
 * it all is as it was. Another error moves none from there on.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (lbfgs), and those of tn_sgd_step_ and its kin
 * cost    O(elements)
 * source  torch.optim.Optimizer.step */
TN_API tn_status tn_step(tn_optimizer *optimizer);

/* A step that evaluates the loss itself. The closure drops the gradients, computes the loss, walks back and returns the
 * loss, one number; it is called with gradients recorded, in a scope of its own: once, before a tn_step, or (lbfgs) as
 * often as the search needs.
 *
 *     static tn_tensor *closure(void *context)
 *     {
 *         struct job *job = context;
 *         tn_zero_grad(job->optimizer);
 *         tn_tensor *loss = tn_mse_loss(tn_forward(job->net, job->x), job->y, TN_MEAN);
 *         tn_backward(loss);
 *         return loss;
 *     }
 *
 * result  the loss before the step; NaN with an error
 * errors  TN_ERROR_NULL, and those of the closure and of tn_step. After one lbfgs puts the parameters back where the
 *         step began, and its next step begins without history
 * source  torch.optim.Optimizer.step(closure) */
TN_API double tn_step_closure(tn_optimizer *optimizer, tn_tensor *(*closure)(void *context), void *context);

/* Drops the gradients of all parameters, as PyTorch does.
 * errors  TN_ERROR_NULL
 * source  torch.optim.Optimizer.zero_grad */
TN_API tn_status tn_zero_grad(tn_optimizer *optimizer);

/* Adds a group with the first group's options, to be changed by tn_optimizer_set.
 * errors  as the makers'; then nothing has changed
 * source  torch.optim.Optimizer.add_param_group */
TN_API tn_status tn_optimizer_add_group(tn_optimizer *optimizer, const tn_list *parameters);
TN_API int64_t tn_optimizer_group_count(const tn_optimizer *optimizer);

/* "sgd", "adam", "adamw", "rmsprop" or "lbfgs".
 * errors  TN_ERROR_NULL; then NULL */
TN_API const char *tn_optimizer_name(const tn_optimizer *optimizer);

/* An option of a group by its name ("lr"); bools are 0 or 1. group -1: of all groups (get: of the first).
 * errors  TN_ERROR_NULL, TN_ERROR_NAME (no such option), TN_ERROR_INDEX (no such group), TN_ERROR_ARGUMENT (out of
 *         range); then nothing has changed, and NaN */
TN_API tn_status tn_optimizer_set(tn_optimizer *optimizer, int64_t group, const char *option, double value);
TN_API double tn_optimizer_get(const tn_optimizer *optimizer, int64_t group, const char *option);

/* Clips the gradients of parameters, between tn_backward and tn_step. Parameters without one do not count.
 *   norm   all gradients as one vector: where its p-norm is above max_norm they are scaled by max_norm / (norm + 1e-6)
 *   value  each element into -clip_value .. clip_value; NaN stays
 * norm_type           p: 2, INFINITY (the largest |element|), or another number; 0 counts gradients that are not all 0
 * error_if_nonfinite  a norm that is infinite or NaN is an error; else it scales all the same
 * result  the norm before; NaN with an error
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (max_norm or clip_value below 0 or NaN), TN_ERROR_STATE (a norm that is not
 *         finite), TN_ERROR_DEVICE (meta), TN_ERROR_MEMORY; but for memory all gradients are as they were
 * cost    O(elements)
 * source  torch.nn.utils.clip_grad_norm_, clip_grad_value_ */
TN_API double tn_clip_grad_norm_(const tn_list *parameters, double max_norm, double norm_type, bool error_if_nonfinite);
TN_API tn_status tn_clip_grad_value_(const tn_list *parameters, double clip_value);

TN_END

#endif
