/* What a derivative gets of a recorded call. A saved tensor must still be what it was: its version says. */
#include "autograd/derivative.h"

#include <stdio.h>

#include "autograd/node.h"
#include "autograd/tangent.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/tensor_make.h"
#include "dispatch/writer.h"

static tn_status fail_version(const tni_node *node, const tni_saved *saved)
{
    char shape[120], by[80] = "";
    const tn_tensor *x = saved->tensor;
    const char *writer = tni_writer_of(x->counter);
    tni_text_shape(shape, sizeof shape, x->sizes, x->ndim);
    if (writer)
        snprintf(by, sizeof by, " by \"%s\"", writer);
    return TNI_FAIL(TN_ERROR_SAVED_VERSION, "backward",
                    "\"%s\" saved its %s, a %s tensor %s, at version %u, and it was written%s since, version %u: "
                    "needed it unchanged",
                    node->op->name[node->form], saved->what == TNI_SAVED_RESULT ? "result" : "argument",
                    tn_dtype_name((tn_dtype)x->dtype), shape, saved->version, by, x->counter->version);
}

static tni_saved *find(const tni_vjp *v, int what)
{
    tni_saved *saved = tni_node_saved(v->node);
    for (int i = 0; i < v->node->n_saved; i++)
        if (saved[i].what == what)
            return saved[i].tensor ? &saved[i] : NULL;
    return NULL;
}

tn_tensor *tni_saved_input(tni_vjp *v, int i)
{
    const tni_saved *saved = find(v, i);
    if (!saved)
        return NULL;
    if (TNI_UNLIKELY(saved->version != saved->tensor->counter->version)) {
        fail_version(v->node, saved);
        return NULL;
    }
    return saved->tensor;
}

/* Another handle on x's memory, whose history is the node. */
static tn_tensor *with_history(tni_node *node, tn_tensor *x, const tni_record *record)
{
    tn_tensor *y = tni_tensor_sharing("backward", x, record, false);
    if (y) {
        tni_ref(&node->object.references);
        tni_set_node(y, node);
    }
    return y;
}

static tn_tensor *attached(tni_node *node, tn_tensor *x)
{
    const tni_record record = {.dtype = x->dtype, .device = x->device, .ndim = x->ndim, .sizes = x->sizes,
                               .strides = x->strides, .numel = x->numel, .offset = x->offset};
    tn_tensor *y = with_history(node, x, &record);
    return y && tni_tangent_hand_on("backward", x, y) == TN_OK ? y : NULL;
}

/* Of a write into a view the node is the history of the base: what was saved is a part of that. */
static tn_tensor *attached_part(tni_node *node, tn_tensor *x)
{
    const tni_slices *slices = node->slices;
    const int64_t *base = slices->geometry, *view = base + 2 * slices->base_ndim + 1;
    const int nb = slices->base_ndim, nv = slices->view_ndim;
    tni_record record = {.dtype = node->dtype, .device = x->device, .toggle = tni_toggle(x->keys), .ndim = (int8_t)nb,
                         .sizes = base, .strides = base + nb, .offset = base[2 * nb]};
    if (!tni_numel(base, nb, &record.numel)) /* the base had it */
        return NULL;
    tn_tensor *whole = with_history(node, x, &record);
    tn_tensor *y =
        whole ? tni_tape_ops->part(whole, view, view + nv, nv, view[2 * nv], slices->dtype, slices->lazy) : NULL;
    return y && tni_tangent_hand_on("backward", x, y) == TN_OK ? y : NULL;
}

tn_tensor *tni_saved_result(tni_vjp *v)
{
    const tni_saved *saved = find(v, TNI_SAVED_RESULT);
    if (!saved)
        return NULL;
    tn_tensor *x = saved->tensor;
    if (TNI_UNLIKELY(saved->version != x->counter->version)) {
        fail_version(v->node, saved);
        return NULL;
    }
    if (!v->creates_graph || v->node->flags & TNI_NODE_APART)
        return x;
    return v->node->slices ? attached_part(v->node, x) : attached(v->node, x);
}

tn_status tni_saved_check(const tni_node *node)
{
    const tni_saved *saved = tni_node_saved(node);
    for (int i = 0; i < node->n_saved; i++)
        if (saved[i].tensor && saved[i].version != saved[i].tensor->counter->version)
            return fail_version(node, &saved[i]);
    return TN_OK;
}

tni_shape tni_input_shape(const tni_vjp *v, int i)
{
    const tni_slices *slices = v->node->slices;
    if (slices && i == 0)
        return tni_result_shape(v); /* what is written in place has the result's */
    if (!v->node->edges[i])
        return (tni_shape){NULL, 0, TN_DTYPE_NONE, TN_CPU};
    return tni_edge_shape(v->node->edges[i]);
}

tni_shape tni_result_shape(const tni_vjp *v)
{
    const tni_node *node = v->node;
    const tni_slices *slices = node->slices;
    if (slices)
        return (tni_shape){slices->geometry + 2 * slices->base_ndim + 1, slices->view_ndim, slices->dtype,
                           (tn_device_type)node->device};
    return (tni_shape){tni_node_sizes(node), node->ndim, (tn_dtype)node->dtype, (tn_device_type)node->device};
}

tn_status tni_check_listed(tni_vjp *v)
{
    const tni_op *op = v->node->op;
    for (int p = 0; p < op->n_params; p++) {
        if (op->params[p].code != 'G')
            continue;
        const char *field = (const char *)v->attr + op->params[p].offset;
        const tni_tensors *listed = (const tni_tensors *)(const void *)field;
        const int64_t *versions = (const int64_t *)(const void *)(listed->data + listed->n);
        for (int i = 0; i < listed->n; i++) {
            tn_tensor *x = listed->data[i];
            if (x && x->counter->version != (uint32_t)versions[i])
                return fail_version(v->node, &(tni_saved){x, (uint32_t)versions[i], 0});
        }
    }
    return tni_pending();
}

const int64_t *tni_listed_shapes(const tni_vjp *v)
{
    return v->node->geometry;
}

const int64_t *tni_saved_geometry(const tni_vjp *v, int *ndim)
{
    *ndim = (int)v->node->geometry[0];
    return v->node->geometry + 1;
}
