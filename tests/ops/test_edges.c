/* What PyTorch 2.15 allows and refuses at the edges of calls, as recorded there: copies onto the same elements, biases
 * of linear, dtypes of products without elements, out forms of mean, and what a copying view call returns. */
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

#define SIZES(...) (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void refused(tn_status status)
{
    assert_int_equal(tn_error_code(), status);
    tn_error_clear();
}

static tn_tensor *counted(int64_t n)
{
    return tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_FLOAT32);
}

static void copy_onto_itself(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_expand(tn_view(counted(3), SIZES(3, 1)), SIZES(3, 4));
    assert_int_equal(tn_copy_(x, x), TN_OK);
    assert_int_equal(tn_version(x), 1);
    assert_int_equal(tn_copy_(x, tn_alias(x)), TN_OK);
    assert_int_equal(tn_version(x), 2);
    assert_true(tn_item(tn_select(tn_select(x, 0, 2), 0, 3)) == 2);
    tn_copy_(x, tn_clone(x));
    refused(TN_ERROR_OVERLAP);
    tn_copy_(x, tn_expand(tn_view(counted(3), SIZES(3, 1)), SIZES(3, 4)));
    refused(TN_ERROR_OVERLAP);
    assert_int_equal(tn_version(x), 2);
    tn_tensor *windows = tn_as_strided(counted(6), (const int64_t[]){3, 2}, (const int64_t[]){1, 1}, 2, 0);
    assert_int_equal(tn_copy_(windows, windows), TN_OK);
    tn_tensor *empty = tn_expand(tn_zeros(SIZES(0, 3), TN_FLOAT32), SIZES(5, 0, 3));
    assert_int_equal(tn_copy_(empty, empty), TN_OK);
    tn_scope_end(scope);
}

static void biases_of_rows(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = counted(17), *square = tn_ones(SIZES(17, 17), TN_FLOAT32);
    tn_tensor *y = tn_linear(x, square, tn_view(counted(17), SIZES(1, 17)));
    assert_int_equal(tn_ndim(y), 1);
    for (int i = 0; i < 17; i++)
        assert_true(tn_data_f32(y)[i] == (float)(136 + i));
    /* every other column of a matrix is a bias too */
    y = tn_linear(x, square, tn_slice(tn_view(counted(34), SIZES(1, 34)), 1, 0, 34, 2));
    for (int i = 0; i < 17; i++)
        assert_true(tn_data_f32(y)[i] == (float)(136 + 2 * i));
    /* one number a row of the flattened input */
    tn_tensor *zeros = tn_zeros(SIZES(2, 2, 3), TN_FLOAT32), *w = tn_ones(SIZES(4, 3), TN_FLOAT32);
    tn_tensor *rows = tn_view(counted(4), SIZES(4, 1));
    y = tn_linear(zeros, w, rows);
    assert_int_equal(tn_ndim(y), 3);
    for (int i = 0; i < 16; i++)
        assert_true(tn_data_f32(y)[i] == (float)(i / 4));
    static const struct {
        int64_t x[3], w[2], bias[3];
        int x_ndim, w_ndim, bias_ndim;
        bool transposed, good;
    } cases[] = {
        {{17}, {17, 17}, {1, 1}, 1, 2, 2, false, false},      {{17}, {1, 17}, {1}, 1, 2, 1, false, true},
        {{17}, {5, 17}, {1, 17}, 1, 2, 2, false, false},      {{17}, {5, 17}, {2, 5}, 1, 2, 2, false, false},
        {{17}, {5, 17}, {1, 1, 5}, 1, 2, 3, false, false},    {{2, 17}, {17}, {0}, 2, 1, 0, false, false},
        {{2, 3, 17}, {17}, {0}, 3, 1, 0, false, true},        {{2, 3, 17}, {17}, {3}, 3, 1, 1, false, false},
        {{2, 3, 17}, {17}, {1, 1}, 3, 1, 2, false, true},     {{2, 17}, {5, 17}, {1, 1}, 2, 2, 2, false, true},
        {{2, 3, 17}, {5, 17}, {3, 5}, 3, 2, 2, false, true},  {{2, 3, 17}, {5, 17}, {2, 5}, 3, 2, 2, false, false},
        {{2, 3, 17}, {5, 17}, {3, 1}, 3, 2, 2, false, false}, {{2, 3, 17}, {5, 17}, {6, 1}, 3, 2, 2, false, true},
        {{2, 3, 17}, {5, 17}, {2, 1}, 3, 2, 2, true, true},   {{2, 3, 17}, {5, 17}, {6, 1}, 3, 2, 2, true, false},
        {{2, 3, 17}, {5, 17}, {1, 1, 5}, 3, 2, 3, true, true}, {{2, 3, 17}, {17}, {2}, 3, 1, 1, true, true},
        {{0, 17}, {5, 17}, {1, 5}, 2, 2, 2, false, true},     {{1, 17}, {5, 17}, {2, 5}, 2, 2, 2, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_tensor *in = tn_ones(cases[i].x, cases[i].x_ndim, TN_FLOAT32);
        tn_tensor *weight = tn_ones(cases[i].w, cases[i].w_ndim, TN_FLOAT32);
        tn_tensor *bias = tn_ones(cases[i].bias, cases[i].bias_ndim, TN_FLOAT32);
        tn_tensor *out = tn_linear(cases[i].transposed ? tn_transpose(in, 0, 1) : in, weight, bias);
        if (!out != !cases[i].good)
            fail_msg("case %zu: expected %s, came %s", i, cases[i].good ? "a result" : "an error", tn_error_message());
        if (!out)
            refused(TN_ERROR_SHAPE);
        for (int64_t k = 0; out && k < tn_numel(out); k++)
            assert_true(tn_data_f32(out)[k] == 18);
    }
    tn_scope_end(scope);
}

/* PyTorch's bmm returns early without a look at the dtypes when there is nothing to compute; here two dtypes are always
 * refused. */
static void two_dtypes_without_elements(void **state)
{
    (void)state;
    static const int64_t sizes[][2][3] = {{{2, 0}, {0, 4}}, {{0, 3}, {3, 4}}, {{2, 3}, {3, 0}}};
    tn_scope scope = tn_scope_begin();
    for (int i = 0; i < 3; i++) {
        tn_matmul(tn_ones(sizes[i][0], 2, TN_FLOAT32), tn_ones(sizes[i][1], 2, TN_FLOAT64));
        refused(TN_ERROR_DTYPE);
    }
    tn_tensor *none = tn_zeros(SIZES(0), TN_FLOAT32), *wide = tn_zeros(SIZES(0), TN_FLOAT64);
    tn_matmul(none, wide);
    refused(TN_ERROR_DTYPE);
    tn_matmul(tn_zeros(SIZES(2, 0), TN_FLOAT32), wide);
    refused(TN_ERROR_DTYPE);
    tn_matmul(tn_zeros(SIZES(2, 2, 0), TN_FLOAT32), tn_zeros(SIZES(2, 0, 4), TN_FLOAT64));
    refused(TN_ERROR_DTYPE);
    tn_linear(tn_zeros(SIZES(0, 3), TN_FLOAT32), tn_ones(SIZES(4, 3), TN_FLOAT64), NULL);
    refused(TN_ERROR_DTYPE);
    tn_linear(tn_zeros(SIZES(0, 3), TN_FLOAT32), tn_ones(SIZES(4, 3), TN_FLOAT32), tn_ones(SIZES(4), TN_FLOAT64));
    refused(TN_ERROR_DTYPE);
    tn_scope_end(scope);
}

static void mean_of_integers(void **state)
{
    (void)state;
    static const tn_dtype outs[] = {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_INT64, TN_BOOL, TN_COMPLEX64};
    const int first = 0;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_view(tn_arange(tn_int(0), tn_int(6), tn_int(1), TN_INT64), SIZES(2, 3));
    tn_tensor *reals = tn_to(x, TN_FLOAT32);
    for (size_t i = 0; i < sizeof outs / sizeof *outs; i++) {
        tn_tensor *out = tn_zeros(SIZES(0), outs[i]);
        tn_mean_out(out, x, &first, 1, false);
        assert_non_null(strstr(tn_error_message(), "the tensor is int64, needed a floating dtype"));
        refused(TN_ERROR_DTYPE);
        tn_mean_out(out, tn_to(x, TN_BOOL), &first, 1, false);
        assert_non_null(strstr(tn_error_message(), "the tensor is bool"));
        refused(TN_ERROR_DTYPE);
        assert_int_equal(tn_version(out), 0);
        bool floating = outs[i] != TN_INT64 && outs[i] != TN_BOOL;
        assert_int_equal(tn_mean_out(out, reals, &first, 1, false), floating ? TN_OK : TN_ERROR_DTYPE);
        if (!floating)
            assert_non_null(strstr(tn_error_message(), "the result is float32"));
        tn_error_clear();
    }
    tn_mean(x, &first, 1, false, TN_DTYPE_NONE);
    refused(TN_ERROR_DTYPE);
    tn_mean(reals, &first, 1, false, TN_INT64);
    assert_non_null(strstr(tn_error_message(), "int64"));
    refused(TN_ERROR_DTYPE);
    tn_tensor *y = tn_mean(x, &first, 1, false, TN_FLOAT32);
    assert_true(tn_data_f32(y)[2] == 3.5f);
    tn_scope_end(scope);
}

static void copies_of_conjugates(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_full(SIZES(2, 3), tn_complex(1, 2), TN_COMPLEX64), *conj = tn_conj(x);
    tn_tensor *imag = tn_imag(conj);
    tn_tensor *plain[] = {tn_reshape(tn_t(conj), SIZES(6)), tn_flatten(tn_t(conj), 0, -1), tn_contiguous(tn_t(conj)),
                          tn_clone(conj), tn_reshape(tn_t(imag), SIZES(6)), tn_reshape(tn_t(x), SIZES(6))};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_false(tn_is_view(plain[i]));
        assert_null(tn_base(plain[i]));
        assert_false(tn_is_conj(plain[i]));
        assert_false(tn_is_neg(plain[i]));
        assert_int_equal(tn_version(plain[i]), 0);
    }
    assert_true(tn_item_scalar(tn_select(plain[0], 0, 5)).value.c.im == -2);
    assert_true(tn_item(tn_select(plain[4], 0, 5)) == -2);
    tn_tensor *view = tn_reshape(conj, SIZES(6));
    assert_true(tn_is_view(view) && tn_is_conj(view));
    assert_ptr_equal(tn_base(view), x);
    tn_scope_end(scope);
}

TEST_MAIN(test(copy_onto_itself), test(biases_of_rows), test(two_dtypes_without_elements), test(mean_of_integers),
          test(copies_of_conjugates))
