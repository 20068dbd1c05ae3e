/* The layer that records: every operator on a tensor that requires a gradient comes through here. See Note [Tape].
 *
 * The call goes on below with recording masked; then a node is made, with an edge for each input, what the derivative
 * asked to be kept, and the shape of the result, and becomes what the result remembers. Calls that write into a tensor
 * go through autograd/inplace.c. */
#include "autograd/inplace.h"
#include "autograd/record.h"
#include "autograd/tape.h"
#include "base/error.h"

uint64_t tni_record_edges(tni_call *call, tni_edge *edges)
{
    const char *name = tni_call_name(call);
    uint64_t tracked = 0;
    for (int i = 0; i < call->op->n_in; i++) {
        tn_tensor *x = call->in[i];
        edges[i] = x && tni_keys(x) & TNI_KEY_TAPE ? tni_edge_of(name, x) : 0;
        tracked |= (uint64_t)(edges[i] != 0) << i;
    }
    return tracked;
}

unsigned tni_record_saves(const tni_op *op, uint64_t tracked)
{
    unsigned saves = 0;
    for (int i = 0; i < op->n_in; i++)
        if (tracked >> i & 1)
            saves |= op->derivative->saves[i];
    return saves;
}

tni_node *tni_record_node(const tni_call *call, const tni_edge *edges, unsigned saves, int ndim)
{
    const tni_op *op = call->op;
    tni_thread *thread = &tni_this_thread;
    tni_node *node =
        tni_node_new(tni_call_name(call), op, call->attr, op->n_in, __builtin_popcount(saves), ndim);
    if (TNI_UNLIKELY(!node))
        return NULL;
    uint64_t sequence = thread->sequence;
    for (int i = 0; i < op->n_in; i++) {
        node->edges[i] = edges[i];
        tni_edge_hold(edges[i]);
        const tni_node *next = tni_edge_node(edges[i]);
        if (next && TNI_UNLIKELY(next->sequence > sequence))
            sequence = next->sequence; /* another thread's */
    }
    thread->sequence = node->sequence = sequence + 1;
    node->form = (uint8_t)call->form;
    node->flags = saves ? TNI_NODE_HOLDS : 0;
    int place = 0;
    for (int i = 0; i < op->n_in; i++)
        if (saves & TNI_SAVE(i))
            tni_node_save_input(node, place++, i, call->in[i]);
    if (TNI_UNLIKELY(node->geometry != NULL))
        tni_node_set_geometry(node, call->in[0]);
    return node;
}

static bool is_differentiable(const tn_tensor *x)
{
    return tni_dtype_kind((tn_dtype)x->dtype) >= TNI_FLOAT;
}

/* An operator that nobody wrote a derivative for: the gradient would be lost. */
static tn_status refuse(const tni_call *call)
{
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call),
                    "an argument requires a gradient, and the operator has no derivative yet; detach it, or use "
                    "tn_no_grad");
}

static bool is_an_input(const tni_call *call, const tn_tensor *x)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] == x)
            return true;
    return false;
}

/* Gives the result its node; on an error the result goes. */
static tn_status attach(tni_call *call, const tni_edge *edges, uint64_t tracked)
{
    tn_tensor *out = call->out[0];
    unsigned saves = tni_record_saves(call->op, tracked);
    tni_node *node = tni_record_node(call, edges, saves, out->ndim);
    if (TNI_LIKELY(node != NULL)) {
        tni_node_set_shape(node, out);
        if (TNI_LIKELY(!(saves & TNI_SAVE_RESULT)) || tni_node_save_result(node, node->n_saved - 1, out) == TN_OK) {
            out->autograd = &node->as_meta;
            out->keys |= TNI_KEY_TAPE;
            if (out->base) {
                out->creation = tni_view_creation(call, out);
                out->tape_version = out->counter->version;
            }
            return TN_OK;
        }
        tni_object_release(&node->object);
    }
    tn_drop(&call->out[0]);
    call->out[0] = NULL;
    return tni_pending();
}

uint8_t tni_view_creation(const tni_call *call, const tn_tensor *view)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && call->in[i]->storage == view->storage)
            return call->in[i]->creation;
    return TNI_CREATED_NORMALLY;
}

tn_status tni_record_layer(void *context, tni_call *call)
{
    (void)context;
    const tni_derivative *derivative = call->op->derivative;
    if (TNI_UNLIKELY(call->form != TNI_NEW))
        return tni_record_write(call);
    if (TNI_UNLIKELY(derivative && !derivative->vjp))
        return tni_dispatch(call);
    tni_edge edges[TNI_MAX_IN];
    uint64_t tracked = tni_record_edges(call, edges);
    if (TNI_UNLIKELY(tni_pending()))
        return tni_pending();
    if (TNI_UNLIKELY(!derivative && tracked))
        return refuse(call);
    if (TNI_UNLIKELY(tni_dispatch(call) != TN_OK))
        return tni_pending();
    tn_tensor *out = call->out[0];
    if (TNI_UNLIKELY(!tracked || !is_differentiable(out) || is_an_input(call, out)))
        return TN_OK;
    return attach(call, edges, tracked);
}

const tni_derivative tni_constant = {.vjp = NULL};
