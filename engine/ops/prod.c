/* prod, with the operator that its derivative needs where an element is 0: prod_others, the product of all elements but
 * one. Rules of torch.prod.
 *
 * Elements are multiplied in float64 (complex128, int64 that wraps) in the order of the walk, four products beside each
 * other, and rounded once. */
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
#include "ops/reduce_attr.h"
#include "ops/tape.h"
#include "ops/walk.h"
#include "ops/wide_row.h"

typedef tni_wide_number product;

typedef struct job {
    tni_walk kept, reduced;
    const char *x;
    char *out;
    tni_wide_rows rows;
} job;

/* Multiplies n dense elements of the lane into four products. */
static void multiply(tn_dtype lane, product *four, const void *block, int64_t n)
{
    const double *f = block;
    const int64_t *i = block;
    if (lane == TN_FLOAT64)
        for (int64_t k = 0; k < n; k++)
            four[k % 4].f64 *= f[k];
    else if (lane == TN_INT64)
        for (int64_t k = 0; k < n; k++)
            four[k % 4].i64 = (int64_t)((uint64_t)four[k % 4].i64 * (uint64_t)i[k]);
    else
        for (int64_t k = 0; k < n; k++)
            four[k % 4] = tni_wide_times(lane, four[k % 4], (product){.c128 = {f[2 * k], f[2 * k + 1]}});
}

static void prod_task(void *context, int64_t result)
{
    const job *j = context;
    const tni_walk *w = &j->reduced;
    _Alignas(64) char block[TNI_WIDE_ROW * sizeof(product)];
    int64_t out, unused;
    const char *x = j->x + tni_walk_at(&j->kept, result, &out) * j->rows.itemsize;
    const tn_dtype lane = j->rows.lane;
    const product one = tni_wide_one(lane);
    product four[4] = {one, one, one, one};
    for (int64_t row = 0; row < w->numel; row += w->sizes[0]) {
        const char *at = x + tni_walk_at(w, row, &unused) * j->rows.itemsize;
        for (int64_t i = 0; i < w->sizes[0]; i += TNI_WIDE_ROW) {
            const int64_t n = w->sizes[0] - i < TNI_WIDE_ROW ? w->sizes[0] - i : TNI_WIDE_ROW;
            tni_wide_load(&j->rows, block, at + i * w->strides[0] * j->rows.itemsize, w->strides[0], n);
            multiply(lane, four, block, n);
        }
    }
    four[0] = tni_wide_times(lane, four[0], four[2]);
    four[1] = tni_wide_times(lane, four[1], four[3]);
    const product y = tni_wide_times(lane, four[0], four[1]);
    tni_wide_store(&j->rows, j->out + out * j->rows.out_itemsize, 0, &y, 1);
}

static void prod_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const tni_reduce_attr *attr = call->attr;
    int64_t out_strides[TN_MAX_NDIM];
    uint64_t mask;
    job j;
    (void)workspace;
    tni_reduced_dims(tni_call_name(call), x, &attr->dims, &mask); /* infer made sure */
    tni_kept_strides(x, out, mask, attr->keepdim, out_strides);
    tni_walk_make(&j.kept, x, mask, false, out_strides);
    tni_walk_make(&j.reduced, x, mask, true, out_strides);
    j.x = tni_data(x);
    j.out = tni_data(out);
    j.rows = tni_wide_rows_of(x, out);
    if (x->numel >= 2 * TNI_GRAIN)
        tni_parallel_for(j.kept.numel, prod_task, &j);
    else
        for (int64_t result = 0; result < j.kept.numel; result++)
            prod_task(&j, result);
}

static tn_status prod_infer(tni_call *call, tni_meta *meta)
{
    const tni_reduce_attr *attr = call->attr;
    if (attr->dims.n > 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "%d dims, needed one at most", attr->dims.n);
    return tni_reduce_infer(call, meta);
}

bool tni_has_zero(tn_tensor *x)
{
    if (!x || x->device == TN_META)
        return false;
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *count = tn_sum(tn_eq_scalar(x, tn_int(0)), NULL, 0, false, TN_DTYPE_NONE);
    tn_grad_mode_restore(mode);
    return count && tn_item(count) > 0;
}

/* As PyTorch's: the result over the element, and where an element is 0 the product of the others. */
static void prod_vjp(tni_vjp *v)
{
    const tni_reduce_attr *attr = v->attr;
    const bool all = attr->dims.n == 0;
    const tni_shape shape = tni_input_shape(v, 0);
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v), *slope;
    if (!x || !y)
        return;
    if (x->ndim == 0) {
        v->grads[0] = v->grad;
        return;
    }
    x = tn_to(x, (tn_dtype)v->grad->dtype);
    if (!tni_has_zero(x))
        slope = tn_div(tni_reduced_reinserted(v, y), x);
    else if (all)
        slope = tn_view(tn_prod_others(tn_reshape(x, (int64_t[]){-1}, 1), 0), shape.sizes, shape.ndim);
    else
        slope = tn_prod_others(x, (int)attr->dims.data[0]);
    v->grads[0] = tn_mul(tni_reduced_reinserted(v, v->grad), tni_conj_of(slope));
}

static const char *prod_node(const tni_node *node)
{
    return ((const tni_reduce_attr *)node->attr)->dims.n == 0 ? "ProdBackward0" : "ProdBackward1";
}

static const tni_derivative prod_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = prod_vjp, .named = prod_node};

static const tni_reduce_attr prod_default = {.dtype = TN_DTYPE_NONE};

const tni_op tni_op_prod = {
    .name = TNI_NAMES_NEW_OUT(prod),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims),
               TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim),
               TNI_OPTIONAL("dtype", 'D', tni_reduce_attr, dtype)},
    .n_params = 4, .n_in = 1, .n_out = 1, .dtypes = TNI_ANY_REALS | TNI_COMPLEXES,
    .attr_bytes = sizeof(tni_reduce_attr), .attr_default = &prod_default, .infer = prod_infer, .run = prod_run,
    .derivative = &prod_derivative, .exact_out_dtype = true, .family = TNI_REDUCE_SUM,
    .samples = "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,5] 1 | [] | [10] 0 | [0,3] | [0,3] 0 | [3,4] 0 false float64 | "
               "! [3,4] 2 | ! [3,4] (0,1)"};

typedef struct others_attr {
    int64_t dim;
} others_attr;

static tn_status others_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    if (tni_wrap_dim(tni_call_name(call), ((const others_attr *)call->attr)->dim, x->ndim) < 0)
        return tni_pending();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    return tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

static int others_dim(const tni_call *call)
{
    return tni_wrap_dim(tni_call_name(call), ((const others_attr *)call->attr)->dim, call->in[0]->ndim);
}

/* A row of the lane, and the products up to each of its elements. */
static size_t others_workspace(const tni_call *call)
{
    const tn_tensor *x = call->in[0];
    return x->ndim > 0 ? 2 * (size_t)x->sizes[others_dim(call)] * sizeof(product) : 2 * sizeof(product);
}

static product element(const job *j, const char *row, int64_t i)
{
    product x = {.c128 = {0, 0}};
    memcpy(&x, row + i * j->rows.lane_itemsize, (size_t)j->rows.lane_itemsize);
    return x;
}

/* Of a row: the product before each element times the product behind it. */
static void others_of_row(const job *j, const char *x, int64_t stride, char *out, int64_t out_stride, int64_t n,
                          char *room)
{
    product *before = (product *)(void *)room, behind = tni_wide_one(j->rows.lane);
    char *row = room + n * (int64_t)sizeof *before;
    for (int64_t i = 0; i < n; i += TNI_WIDE_ROW)
        tni_wide_load(&j->rows, row + i * j->rows.lane_itemsize, x + i * stride * j->rows.itemsize, stride,
                      n - i < TNI_WIDE_ROW ? n - i : TNI_WIDE_ROW);
    for (int64_t i = 0; i < n; i++)
        before[i] = i == 0 ? behind : tni_wide_times(j->rows.lane, before[i - 1], element(j, row, i - 1));
    for (int64_t i = n - 1; i >= 0; i--) {
        const product y = tni_wide_times(j->rows.lane, before[i], behind);
        tni_wide_store(&j->rows, out + i * out_stride * j->rows.out_itemsize, 0, &y, 1);
        behind = tni_wide_times(j->rows.lane, behind, element(j, row, i));
    }
}

static void others_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const int dim = others_dim(call);
    const uint64_t mask = x->ndim > 0 ? UINT64_C(1) << dim : 0;
    job j;
    tni_walk_make(&j.kept, x, mask, false, out->strides);
    j.x = tni_data(x);
    j.out = tni_data(out);
    j.rows = tni_wide_rows_of(x, out);
    for (int64_t row = 0; x->numel > 0 && row < j.kept.numel; row++) {
        int64_t to, from = tni_walk_at(&j.kept, row, &to);
        others_of_row(&j, j.x + from * j.rows.itemsize, mask ? x->strides[dim] : 0, j.out + to * j.rows.out_itemsize,
                      mask ? out->strides[dim] : 0, mask ? x->sizes[dim] : 1, workspace);
    }
}

/* Without zeros: of all products but the own one, each over the element. With them: [n, n] rows, in each of which one
 * element is 1 instead. */
static void others_vjp(tni_vjp *v)
{
    const int dim = (int)((const others_attr *)v->attr)->dim;
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    if (!x || !y)
        return;
    if (!tni_has_zero(x)) {
        tn_tensor *each = tn_mul(v->grad, tni_conj_of(y));
        v->grads[0] = tn_div(tn_sub(tn_sum(each, &dim, 1, true, TN_DTYPE_NONE), each), tni_conj_of(x));
        return;
    }
    const int64_t n = x->ndim > 0 ? tn_size(x, dim) : 1;
    tn_tensor *own = tn_eye(n, n, TN_BOOL), *rows = x->ndim > 0 ? tn_transpose(x, dim, -1) : tn_unsqueeze(x, 0);
    tn_tensor *grad = x->ndim > 0 ? tn_transpose(v->grad, dim, -1) : tn_unsqueeze(v->grad, 0);
    rows = tn_masked_fill(tn_unsqueeze(rows, -2), own, tn_int(1));
    rows = tn_masked_fill(tn_prod_others(rows, -1), own, tn_int(0));
    const int sum_dim = -2;
    grad = tn_sum(tn_mul(tn_unsqueeze(grad, -1), tni_conj_of(rows)), &sum_dim, 1, false, TN_DTYPE_NONE);
    v->grads[0] = x->ndim > 0 ? tn_transpose(grad, dim, -1) : tn_select(grad, 0, 0);
}

static const tni_derivative others_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = others_vjp};

const tni_op tni_op_prod_others = {
    .name = TNI_NAMES_NEW(prod_others), .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', others_attr, dim)},
    .n_params = 2, .n_in = 1, .n_out = 1, .dtypes = TNI_FLOATS | TNI_COMPLEXES, .attr_bytes = sizeof(others_attr),
    .infer = others_infer, .workspace = others_workspace, .run = others_run, .derivative = &others_derivative,
    .samples = "[3,4] 0 | [3,4] -1 | [2,3,5] 1 | [10] 0 | [] 0 | [0,3] 0 | [0,3] 1 | [1,3] 0 | ! [3,4] 2"};

tn_tensor *tn_prod_others(tn_tensor *x, int dim)
{
    return tni_call_new(&tni_op_prod_others, &x, &(others_attr){dim});
}

static tn_tensor *prod(tn_tensor *x, const tni_reduce_attr *attr)
{
    return tni_call_new(&tni_op_prod, &x, attr);
}

tn_tensor *tn_prod(tn_tensor *x, tn_dtype dtype)
{
    return prod(x, &(tni_reduce_attr){.dtype = dtype});
}

tn_tensor *tn_prod_dim(tn_tensor *x, int dim, bool keepdim, tn_dtype dtype)
{
    const int64_t dims[1] = {dim};
    return prod(x, &(tni_reduce_attr){.dims = {dims, 1}, .keepdim = keepdim, .dtype = dtype});
}

tn_status tn_prod_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim)
{
    const int64_t dims[1] = {dim};
    return tni_call_out(&tni_op_prod, out, &x,
                        &(tni_reduce_attr){.dims = {dims, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE});
}
