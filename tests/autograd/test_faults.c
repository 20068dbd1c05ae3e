/* Every allocation failing in turn while a graph is recorded, walked and ended: TN_ERROR_MEMORY, nothing leaks, and a
 * next attempt gets the right gradients. */
#include <tenon/tenon.h>

#include "support/test.h"

enum { MOST = 4000 };

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static tn_tensor *doubled(void *context, tn_tensor *grad)
{
    (void)context;
    return tn_mul_scalar(grad, tn_float(2));
}

static void plain(tn_tensor *x, tn_tensor *w)
{
    tn_backward(sum(tn_mul(tn_add(x, w), w)));
}

static void with_views(tn_tensor *x, tn_tensor *w)
{
    tn_tensor *h = tn_mul(x, w), *rows = tn_view(h, (int64_t[]){2, 2}, 2), *row = tn_select(rows, 0, 1);
    tn_mul_(row, tn_narrow(w, 0, 0, 2));
    tn_backward(sum(tn_mul(tn_expand(h, (int64_t[]){3, 4}, 2), h)));
}

static void with_hooks(tn_tensor *x, tn_tensor *w)
{
    tn_tensor *h = tn_mul(x, w);
    tn_register_hook(h, doubled, NULL);
    tn_retain_grad(h);
    int64_t a = tn_register_hook(x, doubled, NULL), b = tn_register_post_accumulate_grad_hook(w, doubled, NULL);
    tn_backward(sum(h));
    tn_error saved; /* removal works on a clean slate */
    tn_error_push(&saved);
    tn_hook_remove(x, a);
    tn_hook_remove(w, b);
    tn_error_pop(&saved);
}

static void twice(tn_tensor *x, tn_tensor *w)
{
    tn_tensor *y = sum(tn_mul(tn_mul(x, w), w)), *const outputs[] = {y}, *const inputs[] = {x, w};
    tn_list *list = tn_grad(outputs, NULL, 1, inputs, 2, &(tn_grad_options){.create_graph = true});
    tn_backward(sum(list ? tn_list_get(list, 1) : NULL));
}

static void to_inputs(tn_tensor *x, tn_tensor *w)
{
    tn_tensor *h = tn_mul(x, w), *inputs[] = {h, w};
    tn_backward_with(sum(tn_mul(h, h)), NULL, &(tn_backward_options){.inputs = inputs, .n_inputs = 2});
}

/* Many gradients under way at once: the walk's own memory grows. */
static void wide(tn_tensor *x, tn_tensor *w)
{
    tn_tensor *parts[80], *total = x;
    for (int i = 0; i < 80; i++)
        parts[i] = tn_mul(x, w);
    for (int i = 0; i < 80; i++)
        total = tn_add(total, parts[i]);
    tn_backward(sum(total));
}

static const struct way {
    const char *name;
    void (*run)(tn_tensor *x, tn_tensor *w);
} ways[] = {{"plain", plain},   {"with_views", with_views}, {"with_hooks", with_hooks},
            {"twice", twice},   {"to_inputs", to_inputs},   {"wide", wide}};

/* The k-th allocation fails; the values of x's and w's gradients, or false when it failed. */
static bool run(const struct way *way, int k, bool for_good, double *gradients)
{
    tn_scope scope = tn_scope_begin();
    const double data[] = {1, 2, 3, 4};
    tn_tensor *x = tn_from_array(data, (int64_t[]){4}, 1, TN_FLOAT64), *w = tn_clone(x);
    tn_requires_grad_(x, true);
    tn_requires_grad_(w, true);
    tn_fail_allocation(k, for_good);
    tn_scope inner = tn_scope_begin();
    way->run(x, w);
    tn_scope_end(inner);
    bool failed = tn_allocation_failed();
    tn_fail_allocation(-1, false);
    if (failed != (tn_error_code() == TN_ERROR_MEMORY) || (!failed && tn_error_code()))
        fail_msg("%s, allocation %d%s: %s", way->name, k, failed ? " failed" : "", tn_error_message());
    tn_error_clear();
    for (int i = 0; !failed && i < 4; i++) {
        gradients[i] = tn_grad_of(x) ? ((const double *)tn_data(tn_grad_of(x)))[i] : 0;
        gradients[4 + i] = tn_grad_of(w) ? ((const double *)tn_data(tn_grad_of(w)))[i] : 0;
    }
    tn_set_grad(x, NULL);
    tn_set_grad(w, NULL);
    tn_scope_end(scope);
    return !failed;
}

static void every_allocation(void **state)
{
    int failures = 0;
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double right[8] = {0}, came[8];
        assert_true(run(&ways[i], MOST, false, right));
        assert_true(right[4] != 0);
        for (int how = 0; how < 2; how++) {
            int64_t blocks = tn_get_memory_stats().live_blocks;
            int k = 0;
            for (; !run(&ways[i], k, how, came); k++) {
                failures++;
                assert_true(k < MOST);
                if (tn_get_memory_stats().live_blocks != blocks)
                    fail_msg("%s, allocation %d failed: %lld blocks more", ways[i].name, k,
                             (long long)(tn_get_memory_stats().live_blocks - blocks));
            }
            for (int g = 0; g < 8; g++)
                assert_true(came[g] == right[g]);
        }
    }
    assert_true(failures > 100);
}

TEST_MAIN(test(every_allocation))
