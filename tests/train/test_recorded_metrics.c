/* Accuracy, confusion, precision, recall, F1 and ROC area against scikit-learn's of the same outputs, in float32 and
 * float64, ties and classes without samples among them. tests/train/generate_metrics.py says what the file holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

enum { SAMPLES = 40, CLASSES = 5 };

static const double tolerance = 1e-14;

typedef struct numbers {
    double value[SAMPLES * CLASSES];
    int n;
} numbers;

typedef struct recorded_case {
    int64_t n, outputs;
    numbers logits, classes, accuracy, confusion, precision, recall, f1, auc;
    int line;
} recorded_case;

static char word[64];

static const char *next_word(FILE *file)
{
    if (fscanf(file, " %63s", word) != 1)
        fail_msg("the recorded file ends too soon");
    return word;
}

static void read_numbers(FILE *file, const char *name, numbers *to, int64_t n)
{
    assert_string_equal(next_word(file), name);
    assert_true(n <= SAMPLES * CLASSES);
    to->n = (int)n;
    for (int64_t i = 0; i < n; i++)
        to->value[i] = strtod(next_word(file), NULL);
}

static void read_case(FILE *file, recorded_case *c)
{
    c->n = (int64_t)strtod(next_word(file), NULL);
    c->outputs = (int64_t)strtod(next_word(file), NULL);
    const int64_t classes = c->outputs > 1 ? c->outputs : 2;
    read_numbers(file, "logits", &c->logits, c->n * c->outputs);
    read_numbers(file, "classes", &c->classes, c->n);
    read_numbers(file, "accuracy", &c->accuracy, 1);
    read_numbers(file, "confusion", &c->confusion, classes * classes);
    read_numbers(file, "precision", &c->precision, classes);
    read_numbers(file, "recall", &c->recall, classes);
    read_numbers(file, "f1", &c->f1, classes);
    if (c->outputs == 1)
        read_numbers(file, "auc", &c->auc, 1);
}

static void check(const recorded_case *c, const char *what, double value, double wanted)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("case %d, %d samples, %d outputs: %s is %.17g, scikit-learn has %.17g", c->line, (int)c->n,
                 (int)c->outputs, what, value, wanted);
}

static void check_auc(const recorded_case *c, tn_tensor *z, tn_tensor *y)
{
    const double found = tn_roc_auc(z, y);
    if (isnan(c->auc.value[0])) {
        assert_true(isnan(found));
        expect_error(TN_ERROR_ARGUMENT, "roc_auc: all samples are of class");
        return;
    }
    check(c, "the ROC area", found, c->auc.value[0]);
}

static void check_case(const recorded_case *c, tn_dtype dtype)
{
    tn_scope scope = tn_scope_begin();
    const int64_t shape[] = {c->n, c->outputs}, classes = c->outputs > 1 ? c->outputs : 2;
    tn_tensor *z = tn_to(tn_from_array(c->logits.value, shape, 2, TN_FLOAT64), dtype);
    tn_tensor *y = tn_to(tn_from_array(c->classes.value, shape, 1, TN_FLOAT64), TN_INT64);
    check(c, "accuracy", tn_accuracy(z, y), c->accuracy.value[0]);
    if (c->outputs == 1) {
        check(c, "binary accuracy", tn_binary_accuracy(z, y), c->accuracy.value[0]);
        check_auc(c, z, y);
    }
    tn_tensor *confusion = tn_confusion_matrix(z, y);
    assert_int_equal(tn_numel(confusion), c->confusion.n);
    for (int i = 0; i < c->confusion.n; i++)
        check(c, "a count", (double)tn_data_i64(confusion)[i], c->confusion.value[i]);
    for (int64_t k = 0; k < classes; k++) {
        tn_class_score score;
        assert_int_equal(tn_class_score_of(confusion, k, &score), TN_OK);
        check(c, "precision", score.precision, c->precision.value[k]);
        check(c, "recall", score.recall, c->recall.value[k]);
        check(c, "F1", score.f1, c->f1.value[k]);
    }
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void recorded(void **state)
{
    static recorded_case c;
    char heading[256];
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/metrics_sklearn.txt", "r");
    assert_non_null(file);
    assert_non_null(fgets(heading, sizeof heading, file));
    assert_true(heading[0] == '#');
    for (next_word(file); strcmp(word, "case") == 0; next_word(file)) {
        c.line++;
        read_case(file, &c);
        check_case(&c, TN_FLOAT32);
        check_case(&c, TN_FLOAT64);
    }
    fclose(file);
    assert_string_equal(word, "end");
    assert_true(c.line > 40);
}

TEST_MAIN(test(recorded))
