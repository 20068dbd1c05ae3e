/* Shapes that scores ask about. */
#ifndef TNI_TRAIN_SHAPES_H
#define TNI_TRAIN_SHAPES_H

#include <stdbool.h>
#include <tenon/tensor.h>

/* [n] or [n, 1] */
static inline bool tni_is_column(const tn_tensor *x)
{
    return tn_ndim(x) == 1 || (tn_ndim(x) == 2 && tn_size(x, 1) == 1);
}

static inline bool tni_same_shape(const tn_tensor *a, const tn_tensor *b)
{
    bool same = tn_ndim(a) == tn_ndim(b);
    for (int i = 0; same && i < tn_ndim(a); i++)
        same = tn_size(a, i) == tn_size(b, i);
    return same;
}

#endif
