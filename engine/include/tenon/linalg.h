/* Products by their ranks, and statistics that are made of reductions. */
#ifndef TENON_LINALG_H
#define TENON_LINALG_H

#include <stdbool.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Products and statistics that are made of others: dot and outer of vectors, mv and mm of a matrix, bmm of batches,
 * addmm  beta c + alpha a b;  var  sum (x - mean)^2 / (n - 1), or / n;  std its root;  logsumexp
 * log sum e^x;  norm  sqrt(sum x^2) of all elements.
 * a, b    dot, outer [k] [n]; mv [m, k] [k]; mm [m, k] [k, n]; bmm [b, m, k] [b, k, n]; c expands to the product
 * dims    as tn_sum
 * dtype   products as tn_matmul (outer as tn_mul), the others float16 to float64, bfloat16
 * result  of operands' dtype. var of one element is NaN where it is unbiased
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE (other ranks or sizes), TN_ERROR_DIM, TN_ERROR_DTYPE,
 *         TN_ERROR_NOT_IMPLEMENTED, TN_ERROR_MEMORY
 * grad    all operands, twice differentiable; of norm at 0 zero
 * cost    that of their parts
 * source  torch.dot and its kin */
TN_API tn_tensor *tn_dot(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mv(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_outer(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, tn_scalar beta, tn_scalar alpha);
TN_API tn_tensor *tn_var(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim);
TN_API tn_tensor *tn_std(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim);
TN_API tn_tensor *tn_logsumexp(tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_tensor *tn_norm(tn_tensor *x);

TN_END

#endif
