/* Leaves and results: requires_grad, is_leaf, grad, retain_grad, walks from several roots and to chosen inputs, and
 * what is refused, which changes nothing. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static tn_tensor *leaf(double a, double b)
{
    const double data[] = {a, b};
    tn_tensor *x = tn_from_array(data, (int64_t[]){2}, 1, TN_FLOAT64);
    assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static void check(const tn_tensor *x, double a, double b)
{
    assert_non_null(x);
    assert_true(tn_numel(x) == 2);
    const double *data = tn_data(x);
    if (data[0] != a || data[tn_strides(x)[0]] != b)
        fail_msg("expected %g %g, came %g %g", a, b, data[0], data[tn_strides(x)[0]]);
}

static void check_refused(tn_status status)
{
    assert_int_equal(tn_error_code(), status);
    assert_true(strlen(tn_error_message()) > 10);
    tn_error_clear();
}

static void flags(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *plain = tn_ones((int64_t[]){2}, 1, TN_FLOAT64), *x = leaf(1, 2), *y = tn_mul(x, plain);
    assert_false(tn_requires_grad(plain));
    assert_true(tn_is_leaf(plain));
    assert_true(tn_requires_grad(x));
    assert_true(tn_is_leaf(x));
    assert_null(tn_grad_fn(x));
    assert_true(tn_requires_grad(y));
    assert_false(tn_is_leaf(y));
    assert_int_equal(tn_output_nr(y), 0);
    assert_int_equal(tn_requires_grad_(y, true), TN_OK);
    assert_int_equal(tn_requires_grad_(y, false), TN_ERROR_NOT_LEAF);
    check_refused(TN_ERROR_NOT_LEAF);
    assert_true(tn_requires_grad(y));
    assert_int_equal(tn_requires_grad_(x, false), TN_OK);
    assert_false(tn_requires_grad(x));
    assert_true(tn_requires_grad(y)); /* was recorded while x did */
    tn_tensor *whole = tn_ones((int64_t[]){2}, 1, TN_INT64);
    tn_requires_grad_(whole, true);
    check_refused(TN_ERROR_DTYPE);
    assert_false(tn_requires_grad(whole));
    assert_false(tn_requires_grad(NULL));
    check_refused(TN_ERROR_NULL);
    tn_scope_end(scope);
}

static void accumulates(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5);
    assert_null(tn_grad_of(x));
    tn_backward(sum(tn_mul(x, x)));
    check(tn_grad_of(x), 6, 10);
    const tn_tensor *first = tn_grad_of(x);
    tn_backward(sum(tn_add(x, x)));
    check(tn_grad_of(x), 8, 12);
    assert_ptr_equal(tn_grad_of(x), first); /* added in place */
    assert_int_equal(tn_set_grad(x, NULL), TN_OK);
    assert_null(tn_grad_of(x));
    tn_backward(sum(x));
    check(tn_grad_of(x), 1, 1);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

/* The gradient that the caller gives stays the caller's: nothing is accumulated into it. */
static void given_gradient(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *gradient = tn_full((int64_t[]){2}, 1, tn_float(2), TN_FLOAT64);
    const tn_backward_options keep = {.retain_graph = true};
    tn_tensor *y = tn_add(x, x);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tn_backward_with(y, gradient, &keep), TN_OK);
    check(tn_grad_of(x), 12, 12);
    check(gradient, 2, 2);
    assert_int_equal(tn_version(gradient), 0);
    tn_backward_with(x, gradient, NULL);
    check(tn_grad_of(x), 14, 14);
    check(gradient, 2, 2);
    tn_scope_end(scope);
}

static void set_grad(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *g = tn_ones((int64_t[]){2}, 1, TN_FLOAT64);
    assert_int_equal(tn_set_grad(x, g), TN_OK);
    assert_ptr_equal(tn_grad_of(x), g);
    tn_set_grad(x, tn_ones((int64_t[]){3}, 1, TN_FLOAT64));
    check_refused(TN_ERROR_GRAD);
    tn_set_grad(x, tn_ones((int64_t[]){2}, 1, TN_FLOAT32));
    check_refused(TN_ERROR_GRAD);
    tn_set_grad(x, x);
    check_refused(TN_ERROR_GRAD);
    assert_ptr_equal(tn_grad_of(x), g);
    tn_backward(sum(x)); /* into the tensor that was set */
    check(g, 2, 2);
    tn_scope_end(scope);
}

static void retained(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *h = tn_mul(x, x), *other = tn_mul(x, x);
    assert_int_equal(tn_retain_grad(h), TN_OK);
    assert_int_equal(tn_retain_grad(x), TN_OK);
    assert_true(tn_retains_grad(h));
    assert_false(tn_retains_grad(x));
    tn_backward(sum(tn_add(tn_mul(h, h), other)));
    check(tn_grad_of(h), 18, 50);
    assert_null(tn_grad_of(other));
    tn_retain_grad(tn_ones((int64_t[]){2}, 1, TN_FLOAT64));
    check_refused(TN_ERROR_NO_GRAPH);
    /* a result that ended before the walk wants nothing any more */
    tn_scope inner = tn_scope_begin();
    tn_tensor *gone = tn_mul(x, x);
    tn_retain_grad(gone);
    tn_tensor *y = sum(gone);
    tn_scope_escape(inner, y);
    tn_scope_end(inner);
    assert_int_equal(tn_backward(y), TN_OK);
    tn_scope_end(scope);
}

static void many_roots(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *shared = tn_mul(x, x), *a = sum(shared), *b = tn_mul(shared, x);
    tn_tensor *gradient = tn_ones((int64_t[]){2}, 1, TN_FLOAT64);
    tn_tensor *const outputs[] = {a, b, a}, *const gradients[] = {NULL, gradient, NULL};
    assert_int_equal(tn_backward_many(outputs, gradients, 3, NULL), TN_OK);
    check(tn_grad_of(x), 2 * 2 * 3 + 3 * 9, 2 * 2 * 5 + 3 * 25);
    tn_scope_end(scope);
}

/* Chosen inputs: others get nothing, a result among them keeps its gradient, what leads to none is not walked. */
static void chosen_inputs(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *w = leaf(2, 2), *h = tn_mul(x, w), *y = sum(tn_mul(h, h));
    tn_tensor *inputs[] = {h, w};
    tn_backward_options options = {.inputs = inputs, .n_inputs = 2, .retain_graph = true};
    assert_int_equal(tn_backward_with(y, NULL, &options), TN_OK);
    assert_null(tn_grad_of(x));
    check(tn_grad_of(w), 2 * 6 * 3, 2 * 10 * 5);
    check(tn_grad_of(h), 12, 20);
    options.n_inputs = 0;
    tn_backward_with(y, NULL, &options);
    check_refused(TN_ERROR_ARGUMENT);
    inputs[0] = tn_ones((int64_t[]){2}, 1, TN_FLOAT64);
    options.n_inputs = 1;
    tn_backward_with(y, NULL, &options);
    check_refused(TN_ERROR_NO_GRAPH);
    inputs[0] = y; /* the root itself: nothing is walked */
    assert_int_equal(tn_backward_with(y, NULL, &options), TN_OK);
    assert_true(tn_item(tn_grad_of(y)) == 1);
    tn_scope_end(scope);
}

static void grad_lists(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *w = leaf(2, 2), *unused = leaf(0, 0), *h = tn_mul(x, w), *y = sum(tn_mul(h, h));
    tn_tensor *const outputs[] = {y}, *const inputs[] = {x, h, x}, *const more[] = {x, unused};
    const tn_grad_options keep = {.retain_graph = true}, lenient = {.retain_graph = true, .allow_unused = true};
    tn_list *list = tn_grad(outputs, NULL, 1, inputs, 3, &keep);
    assert_int_equal(tn_list_size(list), 3);
    check(tn_list_get(list, 0), 2 * 6 * 2, 2 * 10 * 2);
    check(tn_list_get(list, 1), 12, 20);
    check(tn_list_get(list, 2), 2 * 6 * 2, 2 * 10 * 2);
    assert_null(tn_grad_of(x));
    assert_null(tn_grad(outputs, NULL, 1, more, 2, &keep));
    check_refused(TN_ERROR_GRAD);
    list = tn_grad(outputs, NULL, 1, more, 2, &lenient);
    check(tn_list_get(list, 0), 24, 40);
    assert_null(tn_list_tensors(list)[1]);
    assert_null(tn_grad(outputs, NULL, 1, NULL, 2, &keep));
    check_refused(TN_ERROR_NULL);
    assert_null(tn_grad(outputs, NULL, 0, inputs, 1, &keep));
    check_refused(TN_ERROR_ARGUMENT);
    tn_scope_end(scope);
}

/* The second derivative of x^3, and the third; and gradients of gradients that backward accumulated. */
static void twice(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *y = tn_mul(tn_mul(x, x), x);
    const tn_grad_options create = {.create_graph = true};
    const double expected[3][2] = {{27, 75}, {18, 30}, {6, 6}};
    for (int order = 0; order < 3; order++) {
        tn_tensor *const outputs[] = {sum(y)}, *const inputs[] = {x};
        tn_list *list = tn_grad(outputs, NULL, 1, inputs, 1, &create);
        y = tn_list_get(list, 0);
        check(y, expected[order][0], expected[order][1]);
    }
    x = leaf(3, 5);
    tn_backward_with(sum(tn_mul(x, x)), NULL, &(tn_backward_options){.create_graph = true});
    tn_tensor *grad = tn_grad_of(x);
    assert_true(tn_requires_grad(grad));
    tn_tensor *const outputs[] = {sum(grad)}, *const inputs[] = {x};
    check(tn_list_get(tn_grad(outputs, NULL, 1, inputs, 1, NULL), 0), 2, 2);
    tn_set_grad(x, NULL); /* x, its gradient and the graph between them hold one another */
    tn_scope_end(scope);
}

static void freed(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *y = sum(tn_mul(x, x)), *z = sum(tn_add(x, x));
    assert_int_equal(tn_backward(y), TN_OK);
    tn_backward(y);
    check_refused(TN_ERROR_GRAPH_FREED);
    check(tn_grad_of(x), 6, 10);
    assert_int_equal(tn_backward(z), TN_OK); /* nothing was saved */
    assert_int_equal(tn_backward(z), TN_OK);
    check(tn_grad_of(x), 10, 14);
    tn_scope_end(scope);
}

static void refused(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5), *plain = tn_ones((int64_t[]){2}, 1, TN_FLOAT64), *y = tn_mul(x, x);
    tn_backward(y);
    check_refused(TN_ERROR_GRAD);
    tn_backward_with(y, tn_ones((int64_t[]){3}, 1, TN_FLOAT64), NULL);
    check_refused(TN_ERROR_GRAD);
    tn_backward_with(y, tn_ones((int64_t[]){2}, 1, TN_COMPLEX128), NULL);
    check_refused(TN_ERROR_GRAD);
    tn_backward(sum(plain));
    check_refused(TN_ERROR_NO_GRAPH);
    tn_backward(NULL);
    check_refused(TN_ERROR_NULL);
    assert_null(tn_grad_of(x));
    assert_int_equal(tn_backward_with(y, plain, NULL), TN_OK); /* the graph is as it was */
    check(tn_grad_of(x), 6, 10);
    tn_scope_end(scope);
}

static void modes(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = leaf(3, 5);
    assert_true(tn_is_grad_enabled());
    tn_grad_mode outer = tn_no_grad();
    assert_false(tn_is_grad_enabled());
    assert_false(tn_requires_grad(tn_mul(x, x)));
    tn_grad_mode inner = tn_enable_grad();
    assert_true(tn_requires_grad(tn_mul(x, x)));
    tn_grad_mode_restore(inner);
    assert_false(tn_requires_grad(tn_mul(x, x)));
    assert_int_equal(tn_mul_(x, x), TN_OK); /* a leaf may be written where nothing is recorded */
    tn_grad_mode_restore(outer);
    assert_true(tn_is_grad_enabled());
    assert_true(tn_requires_grad(x));
    check(x, 9, 25);
    tn_scope_end(scope);
}

TEST_MAIN(test(flags), test(accumulates), test(given_gradient), test(set_grad), test(retained), test(many_roots),
          test(chosen_inputs), test(grad_lists), test(twice), test(freed), test(refused), test(modes))
