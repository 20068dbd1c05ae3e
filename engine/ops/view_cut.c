/* Views of a part: narrow, select, slice, diagonal, unfold. Rules of torch. */
#include <tenon/create.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/operators.h"
#include "ops/tape.h"
#include "ops/view_cut.h"

typedef struct range_attr {
    int64_t dim, start, end, step;
} range_attr;

typedef struct diagonal_attr {
    int64_t offset, dim1, dim2;
} diagonal_attr;

/* After dims of the geometry were cut; x's elements fitted, so fewer do. */
static void count_elements(tni_meta *meta)
{
    meta->record.numel = 1;
    for (int d = 0; d < meta->record.ndim; d++)
        meta->record.numel *= meta->record.sizes[d];
}

static tn_status refuse_scalar(const char *name, const tn_tensor *x)
{
    return x->ndim > 0 ? TN_OK : TNI_FAIL(TN_ERROR_DIM, name, "the tensor has no dims, needed one to cut");
}

tn_status tni_fail_offset(const char *name, int64_t steps, int64_t stride)
{
    return TNI_FAIL(TN_ERROR_OVERFLOW, name, "%lld steps of stride %lld lead beyond 64 bits", (long long)steps,
                    (long long)stride);
}

static tn_status narrow_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const range_attr *attr = call->attr;
    int dim;
    if (refuse_scalar("narrow", x) || (dim = tni_wrap_dim("narrow", attr->dim, x->ndim)) < 0)
        return tni_pending();
    int64_t size = x->sizes[dim], length = attr->end, start = attr->start;
    if (length < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "narrow", "length %lld, needed 0 or more", (long long)length);
    if (start < -size || start > size)
        return TNI_FAIL(TN_ERROR_INDEX, "narrow", "start %lld in dim %d of size %lld, needed %lld .. %lld",
                        (long long)start, dim, (long long)size, (long long)-size, (long long)size);
    start += start < 0 ? size : 0;
    if (length > size - start)
        return TNI_FAIL(TN_ERROR_INDEX, "narrow",
                        "start %lld and length %lld in dim %d of size %lld, needed at most %lld",
                        (long long)attr->start, (long long)length, dim, (long long)size, (long long)(size - start));
    int64_t *sizes, *strides;
    tni_meta_own_dims(meta, x, &sizes, &strides);
    sizes[dim] = length;
    if (tni_move_offset("narrow", &meta->record, start, x->strides[dim]))
        return tni_pending();
    count_elements(meta);
    return TN_OK;
}

static tn_status select_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const range_attr *attr = call->attr;
    int dim;
    if (refuse_scalar("select", x) || (dim = tni_wrap_dim("select", attr->dim, x->ndim)) < 0)
        return tni_pending();
    int64_t size = x->sizes[dim], index = attr->start;
    if (index < -size || index >= size)
        return TNI_FAIL(TN_ERROR_INDEX, "select", "index %lld in dim %d of size %lld, needed %lld .. %lld",
                        (long long)index, dim, (long long)size, (long long)-size, (long long)size - 1);
    index += index < 0 ? size : 0;
    int64_t *sizes, *strides;
    tni_meta_view_dims(meta, x, x->ndim - 1, &sizes, &strides);
    if (tni_move_offset("select", &meta->record, index, x->strides[dim]))
        return tni_pending();
    for (int d = 0; d < meta->record.ndim; d++) {
        int from = d < dim ? d : d + 1;
        sizes[d] = x->sizes[from];
        strides[d] = x->strides[from];
    }
    count_elements(meta);
    return TN_OK;
}

static tn_status slice_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const range_attr *attr = call->attr;
    int dim;
    if (refuse_scalar("slice", x) || (dim = tni_wrap_dim("slice", attr->dim, x->ndim)) < 0)
        return tni_pending();
    if (attr->step < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "slice", "step %lld, needed 1 or more", (long long)attr->step);
    int64_t size = x->sizes[dim], *sizes, *strides;
    int64_t start = tni_clamp_bound(attr->start, size), end = tni_clamp_bound(attr->end, size);
    if (end < start)
        end = start;
    tni_meta_own_dims(meta, x, &sizes, &strides);
    sizes[dim] = (end - start) / attr->step + ((end - start) % attr->step != 0);
    strides[dim] = tni_step_stride(x->strides[dim], attr->step);
    if (tni_move_offset("slice", &meta->record, start, x->strides[dim]))
        return tni_pending();
    count_elements(meta);
    return TN_OK;
}

/* The elements [i, i + offset] of two dims; their dim comes last. A diagonal that misses is empty and does not move. */
static tn_status diagonal_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const diagonal_attr *attr = call->attr;
    const char *name = "diagonal";
    int a = tni_wrap_dim(name, attr->dim1, x->ndim);
    int b = a < 0 ? -1 : tni_wrap_dim(name, attr->dim2, x->ndim);
    if (b < 0)
        return tni_pending();
    if (a == b)
        return TNI_FAIL(TN_ERROR_DIM, name, "both dims are %d, needed two", a);
    int64_t rows = x->sizes[a], columns = x->sizes[b], offset = attr->offset, *sizes, *strides, stride;
    rows = offset >= 0 ? rows : offset < -rows ? 0 : rows + offset;
    columns = offset <= 0 ? columns : offset > columns ? 0 : columns - offset;
    int64_t length = rows < columns ? rows : columns;
    if (!tni_add_i64(x->strides[a], x->strides[b], &stride))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "stride %lld and stride %lld are more than 64 bits hold",
                        (long long)x->strides[a], (long long)x->strides[b]);
    int kept = 0;
    tni_meta_view_dims(meta, x, x->ndim - 1, &sizes, &strides);
    for (int d = 0; d < x->ndim; d++) {
        if (d == a || d == b)
            continue;
        sizes[kept] = x->sizes[d];
        strides[kept++] = x->strides[d];
    }
    sizes[kept] = length;
    strides[kept] = stride;
    if (length > 0 &&
        tni_move_offset(name, &meta->record, offset < 0 ? -offset : offset, x->strides[offset < 0 ? a : b]))
        return tni_pending();
    count_elements(meta);
    return TN_OK;
}

/* Windows of `size` elements along dim, `step` apart: their elements come last. A scalar has one window. */
static tn_status unfold_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const range_attr *attr = call->attr;
    const char *name = "unfold";
    int64_t size = attr->start, step = attr->end, *sizes, *strides;
    int dim = tni_wrap_dim(name, attr->dim, x->ndim);
    if (dim < 0)
        return tni_pending();
    int64_t have = x->ndim == 0 ? 1 : x->sizes[dim], stride = x->ndim == 0 ? 1 : x->strides[dim];
    if (size < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "windows of size %lld, needed 0 or more", (long long)size);
    if (size > have)
        return TNI_FAIL(TN_ERROR_INDEX, name, "windows of size %lld in dim %d of size %lld, needed at most that",
                        (long long)size, dim, (long long)have);
    if (step < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "step %lld, needed 1 or more", (long long)step);
    if (x->ndim == TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "the tensor has %d dims already, the most there can be", x->ndim);
    tni_meta_view_dims(meta, x, x->ndim + 1, &sizes, &strides);
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[d];
        strides[d] = x->strides[d];
    }
    if (x->ndim > 0) {
        sizes[dim] = (have - size) / step + 1;
        strides[dim] = tni_step_stride(stride, step);
    }
    sizes[x->ndim] = size;
    strides[x->ndim] = stride;
    if (!tni_numel(sizes, x->ndim + 1, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the windows count more elements than 64 bits");
    return TN_OK;
}

/* Windows that overlap: an element gets the gradients of all its places. */
static void unfold_vjp(tni_vjp *v)
{
    const range_attr *attr = v->attr;
    if (attr->end >= attr->start) {
        tni_vjp_part(v);
        return;
    }
    const tni_shape shape = tni_input_shape(v, 0);
    const int64_t all = -1;
    int64_t n = 1;
    for (int d = 0; d < shape.ndim; d++)
        n *= shape.sizes[d];
    tn_tensor *numbers = tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_INT64);
    tn_tensor *places = numbers ? tn_view(numbers, shape.sizes, shape.ndim) : NULL;
    places = places ? tn_unfold(places, (int)attr->dim, attr->start, attr->end) : NULL;
    tn_tensor *at = places ? tn_reshape(places, &all, 1) : NULL;
    tn_tensor *sum = at ? tn_index_add(tn_new_zeros(v->grad, &n, 1), 0, at, tn_reshape(v->grad, &all, 1), tn_int(1))
                        : NULL;
    v->grads[0] = sum ? tn_view(sum, shape.sizes, shape.ndim) : NULL;
}

static const tni_derivative slice_derivative = {.name = "SliceBackward0", .linear = true, .vjp = tni_vjp_part};
static const tni_derivative select_derivative = {.linear = true, .vjp = tni_vjp_part};
static const tni_derivative diagonal_derivative = {.linear = true, .vjp = tni_vjp_part};
static const tni_derivative unfold_derivative = {.linear = true, .vjp = unfold_vjp};

const tni_op tni_op_narrow = {
    .name = TNI_NAMES_NEW(narrow),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', range_attr, dim),
               TNI_ATTR("start", 'I', range_attr, start), TNI_ATTR("length", 'I', range_attr, end)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .infer = narrow_infer,
    .derivative = &slice_derivative,
    .samples = "[5,3] 0 1 3 | [5,3] -1 -2 2 | [4] 0 4 0 | ! [5] 0 2 4 | ! [5] 0 6 0 | ! [5] 0 0 -1 | "
        "! [5] 1 0 1 | ! [] 0 0 0"};

const tni_op tni_op_select = {
    .name = TNI_NAMES_NEW(select),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', range_attr, dim),
               TNI_ATTR("index", 'I', range_attr, start)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .infer = select_infer,
    .derivative = &select_derivative,
    .samples = "[5,3] 0 4 | [5,3] -1 -3 | [2] 0 1 | ! [5] 0 5 | ! [5] 0 -6 | ! [] 0 0 | ! [5] 1 0"};

static const range_attr whole = {.dim = 0, .start = 0, .end = TN_SLICE_END, .step = 1};

const tni_op tni_op_slice = {
    .name = TNI_NAMES_NEW(slice),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'I', range_attr, dim),
               TNI_OPTIONAL("start", 'I', range_attr, start), TNI_OPTIONAL("end", 'I', range_attr, end),
               TNI_OPTIONAL("step", 'I', range_attr, step)},
    .n_params = 5, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .attr_default = &whole,
    .infer = slice_infer, .derivative = &slice_derivative,
    .samples = "[5,3] 0 1 4 2 | [5,3] 1 -2 | [7] 0 none none 3 | [3] 0 100 200 | [3] 0 2 1 | ! [5] 0 0 5 0 | "
        "! [] 0 | ! [5] 1"};

static const diagonal_attr main_diagonal = {.offset = 0, .dim1 = 0, .dim2 = 1};

const tni_op tni_op_diagonal = {
    .name = TNI_NAMES_NEW(diagonal),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("offset", 'I', diagonal_attr, offset),
               TNI_OPTIONAL("dim1", 'I', diagonal_attr, dim1), TNI_OPTIONAL("dim2", 'I', diagonal_attr, dim2)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(diagonal_attr), .attr_default = &main_diagonal,
    .infer = diagonal_infer, .derivative = &diagonal_derivative,
    .samples = "[3,4] | [3,4] 1 | [3,4] -2 | [2,3,4] 0 -1 0 | [3,4] 4 | [3,4] -9223372036854775807 | [0,3] -1 | "
        "! [3] | ! [3,4] 0 0 0 | ! [3,4] 0 1 -1 | ! []"};

const tni_op tni_op_unfold = {
    .name = TNI_NAMES_NEW(unfold),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dimension", 'I', range_attr, dim),
               TNI_ATTR("size", 'I', range_attr, start), TNI_ATTR("step", 'I', range_attr, end)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .infer = unfold_infer,
    .derivative = &unfold_derivative,
    .samples = "[7] 0 3 1 | [7,2] -2 2 3 | [5] 0 0 2 | [] 0 1 1 | [] -1 0 7 | ! [5] 0 6 1 | ! [5] 0 1 0 | "
        "! [5] 0 -1 1 | ! [] 0 2 1 | ! [5] 1 1 1"};

tn_tensor *tn_narrow(tn_tensor *x, int dim, int64_t start, int64_t length)
{
    const range_attr attr = {.dim = dim, .start = start, .end = length};
    return tni_call_new(&tni_op_narrow, &x, &attr);
}

tn_tensor *tn_select(tn_tensor *x, int dim, int64_t index)
{
    const range_attr attr = {.dim = dim, .start = index};
    return tni_call_new(&tni_op_select, &x, &attr);
}

tn_tensor *tn_slice(tn_tensor *x, int dim, int64_t start, int64_t end, int64_t step)
{
    const range_attr attr = {.dim = dim, .start = start, .end = end, .step = step};
    return tni_call_new(&tni_op_slice, &x, &attr);
}

tn_tensor *tn_diagonal(tn_tensor *x, int64_t offset, int dim1, int dim2)
{
    const diagonal_attr attr = {offset, dim1, dim2};
    return tni_call_new(&tni_op_diagonal, &x, &attr);
}

tn_tensor *tn_unfold(tn_tensor *x, int dim, int64_t size, int64_t step)
{
    const range_attr attr = {.dim = dim, .start = size, .end = step};
    return tni_call_new(&tni_op_unfold, &x, &attr);
}
