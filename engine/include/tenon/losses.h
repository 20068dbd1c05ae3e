/* Softmax and losses. All on the CPU and on meta, recorded and twice differentiable. */
#ifndef TENON_LOSSES_H
#define TENON_LOSSES_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* What becomes of the losses of the elements: their mean, their sum, or all of them as they are. */
typedef enum tn_reduction { TN_MEAN, TN_SUM, TN_NONE } tn_reduction;

/* Softmax along one dim:  y_i = e^(x_i - max x) / sum_j e^(x_j - max x);  log_softmax: its logarithm,
 * x_i - max x - log sum_j e^(x_j - max x).
 * x       [..., n, ...]              dim  -ndim .. ndim-1
 * dtype   float16 to float64, bfloat16; 16-bit floats compute in float32 and round once
 * result  x's shape and dtype, contiguous. A row with a NaN or an infinity above, or of -inf alone, is NaN
 * errors  TN_ERROR_NULL, TN_ERROR_DIM, TN_ERROR_NOT_IMPLEMENTED (another dtype), TN_ERROR_MEMORY
 * grad    x, twice differentiable
 * cost    O(numel); dense rows in the last dim at the speed of exp
 * source  torch.softmax; Milakov & Gimelshein 2018, arXiv:1805.02867 */
TN_API tn_tensor *tn_softmax(tn_tensor *x, int dim);
TN_API tn_tensor *tn_log_softmax(tn_tensor *x, int dim);

/* Losses of an input and a target, element by element; d = x - target:
 *     mse_loss        d^2
 *     l1_loss         |d|
 *     smooth_l1_loss  d^2 / (2 beta) where |d| < beta, |d| - beta/2 elsewhere; beta 0: |d|
 *     huber_loss      d^2 / 2 where |d| <= delta, delta (|d| - delta/2) elsewhere
 * x, target  any shapes that broadcast
 * beta       0 or more               delta  above 0
 * dtype      float16 to float64, bfloat16; of two dtypes the promoted one (huber_loss: x's). 16-bit floats compute in
 *            float32, sums are kept in float64 and rounded once
 * result     0-dim; TN_NONE: the broadcast shape. The mean of nothing is NaN
 * errors     TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_ARGUMENT (reduction, beta, delta), TN_ERROR_DTYPE,
 *            TN_ERROR_NOT_IMPLEMENTED (dtypes of integers alone), TN_ERROR_MEMORY
 * grad       x and target, twice differentiable; of |d| at 0 zero
 * cost       O(numel), one pass; backward too
 * source     torch.nn.functional.mse_loss and its kin */
TN_API tn_tensor *tn_mse_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_l1_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_smooth_l1_loss(tn_tensor *x, tn_tensor *target, double beta, tn_reduction reduction);
TN_API tn_tensor *tn_huber_loss(tn_tensor *x, tn_tensor *target, double delta, tn_reduction reduction);

/* Binary cross-entropy:  l = -t log x - (1 - t) log(1 - x), logarithms at least -100.
 * x          probabilities: an element outside [0, 1], or NaN, is refused by its place
 * target     x's shape and dtype
 * weight     NULL, or what expands to x's shape: l is multiplied by it
 * dtype      float16 to float64, bfloat16
 * result     as tn_mse_loss
 * errors     as tn_mse_loss; TN_ERROR_ARGUMENT (an element outside [0, 1]), TN_ERROR_DTYPE (two dtypes)
 * grad       x: (x - t) / max(x (1 - x), 1e-12); target; weight; twice differentiable
 * cost       O(numel)
 * source     torch.nn.functional.binary_cross_entropy */
TN_API tn_tensor *tn_bce_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_bce_loss_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight, tn_reduction reduction);

/* The same of logits, exact where a sigmoid would be 0 or 1:
 *     l = (1 - t) x + (1 + (p - 1) t) (log(1 + e^-|x|) + max(-x, 0))
 * x          any numbers               target  x's shape, floating
 * weight     NULL, or what expands to x's shape: l is multiplied by it
 * pos_weight NULL (p = 1), or what expands to x's shape
 * dtype      float16 to float64, bfloat16; of two dtypes the promoted one
 * result     as tn_mse_loss
 * errors     as tn_mse_loss
 * grad       x: (1 + (p - 1) t) sigmoid x - p t; target; weights; twice differentiable
 * cost       O(numel), one pass; backward too
 * source     torch.nn.functional.binary_cross_entropy_with_logits */
TN_API tn_tensor *tn_bce_with_logits(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_bce_with_logits_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight,
                                              tn_tensor *pos_weight, tn_reduction reduction);

/* Kullback-Leibler divergence of the distribution that x has the logarithms of from the target's, element by element:
 *     l = t (log t - x), 0 where t is 0;  log_target: e^t (t - x)
 * PyTorch's "batchmean" is TN_SUM divided by the number of samples.
 * x, target  any shapes that broadcast; x floating
 * result     as tn_mse_loss; NaN where t is below 0
 * errors     as tn_mse_loss; TN_ERROR_DTYPE (x of integers)
 * grad       x and target, twice differentiable
 * cost       O(numel), several passes
 * source     torch.nn.functional.kl_div */
TN_API tn_tensor *tn_kl_div(tn_tensor *x, tn_tensor *target, bool log_target, tn_reduction reduction);

/* Negative log-likelihood of counts t under Poisson's distribution:
 *     log_input  l = e^x - t x
 *     else       l = x - t log(x + eps); PyTorch's eps is 1e-8
 *     full       + t log t - t + log(2 pi t) / 2 where t is above 1 (Stirling's log t!)
 * errors     as tn_kl_div; TN_ERROR_ARGUMENT (eps below 0)
 * otherwise  as tn_kl_div
 * source     torch.nn.functional.poisson_nll_loss */
TN_API tn_tensor *tn_poisson_nll_loss(tn_tensor *x, tn_tensor *target, bool log_input, bool full, double eps,
                                      tn_reduction reduction);

/* Negative log-likelihood:  l_i = -w[t_i] x[i, t_i], 0 where t_i is ignore_index;  the mean is sum l_i / sum w[t_i],
 * NaN where all are ignored.
 * x       logarithms of probabilities, [C] or [N, C, ...]
 * target  int64 or uint8, [] or [N, ...], classes 0 .. C-1 or ignore_index (-100 where it is not given)
 * weight  NULL (1), or one of x's dtype for each class
 * dtype   float16 to float64, bfloat16; sums are kept in float64 and rounded once
 * result  0-dim; TN_NONE: the target's shape
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_ARGUMENT (reduction), TN_ERROR_INDEX (a class out of
 *         range: the message names it and its place), TN_ERROR_NOT_IMPLEMENTED, TN_ERROR_MEMORY
 * grad    x, any number of times; a weight that requires one is refused in the walk
 * cost    O(target)
 * source  torch.nn.functional.nll_loss */
TN_API tn_tensor *tn_nll_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_nll_loss_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight, int64_t ignore_index,
                                       tn_reduction reduction);

/* What is 0 or NULL is PyTorch's default. */
typedef struct tn_cross_entropy_options {
    tn_reduction reduction;
    double label_smoothing; /* 0 .. 1: the share of the loss that goes to all classes alike */
    bool ignore;            /* ignore_index counts; else it is -100 */
    int64_t ignore_index;
    tn_tensor *weight; /* one for each class */
} tn_cross_entropy_options;

/* Cross-entropy of logits: log_softmax over the classes, and
 *     classes        tn_nll_loss of it
 *     probabilities  -sum_c w_c t_c log p_c of each sample; the mean is over samples
 * x       logits, [C] or [N, C, ...]
 * target  classes as in tn_nll_loss; or probabilities, floating, of x's shape
 * result  0-dim; TN_NONE: one a sample
 * errors  as tn_nll_loss; TN_ERROR_ARGUMENT (label_smoothing outside 0 .. 1)
 * grad    x, and probabilities; twice differentiable
 * cost    O(numel)
 * source  torch.nn.functional.cross_entropy */
TN_API tn_tensor *tn_cross_entropy(tn_tensor *x, tn_tensor *target, tn_reduction reduction);
TN_API tn_tensor *tn_cross_entropy_with(tn_tensor *x, tn_tensor *target, const tn_cross_entropy_options *options);

TN_END

#endif
