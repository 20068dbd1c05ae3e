/* cumsum and cumprod: what has come together so far along one dim. Rules of torch.cumsum and torch.cumprod.
 *
 * Totals are kept in float64 (int64 that wraps, complex128) and each is rounded for itself, as PyTorch's are. Where
 * other dims are the dense ones, rows of columns go along together. */
#include <string.h>
#include <tenon/create.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "base/pool.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/walk.h"
#include "ops/wide_row.h"

enum { SUM, PRODUCT };

enum { LEAST_COLUMNS = 8 };

typedef struct cumulative_attr {
    int64_t dim;
    tn_dtype dtype;
} cumulative_attr;

typedef struct job {
    tni_walk kept;
    const char *x;
    char *out;
    tni_wide_rows rows;
    int64_t n, stride, out_stride; /* along the dim */
    int64_t columns;               /* results of the kept walk's first dim that go along together; 1: none do */
    int64_t tiles;                 /* such groups in that dim */
    bool product;
} job;

/* 0-dim tensors are one element along their only dim. */
static int dim_of(const tni_call *call)
{
    return tni_wrap_dim(tni_call_name(call), ((const cumulative_attr *)call->attr)->dim, call->in[0]->ndim);
}

static tn_status cumulative_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const char *name = tni_call_name(call);
    tn_dtype dtype = ((const cumulative_attr *)call->attr)->dtype;
    if (dim_of(call) < 0 || (dtype != TN_DTYPE_NONE && tni_check_dtype(name, dtype)))
        return tni_pending();
    if (dtype != TN_DTYPE_NONE && call->form == TNI_IN_PLACE && dtype != (tn_dtype)x->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor to write is %s, the dtype %s, needed the same",
                        tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name(dtype));
    if (dtype == TN_DTYPE_NONE && call->form == TNI_OUT)
        dtype = (tn_dtype)call->out[0]->dtype;
    if (dtype == TN_DTYPE_NONE)
        dtype = tni_dtype_kind((tn_dtype)x->dtype) <= TNI_INT && call->form == TNI_NEW ? TN_INT64 : (tn_dtype)x->dtype;
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)) && x->dtype != TN_BOOL)
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    return tni_meta_contiguous(call, meta, x->ndim, dtype, (tn_device_type)x->device);
}

/* Takes n numbers of a row into the totals. */
static void take(const job *j, tni_wide_number *total, const void *row, int64_t n)
{
    const double *f = row;
    double *sums = (double *)(void *)total;
    uint64_t *counts = (uint64_t *)(void *)total;
    if (j->product) {
        const int64_t size = j->rows.lane_itemsize;
        for (int64_t c = 0; c < n; c++) {
            tni_wide_number a, b;
            memcpy(&a, (char *)total + c * size, (size_t)size);
            memcpy(&b, (const char *)row + c * size, (size_t)size);
            a = tni_wide_times(j->rows.lane, a, b);
            memcpy((char *)total + c * size, &a, (size_t)size);
        }
    } else if (j->rows.lane == TN_INT64) {
        for (int64_t c = 0; c < n; c++)
            counts[c] += ((const uint64_t *)row)[c];
    } else {
        for (int64_t c = 0; c < (j->rows.lane == TN_COMPLEX128 ? 2 * n : n); c++)
            sums[c] += f[c];
    }
}

/* n totals of nothing, densely. */
static void begin(const job *j, tni_wide_number *total, int64_t n)
{
    const tni_wide_number one = tni_wide_one(j->rows.lane);
    memset(total, 0, (size_t)n * sizeof *total);
    for (int64_t c = 0; j->product && c < n; c++)
        memcpy((char *)total + c * j->rows.lane_itemsize, &one, (size_t)j->rows.lane_itemsize);
}

/* Turns a row into its running totals. */
static void scan(const job *j, tni_wide_number *total, char *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++, row += j->rows.lane_itemsize) {
        take(j, total, row, 1);
        memcpy(row, total, (size_t)j->rows.lane_itemsize);
    }
}

static void along_row(const job *j, const char *x, char *out)
{
    _Alignas(64) char row[TNI_WIDE_ROW * sizeof(tni_wide_number)];
    tni_wide_number total;
    begin(j, &total, 1);
    for (int64_t i = 0; i < j->n; i += TNI_WIDE_ROW) {
        const int64_t n = j->n - i < TNI_WIDE_ROW ? j->n - i : TNI_WIDE_ROW;
        tni_wide_load(&j->rows, row, x + i * j->stride * j->rows.itemsize, j->stride, n);
        scan(j, &total, row, n);
        tni_wide_store(&j->rows, out + i * j->out_stride * j->rows.out_itemsize, j->out_stride, row, n);
    }
}

static void along_columns(const job *j, const char *x, char *out, int64_t columns)
{
    _Alignas(64) char row[TNI_WIDE_ROW * sizeof(tni_wide_number)];
    tni_wide_number totals[TNI_WIDE_ROW];
    begin(j, totals, columns);
    for (int64_t i = 0; i < j->n; i++) {
        tni_wide_load(&j->rows, row, x + i * j->stride * j->rows.itemsize, j->kept.strides[0], columns);
        take(j, totals, row, columns);
        tni_wide_store(&j->rows, out + i * j->out_stride * j->rows.out_itemsize, j->kept.out_strides[0], totals,
                       columns);
    }
}

static void cumulative_task(void *context, int64_t task)
{
    const job *j = context;
    const int64_t first = task % j->tiles * j->columns, left = j->kept.sizes[0] - first;
    int64_t to, from = tni_walk_at(&j->kept, task / j->tiles * j->kept.sizes[0] + first, &to);
    const char *x = j->x + from * j->rows.itemsize;
    char *out = j->out + to * j->rows.out_itemsize;
    if (j->columns == 1)
        along_row(j, x, out);
    else
        along_columns(j, x, out, left < j->columns ? left : j->columns);
}

static void cumulative_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const int dim = x->ndim > 0 ? dim_of(call) : 0;
    job j;
    (void)workspace;
    if (x->numel == 0)
        return;
    tni_walk_make(&j.kept, x, x->ndim > 0 ? UINT64_C(1) << dim : 0, false, out->strides);
    j.x = tni_data(x);
    j.out = tni_data(out);
    j.rows = tni_wide_rows_of(x, out);
    j.product = call->op->family == PRODUCT;
    j.n = x->ndim > 0 ? x->sizes[dim] : 1;
    j.stride = x->ndim > 0 ? x->strides[dim] : 0;
    j.out_stride = x->ndim > 0 ? out->strides[dim] : 0;
    j.columns = j.kept.strides[0] == 1 && j.kept.sizes[0] >= LEAST_COLUMNS ? TNI_WIDE_ROW : 1;
    j.tiles = (j.kept.sizes[0] + j.columns - 1) / j.columns;
    const int64_t tasks = j.kept.numel / j.kept.sizes[0] * j.tiles;
    if (x->numel >= 2 * TNI_GRAIN)
        tni_parallel_for(tasks, cumulative_task, &j);
    else
        for (int64_t task = 0; task < tasks; task++)
            cumulative_task(&j, task);
}

/* Element i is in the sums i, i + 1, ...: the gradient is summed from the end. */
static void cumsum_vjp(tni_vjp *v)
{
    const int64_t dim = ((const cumulative_attr *)v->attr)->dim;
    if (v->grad->ndim == 0)
        v->grads[0] = v->grad;
    else
        v->grads[0] = tn_flip(tn_cumsum(tn_flip(v->grad, &dim, 1), (int)dim, TN_DTYPE_NONE), &dim, 1);
}

static const tni_derivative cumsum_derivative = {.linear = true, .vjp = cumsum_vjp};

/* dL/dx_j = sum over k >= j of g_k y_k / x_j. Where an element is 0, y_k / x_j comes from [n, n] rows, in each of which
 * one element is 1 instead. */
static void cumprod_vjp(tni_vjp *v)
{
    const int dim = (int)((const cumulative_attr *)v->attr)->dim;
    const int64_t at = dim;
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    if (!x || !y)
        return;
    if (x->ndim == 0) {
        v->grads[0] = v->grad;
        return;
    }
    x = tn_to(x, (tn_dtype)v->grad->dtype);
    if (!tni_has_zero(x)) {
        tn_tensor *each = tn_flip(tn_mul(v->grad, tni_conj_of(y)), &at, 1);
        v->grads[0] = tn_div(tn_flip(tn_cumsum(each, dim, TN_DTYPE_NONE), &at, 1), tni_conj_of(x));
        return;
    }
    const int64_t n = tn_size(x, dim);
    const int last = -1;
    tn_tensor *rows = tn_masked_fill(tn_unsqueeze(tn_transpose(x, dim, -1), -2), tn_eye(n, n, TN_BOOL), tn_int(1));
    rows = tn_triu(tn_cumprod(rows, -1, TN_DTYPE_NONE), 0);
    tn_tensor *grad = tn_mul(tn_unsqueeze(tn_transpose(v->grad, dim, -1), -2), tni_conj_of(rows));
    v->grads[0] = tn_transpose(tn_sum(grad, &last, 1, false, TN_DTYPE_NONE), dim, -1);
}

static const tni_derivative cumprod_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = cumprod_vjp};

static const cumulative_attr cumulative_default = {0, TN_DTYPE_NONE};

#define CUMULATIVE(op, row, more)                                                                                      \
    const tni_op tni_op_##op = {                                                                                       \
        .name = TNI_NAMES(op),                                                                                         \
        .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', cumulative_attr, dim),                                  \
                   TNI_OPTIONAL("dtype", 'D', cumulative_attr, dtype)},                                                \
        .n_params = 3,                                                                                                 \
        .n_in = 1,                                                                                                     \
        .n_out = 1,                                                                                                    \
        .dtypes = TNI_REALS | TNI_WIDE_UNSIGNED | TNI_COMPLEXES,                                                       \
        .attr_bytes = sizeof(cumulative_attr),                                                                         \
        .attr_default = &cumulative_default,                                                                           \
        .infer = cumulative_infer,                                                                                     \
        .run = cumulative_run,                                                                                         \
        .derivative = &op##_derivative,                                                                                \
        .exact_out_dtype = true,                                                                                       \
        .family = row,                                                                                                 \
        .samples = "[3,4] 0 | [3,4] -1 | [2,3,5] 1 | [] 0 | [10] 0 | [10,20] 0 | [0,3] 0 | [0,3] 1 | " more            \
                   "[3,4] 0 float64 | ! [3,4] 2 | ! [] 1"};                                                            \
                                                                                                                       \
    tn_tensor *tn_##op(tn_tensor *x, int dim, tn_dtype dtype)                                                          \
    {                                                                                                                  \
        return tni_call_new(&tni_op_##op, &x, &(cumulative_attr){dim, dtype});                                         \
    }                                                                                                                  \
                                                                                                                       \
    tn_status tn_##op##_(tn_tensor *x, int dim)                                                                        \
    {                                                                                                                  \
        return tni_call_in_place(&tni_op_##op, &x, &(cumulative_attr){dim, TN_DTYPE_NONE});                            \
    }                                                                                                                  \
                                                                                                                       \
    tn_status tn_##op##_out(tn_tensor *out, tn_tensor *x, int dim)                                                     \
    {                                                                                                                  \
        return tni_call_out(&tni_op_##op, out, &x, &(cumulative_attr){dim, TN_DTYPE_NONE});                            \
    }

CUMULATIVE(cumsum, SUM, "[300] 0 | [300,20] 0 | ")
CUMULATIVE(cumprod, PRODUCT, "")
