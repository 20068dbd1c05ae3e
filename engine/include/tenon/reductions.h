/* Sums, means, extremes, products and what runs along a dim. "Common" is what tenon/ops.h says. */
#ifndef TENON_REDUCTIONS_H
#define TENON_REDUCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Reductions over the dims of a list; n_dims 0: over all of them. keepdim keeps reduced dims with size 1.
 * sum         float32 is added in float64 and rounded once; float64 in 32 lanes and a fixed tree: the same bits for
 *             every thread count and CPU level. Over nothing 0
 * mean        sum / count; over nothing NaN
 * amax, amin  the largest, the smallest; NaN wins
 * max, min    those of all elements
 * max_dim, min_dim  those along one dim, and (index may be NULL) what argmax and argmin give
 * argmax      int64 index of the first largest element along dim; NaN counts as the largest; argmin: of the smallest
 * argmax_all, argmin_all  that of the flattened tensor
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8; bool for sum, amax, amin, max, min; complex for sum and
 *         mean; uint16 to uint64 for sum. 16-bit floats are added in float64 and rounded once. The argument: x is
 *         converted to it first; TN_DTYPE_NONE: sum of integers and bool is int64, all else has x's dtype. The out
 *         forms of sum and mean add in out's dtype; that of mean still wants a floating x
 * errors  common; TN_ERROR_DIM (out of range, twice, more than 64), TN_ERROR_ARGUMENT (n_dims below 0), TN_ERROR_DTYPE
 *         (mean of what is not floating; out of another dtype than the result), TN_ERROR_EMPTY (amax and argmax over
 *         nothing)
 * grad    sum, mean, amax, amin, max, min (shared among ties), max_dim, min_dim (all to the index): x, twice
 *         differentiable
 * cost    O(numel)
 * source  torch.sum, torch.mean, torch.amax, torch.max, torch.argmax */
TN_API tn_tensor *tn_sum(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype);
TN_API tn_tensor *tn_mean(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype);
TN_API tn_tensor *tn_amax(tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_tensor *tn_amin(tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_tensor *tn_max(tn_tensor *x);
TN_API tn_tensor *tn_min(tn_tensor *x);
TN_API tn_tensor *tn_max_dim(tn_tensor *x, int dim, bool keepdim, tn_tensor **index);
TN_API tn_tensor *tn_min_dim(tn_tensor *x, int dim, bool keepdim, tn_tensor **index);
TN_API tn_tensor *tn_argmax(tn_tensor *x, int dim, bool keepdim);
TN_API tn_tensor *tn_argmin(tn_tensor *x, int dim, bool keepdim);
TN_API tn_tensor *tn_argmin_all(tn_tensor *x, bool keepdim);
TN_API tn_tensor *tn_argmax_all(tn_tensor *x, bool keepdim);
TN_API tn_status tn_sum_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_mean_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_amax_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_amin_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_argmin_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim);
TN_API tn_status tn_argmax_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim);

/* Statistics:  var  sum (x - mean)^2 / (n - 1), or / n;  std  its root;  logsumexp  log sum e^x;  norm  sqrt(sum x^2)
 * of all elements.
 * dims    as tn_sum
 * dtype   float16 to float64, bfloat16; logsumexp converts integers and bool to the default dtype
 * result  of x's dtype, made in float64 and rounded once. var of one element is NaN where it is unbiased
 * errors  common; TN_ERROR_DIM, TN_ERROR_DTYPE (var and std of what is not floating)
 * grad    x, any number of times; of norm at 0, and of std where all elements are the same, zero
 * cost    O(numel), two walks
 * source  torch.var, torch.std, torch.logsumexp, torch.linalg.vector_norm */
TN_API tn_tensor *tn_var(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim);
TN_API tn_tensor *tn_std(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim);
TN_API tn_tensor *tn_logsumexp(tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_tensor *tn_norm(tn_tensor *x);

/* Products. prod: of all elements; prod_dim: along dim. prod_others: at each place the product of all other elements
 * along dim, which is the slope of prod there.
 * dtype   of the result: integers and bool int64, else x's; the argument: x is converted to it first. All but float8
 *         and complex32; prod_others: float16 to float64, bfloat16, complex. Multiplied in float64, rounded once
 * errors  common; TN_ERROR_DIM
 * grad    x, any number of times; of prod result / x as PyTorch has it, or prod_others where an element is 0
 * cost    O(numel); the second derivative where an element is 0: O(numel n), n elements along dim
 * source  torch.prod */
TN_API tn_tensor *tn_prod(tn_tensor *x, tn_dtype dtype);
TN_API tn_tensor *tn_prod_dim(tn_tensor *x, int dim, bool keepdim, tn_dtype dtype);
TN_API tn_tensor *tn_prod_others(tn_tensor *x, int dim);
TN_API tn_status tn_prod_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim);

/* Running sums and products along a dim:  y_i = x_0 + ... + x_i;  y_i = x_0 ... x_i.
 * dtype   of the result: integers and bool int64, else x's; the argument: x is converted to it first; in place x's
 *         own, out's own. All but float8, bool and complex32. Kept in float64, each rounded once; int64 wraps
 * result  x's shape
 * errors  common; TN_ERROR_DIM
 * grad    x, any number of times
 * cost    O(numel); the derivative of cumprod where an element is 0: O(numel n), n elements along dim
 * source  torch.cumsum, torch.cumprod */
TN_API tn_tensor *tn_cumsum(tn_tensor *x, int dim, tn_dtype dtype);
TN_API tn_status tn_cumsum_(tn_tensor *x, int dim);
TN_API tn_status tn_cumsum_out(tn_tensor *out, tn_tensor *x, int dim);
TN_API tn_tensor *tn_cumprod(tn_tensor *x, int dim, tn_dtype dtype);
TN_API tn_status tn_cumprod_(tn_tensor *x, int dim);
TN_API tn_status tn_cumprod_out(tn_tensor *out, tn_tensor *x, int dim);

TN_END

#endif
