/* Accuracy, confusion matrix and ROC area, against values counted by hand and scikit-learn's. */
#include <math.h>
#include <tenon/tenon.h>

#include "support/errors.h"

static tn_tensor *floats(const float *data, int64_t rows, int64_t columns)
{
    return tn_from_array(data, (int64_t[]){rows, columns}, columns ? 2 : 1, TN_FLOAT32);
}

static tn_tensor *classes(const int64_t *data, int64_t n)
{
    return tn_from_array(data, &n, 1, TN_INT64);
}

static void several_classes(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    static const float logits[] = {3, 1, 0, 0, 2, 1, 0, 0, 5, 1, 1, 0, 0, 1, 2}; /* 0 1 2 0 2 */
    static const int64_t labels[] = {0, 1, 1, 0, 0}, wrong[] = {0, 1, 3, 0, 0};
    static const int64_t needed[] = {2, 0, 1, 0, 1, 1, 0, 0, 0};
    tn_tensor *z = floats(logits, 5, 3), *y = classes(labels, 5);
    assert_true(tn_accuracy(z, y) == 0.6);
    tn_tensor *counts = tn_confusion_matrix(z, y);
    assert_memory_equal(tn_data_i64(counts), needed, sizeof needed);
    tn_class_score score;
    assert_int_equal(tn_class_score_of(counts, 1, &score), TN_OK);
    assert_true(score.precision == 1 && score.recall == 0.5 && fabs(score.f1 - 2.0 / 3) < 1e-15 && score.samples == 2);
    assert_int_equal(tn_class_score_of(counts, 2, &score), TN_OK);
    assert_true(score.precision == 0 && score.recall == 0 && score.f1 == 0 && score.samples == 0);
    assert_int_equal(tn_class_score_of(counts, 3, &score), TN_ERROR_INDEX);
    EXPECT(TN_ERROR_INDEX);
    assert_true(isnan(tn_accuracy(z, classes(wrong, 5))));
    expect_error(TN_ERROR_INDEX, "accuracy: sample 2 has class 3, needed 0 to 2");
    REFUSED(tn_confusion_matrix(z, classes(wrong, 5)), TN_ERROR_INDEX);
    REFUSED(tn_confusion_matrix(z, classes(labels, 4)), TN_ERROR_SHAPE);
    REFUSED(tn_confusion_matrix(z, NULL), TN_ERROR_NULL);
    tn_scope_end(scope);
}

static void roc(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    static const float scores[] = {0.1f, 0.4f, 0.35f, 0.8f}, ties[] = {0.5f, 0.5f, 0.5f, 0.7f, 0.2f, 0.7f, 0.1f};
    static const int64_t y[] = {0, 0, 1, 1}, t[] = {0, 1, 1, 1, 0, 0, 1}, one[] = {1, 1, 1, 1};
    const float bad[] = {0.1f, NAN, 0.3f, 0.4f};
    assert_true(tn_roc_auc(floats(scores, 4, 0), classes(y, 4)) == 0.75);
    assert_true(tn_roc_auc(floats(scores, 4, 1), classes(y, 4)) == 0.75);
    /* wins of 12 pairs: 0.5 and 0.5: 1 + 1/2 each, 0.7: 2 + 1/2, 0.1: none */
    assert_true(fabs(tn_roc_auc(floats(ties, 7, 0), classes(t, 7)) - 5.5 / 12) < 1e-15);
    assert_true(isnan(tn_roc_auc(floats(scores, 4, 0), classes(one, 4))));
    expect_error(TN_ERROR_ARGUMENT, "roc_auc: all samples are of class 1, needed both");
    assert_true(isnan(tn_roc_auc(floats(bad, 4, 0), classes(y, 4))));
    expect_error(TN_ERROR_ARGUMENT, "the score of sample 1 is nan");
    tn_scope_end(scope);
}

TEST_MAIN(test(several_classes), test(roc))
