/* The operators that the tape calls itself, handed down to it before anything first requires a gradient. */
#include "ops/tape.h"

#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/forward.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "autograd/tangent.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "core/geometry.h"
#include "ops/operators.h"
#include "ops/reduce_attr.h"

tn_tensor *tni_sum_to(tn_tensor *x, const int64_t *sizes, int ndim)
{
    int dims[TN_MAX_NDIM], n = 0, lead;
    if (!x || tni_same_dims(x->sizes, x->ndim, sizes, ndim))
        return x;
    lead = x->ndim - ndim;
    for (int d = 0; d < x->ndim; d++)
        if (d < lead || (sizes[d - lead] == 1 && x->sizes[d] != 1))
            dims[n++] = d;
    if (n == lead && n > 0 && !(tni_keys(x) & TNI_KEY_TAPE)) { /* what is recorded has PyTorch's two steps */
        int64_t leading[TN_MAX_NDIM];
        const tni_reduce_attr attr = {.dims = {leading, n}, .dtype = (tn_dtype)x->dtype};
        for (int d = 0; d < n; d++)
            leading[d] = d;
        return tni_call_new(&tni_op_sum, &x, &attr);
    }
    tn_tensor *sum = n > 0 ? tn_sum(x, dims, n, true, (tn_dtype)x->dtype) : x;
    return sum && lead > 0 ? tn_view(sum, sizes, ndim) : sum;
}

tn_tensor *tni_zeros_of(const tni_vjp *v, int i)
{
    const tni_shape shape = tni_input_shape(v, i);
    tn_tensor *zeros = tn_new_zeros(v->grad, shape.sizes, shape.ndim);
    return zeros ? tn_to(zeros, shape.dtype) : NULL;
}

void tni_vjp_pass(tni_vjp *v)
{
    v->grads[0] = v->grad;
}

void tni_vjp_reshape(tni_vjp *v)
{
    if (!tni_needs(v, 0)) /* of view_as, whose other input gives the shape alone */
        return;
    const tni_shape shape = tni_input_shape(v, 0);
    v->grads[0] = tn_reshape(v->grad, shape.sizes, shape.ndim);
}

void tni_vjp_part(tni_vjp *v)
{
    tn_tensor *all = tni_zeros_of(v, 0), *part = all ? tni_call_new(v->node->op, &all, v->attr) : NULL;
    if (part && tn_copy_(part, v->grad) == TN_OK)
        v->grads[0] = all;
}

void tni_vjp_none(tni_vjp *v)
{
    if (tni_needs(v, 0) && !v->node->slices) /* there the part that was written is cleared */
        v->grads[0] = tni_zeros_of(v, 0);
}

static tn_tensor *ones_like(tn_tensor *x)
{
    return tn_ones_like(x, TN_DTYPE_NONE, TN_PRESERVE_FORMAT);
}

static tn_tensor *empty_strided(const int64_t *sizes, const int64_t *strides, int ndim, tn_dtype dtype,
                                tn_device device)
{
    tn_device before = tn_get_default_device();
    tn_set_default_device(device);
    tn_tensor *x = tn_empty_strided(sizes, strides, ndim, dtype);
    tn_set_default_device(before);
    return x;
}

static const tni_tape_operators operators = {
    .add = tn_add, .add_ = tn_add_, .sum_to = tni_sum_to, .to = tn_to, .real = tn_real, .clone = tn_clone,
    .detach = tn_detach, .ones_like = ones_like, .empty_strided = empty_strided, .as_strided = tn_as_strided,
    .copy_ = tn_copy_, .zero_ = tn_zero_, .view = tn_view, .expand = tn_expand, .zero_tensor = tn_zero_tensor,
    .as_strided_node = tni_as_strided_node, .part = tni_part,
};

void tni_tape_ready(void)
{
    tni_tape_begin(&operators);
}

tn_status tn_requires_grad_(tn_tensor *x, bool on)
{
    tni_tape_ready();
    return tni_require_grad(x, on);
}

tn_status tn_enter_dual_level(void)
{
    tni_tape_ready();
    return tni_dual_enter();
}
