/* gradcheck and gradgradcheck of functions: right ones pass, wrong ones and wrong arguments are named. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static tn_tensor *input(const int64_t *sizes, int ndim, tn_dtype dtype, uint64_t seed)
{
    tn_tensor *x = tn_empty(sizes, ndim, dtype);
    double *values = tn_data_mut(x);
    int64_t n = tn_numel(x) * (dtype == TN_COMPLEX128 ? 2 : 1);
    for (int64_t i = 0; i < n; i++)
        values[i] = sin((double)(i + 1) * 1.7 + (double)seed) + 1.5;
    assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

static tn_tensor *product(void *context, tn_tensor *const *inputs, int n)
{
    (void)context;
    return n == 1 ? tn_mul(inputs[0], inputs[0]) : tn_mul(tn_mul(inputs[0], inputs[1]), inputs[1]);
}

static void assert_ok(tn_status status)
{
    if (status)
        fail_msg("%s", tn_error_message());
}

static void assert_message(tn_status status, tn_status expected, const char *message)
{
    assert_int_equal(status, expected);
    assert_string_equal(tn_error_message(), message);
    tn_error_clear();
}

static void right_ones_pass(void **state)
{
    (void)state;
    const int64_t sizes[] = {3, 4};
    tn_gradcheck_result r;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = input(sizes, 2, TN_FLOAT64, 0), *y = input(sizes, 2, TN_FLOAT64, 1);
    tn_tensor *inputs[] = {x, y};
    double before = tn_data_f64(x)[5];
    assert_ok(tn_gradcheck(product, NULL, inputs, 2, NULL, &r));
    assert_int_equal(r.compared, 12 * (12 + 12));
    assert_true(r.ratio < 1e-2);
    assert_ok(tn_gradgradcheck(product, NULL, inputs, 2, NULL, &r));
    assert_int_equal(r.compared, (12 + 12) * (12 + 12 + 12));
    assert_true(r.ratio < 1e-2 && tn_data_f64(x)[5] == before && !tn_grad_of(x));
    assert_ok(tn_gradcheck_forward(product, NULL, inputs, 2, NULL, &r));
    assert_int_equal(r.compared, 3);
    const tn_gradcheck_options fast = {.fast_mode = true};
    assert_ok(tn_gradcheck(product, NULL, inputs, 2, &fast, &r));
    assert_int_equal(r.compared, 2);
    assert_ok(tn_gradgradcheck(product, NULL, inputs, 2, &fast, &r));
    assert_int_equal(r.compared, 3);
    tn_tensor *z = input(sizes, 2, TN_COMPLEX128, 2), *both[] = {z, x};
    assert_ok(tn_gradcheck(product, NULL, both, 2, NULL, &r));
    assert_int_equal(r.compared, 24 * (24 + 12));
    assert_ok(tn_gradgradcheck(product, NULL, both, 2, NULL, &r));
    assert_ok(tn_gradcheck_forward(product, NULL, both, 2, NULL, &r));
    tn_tensor *t = tn_transpose(tn_detach(x), 0, 1);
    assert_int_equal(tn_requires_grad_(t, true), TN_OK);
    assert_ok(tn_gradcheck(product, NULL, &t, 1, NULL, &r));
    const int64_t none[] = {0, 4};
    tn_tensor *empty = input(none, 2, TN_FLOAT64, 3), *zero = input(none, 0, TN_FLOAT64, 3);
    assert_ok(tn_gradcheck(product, NULL, &empty, 1, NULL, &r));
    assert_int_equal(r.compared, 0);
    assert_ok(tn_gradgradcheck(product, NULL, &zero, 1, NULL, &r));
    assert_int_equal(r.compared, 2);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* x * detach(x): the derivative is half of what it should be. */
static tn_tensor *half(void *context, tn_tensor *const *inputs, int n)
{
    (void)context;
    (void)n;
    return tn_mul(inputs[0], tn_detach(inputs[0]));
}

static tn_tensor *scale_gradient(void *context, tn_tensor *grad)
{
    return tn_mul_scalar(grad, tn_float(*(double *)context));
}

static double factor;

static tn_tensor *hooked(void *context, tn_tensor *const *inputs, int n)
{
    (void)context;
    (void)n;
    tn_tensor *y = tn_mul(inputs[0], inputs[0]);
    if (tn_requires_grad(y))
        tn_register_hook(y, scale_gradient, &factor);
    return y;
}

static void wrong_ones_are_named(void **state)
{
    (void)state;
    const int64_t two = 2;
    tn_gradcheck_result r;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((double[]){3, 5}, &two, 1, TN_FLOAT64);
    tn_requires_grad_(x, true);
    tn_status status = tn_gradcheck(half, NULL, &x, 1, NULL, &r);
    assert_int_equal(status, TN_ERROR_NOT_CLOSE);
    assert_non_null(strstr(tn_error_message(),
                           "gradcheck: input 0, element 0: the derivative of element 0 of the result "
                           "is 3.0, differences give 6.0000"));
    tn_error_clear();
    assert_true(r.input == 0 && r.element == 0 && r.output_element == 0 && r.analytic == 3 &&
                fabs(r.numeric - 6) < 1e-6 && fabs(r.difference - 3) < 1e-6 && r.ratio > 1);
    factor = 1.01;
    assert_int_equal(tn_gradcheck(hooked, NULL, &x, 1, NULL, &r), TN_ERROR_NOT_CLOSE);
    tn_error_clear();
    factor = 1;
    assert_ok(tn_gradcheck(hooked, NULL, &x, 1, NULL, &r));
    assert_int_equal(tn_gradgradcheck(half, NULL, &x, 1, NULL, &r), TN_ERROR_NOT_CLOSE);
    tn_error_clear();
    const tn_gradcheck_options fast = {.fast_mode = true};
    assert_int_equal(tn_gradcheck(half, NULL, &x, 1, &fast, &r), TN_ERROR_NOT_CLOSE);
    tn_error_clear();
    factor = 1 + 1e-8; /* too little for differences */
    assert_ok(tn_gradcheck(hooked, NULL, &x, 1, NULL, NULL));
    assert_int_equal(tn_gradcheck_forward(hooked, NULL, &x, 1, NULL, &r), TN_ERROR_NOT_CLOSE);
    tn_error_clear();
    assert_int_equal(tn_data_f64(x)[0], 3);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

static tn_tensor *nothing(void *context, tn_tensor *const *inputs, int n)
{
    (void)context;
    (void)n;
    return tn_add(inputs[0], tn_ones((int64_t[]){7}, 1, TN_FLOAT64));
}

static tn_tensor *single(void *context, tn_tensor *const *inputs, int n)
{
    (void)context;
    (void)n;
    return tn_to(tn_detach(inputs[0]), TN_FLOAT32);
}

static void bad_arguments(void **state)
{
    (void)state;
    const int64_t sizes[] = {2, 3};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = input(sizes, 2, TN_FLOAT64, 0), *f = tn_to(tn_detach(x), TN_FLOAT32), *none = NULL;
    tn_requires_grad_(f, true);
    assert_message(tn_gradcheck(product, NULL, &f, 1, NULL, NULL), TN_ERROR_DTYPE,
                   "gradcheck: input 0 is float32, whose differences say little about a derivative: needed float64 or "
                   "complex128, as tn_to gives it");
    tn_tensor *wide = tn_detach(tn_expand(tn_select(tn_detach(x), 0, 0), (int64_t[]){5, 3}, 2));
    tn_requires_grad_(wide, true);
    assert_message(tn_gradgradcheck(product, NULL, &wide, 1, NULL, NULL), TN_ERROR_OVERLAP,
                   "gradgradcheck: dim 0 of input 0 has stride 0, so that elements can't be moved one by one: needed "
                   "memory of its own for each, as tn_clone gives it");
    tn_tensor *plain = tn_detach(x);
    assert_message(tn_gradcheck(product, NULL, &plain, 1, NULL, NULL), TN_ERROR_NO_GRAPH,
                   "gradcheck: none of 1 inputs requires a gradient, needed one at least");
    assert_message(tn_gradcheck(product, NULL, &none, 1, NULL, NULL), TN_ERROR_NULL, "gradcheck: input 0 is NULL");
    assert_message(tn_gradcheck(product, NULL, &x, 0, NULL, NULL), TN_ERROR_ARGUMENT,
                   "gradcheck: 0 inputs, needed one at least");
    assert_message(tn_gradcheck(NULL, NULL, &x, 1, NULL, NULL), TN_ERROR_NULL, "gradcheck: argument 1 (f) is NULL");
    assert_message(tn_gradcheck(product, NULL, NULL, 1, NULL, NULL), TN_ERROR_NULL,
                   "gradcheck: argument 3 (inputs) is NULL");
    assert_message(tn_gradcheck(single, NULL, &x, 1, NULL, NULL), TN_ERROR_DTYPE,
                   "gradcheck: the function's result is float32, needed float64 or complex128");
    assert_int_equal(tn_gradcheck(nothing, NULL, &x, 1, NULL, NULL), TN_ERROR_SHAPE);
    tn_error_clear();
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* Each allocation fails once: the error is reported, inputs are as before, nothing is left behind. */
static void memory_that_fails(void **state)
{
    (void)state;
    const int64_t two = 2;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = input(&two, 1, TN_FLOAT64, 0), *inputs[] = {x, input(&two, 1, TN_FLOAT64, 1)};
    const double before = tn_data_f64(x)[1];
    tn_status (*const checks[])(tn_gradcheck_function, void *, tn_tensor *const *, int, const tn_gradcheck_options *,
                                tn_gradcheck_result *) = {tn_gradcheck, tn_gradgradcheck, tn_gradcheck_forward};
    for (int i = 0; i < 3; i++) {
        int64_t k = 0;
        assert_ok(checks[i](product, NULL, inputs, 2, NULL, NULL)); /* scopes have their room */
        for (bool failed = true; failed; k++) {
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_fail_allocation(k, false);
            tn_status status = checks[i](product, NULL, inputs, 2, NULL, NULL);
            failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(status, failed ? TN_ERROR_MEMORY : TN_OK);
            tn_error_clear();
            assert_true(tn_data_f64(x)[1] == before && tn_is_grad_enabled() && !tn_in_dual_level());
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
        }
        assert_true(k > 20);
    }
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

TEST_MAIN(test(right_ones_pass), test(wrong_ones_are_named), test(bad_arguments), test(memory_that_fails))
