/* Copying and converting elements: what clone, to, contiguous, reshape and copy_ share. */
#ifndef TNI_OPS_COPY_H
#define TNI_OPS_COPY_H

#include "core/tensor.h"

/* Writes x's elements to the grid of x's own sizes that begins at `to` with these strides (elements) and dtype. There
 * is a conversion between the dtypes, and the grids do not overlap, or are the same. */
void tni_copy_elements(char *to, const int64_t *strides, tn_dtype dtype, const tn_tensor *x);

#endif
