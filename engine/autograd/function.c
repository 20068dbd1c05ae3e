/* Functions of the user's own. See tenon/function.h.
 *
 * A call of one is no operator call: forward runs with recording and tangents masked, and what it returns gets a node
 * whose operator stands in the node itself, named after the function, with the derivative below, which calls the
 * user's backward. So any number of inputs and of saved tensors goes, and nodes need no registry that outlives them. */
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/function.h>

#include "autograd/tangent.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/scope.h"

enum { SAVED_LIMIT = 200 };

typedef enum phase { FORWARD, TANGENT, BACKWARD } phase;

struct tn_function_call {
    const tn_function *function;
    void *context;
    phase phase;
    uint64_t needed;   /* as tni_vjp has it */
    int n;             /* inputs */
    tni_vjp *v;        /* of a walk; NULL: what is saved stands here */
    tn_tensor **saved; /* n_saved, held; NULL among them */
    int n_saved;
    tn_tensor *result; /* what the user saved as the result is this */
    bool constant;
};

/* What a node keeps besides edges and saved tensors. */
typedef struct function_attr {
    tni_op op;
    const tn_function *function;
    void *context;
    int n_saved;
    char node_name[80];
} function_attr;

static bool bit_of(uint64_t bits, int i)
{
    return bits >> (i < 63 ? i : 63) & 1;
}

void *tn_function_context(const tn_function_call *call)
{
    return call ? call->context : NULL;
}

bool tn_needs_input_grad(const tn_function_call *call, int i)
{
    return call && i >= 0 && i < call->n && bit_of(call->needed, i);
}

tn_status tn_mark_non_differentiable(tn_function_call *call)
{
    if (tni_pending())
        return tni_pending();
    if (!call)
        return TNI_FAIL_NULL("mark_non_differentiable", 1, "call");
    call->constant = true;
    return TN_OK;
}

static void drop_saved(tn_function_call *call)
{
    for (int i = 0; i < call->n_saved; i++)
        if (call->saved[i])
            tni_object_release(&call->saved[i]->object);
    tni_free(call->saved, (size_t)call->n_saved * sizeof *call->saved);
    call->saved = NULL;
    call->n_saved = 0;
}

tn_status tn_save_for_backward(tn_function_call *call, tn_tensor *const *tensors, int n)
{
    const char *name = "save_for_backward";
    if (tni_pending())
        return tni_pending();
    if (!call || (n > 0 && !tensors))
        return TNI_FAIL_NULL(name, call ? 2 : 1, call ? "tensors" : "call");
    if (call->phase != FORWARD)
        return TNI_FAIL(TN_ERROR_STATE, name, "forward is over, needed a call within it");
    if (n < 0 || n > SAVED_LIMIT)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d tensors, needed 0 to %d", n, SAVED_LIMIT);
    drop_saved(call);
    if (n == 0)
        return TN_OK;
    call->saved = tni_alloc((size_t)n * sizeof *call->saved);
    if (!call->saved)
        return TNI_FAIL_MEMORY(name, (size_t)n * sizeof *call->saved);
    call->n_saved = n;
    for (int i = 0; i < n; i++) {
        call->saved[i] = tensors[i];
        if (tensors[i])
            tni_ref(&tensors[i]->object.references);
    }
    return TN_OK;
}

tn_tensor *tn_saved_tensor(tn_function_call *call, int i)
{
    const char *name = "saved_tensor";
    if (tni_pending())
        return NULL;
    if (!call) {
        TNI_FAIL_NULL(name, 1, "call");
        return NULL;
    }
    if (call->phase == FORWARD) {
        TNI_FAIL(TN_ERROR_STATE, name, "forward is not over, needed a call in backward or jvp");
        return NULL;
    }
    int n = call->v ? ((const function_attr *)call->v->attr)->n_saved : call->n_saved;
    if (i < 0 || i >= n) {
        TNI_FAIL(TN_ERROR_INDEX, name, "tensor %d of %d was asked for, needed 0 to %d", i, n, n - 1);
        return NULL;
    }
    if (!call->v)
        return call->saved[i];
    return tni_node_saved(call->v->node)[i].what == TNI_SAVED_RESULT ? tni_saved_result(call->v)
                                                                     : tni_saved_input(call->v, i);
}

/* Whether the walk can sum a gradient to the shape of its input. */
static bool sums_to(const tn_tensor *grad, const tni_shape *shape)
{
    int lead = grad->ndim - shape->ndim;
    for (int d = 0; lead >= 0 && d < shape->ndim; d++)
        if (shape->sizes[d] != 1 && shape->sizes[d] != grad->sizes[lead + d])
            return false;
    return lead >= 0;
}

/* Runs the user's backward. grads: n, NULL at first. */
static tn_status run_backward(tn_function_call *call, tn_tensor *grad, tn_tensor **grads, bool recorded)
{
    const tn_function *function = call->function;
    if (recorded && function->once_differentiable)
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, function->name,
                        "its backward is once_differentiable, and the walk is to be differentiated in turn: needed one "
                        "made of operators");
    call->phase = BACKWARD;
    tn_status status = function->backward(call, grad, grads);
    if (status && !tni_pending())
        return TNI_FAIL(status, function->name, "its backward failed and did not say why");
    for (int i = 0; i < call->n; i++)
        if (!bit_of(call->needed, i))
            grads[i] = NULL;
    return tni_pending();
}

static void function_vjp(tni_vjp *v)
{
    const function_attr *attr = v->attr;
    tn_function_call call = {
        .function = attr->function, .context = attr->context, .needed = v->needed, .n = (int)v->node->n_edges, .v = v};
    if (run_backward(&call, v->grad, v->grads, v->creates_graph))
        return;
    for (int i = 0; i < call.n; i++) {
        if (!v->grads[i] || !v->node->edges[i])
            continue;
        const tni_shape shape = tni_input_shape(v, i);
        char have[120], need[120];
        if (sums_to(v->grads[i], &shape))
            continue;
        tni_text_shape(have, sizeof have, v->grads[i]->sizes, v->grads[i]->ndim);
        tni_text_shape(need, sizeof need, shape.sizes, shape.ndim);
        TNI_FAIL(TN_ERROR_GRAD, attr->function->name, "its backward gave %s as the gradient of input %d, needed %s",
                 have, i, need);
        return;
    }
}

static const char *function_name(const tni_node *node)
{
    return ((const function_attr *)node->attr)->node_name;
}

static void function_end(const void *kept)
{
    const function_attr *attr = kept;
    if (attr->function->end)
        attr->function->end(attr->context);
}

static const tni_derivative function_derivative = {.named = function_name, .vjp = function_vjp, .end = function_end};

/* The operator that a node of the function has. */
static void describe(function_attr *attr, const tn_function_call *call)
{
    memset(attr, 0, sizeof *attr);
    attr->op.name[TNI_NEW] = call->function->name;
    attr->op.takes_list = true;
    attr->op.n_out = 1;
    attr->op.attr_bytes = sizeof *attr;
    attr->op.derivative = &function_derivative;
    attr->function = call->function;
    attr->context = call->context;
    attr->n_saved = call->n_saved;
    snprintf(attr->node_name, sizeof attr->node_name, "%sBackward", call->function->name);
}

static tn_status save_all(tni_node *node, const tn_function_call *call, tn_tensor *result)
{
    for (int i = 0; i < call->n_saved; i++) {
        tn_tensor *x = call->saved[i];
        if (x && x->keys & TNI_KEY_INFERENCE)
            return TNI_FAIL(TN_ERROR_INFERENCE, call->function->name,
                            "tensor %d of those saved was made in inference mode, needed one that was not", i);
        if (x && x == call->result ? tni_node_save_result(node, i, result) : TN_OK)
            return tni_pending();
        if (!x || x != call->result)
            tni_node_save_input(node, i, i, x);
    }
    return TN_OK;
}

/* Has the result remember the call. The context is the node's from then on. */
static tn_status record(tn_function_call *call, const tni_edge *edges, tn_tensor *result)
{
    function_attr attr;
    describe(&attr, call);
    tni_node *node =
        tni_node_new(call->function->name, &attr.op, &attr, (uint32_t)call->n, call->n_saved, result->ndim, 0);
    if (!node)
        return tni_pending();
    node->op = &((const function_attr *)node->attr)->op;
    tni_thread *thread = &tni_this_thread;
    uint64_t sequence = thread->sequence;
    for (int i = 0; i < call->n; i++) {
        const tni_node *next = tni_edge_node(edges[i]);
        node->edges[i] = edges[i];
        tni_edge_hold(edges[i]);
        sequence = next && next->sequence > sequence ? next->sequence : sequence;
    }
    thread->sequence = node->sequence = sequence + 1;
    node->form = TNI_NEW;
    node->flags = call->n_saved > 0 ? TNI_NODE_HOLDS : 0;
    tni_node_set_shape(node, result);
    if (save_all(node, call, result)) {
        tni_object_release(&node->object);
        return tni_pending();
    }
    node->flags |= TNI_NODE_ENDS;
    tni_set_node(result, node);
    return TN_OK;
}

/* t as the gradient of g, which a walk would sum and cast to t's shape and dtype. */
static tn_tensor *fitted(tn_tensor *t, const tn_tensor *g)
{
    if (t->dtype != g->dtype)
        t = tni_tape_ops->to(t, (tn_dtype)g->dtype);
    return t && !tni_same_dims(t->sizes, t->ndim, g->sizes, g->ndim) ? tni_tape_ops->expand(t, g->sizes, g->ndim) : t;
}

/* The vjp of the vjp: autograd/forward.c, Note [Forward]. room: for 3 n tensors. NULL: no tangent, or an error. */
static tn_tensor *transposed_backward(tn_function_call *call, tn_tensor *const *tangents, tn_tensor **room)
{
    tn_tensor **grads = room, **outputs = room + call->n, **directions = outputs + call->n;
    tni_thread *thread = &tni_this_thread;
    const uint64_t exclude = thread->exclude;
    const tn_grad_options options = {.create_graph = !(exclude & TNI_KEY_TAPE), .allow_unused = true};
    tn_tensor *u = tni_tape_ops->ones_like(call->result);
    int n = 0;
    if (!u || tni_require_grad(u, true))
        return NULL;
    thread->exclude = exclude & ~TNI_KEY_TAPE;
    run_backward(call, u, grads, true);
    thread->exclude = exclude;
    for (int i = 0; i < call->n && !tni_pending(); i++)
        if (tangents[i] && grads[i] && tni_requires_grad(grads[i])) {
            outputs[n] = grads[i];
            directions[n++] = fitted(tangents[i], grads[i]);
        }
    if (tni_pending() || n == 0)
        return NULL;
    tn_list *list = tn_grad(outputs, directions, n, &u, 1, &options);
    return list ? tn_list_get(list, 0) : NULL;
}

static tn_status check_tangent(const tn_function_call *call, const tn_tensor *t)
{
    char have[120], need[120];
    const tn_tensor *y = call->result;
    if (t->dtype == y->dtype && tni_same_dims(t->sizes, t->ndim, y->sizes, y->ndim))
        return TN_OK;
    tni_text_shape(have, sizeof have, t->sizes, t->ndim);
    tni_text_shape(need, sizeof need, y->sizes, y->ndim);
    return TNI_FAIL(TN_ERROR_FORWARD_AD, call->function->name, "the tangent is %s of %s, needed %s of %s as the result",
                    have, tn_dtype_name((tn_dtype)t->dtype), need, tn_dtype_name((tn_dtype)y->dtype));
}

/* The result as its node keeps it has the tangent, too. */
static tn_status tell_saved_result(const tn_function_call *call)
{
    const tni_node *node = tni_own_node(call->result);
    for (int i = 0; node && i < node->n_saved; i++) {
        const tni_saved *saved = &tni_node_saved(node)[i];
        if (saved->what == TNI_SAVED_RESULT && saved->tensor &&
            tni_tangent_hand_on(call->function->name, call->result, saved->tensor))
            break;
    }
    return tni_pending();
}

/* Gives the result its tangent; dual: bits of the inputs that have one. */
static tn_status push_forward(tn_function_call *call, tn_tensor *const *inputs, tn_tensor **room)
{
    const char *name = call->function->name;
    tn_tensor **tangents = room, *t;
    uint64_t level = 0, needed = 0;
    for (int i = 0; i < call->n; i++) {
        tangents[i] = inputs[i] ? tni_tangent_of(name, inputs[i]) : NULL;
        if (!tangents[i])
            continue;
        level = tni_tape_of(inputs[i])->level;
        needed |= UINT64_C(1) << (i < 63 ? i : 63);
    }
    if (tni_pending() || !needed)
        return tni_pending();
    tn_function_call rule = *call;
    uint64_t exclude = tni_this_thread.exclude;
    tn_scope scope = tn_scope_begin();
    tni_this_thread.exclude = exclude | TNI_KEY_DUAL;
    rule.phase = TANGENT;
    rule.needed = needed;
    t = tni_pending()         ? NULL
        : call->function->jvp ? call->function->jvp(&rule, tangents)
                              : transposed_backward(&rule, tangents, room + call->n);
    if (!t && !tni_pending())
        t = tni_tangent_zeros(call->result, (tn_dtype)call->result->dtype);
    for (int i = 0; t && i < call->n; i++)
        if (tangents[i] && tangents[i]->storage == t->storage)
            t = tni_tape_ops->clone(t);
    if (t && check_tangent(call, t) == TN_OK && tni_tangent_put(name, call->result, t, level, false) == TN_OK)
        tell_saved_result(call);
    tni_this_thread.exclude = exclude;
    tn_scope_end(scope);
    return tni_pending();
}

/* The result by itself: no view, nobody else's. Held by the innermost scope. */
static tn_tensor *own_result(const tn_function_call *call, tn_tensor *y)
{
    const tni_record record = {.dtype = y->dtype,
                               .device = y->device,
                               .ndim = y->ndim,
                               .sizes = y->sizes,
                               .strides = y->strides,
                               .numel = y->numel,
                               .offset = y->offset};
    uint32_t known = 1;
    for (int i = 0; i < call->n_saved; i++)
        known += call->saved[i] == y;
    if (!y->base && (uint32_t)tni_ref_now(&y->object.references) <= known)
        return y;
    return tni_tensor_sharing(call->function->name, y, &record, false);
}

static tn_status check_result(const tn_function_call *call, tn_tensor *const *inputs, const tn_tensor *y)
{
    const char *name = call->function->name;
    if (!y)
        return tni_pending()
                   ? tni_pending()
                   : TNI_FAIL(TN_ERROR_STATE, name, "its forward gave NULL and raised no error: needed a tensor");
    for (int i = 0; i < call->n; i++)
        if (inputs[i] && inputs[i]->storage == y->storage)
            return TNI_FAIL(TN_ERROR_OVERLAP, name,
                            "its forward returned %s input %d, needed a tensor of its own, as "
                            "tn_clone gives it",
                            inputs[i] == y ? "the" : "a view of", i);
    if (tni_keys(y) & (TNI_KEY_TAPE | TNI_KEY_DUAL))
        return TNI_FAIL(TN_ERROR_STATE, name, "its forward returned a tensor that has a history, needed a new one");
    if (y->keys & TNI_KEYS_LAZY)
        return TNI_FAIL(TN_ERROR_STATE, name,
                        "its forward returned a lazily conjugated, negated or zero tensor, needed "
                        "one whose memory holds its values");
    return TN_OK;
}

/* Runs forward, masked. NULL with an error. */
static tn_tensor *run_forward(tn_function_call *call, tn_tensor *const *inputs)
{
    tni_thread *thread = &tni_this_thread;
    const uint64_t exclude = thread->exclude;
    uint64_t before = 0, after = 0; /* sums of versions, which only grow */
    for (int i = 0; i < call->n; i++)
        before += inputs[i] ? inputs[i]->counter->version : 0;
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return NULL;
    thread->exclude = exclude | TNI_KEY_TAPE | TNI_KEY_DUAL;
    tn_tensor *y = call->function->forward(call, inputs, call->n), *own = NULL;
    for (int i = 0; i < call->n; i++)
        after += inputs[i] ? inputs[i]->counter->version : 0;
    if (check_result(call, inputs, y) == TN_OK && before != after)
        TNI_FAIL(TN_ERROR_STATE, call->function->name, "its forward wrote into an input: needed a result of its own");
    if (!tni_pending() && (own = own_result(call, y)))
        own = tn_scope_escape(scope, own);
    thread->exclude = exclude;
    for (int i = 0; own && i < call->n_saved; i++) /* y may be gone: its place is the result's */
        if (call->saved[i] == y && own != y) {
            tni_object_release(&call->saved[i]->object);
            tni_ref(&own->object.references);
            call->saved[i] = own;
        }
    tn_scope_end(scope);
    return own;
}

/* Edges of the inputs, and which there are. */
static tn_status find_edges(tn_function_call *call, tn_tensor *const *inputs, tni_edge *edges)
{
    for (int i = 0; i < call->n; i++) {
        edges[i] = 0;
        if (!inputs[i] || tni_this_thread.exclude & TNI_KEY_TAPE || !tni_requires_grad(inputs[i]))
            continue;
        if (!(edges[i] = tni_edge_of(call->function->name, inputs[i])))
            return tni_pending();
        call->needed |= UINT64_C(1) << (i < 63 ? i : 63);
    }
    return tni_pending();
}

/* The call, with zeroed room for n edges and 4 n tensors. *kept: the context has gone to a node. */
static tn_tensor *apply(tn_function_call *call, tn_tensor *const *inputs, tni_edge *edges, tn_tensor **room, bool *kept)
{
    if (find_edges(call, inputs, edges))
        return NULL;
    tn_tensor *y = call->result = run_forward(call, inputs);
    if (!y)
        return NULL;
    const bool differentiable = !call->constant && tni_dtype_kind((tn_dtype)y->dtype) >= TNI_FLOAT;
    if (differentiable && call->needed)
        *kept = record(call, edges, y) == TN_OK;
    if (differentiable && !tni_pending() && !tni_this_thread.inference)
        push_forward(call, inputs, room);
    if (!tni_pending())
        return y;
    tn_drop(&y);
    return NULL;
}

static tn_status check_arguments(const tn_function *function, tn_tensor *const *inputs, int n)
{
    if (tni_pending())
        return tni_pending();
    if (!function)
        return TNI_FAIL_NULL("apply", 1, "function");
    if (!function->forward || !function->backward || !function->name)
        return TNI_FAIL(TN_ERROR_NULL, "apply", "the function has no %s, needed one",
                        !function->name     ? "name"
                        : function->forward ? "backward"
                                            : "forward");
    if (n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "apply", "%d inputs, needed one at least", n);
    return inputs ? TN_OK : TNI_FAIL_NULL("apply", 2, "inputs");
}

tn_tensor *tn_apply(const tn_function *function, tn_tensor *const *inputs, int n, void *context)
{
    tn_function_call call = {.function = function, .context = context, .n = n};
    tn_tensor *y = NULL;
    bool kept = false;
    if (check_arguments(function, inputs, n) == TN_OK) {
        const size_t bytes = (size_t)n * (sizeof(tni_edge) + 4 * sizeof(tn_tensor *));
        tni_edge *edges = tni_alloc_zeroed(bytes);
        if (edges)
            y = apply(&call, inputs, edges, (tn_tensor **)(void *)(edges + n), &kept);
        else
            TNI_FAIL_MEMORY(function->name, bytes);
        tni_free(edges, bytes);
        drop_saved(&call);
    }
    if (!kept && function && function->end)
        function->end(context);
    return y;
}
