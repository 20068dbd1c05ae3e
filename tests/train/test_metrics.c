/* tn_measure_gap and tn_binary_accuracy: values worked out by hand, special values, refusals. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static tn_tensor *doubles(const double *values, int64_t n)
{
    return tn_from_array(values, &n, 1, TN_FLOAT64);
}

static tn_tensor *floats(const float *values, int64_t n)
{
    return tn_from_array(values, &n, 1, TN_FLOAT32);
}

static void worked_example(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const double b[] = {1.0, 100.0, 0.001, 0.0, -2.0, 3.0};
    const float a[] = {1.0f + 0x1p-23f, 100.5f, 0.002f, 0.0f, -2.0f + 0x1p-20f, 3.0f};
    tn_gap gap = {0};
    assert_int_equal(tn_measure_gap(floats(a, 6), doubles(b, 6), &gap), TN_OK);
    assert_true(gap.abs == 0.5);
    assert_int_equal(gap.index, 1);
    assert_true(gap.rel == ((double)0.002f - 0.001) / 0.001);
    assert_int_equal(gap.rel_index, 2);
    assert_int_equal(gap.different, 4);
    /* near 0.001 float32 numbers are 2^-33 apart, near 100 2^-17 */
    assert_true(gap.ulp == ((double)0.002f - 0.001) * 0x1p33);
    assert_int_equal(gap.ulp_index, 2);

    const double one[] = {1.0}, below[] = {1.0 - 0x1p-53};
    assert_int_equal(tn_measure_gap(doubles(below, 1), doubles(one, 1), &gap), TN_OK);
    assert_true(gap.ulp == 0.5 && gap.abs == 0x1p-53);
    assert_int_equal(tn_measure_gap(doubles(one, 1), doubles(one, 1), &gap), TN_OK);
    assert_true(gap.abs == 0.0 && gap.rel == 0.0 && gap.ulp == 0.0 && gap.index == 0 && gap.different == 0);
    tn_scope_end(scope);
}

static void units_in_the_last_place(void **state)
{
    (void)state;
    static const struct {
        float a;
        double b, ulp;
    } cases[] = {
        {0x1p-149f, 0.0, 1.0},                    /* the smallest subnormal from zero */
        {0x1p-148f, 0x1p-149, 1.0},               /* subnormal spacing */
        {0x1p-126f, 0x1p-126 + 0x1p-149, 1.0},    /* smallest normal */
        {1.0f, 1.0 + 0x1p-24, 0.5},               /* a tie rounds to even: b becomes 1 */
        {0x1.fffffep+127f, 0x1.fffffcp+127, 1.0}, /* largest numbers */
        {-0x1.000002p+1f, -2.0, 1.0},
        {1.0f, 2.0 - 0x1p-30, (1.0 - 0x1p-30) / 0x1p-22}, /* b rounds up to 2: its step counts */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_gap gap;
        tn_scope scope = tn_scope_begin();
        assert_int_equal(tn_measure_gap(floats(&cases[i].a, 1), doubles(&cases[i].b, 1), &gap), TN_OK);
        if (gap.ulp != cases[i].ulp)
            fail_msg("case %d: %a ulp, expected %a", (int)i, gap.ulp, cases[i].ulp);
        tn_scope_end(scope);
    }
}

static void special_values(void **state)
{
    (void)state;
    const double a[] = {NAN, INFINITY, -INFINITY, 0.0, 1.0}, b[] = {NAN, INFINITY, -INFINITY, -0.0, 1.0};
    tn_gap gap;
    tn_scope scope = tn_scope_begin();
    assert_int_equal(tn_measure_gap(doubles(a, 5), doubles(b, 5), &gap), TN_OK);
    assert_int_equal(gap.different, 0);
    const double c[] = {1.0, NAN, 2.0, INFINITY}, d[] = {1.0, 5.0, NAN, -INFINITY};
    assert_int_equal(tn_measure_gap(doubles(c, 4), doubles(d, 4), &gap), TN_OK);
    assert_int_equal(gap.different, 3);
    assert_true(isinf(gap.abs) && isinf(gap.rel) && isinf(gap.ulp));
    assert_int_equal(gap.index, 1);
    const double zero[] = {0.0}, small[] = {1e-300};
    assert_int_equal(tn_measure_gap(doubles(small, 1), doubles(zero, 1), &gap), TN_OK);
    assert_true(gap.abs == 1e-300 && isinf(gap.rel));
    tn_scope_end(scope);
}

/* Row-major order counts, not the order in memory. */
static void strided(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *a = tn_zeros((int64_t[]){3, 4}, 2, TN_FLOAT32), *b = tn_zeros((int64_t[]){4, 3}, 2, TN_FLOAT64);
    tn_data_f32_mut(a)[1 * 4 + 2] = 1.0f; /* a[1, 2] is a.T[2, 1]: number 7 */
    tn_gap gap;
    assert_int_equal(tn_measure_gap(tn_t(a), b, &gap), TN_OK);
    assert_int_equal(gap.index, 7);
    assert_true(gap.abs == 1.0);
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *a = tn_ones((int64_t[]){3}, 1, TN_FLOAT32), *column = tn_ones((int64_t[]){3, 1}, 2, TN_FLOAT32);
    tn_tensor *none = tn_ones((int64_t[]){0}, 1, TN_FLOAT32), *whole = tn_ones((int64_t[]){3}, 1, TN_INT64);
    tn_gap gap = {.abs = 77.0};
    tn_measure_gap(a, column, &gap);
    expect_error(TN_ERROR_SHAPE, "measure_gap: a has shape [3], b has [3, 1], needed the same");
    tn_measure_gap(a, whole, &gap);
    expect_error(TN_ERROR_DTYPE, "b is int64");
    tn_measure_gap(none, none, &gap);
    expect_error(TN_ERROR_EMPTY, "measure_gap");
    tn_measure_gap(NULL, a, &gap);
    expect_error(TN_ERROR_NULL, "argument 1 (a)");
    tn_measure_gap(a, a, NULL);
    expect_error(TN_ERROR_NULL, "argument 3 (gap)");
    assert_true(gap.abs == 77.0);
    assert_true(isnan(tn_binary_accuracy(none, none)));
    expect_error(TN_ERROR_EMPTY, "binary_accuracy");
    assert_true(isnan(tn_binary_accuracy(whole, whole)));
    expect_error(TN_ERROR_DTYPE, "int64");
    assert_true(isnan(tn_binary_accuracy(a, none)));
    expect_error(TN_ERROR_SHAPE, "[3]");
    assert_true(isnan(tn_binary_accuracy(a, NULL)));
    assert_true(isnan(tn_binary_accuracy(a, whole))); /* pending */
    expect_error(TN_ERROR_NULL, "argument 2 (classes)");
    assert_true(isnan(tn_binary_accuracy(a, tn_full((int64_t[]){3}, 1, tn_int(2), TN_INT64))));
    expect_error(TN_ERROR_ARGUMENT, "class 2.0 of a sample, needed 0 or 1");
    tn_scope_end(scope);
}

static void accuracy(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const float logits[] = {0.5f, -0.5f, 0.0f, 3.0f, NAN};
    const int64_t classes[] = {1, 1, 0, 1, 1};
    int64_t n = 5;
    tn_tensor *z = floats(logits, 5), *y = tn_from_array(classes, &n, 1, TN_INT64);
    assert_true(tn_binary_accuracy(z, y) == 0.6);
    assert_true(tn_binary_accuracy(tn_unsqueeze(z, 1), y) == 0.6);
    assert_true(tn_binary_accuracy(tn_unsqueeze(z, 1), tn_unsqueeze(tn_to(y, TN_FLOAT32), 1)) == 0.6);
    assert_true(tn_binary_accuracy(z, tn_to(y, TN_BOOL)) == 0.6);
    assert_string_equal(tn_error_message(), "");
    tn_scope_end(scope);
}

TEST_MAIN(test(worked_example), test(units_in_the_last_place), test(special_values), test(strided), test(refusals),
          test(accuracy))
