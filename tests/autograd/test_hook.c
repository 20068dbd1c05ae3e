/* Hooks: their order, what they may change, and hooks that take themselves off, fail, or give what does not fit. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static char seen[256]; /* letters of the hooks that ran */

typedef struct hook {
    char letter;
    double factor;      /* of what it gives; 0: nothing */
    tn_tensor *remove_from;
    int64_t handle;
    tn_status error;    /* raised */
    tn_tensor *gives;
    double got;         /* first element of what it saw */
} hook;

static tn_tensor *on_grad(void *context, tn_tensor *grad)
{
    hook *h = context;
    size_t n = strlen(seen);
    seen[n] = h->letter;
    seen[n + 1] = '\0';
    h->got = *(const double *)tn_data(grad);
    if (h->remove_from)
        tn_hook_remove(h->remove_from, h->handle);
    if (h->error)
        TN_FAIL(h->error, "hook", "raised on purpose");
    if (h->gives)
        return h->gives;
    return h->factor != 0 ? tn_mul_scalar(grad, tn_float(h->factor)) : NULL;
}

static tn_tensor *leaf(void)
{
    tn_tensor *x = tn_full((int64_t[]){2}, 1, tn_float(3), TN_FLOAT64);
    tn_requires_grad_(x, true);
    seen[0] = '\0';
    return x;
}

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static double grad_of(const tn_tensor *x)
{
    return tn_grad_of(x) ? *(const double *)tn_data(tn_grad_of(x)) : 0;
}

static void order(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(), *h = tn_mul(x, x);
    hook a = {.letter = 'a', .factor = 2}, b = {.letter = 'b'}, c = {.letter = 'c', .factor = 10};
    hook p = {.letter = 'p'}, q = {.letter = 'q'};
    tn_register_hook(h, on_grad, &b);
    tn_retain_grad(h);
    tn_register_hook(h, on_grad, &c);
    tn_register_post_accumulate_grad_hook(x, on_grad, &p);
    tn_register_hook(x, on_grad, &a);
    tn_register_post_accumulate_grad_hook(x, on_grad, &q);
    assert_int_equal(tn_backward(sum(h)), TN_OK);
    assert_string_equal(seen, "bcapq");
    assert_true(b.got == 1 && c.got == 1 && a.got == 60 && p.got == 120);
    assert_true(grad_of(h) == 10); /* after all its hooks, later ones included */
    assert_true(grad_of(x) == 120);
    tn_scope_end(scope);
}

/* A hook that takes itself off, or another that was to come, or one that was before it. */
static void removal(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    for (int which = 0; which < 3; which++) {
        tn_tensor *x = leaf();
        hook hooks[] = {{.letter = 'a', .factor = 2}, {.letter = 'b', .factor = 3}, {.letter = 'c', .factor = 5}};
        int64_t handles[3];
        for (int i = 0; i < 3; i++) {
            handles[i] = tn_register_hook(x, on_grad, &hooks[i]);
            assert_true(handles[i] > 0);
        }
        hooks[1].remove_from = x;
        hooks[1].handle = handles[which];
        assert_int_equal(tn_backward(sum(x)), TN_OK);
        assert_string_equal(seen, which == 2 ? "ab" : "abc");
        assert_true(grad_of(x) == (which == 2 ? 6 : 30));
        seen[0] = '\0';
        tn_backward(sum(x));
        assert_string_equal(seen, which == 0 ? "bc" : which == 1 ? "ac" : "ab");
        assert_int_equal(tn_hook_remove(x, handles[which]), TN_OK); /* gone already */
        assert_int_equal(tn_hook_remove(x, 123456789), TN_OK);
    }
    tn_scope_end(scope);
}

static void errors(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(), *h = tn_mul(x, x);
    hook fails = {.letter = 'f', .error = TN_ERROR_STATE}, never = {.letter = 'n'};
    int64_t handle = tn_register_hook(h, on_grad, &fails);
    tn_register_hook(h, on_grad, &never);
    tn_register_hook(x, on_grad, &never);
    const tn_backward_options keep = {.retain_graph = true};
    tn_tensor *y = sum(h);
    assert_int_equal(tn_backward_with(y, NULL, &keep), TN_ERROR_STATE);
    assert_string_equal(seen, "f");
    tn_error_clear();
    assert_null(tn_grad_of(x));
    const int64_t other[] = {3}, *sizes[] = {other, (int64_t[]){2}, (int64_t[]){2}};
    const tn_dtype dtypes[] = {TN_FLOAT64, TN_FLOAT32, TN_INT64};
    fails.error = TN_OK;
    for (int i = 0; i < 3; i++) { /* another shape or dtype than the gradient's */
        fails.gives = tn_ones(sizes[i], 1, dtypes[i]);
        assert_int_equal(tn_backward_with(y, NULL, &keep), TN_ERROR_GRAD);
        tn_error_clear();
        assert_null(tn_grad_of(x));
    }
    tn_hook_remove(h, handle);
    seen[0] = '\0';
    assert_int_equal(tn_backward(y), TN_OK); /* the graph is as it was */
    assert_string_equal(seen, "nn");
    assert_true(grad_of(x) == 6);
    tn_register_hook(tn_ones(other, 1, TN_FLOAT64), on_grad, &never);
    assert_int_equal(tn_error_code(), TN_ERROR_NO_GRAPH);
    tn_error_clear();
    tn_register_post_accumulate_grad_hook(h, on_grad, &never);
    assert_int_equal(tn_error_code(), TN_ERROR_NOT_LEAF);
    tn_error_clear();
    assert_true(tn_register_hook(x, NULL, &never) == 0);
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    tn_scope_end(scope);
}

/* A hook stays with the value that the tensor had when it came. */
static void before_a_write(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(), *h = tn_add(x, x), *two = tn_full(NULL, 0, tn_float(2), TN_FLOAT64);
    hook old = {.letter = 'o'}, new = {.letter = 'n'};
    tn_register_hook(h, on_grad, &old);
    assert_int_equal(tn_mul_(h, two), TN_OK);
    tn_register_hook(h, on_grad, &new);
    assert_int_equal(tn_backward(sum(h)), TN_OK);
    assert_string_equal(seen, "no");
    assert_true(new.got == 1 && old.got == 2 && grad_of(x) == 4);
    tn_scope_end(scope);
}

/* Walks inside a hook, and a graph that the hook's result leads to. */
static tn_tensor *walks(void *context, tn_tensor *grad)
{
    tn_tensor *x = context;
    (void)grad;
    tn_grad_mode mode = tn_enable_grad();
    tn_backward(sum(tn_mul(x, x)));
    tn_grad_mode_restore(mode);
    return NULL;
}

static void reentrant(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(), *other = leaf();
    tn_register_hook(x, walks, other);
    assert_int_equal(tn_backward(sum(tn_add(x, x))), TN_OK);
    assert_true(grad_of(x) == 2 && grad_of(other) == 6);
    tn_scope_end(scope);
}

/* In tn_grad, hooks of inputs and of what leads to them run; those of other leaves and after accumulation do not. */
static void in_grad(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(), *h = tn_add(x, x), *y = sum(tn_mul(h, h));
    hook a = {.letter = 'h', .factor = 2}, b = {.letter = 'x', .factor = 3}, c = {.letter = 'p'};
    tn_register_hook(h, on_grad, &a);
    tn_register_hook(x, on_grad, &b);
    tn_register_post_accumulate_grad_hook(x, on_grad, &c);
    tn_tensor *const outputs[] = {y}, *const of_h[] = {h}, *const both[] = {h, x};
    const tn_grad_options keep = {.retain_graph = true};
    tn_list *list = tn_grad(outputs, NULL, 1, of_h, 1, &keep);
    assert_string_equal(seen, "h");
    assert_true(*(const double *)tn_data(tn_list_get(list, 0)) == 24);
    list = tn_grad(outputs, NULL, 1, both, 2, &keep);
    assert_string_equal(seen, "hhx");
    assert_true(*(const double *)tn_data(tn_list_get(list, 0)) == 12); /* on the way to x: not yet seen by the hook */
    assert_true(*(const double *)tn_data(tn_list_get(list, 1)) == 12 * 2 * 2 * 3);
    tn_scope_end(scope);
}

TEST_MAIN(test(order), test(removal), test(errors), test(before_a_write), test(reentrant), test(in_grad))
