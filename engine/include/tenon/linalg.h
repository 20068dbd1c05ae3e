/* Products by their ranks. "Common" is what tenon/ops.h says. */
#ifndef TENON_LINALG_H
#define TENON_LINALG_H

#include <stdbool.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Products of tensors of given ranks: dot and outer of vectors, mv and mm of a matrix, bmm of batches,
 * addmm  beta c + alpha a b.
 * a, b    dot, outer [k] [n]; mv [m, k] [k]; mm [m, k] [k, n]; bmm [b, m, k] [b, k, n]; c expands to the product
 * dtype   as tn_matmul (outer as tn_mul)
 * result  of operands' dtype
 * errors  common; TN_ERROR_SHAPE (other ranks or sizes), TN_ERROR_DTYPE
 * grad    all operands, twice differentiable
 * cost    that of tn_matmul
 * source  torch.dot and its kin */
TN_API tn_tensor *tn_dot(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mv(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_outer(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, tn_scalar beta, tn_scalar alpha);

TN_END

#endif
