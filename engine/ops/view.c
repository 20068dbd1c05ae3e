/* Views that change the grid: view, reshape, contiguous, expand, as_strided. Rules of torch.Tensor's methods of these
 * names. */
#include <string.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/copy.h"
#include "ops/operators.h"

typedef struct size_attr {
    tni_ints size;
} size_attr;

typedef struct strided_attr {
    tni_ints size, stride;
    int64_t offset; /* TNI_OWN_OFFSET: x's */
} strided_attr;

#define TNI_OWN_OFFSET INT64_MIN

static tn_status fail_numel(const char *name, const tn_tensor *x, const tni_ints *size)
{
    char have[120], asked[120];
    tni_text_shape(have, sizeof have, x->sizes, x->ndim);
    tni_text_shape(asked, sizeof asked, size->data, size->n);
    return TNI_FAIL(TN_ERROR_SHAPE, name, "%s does not fit the %lld elements of %s", asked, (long long)x->numel, have);
}

/* The asked sizes with -1 worked out, into `sizes`. */
static tn_status inferred_size(const char *name, const tn_tensor *x, const tni_ints *size, int64_t *sizes)
{
    int unknown = -1;
    int64_t known = 1;
    if (size->n < 0 || size->n > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed 0 .. %d", size->n, TN_MAX_NDIM);
    if (size->n > 0 && !size->data)
        return TNI_FAIL_NULL(name, 2, "size");
    for (int d = 0; d < size->n; d++) {
        sizes[d] = size->data[d];
        if (sizes[d] == -1 && unknown >= 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "sizes of dims %d and %d are both -1, needed at most one", unknown,
                            d);
        if (sizes[d] < -1)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "size %lld in dim %d, needed 0 or more, or -1",
                            (long long)sizes[d], d);
        if (sizes[d] == -1)
            unknown = d;
        else if (!tni_mul_i64(known, sizes[d], &known))
            return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes count more elements than 64 bits");
    }
    if (unknown < 0) {
        if (known != x->numel)
            return fail_numel(name, x, size);
        if (known == 0 && !tni_numel(sizes, size->n, &known))
            return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes beside the 0 count more elements than 64 bits");
        return TN_OK;
    }
    if (known == 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "the size -1 of dim %d could be anything, since another size is 0",
                        unknown);
    if (x->numel % known != 0)
        return fail_numel(name, x, size);
    sizes[unknown] = x->numel / known;
    return TN_OK;
}

/* Sizes go to room[0..], strides behind them at TN_MAX_NDIM. *dim as tni_view_strides. */
static bool view_geometry(tni_meta *meta, tn_tensor *x, int ndim, int *dim)
{
    tni_meta_view(meta, x);
    meta->record.ndim = ndim;
    meta->record.sizes = meta->room;
    meta->record.strides = meta->room + TN_MAX_NDIM;
    return tni_view_strides(x->sizes, x->strides, x->ndim, meta->room, ndim, meta->room + TN_MAX_NDIM, dim);
}

static tn_status view_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const size_attr *attr = call->attr;
    int dim;
    if (inferred_size("view", x, &attr->size, meta->room))
        return tni_pending();
    if (view_geometry(meta, x, attr->size.n, &dim))
        return TN_OK;
    char asked[100];
    tni_text_shape(asked, sizeof asked, meta->room, attr->size.n);
    int inner = dim + 1;
    while (inner < x->ndim - 1 && x->sizes[inner] == 1)
        inner++;
    return TNI_FAIL(
        TN_ERROR_VIEW, "view",
        "no strides give %s: stride %lld of dim %d should be %lld x %lld = %lld (size x stride of dim %d); use "
        "tn_reshape to copy",
        asked, (long long)x->strides[dim], dim, (long long)x->sizes[inner], (long long)x->strides[inner],
        (long long)(x->sizes[inner] * x->strides[inner]), inner);
}

static tn_status reshape_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const size_attr *attr = call->attr;
    int dim;
    if (inferred_size("reshape", x, &attr->size, meta->room))
        return tni_pending();
    if (view_geometry(meta, x, attr->size.n, &dim))
        return TN_OK;
    meta->view_of = NULL;
    return tni_meta_contiguous(call, meta, attr->size.n, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

/* The result is contiguous, so it is written as if it had x's sizes. */
static void copy_in_order(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tn_tensor *x = call->in[0];
    int64_t strides[TN_MAX_NDIM];
    tni_contiguous_strides(x->sizes, x->ndim, strides);
    tni_copy_elements(tni_data(call->out[0]), strides, (tn_dtype)x->dtype, x);
}

static tn_status contiguous_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    if (x->contiguous) {
        meta->same = x;
        return TN_OK;
    }
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    return tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

static tn_status expand_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const tni_ints *size = &((const size_attr *)call->attr)->size;
    int64_t *sizes = meta->room, *strides = meta->room + TN_MAX_NDIM;
    if (size->n > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, "expand", "%d dims, needed at most %d", size->n, TN_MAX_NDIM);
    if (size->n < x->ndim)
        return TNI_FAIL(TN_ERROR_SHAPE, "expand", "%d sizes for a tensor of %d dims, needed at least as many", size->n,
                        x->ndim);
    if (size->n > 0 && !size->data)
        return TNI_FAIL_NULL("expand", 2, "size");
    int lead = size->n - x->ndim;
    for (int d = size->n - 1; d >= 0; d--) {
        int64_t have = d >= lead ? x->sizes[d - lead] : 1, asked = size->data[d];
        /* a new dim of size 1 gets the stride that keeps the result contiguous */
        int64_t stride = d >= lead ? x->strides[d - lead] : 1;
        if (d < lead && d + 1 < size->n && !tni_mul_i64(sizes[d + 1], strides[d + 1], &stride))
            return TNI_FAIL(TN_ERROR_OVERFLOW, "expand", "size %lld times stride %lld is more than 64 bits hold",
                            (long long)sizes[d + 1], (long long)strides[d + 1]);
        if (asked == -1 && d < lead)
            return TNI_FAIL(TN_ERROR_ARGUMENT, "expand", "size -1 for the new dim %d, needed a size", d);
        if (asked < -1)
            return TNI_FAIL(TN_ERROR_ARGUMENT, "expand", "size %lld for dim %d, needed 0 or more, or -1",
                            (long long)asked, d);
        sizes[d] = asked == -1 ? have : asked;
        if (sizes[d] != have && have != 1)
            return TNI_FAIL(TN_ERROR_SHAPE, "expand",
                            "size %lld for dim %d, which has size %lld: needed that, or a size of 1 there",
                            (long long)asked, d, (long long)have);
        strides[d] = sizes[d] != have ? 0 : stride;
    }
    tni_meta_view(meta, x);
    meta->record.ndim = size->n;
    meta->record.sizes = sizes;
    meta->record.strides = strides;
    if (!tni_numel(sizes, size->n, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, "expand", "the sizes count more elements than 64 bits");
    return TN_OK;
}

static tn_status as_strided_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const strided_attr *attr = call->attr;
    const char *name = "as_strided";
    int ndim = attr->size.n;
    if (tni_check_sizes(name, attr->size.data, ndim))
        return tni_pending();
    if (attr->stride.n != ndim)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d sizes and %d strides, needed as many", ndim, attr->stride.n);
    if (ndim > 0 && !attr->stride.data)
        return TNI_FAIL_NULL(name, 3, "stride");
    tni_meta_view(meta, x);
    tni_record *record = &meta->record;
    record->ndim = ndim;
    record->sizes = meta->room;
    record->strides = meta->room + TN_MAX_NDIM;
    for (int d = 0; d < ndim; d++) {
        if (attr->stride.data[d] < 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "stride %lld in dim %d, needed 0 or more",
                            (long long)attr->stride.data[d], d);
        meta->room[d] = attr->size.data[d];
        meta->room[TN_MAX_NDIM + d] = attr->stride.data[d];
    }
    record->offset = attr->offset == TNI_OWN_OFFSET ? x->offset : attr->offset;
    if (record->offset < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "offset %lld, needed 0 or more", (long long)record->offset);
    int64_t itemsize = tni_itemsize((tn_dtype)x->dtype), held = (int64_t)x->storage->nbytes / itemsize, reach, bytes;
    if (!tni_numel(meta->room, ndim, &record->numel) || !tni_extent(meta->room, record->strides, ndim, &reach) ||
        !tni_add_i64(reach, record->offset, &reach) || !tni_mul_i64(record->offset, itemsize, &bytes))
        return TNI_FAIL(TN_ERROR_BOUNDS, name, "sizes, strides and offset reach beyond 64 bits");
    if (reach > held && record->numel > 0) /* as torch: what is empty is nowhere */
        return TNI_FAIL(TN_ERROR_BOUNDS, name, "sizes, strides and offset reach element %lld, the storage has %lld",
                        (long long)reach - 1, (long long)held);
    return TN_OK;
}

#define SIZE_PARAMS {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', size_attr, size)}

const tni_op tni_op_view = {
    .name = TNI_NAMES_NEW(view), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = view_infer,
    .samples = "[3,4] (12) | [3,4] (2,-1) | [2,3,4] (6,4) | [] (1,1) | [2,0,3] (0,7) | [6] (3,1,2) |"
        "! [3,4] (5) | ! [3,4] (-1,-1) | ! [3,4] (-1,5) | ! [3,0] (-1,0) | ! [4] (-4)"};

const tni_op tni_op_reshape = {
    .name = TNI_NAMES_NEW(reshape), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = reshape_infer, .run = copy_in_order,
    .samples = "[3,4] (12) | [3,4] (2,-1) | [2,3,4] (6,4) | [] (1,1) | [2,0,3] (0,7) | [5] (5,1) |"
        "! [3,4] (5) | ! [3,4] (-1,-1) | ! [3,4] (-1,5) | ! [3,0] (-1,0)"};

const tni_op tni_op_contiguous = {
    .name = TNI_NAMES_NEW(contiguous), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .infer = contiguous_infer, .run = copy_in_order,
    .samples = "[3,4] | [2,3,4] | [] | [0,2] | [5,1,3]"};

const tni_op tni_op_expand = {
    .name = TNI_NAMES_NEW(expand), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = expand_infer,
    .samples = "[3,1] (3,4) | [1] (2,5) | [] (2,3) | [3,4] (2,-1,4) | [1,0] (3,0) |"
        "! [3,4] (3,5) | ! [3,4] (4) | ! [2] (-1,2) | ! [1] (-3)"};

static const strided_attr own_offset = {.offset = TNI_OWN_OFFSET};

const tni_op tni_op_as_strided = {
    .name = TNI_NAMES_NEW(as_strided),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', strided_attr, size),
               TNI_ATTR("stride", 'L', strided_attr, stride),
               TNI_OPTIONAL("storage_offset", 'I', strided_attr, offset)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(strided_attr), .attr_default = &own_offset,
    .infer = as_strided_infer,
    .samples = "[12] (3,2) (4,1) 1 | [3,4] (2,2) (1,1) | [5] () () 4 | [5] (0) (9) 5 |"
        "! [12] (3,3) (4,1) 2 | ! [12] (3) (-1) | ! [12] (2) (1) -1 | ! [12] (2,2) (1)"};

tn_tensor *tn_view(tn_tensor *x, const int64_t *size, int ndim)
{
    const size_attr attr = {{size, ndim}};
    return tni_call_new(&tni_op_view, &x, &attr);
}

tn_tensor *tn_reshape(tn_tensor *x, const int64_t *size, int ndim)
{
    const size_attr attr = {{size, ndim}};
    return tni_call_new(&tni_op_reshape, &x, &attr);
}

tn_tensor *tn_contiguous(tn_tensor *x)
{
    return tni_call_new(&tni_op_contiguous, &x, NULL);
}

tn_tensor *tn_expand(tn_tensor *x, const int64_t *size, int ndim)
{
    const size_attr attr = {{size, ndim}};
    return tni_call_new(&tni_op_expand, &x, &attr);
}

tn_tensor *tn_as_strided(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset)
{
    /* a real offset is never INT64_MIN: any other negative one names the same fault */
    const strided_attr attr = {{size, ndim}, {stride, ndim}, offset == TNI_OWN_OFFSET ? -1 : offset};
    return tni_call_new(&tni_op_as_strided, &x, &attr);
}
