/* Forward mode: what has a tangent and what has none, views, writes, levels, errors. Numbers are PyTorch 2.15's. */
#include <string.h>
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

TEST_MAIN(test(test_product))
