/* The layer that records: every operator on a tensor that requires a gradient comes through here. See Note [Tape].
 *
 * The call goes on below with recording masked; then a node is made, with an edge for each input, what the derivative
 * asked to be kept, and the shape of the result, and becomes what the result remembers. Calls that write into a tensor
 * go through autograd/inplace.c. */
#include "autograd/inplace.h"
#include "autograd/record.h"
#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/error.h"

/* tni_edge_of; a tensor that is no view needs no look at its history. */
static inline tni_edge edge_of(const tni_call *call, tn_tensor *x)
{
    if (TNI_UNLIKELY(!x))
        return 0;
    if (TNI_UNLIKELY(x->base != NULL))
        return tni_edge_of(tni_call_name(call), x);
    if (!(x->keys & TNI_KEY_TAPE))
        return 0;
    tni_node *node = tni_own_node(x);
    return node ? tni_edge_to_node(node) : tni_edge_to_leaf(x);
}

/* *saves: what the derivatives of the tracked inputs are computed from. */
static inline uint64_t find_edges(tni_call *call, tni_edge *edges, unsigned *saves)
{
    static const tni_derivative unknown;
    const tni_op *op = call->op;
    const tni_derivative *derivative = op->derivative ? op->derivative : &unknown;
    uint64_t tracked = 0;
    const int n = op->n_in;
    *saves = 0;
    for (int i = 0; i < n; i++) {
        edges[i] = edge_of(call, call->in[i]);
        if (edges[i]) {
            tracked |= UINT64_C(1) << i;
            *saves |= derivative->saves[i];
        }
    }
    return tracked;
}

uint64_t tni_record_edges(tni_call *call, tni_edge *edges)
{
    unsigned saves;
    return find_edges(call, edges, &saves);
}

unsigned tni_record_saves(const tni_op *op, uint64_t tracked)
{
    unsigned saves = 0;
    for (int i = 0; i < op->n_in; i++)
        if (tracked >> i & 1)
            saves |= op->derivative->saves[i];
    return saves;
}

/* How many bits of TNI_SAVE are set: without the instruction that old processors lack. */
static inline int count_saves(unsigned saves)
{
    return (int)(UINT64_C(0x4332322132212110) >> 4 * (saves & 15) & 15) + (int)(saves >> 4 & 1) + (int)(saves >> 7);
}

/* How many numbers the derivative has kept of the inputs' geometry. */
static size_t geometry_of(const tni_call *call)
{
    size_t numbers = 0;
    if (TNI_LIKELY(!call->op->derivative->geometry))
        return 0;
    if (!call->op->takes_list)
        return tni_geometry_count(call->in[0]);
    for (int i = 0; i < call->n_listed; i++)
        numbers += 1 + (size_t)call->in[i]->ndim;
    return numbers;
}

static void set_shapes(tni_node *node, const tni_call *call)
{
    int64_t *to = node->geometry;
    for (int i = 0; i < call->n_listed; i++) {
        const tn_tensor *x = call->in[i];
        *to++ = x->ndim;
        for (int d = 0; d < x->ndim; d++)
            *to++ = x->sizes[d];
    }
}

/* Whether the node holds something that a walk gives up: tensors, and mostly numbers in their places. */
static inline uint8_t flags_of(const tni_call *call, unsigned saves)
{
    for (int i = 0; TNI_UNLIKELY(call->op->derivative->numbers_stay) && i < call->op->n_in; i++)
        if (!call->in[i])
            saves &= ~TNI_SAVE(i);
    return saves ? TNI_NODE_HOLDS : 0;
}

tni_node *tni_record_node(const tni_call *call, const tni_edge *edges, unsigned saves, int ndim)
{
    const tni_op *op = call->op;
    const int n = tni_input_count(call);
    tni_thread *thread = &tni_this_thread;
    tni_node *node = tni_node_new(tni_call_name(call), op, call->attr, (uint32_t)n, count_saves(saves), ndim,
                                  geometry_of(call));
    if (TNI_UNLIKELY(!node))
        return NULL;
    uint64_t sequence = thread->sequence;
    for (int i = 0; i < n; i++) {
        node->edges[i] = edges[i];
        tni_edge_hold(edges[i]);
        const tni_node *next = tni_edge_node(edges[i]);
        if (next && TNI_UNLIKELY(next->sequence > sequence))
            sequence = next->sequence; /* another thread's */
    }
    thread->sequence = node->sequence = sequence + 1;
    node->form = (uint8_t)call->form;
    node->flags |= flags_of(call, saves);
    int place = 0;
    for (int i = 0; i < op->n_in; i++)
        if (saves & TNI_SAVE(i))
            tni_node_save_input(node, place++, i, call->in[i]);
    if (TNI_UNLIKELY(node->geometry != NULL)) {
        if (op->takes_list)
            set_shapes(node, call);
        else
            tni_node_set_geometry(node, call->in[0]);
    }
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

/* Whether the result is one of the inputs: then others hold it, too. */
static inline bool is_an_input(const tni_call *call, const tn_tensor *x)
{
    if (TNI_LIKELY(tni_ref_now(&x->object.references) == 1))
        return false;
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] == x)
            return true;
    return false;
}

/* tni_record_node for the common call: attributes that need no copy, nothing but inputs saved. NULL, with nothing
 * raised, when it takes tni_record_node. */
static inline __attribute__((always_inline)) tni_node *record_plain(const tni_call *call, const tni_edge *edges,
                                                                    unsigned saves, const tn_tensor *out)
{
    const tni_op *op = call->op;
    const uint32_t n = op->n_in;
    const int n_saved = count_saves(saves);
    if (TNI_UNLIKELY((call->attr && call->attr != op->attr_default) || op->derivative->geometry))
        return NULL;
    size_t bytes = sizeof(tni_node) + n * sizeof(tni_edge) + (size_t)n_saved * sizeof(tni_saved) +
                   (size_t)out->ndim * sizeof(int64_t);
    tni_node *node = tni_alloc_kept(bytes);
    if (TNI_UNLIKELY(!node))
        return NULL;
    tni_node_begin(node, op, call->attr, n, n_saved, bytes);
    tni_thread *thread = &tni_this_thread;
    uint64_t sequence = thread->sequence;
    int place = 0;
    for (uint32_t i = 0; i < n; i++) {
        const tni_edge edge = edges[i];
        node->edges[i] = edge;
        if (edge) {
            tni_ref(&tni_edge_object(edge)->references);
            if (!(edge & 1) && TNI_UNLIKELY(tni_edge_node(edge)->sequence > sequence))
                sequence = tni_edge_node(edge)->sequence;
        }
    }
    for (uint32_t i = 0; saves && i < n; i++)
        if (saves & TNI_SAVE(i))
            tni_node_save_input(node, place++, (int)i, call->in[i]);
    thread->sequence = node->sequence = sequence + 1;
    node->flags = flags_of(call, saves);
    return node;
}

/* Makes the node what the result remembers. */
static inline __attribute__((always_inline)) void hang(const tni_call *call, tni_node *node, tn_tensor *out)
{
    out->autograd = &node->as_meta;
    out->keys |= TNI_KEY_TAPE;
    if (TNI_UNLIKELY(out->base != NULL)) {
        node->flags |= TNI_NODE_VIEW;
        out->creation = tni_view_creation(call, out);
        out->tape_version = out->counter->version;
    }
}

/* The result of a call that cannot be recorded. */
static TNI_ASIDE tn_status give_up(tni_call *call)
{
    tn_drop(&call->out[0]);
    call->out[0] = NULL;
    return tni_pending();
}

/* Gives the result its node; on an error the result goes. */
static inline __attribute__((always_inline)) tn_status attach(tni_call *call, const tni_edge *edges, unsigned saves)
{
    tn_tensor *out = call->out[0];
    tni_node *node = record_plain(call, edges, saves, out);
    if (TNI_UNLIKELY(!node))
        node = tni_record_node(call, edges, saves, out->ndim);
    if (TNI_LIKELY(node != NULL)) {
        tni_node_set_shape(node, out);
        if (TNI_LIKELY(!(saves & TNI_SAVE_RESULT)) || tni_node_save_result(node, node->n_saved - 1, out) == TN_OK) {
            hang(call, node, out);
            return TN_OK;
        }
        tni_object_release(&node->object);
    }
    return give_up(call);
}

/* The layer's work for an operator that takes a list, with room for the edges. */
static tn_status record_list(tni_call *call, tni_edge *edges)
{
    bool tracked = false;
    for (int i = 0; i < call->n_listed; i++) {
        edges[i] = edge_of(call, call->in[i]);
        tracked |= edges[i] != 0;
    }
    if (tni_pending())
        return tni_pending();
    if (tracked && !call->op->derivative)
        return refuse(call);
    if (tni_dispatch(call))
        return tni_pending();
    tn_tensor *out = call->out[0];
    if (!tracked || !is_differentiable(out))
        return TN_OK;
    tni_node *node = tni_record_node(call, edges, 0, out->ndim);
    if (!node)
        return give_up(call);
    tni_node_set_shape(node, out);
    hang(call, node, out);
    return TN_OK;
}

static TNI_ASIDE tn_status record_listed(tni_call *call)
{
    tni_edge few[8];
    const size_t bytes = (size_t)call->n_listed * sizeof *few;
    tni_edge *edges = call->n_listed <= 8 ? few : tni_alloc(bytes);
    if (!edges)
        return TNI_FAIL_MEMORY(tni_call_name(call), bytes);
    tn_status status = record_list(call, edges);
    if (edges != few)
        tni_free(edges, bytes);
    return status;
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
    const tni_derivative *derivative = call->op->derivative;
    if (TNI_UNLIKELY(call->form != TNI_NEW))
        return tni_record_write(call);
    if (TNI_UNLIKELY(derivative && !derivative->vjp))
        return tni_dispatch(call);
    tni_edge edges[TNI_MAX_IN];
    unsigned saves;
    uint64_t tracked = find_edges(call, edges, &saves);
    if (TNI_UNLIKELY(tni_pending()))
        return tni_pending();
    if (TNI_UNLIKELY(!tracked) && call->op->takes_list)
        return record_listed(call);
    if (TNI_UNLIKELY(!derivative && tracked))
        return refuse(call);
    if (TNI_UNLIKELY((context == tni_plain_below ? tni_execute_plain(call) : tni_dispatch(call)) != TN_OK))
        return tni_pending();
    tn_tensor *out = call->out[0];
    if (TNI_UNLIKELY(!tracked || !is_differentiable(out) || is_an_input(call, out)))
        return TN_OK;
    return attach(call, edges, saves);
}

const tni_derivative tni_constant = {.vjp = NULL};
