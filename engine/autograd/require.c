/* What can be asked of a tensor's place on the tape, and changed: requires_grad, leaf, grad, hooks. */
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>

#include "autograd/hooks.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"

bool tn_requires_grad(const tn_tensor *x)
{
    return !tni_check_tensor("requires_grad", 1, "self", x) && tni_requires_grad(x);
}

tn_status tni_require_grad(tn_tensor *x, bool on)
{
    if (tni_check_tensor("requires_grad_", 1, "self", x))
        return tni_pending();
    if (on && tni_dtype_kind((tn_dtype)x->dtype) < TNI_FLOAT)
        return TNI_FAIL(TN_ERROR_DTYPE, "requires_grad_", "the tensor is %s, needed a floating or complex dtype",
                        tn_dtype_name((tn_dtype)x->dtype));
    if (!on && tni_own_node(x))
        return TNI_FAIL(TN_ERROR_NOT_LEAF, "requires_grad_",
                        "the tensor is a recorded result, needed a leaf; use tn_detach");
    if (on && x->keys & TNI_KEY_INFERENCE && !tni_this_thread.inference)
        return TNI_FAIL(TN_ERROR_INFERENCE, "requires_grad_",
                        "the tensor was made in inference mode, needed one that was not, or that mode: clone it");
    if (on)
        x->keys |= TNI_KEY_TAPE;
    else
        x->keys &= ~TNI_KEY_TAPE;
    return TN_OK;
}

bool tn_is_leaf(tn_tensor *x)
{
    if (tni_check_tensor("is_leaf", 1, "self", x))
        return false;
    return !tni_requires_grad(x) || (!tni_node_of("is_leaf", x) && !tni_pending());
}

tn_node *tn_grad_fn(tn_tensor *x)
{
    if (tni_check_tensor("grad_fn", 1, "self", x) || !tni_requires_grad(x))
        return NULL;
    tn_node *node = tni_node_of("grad_fn", x);
    if (!node)
        return NULL;
    if (!tni_scope_room("grad_fn"))
        return NULL;
    tni_ref(&node->object.references);
    tni_scope_hold(&node->object);
    return node;
}

int tn_node_name(const tn_node *node, char *buf, size_t size)
{
    char made[96];
    if (size > 0)
        buf[0] = '\0';
    if (tni_pending())
        return 0;
    if (!node) {
        TNI_FAIL_NULL("node_name", 1, "node");
        return 0;
    }
    return snprintf(buf, size, "%s", tni_node_name(node, made, sizeof made));
}

int tn_output_nr(tn_tensor *x)
{
    if (tni_check_tensor("output_nr", 1, "self", x) || !tni_requires_grad(x))
        return 0;
    const tni_node *node = tni_node_of("output_nr", x);
    return node ? node->number : 0;
}

tn_tensor *tn_grad_of(const tn_tensor *x)
{
    const tni_tape *tape = tni_check_tensor("grad_of", 1, "self", x) ? NULL : tni_tape_of(x);
    return tape ? tape->grad : NULL;
}

static tn_status check_grad(const tn_tensor *x, const tn_tensor *grad)
{
    if (grad == x)
        return TNI_FAIL(TN_ERROR_GRAD, "set_grad", "the gradient is the tensor itself, needed another");
    if (grad->dtype == x->dtype && grad->device == x->device &&
        tni_same_dims(grad->sizes, grad->ndim, x->sizes, x->ndim))
        return TN_OK;
    char have[120], need[120];
    tni_text_shape(have, sizeof have, grad->sizes, grad->ndim);
    tni_text_shape(need, sizeof need, x->sizes, x->ndim);
    return TNI_FAIL(TN_ERROR_GRAD, "set_grad", "the gradient is a %s tensor %s, needed %s %s, as the tensor's",
                    tn_dtype_name((tn_dtype)grad->dtype), have, tn_dtype_name((tn_dtype)x->dtype), need);
}

tn_status tn_set_grad(tn_tensor *x, tn_tensor *grad)
{
    if (tni_check_tensor("set_grad", 1, "self", x) || (grad && check_grad(x, grad)))
        return tni_pending();
    tni_tape *tape = grad ? tni_tape_make("set_grad", x) : tni_tape_of(x);
    if (!tape)
        return tni_pending();
    tn_tensor *old = tape->grad;
    if (grad)
        tni_ref(&grad->object.references);
    tape->grad = grad;
    if (old)
        tni_object_release(&old->object);
    return TN_OK;
}

tn_status tn_retain_grad(tn_tensor *x)
{
    if (tni_check_tensor("retain_grad", 1, "self", x))
        return tni_pending();
    if (!tni_requires_grad(x))
        return TNI_FAIL(TN_ERROR_NO_GRAPH, "retain_grad", "the tensor does not require a gradient");
    if (!tni_own_node(x)) /* leaves keep it anyway */
        return TN_OK;
    tni_node *node = tni_node_of("retain_grad", x);
    if (!node)
        return tni_pending();
    tni_tape *tape = tni_tape_make("retain_grad", x);
    if (!tape)
        return tni_pending();
    tni_set_retainer(tape, node);
    return TN_OK;
}

bool tn_retains_grad(const tn_tensor *x)
{
    const tni_tape *tape = tni_check_tensor("retains_grad", 1, "self", x) ? NULL : tni_tape_of(x);
    return tape && tape->retainer && tni_requires_grad(x);
}

int64_t tn_register_hook(tn_tensor *x, tn_hook_function hook, void *context)
{
    if (tni_check_tensor("register_hook", 1, "self", x))
        return 0;
    if (!hook) {
        TNI_FAIL_NULL("register_hook", 2, "hook");
        return 0;
    }
    if (!tni_requires_grad(x)) {
        TNI_FAIL(TN_ERROR_NO_GRAPH, "register_hook", "the tensor does not require a gradient");
        return 0;
    }
    tni_node *node = tni_node_of("register_hook", x);
    if (tni_pending())
        return 0;
    if (node)
        return tni_hook_add("register_hook", &node->hooks, hook, context);
    tni_tape *tape = tni_tape_make("register_hook", x);
    int64_t number = tape ? tni_hook_add("register_hook", &tape->hooks, hook, context) : 0;
    if (number)
        __atomic_fetch_add(&tni_leaf_hooks, 1, __ATOMIC_RELAXED);
    return number;
}

int64_t tn_register_post_accumulate_grad_hook(tn_tensor *x, tn_hook_function hook, void *context)
{
    const char *function = "register_post_accumulate_grad_hook";
    if (tni_check_tensor(function, 1, "self", x))
        return 0;
    if (!hook) {
        TNI_FAIL_NULL(function, 2, "hook");
        return 0;
    }
    if (!tni_requires_grad(x)) {
        TNI_FAIL(TN_ERROR_NO_GRAPH, function, "the tensor does not require a gradient");
        return 0;
    }
    if (!tn_is_leaf(x)) {
        TNI_FAIL(TN_ERROR_NOT_LEAF, function, "the tensor is a recorded result, needed a leaf");
        return 0;
    }
    tni_tape *tape = tni_tape_make(function, x);
    int64_t number = tape ? tni_hook_add(function, &tape->after, hook, context) : 0;
    if (number)
        __atomic_fetch_add(&tni_leaf_hooks, 1, __ATOMIC_RELAXED);
    return number;
}

tn_status tn_hook_remove(tn_tensor *x, int64_t handle)
{
    if (tni_check_tensor("hook_remove", 1, "self", x))
        return tni_pending();
    tni_tape *tape = tni_tape_of(x);
    tni_node *node = tni_own_node(x);
    if (tape && (tni_hook_remove(&tape->hooks, handle) || tni_hook_remove(&tape->after, handle)))
        __atomic_fetch_sub(&tni_leaf_hooks, 1, __ATOMIC_RELAXED);
    else if (node)
        tni_hook_remove(&node->hooks, handle);
    return TN_OK;
}
