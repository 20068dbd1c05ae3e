/* make_moons against scikit-learn's own points: recorded ones, and the small and odd sizes where its rules show. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/golden.h"
#include "support/test.h"

static void check_golden(int64_t n, double noise, uint64_t seed, const char *x_section, const char *y_section)
{
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(n, noise, seed, TN_FLOAT64);
    assert_string_equal(tn_error_message(), "");
    tn_tensor *x = tn_dataset_x(moons), *y = tn_dataset_y(moons);
    assert_int_equal(tn_dataset_size(moons), n);
    assert_int_equal(tn_ndim(x), 2);
    assert_int_equal(tn_size(x, 0), n);
    assert_int_equal(tn_size(x, 1), 2);
    assert_true(tn_is_contiguous(x));
    assert_int_equal(tn_ndim(y), 1);
    assert_int_equal(tn_tensor_dtype(y), TN_INT64);
    golden_check(x_section, "f64", tn_data_f64(x), 2 * n);
    golden_check(y_section, "i64", tn_data_i64(y), n);
    tn_scope_end(scope);
}

static void golden_points(void **state)
{
    (void)state;
    check_golden(200, 0.2, 0, "moons_200_0.2_0.X", "moons_200_0.2_0.y");
    check_golden(7, 0.3, 5, "moons_7_0.3_5.X", "moons_7_0.3_5.y");
}

/* scikit-learn 1.9.1 over NumPy 2.4.6 without its SIMD kernels. */
static const struct {
    int64_t n;
    double noise;
    uint64_t seed;
    double x[10];
    int64_t y[5];
} small[] = {
    {1, 0.0, 3, {0.0, 0.5}, {1}},
    {2, 0.0, 3, {0.0, 0.5, 1.0, 0.0}, {1, 0}},
    {3, 0.0, 7, {2.0, 0x1.ffffffffffffep-2, 0.0, 0.5, 1.0, 0.0}, {1, 1, 0}},
    {1, 0.5, 1, {0x1.9fd5190657c50p-1, 0x1.8d8fba0904ca6p-3}, {1}},
    {2, 0.25, 9, {-0x1.e066aa1b731f9p-9, -0x1.23cfc32ce8208p-4, 0x1.ef906dbbb56b5p-1, -0x1.401efa7c8ede7p-1}, {1, 0}},
    {5,
     0.0,
     4294967295,
     {2.0, 0x1.ffffffffffffep-2, -1.0, 0x1.1a62633145c07p-53, 1.0, 0.0, 0.0, 0.5, 0x1.fffffffffffffp-1, -0.5},
     {1, 0, 0, 1, 1}},
};

static void small_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char what[64];
        tn_scope scope = tn_scope_begin();
        tn_dataset *moons = tn_make_moons(small[i].n, small[i].noise, small[i].seed, TN_FLOAT64);
        snprintf(what, sizeof what, "make_moons(%d, seed %u)", (int)small[i].n, (unsigned)small[i].seed);
        golden_compare(what, "f64", small[i].x, tn_data_f64(tn_dataset_x(moons)), 2 * small[i].n);
        golden_compare(what, "i64", small[i].y, tn_data_i64(tn_dataset_y(moons)), small[i].n);
        tn_scope_end(scope);
    }
}

static void float32_is_rounded_float64(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const double *wide = tn_data_f64(tn_dataset_x(tn_make_moons(101, 0.3, 42, TN_FLOAT64)));
    const float *single = tn_data_f32(tn_dataset_x(tn_make_moons(101, 0.3, 42, TN_FLOAT32)));
    for (int i = 0; i < 202; i++)
        assert_true(single[i] == (float)wide[i]);
    tn_scope_end(scope);
}

static void default_device_does_not_matter(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    assert_int_equal(tn_set_default_device((tn_device){TN_META, 0}), TN_OK);
    tn_dataset *moons = tn_make_moons(200, 0.2, 0, TN_FLOAT64);
    assert_int_equal(tn_get_default_device().type, TN_META);
    tn_set_default_device((tn_device){TN_CPU, 0});
    golden_check("moons_200_0.2_0.X", "f64", tn_data_f64(tn_dataset_x(moons)), 400);
    tn_scope_end(scope);
}

static void refuse(int64_t n, double noise, uint64_t seed, tn_dtype dtype, tn_status status, const char *said)
{
    tn_memory_stats before = tn_get_memory_stats();
    assert_null(tn_make_moons(n, noise, seed, dtype));
    assert_int_equal(tn_error_code(), status);
    if (!strstr(tn_error_message(), said))
        fail_msg("'%s' does not say '%s'", tn_error_message(), said);
    assert_null(tn_make_moons(5, 0.1, 0, TN_FLOAT32));
    tn_error_clear();
    assert_int_equal(tn_get_memory_stats().live_blocks, before.live_blocks);
}

static void bad_input(void **state)
{
    (void)state;
    refuse(0, 0.1, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "make_moons: n_samples is 0");
    refuse(-1, 0.1, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "n_samples is -1");
    refuse(INT64_MIN, 0.1, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "n_samples is -9223372036854775808");
    refuse(5, -0.1, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "noise is -0.1");
    refuse(5, NAN, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "noise is nan");
    refuse(5, INFINITY, 0, TN_FLOAT32, TN_ERROR_ARGUMENT, "noise is inf");
    refuse(5, 0.1, 4294967296, TN_FLOAT32, TN_ERROR_ARGUMENT, "random_state is 4294967296");
    refuse(5, 0.1, 0, TN_INT64, TN_ERROR_DTYPE, "dtype is int64");
    refuse(5, 0.1, 0, (tn_dtype)99, TN_ERROR_DTYPE, "dtype is invalid");
    refuse(INT64_MAX, 0.1, 0, TN_FLOAT32, TN_ERROR_OVERFLOW, "");
    refuse((int64_t)1 << 55, 0.1, 0, TN_FLOAT32, TN_ERROR_MEMORY, "");
}

static void tensor_dataset(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros((int64_t[]){4, 3}, 2, TN_FLOAT32), *y = tn_zeros((int64_t[]){5}, 1, TN_INT64);
    tn_tensor *none = tn_zeros(NULL, 0, TN_FLOAT32);
    assert_null(tn_tensor_dataset(x, y));
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    assert_string_equal(tn_error_message(), "tensor_dataset: x has 4 samples, y has 5, needed the same");
    tn_error_clear();
    assert_null(tn_tensor_dataset(none, y));
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    tn_error_clear();
    assert_null(tn_tensor_dataset(x, NULL));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    assert_int_equal(tn_dataset_size(NULL), 0);
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();

    int64_t held = tn_use_count(x);
    tn_dataset *good = tn_tensor_dataset(x, x);
    assert_ptr_equal(tn_dataset_x(good), x);
    assert_int_equal(tn_use_count(x), held + 2);
    tn_drop(&good);
    assert_int_equal(tn_use_count(x), held);
    tn_scope_end(scope);
}

TEST_MAIN(test(golden_points), test(small_sizes), test(float32_is_rounded_float64),
          test(default_device_does_not_matter), test(bad_input), test(tensor_dataset))
