/* How gradients come to stay: PyTorch's rules for a tensor's first gradient and for those after it.
 *
 * The first becomes the tensor's own if nobody else holds it and it is laid out as the tensor is; else it is copied
 * into that layout (row-major when the tensor has gaps or overlaps). Later ones are added in place, or, when the walk
 * is recorded, to a new tensor. */
#include <string.h>

#include "autograd/walk.h"
#include "base/error.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/overlap.h"

/* Strides of size-1 dims do not count, but in a gradient for a dense tensor 0 is not left to stand there. */
static bool same_layout(const tn_tensor *grad, const int64_t *strides, bool dense)
{
    for (int d = 0; d < grad->ndim; d++)
        if (grad->sizes[d] != 1 ? grad->sizes[d] > 1 && grad->strides[d] != strides[d] : dense && grad->strides[d] == 0)
            return false;
    return true;
}

/* The strides that x's gradient has; whether those are x's own. */
static bool gradient_strides(const tn_tensor *x, int64_t *strides)
{
    bool dense = tni_is_dense(x->sizes, x->strides, x->ndim);
    if (dense)
        memcpy(strides, x->strides, (size_t)x->ndim * sizeof *strides);
    else
        tni_contiguous_strides(x->sizes, x->ndim, strides);
    return dense;
}

static tn_tensor *copy_laid_out(tn_tensor *grad, const int64_t *strides)
{
    const tn_device device = {(tn_device_type)grad->device, 0};
    tn_tensor *copy = tni_tape_ops->empty_strided(grad->sizes, strides, grad->ndim, (tn_dtype)grad->dtype, device);
    return copy && tni_tape_ops->copy_(copy, grad) == TN_OK ? copy : NULL;
}

/* The first gradient of x: held by the innermost scope or, where it stays itself, by nobody new. */
static tn_tensor *first_gradient(const tn_tensor *x, tn_tensor *grad, bool create_graph)
{
    int64_t strides[TN_MAX_NDIM];
    bool dense = gradient_strides(x, strides);
    if (create_graph)
        return copy_laid_out(grad, strides);
    bool alone = tni_ref_now(&grad->object.references) == 1 && !(grad->keys & TNI_KEYS_LAZY);
    if (!alone || !same_layout(grad, strides, dense))
        return copy_laid_out(grad, strides);
    return grad->base ? tni_tape_ops->detach(grad) : grad;
}

static void replace(tni_tape *tape, tn_tensor *grad)
{
    tn_tensor *old = tape->grad;
    tni_ref(&grad->object.references);
    tape->grad = grad;
    if (old)
        tni_object_release(&old->object);
}

/* Whether a gradient may become x's own as it is, told without much: it is alone, no view, and both are contiguous. */
static inline bool stays_itself(const tn_tensor *x, const tn_tensor *grad, bool create_graph)
{
    return !create_graph && !grad->base && tni_ref_now(&grad->object.references) == 1 &&
           !(grad->keys & TNI_KEYS_LAZY) && grad->numel > 0 && tni_contiguous(x) && tni_contiguous(grad) &&
           same_layout(grad, x->strides, true);
}

tn_status tni_accumulate(tn_tensor *x, tn_tensor *grad, bool create_graph)
{
    tni_tape *tape = tni_tape_make("backward", x);
    if (tape && !tape->grad && TNI_LIKELY(stays_itself(x, grad, create_graph))) {
        tape->grad = grad;
        return tni_pending();
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *now = NULL;
    if (tape && !tni_pending()) {
        if (!tape->grad)
            now = first_gradient(x, grad, create_graph);
        else if (create_graph)
            now = tni_tape_ops->add(tape->grad, grad);
        else
            now = tni_tape_ops->add_(tape->grad, grad) == TN_OK ? tape->grad : NULL;
    }
    if (now && now != tape->grad)
        replace(tape, now);
    tn_scope_end(scope);
    tni_object_release(&grad->object);
    return tni_pending();
}

tn_status tni_retain(tni_tape *tape, tn_tensor *grad)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *now = NULL;
    if (!tni_pending())
        now = tape->grad ? tni_tape_ops->add(tape->grad, grad) : tni_tape_ops->clone(grad);
    if (now)
        replace(tape, now);
    tn_scope_end(scope);
    return tni_pending();
}
