/* max_at, min_at: the elements of x at one position each along a dim, which argmax or argmin found: the values of max
 * and min along a dim. Their gradient goes to those positions. As the value of torch.max(x, dim). */
#include <string.h>
#include <tenon/create.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "autograd/node.h"
#include "base/error.h"
#include "core/geometry.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

typedef struct at_attr {
    int64_t dim;
    bool keepdim;
} at_attr;

static int64_t position(const tn_tensor *index, int64_t i)
{
    int64_t at = 0;
    for (int d = index->ndim - 1; d >= 0; i /= index->sizes[d--])
        at += i % index->sizes[d] * index->strides[d];
    return ((const int64_t *)(const void *)tni_data(index))[at];
}

static tn_status at_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0], *index = call->in[1];
    const at_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    const int dim = tni_wrap_dim(name, attr->dim, x->ndim);
    if (dim < 0)
        return tni_pending();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    bool fits = index->dtype == TN_INT64 && index->ndim == x->ndim;
    int kept = 0;
    for (int d = 0; d < x->ndim; d++) {
        fits = fits && index->sizes[d] == (d == dim ? 1 : x->sizes[d]);
        if (d != dim || attr->keepdim)
            meta->room[kept++] = d == dim ? 1 : x->sizes[d];
    }
    if (!fits)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the index does not fit, needed int64 of x's sizes, 1 in dim %d", dim);
    for (int64_t i = 0; !tni_is_meta(index) && x->ndim > 0 && i < index->numel; i++) {
        const int64_t at = position(index, i);
        if (at < 0 || at >= x->sizes[dim])
            return TNI_FAIL(TN_ERROR_INDEX, name, "element %lld of the index is %lld, needed 0 .. %lld", (long long)i,
                            (long long)at, (long long)x->sizes[dim] - 1);
    }
    return tni_meta_contiguous(call, meta, kept, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

static void at_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0], *index = call->in[1], *out = call->out[0];
    const int dim = x->ndim > 0 ? tni_wrap_dim(tni_call_name(call), ((const at_attr *)call->attr)->dim, x->ndim) : 0;
    const int64_t itemsize = tni_itemsize((tn_dtype)x->dtype);
    (void)workspace;
    for (int64_t i = 0; i < index->numel; i++) {
        int64_t at = x->ndim > 0 ? position(index, i) * x->strides[dim] : 0;
        for (int64_t d = x->ndim - 1, rest = i; d >= 0; rest /= index->sizes[d--])
            at += rest % index->sizes[d] * (d == dim ? 0 : x->strides[d]);
        memcpy(tni_data(out) + i * itemsize, tni_data(x) + at * itemsize, (size_t)itemsize);
    }
}

static void at_vjp(tni_vjp *v)
{
    const at_attr *attr = v->attr;
    const tni_shape x = tni_input_shape(v, 0);
    tn_tensor *grad = v->grad, *index = tni_saved_input(v, 1);
    if (x.ndim == 0) {
        v->grads[0] = grad;
        return;
    }
    if (!attr->keepdim)
        grad = tn_unsqueeze(grad, (int)(attr->dim < 0 ? attr->dim + x.ndim : attr->dim));
    v->grads[0] = tn_scatter_add(tn_zeros(x.sizes, x.ndim, x.dtype), (int)attr->dim, index, grad);
}

static const tni_derivative max_derivative = {.saves = {TNI_SAVE(1)}, .vjp = at_vjp, .name = "MaxBackward0"};
static const tni_derivative min_derivative = {.saves = {TNI_SAVE(1)}, .vjp = at_vjp, .name = "MinBackward0"};

#define AT(op)                                                                                                     \
    .name = TNI_NAMES_NEW(op), .params = {TNI_TENSOR("self", 0), TNI_TENSOR("index", 1),                            \
    TNI_ATTR("dim", 'I', at_attr, dim), TNI_OPTIONAL("keepdim", 'B', at_attr, keepdim)}, .n_params = 4, .n_in = 2, \
    .n_out = 1, .exact_out_dtype = true, .dtypes = TNI_REALS | TNI_BOOLS, .attr_bytes = sizeof(at_attr),           \
    .infer = at_infer, .run = at_run, .samples = SAMPLES
#define SAMPLES "[3,4] <1,4:3> 0 | [3,4] <3,1:4> -1 true | [2,3,4] <2,1,4:3> 1 | ! [3,4] <3,4:3> 0 | ! [3] <1:3> 1"

const tni_op tni_op_max_at = {AT(max_at), .derivative = &max_derivative};
const tni_op tni_op_min_at = {AT(min_at), .derivative = &min_derivative};

static tn_tensor *along(const tni_op *op, tn_tensor *x, tn_tensor *index, int dim, bool keepdim)
{
    tn_tensor *in[2] = {x, index};
    const at_attr attr = {dim, keepdim};
    return tni_call_new(op, in, &attr);
}

static tn_tensor *extreme_dim(const tni_op *op, tn_tensor *(*search)(tn_tensor *, int, bool), tn_tensor *x, int dim,
                              bool keepdim, tn_tensor **index)
{
    tn_tensor *at = search(x, dim, true), *values = at ? along(op, x, at, dim, keepdim) : NULL;
    if (index && values)
        *index = keepdim || at->ndim == 0 ? at : search(x, dim, false);
    return index && values && !*index ? NULL : values;
}

tn_tensor *tn_max_dim(tn_tensor *x, int dim, bool keepdim, tn_tensor **index)
{
    return extreme_dim(&tni_op_max_at, tn_argmax, x, dim, keepdim, index);
}

tn_tensor *tn_min_dim(tn_tensor *x, int dim, bool keepdim, tn_tensor **index)
{
    return extreme_dim(&tni_op_min_at, tn_argmin, x, dim, keepdim, index);
}
