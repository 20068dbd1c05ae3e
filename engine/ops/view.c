/* Views that cut the same elements into other dims: view, view_as, reshape, flatten, unflatten, ravel; and contiguous,
 * their copy. Rules of torch.Tensor's methods of these names. */
#include <string.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/format.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/copy.h"
#include "ops/operators.h"
#include "ops/tape.h"

typedef struct size_attr {
    tni_ints size;
} size_attr;

typedef struct flatten_attr {
    int64_t start, end;
} flatten_attr;

typedef struct unflatten_attr {
    int64_t dim;
    tni_ints size;
} unflatten_attr;

typedef struct format_attr {
    tn_memory_format format;
} format_attr;

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

/* The view of x with the asked sizes, of which one may be -1; or the refusal of them. */
static tn_status view_to(const char *name, tni_meta *meta, tn_tensor *x, const tni_ints *size)
{
    int64_t *sizes, *strides;
    int dim;
    tni_meta_view_dims(meta, x, size->n, &sizes, &strides);
    if (inferred_size(name, x, size, sizes))
        return tni_pending();
    if (tni_view_strides(x->sizes, x->strides, x->ndim, sizes, size->n, strides, &dim))
        return TN_OK;
    char asked[100];
    tni_text_shape(asked, sizeof asked, sizes, size->n);
    int inner = dim + 1;
    while (inner < x->ndim - 1 && x->sizes[inner] == 1)
        inner++;
    return TNI_FAIL(
        TN_ERROR_VIEW, name,
        "no strides give %s: stride %lld of dim %d should be %lld x %lld = %lld (size x stride of dim %d); use "
        "tn_reshape to copy",
        asked, (long long)x->strides[dim], dim, (long long)x->sizes[inner], (long long)x->strides[inner],
        (long long)(x->sizes[inner] * x->strides[inner]), inner);
}

/* The common view: x has the strides of a new tensor, and so has the result. False when it takes view_to. */
static bool view_of_row(tni_meta *meta, tn_tensor *x, const tni_ints *size)
{
    int64_t *sizes, *strides, numel = 1;
    bool odd = false;
    if (!tni_known_row(x) || x->numel == 0 || size->n <= 0 || size->n > TNI_INLINE_NDIM || !size->data)
        return false;
    tni_meta_view_dims(meta, x, size->n, &sizes, &strides);
    for (int d = size->n - 1; d >= 0; d--) {
        sizes[d] = size->data[d];
        strides[d] = numel;
        odd |= sizes[d] <= 0 || !tni_mul_i64(numel, sizes[d], &numel);
    }
    return !odd && numel == x->numel;
}

static tn_status view_infer(tni_call *call, tni_meta *meta)
{
    const tni_ints *size = &((const size_attr *)call->attr)->size;
    return TNI_LIKELY(view_of_row(meta, call->in[0], size)) ? TN_OK : view_to("view", meta, call->in[0], size);
}

static tn_status view_as_infer(tni_call *call, tni_meta *meta)
{
    const tni_ints size = {call->in[1]->sizes, call->in[1]->ndim};
    return view_to("view_as", meta, call->in[0], &size);
}

/* The view if there is one, else fresh memory. */
static tn_status reshape_to(const tni_call *call, tni_meta *meta, const tni_ints *size)
{
    tn_tensor *x = call->in[0];
    int64_t *sizes, *strides;
    int dim;
    tni_meta_view_dims(meta, x, size->n, &sizes, &strides);
    if (inferred_size(tni_call_name(call), x, size, sizes))
        return tni_pending();
    if (tni_view_strides(x->sizes, x->strides, x->ndim, sizes, size->n, strides, &dim))
        return TN_OK;
    meta->view_of = NULL;
    return tni_meta_contiguous(call, meta, size->n, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

static tn_status reshape_infer(tni_call *call, tni_meta *meta)
{
    return reshape_to(call, meta, &((const size_attr *)call->attr)->size);
}

/* Dims start .. end become one; x itself where they are one already. */
static tn_status flatten_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const flatten_attr *attr = call->attr;
    int64_t merged[TN_MAX_NDIM] = {1};
    int start = tni_wrap_dim("flatten", attr->start, x->ndim);
    int end = start < 0 ? -1 : tni_wrap_dim("flatten", attr->end, x->ndim);
    if (end < 0)
        return tni_pending();
    if (start > end)
        return TNI_FAIL(TN_ERROR_DIM, "flatten", "start dim %d comes after end dim %d", start, end);
    if (start == end && x->ndim > 0) {
        meta->same = x;
        return TN_OK;
    }
    int n = 0;
    for (int d = 0; d < start; d++)
        merged[n++] = x->sizes[d];
    merged[n] = 1;
    for (int d = start; d <= end && x->ndim > 0; d++)
        if (!tni_mul_i64(merged[n], x->sizes[d], &merged[n]))
            return TNI_FAIL(TN_ERROR_OVERFLOW, "flatten", "dims %d to %d count more elements than 64 bits", start, end);
    n++;
    for (int d = end + 1; d < x->ndim; d++)
        merged[n++] = x->sizes[d];
    return reshape_to(call, meta, &(tni_ints){merged, n});
}

/* One dim becomes several, of which one may be -1. It always has strides. */
static tn_status unflatten_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const unflatten_attr *attr = call->attr;
    const tni_ints *size = &attr->size;
    const char *name = "unflatten";
    int dim = tni_wrap_dim(name, attr->dim, x->ndim);
    if (dim < 0)
        return tni_pending();
    if (x->ndim == 0)
        return TNI_FAIL(TN_ERROR_DIM, name, "the tensor has no dims, needed one to cut");
    if (size->n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d sizes, needed one or more", size->n);
    if (!size->data)
        return TNI_FAIL_NULL(name, 3, "size");
    if (x->ndim - 1 + size->n > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed at most %d", x->ndim - 1 + size->n, TN_MAX_NDIM);
    int64_t all[TN_MAX_NDIM];
    const tn_tensor cut = {.sizes = &x->sizes[dim], .numel = x->sizes[dim], .ndim = 1};
    if (inferred_size(name, &cut, size, &all[dim]))
        return tni_pending();
    for (int d = 0; d < dim; d++)
        all[d] = x->sizes[d];
    for (int d = dim + 1; d < x->ndim; d++)
        all[d + size->n - 1] = x->sizes[d];
    return view_to(name, meta, x, &(tni_ints){all, x->ndim - 1 + size->n});
}

/* The result's strides step through x's elements in order: those of its format with x's sizes, or row-major with
 * others. */
static void copy_in_order(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tn_tensor *x = call->in[0], *out = call->out[0];
    int64_t strides[TN_MAX_NDIM];
    bool same_dims = tni_same_dims(x->sizes, x->ndim, out->sizes, out->ndim);
    tni_contiguous_strides(x->sizes, x->ndim, strides);
    tni_copy_elements(tni_data(out), same_dims ? out->strides : strides, (tn_dtype)x->dtype, x);
}

static tn_status contiguous_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    tn_memory_format format = ((const format_attr *)call->attr)->format;
    if (tni_contiguous(x) && (format == TN_CONTIGUOUS_FORMAT || format == TN_PRESERVE_FORMAT)) {
        meta->same = x;
        return TN_OK;
    }
    if (tni_check_format("contiguous", format, x->sizes, x->ndim))
        return tni_pending();
    if (format == TN_PRESERVE_FORMAT)
        return TNI_FAIL(TN_ERROR_FORMAT, "contiguous", "preserve names no order of dims, needed another memory format");
    if (tni_has_format(format, x->sizes, x->strides, x->ndim)) {
        meta->same = x;
        return TN_OK;
    }
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    if (tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device))
        return tni_pending();
    if (format != TN_CONTIGUOUS_FORMAT) {
        tni_format_strides(format, meta->room, x->ndim, meta->room + TN_MAX_NDIM);
        meta->record.contiguous = false; /* it may be both: found out */
    }
    return TN_OK;
}

/* As PyTorch, whose reshape is a view, or a view of a copy that nobody else has. */
static const char *reshape_node(const tni_node *node)
{
    return node->flags & TNI_NODE_VIEW ? "ViewBackward0" : "UnsafeViewBackward0";
}

static const tni_derivative view_derivative = {.name = "ViewBackward0", .linear = true, .vjp = tni_vjp_reshape};
static const tni_derivative reshape_derivative = {.named = reshape_node, .linear = true, .vjp = tni_vjp_reshape};
static const tni_derivative contiguous_derivative = {.name = "CloneBackward0", .linear = true, .vjp = tni_vjp_pass};

#define SIZE_PARAMS {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', size_attr, size)}

const tni_op tni_op_view = {
    .name = TNI_NAMES_NEW(view), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = view_infer, .derivative = &view_derivative,
    .samples = "[3,4] (12) | [3,4] (2,-1) | [2,3,4] (6,4) | [] (1,1) | [2,0,3] (0,7) | [6] (3,1,2) |"
        "! [3,4] (5) | ! [3,4] (-1,-1) | ! [3,4] (-1,5) | ! [3,0] (-1,0) | ! [4] (-4)"};

#define TWO_TENSORS {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)}

const tni_op tni_op_view_as = {
    .name = TNI_NAMES_NEW(view_as), .params = TWO_TENSORS, .n_params = 2, .n_in = 2, .n_out = 1,
    .infer = view_as_infer, .derivative = &view_derivative,
    .samples = "[3,4] [12] | [2,3,4] [6,4] | [] [1,1] | [2,0,3] [0,7] | ! [3,4] [5] | ! [3,4] []"};

const tni_op tni_op_reshape = {
    .name = TNI_NAMES_NEW(reshape), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = reshape_infer, .run = copy_in_order, .derivative = &reshape_derivative,
    .samples = "[3,4] (12) | [3,4] (2,-1) | [2,3,4] (6,4) | [] (1,1) | [2,0,3] (0,7) | [5] (5,1) |"
        "! [3,4] (5) | ! [3,4] (-1,-1) | ! [3,4] (-1,5) | ! [3,0] (-1,0)"};

static const flatten_attr flatten_all = {.start = 0, .end = -1};

const tni_op tni_op_flatten = {
    .name = TNI_NAMES_NEW(flatten),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("start_dim", 'I', flatten_attr, start),
               TNI_OPTIONAL("end_dim", 'I', flatten_attr, end)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(flatten_attr), .attr_default = &flatten_all,
    .infer = flatten_infer, .run = copy_in_order, .derivative = &reshape_derivative,
    .samples = "[3,4] | [2,3,4] 1 | [2,3,4] 0 1 | [2,3,4] 1 1 | [] | [] 0 0 | [5] | [2,0,3] -2 -1 | ! [3,4] 1 0 | "
        "! [3,4] 2 | ! [] 1"};

const tni_op tni_op_unflatten = {
    .name = TNI_NAMES_NEW(unflatten),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', unflatten_attr, dim),
               TNI_ATTR("size", 'L', unflatten_attr, size)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(unflatten_attr), .infer = unflatten_infer,
    .derivative = &view_derivative,
    .samples = "[3,4] 1 (2,2) | [6,2] 0 (-1,3) | [5] -1 (1,5,1) | [0,2] 0 (0,7) | ! [3,4] 1 (3) | ! [3,4] 0 () | "
        "! [3,4] 0 (-1,-1) | ! [0,2] 0 (-1,0) | ! [] 0 (1) | ! [3] 1 (3)"};

const tni_op tni_op_contiguous = {
    .name = TNI_NAMES_NEW(contiguous),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("memory_format", 'M', format_attr, format)}, .n_params = 2,
    .n_in = 1, .n_out = 1, .attr_bytes = sizeof(format_attr), .infer = contiguous_infer, .run = copy_in_order,
    .derivative = &contiguous_derivative,
    .samples = "[3,4] | [2,3,4] | [] | [0,2] | [5,1,3] | [2,3,4,5] 1 | [2,1,4,5] 1 | "
        "[2,3,2,2,3] 2 | [3,4] 0 | ! [3,4] 1 | ! [2,3,4,5] 2"};

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

tn_tensor *tn_view_as(tn_tensor *x, tn_tensor *other)
{
    tn_tensor *in[2] = {x, other};
    return tni_call_new(&tni_op_view_as, in, NULL);
}

tn_tensor *tn_flatten(tn_tensor *x, int start_dim, int end_dim)
{
    const flatten_attr attr = {start_dim, end_dim};
    return tni_call_new(&tni_op_flatten, &x, &attr);
}

tn_tensor *tn_unflatten(tn_tensor *x, int dim, const int64_t *size, int n)
{
    const unflatten_attr attr = {dim, {size, n}};
    return tni_call_new(&tni_op_unflatten, &x, &attr);
}

tn_tensor *tn_ravel(tn_tensor *x)
{
    if (tni_check_tensor("ravel", 1, "self", x))
        return NULL;
    if (tni_is_contiguous(x->sizes, x->strides, x->ndim))
        return tn_view(x, &x->numel, 1);
    tn_tensor *copy = tn_contiguous(x), *y = copy ? tn_view(copy, &copy->numel, 1) : NULL;
    tn_drop(&copy);
    return y;
}

tn_tensor *tn_contiguous(tn_tensor *x)
{
    static const format_attr row_major = {TN_CONTIGUOUS_FORMAT};
    return tni_call_new(&tni_op_contiguous, &x, &row_major);
}

tn_tensor *tn_contiguous_format(tn_tensor *x, tn_memory_format format)
{
    const format_attr attr = {format};
    return tni_call_new(&tni_op_contiguous, &x, &attr);
}
