/* Calls that want no scratch take a short way (run_light): its results are those of the ordinary way, bit for bit. The
 * ordinary way is asked for by what the short one does not take: a dim more, a dim counted from the end, gaps. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static tn_dtype dtype;
static tn_torch_generator generator;

/* Normal numbers, the last dim with a gap behind it or turned with the one before it. */
enum { DENSE, GAPS, TURNED, LAYOUTS };

static tn_tensor *draw(int64_t rows, int64_t columns, int layout)
{
    int64_t sizes[2] = {rows, columns};
    if (layout == GAPS)
        sizes[1] += 3;
    if (layout == TURNED) {
        sizes[0] = columns;
        sizes[1] = rows;
    }
    tn_tensor *x = tn_empty(sizes, 2, dtype);
    assert_int_equal(tn_init_normal_(x, 0, 1, &generator), TN_OK);
    return layout == GAPS ? tn_narrow(x, 1, 2, columns) : layout == TURNED ? tn_transpose(x, 0, 1) : x;
}

static void assert_same_bits(tn_tensor *a, tn_tensor *b, const char *what)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(tn_numel(a), tn_numel(b));
    const void *x = tn_data(tn_contiguous(a)), *y = tn_data(tn_contiguous(b));
    if (memcmp(x, y, (size_t)tn_numel(a) * tn_itemsize(dtype)) != 0)
        fail_msg("%s in %s has other bits", what, tn_dtype_name(dtype));
}

static void try_product(int64_t m, int64_t n, int64_t k, int a_layout, int b_layout)
{
    char what[100];
    tn_scope scope = tn_scope_begin();
    tn_tensor *a = draw(m, k, a_layout), *b = draw(k, n, b_layout), *bias = tn_reshape(draw(1, n, DENSE), &n, 1);
    snprintf(what, sizeof what, "matmul of %d, %d, %d, layouts %d, %d", (int)m, (int)n, (int)k, a_layout, b_layout);
    assert_same_bits(tn_matmul(a, b), tn_matmul(tn_unsqueeze(a, 0), tn_unsqueeze(b, 0)), what);
    memcpy(what, "linear", 6);
    tn_tensor *weight = tn_transpose(b, 0, 1);
    assert_same_bits(tn_linear(a, weight, bias), tn_linear(tn_unsqueeze(a, 0), weight, bias), what);
    assert_same_bits(tn_linear(a, weight, NULL), tn_matmul(a, b), what);
    tn_scope_end(scope);
}

static void products(void **state)
{
    static const int64_t sizes[][3] = {{1, 1, 1},   {32, 16, 2},  {32, 16, 16}, {32, 1, 16},     {1, 16, 32},
                                       {16, 2, 32}, {16, 16, 32}, {3, 130, 5},  {130, 3, 3000},  {200, 16, 1},
                                       {7, 1, 5000}, {1, 300, 9}, {50, 70, 33}, {128, 96, 400}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int layouts = 0; layouts < LAYOUTS * LAYOUTS; layouts++)
            for (int d = 0; d < 2; d++) {
                dtype = d ? TN_FLOAT64 : TN_FLOAT32;
                try_product(sizes[i][0], sizes[i][1], sizes[i][2], layouts % LAYOUTS, layouts / LAYOUTS);
            }
}

static void sums_of_rows(void **state)
{
    static const int64_t rows[] = {1, 2, 3, 31, 32, 33, 128, 129, 200}, columns[] = {1, 2, 15, 16, 17, 40, 256, 257};
    const int first = 0, from_end = -2;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            for (int d = 0; d < 4; d++) {
                char what[60];
                tn_scope scope = tn_scope_begin();
                dtype = d / 2 ? TN_FLOAT64 : TN_FLOAT32;
                tn_tensor *x = draw(rows[i], columns[j], DENSE);
                if (d % 2) /* zeros of both signs */
                    x = tn_mul_scalar(x, tn_float(0));
                snprintf(what, sizeof what, "the sum of %d rows of %d", (int)rows[i], (int)columns[j]);
                assert_same_bits(tn_sum(x, &first, 1, false, dtype), tn_sum(x, &from_end, 1, false, dtype), what);
                assert_same_bits(tn_sum(x, &first, 1, true, dtype), tn_sum(x, &from_end, 1, true, dtype), what);
                tn_scope_end(scope);
            }
}

typedef tn_tensor *loss_function(tn_tensor *x, tn_tensor *target, tn_reduction reduction);

/* The loss of dense operands and of others with the same elements, and the gradients of both. */
static void try_loss(loss_function *loss, int64_t rows, int64_t columns, tn_reduction reduction)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *with_gaps = draw(rows, columns, GAPS), *target = draw(rows, columns, GAPS);
    tn_tensor *dense = tn_detach(tn_clone(tn_contiguous(with_gaps)));
    assert_int_equal(tn_requires_grad_(dense, true), TN_OK);
    with_gaps = tn_detach(with_gaps);
    assert_int_equal(tn_requires_grad_(with_gaps, true), TN_OK);
    tn_tensor *a = loss(dense, tn_contiguous(target), reduction), *b = loss(with_gaps, target, reduction);
    assert_same_bits(a, b, "a loss");
    if (reduction != TN_NONE) {
        assert_int_equal(tn_backward(a), TN_OK);
        assert_int_equal(tn_backward(b), TN_OK);
        assert_same_bits(tn_grad_of(dense), tn_grad_of(with_gaps), "a loss's gradient");
    }
    tn_scope_end(scope);
}

static void losses(void **state)
{
    static loss_function *const functions[] = {tn_mse_loss, tn_l1_loss, tn_bce_with_logits};
    static const tn_reduction reductions[] = {TN_MEAN, TN_SUM, TN_NONE};
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (int r = 0; r < 3; r++)
            for (int d = 0; d < 2; d++) {
                dtype = d ? TN_FLOAT64 : TN_FLOAT32;
                try_loss(functions[f], 32, 2, reductions[r]);
                try_loss(functions[f], 65, 33, reductions[r]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(products), test(sums_of_rows), test(losses)};
    tn_torch_manual_seed(&generator, 5);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
