/* Views that move, cut, add or drop dims: transpose, t, T, narrow, select, slice, unsqueeze, squeeze. Rules of torch. */
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/operators.h"
#include "ops/reduce_attr.h"

typedef struct pair_attr {
    int64_t dim0, dim1;
} pair_attr;

typedef struct dim_attr {
    tni_ints dims; /* data NULL and n 0: all */
} dim_attr;

typedef struct range_attr {
    int64_t dim, start, end, step;
} range_attr;

/* A view whose sizes and strides are copied to the room, to be changed there. */
static int64_t *own_geometry(tni_meta *meta, tn_tensor *x)
{
    tni_meta_view(meta, x);
    for (int d = 0; d < x->ndim; d++) {
        meta->room[d] = x->sizes[d];
        meta->room[TN_MAX_NDIM + d] = x->strides[d];
    }
    meta->record.sizes = meta->room;
    meta->record.strides = meta->room + TN_MAX_NDIM;
    return meta->room;
}

/* After a dim of the own geometry was cut; x's elements fitted, so fewer do. */
static void count_elements(tni_meta *meta)
{
    meta->record.numel = 1;
    for (int d = 0; d < meta->record.ndim; d++)
        meta->record.numel *= meta->room[d];
}

static void swap_dims(tni_meta *meta, tn_tensor *x, int a, int b)
{
    int64_t *sizes = own_geometry(meta, x), *strides = sizes + TN_MAX_NDIM;
    sizes[a] = x->sizes[b];
    sizes[b] = x->sizes[a];
    strides[a] = x->strides[b];
    strides[b] = x->strides[a];
}

static tn_status transpose_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const pair_attr *attr = call->attr;
    int a = tni_wrap_dim("transpose", attr->dim0, x->ndim);
    int b = a < 0 ? -1 : tni_wrap_dim("transpose", attr->dim1, x->ndim);
    if (b < 0)
        return tni_pending();
    if (x->ndim == 0)
        tni_meta_view(meta, x);
    else
        swap_dims(meta, x, a, b);
    return TN_OK;
}

static tn_status t_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    if (TNI_UNLIKELY(x->ndim > 2))
        return TNI_FAIL(TN_ERROR_DIM, "t", "the tensor has %d dims, needed at most 2", x->ndim);
    tni_meta_view(meta, x);
    if (x->ndim < 2)
        return TN_OK;
    int64_t *sizes = meta->room, *strides = sizes + TN_MAX_NDIM;
    sizes[0] = x->sizes[1];
    sizes[1] = x->sizes[0];
    strides[0] = x->strides[1];
    strides[1] = x->strides[0];
    meta->record.sizes = sizes;
    meta->record.strides = strides;
    return TN_OK;
}

static tn_status T_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    int64_t *sizes = own_geometry(meta, x);
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[x->ndim - 1 - d];
        sizes[TN_MAX_NDIM + d] = x->strides[x->ndim - 1 - d];
    }
    return TN_OK;
}

static tn_status refuse_scalar(const char *name, const tn_tensor *x)
{
    return x->ndim > 0 ? TN_OK : TNI_FAIL(TN_ERROR_DIM, name, "the tensor has no dims, needed one to cut");
}

/* Moves the view's beginning. Strides of dims that hold one element or none may be anything, so the place may be too. */
static tn_status move_offset(const char *name, tni_record *record, int64_t steps, int64_t stride)
{
    int64_t by, bytes;
    if (tni_mul_i64(steps, stride, &by) && tni_add_i64(record->offset, by, &record->offset) &&
        tni_mul_i64(record->offset, tni_itemsize(record->dtype), &bytes))
        return TN_OK;
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
        return TNI_FAIL(TN_ERROR_INDEX, "narrow", "start %lld and length %lld in dim %d of size %lld, needed at most %lld",
                        (long long)attr->start, (long long)length, dim, (long long)size, (long long)(size - start));
    int64_t *sizes = own_geometry(meta, x);
    sizes[dim] = length;
    if (move_offset("narrow", &meta->record, start, x->strides[dim]))
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
    int64_t *sizes = own_geometry(meta, x), *strides = sizes + TN_MAX_NDIM;
    if (move_offset("select", &meta->record, index, x->strides[dim]))
        return tni_pending();
    meta->record.ndim--;
    for (int d = 0; d < meta->record.ndim; d++) {
        int from = d < dim ? d : d + 1;
        sizes[d] = x->sizes[from];
        strides[d] = x->strides[from];
    }
    count_elements(meta);
    return TN_OK;
}

/* A bound of a Python slice, clamped to 0 .. size. */
static int64_t clamp_bound(int64_t bound, int64_t size)
{
    if (bound < 0)
        bound = bound < -size ? 0 : bound + size;
    return bound > size ? size : bound;
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
    int64_t size = x->sizes[dim], stride;
    int64_t start = clamp_bound(attr->start, size), end = clamp_bound(attr->end, size);
    if (end < start)
        end = start;
    if (!tni_mul_i64(x->strides[dim], attr->step, &stride))
        return TNI_FAIL(TN_ERROR_OVERFLOW, "slice", "stride %lld times step %lld is more than 64 bits hold",
                        (long long)x->strides[dim], (long long)attr->step);
    int64_t *sizes = own_geometry(meta, x);
    sizes[dim] = (end - start) / attr->step + ((end - start) % attr->step != 0);
    sizes[TN_MAX_NDIM + dim] = stride;
    if (move_offset("slice", &meta->record, start, x->strides[dim]))
        return tni_pending();
    count_elements(meta);
    return TN_OK;
}

static tn_status unsqueeze_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const pair_attr *attr = call->attr;
    int ndim = x->ndim + 1;
    if (ndim > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, "unsqueeze", "the tensor has %d dims already, the most there can be", x->ndim);
    int dim = tni_wrap_dim("unsqueeze", attr->dim0, ndim);
    if (dim < 0)
        return tni_pending();
    tni_meta_view(meta, x);
    int64_t *sizes = meta->room, *strides = meta->room + TN_MAX_NDIM;
    for (int d = 0; d < ndim; d++) {
        int from = d < dim ? d : d - 1;
        sizes[d] = d == dim ? 1 : x->sizes[from];
        strides[d] = d == dim ? 1 : x->strides[from];
    }
    if (dim < x->ndim && !tni_mul_i64(x->sizes[dim], x->strides[dim], &strides[dim]))
        return TNI_FAIL(TN_ERROR_OVERFLOW, "unsqueeze", "size %lld times stride %lld is more than 64 bits hold",
                        (long long)x->sizes[dim], (long long)x->strides[dim]);
    meta->record.ndim = ndim;
    meta->record.sizes = sizes;
    meta->record.strides = strides;
    return TN_OK;
}

static tn_status squeeze_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    uint64_t named;
    const tni_ints *dims = &((const dim_attr *)call->attr)->dims;
    if (tni_reduced_dims("squeeze", x, dims, &named))
        return tni_pending();
    if (dims->data && dims->n == 0) /* a list that names none */
        named = 0;
    int64_t *sizes = own_geometry(meta, x), *strides = sizes + TN_MAX_NDIM;
    int kept = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (x->sizes[d] == 1 && named & (UINT64_C(1) << d))
            continue;
        sizes[kept] = x->sizes[d];
        strides[kept++] = x->strides[d];
    }
    meta->record.ndim = kept;
    return TN_OK;
}

const tni_op tni_op_transpose = {
    .name = TNI_NAMES_NEW(transpose),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim0", 'I', pair_attr, dim0), TNI_ATTR("dim1", 'I', pair_attr, dim1)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(pair_attr), .infer = transpose_infer,
    .samples = "[3,4] 0 1 | [2,3,4] -1 0 | [5] 0 0 | [] 0 -1 | [2,0] 0 1 | ! [3,4] 0 2 | ! [3,4] -3 0"};

const tni_op tni_op_t = {
    .name = TNI_NAMES_NEW(t), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .infer = t_infer,
    .samples = "[3,4] | [5] | [] | [0,3] | ! [2,3,4]"};

const tni_op tni_op_T = {
    .name = TNI_NAMES_NEW(T), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .infer = T_infer,
    .samples = "[3,4] | [2,3,4] | [5] | []"};

const tni_op tni_op_narrow = {
    .name = TNI_NAMES_NEW(narrow),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', range_attr, dim),
               TNI_ATTR("start", 'I', range_attr, start), TNI_ATTR("length", 'I', range_attr, end)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .infer = narrow_infer,
    .samples = "[5,3] 0 1 3 | [5,3] -1 -2 2 | [4] 0 4 0 | ! [5] 0 2 4 | ! [5] 0 6 0 | ! [5] 0 0 -1 | "
        "! [5] 1 0 1 | ! [] 0 0 0"};

const tni_op tni_op_select = {
    .name = TNI_NAMES_NEW(select),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', range_attr, dim),
               TNI_ATTR("index", 'I', range_attr, start)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .infer = select_infer,
    .samples = "[5,3] 0 4 | [5,3] -1 -3 | [2] 0 1 | ! [5] 0 5 | ! [5] 0 -6 | ! [] 0 0 | ! [5] 1 0"};

static const range_attr whole = {.dim = 0, .start = 0, .end = TN_SLICE_END, .step = 1};

const tni_op tni_op_slice = {
    .name = TNI_NAMES_NEW(slice),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'I', range_attr, dim),
               TNI_OPTIONAL("start", 'I', range_attr, start), TNI_OPTIONAL("end", 'I', range_attr, end),
               TNI_OPTIONAL("step", 'I', range_attr, step)},
    .n_params = 5, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(range_attr), .attr_default = &whole,
    .infer = slice_infer,
    .samples = "[5,3] 0 1 4 2 | [5,3] 1 -2 | [7] 0 none none 3 | [3] 0 100 200 | [3] 0 2 1 | ! [5] 0 0 5 0 | "
        "! [] 0 | ! [5] 1"};

const tni_op tni_op_unsqueeze = {
    .name = TNI_NAMES_NEW(unsqueeze), .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', pair_attr, dim0)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(pair_attr), .infer = unsqueeze_infer,
    .samples = "[3,4] 0 | [3,4] 1 | [3,4] -1 | [] 0 | [0] 1 | ! [3,4] 3 | ! [3,4] -4"};

const tni_op tni_op_squeeze = {
    .name = TNI_NAMES_NEW(squeeze), .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', dim_attr, dims)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(dim_attr), .infer = squeeze_infer,
    .samples = "[1,3,1] | [1,3,1] 0 | [1,3,1] 1 | [1,3,1] (0,-1) | [] | [1,0] | ! [1,3] 2 | ! [1,3] (0,0)"};

tn_tensor *tn_transpose(tn_tensor *x, int dim0, int dim1)
{
    const pair_attr attr = {dim0, dim1};
    return tni_call_new(&tni_op_transpose, &x, &attr);
}

tn_tensor *tn_t(tn_tensor *x)
{
    return tni_call_new(&tni_op_t, &x, NULL);
}

tn_tensor *tn_T(tn_tensor *x)
{
    return tni_call_new(&tni_op_T, &x, NULL);
}

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

tn_tensor *tn_unsqueeze(tn_tensor *x, int dim)
{
    const pair_attr attr = {.dim0 = dim};
    return tni_call_new(&tni_op_unsqueeze, &x, &attr);
}

tn_tensor *tn_squeeze(tn_tensor *x)
{
    const dim_attr attr = {{NULL, 0}};
    return tni_call_new(&tni_op_squeeze, &x, &attr);
}

tn_tensor *tn_squeeze_dim(tn_tensor *x, int dim)
{
    const int64_t one = dim;
    const dim_attr attr = {{&one, 1}};
    return tni_call_new(&tni_op_squeeze, &x, &attr);
}
