/* Training and judging: optimizers, and the metrics that compare two runs. */
#ifndef TENON_TRAIN_H
#define TENON_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
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

/* Options of a group; 0 (false) stands for the default. Names for tn_optimizer_set are the fields'. */
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
    double weight_decay; /* Adam: 0, added to the gradient; AdamW: 1e-2, shrinks the parameter. To have none in AdamW
                            set it to 0 afterwards */
    bool amsgrad, maximize;
} tn_adam_options;

/* A new optimizer over one group of parameters (tn_parameters(net)): stochastic gradient descent, Adam, Adam with
 * decoupled weight decay. The formulas are those of tn_sgd_step_ and tn_adam_step_.
 * parameters  leaves, each once; at least one
 * options     NULL: all defaults
 * errors      TN_ERROR_NULL, TN_ERROR_ARGUMENT (no parameter, one twice, an option out of range), TN_ERROR_NOT_LEAF,
 *             TN_ERROR_MEMORY; then NULL
 * source      torch.optim.SGD, Adam, AdamW */
TN_API tn_optimizer *tn_sgd(const tn_list *parameters, const tn_sgd_options *options);
TN_API tn_optimizer *tn_adam(const tn_list *parameters, const tn_adam_options *options);
TN_API tn_optimizer *tn_adamw(const tn_list *parameters, const tn_adam_options *options);

/* One step: every parameter that has a gradient moves. An error, pending or new, moves none from there on.
 * errors  TN_ERROR_NULL, and those of tn_sgd_step_ and tn_adam_step_
 * cost    O(elements)
 * source  torch.optim.Optimizer.step */
TN_API tn_status tn_step(tn_optimizer *optimizer);

/* Drops the gradients of all parameters, as PyTorch does.
 * errors  TN_ERROR_NULL
 * source  torch.optim.Optimizer.zero_grad */
TN_API tn_status tn_zero_grad(tn_optimizer *optimizer);

/* Adds a group with the first group's options, to be changed by tn_optimizer_set.
 * errors  as the makers'; then nothing has changed
 * source  torch.optim.Optimizer.add_param_group */
TN_API tn_status tn_optimizer_add_group(tn_optimizer *optimizer, const tn_list *parameters);
TN_API int64_t tn_optimizer_group_count(const tn_optimizer *optimizer);

/* An option of a group by its name ("lr"); bools are 0 or 1. group -1: of all groups (get: of the first).
 * errors  TN_ERROR_NULL, TN_ERROR_NAME (no such option), TN_ERROR_INDEX (no such group), TN_ERROR_ARGUMENT (out of
 *         range); then nothing has changed, and NaN */
TN_API tn_status tn_optimizer_set(tn_optimizer *optimizer, int64_t group, const char *option, double value);
TN_API double tn_optimizer_get(const tn_optimizer *optimizer, int64_t group, const char *option);

/* How far one tensor is from another: the largest differences and where they are (the first of equals, in row-major
 * order; 0 where there is no difference). */
typedef struct tn_gap {
    double abs; /* largest |a - b| */
    int64_t index;
    double rel; /* largest |a - b| / |b|; inf where only b is 0 */
    int64_t rel_index;
    double ulp; /* largest |a - b| in units in the last place of b rounded to a's dtype; inf where that overflows */
    int64_t ulp_index;
    int64_t different; /* elements with a difference */
} tn_gap;

/* Compares a with b, in float64. NaN against a number is a difference of inf; NaN against NaN and equal infinities are
 * none. *gap is written only on TN_OK.
 * a, b    the same shape
 * dtype   float32 or float64, not necessarily the same
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_EMPTY (no elements), TN_ERROR_DEVICE (on meta),
 *         TN_ERROR_MEMORY
 * cost    O(numel) */
TN_API tn_status tn_measure_gap(tn_tensor *a, tn_tensor *b, tn_gap *gap);

/* Share of samples that are classified right, 0 .. 1: class 1 where the logit is positive (a probability over one
 * half), else class 0.
 * logits   [n] or [n, 1]
 * classes  [n] or [n, 1], values 0 and 1
 * dtype    logits: float32 or float64; classes: float32, float64, int64 or bool
 * errors   TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE (logits not floating), TN_ERROR_NOT_IMPLEMENTED (another
 *          dtype), TN_ERROR_EMPTY (no samples), TN_ERROR_ARGUMENT (another class), TN_ERROR_DEVICE (on meta),
 *          TN_ERROR_MEMORY. Then, and while an error is pending, NaN
 * cost     O(n) */
TN_API double tn_binary_accuracy(tn_tensor *logits, tn_tensor *classes);

TN_END

#endif
