/* Judging: how often a classifier is right, how far two results are apart. Optimizers are in tenon/optim.h, schedules
 * in tenon/schedule.h, the loop is in tenon/fit.h. */
#ifndef TENON_TRAIN_H
#define TENON_TRAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/optim.h>
#include <tenon/schedule.h>
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

/* The same for several classes, the largest logit being the class that is meant (the first of equals).
 * logits   [n, C], or [n] and [n, 1] as in tn_binary_accuracy
 * classes  [n] or [n, 1], 0 .. C-1
 * dtype    logits: floating; classes: integers or bool
 * errors   TN_ERROR_NULL, TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_EMPTY (no samples), TN_ERROR_INDEX (a class out of
 *          range), TN_ERROR_DEVICE (on meta), TN_ERROR_MEMORY. Then, and while an error is pending, NaN
 * cost     O(n C)
 * source   sklearn.metrics.accuracy_score */
TN_API double tn_accuracy(tn_tensor *logits, tn_tensor *classes);

/* How often which class was taken for which: row t, column p counts samples of class t that are classified as p.
 * logits, classes  as in tn_accuracy
 * result           [C, C] int64; of one logit a sample [2, 2]
 * errors           those of tn_accuracy; then NULL
 * cost             O(n C)
 * source           sklearn.metrics.confusion_matrix */
TN_API tn_tensor *tn_confusion_matrix(tn_tensor *logits, tn_tensor *classes);

/* Of one class: right / (all classified so), right / (all that are), and 2 right / (both together); 0 where that is a
 * division by 0. */
typedef struct tn_class_score {
    double precision, recall, f1;
    int64_t samples; /* that are of the class */
} tn_class_score;

/* From a confusion matrix.
 * errors  TN_ERROR_NULL, TN_ERROR_SHAPE (not square, not int64), TN_ERROR_INDEX (no such class), TN_ERROR_DEVICE (on
 *         meta); then *score is as it was
 * cost    O(C)
 * source  sklearn.metrics.precision_recall_fscore_support */
TN_API tn_status tn_class_score_of(tn_tensor *confusion, int64_t number, tn_class_score *score);

/* The area under the ROC curve: how often a sample of class 1 has a higher score than one of class 0, among all such
 * pairs; equal scores count half.
 * scores   [n] or [n, 1], logits or probabilities, infinite ones too
 * classes  [n] or [n, 1], 0 and 1, both there
 * dtype    as in tn_accuracy
 * errors   those of tn_accuracy; TN_ERROR_ARGUMENT (a score that is NaN, one class alone). Then, and while an error is
 *          pending, NaN
 * cost     O(n log n)
 * source   sklearn.metrics.roc_auc_score */
TN_API double tn_roc_auc(tn_tensor *scores, tn_tensor *classes);

TN_END

#endif
