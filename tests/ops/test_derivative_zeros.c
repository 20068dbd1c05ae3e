/* Derivatives where a quotient would be none: products with an element that is 0, in both orders; deviations of equal
 * elements; powers of 0 and of negative numbers. */
#include <math.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/list.h>
#include <tenon/ops.h>
#include <tenon/scope.h>

#include "support/test.h"

static tn_tensor *leaf(const double *values, int64_t n, tn_dtype dtype)
{
    tn_tensor *x = tn_to(tn_from_array(values, &n, 1, TN_FLOAT64), dtype);
    assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

/* The gradient of the sum of y, recorded. */
static tn_tensor *slope(tn_tensor *y, tn_tensor *x)
{
    tn_tensor *sum = tn_sum(y, NULL, 0, false, TN_DTYPE_NONE);
    tn_list *grads = tn_grad(&sum, NULL, 1, &x, 1, &(tn_grad_options){.create_graph = true});
    assert_non_null(grads);
    return tn_list_get(grads, 0);
}

static void expect(tn_tensor *x, const double *values, int64_t n)
{
    tn_tensor *dense = tn_contiguous(x);
    assert_int_equal(tn_numel(dense), n);
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(tn_data_f64(dense)[i] - values[i]) < 1e-12))
            fail_msg("element %d is %.17g, needed %.17g", (int)i, tn_data_f64(dense)[i], values[i]);
}

/* prod of (2, 0, 3) has the slopes (0, 6, 0); their sum's slopes are those of ab + ac + bc: (b + c, a + c, a + b). */
static void products(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    for (int dim = 0; dim < 2; dim++) {
        tn_tensor *x = leaf((double[]){2, 0, 3}, 3, TN_FLOAT64);
        tn_tensor *first = slope(dim ? tn_prod_dim(x, 0, false, TN_DTYPE_NONE) : tn_prod(x, TN_DTYPE_NONE), x);
        expect(first, (double[]){0, 6, 0}, 3);
        expect(slope(first, x), (double[]){3, 5, 2}, 3);
    }
    tn_tensor *x = leaf((double[]){0, 0, 3}, 3, TN_FLOAT64);
    expect(slope(tn_prod(x, TN_DTYPE_NONE), x), (double[]){0, 0, 0}, 3);
    x = leaf((double[]){2, 0, 3}, 3, TN_FLOAT64); /* a + ab + abc */
    expect(slope(tn_cumprod(x, 0, TN_DTYPE_NONE), x), (double[]){1, 2 + 6, 0}, 3);
    tn_scope_end(scope);
}

static void equal_elements(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = leaf((double[]){0.1, 0.1, 0.1}, 3, TN_FLOAT64);
    tn_tensor *y = tn_std(x, NULL, 0, true, false), *first = slope(y, x);
    assert_true(tn_item(y) == 0);
    expect(first, (double[]){0, 0, 0}, 3);
    expect(slope(first, x), (double[]){0, 0, 0}, 3);
    tn_scope_end(scope);
}

/* The exponent's gradient: a^b log a, 0 at a = 0; of a negative a under a complex b with the complex logarithm. */
static void powers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *a = leaf((double[]){0, 2}, 2, TN_FLOAT64), *b = leaf((double[]){1, 1}, 2, TN_FLOAT64);
    tn_tensor *first = slope(tn_pow(a, b), b);
    expect(first, (double[]){0, 2 * log(2)}, 2);
    expect(slope(first, b), (double[]){0, 2 * log(2) * log(2)}, 2);
    a = leaf((double[]){-2}, 1, TN_FLOAT64);
    b = leaf((double[]){1}, 1, TN_COMPLEX128);
    first = slope(tn_real(tn_pow(a, b)), b); /* conj(-2 (log 2 + i pi)) */
    expect(tn_real(first), (double[]){-2 * log(2)}, 1);
    expect(tn_imag(tn_resolve_conj(first)), (double[]){2 * acos(-1)}, 1);
    tn_scope_end(scope);
}

TEST_MAIN(test(products), test(equal_elements), test(powers))
