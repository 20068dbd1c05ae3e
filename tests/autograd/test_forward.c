/* Forward mode: what has a tangent and what has none, views, writes, levels, errors. Numbers are PyTorch 2.15's. */
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static tn_tensor *vector(int n, const float *numbers)
{
    const int64_t size = n;
    return tn_from_array(numbers, &size, 1, TN_FLOAT32);
}

#define V(...) vector((int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (float[]){__VA_ARGS__})

/* x has these elements, in the order of its indices. */
static void is_at(int line, tn_tensor *x, int n, const float *numbers)
{
    if (!x)
        fail_msg("line %d: no tensor: %s", line, tn_error_message());
    tn_tensor *flat = tn_to(tn_reshape(tn_detach(x), (int64_t[]){-1}, 1), TN_FLOAT32);
    if (!flat || tn_numel(flat) != n)
        fail_msg("line %d: %s", line, flat ? "another number of elements" : tn_error_message());
    const float *have = tn_data(tn_clone(flat));
    for (int i = 0; i < n; i++)
        if (have[i] != numbers[i])
            fail_msg("line %d: element %d is %g, needed %g", line, i, have[i], numbers[i]);
}

#define IS(x, ...)                                                                                                     \
    is_at(__LINE__, (x), (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)), (float[]){__VA_ARGS__})

static tn_scope scope;

static void begin(void)
{
    scope = tn_scope_begin();
    assert_int_equal(tn_enter_dual_level(), TN_OK);
}

static void end(void)
{
    EXPECT(TN_OK);
    assert_int_equal(tn_exit_dual_level(), TN_OK);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static void test_product(void **state)
{
    (void)state;
    begin();
    tn_tensor *x = V(2, 3), *t = V(1, 10), *d = tn_make_dual(x, t);
    tn_tensor *y = tn_add(tn_mul(d, d), d);
    IS(y, 6, 12);
    IS(tn_tangent(y), 5, 70);
    assert_ptr_equal(tn_tangent(d), t);
    assert_null(tn_tangent(x));
    assert_null(tn_tangent(tn_primal(y)));
    assert_ptr_equal(tn_base(tn_primal(y)), y);
    IS(tn_tangent(tn_mul_scalar(d, tn_float(3))), 3, 30);
    IS(tn_tangent(tn_add_scalar(d, tn_float(3))), 1, 10);
    assert_null(tn_tangent(tn_mul(x, x)));
    end();
}

static tn_tensor *dual(tn_tensor *x, tn_tensor *t)
{
    return tn_make_dual(x, t);
}

static void test_who_has_none(void **state)
{
    (void)state;
    begin();
    tn_tensor *d = dual(V(2, 3), V(1, 10));
    assert_null(tn_tangent(tn_detach(d)));
    assert_null(tn_tangent(tn_tensor_data(d)));
    assert_null(tn_tangent(tn_to(d, TN_INT32)));
    assert_null(tn_tangent(tn_gt(d, V(1, 1))));
    assert_null(tn_tangent(tn_zeros_like(d, TN_DTYPE_NONE, TN_PRESERVE_FORMAT)));
    IS(tn_tangent(tn_to(d, TN_FLOAT64)), 1, 10);
    tn_grad_mode mode = tn_no_grad();
    IS(tn_tangent(tn_mul(d, d)), 4, 60);
    tn_grad_mode_restore(mode);
    mode = tn_inference_mode();
    assert_null(tn_tangent(tn_mul(d, d)));
    tn_grad_mode_restore(mode);
    end();
}

static void test_levels(void **state)
{
    (void)state;
    assert_false(tn_in_dual_level());
    assert_int_equal(tn_exit_dual_level(), TN_ERROR_FORWARD_AD);
    EXPECT(TN_ERROR_FORWARD_AD);
    tn_scope outer = tn_scope_begin();
    tn_tensor *x = V(2, 3), *t = V(1, 10);
    REFUSED(tn_make_dual(x, t), TN_ERROR_FORWARD_AD);
    assert_ptr_equal(tn_primal(x), x);
    begin();
    assert_true(tn_in_dual_level());
    assert_int_equal(tn_enter_dual_level(), TN_ERROR_FORWARD_AD);
    EXPECT(TN_ERROR_FORWARD_AD);
    tn_tensor *d = tn_retain(dual(x, t)), *y = tn_retain(tn_mul(d, d));
    assert_int_equal(tn_use_count(t), 2);
    end();
    assert_int_equal(tn_use_count(t), 1);
    assert_null(tn_tangent(d));
    assert_null(tn_tangent(y));
    begin();
    assert_null(tn_tangent(tn_mul(d, y)));
    IS(tn_tangent(tn_mul(dual(d, t), y)), 4, 90);
    TN_FAIL(TN_ERROR_STATE, "test", "an error is pending");
    assert_int_equal(tn_exit_dual_level(), TN_ERROR_STATE);
    assert_false(tn_in_dual_level());
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_scope_end(scope), TN_OK);
    tn_release(&d);
    tn_release(&y);
    assert_int_equal(tn_scope_end(outer), TN_OK);
}

static void test_errors(void **state)
{
    (void)state;
    begin();
    tn_tensor *x = V(2, 3), *t = V(1, 10), *d = dual(x, t), *numbers = tn_to(x, TN_INT64);
    REFUSED(dual(NULL, t), TN_ERROR_NULL);
    REFUSED(dual(x, NULL), TN_ERROR_NULL);
    REFUSED(dual(numbers, t), TN_ERROR_DTYPE);
    REFUSED(dual(x, numbers), TN_ERROR_DTYPE);
    REFUSED(dual(x, V(1)), TN_ERROR_FORWARD_AD);
    REFUSED(dual(d, t), TN_ERROR_FORWARD_AD);
    REFUSED(dual(x, d), TN_ERROR_FORWARD_AD);
    REFUSED(tn_tangent(NULL), TN_ERROR_NULL);
    REFUSED(tn_primal(NULL), TN_ERROR_NULL);
    assert_int_equal(tn_add_out(V(0, 0), d, x), TN_ERROR_NOT_IMPLEMENTED);
    EXPECT(TN_ERROR_NOT_IMPLEMENTED);
    tn_tensor *y = tn_mul(d, x);
    assert_int_equal(tn_resize_(y, (int64_t[]){3}, 1), TN_ERROR_FORWARD_AD);
    EXPECT(TN_ERROR_FORWARD_AD);
    REFUSED(dual(tn_expand(V(1), (int64_t[]){3}, 1), V(1, 2, 3)), TN_ERROR_OVERLAP);
    IS(tn_tangent(y), 2, 30);
    assert_int_equal(tn_tensor_dtype(tn_tangent(dual(x, tn_to(t, TN_FLOAT64)))), TN_FLOAT64);
    end();
}

static void test_writes(void **state)
{
    (void)state;
    begin();
    tn_tensor *t = V(1, 1), *d = dual(V(2, 3), t), *c = tn_zeros((int64_t[]){2}, 1, TN_FLOAT32);
    tn_mul_(d, d);
    IS(d, 4, 9);
    IS(tn_tangent(d), 6, 12); /* as PyTorch has it: the second operand is read after the write */
    assert_ptr_equal(tn_tangent(d), t);
    tn_copy_(c, d);
    IS(tn_tangent(c), 6, 12);
    assert_ptr_not_equal(tn_tangent(c), t);
    tn_add_(c, V(1, 1));
    tn_mul_(c, V(2, 3));
    IS(tn_tangent(c), 12, 36);
    tn_mul_scalar_(c, tn_float(0.5));
    IS(tn_tangent(c), 6, 18);
    tn_copy_(c, V(1, 1));
    IS(tn_tangent(c), 0, 0);
    IS(tn_tangent(d), 6, 12);
    tn_fill_(d, tn_float(3));
    IS(tn_tangent(d), 0, 0);
    tn_tensor *e = tn_mul(dual(V(2, 3), V(1, 10)), V(1, 1));
    tn_set_data(e, V(9, 9));
    IS(tn_tangent(e), 1, 10);
    tn_detach_(e);
    assert_null(tn_tangent(e));
    e = tn_view(tn_mul(dual(V(2, 3), V(1, 10)), V(1, 1)), (int64_t[]){2, 1}, 2);
    tn_t_(e);
    assert_int_equal(tn_sizes(tn_tangent(e))[1], 2);
    tn_tensor *whole = tn_to(V(1, 2), TN_INT64);
    tn_copy_(whole, dual(V(5, 6), V(1, 1)));
    IS(whole, 5, 6);
    assert_null(tn_tangent(whole));
    end();
}

static void test_views(void **state)
{
    (void)state;
    begin();
    tn_tensor *base = tn_arange(tn_int(0), tn_int(4), tn_int(1), TN_FLOAT32);
    tn_tensor *before = tn_narrow(base, 0, 2, 2), *view = tn_narrow(base, 0, 1, 2);
    assert_null(tn_tangent(before));
    tn_mul_(view, dual(V(2, 3), V(1, 10)));
    IS(base, 0, 2, 6, 3);
    IS(tn_tangent(base), 0, 1, 20, 0);
    IS(tn_tangent(view), 1, 20);
    IS(tn_tangent(before), 20, 0);
    tn_mul_scalar_(before, tn_float(2));
    IS(tn_tangent(base), 0, 1, 40, 0);
    IS(tn_tangent(view), 1, 40);
    assert_ptr_equal(tn_storage_of(tn_tangent(view)), tn_storage_of(tn_tangent(base)));

    tn_tensor *square = tn_view(tn_arange(tn_int(0), tn_int(4), tn_int(1), TN_FLOAT32), (int64_t[]){2, 2}, 2);
    tn_tensor *turned = tn_t(square), *ones = tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT32);
    tn_mul_(turned, dual(ones, tn_clone(square)));
    IS(tn_tangent(square), 0, 2, 2, 9);
    IS(tn_tangent(turned), 0, 2, 2, 9);

    tn_tensor *x = V(0, 1), *other = tn_narrow(x, 0, 1, 1), *d = dual(x, V(1, 10));
    assert_null(tn_tangent(other));
    tn_tensor *part = tn_narrow(d, 0, 1, 1);
    tn_mul_scalar_(part, tn_float(5));
    IS(tn_tangent(d), 1, 50);
    assert_null(tn_tangent(x));

    tn_tensor *inside = dual(tn_narrow(V(0, 1, 2, 3), 0, 1, 2), V(5, 6));
    assert_int_equal(tn_storage_offset(tn_tangent(inside)), 1);
    assert_int_equal(tn_storage_nbytes(tn_tangent(inside)), 16);
    end();
}

static void test_complex(void **state)
{
    (void)state;
    begin();
    const int64_t two = 2;
    tn_tensor *c = tn_from_array((const float[]){1, 1, 1, 1}, &two, 1, TN_COMPLEX64);
    tn_tensor *d = dual(c, tn_from_array((const float[]){1, 2, 0, 3}, &two, 1, TN_COMPLEX64));
    IS(tn_tangent(tn_real(d)), 1, 0);
    IS(tn_tangent(tn_imag(d)), 2, 3);
    IS(tn_tangent(tn_imag(tn_conj(d))), -2, -3);
    tn_tensor *y = tn_tangent(tn_mul(d, dual(V(3, 3), V(1, 2))));
    IS(tn_real(y), 4, 2);
    IS(tn_imag(y), 7, 11);
    tn_tensor *r = tn_zeros(&two, 1, TN_COMPLEX64), *parts = tn_view_as_real(r);
    tn_copy_(parts, dual(tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT32), tn_ones((int64_t[]){2, 2}, 2, TN_FLOAT32)));
    IS(tn_real(tn_tangent(r)), 1, 1);
    IS(tn_imag(tn_tangent(r)), 1, 1);
    end();
}

static void test_numbers_and_absent_tangents(void **state)
{
    (void)state;
    begin();
    tn_tensor *x = V(2, 3), *d = dual(x, V(1, 10));
    IS(tn_tangent(tn_add_alpha(x, d, tn_float(2))), 2, 20);
    IS(tn_tangent(tn_add(d, tn_to(x, TN_INT64))), 1, 10);
    IS(tn_tangent(tn_mul(tn_to(x, TN_INT64), d)), 2, 30);
    tn_tensor *wide = tn_add(tn_zeros((int64_t[]){2, 2}, 2, TN_FLOAT32), d);
    IS(tn_tangent(wide), 1, 10, 1, 10);
    IS(tn_tangent(tn_mul(wide, V(1, 2))), 1, 20, 1, 20);
    const int64_t tall[] = {2, 1};
    tn_tensor *column = dual(tn_ones(tall, 2, TN_FLOAT32), tn_full(tall, 2, tn_float(3), TN_FLOAT32));
    IS(tn_tangent(tn_mul(column, x)), 6, 9, 6, 9);
    assert_string_equal(tn_repr(d), "tensor([2., 3.], tangent=tensor([ 1., 10.]))");
    end();
}

/* Hessian times vector both ways: x^3 in 2 and 3, along 1 and 10. */
static void test_over_reverse(void **state)
{
    (void)state;
    begin();
    tn_tensor *x = V(2, 3);
    tn_requires_grad_(x, true);
    tn_tensor *d = dual(x, V(1, 10));
    tn_tensor *y = tn_sum(tn_mul(tn_mul(d, d), d), NULL, 0, false, TN_FLOAT32);
    assert_true(tn_requires_grad(y));
    IS(tn_tangent(y), 12 + 270);
    tn_list *grads = tn_grad(&y, NULL, 1, &d, 1, &(tn_grad_options){.retain_graph = true});
    IS(tn_list_get(grads, 0), 12, 27);
    IS(tn_tangent(tn_list_get(grads, 0)), 12, 180);
    tn_tensor *dy = tn_tangent(y);
    assert_true(tn_requires_grad(dy));
    grads = tn_grad(&dy, NULL, 1, &x, 1, NULL);
    IS(tn_list_get(grads, 0), 12, 180);
    end();
}

/* The tangent's gradient reaches tangents, too, through lists and operators without a rule of their own. */
static void test_gradient_of_tangents(void **state)
{
    (void)state;
    begin();
    tn_tensor *t = V(1, 10), *w = V(1, 1, 1, 1);
    tn_requires_grad_(t, true);
    tn_tensor *d = dual(V(2, 4), t);
    tn_tensor *y = tn_div(tn_cat((tn_tensor *[]){d, tn_mul(d, d)}, 2, 0), V(2, 2, 4, 4)), *dy = tn_tangent(y);
    IS(dy, 0.5, 5, 1, 20);
    tn_list *grads = tn_grad(&dy, &w, 1, &t, 1, NULL);
    IS(tn_list_get(grads, 0), 1.5, 2.5);
    tn_tensor *leaf = V(1, 1);
    tn_requires_grad_(leaf, true);
    tn_tensor *e = dual(V(2, 3), leaf);
    assert_int_equal(tn_mul_scalar_(e, tn_float(2)), TN_ERROR_INPLACE_LEAF);
    EXPECT(TN_ERROR_INPLACE_LEAF);
    end();
}

/* What the walk finds saved has its tangent: an argument, a result, and a value that was overwritten since. */
static void test_saved_tensors(void **state)
{
    (void)state;
    begin();
    tn_tensor *x = V(4, 16), *ones = V(1, 1);
    tn_requires_grad_(x, true);
    tn_tensor *d = dual(x, V(8, 64)), *root = tn_sqrt(d); /* 1 / (2 sqrt x), and - t / (4 x^1.5) */
    IS(tn_tangent(root), 2, 8);
    tn_tensor *g = tn_list_get(tn_grad(&root, &ones, 1, &d, 1, NULL), 0);
    IS(g, 0.25, 0.125);
    IS(tn_tangent(g), -0.25, -0.25);
    tn_tensor *y = tn_mul(d, V(1, 1));
    tn_sqrt_(y);
    IS(tn_tangent(y), 2, 8);
    g = tn_list_get(tn_grad(&y, &ones, 1, &d, 1, NULL), 0);
    IS(tn_tangent(g), -0.25, -0.25);
    y = tn_mul(d, V(1, 1));
    tn_square_(y);
    IS(tn_tangent(y), 64, 2048);
    g = tn_list_get(tn_grad(&y, &ones, 1, &d, 1, NULL), 0);
    IS(g, 8, 32);
    IS(tn_tangent(g), 16, 128);
    end();
}

static tn_tensor *values_and_lists(tn_tensor *x, tn_tensor *t)
{
    tn_tensor *d = dual(x, t), *many[9];
    for (int i = 0; i < 9; i++)
        many[i] = i % 2 ? x : tn_div(d, x);
    return tn_tangent(tn_cat(many, 9, 0));
}

static tn_tensor *written_views(tn_tensor *x, tn_tensor *t)
{
    tn_tensor *base = tn_zeros((int64_t[]){4}, 1, TN_FLOAT32), *view = tn_narrow(base, 0, 1, 2);
    tn_tensor *other = tn_narrow(base, 0, 0, 2);
    tn_copy_(view, dual(x, t));
    tn_mul_(view, view);
    tn_sqrt_(view);
    tn_tangent(other);
    return tn_tangent(base);
}

static tn_tensor *walked(tn_tensor *x, tn_tensor *t)
{
    tn_tensor *d = dual(x, t), *y = tn_sqrt(tn_mul(d, d)), *ones = tn_ones((int64_t[]){2}, 1, TN_FLOAT32);
    tn_list *grads = y ? tn_grad(&y, &ones, 1, &d, 1, &(tn_grad_options){.create_graph = true}) : NULL;
    return grads ? tn_tangent(tn_list_get(grads, 0)) : NULL;
}

typedef tn_tensor *(*program)(tn_tensor *x, tn_tensor *t);

/* Runs it with allocation k failing; false if there was no such one. `grown`: blocks that stayed in use. */
static bool fails_at(program run, bool tracked, int k, bool for_good, int64_t *grown)
{
    int64_t blocks = tn_get_memory_stats().live_blocks;
    begin();
    tn_tensor *x = V(2, 4), *t = V(1, 10);
    tn_requires_grad_(x, tracked);
    tn_fail_allocation(k, for_good);
    tn_tensor *y = run(x, t);
    bool failed = tn_allocation_failed();
    tn_fail_allocation(-1, false);
    if (tn_error_code() != (failed ? TN_ERROR_MEMORY : TN_OK) || !y != failed)
        fail_msg("allocation %d%s: %s", k, for_good ? " and all after it" : "", tn_error_message());
    tn_error_clear();
    end();
    *grown = tn_get_memory_stats().live_blocks - blocks;
    return failed;
}

/* Any allocation may fail: the error says so, the level closes, and nothing stays behind it (a tangent's history
 * may hold what it is the tangent of). The first round sets up what
 * the thread keeps. */
static void test_allocations(void **state)
{
    (void)state;
    static const program programs[] = {values_and_lists, written_views, walked};
    for (int p = 0; p < 3; p++)
        for (int round = 0; round < 3; round++) {
            int64_t grown;
            for (int k = 0; fails_at(programs[p], p == 2, k, round == 2, &grown); k++) {
                assert_true(k < 1000);
                if (round > 0 && grown > 0)
                    fail_msg("program %d, allocation %d: %d blocks stay in use", p, k, (int)grown);
            }
        }
}

TEST_MAIN(test(test_allocations), test(test_over_reverse), test(test_gradient_of_tangents), test(test_saved_tensors),
          test(test_product), test(test_who_has_none), test(test_levels), test(test_errors), test(test_writes),
          test(test_views), test(test_complex), test(test_numbers_and_absent_tangents))
