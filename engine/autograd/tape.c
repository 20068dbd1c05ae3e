/* What autograd knows of a tensor.
 *
 * Note [Writes into views]
 * A view and its base are one memory, so a recorded write into the view is in the history of the base: its new node is
 * a CopySlices, whose gradient goes to the old history of the base but for the part that was written, which goes
 * through the operator. The view, and every other view of that base, then has a new history too: as a strided part of
 * the base's. It is told when somebody asks, which a version that has moved on shows.
 *
 * Whether a view requires a gradient is therefore asked of its base, too (tni_keys). */
#include "autograd/tape.h"

#include "autograd/forward.h"
#include "autograd/hooks.h"
#include "autograd/tangent.h"
#include "base/alloc.h"
#include "base/error.h"

static void tape_destroy(tni_autograd_meta *meta);

const tni_autograd_class tni_tape_meta = {.destroy = tape_destroy, .facts = tni_tape_facts};

const tni_tape_operators *tni_tape_ops;

void tni_tape_begin(const tni_tape_operators *operators)
{
    if (TNI_LIKELY(__atomic_load_n(&tni_tape_ops, __ATOMIC_ACQUIRE) != NULL))
        return;
    tni_set_layer(TNI_TAPE_BIT, tni_record_layer, NULL);
    tni_set_layer(TNI_DUAL_BIT, tni_dual_layer, NULL);
    __atomic_store_n(&tni_tape_ops, operators, __ATOMIC_RELEASE);
}

static void tape_destroy(tni_autograd_meta *meta)
{
    tni_tape *tape = (tni_tape *)(void *)meta;
    tn_tensor *grad = tape->grad;
    tni_node *node = tape->node;
    tni_set_retainer(tape, NULL);
    tni_tangent_drop(tape);
    tni_hooks_free(&tape->hooks);
    tni_hooks_free(&tape->after);
    tni_free(tape, sizeof *tape);
    if (node)
        tni_object_release(&node->object);
    if (grad)
        tni_object_release(&grad->object);
}

tni_tape *tni_tape_make(const char *function, tn_tensor *x)
{
    tni_tape *tape = tni_tape_of(x);
    if (tape)
        return tape;
    tape = tni_alloc_zeroed(sizeof *tape);
    if (!tape) {
        TNI_FAIL_MEMORY(function, sizeof *tape);
        return NULL;
    }
    tape->as_meta.type = &tni_tape_meta;
    tape->node = tni_own_node(x);
    x->autograd = &tape->as_meta;
    return tape;
}

bool tni_is_stale(const tn_tensor *x)
{
    if (!x->base)
        return false;
    if (x->autograd && tni_own_node(x))
        return x->tape_version != x->counter->version;
    if (x->creation < TNI_CREATED_NO_GRAD) /* made when the base had no history that x could share */
        return tni_own_node(x->base) != NULL;
    return tni_requires_grad(x->base) && x->tape_version != x->counter->version;
}

tn_status tni_check_creation(const char *function, const tn_tensor *x)
{
    switch ((tni_creation)x->creation) {
    case TNI_CREATED_NORMALLY:
        return TN_OK;
    case TNI_CREATED_MULTI_OUTPUT:
        return TNI_FAIL(TN_ERROR_INPLACE_VIEW, function,
                        "the tensor is one of several views that were made at once (split, unbind), and it "
                        "or its base is written, which such views do not allow: needed a copy of it");
    case TNI_CREATED_NO_GRAD:
        return TNI_FAIL(TN_ERROR_INPLACE_VIEW, function,
                        "the tensor is a view made under no_grad, and it or its base was written outside: needed both "
                        "inside, or both outside");
    default:
        return TNI_FAIL(TN_ERROR_INPLACE_VIEW, function,
                        "the tensor is a view made in inference mode, and it or its base was written outside");
    }
}

tni_node *tni_node_of(const char *function, tn_tensor *x)
{
    if (TNI_LIKELY(!tni_is_stale(x)))
        return tni_own_node(x);
    if (tni_check_creation(function, x))
        return NULL;
    tni_edge edge = tni_edge_of(function, x->base); /* 0: the base was detached, and gradients end here */
    if (tni_pending())
        return NULL;
    tni_node *node = tni_tape_ops->as_strided_node(function, x, edge);
    if (!node)
        return NULL;
    tni_set_node(x, node);
    x->tape_version = x->counter->version;
    return node;
}

tni_edge tni_edge_of(const char *function, tn_tensor *x)
{
    if (!tni_requires_grad(x))
        return 0;
    tni_node *node = x->base ? tni_node_of(function, x) : tni_own_node(x);
    if (TNI_LIKELY(node != NULL))
        return tni_edge_to_node(node);
    return TNI_UNLIKELY(tni_pending()) ? 0 : tni_edge_to_leaf(x);
}

void tni_set_retainer(tni_tape *tape, tni_node *node)
{
    tni_node *old = tape->retainer;
    if (old == node)
        return;
    if (node) {
        tni_ref(&node->object.references);
        node->retains = tape;
    }
    tape->retainer = node;
    if (!old)
        return;
    if (old->retains == tape)
        old->retains = NULL;
    tni_object_release(&old->object);
}

void tni_set_node(tn_tensor *x, tni_node *node)
{
    tni_tape *tape = tni_tape_of(x);
    if (TNI_UNLIKELY(tape && tape->retainer))
        tni_set_retainer(tape, node);
    tni_replace_node(x, node);
}

void tni_replace_node(tn_tensor *x, tni_node *node)
{
    tni_tape *tape = tni_tape_of(x);
    tni_node *old = tni_own_node(x);
    if (tape) {
        tape->node = node;
    } else {
        x->autograd = node ? &node->as_meta : NULL;
    }
    if (node) /* a view of a base that requires a gradient keeps the bit; x alone changes */
        __atomic_store_n(&x->keys, x->keys | TNI_KEY_TAPE, __ATOMIC_RELAXED);
    if (old)
        tni_object_release(&old->object);
}

static _Thread_local char name[64]; /* of the node that facts were last told of */

void tni_tape_facts(const tn_tensor *x, tni_autograd_facts *facts)
{
    const tni_tape *tape = tni_tape_of(x);
    const tni_node *node = tni_own_node(x);
    facts->requires_grad = tni_requires_grad(x);
    if (facts->requires_grad && tni_is_stale(x))
        facts->grad_fn = x->creation == TNI_CREATED_NORMALLY ? "AsStridedBackward0" : "Invalid";
    else if (facts->requires_grad && node)
        facts->grad_fn = tni_node_name(node, name, sizeof name);
    facts->tangent = tape ? tape->tangent : NULL;
}
