/* W6: memory-bound operations: 10 million elements pointwise, 4096 x 4096 for reductions and copies.
 *
 * The yardstick writes into the same buffers again and again, so it is the limit of "fresh" rows too. */
#include "bench.h"
#include "yardstick.h"
#include <math.h>

enum { LONG = 10000000, SIDE = 4096 };

static int which(const fixture *f)
{
    return f->dtype == TN_FLOAT64;
}

static bool setup_pair(fixture *f)
{
    const int64_t size[] = {LONG};
    size_t bytes = LONG * tn_itemsize(f->dtype);
    f->numel = f->result_numel = LONG;
    f->cx = bench_values(f, LONG, 1, 1, 0);
    f->cy = bench_values(f, LONG, 2, 1, 0);
    f->cout = bench_block(f, bytes);
    if (!f->cx || !f->cy || !f->cout)
        return false;
    f->x = tn_from_array(f->cx, size, 1, f->dtype);
    f->y = tn_from_array(f->cy, size, 1, f->dtype);
    f->out = tn_empty(size, 1, f->dtype);
    return f->x && f->y && f->out;
}

/* A matrix; the result has result_numel elements. */
static bool setup_square(fixture *f, int64_t result_numel)
{
    f->rows = f->cols = SIDE;
    f->numel = (int64_t)SIDE * SIDE;
    f->result_numel = result_numel;
    f->cx = bench_values(f, f->numel, 1, 1, 0);
    f->cout = bench_block(f, (size_t)result_numel * tn_itemsize(f->dtype));
    f->cy = bench_block(f, SIDE * sizeof(double)); /* sums of rows, on the way to the sum of all */
    if (!f->cx || !f->cout || !f->cy)
        return false;
    f->x = tn_from_array(f->cx, (int64_t[]){SIDE, SIDE}, 2, f->dtype);
    return f->x != NULL;
}

static bool setup_sum(fixture *f)
{
    return setup_square(f, 1);
}

static bool setup_sum_dim(fixture *f)
{
    return setup_square(f, SIDE);
}

static bool setup_transposed(fixture *f)
{
    return setup_square(f, (int64_t)SIDE * SIDE);
}

static bool setup_strided(fixture *f)
{
    return setup_square(f, (int64_t)SIDE * SIDE / 2);
}

/* Tenon's side of a row that makes a new tensor each time, and of one that writes into f->out. */
#define FRESH(name, call)                                                                                              \
    static tn_tensor *name(fixture *f, int64_t n)                                                                      \
    {                                                                                                                  \
        for (; n > 1; n--) {                                                                                           \
            tn_tensor *z = call;                                                                                       \
            tn_drop(&z);                                                                                               \
        }                                                                                                              \
        return call;                                                                                                   \
    }
#define OUT(name, call)                                                                                                \
    static tn_tensor *name(fixture *f, int64_t n)                                                                      \
    {                                                                                                                  \
        tn_status status = TN_OK;                                                                                      \
        for (; n > 0; n--)                                                                                             \
            status = call;                                                                                             \
        return status == TN_OK ? f->out : NULL;                                                                        \
    }

FRESH(add_fresh, tn_add(f->x, f->y))
OUT(add_out, tn_add_out(f->out, f->x, f->y))
FRESH(relu_fresh, tn_relu(f->x))
OUT(relu_out, tn_relu_out(f->out, f->x))
FRESH(exp_fresh, tn_exp(f->x))
OUT(exp_out, tn_exp_out(f->out, f->x))
FRESH(sigmoid_fresh, tn_sigmoid(f->x))
OUT(sigmoid_out, tn_sigmoid_out(f->out, f->x))
FRESH(tanh_fresh, tn_tanh(f->x))
OUT(tanh_out, tn_tanh_out(f->out, f->x))
FRESH(sum_all, tn_sum(f->x, NULL, 0, false, TN_DTYPE_NONE))
FRESH(sum_dim_0, tn_sum(f->x, (int[]){0}, 1, false, TN_DTYPE_NONE))
FRESH(sum_dim_1, tn_sum(f->x, (int[]){1}, 1, false, TN_DTYPE_NONE))

/* The contiguous copy of a view, which dies with it. */
static tn_tensor *copy_view(tn_tensor *view)
{
    tn_tensor *copy = tn_contiguous(view);
    tn_drop(&view);
    return copy;
}

FRESH(transposed_copy, copy_view(tn_T(f->x)))
FRESH(strided_copy, copy_view(tn_slice(f->x, 1, 0, TN_SLICE_END, 2)))

/* The yardstick's side: one job, cut along `extent` indices. */
#define JOB(name, function, extent)                                                                                    \
    static void name(fixture *f, int64_t n)                                                                            \
    {                                                                                                                  \
        const job j = {.out = f->cout, .x = f->cx, .y = f->cy, .rows = f->rows, .cols = f->cols};                      \
        for (; n > 0; n--)                                                                                             \
            yardstick_run(yardstick_pick()->function[which(f)], &j, extent, f->threads);                               \
    }

JOB(c_copy, copy, f->numel)
JOB(c_add, add, f->numel)
JOB(c_relu, relu, f->numel)
JOB(c_sum_dim_0, sum_columns, f->cols)
JOB(c_sum_dim_1, sum_rows, f->rows)
JOB(c_transposed, transpose, f->cols)
JOB(c_strided, even, f->result_numel)

static void c_sum(fixture *f, int64_t n)
{
    const job j = {.out = f->cy, .x = f->cx, .rows = f->rows, .cols = f->cols};
    for (; n > 0; n--) {
        double total = 0;
        yardstick_run(yardstick_pick()->sum_rows[which(f)], &j, f->rows, f->threads);
        for (int64_t r = 0; r < f->rows; r++)
            total += bench_load(f->cy, r, f->dtype);
        if (f->dtype == TN_FLOAT32)
            *(float *)f->cout = (float)total;
        else
            *(double *)f->cout = total;
    }
}

static double exp_expected(const fixture *f, int64_t i)
{
    return exp(bench_load(f->cx, i, f->dtype));
}

static double sigmoid_expected(const fixture *f, int64_t i)
{
    return 1 / (1 + exp(-bench_load(f->cx, i, f->dtype)));
}

static double tanh_expected(const fixture *f, int64_t i)
{
    return tanh(bench_load(f->cx, i, f->dtype));
}

#define W6(text, types, operands, ...)                                                                                 \
    {                                                                                                                  \
        .work = "W6", .name = text, .unit = UNIT_GBS, .dtypes = types, .traffic = operands, __VA_ARGS__                \
    }
#define PAIR(text, types, operands, ...)   W6(text, types, (double)(operands)*LONG, .setup = setup_pair, __VA_ARGS__)
#define SQUARE(text, types, operands, ...) W6(text, types, (double)(operands)*SIDE *SIDE, __VA_ARGS__)
#define BOTH                               (DTYPE_F32 | DTYPE_F64)

const row rows_w6[] = {
    PAIR("add, fresh", BOTH, 3, .tenon = add_fresh, .c = c_add),
    PAIR("add, out", BOTH, 3, .tenon = add_out, .c = c_add),
    PAIR("relu, fresh", DTYPE_F32, 2, .tenon = relu_fresh, .c = c_relu),
    PAIR("relu, out", DTYPE_F32, 2, .tenon = relu_out, .c = c_relu),
    PAIR("exp, fresh", BOTH, 2, .tenon = exp_fresh, .c = c_copy, .expected = exp_expected),
    PAIR("exp, out", BOTH, 2, .tenon = exp_out, .c = c_copy, .expected = exp_expected),
    PAIR("sigmoid, fresh", DTYPE_F32, 2, .tenon = sigmoid_fresh, .c = c_copy, .expected = sigmoid_expected),
    PAIR("sigmoid, out", DTYPE_F32, 2, .tenon = sigmoid_out, .c = c_copy, .expected = sigmoid_expected),
    PAIR("tanh, fresh", DTYPE_F32, 2, .tenon = tanh_fresh, .c = c_copy, .expected = tanh_expected),
    PAIR("tanh, out", DTYPE_F32, 2, .tenon = tanh_out, .c = c_copy, .expected = tanh_expected),
    SQUARE("sum all", BOTH, 1, .setup = setup_sum, .tenon = sum_all, .c = c_sum),
    SQUARE("sum dim 0", BOTH, 1, .setup = setup_sum_dim, .tenon = sum_dim_0, .c = c_sum_dim_0),
    SQUARE("sum dim 1", BOTH, 1, .setup = setup_sum_dim, .tenon = sum_dim_1, .c = c_sum_dim_1),
    SQUARE("transposed copy", DTYPE_F32, 2, .setup = setup_transposed, .tenon = transposed_copy, .c = c_transposed),
    SQUARE("strided copy", DTYPE_F32, 1, .setup = setup_strided, .tenon = strided_copy, .c = c_strided),
};
const int rows_w6_count = sizeof rows_w6 / sizeof *rows_w6;
