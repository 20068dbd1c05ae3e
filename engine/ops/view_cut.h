/* What slices, selections and indices share. */
#ifndef TNI_OPS_VIEW_CUT_H
#define TNI_OPS_VIEW_CUT_H

#include "base/checked.h"
#include "core/tensor.h"

tn_status tni_fail_offset(const char *name, int64_t steps, int64_t stride);

/* Moves the view's beginning. Strides of dims that hold one element or none may be anything, so the place may be too.
 * */
static inline tn_status tni_move_offset(const char *name, tni_record *record, int64_t steps, int64_t stride)
{
    int64_t by, bytes;
    if (tni_mul_i64(steps, stride, &by) && tni_add_i64(record->offset, by, &record->offset) &&
        tni_mul_i64(record->offset, 16, &bytes)) /* the largest element */
        return TN_OK;
    return tni_fail_offset(name, steps, stride);
}

/* A bound of a Python slice, clamped to 0 .. size. */
static inline int64_t tni_clamp_bound(int64_t bound, int64_t size)
{
    if (TNI_LIKELY((uint64_t)bound <= (uint64_t)size))
        return bound;
    if (bound < 0)
        bound = bound < -size ? 0 : bound + size;
    return bound > size ? size : bound;
}

/* The stride of every step-th element. Where it is more than 64 bits hold there is at most one such element, so that
 * any stride will do. */
static inline int64_t tni_step_stride(int64_t stride, int64_t step)
{
    uint64_t product = (uint64_t)stride * (uint64_t)step; /* wraps, as PyTorch's */
    return product <= INT64_MAX ? (int64_t)product : INT64_MAX;
}

#endif
