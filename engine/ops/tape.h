/* What operators and the tape do for each other. */
#ifndef TNI_OPS_TAPE_H
#define TNI_OPS_TAPE_H

#include "autograd/tape.h"

/* Before anything requires a gradient or has a tangent. */
void tni_tape_ready(void);

/* x summed to a shape that broadcasts to x's: x itself where it is that. */
tn_tensor *tni_sum_to(tn_tensor *x, const int64_t *sizes, int ndim);

/* Zeros in the shape and dtype of input i, on the device of the gradient. */
tn_tensor *tni_zeros_of(const tni_vjp *v, int i);

/* Derivatives that several operators share. The gradient of input 0 is that of the result:
 *   pass     itself
 *   reshape  its elements in the input's shape
 *   part     written into zeros through the view that the call made, whose elements are apart from each other
 * and none:  zeros, of what is overwritten */
void tni_vjp_pass(tni_vjp *v);
void tni_vjp_reshape(tni_vjp *v);
void tni_vjp_part(tni_vjp *v);
void tni_vjp_none(tni_vjp *v);

/* tni_tape_operators.part and as_strided_node: ops/view_expand.c */
tn_tensor *tni_part(tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset,
                    tn_dtype dtype, uint64_t lazy);
tni_node *tni_as_strided_node(const char *function, const tn_tensor *x, tni_edge edge);

#endif
