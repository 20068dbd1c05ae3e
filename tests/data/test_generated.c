/* make_circles and make_blobs hold scikit-learn's bits; splits those of PyTorch and scikit-learn; transforms. The
 * hashes (FNV-1a of X's and y's bytes) are scikit-learn 1.9.1's with NumPy's SIMD sine switched off. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void check_dataset(tn_dataset *d, double first, uint64_t hash)
{
    assert_int_equal(tn_error_code(), TN_OK);
    tn_tensor *x = tn_dataset_x(d), *y = tn_dataset_y(d);
    uint64_t found = hash_bytes(UINT64_C(0xcbf29ce484222325), tn_data(x), (size_t)tn_numel(x) * 8);
    found = hash_bytes(found, tn_data(y), (size_t)tn_numel(y) * 8);
    if (tn_data_f64(x)[0] != first || found != hash)
        fail_msg("n %d: first %a, needed %a; hash %llx, needed %llx", (int)tn_size(x, 0), tn_data_f64(x)[0], first,
                 (unsigned long long)found, (unsigned long long)hash);
}

static void circles(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        double noise, factor;
        uint32_t seed;
        double first;
        uint64_t hash;
    } cases[] = {
        {100, 0.1, 0.5, 0U, -0x1.e62ebde52e41ep-1, UINT64_C(0x686ed260654cb8e0)},
        {7, 0.0, 0.8, 1U, -0x1.52dc7707ed4d5p-53, UINT64_C(0x6c2f1c94f05c93b7)},
        {1, 0.2, 0.3, 2U, 0x1.bbb22c1e77a9ap-3, UINT64_C(0x58fecfb7910c040c)},
        {333, 0.05, 0.0, 4294967295U, -0x1.91031d142dceep-6, UINT64_C(0x8caf03ac6c7f95a5)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_dataset(tn_make_circles(cases[i].n, cases[i].noise, cases[i].factor, cases[i].seed, TN_FLOAT64),
                      cases[i].first, cases[i].hash);
    REFUSED(tn_make_circles(0, 0, 0.5, 0, TN_FLOAT64), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_circles(2, NAN, 0.5, 0, TN_FLOAT64), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_circles(2, 0, 1.0, 0, TN_FLOAT64), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_circles(2, 0, 0.5, 1ull << 32, TN_FLOAT64), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_circles(2, 0, 0.5, 0, TN_INT64), TN_ERROR_DTYPE);
}

static void blobs(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        tn_blobs_options options;
        uint64_t seed;
        double first;
        uint64_t hash;
    } cases[] = {
        {100, {2, 3, 1.0, -10, 10}, 0, 0x1.50e0bbe8cf65dp+1, UINT64_C(0x6220a64d79b66cf4)},
        {100, {0}, 0, 0x1.50e0bbe8cf65dp+1, UINT64_C(0x6220a64d79b66cf4)},
        {10, {5, 4, 0.25, -1, 2}, 7, 0x1.408f667408fa2p+0, UINT64_C(0x15a7d21cb6621f30)},
        {3, {1, 5, 2.0, -10, 10}, 42, 0x1.6121507bc3484p+3, UINT64_C(0x017b03900c01760c)},
        {257, {3, 1, 1.0, 0.5, 0.5}, 9, -0x1.1900a5870da5cp+0, UINT64_C(0x8ca424217bd31183)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_dataset(tn_make_blobs(cases[i].n, &cases[i].options, cases[i].seed, TN_FLOAT64), cases[i].first,
                      cases[i].hash);
    REFUSED(tn_make_blobs(2, &(tn_blobs_options){.centers = -1}, 0, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_blobs(2, &(tn_blobs_options){.cluster_std = -1}, 0, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_blobs(2, &(tn_blobs_options){.center_low = 1}, 0, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_make_blobs(2, &(tn_blobs_options){.n_features = INT64_MAX / 8}, 0, TN_FLOAT32), TN_ERROR_OVERFLOW);
}

static tn_dataset *counted(int64_t n)
{
    tn_tensor *x = tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_INT64);
    return tn_tensor_dataset(x, x);
}

static void holds(tn_dataset *d, const int64_t *values, int64_t n)
{
    assert_int_equal(tn_dataset_size(d), n);
    assert_memory_equal(tn_data_i64(tn_dataset_x(d)), values, (size_t)n * 8);
    assert_memory_equal(tn_data_i64(tn_dataset_y(d)), values, (size_t)n * 8);
}

static void splits(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator generator;
    tn_dataset *parts[3] = {0}, *train = NULL, *test = NULL;
    tn_torch_manual_seed(&generator, 5);
    assert_int_equal(tn_random_split(counted(10), (int64_t[]){6, 3, 1}, 3, &generator, parts), TN_OK);
    holds(parts[0], (int64_t[]){1, 4, 9, 6, 3, 5}, 6);
    holds(parts[1], (int64_t[]){0, 2, 8}, 3);
    holds(parts[2], (int64_t[]){7}, 1);
    assert_int_equal(tn_train_test_split(counted(10), 0.25, 0, &train, &test), TN_OK);
    holds(train, (int64_t[]){9, 1, 6, 7, 3, 0, 5}, 7);
    holds(test, (int64_t[]){2, 8, 4}, 3);
    tn_random_split(counted(10), (int64_t[]){6, 3}, 2, &generator, parts);
    expect_error(TN_ERROR_ARGUMENT, "leave 1 of 10 samples");
    tn_random_split(counted(10), (int64_t[]){6, 5}, 2, &generator, parts);
    expect_error(TN_ERROR_ARGUMENT, "length 1 is 5");
    tn_train_test_split(counted(1), 0.5, 0, &train, &test);
    expect_error(TN_ERROR_ARGUMENT, "nothing is left");
    tn_train_test_split(counted(9), 1.0, 0, &train, &test);
    EXPECT(TN_ERROR_ARGUMENT);
    tn_scope_end(scope);
}

static void transforms(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const double data[] = {1, 2, 5, 3, 2, -1, 8, 2, 0.5}, means[] = {4, 2, 1.5},
                 scales[] = {2.943920288775949, 1, 2.5495097567963922};
    tn_tensor *x = tn_from_array(data, (int64_t[]){3, 3}, 2, TN_FLOAT64), *mean = NULL, *scale = NULL;
    assert_int_equal(tn_standardise_fit(x, &mean, &scale), TN_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(tn_data_f64(mean)[i] - means[i]) < 1e-15);
        assert_true(fabs(tn_data_f64(scale)[i] - scales[i]) < 1e-15);
    }
    tn_tensor *y = tn_standardise(x, mean, scale);
    assert_true(fabs(tn_data_f64(y)[6] - 4 / scales[0]) < 1e-15);
    assert_true(tn_data_f64(y)[1] == 0);
    tn_tensor *labels = tn_from_array((int64_t[]){2, 0}, (int64_t[]){2}, 1, TN_INT64);
    tn_tensor *hot = tn_one_hot(labels, -1, TN_FLOAT32);
    assert_memory_equal(tn_data_f32(hot), ((float[]){0, 0, 1, 1, 0, 0}), 24);
    assert_int_equal(tn_size(tn_one_hot(labels, 5, TN_DTYPE_NONE), 1), 5);
    REFUSED(tn_one_hot(labels, 2, TN_FLOAT32), TN_ERROR_INDEX);
    REFUSED(tn_one_hot(x, 2, TN_FLOAT32), TN_ERROR_DTYPE);
    tn_standardise_fit(labels, &mean, &scale);
    EXPECT(TN_ERROR_DTYPE);
    tn_scope_end(scope);
}

/* Each allocation fails once: an error, and nothing stays behind. */
static void without_memory(void **state)
{
    (void)state;
    for (int64_t at = 0;; at++) {
        int64_t before = tn_get_memory_stats().live_blocks;
        tn_scope scope = tn_scope_begin();
        tn_torch_generator generator;
        tn_dataset *parts[2] = {0}, *train, *test;
        tn_tensor *mean, *scale;
        tn_torch_manual_seed(&generator, 5);
        tn_fail_allocation(at, false);
        tn_dataset *d = tn_make_circles(20, 0.1, 0.5, 0, TN_FLOAT32);
        tn_make_blobs(20, NULL, 0, TN_FLOAT32);
        tn_random_split(d, (int64_t[]){15, 5}, 2, &generator, parts);
        tn_train_test_split(d, 0.3, 1, &train, &test);
        tn_standardise_fit(tn_dataset_x(d), &mean, &scale);
        tn_one_hot(tn_dataset_y(d), 2, TN_FLOAT32);
        bool hit = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        tn_scope_end(scope);
        assert_int_equal(tn_error_code(), hit ? TN_ERROR_MEMORY : TN_OK);
        tn_error_clear();
        assert_int_equal(tn_get_memory_stats().live_blocks, before);
        if (!hit)
            break;
    }
}

TEST_MAIN(test(circles), test(blobs), test(splits), test(transforms), test(without_memory))
