/* Training and judging: optimizers (tenon/optim.h), and the metrics that compare two runs. */
#ifndef TENON_TRAIN_H
#define TENON_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/optim.h>
#include <tenon/tensor.h>

TN_BEGIN

/* How far one tensor is from another: the largest differences and where they are (the first of equals, in row-major
 * order; 0 where there is no difference). */
typedef struct tn_gap {
    double abs; /* largest |a - b| */
    int64_t index;
    double rel; /* largest |a - b| / |b|; inf where only b is 0 */
    int64_t rel_index;
    double ulp; /* largest |a - b| in units in the last place of b rounded to a's dtype; inf where that overflows */
    int64_t ulp_index;
    int64_t different; /* elements with a difference */
} tn_gap;

/* Compares a with b, in float64. NaN against a number is a difference of inf; NaN against NaN and equal infinities are
 * none. *gap is written only on TN_OK.
 * a, b    the same shape
 * dtype   float32 or float64, not necessarily the same
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_EMPTY (no elements), TN_ERROR_DEVICE (on meta),
 *         TN_ERROR_MEMORY
 * cost    O(numel) */
TN_API tn_status tn_measure_gap(tn_tensor *a, tn_tensor *b, tn_gap *gap);

/* Share of samples that are classified right, 0 .. 1: class 1 where the logit is positive (a probability over one
 * half), else class 0.
 * logits   [n] or [n, 1]
 * classes  [n] or [n, 1], values 0 and 1
 * dtype    logits: float32 or float64; classes: float32, float64, int64 or bool
 * errors   TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE (logits not floating), TN_ERROR_NOT_IMPLEMENTED (another
 *          dtype), TN_ERROR_EMPTY (no samples), TN_ERROR_ARGUMENT (another class), TN_ERROR_DEVICE (on meta),
 *          TN_ERROR_MEMORY. Then, and while an error is pending, NaN
 * cost     O(n) */
TN_API double tn_binary_accuracy(tn_tensor *logits, tn_tensor *classes);

TN_END

#endif
