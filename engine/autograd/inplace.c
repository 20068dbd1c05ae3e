/* Recording of calls that write into a tensor. See Note [Writes into views].
 *
 * All that can fail happens before the write: rules, edges, the copy of a value that the derivative needs and the call
 * overwrites, the node. So a refused write leaves tensor and history as they were. */
#include "autograd/inplace.h"

#include "autograd/plan.h"
#include "autograd/record.h"
#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/error.h"
#include "core/lazy.h"
#include "core/tensor_make.h"

static tn_status refuse_out(const tni_call *call)
{
    const int n = tni_input_count(call);
    for (int i = -1; i < n; i++) {
        const tn_tensor *x = i < 0 ? call->out[0] : call->in[i];
        if (x && tni_requires_grad(x))
            return TNI_FAIL(TN_ERROR_INPLACE_LEAF, tni_call_name(call),
                            "%s requires a gradient, which calls that write into a given tensor do not record: needed "
                            "the form that returns its result",
                            i < 0 ? "the tensor to write" : "an argument");
    }
    return TN_OK;
}

/* Leaves, and views of leaves, must keep the value that their gradient belongs to; one that was detached since is a
 * leaf, too. As in PyTorch so is a view whose base got its history by a write, until somebody asks for the view's. */
static tn_status check_rules(const tni_call *call, const tn_tensor *x)
{
    const char *name = tni_call_name(call);
    if (x->base && tni_check_creation(name, x))
        return tni_pending();
    if (x->base && tni_requires_grad(x) && !tni_own_node(x->base))
        return TNI_FAIL(TN_ERROR_INPLACE_LEAF, name,
                        "the tensor to write is a view of a leaf that requires a gradient: needed tn_no_grad around "
                        "it, or a copy");
    bool asked = x->base && x->keys & TNI_KEY_TAPE;
    if (tni_requires_grad(x) && !tni_own_node(x) && !asked)
        return TNI_FAIL(TN_ERROR_INPLACE_LEAF, name,
                        "the tensor to write is a leaf that requires a gradient: needed tn_no_grad around it, or a "
                        "copy");
    return TN_OK;
}

static void put_geometry(int64_t *to, const tn_tensor *x)
{
    for (int d = 0; d < x->ndim; d++) {
        to[d] = x->sizes[d];
        to[x->ndim + d] = x->strides[d];
    }
    to[2 * x->ndim] = x->offset;
}

static tn_status set_slices(tni_node *node, const char *name, const tn_tensor *view)
{
    const tn_tensor *base = view->base;
    size_t n = (size_t)(2 * base->ndim + 2 * view->ndim + 2);
    tni_slices *slices = tni_alloc(sizeof *slices + n * sizeof *slices->geometry);
    if (!slices)
        return TNI_FAIL_MEMORY(name, sizeof *slices + n * sizeof *slices->geometry);
    slices->base_ndim = base->ndim;
    slices->view_ndim = view->ndim;
    slices->dtype = (tn_dtype)view->dtype;
    slices->lazy = view->keys & TNI_KEYS_LAZY;
    put_geometry(slices->geometry, base);
    put_geometry(slices->geometry + 2 * base->ndim + 1, view);
    node->slices = slices;
    node->flags |= TNI_NODE_HOLDS; /* as in PyTorch it is walked once, whatever its operator keeps */
    return TN_OK;
}

/* The value that the call is about to overwrite, with its history and its tangent. */
static tn_tensor *old_value(tn_tensor *x)
{
    uint64_t exclude = tni_this_thread.exclude;
    tni_this_thread.exclude = exclude & ~(TNI_KEY_TAPE | TNI_KEY_DUAL);
    tn_tensor *copy = tni_tape_ops->clone(x);
    tni_this_thread.exclude = exclude;
    return copy;
}

/* The node of a write into x, complete but for the shape and versions of what comes out. */
static tni_node *node_of_write(tni_call *call, tn_tensor *x, const tni_edge *edges, uint64_t tracked)
{
    const char *name = tni_call_name(call);
    const bool geometry_alone = !call->op->run;
    unsigned saves = tni_record_saves(call->op, tracked);
    tn_tensor *in[TNI_MAX_IN];
    tni_call before = *call;
    before.in = in;
    for (int i = 0; i < call->op->n_in; i++)
        in[i] = call->in[i];
    if (saves & TNI_SAVE(0) && !(in[0] = old_value(x)))
        return NULL;
    int ndim = geometry_alone ? TN_MAX_NDIM : x->base && x->base->ndim > x->ndim ? x->base->ndim : x->ndim;
    tni_node *node = tni_record_node(&before, edges, saves, ndim);
    if (!node)
        return NULL;
    if ((saves & TNI_SAVE_RESULT && tni_node_save_result(node, node->n_saved - 1, x)) ||
        (x->base && !geometry_alone && set_slices(node, name, x))) {
        tni_object_release(&node->object);
        return NULL;
    }
    return node;
}

/* What x's new history saved of x itself would hold x in a ring. It is out of date, so that a stand-in with x's counter
 * serves: it is refused by its version, too. Only what was saved and written since costs this look at the graph. */
static void unring(tni_node *node, tn_tensor *x)
{
    const tni_record record = {.dtype = x->dtype, .device = x->device, .ndim = x->ndim, .sizes = x->sizes,
                               .strides = x->strides, .numel = x->numel, .offset = x->offset};
    const tni_edge root = tni_edge_to_node(node);
    tni_plan plan;
    if (!(__atomic_load_n(&x->counter->flags, __ATOMIC_RELAXED) & TNI_STORAGE_WATCHED))
        return;
    tn_error saved_error;
    tn_error_push(&saved_error); /* the write is done: without memory the ring stays */
    tn_scope scope = tn_scope_begin();
    tn_status status = tni_plan_make(&plan, &root, 1, NULL, 0);
    for (uint32_t i = 0; status == TN_OK && i < plan.used; i++) {
        tni_node *at = tni_edge_node(plan.ends[i].end);
        for (int k = 0; at && k < at->n_saved; k++) {
            tni_saved *saved = &tni_node_saved(at)[k];
            tn_tensor *alone = saved->tensor == x ? tni_tensor_sharing("backward", x, &record, false) : NULL;
            if (!alone)
                continue;
            tni_scope_unhold(&alone->object);
            saved->tensor = alone;
            tni_object_release(&x->object);
        }
    }
    tni_plan_free(&plan);
    tn_scope_end(scope);
    tn_error_pop(&saved_error);
}

/* The history of x, or of its base, goes on with the node. */
static void rebase(tni_node *node, tn_tensor *x, tni_edge base_edge)
{
    tn_tensor *written = node->slices ? x->base : x;
    if (node->slices) {
        x->keys |= TNI_KEY_TAPE; /* its history is asked for: it goes on from here */
        tni_edge_hold(base_edge);
        tni_edge_release(node->edges[0]);
        node->edges[0] = base_edge;
        const tni_node *next = tni_edge_node(base_edge);
        if (next && next->sequence >= node->sequence)
            tni_this_thread.sequence = node->sequence = next->sequence + 1;
    }
    if (node->flags & TNI_NODE_HOLDS && node->n_saved) {
        tni_saved *last = &tni_node_saved(node)[node->n_saved - 1];
        if (last->what == TNI_SAVED_RESULT)
            last->version = x->counter->version;
    }
    tni_node_set_shape(node, written);
    if (node->op->run)
        tni_set_node(written, node);
    else /* a gradient that is kept stays that of the old geometry, as in PyTorch */
        tni_replace_node(written, node);
    unring(node, written);
    if (written->base)
        written->tape_version = written->counter->version;
}

static bool is_tracked(const tni_call *call)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && tni_requires_grad(call->in[i]))
            return true;
    return false;
}

tn_status tni_record_write(tni_call *call)
{
    const tni_derivative *derivative = call->op->derivative;
    const char *name = tni_call_name(call);
    tn_tensor *x = call->out[0];
    if (call->form == TNI_OUT)
        return refuse_out(call) ? tni_pending() : tni_dispatch(call);
    if (derivative && derivative->write)
        return derivative->write(call);
    if (!is_tracked(call) || tni_dtype_kind((tn_dtype)x->dtype) < TNI_FLOAT)
        return tni_dispatch(call);
    if (check_rules(call, x))
        return tni_pending();
    tni_edge edges[TNI_MAX_IN], base_edge = 0;
    uint64_t tracked = tni_record_edges(call, edges);
    if (tni_pending())
        return tni_pending();
    if (!derivative)
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, name,
                        "an argument requires a gradient, and the operator has no derivative yet; detach it, or use "
                        "tn_no_grad");
    if (x->base && call->op->run)
        base_edge = tni_edge_of(name, x->base);
    if (tni_pending())
        return tni_pending();
    tn_scope scope = tn_scope_begin(); /* of the old value */
    tni_node *node = tni_pending() ? NULL : node_of_write(call, x, edges, tracked);
    tn_scope_end(scope);
    if (!node)
        return tni_pending();
    if (tni_dispatch(call)) {
        tni_object_release(&node->object);
        return tni_pending();
    }
    rebase(node, x, base_edge);
    return TN_OK;
}

/* detach_: the operator cuts the history itself, since it does so in every mode. */
static tn_status detach_write(tni_call *call)
{
    return tni_dispatch(call);
}

/* set_data: neither value nor history of the tape is about data; but integers have no gradient. */
static tn_status data_write(tni_call *call)
{
    const tn_tensor *data = call->in[1];
    if (tni_requires_grad(call->out[0]) && data && tni_dtype_kind((tn_dtype)data->dtype) < TNI_FLOAT)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call),
                        "the data is %s and the tensor requires a gradient, needed a floating or complex dtype",
                        tn_dtype_name((tn_dtype)data->dtype));
    return tni_dispatch(call);
}

static tn_status resize_write(tni_call *call)
{
    if (tni_requires_grad(call->out[0]))
        return TNI_FAIL(TN_ERROR_INPLACE_LEAF, tni_call_name(call),
                        "the tensor requires a gradient, needed one that does not: its sizes are fixed");
    return tni_dispatch(call);
}

const tni_derivative tni_detaching = {.write = detach_write};
const tni_derivative tni_replacing_data = {.write = data_write};
const tni_derivative tni_resizing = {.write = resize_write};
