/* Attributes and shape rule that the reductions and argmax share. */
#ifndef TNI_OPS_REDUCE_ATTR_H
#define TNI_OPS_REDUCE_ATTR_H

#include "dispatch/op.h"

typedef struct tni_reduce_attr {
    tni_ints dims; /* n 0: all */
    bool keepdim;
    tn_dtype dtype;
} tni_reduce_attr;

/* Bit d for each dim that is reduced. */
tn_status tni_reduced_dims(const char *name, const tn_tensor *x, const tni_ints *dims, uint64_t *mask);

/* Sizes of the result, into `sizes`; returns their number. */
int tni_reduced_sizes(const tn_tensor *x, uint64_t mask, bool keepdim, int64_t *sizes);

#endif
