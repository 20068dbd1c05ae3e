/* Reading and writing at positions: what layers see, lazy tensors, meta, overlaps, and what is refused how. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

#define LIST(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static tn_tensor *counted(int64_t n, tn_dtype dtype)
{
    return tn_arange(tn_int(0), tn_int(n), tn_int(1), dtype);
}

static tn_tensor *positions(const int64_t *data, int n)
{
    const int64_t size = n;
    return tn_from_array(data, &size, 1, TN_INT64);
}

static double total(tn_tensor *x)
{
    return tn_item(tn_sum(x, NULL, 0, false, TN_DTYPE_NONE));
}

typedef struct names {
    char text[256];
} names;

static tn_status note(void *context, tn_op_call *call)
{
    names *seen = context;
    strncat(seen->text, tn_op_call_name(call), sizeof seen->text - strlen(seen->text) - 2);
    strcat(seen->text, " ");
    return tn_layer_next(call);
}

/* A layer sees the view and one operator, not its inner steps. */
static void layers_see_them(void **state)
{
    static names seen;
    const int64_t rows[] = {1, 0};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(counted(6, TN_FLOAT32), LIST(3, 2)), *value = tn_ones(LIST(2, 2), TN_FLOAT32);
    int layer = tn_layer_register("names", note, &seen);
    assert_int_equal(tn_layer_enable(layer, true), TN_OK);
    const tn_index index[] = {tn_index_list(rows, 2)};
    assert_non_null(tn_getitem(x, index, 1));
    assert_int_equal(tn_setitem(x, index, 1, value), TN_OK);
    assert_int_equal(tn_layer_unregister(layer), TN_OK);
    assert_string_equal(seen.text, "index index_put_ ");
    tn_scope_end(scope);
}

/* z.conj()[0] = v, z.conj().imag[[0]] = v: written through the bits. */
static void lazy_tensors(void **state)
{
    const int64_t first[] = {0, 2};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *z = tn_zeros(LIST(3), TN_COMPLEX64), *conj = tn_conj(z), *imag = tn_imag(conj);
    const tn_index list[] = {tn_index_list(first, 2)}, on[] = {tn_index_bool(true)};
    assert_int_equal(tn_setitem_scalar(conj, list, 1, tn_complex(1, 2)), TN_OK);
    tn_complex_value c = tn_item_scalar(tn_select(z, 0, 2)).value.c;
    assert_true(c.re == 1 && c.im == -2);
    assert_int_equal(tn_setitem(z, list, 1, tn_conj(tn_full(LIST(2), tn_complex(3, 4), TN_COMPLEX64))), TN_OK);
    c = tn_item_scalar(tn_select(z, 0, 0)).value.c;
    assert_true(c.re == 3 && c.im == -4);
    assert_int_equal(tn_setitem_scalar(imag, on, 1, tn_int(7)), TN_OK);
    c = tn_item_scalar(tn_select(z, 0, 1)).value.c;
    assert_true(c.re == 0 && c.im == -7);
    const tn_index mask[] = {tn_index_tensor(tn_gt_scalar(imag, tn_int(0)))};
    assert_int_equal(tn_setitem_scalar(imag, mask, 1, tn_int(1)), TN_OK);
    assert_true(total(tn_getitem(imag, mask, 1)) == 3);
    assert_int_equal(tn_setitem_scalar(tn_zero_tensor(LIST(3), TN_FLOAT32), list, 1, tn_int(1)), TN_ERROR_STATE);
    tn_error_clear();
    tn_scope_end(scope);
}

static void on_meta(void **state)
{
    const tn_device meta = {TN_META, 0};
    const int64_t rows[] = {1, 0, 2};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_empty_on(LIST(4, 5), TN_FLOAT32, meta), *at = tn_empty_on(LIST(2, 3), TN_INT64, meta);
    const tn_index list[] = {tn_index_list(rows, 3)}, two[] = {tn_index_all(), tn_index_tensor(at)};
    tn_tensor *y = tn_getitem(x, list, 1);
    assert_true(y && tn_size(y, 0) == 3 && tn_size(y, 1) == 5 && tn_tensor_device(y).type == TN_META);
    y = tn_getitem(x, two, 2);
    assert_true(y && tn_ndim(y) == 3 && tn_size(y, 2) == 3);
    assert_int_equal(tn_setitem_scalar(x, list, 1, tn_int(1)), TN_OK);
    const tn_index mask[] = {tn_index_tensor(tn_empty_on(LIST(4), TN_BOOL, meta))};
    assert_null(tn_getitem(x, mask, 1));
    expect_error(TN_ERROR_DEVICE, "how many elements it selects depends on data");
    assert_null(tn_getitem(tn_zeros(LIST(4, 5), TN_FLOAT32), two, 2));
    expect_error(TN_ERROR_DEVICE, "index 1 is on meta");
    tn_scope_end(scope);
}

static void overlaps_and_nothing(void **state)
{
    const int64_t first[] = {0};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *f = counted(3, TN_INT64), *on = tn_ones(LIST(2), TN_BOOL), *one = tn_zeros(LIST(1), TN_FLOAT32);
    const tn_index itself[] = {tn_index_tensor(f)}, mask[] = {tn_index_tensor(on)};
    assert_int_equal(tn_setitem_scalar(f, itself, 1, tn_int(7)), TN_ERROR_OVERLAP);
    expect_error(TN_ERROR_OVERLAP, "setitem: an index shares memory");
    assert_true(total(f) == 3 && tn_version(f) == 0);
    assert_int_equal(tn_setitem_scalar(on, mask, 1, tn_bool(false)), TN_OK);
    assert_true(total(on) == 0);
    const tn_index no[] = {tn_index_tensor(tn_zeros(LIST(1), TN_BOOL))};
    assert_int_equal(tn_setitem(one, no, 1, one), TN_OK); /* one number at the places of a mask */
    tn_tensor *empty = tn_zeros(LIST(0, 2), TN_FLOAT32);
    const tn_index nothing[] = {tn_index_list(first, 1), tn_index_slice(2, 2)};
    assert_int_equal(tn_setitem_scalar(empty, nothing, 2, tn_int(7)), TN_OK);
    assert_int_equal(tn_setitem(empty, nothing, 2, tn_ones(LIST(1), TN_FLOAT32)), TN_ERROR_INDEX);
    tn_error_clear();
    const tn_index dots[] = {tn_index_ellipsis(), tn_index_ellipsis(), tn_index_list(first, 1)};
    assert_null(tn_getitem(tn_zeros(LIST(2, 3), TN_FLOAT32), dots, 3));
    expect_error(TN_ERROR_INDEX, "getitem: the index goes beyond dim 1");
    tn_scope_end(scope);
}

/* Errors name the call and the place; nothing is written. */
static void refusals(void **state)
{
    const int64_t far[] = {0, 1, 4}, wide[] = {0, 1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(4, 2), TN_FLOAT32), *ones = tn_ones(LIST(2), TN_FLOAT32);
    const tn_index list[] = {tn_index_list(far, 3)}, null[] = {tn_index_all(), tn_index_tensor(NULL)};
    assert_int_equal(tn_setitem(x, list, 1, ones), TN_ERROR_INDEX);
    expect_error(TN_ERROR_INDEX, "setitem: index 4, element 2 of the index, in dim 0 of size 4, needed -4 .. 3");
    assert_true(total(x) == 0 && tn_version(x) == 0);
    assert_null(tn_getitem(x, null, 2));
    expect_error(TN_ERROR_NULL, "getitem: argument 2 (index) is NULL at entry 1");
    tn_tensor *const parts[] = {x, x, NULL};
    assert_null(tn_cat(parts, 3, 0));
    expect_error(TN_ERROR_NULL, "cat: argument 1 (tensors) is NULL at tensor 2");
    assert_null(tn_index_get(x, NULL, 1));
    expect_error(TN_ERROR_NULL, "index: ");
    tn_tensor *const both[] = {positions(wide, 2), NULL};
    assert_int_equal(tn_index_put_(x, both, 2, tn_ones(LIST(3), TN_FLOAT32), false), TN_ERROR_SHAPE);
    expect_error(TN_ERROR_SHAPE, "index_put_: ");
    assert_int_equal(tn_setitem_scalar(tn_zeros(LIST(2), TN_INT8), list, 1, tn_int(300)), TN_ERROR_OVERFLOW);
    expect_error(TN_ERROR_OVERFLOW, "setitem: int8 does not hold the value 300");
    const tn_index all[] = {tn_index_all()};
    assert_int_equal(tn_setitem_scalar(tn_zeros(LIST(2), TN_FLOAT8_E4M3FNUZ), all, 1, tn_int(300)), TN_ERROR_OVERFLOW);
    expect_error(TN_ERROR_OVERFLOW, "setitem: ");
    tn_tensor *eighth = tn_zeros(LIST(1), TN_FLOAT8_E4M3FNUZ);
    assert_int_equal(tn_setitem_scalar(eighth, all, 1, tn_int(300)), TN_OK); /* a single element takes what comes */
    assert_true(isnan(tn_item(eighth)));
    assert_true(isinf(tn_item(tn_full(NULL, 0, tn_float(1e10), TN_FLOAT16))));
    tn_scope_end(scope);
}

/* index_put with accumulate is the derivative of index: <index(x), g> = <x, index_put(0, g)>. */
static void adjoint(void **state)
{
    const int64_t rows[] = {2, 0, 2, -1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(counted(12, TN_FLOAT64), LIST(3, 4)), *g = tn_view(counted(16, TN_FLOAT64), LIST(4, 4));
    tn_tensor *const at[] = {positions(rows, 4)};
    tn_tensor *back = tn_index_put(tn_zeros(LIST(3, 4), TN_FLOAT64), at, 1, g, true);
    assert_true(total(tn_mul(tn_index_get(x, at, 1), g)) == total(tn_mul(x, back)));
    assert_true(tn_item(tn_select(tn_select(back, 0, 1), 0, 0)) == 0);
    tn_scope_end(scope);
}

/* One dim: adjoints of one another, sums of halves, refusals that write nothing. */
static void along_a_dim(void **state)
{
    const int64_t rows[] = {1, 0, 1}, far[] = {0, 3}, back[] = {-1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(counted(6, TN_FLOAT64), LIST(2, 3)), *at = positions(rows, 3);
    tn_tensor *g = tn_view(counted(9, TN_FLOAT64), LIST(3, 3)), *zero = tn_zeros(LIST(2, 3), TN_FLOAT64);
    tn_tensor *wide = tn_expand(tn_view(at, LIST(3, 1)), LIST(3, 3));
    double straight = total(tn_mul(tn_index_select(x, 0, at), g));
    assert_true(straight == total(tn_mul(x, tn_index_add(zero, 0, at, g, tn_int(1)))));
    assert_true(straight == total(tn_mul(tn_gather(x, 0, wide), g)));
    assert_true(straight == total(tn_mul(x, tn_scatter_add(zero, 0, wide, g))));
    assert_true(total(tn_index_add(zero, -2, at, g, tn_float(0.5))) == 18 && total(zero) == 0);
    tn_tensor *many = tn_zeros(LIST(4000), TN_INT64), *halves = tn_ones(LIST(4000), TN_FLOAT16);
    assert_true(total(tn_scatter_add(tn_zeros(LIST(1), TN_FLOAT16), 0, many, halves)) == 4000);

    tn_tensor *outside = positions(far, 2);
    assert_null(tn_index_select(x, 1, outside));
    expect_error(TN_ERROR_INDEX, "index_select: index 3, element 1 of the index, in dim 1 of size 3, needed 0 .. 2");
    assert_null(tn_gather(x, -1, tn_view(positions(back, 1), LIST(1, 1))));
    expect_error(TN_ERROR_INDEX, "gather: index -1, element 0");
    assert_int_equal(tn_index_add_(x, 1, outside, tn_ones(LIST(2, 2), TN_FLOAT64), tn_int(1)), TN_ERROR_INDEX);
    expect_error(TN_ERROR_INDEX, "index_add_: ");
    assert_int_equal(tn_scatter_add_(x, 0, wide, x), TN_ERROR_SHAPE);
    expect_error(TN_ERROR_SHAPE, "scatter_add_: ");
    assert_int_equal(tn_index_add_(x, 0, positions(rows, 2), x, tn_int(1)), TN_ERROR_OVERLAP);
    expect_error(TN_ERROR_OVERLAP, "index_add_: the source shares memory");
    assert_int_equal(tn_index_add_(at, 0, at, many, tn_float(1e300)), TN_ERROR_OVERFLOW);
    expect_error(TN_ERROR_OVERFLOW, "index_add_: ");
    assert_null(tn_gather(x, 0, g));
    expect_error(TN_ERROR_DTYPE, "gather: the index is float64, needed int64 or int32");
    assert_true(total(x) == 15 && tn_version(x) == 0);
    tn_scope_end(scope);
}

/* setitem through a view, a mask and an int32 index, when allocation k fails: nothing is written, nothing leaks. */
static void every_allocation(void **state)
{
    const int64_t rows[] = {1, -1};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_conj(tn_zeros(LIST(3, 4), TN_COMPLEX64)), *at = tn_to(positions(rows, 2), TN_INT32);
    tn_tensor *mask = tn_ne_scalar(counted(4, TN_INT64), tn_int(2));
    tn_tensor *value = tn_conj(tn_ones(LIST(1, 3, 1), TN_COMPLEX64));
    const tn_index both[] = {tn_index_tensor(at), tn_index_new_axis(), tn_index_tensor(mask)};
    const tn_index one[] = {tn_index_all(), tn_index_tensor(at)};
    for (int call = 0; call < 2; call++) {
        for (int k = 0;; k++) {
            int64_t blocks = tn_get_memory_stats().live_blocks, version = tn_version(x);
            tn_fail_allocation(k, true);
            tn_status status = call ? tn_setitem_scalar(x, both, 3, tn_int(3)) : tn_setitem(x, one, 2, value);
            bool failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            if (call && !failed) /* two positions and three do not broadcast */
                assert_int_equal(status, TN_ERROR_SHAPE);
            else
                assert_int_equal(status, failed ? TN_ERROR_MEMORY : TN_OK);
            tn_error_clear();
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
            assert_int_equal(tn_version(x), version + (!call && !failed));
            if (!failed)
                break;
        }
    }
    tn_scope_end(scope);
}

TEST_MAIN(test(layers_see_them), test(lazy_tensors), test(on_meta), test(overlaps_and_nothing), test(refusals),
          test(adjoint), test(along_a_dim),
          test(every_allocation))
