/* What slices, selections and indices share. */
#ifndef TNI_OPS_VIEW_CUT_H
#define TNI_OPS_VIEW_CUT_H

#include "core/tensor.h"

/* Moves the view's beginning. Strides of dims that hold one element or none may be anything, so the place may be too. */
tn_status tni_move_offset(const char *name, tni_record *record, int64_t steps, int64_t stride);

/* The stride of every step-th element. Where it is more than 64 bits hold there is at most one such element, so that any
 * stride will do. */
int64_t tni_step_stride(int64_t stride, int64_t step);

/* A bound of a Python slice, clamped to 0 .. size. */
int64_t tni_clamp_bound(int64_t bound, int64_t size);

#endif
