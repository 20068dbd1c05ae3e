/* Lazy bits: conj, neg and zero tensors through views, kernels, writes, and questions. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "core/lazy.h"
#include "support/errors.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static tn_tensor *numbers(void)
{
    static const float data[12] = {1, 2, -3, 4, 5, -6, 0, -0.0f, 9, 10, NAN, 12};
    return tn_from_array(data, LIST(2, 3), 2, TN_COMPLEX64);
}

/* What tn_imag makes of a conjugate. */
static tn_tensor *neg_view(tn_tensor *x)
{
    tn_tensor *y = tn_view(x, tn_sizes(x), tn_ndim(x));
    assert_non_null(y);
    y->keys ^= TNI_KEY_NEG;
    return y;
}

static void assert_elements(tn_tensor *x, const float *needed, int n)
{
    tn_tensor *y = tn_contiguous(tn_resolve_neg(tn_resolve_conj(x)));
    assert_non_null(y);
    assert_int_equal(tn_numel(y) * (int64_t)tn_itemsize(tn_tensor_dtype(y)), n * (int)sizeof *needed);
    const float *found = tn_data(y);
    for (int i = 0; i < n; i++)
        if (memcmp(&found[i], &needed[i], sizeof *found) != 0 && !(isnan(found[i]) && isnan(needed[i])))
            fail_msg("element %d is %a, needed %a", i, (double)found[i], (double)needed[i]);
}

static void conj_is_a_view(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = numbers(), *y = tn_conj(x);
    assert_true(tn_is_conj(y) && tn_is_view(y) && tn_is_same_storage(x, y) && !tn_is_conj(x));
    assert_ptr_equal(tn_base(y), x);
    assert_false(tn_is_conj(tn_conj(y)));
    assert_true(tn_is_conj(tn_t(y)) && tn_is_conj(tn_select(y, 0, 1)));
    assert_elements(y, (const float[]){1, -2, -3, -4, 5, 6, 0, 0, 9, -10, NAN, -12}, 12);
    assert_elements(tn_select(tn_t(y), 0, 1), (const float[]){-3, -4, 9, -10}, 4);
    assert_false(tn_is_conj(tn_clone(y)));
    assert_false(tn_is_conj(tn_conj_physical(x)));
    assert_elements(tn_conj_physical(x), (const float[]){1, -2, -3, -4, 5, 6, 0, 0, 9, -10, NAN, -12}, 12);
    assert_elements(tn_conj_physical(y), (const float[]){1, 2, -3, 4, 5, -6, 0, -0.0f, 9, 10, NAN, 12}, 12);
    assert_ptr_equal(tn_resolve_conj(x), x);
    tn_tensor *real = tn_ones(LIST(2), 1, TN_FLOAT32);
    assert_ptr_equal(tn_conj(real), real);
    tn_scope_end(scope);
}

static void raw_data_is_refused(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_conj(numbers()), *z = neg_view(tn_ones(LIST(1), 1, TN_FLOAT32));
    int64_t version = tn_version(y);
    assert_null(tn_data(y));
    expect_error(TN_ERROR_STATE, "tn_resolve_conj");
    assert_null(tn_data_mut(y));
    expect_error(TN_ERROR_STATE, "tn_resolve_conj");
    assert_int_equal(tn_version(y), version);
    assert_null(tn_data_f32(z));
    expect_error(TN_ERROR_STATE, "tn_resolve_neg");
    assert_float_equal(tn_item(z), -1, 0);
    assert_null(tn_data(tn_zero_tensor(LIST(2), 1, TN_FLOAT32)));
    expect_error(TN_ERROR_STATE, "tn_clone");
    tn_scope_end(scope);
}

static void kernels_see_what_is_meant(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((const float[]){1, -2, 3}, LIST(3), 1, TN_FLOAT32), *y = neg_view(x);
    assert_elements(y, (const float[]){-1, 2, -3}, 3);
    assert_elements(tn_add(x, y), (const float[]){0, 0, 0}, 3);
    assert_elements(tn_mul(y, y), (const float[]){1, 4, 9}, 3);
    assert_elements(tn_relu(y), (const float[]){0, 2, 0}, 3);
    tn_tensor *out = tn_empty(LIST(3), 1, TN_FLOAT32);
    assert_int_equal(tn_add_out(out, y, x), TN_OK);
    assert_elements(out, (const float[]){0, 0, 0}, 3);
    assert_true(tn_equal(y, tn_neg(x)));
    tn_scope_end(scope);
}

static void writing_writes_what_is_meant(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((const float[]){1, -2, 3}, LIST(3), 1, TN_FLOAT32), *y = neg_view(x);
    int64_t version = tn_version(x);
    assert_int_equal(tn_add_scalar_(y, tn_int(10)), TN_OK);
    assert_int_equal(tn_version(x), version + 1);
    assert_elements(y, (const float[]){9, 12, 7}, 3);
    assert_elements(x, (const float[]){-9, -12, -7}, 3);
    assert_int_equal(tn_add_(y, x), TN_OK); /* reads what it writes */
    assert_elements(x, (const float[]){-0.0f, -0.0f, -0.0f}, 3);
    assert_int_equal(tn_fill_(tn_select(y, 0, 1), tn_float(5)), TN_OK);
    assert_elements(x, (const float[]){-0.0f, -5, -0.0f}, 3);
    assert_int_equal(tn_copy_(y, tn_ones(LIST(1), 1, TN_FLOAT64)), TN_OK);
    assert_elements(x, (const float[]){-1, -1, -1}, 3);
    version = tn_version(x);
    assert_int_not_equal(tn_add_(y, tn_ones(LIST(2), 1, TN_FLOAT32)), TN_OK);
    tn_error_clear();
    assert_int_not_equal(tn_add_(tn_expand(tn_select(y, 0, 0), LIST(3), 1), x), TN_OK);
    expect_error(TN_ERROR_OVERLAP, "");
    assert_int_not_equal(tn_add_out(y, tn_ones(LIST(2), 1, TN_FLOAT32), tn_ones(LIST(2), 1, TN_FLOAT32)), TN_OK);
    expect_error(TN_ERROR_STATE, "another shape");
    assert_int_equal(tn_version(x), version);
    assert_elements(x, (const float[]){-1, -1, -1}, 3);
    tn_scope_end(scope);
}

static void zero_tensors_have_no_memory(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((const float[]){1, NAN, 3}, LIST(3), 1, TN_FLOAT32);
    tn_tensor *zero = tn_zero_tensor(LIST(1 << 20, 3), 2, TN_FLOAT32);
    assert_true(tn_is_zero_tensor(zero) && tn_tensor_device(zero).type == TN_CPU);
    assert_true(tn_is_zero_tensor(tn_t(zero)));
    assert_true(tn_is_zero_tensor(tn_mul(zero, x)));
    assert_true(tn_is_zero_tensor(tn_div(zero, x)));
    assert_false(tn_is_zero_tensor(tn_div(x, tn_select(zero, 0, 0))));
    tn_tensor *row = tn_select(zero, 0, 7);
    assert_elements(tn_add(row, x), (const float[]){1, NAN, 3}, 3);
    assert_elements(tn_clone(row), (const float[]){0, 0, 0}, 3);
    assert_false(tn_is_zero_tensor(tn_clone(row)));
    assert_float_equal(tn_item(tn_select(row, 0, 0)), 0, 0);
    assert_float_equal(tn_item(tn_sum(row, NULL, 0, false, TN_DTYPE_NONE)), 0, 0);
    assert_int_not_equal(tn_add_(row, x), TN_OK);
    expect_error(TN_ERROR_STATE, "no memory");
    assert_int_equal(tn_add_(x, row), TN_OK);
    tn_scope_end(scope);
}

static void memory_can_fail_anywhere(void **state)
{
    (void)state;
    for (int64_t k = 0;; k++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = tn_from_array((const float[]){1, -2, 3}, LIST(3), 1, TN_FLOAT32), *y = neg_view(x);
        tn_tensor *zero = tn_zero_tensor(LIST(3), 1, TN_FLOAT32);
        int64_t version = tn_version(x);
        tn_fail_allocation(k, false);
        tn_tensor *sum = tn_add(tn_mul(y, y), zero);
        bool failed = tn_add_(y, sum) != TN_OK;
        tn_fail_allocation(-1, false);
        tn_error_clear();
        assert_int_equal(tn_version(x), failed ? version : version + 1);
        if (failed)
            assert_elements(x, (const float[]){1, -2, 3}, 3);
        else
            assert_elements(x, (const float[]){-0.0f, -6, -6}, 3);
        tn_scope_end(scope);
        if (!failed)
            return;
    }
}

TEST_MAIN(test(conj_is_a_view), test(raw_data_is_refused), test(kernels_see_what_is_meant),
          test(writing_writes_what_is_meant), test(zero_tensors_have_no_memory), test(memory_can_fail_anywhere))
