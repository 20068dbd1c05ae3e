/* Reductions of many short rows have the bits that each row has by itself, whatever its layout, the CPU level and the
 * threads; and those of the tree in the order that engine/ops/reduce_run.c documents. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/draw.h"
#include "support/test.h"

enum { ROWS = 43, LAYOUTS = 4, OPS = 6 };

static const char *const op_names[OPS] = {"sum", "mean", "amax", "amin", "argmax", "argmin"};
static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 47, 63, 64, 65, 100, 511, 512, 513};

/* Numbers, zeros of both signs and, where `special`, NaN. */
static tn_tensor *values(int64_t n, tn_dtype dtype, bool special)
{
    const int64_t sizes[] = {ROWS, n};
    tn_tensor *x = tn_empty(sizes, 2, TN_FLOAT32);
    float *data = tn_data_f32_mut(x);
    uint64_t state = 88172645463325252u + (uint64_t)n;
    for (int64_t i = 0; data && i < ROWS * n; i++) {
        data[i] = (float)draw_below(&state, 2001) / 97.0f;
        if (state >> 60 == 0)
            data[i] = 0.0f;
        if (special && state >> 60 == 1)
            data[i] = -0.0f;
        if (special && state >> 57 == 127)
            data[i] = __builtin_nanf("");
    }
    return tn_to(x, dtype);
}

/* The same values in another layout: dense, transposed, with gaps between the elements, with gaps between the rows. */
static tn_tensor *laid_out(tn_tensor *x, int layout)
{
    const int64_t n = tn_sizes(x)[1], wide[] = {ROWS, 2 * n}, longer[] = {ROWS, n + 3};
    if (layout == 0)
        return x;
    if (layout == 1)
        return tn_t(tn_contiguous(tn_t(x)));
    tn_tensor *room = tn_zeros(layout == 2 ? wide : longer, 2, tn_tensor_dtype(x));
    tn_tensor *y = layout == 2 ? tn_slice(room, 1, 0, 2 * n, 2) : tn_slice(room, 1, 0, n, 1);
    tn_copy_(y, x);
    return y;
}

static tn_tensor *apply(int op, tn_tensor *x, int dim)
{
    const tn_dtype dtype = tn_tensor_dtype(x);
    switch (op) {
    case 0:
        return tn_sum(x, &dim, 1, false, TN_DTYPE_NONE);
    case 1:
        return tn_mean(x, &dim, 1, false,
                       tn_is_floating_point(dtype) || tn_is_complex(dtype) ? TN_DTYPE_NONE : TN_FLOAT64);
    case 2:
        return tn_amax(x, &dim, 1, false);
    case 3:
        return tn_amin(x, &dim, 1, false);
    case 4:
        return tn_argmax(x, dim, false);
    default:
        return tn_argmin(x, dim, false);
    }
}

static void check_rows(tn_tensor *x, int op, const char *about)
{
    const size_t size = tn_itemsize(tn_tensor_dtype(apply(op, x, 1)));
    char all[ROWS * 16];
    tn_tensor *y = tn_contiguous(apply(op, x, 1));
    if (!tn_data(y))
        fail_msg("%s of %s: %s", op_names[op], about, tn_error_message());
    memcpy(all, tn_data(y), ROWS * size);
    for (int r = 0; r < ROWS; r++) {
        tn_tensor *one = apply(op, tn_select(x, 0, r), 0);
        if (memcmp(tn_data(one), all + (size_t)r * size, size) != 0)
            fail_msg("%s of %s: row %d of %d has other bits than by itself", op_names[op], about, r, ROWS);
    }
}

static void as_each_row(void **state)
{
    static const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64,  TN_INT64, TN_INT32,
                                      TN_FLOAT16, TN_BFLOAT16, TN_UINT8, TN_COMPLEX64};
    static const char *const levels[] = {NULL, "avx2", "default"};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            tn_scope scope = tn_scope_begin();
            char about[120];
            int layout = (int)((i + k) % LAYOUTS), level = (int)((i + 2 * k) % 3);
            tn_tensor *x = laid_out(values(lengths[i], dtypes[k], k < 2), layout);
            snprintf(about, sizeof about, "%s, %d elements, layout %d, level %s", tn_dtype_name(dtypes[k]),
                     (int)lengths[i], layout, levels[level] ? levels[level] : "best");
            if (tn_set_cpu_capability(levels[level]))
                tn_error_clear();
            for (int op = 0; op < (dtypes[k] == TN_COMPLEX64 ? 2 : OPS); op++)
                check_rows(x, op, about);
            tn_scope_end(scope);
        }
    }
    assert_int_equal(tn_set_cpu_capability(NULL), TN_OK);
}

/* One piece: lane l adds elements l, l + 32, ...; then lanes 16, 8, 4, 2, 1 apart are added. */
static double tree(const double *x, int64_t n)
{
    double lanes[32] = {0};
    for (int64_t i = 0; i < n; i++)
        lanes[i % 32] += x[i];
    for (int half = 16; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            lanes[l] += lanes[l + half];
    return lanes[0];
}

static void sums_as_the_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *x = values(lengths[i], TN_FLOAT64, false);
            const double *plain = tn_data_f64(x);
            tn_tensor *y = apply(0, layout == 1 ? tn_slice(laid_out(x, 1), 0, 0, 15, 1) : laid_out(x, layout), 1);
            for (int64_t r = 0; r < tn_numel(y); r++) {
                double wanted = tree(plain + r * lengths[i], lengths[i]);
                if (memcmp(tn_data_f64(y) + r, &wanted, sizeof wanted) != 0)
                    fail_msg("%d elements, layout %d: row %d is %.17g, the tree gives %.17g", (int)lengths[i], layout,
                             (int)r, tn_data_f64(y)[r], wanted);
            }
            tn_scope_end(scope);
        }
    }
}

/* Dims of all kinds around the one that is reduced, shared out among threads, against rows that are made dense first.
 * */
static void among_other_dims(void **state)
{
    const int64_t sizes[] = {300, 3, 40, 5};
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_empty(sizes, 4, TN_FLOAT32);
    float *data = tn_data_f32_mut(x);
    for (int64_t i = 0; data && i < tn_numel(x); i++) /* whole, so that sums are exact in any order */
        data[i] = (float)(i * 7919 % 1009);
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(tn_set_num_threads(threads), TN_OK);
        for (int dim = 0; dim < 4; dim++) {
            tn_tensor *last = tn_contiguous(tn_transpose(x, dim, 3));
            for (int op = 0; op < OPS; op++) {
                tn_tensor *a = tn_contiguous(apply(op, x, dim)), *b = tn_unsqueeze(apply(op, last, 3), 3);
                b = tn_contiguous(tn_squeeze_dim(tn_transpose(b, dim, 3), dim));
                assert_int_equal(tn_numel(a), tn_numel(b));
                if (memcmp(tn_data(a), tn_data(b), (size_t)tn_numel(a) * tn_itemsize(tn_tensor_dtype(a))) != 0)
                    fail_msg("%s over dim %d, %d threads: not what dense rows give", op_names[op], dim, threads);
            }
        }
    }
    tn_scope_end(scope);
    assert_int_equal(tn_set_num_threads(2), TN_OK);
}

TEST_MAIN(test(as_each_row), test(sums_as_the_tree), test(among_other_dims))
