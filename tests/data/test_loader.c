/* The loader: every sample exactly once, PyTorch's orders, views and copies, what a failure leaves. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/golden.h"
#include "support/test.h"

/* x [n, 3] = 10 i + j, y [n] = i */
static tn_dataset *numbered(int64_t n)
{
    tn_tensor *y = tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_INT64);
    tn_tensor *tens = tn_mul_scalar(tn_view(y, (int64_t[]){n, 1}, 2), tn_int(10));
    tn_tensor *x = tn_to(tn_add(tens, tn_arange(tn_int(0), tn_int(3), tn_int(1), TN_INT64)), TN_FLOAT32);
    return tn_tensor_dataset(x, y);
}

/* One epoch: the samples that came, in order; checks rows, sizes and numbers of batches on the way. */
static int64_t collect(tn_loader *loader, int64_t n, int64_t batch_size, int64_t *samples)
{
    int64_t count = 0, batches = 0;
    for (tn_batch b; tn_loader_next(loader, &b); batches++) {
        int64_t rows = tn_size(b.x, 0);
        assert_int_equal(b.index, batches);
        assert_int_equal(tn_size(b.y, 0), rows);
        assert_true(rows == batch_size || (rows < batch_size && batches == n / batch_size));
        const int64_t *y = tn_data_i64(b.y);
        const float *x = tn_data_f32(b.x);
        for (int64_t i = 0; i < rows; i++) {
            for (int j = 0; j < 3; j++)
                assert_true(x[3 * i + j] == (float)(10 * y[i] + j));
            samples[count++] = y[i];
        }
    }
    assert_int_equal(tn_error_code(), TN_OK);
    assert_int_equal(batches, tn_loader_batch_count(loader));
    return count;
}

static void every_sample_once(void **state)
{
    (void)state;
    for (int64_t n = 0; n <= 33; n++)
        for (int64_t batch = 1; batch <= 34; batch++)
            for (int options = 0; options < 4; options++) {
                bool shuffle = options & 1, drop = options & 2;
                tn_scope scope = tn_scope_begin();
                tn_loader *loader = tn_loader_new(
                    numbered(n),
                    &(tn_loader_options){.batch_size = batch, .shuffle = shuffle, .drop_last = drop, .seed = 5});
                if (n == 0 || (drop && batch > n)) {
                    assert_null(loader);
                    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
                    tn_error_clear();
                    tn_scope_end(scope);
                    continue;
                }
                for (int epoch = 0; epoch < 2; epoch++) {
                    int64_t samples[34], seen[34] = {0}, count = collect(loader, n, batch, samples);
                    if (count != (drop ? n - n % batch : n))
                        fail_msg("n %d batch %d shuffle %d drop %d: %d samples", (int)n, (int)batch, shuffle, drop,
                                 (int)count);
                    for (int64_t i = 0; i < count; i++) {
                        if (seen[samples[i]]++)
                            fail_msg("n %d batch %d: sample %d came twice", (int)n, (int)batch, (int)samples[i]);
                        if (!shuffle)
                            assert_int_equal(samples[i], i);
                    }
                    assert_int_equal(tn_loader_epoch(loader), epoch + 1);
                }
                tn_scope_end(scope);
            }
}

/* torch.manual_seed(11), then two epochs of DataLoader(shuffle=True): the order does not depend on the batches. */
static void golden_order(void **state)
{
    (void)state;
    for (int64_t batch = 1; batch <= 50; batch += 7) {
        int64_t samples[100];
        tn_torch_generator global;
        tn_torch_manual_seed(&global, 11);
        tn_scope scope = tn_scope_begin();
        tn_loader *loader = tn_loader_new(
            numbered(50), &(tn_loader_options){.batch_size = batch, .shuffle = true, .global_generator = &global});
        assert_int_equal(collect(loader, 50, batch, samples), 50);
        assert_int_equal(collect(loader, 50, batch, samples + 50), 50);
        golden_check("torch_dataloader_11.50x2", "i64", samples, 100);
        tn_scope_end(scope);
    }
}

/* PyTorch 2.15: two epochs of DataLoader(shuffle=True, generator=g) over 50 samples after g.manual_seed(11). */
static const int64_t own_order[100] = {20, 5,  19, 34, 1,  0,  27, 39, 48, 46, 15, 21, 30, 4,  22, 35, 38, 6,  14, 40,
                                       28, 24, 11, 7,  25, 32, 9,  12, 33, 36, 17, 26, 45, 49, 18, 23, 16, 13, 47, 2,
                                       8,  31, 3,  43, 37, 41, 10, 42, 44, 29, 27, 19, 13, 43, 34, 21, 38, 48, 46, 9,
                                       2,  15, 30, 4,  37, 40, 25, 42, 49, 3,  20, 12, 8,  33, 1,  5,  35, 31, 6,  32,
                                       36, 11, 28, 7,  18, 45, 29, 24, 0,  47, 26, 44, 39, 23, 17, 41, 14, 22, 16, 10};

static void order_of_a_seed(void **state)
{
    (void)state;
    for (int64_t batch = 1; batch <= 50; batch += 7) {
        int64_t samples[100];
        tn_scope scope = tn_scope_begin();
        tn_loader *loader =
            tn_loader_new(numbered(50), &(tn_loader_options){.batch_size = batch, .shuffle = true, .seed = 11});
        assert_int_equal(collect(loader, 50, batch, samples), 50);
        assert_int_equal(collect(loader, 50, batch, samples + 50), 50);
        golden_compare("order of seed 11", "i64", own_order, samples, 100);
        tn_scope_end(scope);
    }
}

/* PyTorch 2.15: `take` batches of 4 (-1: all), then a whole epoch, seed 3. */
static const struct {
    int64_t n;
    bool drop;
    int take, count;
    int64_t samples[20];
} left[] = {
    {10, true, -1, 16, {7, 4, 2, 9, 1, 5, 0, 8, 1, 2, 0, 5, 9, 4, 8, 3}},
    {10, false, 1, 14, {7, 4, 2, 9, 9, 1, 7, 0, 4, 5, 6, 2, 3, 8}},
    {10, false, 3, 20, {7, 4, 2, 9, 1, 5, 0, 8, 6, 3, 1, 2, 0, 5, 9, 4, 8, 3, 6, 7}},
    {8, false, 2, 16, {1, 5, 6, 3, 4, 7, 0, 2, 3, 1, 7, 4, 5, 0, 6, 2}},
};

static void epochs_left_early(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        int64_t samples[32], count = 0;
        tn_scope scope = tn_scope_begin();
        tn_loader *loader =
            tn_loader_new(numbered(left[i].n),
                          &(tn_loader_options){.batch_size = 4, .shuffle = true, .drop_last = left[i].drop, .seed = 3});
        tn_batch b;
        for (int k = 0; k != left[i].take && tn_loader_next(loader, &b); k++)
            for (int64_t j = 0; j < tn_size(b.y, 0); j++)
                samples[count++] = tn_data_i64(b.y)[j];
        if (left[i].take >= 0)
            assert_int_equal(tn_loader_reset(loader), TN_OK);
        count += collect(loader, left[i].n, 4, samples + count);
        assert_int_equal(count, left[i].count);
        assert_memory_equal(samples, left[i].samples, (size_t)count * sizeof *samples);
        tn_scope_end(scope);
    }
}

static void views_and_copies(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *dataset = numbered(10);
    tn_batch b;
    tn_loader *plain = tn_loader_new(dataset, &(tn_loader_options){.batch_size = 3});
    assert_true(tn_loader_next(plain, &b));
    assert_true(tn_is_same_storage(b.x, tn_dataset_x(dataset)));
    assert_true(tn_loader_next(plain, &b));
    assert_int_equal(tn_storage_offset(b.x), 9);

    tn_loader *shuffled = tn_loader_new(dataset, &(tn_loader_options){.batch_size = 3, .shuffle = true});
    assert_true(tn_loader_next(shuffled, &b));
    assert_false(tn_is_same_storage(b.x, tn_dataset_x(dataset)));

    /* A batch lives past its scope and until the next call, retained ones longer. */
    tn_scope inner = tn_scope_begin();
    assert_true(tn_loader_next(shuffled, &b));
    tn_scope_end(inner);
    assert_int_equal(tn_use_count(b.x), 1);
    tn_tensor *kept = tn_retain(b.x);
    float first = tn_data_f32(kept)[0];
    assert_true(tn_loader_next(shuffled, &b));
    assert_int_equal(tn_use_count(kept), 1);
    assert_true(tn_data_f32(kept)[0] == first);
    tn_release(&kept);
    tn_scope_end(scope);
}

/* Any dtype, strides and rank: rows gathered equal the dataset's own. */
static void gather_rows(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int form = 0; form < 4; form++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *flat = tn_to(tn_arange(tn_int(0), tn_int(7 * 4 * 6), tn_int(1), TN_INT64), dtypes[d]);
            tn_tensor *x = tn_view(flat, (int64_t[]){7, 4, 6}, 3);
            if (form == 1)
                x = tn_transpose(x, 0, 2);
            if (form == 2)
                x = tn_slice(x, 2, 1, TN_SLICE_END, 2);
            if (form == 3)
                x = tn_expand(tn_narrow(x, 1, 2, 1), (int64_t[]){7, 5, 6}, 3);
            int64_t n = tn_size(x, 0);
            tn_dataset *dataset = tn_tensor_dataset(x, tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_INT64));
            tn_loader *loader =
                tn_loader_new(dataset, &(tn_loader_options){.batch_size = 2, .shuffle = true, .seed = 1});
            for (tn_batch b; tn_loader_next(loader, &b);)
                for (int64_t i = 0; i < tn_size(b.y, 0); i++)
                    if (!tn_equal(tn_select(b.x, 0, i), tn_select(x, 0, tn_data_i64(b.y)[i])))
                        fail_msg("%s, form %d: row %d of batch %d is another", tn_dtype_name(dtypes[d]), form, (int)i,
                                 (int)b.index);
            assert_string_equal(tn_error_message(), "");
            tn_scope_end(scope);
        }
}

static void meta_dataset(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_set_default_device((tn_device){TN_META, 0});
    tn_dataset *dataset =
        tn_tensor_dataset(tn_empty((int64_t[]){5, 2}, 2, TN_FLOAT32), tn_empty((int64_t[]){5}, 1, TN_INT64));
    tn_set_default_device((tn_device){TN_CPU, 0});
    tn_loader *loader = tn_loader_new(dataset, &(tn_loader_options){.batch_size = 2, .shuffle = true});
    int64_t rows = 0;
    for (tn_batch b; tn_loader_next(loader, &b);) {
        assert_int_equal(tn_tensor_device(b.x).type, TN_META);
        rows += tn_size(b.x, 0);
    }
    assert_int_equal(rows, 5);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

static void refuse(tn_dataset *dataset, tn_loader_options options, tn_status status, const char *said)
{
    assert_null(tn_loader_new(dataset, &options));
    assert_int_equal(tn_error_code(), status);
    if (!strstr(tn_error_message(), said))
        fail_msg("'%s' does not say '%s'", tn_error_message(), said);
    tn_error_clear();
}

static void bad_input(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *dataset = numbered(5);
    tn_batch b = {.index = 77};
    refuse(NULL, (tn_loader_options){0}, TN_ERROR_NULL, "loader_new: argument 1 (dataset) is NULL");
    refuse(dataset, (tn_loader_options){.batch_size = -1}, TN_ERROR_ARGUMENT, "batch_size is -1");
    refuse(dataset, (tn_loader_options){.batch_size = 6, .drop_last = true}, TN_ERROR_ARGUMENT,
           "the dataset has 5 samples");
    tn_torch_generator unseeded = {0};
    refuse(dataset, (tn_loader_options){.shuffle = true, .global_generator = &unseeded}, TN_ERROR_STATE, "loader_new");
    refuse(numbered(0), (tn_loader_options){0}, TN_ERROR_ARGUMENT, "empty");

    tn_loader *loader = tn_loader_new(dataset, NULL);
    assert_int_equal(tn_loader_batch_count(loader), 5);
    assert_false(tn_loader_next(NULL, &b));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    assert_false(tn_loader_next(loader, &b)); /* an error is pending: nothing happens */
    assert_int_equal(tn_loader_batch_count(loader), 0);
    tn_error_clear();
    assert_false(tn_loader_next(loader, NULL));
    tn_error_clear();
    assert_int_equal(b.index, 77);
    assert_int_equal(tn_loader_epoch(loader), 0);
    assert_true(tn_loader_next(loader, &b));
    assert_int_equal(b.index, 0);

    tn_loader *huge = tn_loader_new(dataset, &(tn_loader_options){.batch_size = INT64_MAX});
    assert_int_equal(tn_loader_batch_count(huge), 1);
    assert_true(tn_loader_next(huge, &b));
    assert_int_equal(tn_size(b.x, 0), 5);
    assert_false(tn_loader_next(huge, &b));
    assert_int_equal(tn_loader_reset(huge), TN_OK);
    tn_scope_end(scope);
}

/* A call that fails for memory may be repeated and gives the same batch. */
static void failed_call_repeats(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *dataset = numbered(50);
    int64_t samples[100], count = 0, failures = 0;
    tn_loader *loader = tn_loader_new(dataset, &(tn_loader_options){.batch_size = 8, .shuffle = true, .seed = 11});
    for (int64_t k = 0; count < 100;) {
        tn_batch b;
        tn_fail_allocation(k, false);
        bool came = tn_loader_next(loader, &b);
        tn_fail_allocation(-1, false);
        if (tn_error_code()) {
            assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
            assert_false(came);
            tn_error_clear();
            failures++;
            k++;
            continue;
        }
        k = 0;
        for (int64_t i = 0; came && i < tn_size(b.y, 0); i++)
            samples[count++] = tn_data_i64(b.y)[i];
    }
    assert_true(failures > 14);
    golden_compare("order with failures between", "i64", own_order, samples, 100);
    tn_scope_end(scope);
}

TEST_MAIN(test(every_sample_once), test(golden_order), test(order_of_a_seed), test(epochs_left_early),
          test(views_and_copies), test(gather_rows), test(meta_dataset), test(bad_input), test(failed_call_repeats))
