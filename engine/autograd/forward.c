/* The layer that computes tangents: every operator on a tensor that has one comes through here. See Note [Forward].
 *
 * Note [Forward]
 * The call goes on below with this layer masked, so that reverse mode records it as ever. The tangent of its result is
 *
 *     what the derivative's jvp says, if it is written;
 *     the operator itself on the inputs' tangents, if it is linear (an input without is a zero tensor, a number is 0);
 *     else the vjp of the vjp. The vjp u -> J' u is linear in u. Recorded on a u that requires a gradient, and walked
 *     back from the inputs' tangents t, it gives J t.
 *
 * These computations see primals and tangents as plain tensors, and are recorded if the thread records: the tangent's
 * gradient reaches both.
 *
 * In place, as in PyTorch: the derivative sees the value that was overwritten as the first input, but what any other
 * input holds after the write (so d.mul_(d) has the tangent t x + t x^2). */
#include "autograd/forward.h"

#include <string.h>
#include <tenon/scope.h>

#include "autograd/record.h"
#include "autograd/tangent.h"
#include "base/alloc.h"
#include "base/error.h"
#include "core/list.h"

enum { ATTR_ROOM = 512, FEW = 4 };

/* A call and the tangents of its inputs, with room for what is computed with them: n entries each. */
typedef struct dual_call {
    tni_call *call;
    int n;
    tn_tensor **tangents; /* NULL: none */
    tn_tensor **in;       /* of the linear call; afterwards the gradients that the vjp gave */
    tn_tensor **outputs, **cotangents;
    tni_edge *edges;
    uint64_t dual;        /* bit i: input i has one; bit 63 stands for all that follow */
    uint64_t level;
} dual_call;

static bool is_differentiable(const tn_tensor *x)
{
    return tni_dtype_kind((tn_dtype)x->dtype) >= TNI_FLOAT;
}

static tn_status find_tangents(dual_call *d)
{
    const tni_call *call = d->call;
    for (int i = 0; i < d->n; i++) {
        tn_tensor *x = call->in[i];
        d->tangents[i] = x ? tni_tangent_of(tni_call_name(call), x) : NULL;
        if (!d->tangents[i])
            continue;
        d->dual |= UINT64_C(1) << (i < 63 ? i : 63);
        d->level = tni_tape_of(x)->level;
    }
    return tni_pending();
}

static tn_status refuse(const tni_call *call)
{
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call),
                    "an argument has a tangent, and the operator has no derivative yet; detach it");
}

/* Zeros of x's shape that take no memory. Only shapes matter on meta. */
static tn_tensor *absent(tn_tensor *x)
{
    return tni_is_meta(x) ? x : tni_tape_ops->zero_tensor(x->sizes, x->ndim, (tn_dtype)x->dtype);
}

static tn_scalar zero_of(const tn_scalar *number)
{
    tn_scalar zero;
    memset(&zero, 0, sizeof zero);
    zero.kind = number->kind;
    return zero;
}

/* The attributes with numbers in the place of operands made 0, in `room`. */
static const void *without_numbers(const tni_call *call, uint64_t *room)
{
    const tni_op *op = call->op;
    uint32_t numbers = 0;
    if (op->number_in && call->attr)
        memcpy(&numbers, call->attr, sizeof numbers);
    if (!(numbers & op->number_in) || op->attr_bytes > ATTR_ROOM)
        return call->attr;
    memcpy(room, call->attr, op->attr_bytes);
    for (int p = 0; p < op->n_params; p++) {
        const tni_param *param = &op->params[p];
        if (param->code != 'X' || !(numbers >> param->input & 1))
            continue;
        tn_scalar *number = (tn_scalar *)(void *)((char *)room + param->offset);
        *number = zero_of(number);
    }
    return room;
}

/* The operator on the tangents; in place on `written` unless that is NULL. What the derivative keeps of a linear
 * operator (an index, a mask) is no operand and stays. */
static tn_tensor *apply_linear(const dual_call *d, tn_tensor *written)
{
    const tni_call *call = d->call;
    const unsigned saves = tni_record_saves(call->op, (1u << call->op->n_in) - 1);
    uint64_t room[ATTR_ROOM / sizeof(uint64_t)];
    tn_tensor *out = written;
    for (int i = 0; i < d->n; i++) {
        bool kept = i < call->op->n_in && saves & TNI_SAVE(i);
        d->in[i] = d->tangents[i] ? d->tangents[i] : call->in[i];
        if (d->in[i] && !d->tangents[i] && !kept && !(d->in[i] = absent(call->in[i])))
            return NULL;
    }
    if (written)
        d->in[0] = written;
    tni_call linear = {.op = call->op, .attr = without_numbers(call, room), .in = d->in, .out = &out,
                       .form = call->form, .n_listed = call->n_listed};
    return tni_dispatch(&linear) == TN_OK ? out : NULL;
}

/* A node of the call as if it had been recorded, which has made nothing: its edges are the inputs as leaves, and it
 * keeps the result itself. */
static tni_node *node_apart(const dual_call *d, tn_tensor *out)
{
    const tni_call *call = d->call;
    for (int i = 0; i < d->n; i++)
        d->edges[i] = d->tangents[i] ? tni_edge_to_leaf(call->in[i]) : 0;
    unsigned saves = tni_record_saves(call->op, d->dual);
    tni_node *node = tni_record_node(call, d->edges, saves, out->ndim);
    if (!node)
        return NULL;
    node->flags |= TNI_NODE_APART;
    tni_node_set_shape(node, out);
    if (saves & TNI_SAVE_RESULT) {
        tni_saved *saved = &tni_node_saved(node)[node->n_saved - 1];
        tni_ref(&out->object.references);
        *saved = (tni_saved){out, out->counter->version, TNI_SAVED_RESULT};
    }
    return node;
}

/* t as the gradient of g, which the walk would sum and cast to t's shape and dtype. */
static tn_tensor *fitted(tn_tensor *t, const tn_tensor *g)
{
    if (t->dtype != g->dtype)
        t = tni_tape_ops->to(t, (tn_dtype)g->dtype);
    return t && !tni_same_dims(t->sizes, t->ndim, g->sizes, g->ndim) ? tni_tape_ops->expand(t, g->sizes, g->ndim) : t;
}

/* The thread records, and there is something to record of. */
static bool is_recorded(const dual_call *d)
{
    uint64_t keys = 0;
    for (int i = 0; i < d->n; i++)
        keys |= (d->call->in[i] ? tni_keys(d->call->in[i]) : 0) | (d->tangents[i] ? tni_keys(d->tangents[i]) : 0);
    return keys & TNI_KEY_TAPE & ~tni_this_thread.exclude;
}

/* The walk back from the gradients that the vjp gave of u. NULL: no tangent, or an error. */
static tn_tensor *transpose(const dual_call *d, tn_tensor *u)
{
    int n = 0;
    for (int i = 0; i < d->n; i++) {
        tn_tensor *grad = d->in[i];
        if (!d->tangents[i] || !grad || !tni_requires_grad(grad))
            continue;
        d->outputs[n] = grad;
        if (!(d->cotangents[n++] = fitted(d->tangents[i], grad)))
            return NULL;
    }
    if (n == 0)
        return NULL;
    const tn_grad_options options = {.create_graph = is_recorded(d), .allow_unused = true};
    tn_list *list = tn_grad(d->outputs, d->cotangents, n, &u, 1, &options);
    return list ? tn_list_get(list, 0) : NULL;
}

/* The vjp of the vjp. NULL: the tangent is zero, or an error. */
static tn_tensor *apply_vjp(const dual_call *d, tn_tensor *out)
{
    tni_thread *thread = &tni_this_thread;
    tn_tensor *t = NULL, *u = tni_tape_ops->ones_like(out);
    tni_node *node = u && tni_require_grad(u, true) == TN_OK ? node_apart(d, out) : NULL;
    if (!node)
        return NULL;
    for (int i = 0; i < d->n; i++)
        d->in[i] = NULL;
    tni_vjp v = {node, node->attr, u, d->in, d->dual, true};
    uint64_t exclude = thread->exclude;
    thread->exclude = exclude & ~TNI_KEY_TAPE;
    d->call->op->derivative->vjp(&v);
    thread->exclude = exclude;
    if (!tni_pending())
        t = transpose(d, u);
    tni_object_release(&node->object);
    return t;
}

static bool shares_with_an_input(const dual_call *d, const tn_tensor *t)
{
    for (int i = 0; i < d->n; i++)
        if (d->tangents[i] && d->tangents[i]->storage == t->storage)
            return true;
    return false;
}

/* The tangent of a result that is no view. */
static tn_tensor *tangent_of_value(const dual_call *d, tn_tensor *out)
{
    const tni_derivative *derivative = d->call->op->derivative;
    tn_tensor *t = derivative->jvp      ? derivative->jvp(d->call, d->tangents)
                   : derivative->linear ? apply_linear(d, NULL)
                                        : apply_vjp(d, out);
    if (tni_pending())
        return NULL;
    if (!t)
        return tni_tangent_zeros(out, (tn_dtype)out->dtype);
    return shares_with_an_input(d, t) ? tni_tape_ops->clone(t) : t;
}

/* The result as a node keeps it has the tangent, too. */
static tn_status tell_saved_result(const tni_call *call, tn_tensor *out)
{
    const tn_tensor *recorded = out->base && call->form == TNI_IN_PLACE ? out->base : out;
    const tni_node *node = tni_own_node(recorded);
    if (!node || node->op != call->op || node->n_saved == 0)
        return TN_OK;
    const tni_saved *last = &tni_node_saved(node)[node->n_saved - 1];
    if (last->what != TNI_SAVED_RESULT || !last->tensor || tni_keys(last->tensor) & TNI_KEY_DUAL)
        return TN_OK;
    return tni_tangent_hand_on(tni_call_name(call), out, last->tensor);
}

static bool is_an_input(const tni_call *call, const tn_tensor *x)
{
    for (int i = 0; i < tni_input_count(call); i++)
        if (call->in[i] == x)
            return true;
    return false;
}

/* A call that makes its result. */
static tn_status make(dual_call *d)
{
    tni_call *call = d->call;
    const tni_derivative *derivative = call->op->derivative;
    if (tni_dispatch(call))
        return tni_pending();
    tn_tensor *out = call->out[0];
    if (is_an_input(call, out))
        return TN_OK;
    out->keys &= ~TNI_KEY_DUAL; /* a view has its base's bits */
    const bool view = out->base != NULL;
    if (out->base && !derivative->vjp) /* the same memory as numbers of another kind */
        out->keys |= TNI_KEY_ALOOF;
    if (!is_differentiable(out) || (view && !d->tangents[0]) || (!derivative->vjp && !derivative->jvp))
        return TN_OK;
    const char *name = tni_call_name(call);
    tn_scope scope = tn_scope_begin();
    if (!tni_pending()) {
        tn_tensor *t = view ? apply_linear(d, NULL) : tangent_of_value(d, out);
        if (t && tni_tangent_put(name, out, t, d->level, false) == TN_OK)
            tell_saved_result(call, out);
    }
    tn_scope_end(scope);
    if (!tni_pending())
        return TN_OK;
    tn_drop(&call->out[0]);
    call->out[0] = NULL;
    return tni_pending();
}

/* A write whose derivative is constant: what it says about the tangent that was there. */
static tn_status write_constant(dual_call *d)
{
    tni_call *call = d->call;
    const tni_derivative *derivative = call->op->derivative;
    tn_tensor *t = d->tangents[0];
    if (t && derivative == &tni_resizing)
        return TNI_FAIL(TN_ERROR_FORWARD_AD, tni_call_name(call), "the tensor has a tangent, needed one without: its "
                                                                  "sizes are fixed");
    if (tni_dispatch(call))
        return tni_pending();
    if (!t || derivative == &tni_replacing_data)
        return TN_OK;
    if (derivative != &tni_detaching)
        return tni_tape_ops->zero_(t);
    tni_tangent_drop(tni_tape_of(call->out[0]));
    return TN_OK;
}

/* The tangent after a write, which is in its place already or is put there. `before` is the call with the value that
 * was overwritten. */
static tn_status write_tangent(const dual_call *before, tn_tensor *x)
{
    const tni_derivative *derivative = before->call->op->derivative;
    const char *name = tni_call_name(before->call);
    tn_tensor *now = before->tangents[0], *t = now;
    if (!derivative->jvp && derivative->linear) {
        if (!t && !(t = tni_tangent_zeros(x, (tn_dtype)x->dtype)))
            return tni_pending();
        if (!apply_linear(before, t))
            return tni_pending();
    } else {
        if (now && is_recorded(before) && !(before->tangents[0] = tni_tape_ops->clone(now)))
            return tni_pending(); /* what is recorded may keep the tangent that is about to be overwritten */
        t = tangent_of_value(before, x);
        before->tangents[0] = now;
        if (!t || (now && tni_tape_ops->copy_(now, t)))
            return tni_pending();
    }
    return now ? TN_OK : tni_tangent_put(name, x, t, before->level, true);
}

/* The value that is about to be overwritten, with its history; x itself where the tangent does not depend on it. */
static tn_tensor *old_value(const dual_call *d, tn_tensor *x)
{
    const tni_derivative *derivative = d->call->op->derivative;
    bool needed = derivative->jvp || (!derivative->linear && tni_record_saves(d->call->op, d->dual) & TNI_SAVE(0));
    return needed ? tni_tape_ops->clone(x) : x;
}

/* A call that writes. A scope is open for it. */
static tn_status write_value(dual_call *d)
{
    tni_call *call = d->call;
    tn_tensor *x = call->out[0], *in[TNI_MAX_IN];
    if (!call->op->run && !call->op->alter) { /* another geometry */
        if (tni_dispatch(call))
            return tni_pending();
        return apply_linear(d, d->tangents[0]) ? TN_OK : tni_pending();
    }
    tni_call before = *call;
    dual_call dual = *d;
    before.in = in;
    dual.call = &before;
    for (int i = 0; i < d->n; i++)
        in[i] = call->in[i];
    if (!(in[0] = old_value(d, x)) || tni_dispatch(call))
        return tni_pending();
    if (write_tangent(&dual, x))
        return tni_pending();
    return tell_saved_result(call, x);
}

static tn_status write_into(dual_call *d)
{
    tni_call *call = d->call;
    const tni_derivative *derivative = call->op->derivative;
    tn_tensor *x = call->out[0];
    if (call->form == TNI_OUT)
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call),
                        "an argument has a tangent, which calls that write into a given tensor do not compute: needed "
                        "the form that returns its result");
    if (derivative && !derivative->vjp && !derivative->jvp)
        return write_constant(d);
    if (!is_differentiable(x))
        return tni_dispatch(call);
    if (!derivative)
        return refuse(call);
    tn_scope scope = tn_scope_begin();
    if (!tni_pending())
        write_value(d);
    tn_scope_end(scope);
    return tni_pending();
}

/* The layer's work, with room for the arrays. */
static tn_status forward(tni_call *call, int n, tn_tensor **room, tni_edge *edges)
{
    dual_call d = {.call = call, .n = n, .tangents = room, .in = room + n, .outputs = room + 2 * n,
                   .cotangents = room + 3 * n, .edges = edges};
    if (find_tangents(&d))
        return tni_pending();
    if (!d.dual && (call->form != TNI_OUT || !tni_tangent_of(tni_call_name(call), call->out[0])))
        return tni_dispatch(call);
    if (call->form != TNI_NEW)
        return write_into(&d);
    return call->op->derivative ? make(&d) : refuse(call);
}

tn_status tni_dual_layer(void *context, tni_call *call)
{
    (void)context;
    tn_tensor *few[4 * FEW], **room;
    tni_edge edges[FEW];
    const int n = tni_input_count(call);
    if (tni_this_thread.inference)
        return tni_dispatch(call);
    if (TNI_LIKELY(n <= FEW))
        return forward(call, n, few, edges);
    const size_t bytes = (size_t)n * (4 * sizeof *room + sizeof *edges);
    if (!(room = tni_alloc(bytes)))
        return TNI_FAIL_MEMORY(tni_call_name(call), bytes);
    tn_status status = forward(call, n, room, (tni_edge *)(void *)(room + 4 * n));
    tni_free(room, bytes);
    return status;
}
