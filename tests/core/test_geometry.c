/* View geometry against brute force: strides of views, extents with extreme numbers, density, broadcasting; and
 * PyTorch's odd facts. */
#include <stdio.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "core/geometry.h"
#include "support/draw.h"
#include "support/test.h"

static uint64_t random_state = 7;

static int64_t pick(int64_t n)
{
    return draw_below(&random_state, n);
}

static int64_t address(const int64_t *sizes, const int64_t *strides, int ndim, int64_t linear)
{
    int64_t at = 0;
    for (int d = ndim - 1; d >= 0; d--) {
        at += linear % sizes[d] * strides[d];
        linear /= sizes[d];
    }
    return at;
}

static int64_t count(const int64_t *sizes, int ndim)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= sizes[d];
    return n;
}

/* Whether some strides of the new sizes give the old addresses, in order. */
static bool view_exists(const int64_t *old_sizes, const int64_t *old_strides, int old_ndim, const int64_t *sizes,
                        int ndim)
{
    int64_t steps[8], weight = 1, numel = count(sizes, ndim);
    for (int d = ndim - 1; d >= 0; d--) {
        steps[d] = sizes[d] > 1 ? address(old_sizes, old_strides, old_ndim, weight) : 0;
        weight *= sizes[d];
    }
    for (int64_t i = 0; i < numel; i++)
        if (address(sizes, steps, ndim, i) != address(old_sizes, old_strides, old_ndim, i))
            return false;
    return true;
}

static int random_factors(int64_t numel, int64_t *sizes)
{
    int n = 0;
    while (n < 6 && (numel > 1 || pick(3) == 0)) {
        int64_t f = 1 + pick(6);
        if (numel % f != 0)
            f = 1;
        sizes[n] = n == 5 ? numel : f;
        numel /= sizes[n++];
    }
    if (numel > 1)
        sizes[n > 0 ? n - 1 : n++] *= numel;
    return n;
}

static void view_strides(void **state)
{
    int exist = 0, tries = 0;
    (void)state;
    while (tries < 100000) {
        int64_t old_sizes[8], old_strides[8], sizes[8] = {1, 1, 1, 1, 1, 1, 1, 1}, strides[8], stride = 1;
        int old_ndim = (int)pick(5), dim = -2;
        for (int d = old_ndim - 1; d >= 0; d--) { /* mostly continuing strides, some gaps, zeros and surprises */
            int64_t r = pick(12);
            old_sizes[d] = r == 0 ? 1 : 1 + pick(4);
            old_strides[d] = r == 1 ? 0 : r == 2 ? stride * 2 : r == 3 ? pick(7) : stride;
            stride = old_strides[d] * old_sizes[d];
            stride += stride == 0;
        }
        int64_t numel = count(old_sizes, old_ndim);
        int ndim = random_factors(numel, sizes);
        if (count(sizes, ndim) != numel)
            continue;
        tries++;
        bool wanted = view_exists(old_sizes, old_strides, old_ndim, sizes, ndim);
        bool got = tni_view_strides(old_sizes, old_strides, old_ndim, sizes, ndim, strides, &dim);
        exist += wanted;
        bool right = got == wanted && (got || (dim >= 0 && dim < old_ndim));
        for (int64_t i = 0; right && got && i < numel; i++)
            right = address(sizes, strides, ndim, i) == address(old_sizes, old_strides, old_ndim, i);
        if (!right) {
            char from[80], by[80], to[80];
            tn_format_shape(from, sizeof from, old_sizes, old_ndim);
            tn_format_shape(by, sizeof by, old_strides, old_ndim);
            tn_format_shape(to, sizeof to, sizes, ndim);
            fail_msg("sizes %s strides %s viewed as %s: %s, needed %s", from, by, to, got ? "a view" : "none",
                     wanted ? "one" : "none");
        }
    }
    assert_true(exist > 20000 && exist < 98000);
}

static void density_and_contiguity(void **state)
{
    (void)state;
    for (int round = 0; round < 30000; round++) {
        int64_t sizes[4], strides[4];
        unsigned char seen[200] = {0};
        int ndim = (int)pick(5);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = pick(4);
            strides[d] = pick(3) ? (int64_t[]){1, 2, 3, 4, 6, 9}[pick(6)] : pick(13);
        }
        int64_t numel = count(sizes, ndim), extent = 0;
        bool dense = true, contiguous = true;
        for (int64_t i = 0; i < numel; i++) {
            int64_t at = address(sizes, strides, ndim, i);
            contiguous = contiguous && at == i;
            dense = dense && at < numel && !seen[at];
            seen[at < 200 ? at : 199] = 1;
            extent = at + 1 > extent ? at + 1 : extent;
        }
        int64_t got;
        if (tni_is_dense(sizes, strides, ndim) != dense || tni_is_contiguous(sizes, strides, ndim) != contiguous ||
            !tni_extent(sizes, strides, ndim, &got) || got != extent)
            fail_msg("round %d: dense %d, contiguous %d, extent %lld", round, dense, contiguous, (long long)extent);
    }
}

/* Extents and counts at the edge of 64 bits, against 128-bit arithmetic. */
static void extreme_numbers(void **state)
{
    static const int64_t extremes[] = {0,
                                       1,
                                       2,
                                       3,
                                       INT64_MAX,
                                       INT64_MAX / 2,
                                       INT64_MAX / 2 + 1,
                                       INT64_C(1) << 32,
                                       (INT64_C(1) << 32) - 1,
                                       INT64_C(1) << 62,
                                       2305843009213693953,
                                       3037000500};
    (void)state;
    for (int round = 0; round < 50000; round++) {
        int64_t sizes[3], strides[3], got;
        int ndim = 1 + (int)pick(3);
        __extension__ typedef unsigned __int128 wide;
        wide span = 1, extent = 1, numel = 1;
        bool empty = false, span_fits = true, extent_fits = true;
        for (int d = 0; d < ndim; d++) {
            sizes[d] = extremes[pick(12)];
            strides[d] = extremes[pick(12)];
            empty = empty || sizes[d] == 0;
            span *= (wide)(sizes[d] > 1 ? sizes[d] : 1);
            span_fits = span_fits && span <= INT64_MAX;
            span = span_fits ? span : 1;
            extent += sizes[d] > 1 ? (wide)(sizes[d] - 1) * (wide)strides[d] : 0;
            extent_fits = extent_fits && extent <= INT64_MAX;
            extent = extent_fits ? extent : 1;
        }
        numel = empty ? 0 : span;
        assert_int_equal(tni_numel(sizes, ndim, &got), span_fits);
        if (span_fits)
            assert_true((wide)got == numel);
        bool fits = tni_extent(sizes, strides, ndim, &got);
        assert_int_equal(fits, empty || extent_fits);
        if (fits)
            assert_true((wide)got == (empty ? 0 : extent));
    }
}

static void broadcasting(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t a[4], b[4], got[64], wanted[4];
        int an = (int)pick(5), bn = (int)pick(5), n = an > bn ? an : bn;
        bool fits = true;
        for (int d = 0; d < an; d++)
            a[d] = pick(4);
        for (int d = 0; d < bn; d++)
            b[d] = pick(3) ? 1 + pick(2) : pick(4);
        for (int k = 1; k <= n; k++) {
            int64_t x = k <= an ? a[an - k] : 1, y = k <= bn ? b[bn - k] : 1;
            fits = fits && (x == y || x == 1 || y == 1);
            wanted[n - k] = x == 1 ? y : x;
        }
        int ndim = tni_broadcast("test", a, an, b, bn, got);
        assert_int_equal(ndim, fits ? n : -1);
        assert_int_equal(tn_error_code(), fits ? TN_OK : TN_ERROR_SHAPE);
        tn_error_clear();
        for (int d = 0; fits && d < n; d++)
            assert_int_equal(got[d], wanted[d]);
    }
}

static void wrapped_dims(void **state)
{
    (void)state;
    for (int ndim = 0; ndim < 5; ndim++) {
        int dims = ndim ? ndim : 1;
        for (int dim = -7; dim < 7; dim++) {
            int wanted = dim >= -dims && dim < dims ? (dim + dims) % dims : -1;
            assert_int_equal(tni_wrap_dim("test", dim, ndim), wanted);
            assert_int_equal(tn_error_code(), wanted < 0 ? TN_ERROR_DIM : TN_OK);
            tn_error_clear();
        }
    }
    assert_int_equal(tni_wrap_dim("test", INT64_MIN, 3), -1);
    tn_error_clear();
}

static void check_record(tn_tensor *x, int ndim, const int64_t *sizes, const int64_t *strides, int64_t offset, int line)
{
    bool same = x && tn_ndim(x) == ndim && tn_storage_offset(x) == offset;
    for (int d = 0; same && d < ndim; d++)
        same = tn_sizes(x)[d] == sizes[d] && tn_strides(x)[d] == strides[d];
    if (!same) {
        char text[100] = "nothing";
        if (x)
            tn_format_shape(text, sizeof text, tn_strides(x), tn_ndim(x));
        fail_msg("line %d: strides %s, offset %lld: %s", line, text, x ? (long long)tn_storage_offset(x) : 0,
                 tn_error_message());
    }
}

#define LIST(...)                               ((const int64_t[]){__VA_ARGS__})
#define RECORD(x, ndim, sizes, strides, offset) check_record(x, ndim, sizes, strides, offset, __LINE__)

/* Each measured on PyTorch. */
static void odd_facts(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(3, 5), 2, TN_FLOAT32), *small = tn_zeros(LIST(2, 3), 2, TN_FLOAT32);
    /* a size-1 dim put in by view takes the stride of the block that it joins; unsqueeze gives size * stride of the
     * next, 1 at the end */
    tn_tensor *column = tn_transpose(tn_zeros(LIST(2, 3), 2, TN_FLOAT32), 0, 1);
    RECORD(tn_view(column, LIST(3, 1, 1, 2), 4), 4, LIST(3, 1, 1, 2), LIST(1, 6, 6, 3), 0);
    RECORD(tn_unsqueeze(small, 1), 3, LIST(2, 1, 3), LIST(3, 3, 1), 0);
    RECORD(tn_unsqueeze(small, 2), 3, LIST(2, 3, 1), LIST(3, 1, 1), 0);
    RECORD(tn_unsqueeze(small, -3), 3, LIST(1, 2, 3), LIST(6, 3, 1), 0);
    /* views of empty tensors: their own shape keeps odd strides, another gets fresh ones that count 0 as 1 */
    tn_tensor *empty = tn_as_strided(x, LIST(2, 0, 3), LIST(7, 5, 2), 3, 1);
    RECORD(tn_view(empty, LIST(2, 0, 3), 3), 3, LIST(2, 0, 3), LIST(7, 5, 2), 1);
    RECORD(tn_view(empty, LIST(0, 7), 2), 2, LIST(0, 7), LIST(7, 1), 1);
    RECORD(tn_view(empty, LIST(3, -1), 2), 2, LIST(3, 0), LIST(1, 1), 1);
    assert_true(tn_is_contiguous(empty));
    assert_ptr_equal(tn_contiguous(empty), empty);
    tn_tensor *one = tn_as_strided(x, LIST(1, 3), LIST(9, 1), 2, 0);
    assert_ptr_equal(tn_contiguous(one), one);
    /* gappy dims merge, and so does an expansion whose strides are all 0; one expanded dim does not */
    RECORD(tn_view(tn_as_strided(tn_zeros(LIST(30), 1, TN_FLOAT32), LIST(4, 2), LIST(6, 3), 2, 0), LIST(8), 1), 1,
           LIST(8), LIST(3), 0);
    RECORD(tn_view(tn_expand(tn_zeros(LIST(1, 1), 2, TN_FLOAT32), LIST(3, 4), 2), LIST(12), 1), 1, LIST(12), LIST(0),
           0);
    assert_null(tn_view(tn_expand(tn_zeros(LIST(3, 1), 2, TN_FLOAT32), LIST(3, 4), 2), LIST(12), 1));
    assert_int_equal(tn_error_code(), TN_ERROR_VIEW);
    tn_error_clear();
    /* expand to size 1 keeps the stride; a new leading dim of size 1 keeps the result contiguous */
    RECORD(tn_expand(small, LIST(1, 2, 3), 3), 3, LIST(1, 2, 3), LIST(6, 3, 1), 0);
    assert_true(tn_is_contiguous(tn_expand(small, LIST(1, 2, 3), 3)));
    RECORD(tn_expand(tn_zeros(LIST(1), 1, TN_FLOAT32), LIST(1), 1), 1, LIST(1), LIST(1), 0);
    /* slices clamp, but the offset moves; the stride grows even where one element is left */
    RECORD(tn_slice(tn_zeros(LIST(3, 4), 2, TN_FLOAT32), 0, 100, TN_SLICE_END, 1), 2, LIST(0, 4), LIST(4, 1), 12);
    RECORD(tn_slice(x, 0, 0, TN_SLICE_END, 10), 2, LIST(1, 5), LIST(50, 1), 0);
    RECORD(tn_slice(x, 0, 0, INT64_MIN, 1), 2, LIST(0, 5), LIST(5, 1), 0);
    RECORD(tn_slice(x, 1, INT64_MIN, -1, 1), 2, LIST(3, 4), LIST(5, 1), 0);
    RECORD(tn_narrow(x, 1, -2, 2), 2, LIST(3, 2), LIST(5, 1), 3);
    /* as_strided counts from the storage, sees all of it, and does not judge what is empty */
    tn_tensor *inner = tn_narrow(x, 0, 1, 1);
    RECORD(tn_as_strided(inner, LIST(3), LIST(7), 1, 0), 1, LIST(3), LIST(7), 0);
    RECORD(tn_as_strided(inner, LIST(0), LIST(9), 1, 100), 1, LIST(0), LIST(9), 100);
    assert_null(tn_as_strided(inner, LIST(3), LIST(7), 1, 1));
    assert_int_equal(tn_error_code(), TN_ERROR_BOUNDS);
    tn_error_clear();
    /* element counts are checked in 64 bits; large expansions of one element are legal */
    assert_null(tn_view(empty, LIST(-1, 0), 2));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_tensor *wide = tn_expand(tn_zeros(LIST(1), 1, TN_FLOAT32), LIST(INT64_C(1) << 40), 1);
    assert_true(tn_numel(wide) == INT64_C(1) << 40);
    assert_null(tn_expand(wide, LIST(INT64_C(1) << 40, INT64_C(1) << 40), 2));
    assert_int_equal(tn_error_code(), TN_ERROR_OVERFLOW);
    tn_error_clear();
    assert_null(tn_contiguous(tn_expand(wide, LIST(INT64_C(1) << 22, INT64_C(1) << 40), 2)));
    assert_true(tn_error_code() == TN_ERROR_OVERFLOW || tn_error_code() == TN_ERROR_MEMORY);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Strides and offsets at the edge of 64 bits: errors or views, but no overflow on the way (UBSan watches). */
static void extreme_views(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(6), 1, TN_FLOAT32);
    const int64_t most = INT64_MAX, huge[] = {most, most / 2, most / 4, INT64_C(1) << 62, INT64_C(1) << 61};
    for (int i = 0; i < 5; i++) {
        int64_t stride = huge[i];
        tn_tensor *views[] = {tn_as_strided(x, LIST(1, 2), LIST(stride, 1), 2, 1),
                              tn_as_strided(x, LIST(0, 3), LIST(1, stride), 2, 0),
                              tn_as_strided(x, LIST(0), LIST(1), 1, stride),
                              tn_as_strided(x, LIST(2), LIST(stride), 1, 0),
                              tn_as_strided(x, LIST(stride, 0), LIST(1, 1), 2, 0),
                              tn_as_strided(x, LIST(1, 1), LIST(stride, stride), 2, 2)};
        tn_error_clear();
        for (int k = 0; k < 6; k++) {
            tn_tensor *v = views[k];
            if (!v)
                continue;
            int last = tn_ndim(v) - 1;
            tn_unsqueeze(v, 0);
            tn_error_clear();
            tn_unsqueeze(v, last);
            tn_error_clear();
            tn_narrow(v, 0, tn_size(v, 0), 0);
            tn_error_clear();
            tn_narrow(v, last, tn_size(v, last), 0);
            tn_error_clear();
            tn_slice(v, 0, 100, TN_SLICE_END, 1);
            tn_error_clear();
            tn_slice(v, 0, 0, TN_SLICE_END, most);
            tn_error_clear();
            tn_expand(v, LIST(1, tn_size(v, 0), last ? tn_size(v, last) : 1), 3);
            tn_error_clear();
            tn_view(v, LIST(-1), 1);
            tn_error_clear();
            tn_view(v, LIST(0, stride), 2);
            tn_error_clear();
            tn_view(v, LIST(0, stride, stride), 3);
            tn_error_clear();
            tn_transpose(v, 0, last);
            tn_contiguous(v);
            tn_error_clear();
            tn_tensor *copy = tn_clone(v), *sum = tn_add(v, v);
            if (copy && tn_numel(v) < 10)
                assert_true(tn_equal(copy, v));
            tn_error_clear();
            if (sum)
                tn_sum(v, NULL, 0, false, TN_DTYPE_NONE);
            tn_error_clear();
            tn_argmax_all(v, false);
            tn_error_clear();
            tn_argmax(v, last, true);
            tn_error_clear();
            tn_amax(v, NULL, 0, false);
            tn_error_clear();
            tn_matmul(v, tn_transpose(v, 0, last));
            tn_error_clear();
            tn_linear(v, v, NULL);
            tn_error_clear();
            tn_lt(v, copy);
            tn_exp(v);
            tn_error_clear();
            tn_fill_(v, tn_int(0));
            tn_to(v, TN_FLOAT64);
            tn_error_clear();
        }
    }
    tn_scope_end(scope);
}

TEST_MAIN(test(view_strides), test(density_and_contiguity), test(extreme_numbers), test(broadcasting),
          test(wrapped_dims), test(odd_facts), test(extreme_views))
