/* Inference mode: what is made in it, what may be done with it outside. */
#include <tenon/tenon.h>

#include "support/test.h"

static tn_tensor *ones(void)
{
    return tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT64);
}

static void check_refused(tn_status status)
{
    assert_int_equal(tn_error_code(), status);
    tn_error_clear();
}

static void marks(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = ones(), *plain = ones();
    tn_requires_grad_(x, true);
    tn_grad_mode before = tn_inference_mode();
    assert_true(tn_is_inference_mode());
    assert_false(tn_is_grad_enabled());
    const double data[] = {1, 2};
    tn_tensor *made[] = {ones(), tn_mul(x, x), tn_empty((int64_t[]){2}, 1, TN_FLOAT32),
                         tn_from_array(data, (int64_t[]){2}, 1, TN_FLOAT64), tn_clone(plain), tn_eq(x, plain),
                         tn_arange(tn_int(0), tn_int(3), tn_int(1), TN_DTYPE_NONE)};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        assert_non_null(made[i]);
        assert_true(tn_is_inference(made[i]));
        assert_false(tn_requires_grad(made[i]));
        assert_true(tn_is_inference(tn_flatten(made[i], 0, -1)));
    }
    tn_tensor *view = tn_t(plain), *alone = tn_detach(x), *same = tn_contiguous(x);
    assert_false(tn_is_inference(view) || tn_is_inference(alone) || tn_is_inference(same));
    assert_true(tn_is_view(view));
    assert_ptr_equal(same, x);
    assert_int_equal(tn_add_(plain, made[0]), TN_OK); /* counted: it is no tensor of the mode */
    assert_int_equal(tn_version(plain), 1);
    assert_int_equal(tn_add_(made[0], plain), TN_OK);
    tn_grad_mode inner = tn_enable_grad();
    assert_true(tn_is_grad_enabled());
    assert_false(tn_requires_grad(tn_mul(x, x)));
    tn_grad_mode_restore(inner);
    tn_grad_mode_restore(before);
    assert_false(tn_is_inference_mode());
    assert_true(tn_is_grad_enabled());
    assert_false(tn_is_inference(ones()));
    assert_true(tn_requires_grad(tn_mul(x, x)));
    tn_scope_end(scope);
}

static void outside(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = ones();
    tn_requires_grad_(x, true);
    tn_grad_mode before = tn_inference_mode();
    tn_tensor *z = ones(), *positions = tn_zeros((int64_t[]){1}, 1, TN_INT64);
    tn_grad_mode_restore(before);
    assert_null(tn_mul(x, z));
    check_refused(TN_ERROR_INFERENCE);
    assert_null(tn_index_select(x, 0, positions));
    check_refused(TN_ERROR_INFERENCE);
    const tn_index index[] = {tn_index_tensor(positions)};
    assert_null(tn_getitem(x, index, 1));
    check_refused(TN_ERROR_INFERENCE);
    tn_add_(z, ones());
    check_refused(TN_ERROR_INFERENCE);
    tn_zero_(tn_select(z, 0, 0));
    check_refused(TN_ERROR_INFERENCE);
    tn_version(z);
    check_refused(TN_ERROR_INFERENCE);
    tn_requires_grad_(z, true);
    check_refused(TN_ERROR_INFERENCE);
    tn_tensor *sum = tn_add(x, z), *copy = tn_clone(z); /* nothing of z is kept */
    assert_true(tn_requires_grad(sum));
    assert_false(tn_is_inference(copy));
    assert_int_equal(tn_version(copy), 1);
    assert_true(tn_is_inference(tn_select(z, 0, 0)));
    assert_false(tn_is_view(tn_select(z, 0, 0)));
    assert_int_equal(tn_backward(tn_sum(tn_mul(sum, copy), NULL, 0, false, TN_DTYPE_NONE)), TN_OK);
    tn_scope_end(scope);
}

/* A view of a tracked tensor that was made in the mode has no history, and loses it with a write. */
static void views(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = ones();
    tn_requires_grad_(x, true);
    tn_tensor *y = tn_mul(x, x);
    tn_grad_mode before = tn_inference_mode();
    tn_tensor *view = tn_select(y, 0, 0);
    tn_grad_mode_restore(before);
    assert_true(tn_requires_grad(view));
    assert_true(tn_is_leaf(view));
    tn_zero_(view);
    check_refused(TN_ERROR_INPLACE_VIEW);
    assert_int_equal(tn_add_(y, ones()), TN_OK);
    assert_null(tn_grad_fn(view));
    check_refused(TN_ERROR_INPLACE_VIEW);
    tn_scope_end(scope);
}

TEST_MAIN(test(marks), test(outside), test(views))
