/* Writes that are recorded: versions, leaves, views of tracked and plain bases, several views at once. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static tn_tensor *vector(double first, bool on)
{
    const double data[] = {first, first + 1, first + 2, first + 3};
    tn_tensor *x = tn_from_array(data, (int64_t[]){4}, 1, TN_FLOAT64);
    tn_requires_grad_(x, on);
    return x;
}

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static void check(const tn_tensor *x, const double *expected)
{
    tn_tensor *dense = x ? tn_contiguous((tn_tensor *)x) : NULL;
    assert_non_null(dense);
    for (int i = 0; i < 4; i++)
        if (((const double *)tn_data(dense))[i] != expected[i])
            fail_msg("element %d: expected %g, came %g", i, expected[i], ((const double *)tn_data(dense))[i]);
}
#define CHECK(x, a, b, c, d) check(x, (const double[]){a, b, c, d})

static void check_refused(tn_status status, const char *word)
{
    if (tn_error_code() != status || (word && !strstr(tn_error_message(), word)))
        fail_msg("expected %s with \"%s\", came \"%s\"", tn_status_name(status), word ? word : "", tn_error_message());
    tn_error_clear();
}

static void check_name(tn_tensor *x, const char *name)
{
    char came[64] = "";
    const tn_node *node = tn_grad_fn(x);
    if (node)
        tn_node_name(node, came, sizeof came);
    assert_string_equal(came, name);
}

static void leaves(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *part = tn_narrow(x, 0, 1, 2), *plain = vector(1, false);
    tn_mul_(x, plain);
    check_refused(TN_ERROR_INPLACE_LEAF, "leaf");
    tn_mul_(part, tn_narrow(plain, 0, 0, 2));
    check_refused(TN_ERROR_INPLACE_LEAF, "view of a leaf");
    tn_add_(tn_requires_grad_(plain, true) ? NULL : plain, x);
    check_refused(TN_ERROR_INPLACE_LEAF, NULL);
    tn_add_out(vector(0, false), x, x);
    check_refused(TN_ERROR_INPLACE_LEAF, "given tensor");
    tn_unsqueeze_(x, 0);
    check_refused(TN_ERROR_INPLACE_LEAF, NULL);
    assert_int_equal(tn_ndim(x), 1);
    assert_int_equal(tn_version(x), 0);
    CHECK(x, 1, 2, 3, 4);
    tn_scope_end(scope);
}

static void versions(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *w = vector(2, false), *h = tn_mul(x, w), *y = sum(tn_mul(h, h));
    tn_mul_(h, w);
    assert_int_equal(tn_backward(y), TN_ERROR_SAVED_VERSION);
    assert_non_null(strstr(tn_error_message(), "\"mul\""));   /* who saved it, */
    assert_non_null(strstr(tn_error_message(), "\"mul_\""));  /* who wrote, */
    assert_non_null(strstr(tn_error_message(), "[4]"));       /* its shape, */
    assert_non_null(strstr(tn_error_message(), "version 0")); /* and both versions */
    assert_non_null(strstr(tn_error_message(), "version 1"));
    tn_error_clear();
    assert_null(tn_grad_of(x));
    /* through a view, an alias, under no_grad, and undone: it counts all the same */
    for (int way = 0; way < 4; way++) {
        h = tn_mul(x, w);
        y = sum(tn_mul(h, h));
        tn_grad_mode mode = tn_no_grad();
        tn_tensor *to = way == 0 ? tn_narrow(h, 0, 3, 1) : way == 1 ? tn_detach(h) : h;
        tn_zero_(way == 3 ? tn_narrow(h, 0, 0, 0) : to);
        tn_grad_mode_restore(mode);
        tn_backward(y);
        check_refused(TN_ERROR_SAVED_VERSION, "zero_");
    }
    h = tn_mul(x, w);
    y = sum(tn_mul(h, h));
    tn_zero_(tn_tensor_data(h)); /* counts for itself alone */
    assert_int_equal(tn_backward(y), TN_OK);
    CHECK(tn_grad_of(x), 0, 0, 0, 0);
    tn_scope_end(scope);
}

static void through_views(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *w = vector(2, false), *y = tn_mul(x, w), *older = tn_narrow(y, 0, 0, 2);
    tn_tensor *part = tn_narrow(y, 0, 1, 2);
    tn_mul_(part, tn_narrow(w, 0, 2, 2)); /* y = x0 w0, x1 w1 w2, x2 w2 w3, x3 w3 */
    check_name(y, "CopySlices");
    check_name(part, "AsStridedBackward0");
    check_name(older, "AsStridedBackward0");
    tn_backward(tn_add(sum(y), sum(tn_mul(older, older))));
    CHECK(tn_grad_of(x), 2 + 2 * 2 * 2, 12 + 2 * 24 * 12, 20, 5);
    /* a tracked value into a view of a plain tensor: the base has a history then */
    tn_tensor *base = vector(0, false), *left = tn_narrow(base, 0, 0, 2), *right = tn_narrow(base, 0, 2, 2);
    x = vector(1, true);
    assert_int_equal(tn_copy_(left, tn_narrow(x, 0, 1, 2)), TN_OK);
    assert_true(tn_requires_grad(base) && tn_requires_grad(left) && tn_requires_grad(right));
    assert_false(tn_is_leaf(base));
    assert_int_equal(tn_mul_scalar_(left, tn_float(2)), TN_OK);
    tn_backward(sum(base));
    CHECK(tn_grad_of(x), 0, 2, 2, 0);
    tn_scope_end(scope);
}

static void several_at_once(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *y = tn_add(x, x), *plain = vector(1, false);
    tn_tensor *piece = tn_list_get(tn_split(y, 2, 0), 1), *of_plain = tn_list_get(tn_split(plain, 2, 0), 1);
    assert_int_equal(tn_output_nr(piece), 1);
    check_name(piece, "SplitBackward0");
    tn_zero_(piece);
    check_refused(TN_ERROR_INPLACE_VIEW, "several views");
    tn_zero_(tn_narrow(piece, 0, 0, 1));
    check_refused(TN_ERROR_INPLACE_VIEW, "several views");
    assert_int_equal(tn_zero_(of_plain), TN_OK);
    CHECK(plain, 1, 2, 0, 0);
    assert_int_equal(tn_add_(y, plain), TN_OK);
    assert_null(tn_mul(piece, of_plain)); /* its history went with the write to the base */
    check_refused(TN_ERROR_INPLACE_VIEW, "several views");
    piece = tn_list_get(tn_tensor_split(y, 2, 0), 1);
    assert_int_equal(tn_zero_(piece), TN_OK);
    tn_backward(sum(y));
    CHECK(tn_grad_of(x), 2, 2, 0, 0);
    tn_scope_end(scope);
}

static void made_under_no_grad(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *y = tn_add(x, x);
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *part = tn_narrow(y, 0, 0, 2), *of_leaf = tn_narrow(x, 0, 0, 2);
    tn_grad_mode_restore(mode);
    assert_true(tn_requires_grad(part) && tn_is_leaf(part));
    tn_zero_(part);
    check_refused(TN_ERROR_INPLACE_VIEW, "no_grad");
    mode = tn_no_grad();
    assert_int_equal(tn_zero_(part), TN_OK);
    tn_grad_mode_restore(mode);
    assert_null(tn_grad_fn(part));
    check_refused(TN_ERROR_INPLACE_VIEW, "no_grad");
    /* its gradient goes nowhere */
    tn_backward(sum(of_leaf));
    assert_int_equal(tn_error_code(), TN_OK);
    assert_null(tn_grad_of(x));
    tn_backward_with(of_leaf, tn_ones((int64_t[]){2}, 1, TN_FLOAT64), NULL);
    check_refused(TN_ERROR_NO_GRAPH, NULL);
    tn_scope_end(scope);
}

static void detached(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, true), *y = tn_mul(x, x), *part = tn_narrow(y, 0, 0, 2), *z = sum(y);
    tn_detach_(part);
    check_refused(TN_ERROR_INPLACE_VIEW, NULL);
    assert_int_equal(tn_detach_(y), TN_OK);
    assert_true(tn_is_leaf(y) && !tn_requires_grad(y));
    assert_int_equal(tn_version(y), 0);
    tn_backward(z); /* recorded before */
    CHECK(tn_grad_of(x), 2, 4, 6, 8);
    tn_grad_mode mode = tn_no_grad();
    assert_int_equal(tn_detach_(x), TN_OK);
    tn_grad_mode_restore(mode);
    assert_false(tn_requires_grad(x));
    tn_set_data(x, vector(9, false));
    CHECK(x, 9, 10, 11, 12);
    x = vector(1, true);
    tn_set_data(x, tn_ones((int64_t[]){4}, 1, TN_INT64));
    check_refused(TN_ERROR_DTYPE, "gradient");
    tn_scope_end(scope);
}

TEST_MAIN(test(leaves), test(versions), test(through_views), test(several_at_once), test(made_under_no_grad),
          test(detached))
