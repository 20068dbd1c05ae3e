/* tn_save_csv: what stands in the file, all kinds of numbers back bit for bit, labels and their places, refusals, and
 * every allocation failing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/scratch.h"

static char content[1 << 12];

static const char *written(tn_dataset *dataset, const tn_csv_options *options)
{
    if (tn_save_csv(scratch_path, dataset, options))
        fail_msg("%s", tn_error_message());
    FILE *file = fopen(scratch_path, "rb");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    return content;
}

static tn_dataset *from_text(const char *text, const tn_csv_options *options)
{
    FILE *file = fopen(scratch_path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    tn_dataset *d = tn_load_csv(scratch_path, options);
    if (!d)
        fail_msg("%s", tn_error_message());
    return d;
}

static void text(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const float x[] = {0.1f, -2, 1e-7f, 16777216, NAN, -INFINITY};
    const int64_t y[] = {1, 0, 7};
    tn_tensor *two = tn_from_array(x, (int64_t[]){3, 2}, 2, TN_FLOAT32);
    tn_tensor *t = tn_from_array(y, (int64_t[]){3}, 1, TN_INT64);
    tn_dataset *plain = tn_feature_dataset(two), *labelled = tn_tensor_dataset(two, t);
    assert_string_equal(written(plain, NULL), "0.1,-2.0\n1e-07,16777216.0\nnan,-inf\n");
    assert_string_equal(written(labelled, NULL), "0.1,-2.0,1\n1e-07,16777216.0,0\nnan,-inf,7\n");
    assert_string_equal(written(labelled, &(tn_csv_options){.header = TN_CSV_HEADER, .delimiter = '\t'}),
                        "x0\tx1\tlabel\n0.1\t-2.0\t1\n1e-07\t16777216.0\t0\nnan\t-inf\t7\n");
    assert_string_equal(written(labelled, &(tn_csv_options){.label = "0", .delimiter = ';'}),
                        "1;0.1;-2.0\n0;1e-07;16777216.0\n7;nan;-inf\n");
    assert_string_equal(written(labelled, &(tn_csv_options){.label = "-2", .header = TN_CSV_HEADER}),
                        "x0,label,x1\n0.1,1,-2.0\n1e-07,0,16777216.0\nnan,7,-inf\n");
    tn_dataset *wide = tn_tensor_dataset(tn_t(tn_to(two, TN_FLOAT64)), tn_from_array((double[]){0.1, 5e-324},
                                                                                    (int64_t[]){2}, 1, TN_FLOAT64));
    assert_string_equal(written(wide, NULL),
                        "0.10000000149011612,1.0000000116860974e-07,nan,0.1\n-2.0,16777216.0,-inf,5e-324\n");
    assert_string_equal(written(tn_feature_dataset(tn_from_array((int8_t[]){-128, 5}, (int64_t[]){2, 1}, 2, TN_INT8)),
                                NULL), "-128\n5\n");
    tn_scope_end(scope);
}

/* Whatever a field may hold comes back, in quotes where it must be. */
static void quotes(void **state)
{
    (void)state;
    static const char table[] = "\"a,b\",\"he said \"\"no\"\"\",\" blank\",\"\",\"two\nlines\",#,kind\n"
                                "1.0,2.0,3.0,4.0,5.0,6.0,\"x,y\"\n"
                                "1.5,2.0,3.0,4.0,5.0,6.0,plain\n";
    tn_scope scope = tn_scope_begin();
    const tn_csv_options options = {.header = TN_CSV_HEADER, .label = "kind"};
    tn_dataset *d = from_text(table, &options);
    assert_string_equal(tn_dataset_column_name(d, 2), " blank");
    assert_string_equal(written(d, &options), "\"a,b\",\"he said \"\"no\"\"\",\" blank\",\"\",\"two\nlines\",#,kind\n"
                                              "1.0,2.0,3.0,4.0,5.0,6.0,\"x,y\"\n"
                                              "1.5,2.0,3.0,4.0,5.0,6.0,plain\n");
    const tn_csv_options hash = {.header = TN_CSV_HEADER, .label = "0", .delimiter = ' ', .comment = '#'};
    tn_dataset *again = from_text(written(d, &hash), &hash);
    for (int i = 0; i < 6; i++)
        assert_string_equal(tn_dataset_column_name(again, i), tn_dataset_column_name(d, i));
    assert_string_equal(tn_dataset_class_name(again, 1), "x,y");
    assert_true(tn_equal(tn_dataset_x(again), tn_dataset_x(d)) && tn_equal(tn_dataset_y(again), tn_dataset_y(d)));
    tn_scope_end(scope);
}

/* Random bits of all exponents: NaN's own bits alone are not kept. */
static void bits_come_back(void **state)
{
    (void)state;
    enum { N = 4000 };
    uint64_t seed = 88172645463325252u;
    for (int k = 0; k < 2; k++) {
        const tn_dtype dtype = k ? TN_FLOAT64 : TN_FLOAT32;
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = tn_empty((int64_t[]){N / 4, 4}, 2, dtype), *y = tn_empty((int64_t[]){N / 4}, 1, dtype);
        char *data = tn_data_mut(x);
        for (int64_t i = 0; i < N; i++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
            memcpy(data + i * (int64_t)tn_itemsize(dtype), &seed, tn_itemsize(dtype));
        }
        for (int64_t i = 0; i < N / 4; i++) /* short decimals */
            if (k)
                tn_data_f64_mut(y)[i] = (double)i / 100;
            else
                tn_data_f32_mut(y)[i] = (float)i / 100;
        const tn_csv_options options = {.dtype = dtype, .label = "-1", .target = TN_CSV_NUMBERS};
        if (tn_save_csv(scratch_path, tn_tensor_dataset(x, y), &options))
            fail_msg("%s", tn_error_message());
        tn_dataset *d = tn_load_csv(scratch_path, &options);
        assert_string_equal(tn_error_message(), "");
        const char *back = tn_data(tn_dataset_x(d));
        for (int64_t i = 0; i < N; i++) {
            const size_t at = (size_t)i * tn_itemsize(dtype);
            const bool nan = k ? isnan(tn_data_f64(x)[i]) : isnan(tn_data_f32(x)[i]);
            if (nan ? !(k ? isnan(tn_data_f64(tn_dataset_x(d))[i]) : isnan(tn_data_f32(tn_dataset_x(d))[i]))
                    : memcmp(back + at, data + at, tn_itemsize(dtype)) != 0)
                fail_msg("%s %d: %a does not come back", tn_dtype_name(dtype), (int)i,
                         k ? tn_data_f64(x)[i] : (double)tn_data_f32(x)[i]);
        }
        assert_true(tn_equal(tn_dataset_y(d), y));
        tn_scope_end(scope);
    }
}

/* The shortest: what printf gives with one digit less is another number, or there is one digit alone. */
static void shortest(void **state)
{
    (void)state;
    uint64_t seed = 7;
    tn_scope scope = tn_scope_begin();
    for (int i = 0; i < 500; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        const uint32_t bits = (uint32_t)(seed >> 20);
        float value;
        char shown[64], shorter[64];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value) || value == 0)
            continue;
        tn_scope inner = tn_scope_begin();
        snprintf(shown, sizeof shown, "%s",
                 written(tn_feature_dataset(tn_from_array(&value, (int64_t[]){1, 1}, 2, TN_FLOAT32)), NULL));
        assert_true(strtof(shown, NULL) == value);
        int digits = 1;
        for (; digits < 9; digits++) {
            snprintf(shorter, sizeof shorter, "%.*e", digits - 1, (double)value);
            if (strtof(shorter, NULL) == value)
                break;
        }
        snprintf(shorter, sizeof shorter, "%.*e", digits - 1, (double)value);
        if (strtod(shown, NULL) != strtod(shorter, NULL))
            fail_msg("%a is written as %s, shorter is %s", (double)value, shown, shorter);
        tn_scope_end(inner);
    }
    tn_scope_end(scope);
}

static tn_status fetch(void *context, const int64_t *index, int64_t n, tn_tensor **x, tn_tensor **y)
{
    (void)context, (void)index, (void)n, (void)x, (void)y;
    return TN_OK;
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t one = 1, three = 3;
    tn_tensor *x = tn_full((int64_t[]){3, 2}, 2, tn_float(INFINITY), TN_FLOAT32);
    tn_tensor *classes = tn_ones(&three, 1, TN_INT64);
    const struct {
        tn_dataset *dataset;
        tn_csv_options options;
        tn_status status;
        const char *message;
    } cases[] = {
        {tn_tensor_dataset(x, classes), {.delimiter = '.'}, TN_ERROR_ARGUMENT, "save_csv: the delimiter is byte 46"},
        {tn_tensor_dataset(x, classes), {.label = "3"}, TN_ERROR_NAME, "the labels are to be column 3 of 3"},
        {tn_tensor_dataset(x, classes), {.label = "-4"}, TN_ERROR_NAME, "column -4 of 3"},
        {tn_tensor_dataset(x, classes), {.finite = true}, TN_ERROR_ARGUMENT, "element 0 of x is inf, needed finite"},
        {tn_feature_dataset(classes), {0}, TN_ERROR_SHAPE, "x has 1 dims, needed [samples, features]"},
        {tn_tensor_dataset(x, x), {0}, TN_ERROR_SHAPE, "y has 6 elements, needed one a sample: 3"},
        {tn_feature_dataset(tn_zeros((int64_t[]){0, 2}, 2, TN_FLOAT32)), {0}, TN_ERROR_ARGUMENT, "has no samples"},
        {tn_feature_dataset(tn_zeros((int64_t[]){2, 0}, 2, TN_FLOAT32)), {0}, TN_ERROR_SHAPE, "[samples, features]"},
        {tn_feature_dataset(tn_zeros((int64_t[]){2, 1}, 2, TN_COMPLEX64)), {0}, TN_ERROR_DTYPE, "x is complex64"},
        {tn_feature_dataset(tn_empty_on((int64_t[]){2, 1}, 2, TN_FLOAT32, (tn_device){TN_META, 0})), {0},
         TN_ERROR_DEVICE, "meta"},
        {tn_function_dataset(one, &(tn_dataset_functions){.fetch = fetch}, NULL), {0}, TN_ERROR_ARGUMENT,
         "the dataset is a function"},
        {NULL, {0}, TN_ERROR_NULL, "save_csv: argument 2 (dataset) is NULL"},
    };
    from_text("1,2\n", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tn_save_csv(scratch_path, cases[i].dataset, &cases[i].options), cases[i].status);
        expect_error(cases[i].status, cases[i].message);
    }
    assert_int_equal(tn_save_csv("/nowhere/at/all.csv", cases[0].dataset, NULL), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "all.csv");
    tn_dataset *still = tn_load_csv(scratch_path, NULL);
    assert_int_equal(tn_dataset_size(still), 1);
    tn_scope_end(scope);
}

static void without_memory(void **state)
{
    (void)state;
    for (int64_t at = 0, hit = 1; hit; at++) {
        tn_scope scope = tn_scope_begin();
        from_text("old\n7\n", NULL);
        tn_dataset *d = tn_feature_dataset(tn_t(tn_ones((int64_t[]){3, 2}, 2, TN_FLOAT16)));
        const int64_t before = tn_get_memory_stats().live_blocks;
        tn_fail_allocation(at, false);
        const tn_status status = tn_save_csv(scratch_path, d, NULL);
        hit = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        assert_int_equal(status, hit ? TN_ERROR_MEMORY : TN_OK);
        EXPECT(status);
        assert_int_equal(tn_get_memory_stats().live_blocks, before);
        assert_int_equal(tn_dataset_size(tn_load_csv(scratch_path, NULL)), hit ? 1 : 2);
        tn_scope_end(scope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(text), test(quotes), test(bits_come_back), test(shortest), test(refusals),
                                       test(without_memory)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
