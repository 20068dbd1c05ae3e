/* The iterator: every element of every operand is met exactly once and together, whatever the geometry, dtypes and
 * threads. */
#include <string.h>
#include <tenon/tenon.h>

#include "core/geometry.h"
#include "core/iterator.h"
#include "support/draw.h"
#include "support/test.h"

static uint64_t random_state = 11;

static int64_t pick(int64_t n)
{
    return draw_below(&random_state, n);
}

/* y = 1000 a + b, in float64 */
static void combine(const tni_row *row)
{
    for (int64_t i = 0; i < row->n; i++)
        *(double *)(void *)(row->data[0] + i * row->strides[0]) =
            1000 * *(const double *)(const void *)(row->data[1] + i * row->strides[1]) +
            *(const double *)(const void *)(row->data[2] + i * row->strides[2]);
}

/* A tensor of these sizes over gappy, permuted memory, whose elements count upwards; some dims are 1, to be broadcast.
 */
static tn_tensor *make(const int64_t *sizes, int ndim, tn_dtype dtype, bool repeat)
{
    int64_t own[6], strides[6], stride = 1, order = pick(6);
    int lead = repeat && ndim > 0 ? (int)pick(2) : 0;
    for (int d = 0; d < ndim - lead; d++)
        own[d] = repeat && pick(4) == 0 ? 1 : sizes[d + lead];
    for (int k = 0; k < ndim - lead; k++) {
        int d = order % 2 ? k : ndim - lead - 1 - k;
        if (order > 3 && ndim - lead > 1)
            d = (d + 1) % (ndim - lead);
        strides[d] = stride;
        stride *= (own[d] > 0 ? own[d] : 1) + (order == 2);
    }
    tn_tensor *x = tn_empty_strided(own, strides, ndim - lead, TN_FLOAT64), *typed;
    assert_non_null(x);
    tn_tensor *numbers = tn_arange(tn_int(0), tn_int(tn_numel(x)), tn_int(1), TN_FLOAT64);
    assert_int_equal(tn_copy_(x, tn_view(numbers, own, ndim - lead)), TN_OK);
    if (dtype == TN_FLOAT64)
        return x;
    typed = tn_empty_strided(own, strides, ndim - lead, dtype);
    assert_int_equal(tn_copy_(typed, x), TN_OK);
    return typed;
}

/* The value at `index` of the broadcast shape: row-major position in the operand. */
static double value_at(const tn_tensor *x, const int64_t *index, int ndim)
{
    int64_t linear = 0;
    for (int d = 0; d < tn_ndim(x); d++)
        linear = linear * tn_size(x, d) + (tn_size(x, d) == 1 ? 0 : index[ndim - tn_ndim(x) + d]);
    return (double)linear;
}

static void one_round(int round, int64_t scale)
{
    static const tn_dtype dtypes[] = {TN_FLOAT64, TN_FLOAT64, TN_FLOAT32, TN_INT64};
    int64_t sizes[5], index[5];
    int ndim = (int)pick(5);
    tn_scope scope = tn_scope_begin();
    for (int d = 0; d < ndim; d++)
        sizes[d] = pick(8) == 0 ? pick(2) : 1 + pick(d == 0 ? scale : 5);
    tn_tensor *y = make(sizes, ndim, dtypes[pick(4)], false);
    tn_tensor *a = make(sizes, ndim, dtypes[pick(4)], true), *b = make(sizes, ndim, dtypes[pick(4)], true);
    tni_iter it;
    tni_iter_begin(&it, sizes, ndim);
    assert_true(tni_iter_tensor(&it, y, TN_FLOAT64) && tni_iter_tensor(&it, a, TN_FLOAT64) &&
                tni_iter_tensor(&it, b, TN_FLOAT64));
    tni_iter_run(&it, combine, NULL);
    tn_tensor *got = tn_contiguous(tn_to(y, TN_FLOAT64));
    for (int64_t i = 0; i < tn_numel(y); i++) {
        int64_t rest = i;
        for (int d = ndim - 1; d >= 0; d--) {
            index[d] = rest % sizes[d];
            rest /= sizes[d];
        }
        double wanted = 1000 * value_at(a, index, ndim) + value_at(b, index, ndim);
        if (tn_tensor_dtype(y) == TN_FLOAT32)
            wanted = (double)(float)wanted;
        if (tn_data_f64(got)[i] != wanted)
            fail_msg("round %d: element %lld is %g, needed %g", round, (long long)i, tn_data_f64(got)[i], wanted);
    }
    tn_scope_end(scope);
}

static void small_shapes(void **state)
{
    (void)state;
    for (int round = 0; round < 4000; round++)
        one_round(round, 6);
}

/* Shapes that are shared among threads, of rows longer and shorter than a block. */
static void large_shapes(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_int_equal(tn_set_num_threads(threads), TN_OK);
        for (int round = 0; round < 12; round++)
            one_round(round, 4000);
    }
}

/* What the merging of dims promises: a dense tensor in any order is one row. */
static void merges(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t sizes[] = {3, 4, 5};
    tn_tensor *x = tn_T(tn_zeros(sizes, 3, TN_FLOAT64)), *y = tn_clone(x);
    tni_iter it;
    tni_iter_begin(&it, tn_sizes(x), 3);
    tni_iter_tensor(&it, y, TN_FLOAT64);
    tni_iter_tensor(&it, x, TN_FLOAT64);
    tni_iter_prepare(&it);
    assert_int_equal(it.ndim, 1);
    assert_int_equal(it.sizes[0], 60);
    assert_int_equal(it.strides[0][0], 8);
    assert_false(tni_iter_operand(&it, NULL, NULL, NULL, 0, TN_QINT8, TN_FLOAT32)); /* no conversion */
    tn_scope_end(scope);
}

TEST_MAIN(test(small_shapes), test(large_shapes), test(merges))
