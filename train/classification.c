/* Judging classifiers: accuracy over several classes, the confusion matrix and what follows from it, the area under the
 * ROC curve. */
#include <inttypes.h>
#include <math.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/extend.h>
#include <tenon/ops.h>
#include <tenon/train.h>

#include "shapes.h"

static tn_status check(const char *name, tn_tensor *logits, tn_tensor *classes)
{
    if (tn_error_code())
        return tn_error_code();
    if (!logits || !classes)
        return TN_FAIL_NULL(name, logits ? 2 : 1, logits ? "classes" : "logits");
    if (!tn_is_floating_point(tn_tensor_dtype(logits)))
        return TN_FAIL(TN_ERROR_DTYPE, name, "logits are %s, needed a floating dtype",
                       tn_dtype_name(tn_tensor_dtype(logits)));
    if (tn_is_floating_point(tn_tensor_dtype(classes)))
        return TN_FAIL(TN_ERROR_DTYPE, name, "classes are %s, needed integers",
                       tn_dtype_name(tn_tensor_dtype(classes)));
    if ((tn_ndim(logits) != 1 && tn_ndim(logits) != 2) || !tni_is_column(classes) ||
        tn_size(logits, 0) != tn_size(classes, 0)) {
        char found[2][80];
        tn_format_shape(found[0], sizeof found[0], tn_sizes(logits), tn_ndim(logits));
        tn_format_shape(found[1], sizeof found[1], tn_sizes(classes), tn_ndim(classes));
        return TN_FAIL(TN_ERROR_SHAPE, name, "logits have shape %s, classes %s, needed [n, C] or [n], and [n]",
                       found[0], found[1]);
    }
    if (tn_numel(logits) == 0)
        return TN_FAIL(TN_ERROR_EMPTY, name, "there are no samples, needed at least one");
    return TN_OK;
}

/* The class that each row of logits says, int64 [n], in the innermost scope. */
static tn_tensor *said(tn_tensor *logits)
{
    if (!tni_is_column(logits))
        return tn_contiguous(tn_argmax(logits, 1, false));
    return tn_contiguous(tn_to(tn_gt_scalar(logits, tn_float(0)), TN_INT64));
}

static tn_tensor *as_int64(tn_tensor *x)
{
    return tn_contiguous(tn_to(x, TN_INT64));
}

static tn_status check_class(const char *name, int64_t found, int64_t classes, int64_t i)
{
    if (found >= 0 && found < classes)
        return TN_OK;
    return TN_FAIL(TN_ERROR_INDEX, name, "sample %" PRId64 " has class %" PRId64 ", needed 0 to %" PRId64, i, found,
                   classes - 1);
}

double tn_accuracy(tn_tensor *logits, tn_tensor *classes)
{
    const char *name = "accuracy";
    if (check(name, logits, classes))
        return (double)NAN;
    const int64_t n = tn_size(logits, 0), n_classes = tni_is_column(logits) ? 2 : tn_size(logits, 1);
    int64_t right = 0;
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *predicted = said(logits), *true_ones = as_int64(classes);
    const int64_t *p = tn_data_i64(predicted), *t = tn_data_i64(true_ones);
    for (int64_t i = 0; p && t && i < n && !check_class(name, t[i], n_classes, i); i++)
        right += p[i] == t[i];
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_error_rename(name, NULL);
    return tn_error_code() ? (double)NAN : (double)right / (double)n;
}

tn_tensor *tn_confusion_matrix(tn_tensor *logits, tn_tensor *classes)
{
    const char *name = "confusion_matrix";
    if (check(name, logits, classes))
        return NULL;
    const int64_t n = tn_size(logits, 0), n_classes = tni_is_column(logits) ? 2 : tn_size(logits, 1);
    tn_tensor *counts = tn_empty_on((int64_t[]){n_classes, n_classes}, 2, TN_INT64, (tn_device){TN_CPU, 0});
    int64_t *count = counts && !tn_zero_(counts) ? tn_data_mut(counts) : NULL;
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *predicted = said(logits), *true_ones = as_int64(classes);
    const int64_t *p = tn_data_i64(predicted), *t = tn_data_i64(true_ones);
    for (int64_t i = 0; p && t && i < n && !check_class(name, t[i], n_classes, i); i++)
        count[t[i] * n_classes + p[i]]++;
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_error_rename(name, NULL);
    if (tn_error_code())
        tn_drop(&counts);
    return counts;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

tn_status tn_class_score_of(tn_tensor *confusion, int64_t number, tn_class_score *score)
{
    const char *name = "class_score_of";
    if (tn_error_code())
        return tn_error_code();
    if (!confusion || !score)
        return TN_FAIL_NULL(name, confusion ? 3 : 1, confusion ? "score" : "confusion");
    if (tn_tensor_dtype(confusion) != TN_INT64 || tn_ndim(confusion) != 2 ||
        tn_size(confusion, 0) != tn_size(confusion, 1))
        return TN_FAIL(TN_ERROR_SHAPE, name, "the confusion matrix is %s with %d dims, needed a square one of int64",
                       tn_dtype_name(tn_tensor_dtype(confusion)), tn_ndim(confusion));
    const int64_t n = tn_size(confusion, 0), row = tn_stride(confusion, 0), column = tn_stride(confusion, 1);
    if (number < 0 || number >= n)
        return TN_FAIL(TN_ERROR_INDEX, name, "class %" PRId64 ", needed 0 to %" PRId64, number, n - 1);
    const int64_t *count = tn_data_i64(confusion);
    int64_t of_class = 0, as_class = 0;
    if (!count)
        return tn_error_code();
    for (int64_t i = 0; i < n; i++) {
        of_class += count[number * row + i * column];
        as_class += count[i * row + number * column];
    }
    const int64_t right = count[number * row + number * column];
    *score = (tn_class_score){.precision = share(right, as_class),
                              .recall = share(right, of_class),
                              .f1 = share(2 * right, of_class + as_class),
                              .samples = of_class};
    return TN_OK;
}

typedef struct ranked {
    double score;
    bool positive;
} ranked;

static void sift(ranked *heap, int64_t root, int64_t n)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        child += child + 1 < n && heap[child + 1].score > heap[child].score;
        if (heap[root].score >= heap[child].score)
            return;
        ranked swap = heap[root];
        heap[root] = heap[child];
        heap[child] = swap;
    }
}

static void sort(ranked *all, int64_t n)
{
    for (int64_t root = n / 2 - 1; root >= 0; root--)
        sift(all, root, n);
    for (int64_t end = n - 1; end > 0; end--) {
        ranked swap = all[0];
        all[0] = all[end];
        all[end] = swap;
        sift(all, 0, end);
    }
}

/* Pairs of a positive over a negative, ties counting half, among all pairs; the scores are sorted. */
static double area(const ranked *all, int64_t n, int64_t positives)
{
    double wins = 0, below = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        double positive = 0, negative = 0;
        for (end = i; end < n && all[end].score == all[i].score; end++)
            all[end].positive ? positive++ : negative++;
        wins += positive * (below + negative / 2);
        below += negative;
    }
    return wins / ((double)positives * (double)(n - positives));
}

static tn_status rank(ranked *all, tn_tensor *scores, tn_tensor *classes, int64_t *positives)
{
    const char *name = "roc_auc";
    tn_tensor *wide = tn_contiguous(tn_to(scores, TN_FLOAT64)), *labels = as_int64(classes);
    const double *score = tn_data_f64(wide);
    const int64_t *label = tn_data_i64(labels);
    const int64_t n = tn_numel(wide);
    for (int64_t i = 0; score && label && i < n; i++) {
        if (isnan(score[i]))
            return TN_FAIL(TN_ERROR_ARGUMENT, name, "the score of sample %" PRId64 " is nan", i);
        if (check_class(name, label[i], 2, i))
            return tn_error_code();
        all[i] = (ranked){score[i], label[i] == 1};
        *positives += label[i];
    }
    if (!tn_error_code() && (*positives == 0 || *positives == n))
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "all samples are of class %d, needed both", *positives > 0);
    return tn_error_code();
}

double tn_roc_auc(tn_tensor *scores, tn_tensor *classes)
{
    const char *name = "roc_auc";
    int64_t positives = 0;
    double result = (double)NAN;
    if (check(name, scores, classes))
        return result;
    if (!tni_is_column(scores)) {
        TN_FAIL(TN_ERROR_SHAPE, name, "scores have %" PRId64 " columns, needed one a sample", tn_size(scores, 1));
        return result;
    }
    const size_t bytes = (size_t)tn_numel(scores) * sizeof(ranked);
    ranked *all = tn_allocate(bytes, name);
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    if (all && !rank(all, scores, classes, &positives)) {
        sort(all, tn_numel(scores));
        result = area(all, tn_numel(scores), positives);
    }
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_error_rename(name, NULL);
    tn_deallocate(all, bytes);
    return result;
}
