/* What operators and the tape do for each other. */
#ifndef TNI_OPS_TAPE_H
#define TNI_OPS_TAPE_H

#include "autograd/tape.h"

/* Before anything requires a gradient or has a tangent. */
void tni_tape_ready(void);

/* x summed to a shape that broadcasts to x's: x itself where it is that. */
tn_tensor *tni_sum_to(tn_tensor *x, const int64_t *sizes, int ndim);

/* tni_tape_operators.as_strided_node: ops/view_expand.c */
tni_node *tni_as_strided_node(const char *function, const tn_tensor *x, tni_edge edge);

#endif
