/* Views against recorded results of PyTorch 2.15 (tests/data/views_torch_2.15.txt: record and version of each, or that
 * it was refused); calls that change a tensor's own record; lists of views; indices that copy. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/samples.h"
#include "support/test.h"

#define LIST(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static tn_tensor *counted(int64_t n)
{
    return tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_INT64);
}

static tn_value boxed(const sample_argument *a)
{
    tn_value value;
    memset(&value, 0, sizeof value);
    switch (a->kind) {
    case SAMPLE_INTS:
        value.kind = TN_VALUE_INTS;
        value.as.ints.data = a->numbers;
        value.as.ints.n = a->n;
        break;
    case SAMPLE_INDEX:
        value.kind = TN_VALUE_INDEX;
        value.as.index.data = a->index;
        value.as.index.n = a->n;
        break;
    case SAMPLE_NUMBER:
        value.kind = TN_VALUE_SCALAR;
        value.as.scalar = a->number;
        break;
    default:
        break;
    }
    return value;
}

static bool same_numbers(const sample_argument *a, const int64_t *numbers, int n)
{
    bool same = a->n == n;
    for (int d = 0; same && d < n; d++)
        same = a->numbers[d] == numbers[d];
    return same;
}

/* One line: what PyTorch gave for the call, or "!". */
static void check_line(const char *line)
{
    char name[40], given_text[160], wanted_text[160];
    sample given, wanted;
    tn_value values[SAMPLE_ARGUMENTS];
    if (sscanf(line, "%39s | %159[^|]| %159[^\n]", name, given_text, wanted_text) != 3)
        fail_msg("a line that is none: %s", line);
    const char *text = given_text;
    assert_true(sample_next(&text, &given));
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_as_strided(counted(64), given.arguments[0].numbers, given.arguments[1].numbers,
                                 given.arguments[0].n, given.arguments[2].number.value.i);
    assert_non_null(x);
    memset(values, 0, sizeof values);
    values[0].kind = TN_VALUE_TENSOR;
    values[0].as.tensor = x;
    for (int i = 3; i < given.n; i++)
        values[i - 2] = boxed(&given.arguments[i]);
    tn_tensor *y = tn_call(name, values, given.n - 2);
    bool in_place = name[strlen(name) - 1] == '_';
    text = wanted_text;
    if (wanted_text[0] == '!') {
        if (y)
            fail_msg("should be refused: %s", line);
        assert_int_equal(tn_version(x), 0);
        assert_true(same_numbers(&given.arguments[0], tn_sizes(x), tn_ndim(x)));
        tn_error_clear();
    } else {
        assert_true(sample_next(&text, &wanted));
        if (!y)
            fail_msg("%s  %s", line, tn_error_message());
        if (!same_numbers(&wanted.arguments[0], tn_sizes(y), tn_ndim(y)) ||
            !same_numbers(&wanted.arguments[1], tn_strides(y), tn_ndim(y)) ||
            tn_storage_offset(y) != wanted.arguments[2].number.value.i ||
            tn_version(y) != wanted.arguments[3].number.value.i)
            fail_msg("another record: %s", line);
        assert_true(in_place == (y == x));
        assert_true(tn_is_view(y) && tn_base(y) == tn_base(x));
        assert_true(tn_is_contiguous(y) == tn_is_contiguous_in(y, TN_CONTIGUOUS_FORMAT));
    }
    tn_scope_end(scope);
}

static void recorded(void **state)
{
    char line[400];
    int lines = 0;
    FILE *file = fopen(TENON_TEST_DATA "/views_torch_2.15.txt", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        check_line(line);
        lines++;
    }
    fclose(file);
    assert_true(lines > 500);
}

static void refusal_names_both_numbers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_t(tn_view(counted(12), LIST(3, 4)));
    assert_null(tn_view(x, LIST(12)));
    assert_int_equal(tn_error_code(), TN_ERROR_VIEW);
    assert_non_null(strstr(tn_error_message(), "stride 1 of dim 0 should be 3 x 4 = 12"));
    tn_error_clear();
    tn_scope_end(scope);
}

/* resize_, set_ and their kin: what is read, which counter counts, which storage grows. */
static void other_records(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = counted(6), *y = tn_view(counted(12), LIST(3, 4)), *view = tn_narrow(x, 0, 2, 2);
    const int64_t *cells;
    assert_int_equal(tn_resize_(x, LIST(6)), TN_OK);
    assert_int_equal(tn_version(x), 0);
    assert_int_equal(tn_resize_(x, LIST(2, 2)), TN_OK);
    assert_int_equal(tn_version(x), 1);
    assert_int_equal(tn_storage_nbytes(x), 48);
    assert_int_equal(tn_resize_(x, LIST(1, 2, 3, 1, 2, 7)), TN_OK);
    assert_int_equal(tn_storage_nbytes(x), 84 * 8);
    cells = tn_data_i64(view);
    assert_true(cells[0] == 2 && cells[1] == 3);
    assert_int_equal(tn_set_(x, y), TN_OK);
    assert_true(tn_is_same_storage(x, y) && !tn_is_same_storage(x, view));
    assert_int_equal(tn_version(x), 3);
    assert_int_equal(tn_version(y), 0);
    assert_int_equal(tn_version(view), 3); /* the counter stayed */
    cells = tn_data_i64(view);
    assert_true(cells[0] == 2 && cells[1] == 3);
    assert_int_equal(tn_set_strided_(view, y, 10, (const int64_t[]){4}, (const int64_t[]){-1}, 1), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_scope_end(scope);
}

/* set_ without a source, of a storage, and by name with a place; squeeze_ of several dims. As PyTorch 2.15. */
static void set_forms(void **state)
{
    const int64_t two[] = {2, 3}, steps[] = {1, 2};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = counted(6), *y = counted(12), *part = tn_narrow(x, 0, 1, 2);
    assert_int_equal(tn_set_empty_(part), TN_OK);
    assert_true(tn_ndim(part) == 1 && tn_numel(part) == 0 && tn_strides(part)[0] == 1 && tn_storage_offset(part) == 0);
    assert_true(tn_storage_nbytes(part) == 0 && tn_storage_nbytes(x) == 48 && tn_is_view(part) && tn_version(x) == 1);
    tn_storage *storage = tn_storage_of(y);
    assert_int_equal(tn_set_storage_(x, storage, 2, two, NULL, 2), TN_OK);
    assert_true(tn_is_same_storage(x, y) && tn_data_i64(x)[5] == 7 && tn_strides(x)[0] == 3 && tn_version(x) == 2);
    assert_int_equal(tn_set_storage_(x, storage, 10, two, steps, 2), TN_OK);
    assert_true(tn_storage_nbytes(y) == (10 + 1 + 4 + 1) * 8 && tn_strides(x)[1] == 2);
    static const struct {
        int64_t offset, size, stride;
    } bad[] = {{-1, 3, 1}, {0, -3, 1}, {0, 3, -1}, {INT64_MAX, 3, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(tn_set_storage_(x, storage, bad[i].offset, &bad[i].size, &bad[i].stride, 1), TN_OK);
        tn_error_clear();
        assert_true(tn_ndim(x) == 2 && tn_version(x) == 3);
    }
    assert_int_equal(tn_set_storage_(x, NULL, 0, two, NULL, 2), TN_ERROR_NULL);
    tn_error_clear();
    assert_int_equal(tn_set_storage_(x, storage, 0, NULL, NULL, -1), TN_ERROR_DIM);
    tn_error_clear();
    assert_int_equal(tn_set_default_device(tn_device_from_name("meta")), TN_OK);
    assert_int_equal(tn_set_storage_(counted(3), storage, 0, two, NULL, 2), TN_ERROR_DEVICE);
    tn_error_clear();
    assert_int_equal(tn_set_empty_(counted(3)), TN_OK);
    assert_int_equal(tn_set_default_device(tn_device_from_name("cpu")), TN_OK);
    assert_int_equal(tn_set_(x, NULL), TN_ERROR_NULL);
    tn_error_clear();
    const tn_value place[] = {{.kind = TN_VALUE_TENSOR, .as.tensor = x},
                              {.kind = TN_VALUE_TENSOR, .as.tensor = y},
                              {.kind = TN_VALUE_SCALAR, .as.scalar = {TN_SCALAR_INT, {.i = 4}}},
                              {.kind = TN_VALUE_INTS, .as.ints = {two, 2}}};
    assert_ptr_equal(tn_call("set_", place, 4), x);
    assert_true(tn_storage_offset(x) == 4 && tn_sizes(x)[1] == 3 && tn_strides(x)[0] == 3);
    assert_ptr_equal(tn_call("set_", place, 1), x);
    assert_true(tn_numel(x) == 0 && tn_ndim(x) == 1);
    tn_tensor *ones = tn_ones(LIST(2, 1, 3, 1), TN_FLOAT32);
    assert_int_equal(tn_squeeze_dims_(ones, LIST(0, 1, -1)), TN_OK);
    assert_true(tn_ndim(ones) == 2 && tn_sizes(ones)[1] == 3 && tn_version(ones) == 1);
    assert_int_equal(tn_squeeze_dims_(ones, LIST(0, 0)), TN_ERROR_DIM);
    tn_error_clear();
    tn_scope_end(scope);
}

/* A dim that is not there yet counts among those of the result, and the message names the argument's. */
static void new_dim_is_named(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = counted(3);
    for (int stacked = 0; stacked < 2; stacked++) {
        assert_null(stacked ? tn_stack(&x, 1, INT_MAX) : tn_unsqueeze(x, INT_MAX));
        assert_int_equal(tn_error_code(), TN_ERROR_DIM);
        assert_non_null(strstr(tn_error_message(), "new dim 2147483647 of a 1-dim tensor, needed -2 .. 1"));
        tn_error_clear();
    }
    assert_null(tn_unsqueeze(x, INT_MIN));
    tn_error_clear();
    tn_scope_end(scope);
}

static void set_strided_and_data(void **state)
{
    const int64_t two[] = {2, 3}, steps[] = {4, 1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = counted(6), *y = counted(12), *part = tn_narrow(x, 0, 1, 2), *other = tn_detach(x),
              *data = tn_tensor_data(x), *floats = tn_ones(two, 2, TN_FLOAT32);
    assert_int_equal(tn_set_strided_(part, y, 2, two, steps, 2), TN_OK);
    assert_true(tn_is_same_storage(part, y) && tn_data_i64(part)[4] == 6);
    assert_int_equal(tn_set_strided_(part, y, 20, two, two, 2), TN_OK);
    assert_int_equal(tn_storage_nbytes(y), (20 + 2 + 6 + 1) * 8);
    assert_int_equal(tn_set_(x, floats), TN_ERROR_DTYPE);
    tn_error_clear();
    assert_int_equal(tn_set_data(data, floats), TN_OK);
    assert_true(tn_tensor_dtype(data) == TN_FLOAT32 && tn_is_same_storage(data, floats) && tn_version(data) == 0);
    int64_t before = tn_version(x);
    assert_int_equal(tn_zero_(other), TN_OK);
    assert_int_equal(tn_version(x), before + 1);
    assert_true(!tn_is_view(other) && tn_is_same_storage(other, x) && tn_data_i64(x)[3] == 0);
    assert_int_equal(tn_detach_(part), TN_ERROR_INPLACE_VIEW);
    tn_error_clear();
    assert_int_equal(tn_detach_(x), TN_OK);
    tn_scope_end(scope);
}

static void lists(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(counted(14), LIST(7, 2)), *kept;
    tn_list *pieces = tn_split(x, 3, 0);
    assert_int_equal(tn_list_size(pieces), 3);
    assert_int_equal(tn_size(tn_list_get(pieces, -1), 0), 1);
    assert_int_equal(tn_storage_offset(tn_list_get(pieces, 1)), 6);
    kept = tn_retain(tn_list_get(pieces, 2));
    assert_null(tn_list_get(pieces, 3));
    assert_int_equal(tn_error_code(), TN_ERROR_INDEX);
    tn_error_clear();
    tn_drop(&pieces);
    assert_int_equal(tn_data_i64(kept)[0], 12);
    tn_release(&kept);
    assert_int_equal(tn_list_size(tn_chunk(x, 5, 0)), 4);
    assert_int_equal(tn_list_size(tn_tensor_split(x, 5, 0)), 5);
    assert_int_equal(tn_list_size(tn_tensor_split_at(x, LIST(3, 1, 9), 0)), 4);
    assert_int_equal(tn_list_size(tn_unbind(x, 1)), 2);
    assert_int_equal(tn_list_size(tn_vsplit(x, 7)), 7);
    assert_null(tn_vsplit(x, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_null(tn_split(x, 0, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    /* the k-th allocation fails: nothing stays */
    for (int k = 0;; k++) {
        int64_t blocks = tn_get_memory_stats().live_blocks;
        tn_fail_allocation(k, true);
        tn_list *list = tn_unbind(x, 0);
        bool failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (!failed)
            break;
        assert_null(list);
        assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
        tn_error_clear();
        assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
    }
    tn_scope_end(scope);
}

/* x[mask], x[list, :, tensor] and writes there, against the elements one by one. */
static void indices_that_copy(void **state)
{
    const int64_t rows[] = {2, -3, 2}, columns[] = {0, 3, 1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_transpose(tn_view(counted(24), LIST(4, 2, 3)), 0, 2); /* x[i, j, k] = 6 k + 3 j + i */
    tn_tensor *at = tn_from_array(columns, LIST(3), TN_INT64), *big = tn_gt_scalar(x, tn_int(9));
    const tn_index apart[] = {tn_index_list(rows, 3), tn_index_all(), tn_index_tensor(at)};
    tn_tensor *y = tn_contiguous(tn_getitem(x, apart, 3));
    for (int64_t b = 0; b < 3; b++)
        for (int64_t j = 0; j < 2; j++)
            assert_int_equal(tn_data_i64(y)[b * 2 + j], 6 * columns[b] + 3 * j + (rows[b] < 0 ? rows[b] + 3 : rows[b]));
    const tn_index mask = tn_index_tensor(big), too_far = tn_index_list(columns + 1, 1);
    assert_int_equal(tn_numel(tn_getitem(x, &mask, 1)), 14);
    int64_t version = tn_version(x);
    assert_int_equal(tn_setitem_scalar(x, &mask, 1, tn_int(-1)), TN_OK);
    assert_int_equal(tn_version(x), version + 1);
    y = tn_contiguous(x);
    for (int64_t i = 0; i < 24; i++)
        assert_true(tn_data_i64(y)[i] <= 9);
    assert_null(tn_getitem(x, &too_far, 1));
    assert_int_equal(tn_error_code(), TN_ERROR_INDEX);
    tn_error_clear();
    assert_int_equal(tn_setitem_scalar(x, &too_far, 1, tn_int(1)), TN_ERROR_INDEX);
    tn_error_clear();
    assert_int_equal(tn_version(x), version + 1);
    for (int k = 0;; k++) {
        int64_t blocks = tn_get_memory_stats().live_blocks;
        tn_fail_allocation(k, true);
        tn_tensor *z = tn_getitem(x, apart, 3);
        bool failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (!failed)
            break;
        assert_null(z);
        assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
        tn_error_clear();
        assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
    }
    tn_scope_end(scope);
}

static void values_of_setitem(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(3, 4), TN_FLOAT32), *ones = tn_ones(LIST(1, 1, 4), TN_INT64),
              *wide = tn_expand(tn_zeros(LIST(3, 1), TN_FLOAT32), LIST(3, 4));
    const tn_index row = tn_index_integer(1), columns[] = {tn_index_all(), tn_index_slice(1, 3)};
    assert_int_equal(tn_setitem(x, &row, 1, ones), TN_OK);
    assert_true(tn_data_f32(x)[4] == 1 && tn_data_f32(x)[3] == 0 && tn_version(x) == 1);
    assert_int_equal(tn_setitem_scalar(wide, columns, 2, tn_int(5)), TN_OK);
    assert_int_equal(tn_setitem(wide, columns, 2, tn_ones(LIST(3, 1), TN_FLOAT32)), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_setitem(x, &row, 1, tn_ones(LIST(2, 4), TN_FLOAT32)), TN_ERROR_SHAPE);
    tn_error_clear();
    assert_int_equal(tn_version(x), 1);
    tn_scope_end(scope);
}

TEST_MAIN(test(recorded), test(refusal_names_both_numbers), test(other_records), test(set_strided_and_data),
          test(set_forms), test(new_dim_is_named), test(lists), test(indices_that_copy), test(values_of_setitem))
