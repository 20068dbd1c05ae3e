/* The walk back. See Note [Walk].
 *
 * Note [Walk]
 * Gradients wait at the ends of edges (autograd/pending.c). The one with the largest sequence number is next: every
 * node that could still add to it has a larger one and was walked before. So a node is walked once, when its gradient
 * is complete, without a count of what is missing and without state in nodes: several threads may walk one graph.
 * What its derivative makes dies with the walk's scope, which is cleared after each node.
 *
 * Leaves come last, which only hooks can tell from PyTorch's order: while a hook on a leaf exists, a plan
 * (autograd/plan.c) says how many gradients a leaf will get, and it is done with after the last. */
#include "autograd/walk.h"

#include <string.h>

#include "autograd/anomaly.h"
#include "autograd/hooks.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"

static tn_status fail_shape(const tni_node *from, const tn_tensor *grad, const tni_shape *shape)
{
    char have[120], need[120], name[80];
    tni_text_shape(have, sizeof have, grad->sizes, grad->ndim);
    tni_text_shape(need, sizeof need, shape->sizes, shape->ndim);
    return TNI_FAIL(TN_ERROR_GRAD, "backward",
                    "the derivative of %s gave a gradient %s for a tensor %s, needed one that sums to it",
                    from ? tni_node_name(from, name, sizeof name) : "a result", have, need);
}

/* Whether summing makes the shape of grad. */
static bool sums_to(const tn_tensor *grad, const tni_shape *shape)
{
    int lead = grad->ndim - shape->ndim;
    if (lead < 0)
        return false;
    for (int d = 0; d < shape->ndim; d++)
        if (shape->sizes[d] != 1 && shape->sizes[d] != grad->sizes[lead + d])
            return false;
    return true;
}

/* The gradient in the shape, dtype and kind of numbers of what it is for. The innermost scope holds what is made. */
static tn_tensor *fitted(const tni_node *from, tn_tensor *grad, const tni_shape *shape)
{
    if (TNI_UNLIKELY(!tni_same_dims(grad->sizes, grad->ndim, shape->sizes, shape->ndim))) {
        if (!sums_to(grad, shape)) {
            fail_shape(from, grad, shape);
            return NULL;
        }
        grad = tni_tape_ops->sum_to(grad, shape->sizes, shape->ndim);
    }
    if (TNI_UNLIKELY(grad && (tn_dtype)grad->dtype != shape->dtype)) {
        if (tni_dtype_kind((tn_dtype)grad->dtype) == TNI_COMPLEX && tni_dtype_kind(shape->dtype) != TNI_COMPLEX)
            grad = tni_tape_ops->real(grad);
        grad = grad && (tn_dtype)grad->dtype != shape->dtype ? tni_tape_ops->to(grad, shape->dtype) : grad;
    }
    return grad;
}

/* fitted, whose common answer is the gradient itself. */
static inline tn_tensor *fitted_to(const tni_node *from, tn_tensor *grad, tni_edge edge)
{
    const tni_node *node = tni_edge_node(edge);
    if (node && grad->ndim == node->ndim && grad->dtype == node->dtype) {
        const int64_t *sizes = tni_node_sizes(node);
        int d = 0;
        while (d < grad->ndim && grad->sizes[d] == sizes[d])
            d++;
        if (TNI_LIKELY(d == grad->ndim))
            return grad;
    }
    const tni_shape shape = tni_edge_shape(edge);
    return fitted(from, grad, &shape);
}

/* Adds a gradient to those that came before; `sum` and `ours` are the place's. */
static tn_status add_to(tni_walk *walk, tn_tensor **sum, bool *ours, tn_tensor *grad)
{
    if (TNI_LIKELY(!*sum)) {
        tni_ref(&grad->object.references);
        *sum = grad;
        *ours = false;
        return TN_OK;
    }
    if (*ours && !walk->create_graph)
        return tni_tape_ops->add_(*sum, grad);
    tn_tensor *total = tni_tape_ops->add(*sum, grad);
    if (!total)
        return tni_pending();
    tni_ref(&total->object.references);
    tni_object_release(&(*sum)->object);
    *sum = total;
    *ours = true;
    return TN_OK;
}

static TNI_ASIDE tn_status deliver_planned(tni_walk *walk, tni_edge edge, tn_tensor *grad)
{
    tni_planned *end = tni_plan_find(walk->plan, edge);
    if (!end->needed)
        return TN_OK;
    if (grad && add_to(walk, &end->grad, &end->ours, grad))
        return tni_pending();
    end->coming -= end->coming > 0;
    if (end->coming > 0 || !end->grad)
        return TN_OK;
    tni_waiting *place = tni_pending_at(&walk->pending, edge, UINT64_MAX);
    if (!place)
        return tni_pending();
    place->grad = end->grad;
    end->grad = NULL;
    return TN_OK;
}

tn_status tni_walk_deliver(tni_walk *walk, const tni_node *from, tni_edge edge, tn_tensor *grad)
{
    const tni_node *node = tni_edge_node(edge);
    if (grad && !(grad = fitted_to(from, grad, edge)))
        return tni_pending();
    if (TNI_UNLIKELY(walk->plan != NULL)) {
        if (!node)
            return deliver_planned(walk, edge, grad);
        if (!tni_plan_find(walk->plan, edge)->needed)
            return TN_OK;
    }
    if (!grad)
        return TN_OK;
    tni_waiting *place = tni_pending_at(&walk->pending, edge, node ? node->sequence : 0);
    return TNI_LIKELY(place != NULL) ? add_to(walk, &place->grad, &place->ours, grad) : tni_pending();
}

/* An offset in elements of one dtype in those of another: of complex numbers or their parts. */
static int64_t in_elements(int64_t offset, tn_dtype of, tn_dtype to)
{
    return offset * tni_itemsize(of) / tni_itemsize(to);
}

/* The derivative of a write into a view: the gradient of the base, with the part that was written taken out and led
 * through the operator. */
static void slices_vjp(tni_vjp *v, const tni_slices *slices)
{
    const int64_t *base = slices->geometry, *view = base + 2 * slices->base_ndim + 1;
    const int nb = slices->base_ndim, nv = slices->view_ndim;
    tn_tensor *grad = v->grad;
    tn_device device = {(tn_device_type)grad->device, 0};
    tn_tensor *all = tni_tape_ops->empty_strided(base, base + nb, nb, (tn_dtype)grad->dtype, device);
    if (!all || tni_tape_ops->copy_(all, grad))
        return;
    const int64_t offset = view[2 * nv] - in_elements(base[2 * nb], (tn_dtype)grad->dtype, slices->dtype);
    tn_tensor *part = tni_tape_ops->part(all, view, view + nv, nv, offset, slices->dtype, slices->lazy);
    v->grad = part ? tni_tape_ops->clone(part) : NULL;
    if (!v->grad)
        return;
    if (v->node->op->derivative->vjp)
        v->node->op->derivative->vjp(v);
    v->grad = grad;
    tn_tensor *through = v->grads[0];
    v->grads[0] = all;
    if (!through) {
        tni_tape_ops->zero_(part);
        return;
    }
    if (through->numel != part->numel || !tni_same_dims(through->sizes, through->ndim, part->sizes, part->ndim)) {
        const tni_shape shape = {part->sizes, part->ndim, (tn_dtype)part->dtype, (tn_device_type)part->device};
        through = fitted(v->node, through, &shape);
    }
    if (through)
        tni_tape_ops->copy_(part, through);
}

static uint64_t needed_edges(const tni_walk *walk, const tni_node *node)
{
    uint64_t needed = 0;
    for (uint32_t i = 0; i < node->n_edges; i++) {
        bool wanted = node->edges[i] && (!walk->plan || tni_plan_find(walk->plan, node->edges[i])->needed);
        needed |= (uint64_t)wanted << (i < 63 ? i : 63);
    }
    return needed;
}

static tn_status fail_freed(const tni_node *node)
{
    return TNI_FAIL(TN_ERROR_GRAPH_FREED, "backward",
                    "the graph was walked before, and what \"%s\" saved was given up: needed retain_graph in that walk",
                    node->op->name[node->form]);
}

/* Runs the derivative and hands its gradients on. */
static tn_status run_derivative(tni_walk *walk, tni_node *node, tn_tensor *grad, tn_tensor **grads)
{
    tni_vjp v = {node, node->attr, grad, grads, needed_edges(walk, node), walk->create_graph};
    for (uint32_t i = 0; i < node->n_edges; i++)
        grads[i] = NULL;
    if (TNI_UNLIKELY(walk->plan != NULL) && tni_saved_check(node))
        return tni_pending();
    if (TNI_UNLIKELY(node->slices != NULL))
        slices_vjp(&v, node->slices);
    else if (TNI_LIKELY(node->op->derivative->vjp != NULL && v.needed))
        node->op->derivative->vjp(&v);
    if (TNI_UNLIKELY(tni_pending()) || (TNI_UNLIKELY(walk->anomaly) && tni_anomaly_check(&v, walk->anomaly)))
        return tni_pending();
    for (uint32_t i = 0; i < node->n_edges; i++)
        if (node->edges[i] && (grads[i] || walk->plan) && tni_walk_deliver(walk, node, node->edges[i], grads[i]))
            return tni_pending();
    return TN_OK;
}

static tn_status run_node(tni_walk *walk, tni_node *node, tn_tensor *grad)
{
    tn_tensor *few[8], **grads = few;
    const size_t bytes = node->n_edges * sizeof *grads;
    if (TNI_UNLIKELY(node->flags & TNI_NODE_RELEASED))
        return fail_freed(node);
    if (TNI_UNLIKELY(node->n_edges > 8) && !(grads = tni_alloc(bytes)))
        return TNI_FAIL_MEMORY("backward", bytes);
    tn_status status = run_derivative(walk, node, grad, grads);
    tni_scope_clear(walk->scope);
    if (TNI_UNLIKELY(grads != few))
        tni_free(grads, bytes);
    if (status == TN_OK && node->flags & TNI_NODE_HOLDS && !walk->retain_graph) {
        tni_node_release_saved(node);
        node->flags |= TNI_NODE_RELEASED;
    }
    return status;
}

/* Hands a gradient to those inputs of the walk that it is of. */
static void capture(tni_walk *walk, tni_edge edge, tn_tensor *grad)
{
    for (int i = 0; i < walk->n_inputs; i++) {
        if (walk->inputs[i] != edge)
            continue;
        tni_ref(&grad->object.references);
        walk->captured[i] = grad;
    }
}

/* Lets hooks see a gradient; *grad is held by the caller before and after. */
static tn_status run_hooks(tni_hook *const *hooks, tn_tensor **grad)
{
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    tn_tensor *seen = tni_hooks_run(hooks, *grad);
    if (seen && seen != *grad) {
        tni_ref(&seen->object.references);
        tni_object_release(&(*grad)->object);
        *grad = seen;
    }
    tn_scope_end(scope);
    return tni_pending();
}

/* As in PyTorch, an input on whose way there are others gets the gradient that its hooks have not seen yet. */
static tn_status visit_node(tni_walk *walk, tni_edge edge, tn_tensor **grad)
{
    tni_node *node = tni_edge_node(edge);
    const bool ends = TNI_UNLIKELY(walk->plan != NULL) && needed_edges(walk, node) == 0 &&
                      (walk->captured || tni_plan_find(walk->plan, edge)->only_seen);
    if (TNI_UNLIKELY(walk->captured != NULL) && !ends)
        capture(walk, edge, *grad);
    if (TNI_UNLIKELY(node->hooks != NULL) && run_hooks(&node->hooks, grad))
        return tni_pending();
    if (TNI_UNLIKELY(node->retains != NULL) && tni_retain(node->retains, *grad))
        return tni_pending();
    if (TNI_UNLIKELY(walk->captured != NULL) && ends)
        capture(walk, edge, *grad);
    return ends ? TN_OK : run_node(walk, node, *grad);
}

/* Takes *grad over when it accumulates it (and makes it NULL). */
static tn_status visit_leaf(tni_walk *walk, tni_edge edge, tn_tensor **grad)
{
    tn_tensor *leaf = tni_edge_leaf(edge), *mine;
    if (TNI_UNLIKELY(leaf->base != NULL) && tni_leads_nowhere(leaf))
        return TN_OK;
    tni_tape *tape = tni_tape_of(leaf);
    if (TNI_UNLIKELY(tape && tape->hooks) && run_hooks(&tape->hooks, grad))
        return tni_pending();
    if (walk->captured) {
        capture(walk, edge, *grad);
        return TN_OK;
    }
    if (TNI_UNLIKELY(!(leaf->keys & TNI_KEY_TAPE)) || /* it was detached, or told not to, since the call was recorded */
        (TNI_UNLIKELY(walk->plan != NULL) && tni_plan_find(walk->plan, edge)->only_seen))
        return TN_OK;
    mine = *grad;
    *grad = NULL;
    if (tni_accumulate(leaf, mine, walk->create_graph))
        return tni_pending();
    tape = tni_tape_of(leaf);
    if (TNI_UNLIKELY(tape && tape->after)) {
        tn_scope scope = tn_scope_begin();
        tni_hooks_run(&tape->after, tape->grad);
        tn_scope_end(scope);
    }
    return tni_pending();
}

/* Leaves that a plan still expects gradients for, which do not come: some node got none. */
static tn_status visit_rest(tni_walk *walk)
{
    for (uint32_t i = 0; walk->plan && i < walk->plan->used; i++) {
        tni_planned *end = &walk->plan->ends[i];
        if (end->grad && visit_leaf(walk, end->end, &end->grad))
            return tni_pending();
    }
    return TN_OK;
}

tn_status tni_walk_run(tni_walk *walk)
{
    tni_waiting next;
    tn_status status = TN_OK;
    while (status == TN_OK && tni_pending_next(&walk->pending, &next)) {
        status = tni_edge_node(next.edge) ? visit_node(walk, next.edge, &next.grad)
                                          : visit_leaf(walk, next.edge, &next.grad);
        if (next.grad)
            tni_object_release(&next.grad->object);
    }
    return status == TN_OK ? visit_rest(walk) : status;
}
