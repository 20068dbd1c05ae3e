/* Attributes, rules of shape and dtype, and shapes of gradients that reductions share. */
#ifndef TNI_OPS_REDUCE_ATTR_H
#define TNI_OPS_REDUCE_ATTR_H

#include "autograd/derivative.h"
#include "dispatch/op.h"

typedef struct tni_reduce_attr {
    tni_ints dims; /* n 0: all */
    bool keepdim;
    tn_dtype dtype;
} tni_reduce_attr;

/* Bit d for each dim that is reduced. */
tn_status tni_reduced_dims(const char *name, const tn_tensor *x, const tni_ints *dims, uint64_t *mask);

/* The dims of the public functions, which are int, as an attribute over `list` (64 of them). False: an error is
 * pending. */
bool tni_list_dims(const char *name, const int *dims, int n, int64_t *list, tni_ints *ints);

/* Sizes of the result, into `sizes`; returns their number. */
int tni_reduced_sizes(const tn_tensor *x, uint64_t mask, bool keepdim, int64_t *sizes);

/* The dtype rules of sum are also those of prod: the family of both. */
enum { TNI_REDUCE_SUM };

/* Infer of the reductions in ops/reduce.c, by family. */
tn_status tni_reduce_infer(tni_call *call, tni_meta *meta);

/* The result's strides by dim of x, 0 where it is reduced. */
void tni_kept_strides(const tn_tensor *x, const tn_tensor *out, uint64_t mask, bool keepdim, int64_t *strides);

/* A result of the recorded call, or its gradient, with the dims that were dropped back in, of size 1. */
tn_tensor *tni_reduced_reinserted(const tni_vjp *v, tn_tensor *y);

#endif
