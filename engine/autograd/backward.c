/* Walks that users ask for: tn_backward, tn_grad. Roots, their gradients, and what is asked for are checked before
 * anything moves. */
#include <tenon/autograd.h>

#include <string.h>

#include "autograd/anomaly.h"
#include "autograd/hooks.h"
#include "autograd/tape.h"
#include "autograd/walk.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/list.h"

/* One walk as it was asked for. */
typedef struct request {
    const char *function;
    tn_tensor *const *outputs, *const *gradients;
    int n_outputs;
    tn_tensor *const *inputs; /* NULL: all leaves */
    int n_inputs;
    bool retain_graph, create_graph;
    tn_tensor **captured; /* NULL: accumulate */
} request;

static tn_status check_gradient(const request *r, int i)
{
    const tn_tensor *x = r->outputs[i], *grad = r->gradients ? r->gradients[i] : NULL;
    char have[120], need[120];
    if (!grad && (!tni_requires_grad(x) || /* refused for that, later */
                  (x->numel == 1 && tni_dtype_kind((tn_dtype)x->dtype) != TNI_COMPLEX)))
        return TN_OK;
    tni_text_shape(need, sizeof need, x->sizes, x->ndim);
    if (!grad && x->numel != 1)
        return TNI_FAIL(TN_ERROR_GRAD, r->function,
                        "output %d has shape %s and no gradient was given: only an output of one element has 1 for it",
                        i, need);
    if (!grad)
        return TNI_FAIL(TN_ERROR_GRAD, r->function, "output %d is %s, needed a real one, or its gradient", i,
                        tn_dtype_name((tn_dtype)x->dtype));
    if (tni_same_dims(grad->sizes, grad->ndim, x->sizes, x->ndim)) {
        bool both = (tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX) ==
                    (tni_dtype_kind((tn_dtype)grad->dtype) == TNI_COMPLEX);
        return both ? TN_OK
                    : TNI_FAIL(TN_ERROR_GRAD, r->function,
                               "the gradient of output %d is %s, the output %s: needed both complex, or both real", i,
                               tn_dtype_name((tn_dtype)grad->dtype), tn_dtype_name((tn_dtype)x->dtype));
    }
    tni_text_shape(have, sizeof have, grad->sizes, grad->ndim);
    return TNI_FAIL(TN_ERROR_GRAD, r->function, "the gradient of output %d is %s, the output %s: needed the same", i,
                    have, need);
}

static tn_status fail_no_graph(const char *function, int i)
{
    return TNI_FAIL(TN_ERROR_NO_GRAPH, function,
                    "output %d does not require a gradient and has no grad_fn: nothing led to it that was recorded", i);
}

static tn_status check_request(const request *r)
{
    if (tni_pending())
        return tni_pending();
    if (r->n_outputs < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, r->function, "%d outputs, needed one at least", r->n_outputs);
    if (r->inputs && r->n_inputs < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, r->function, "%d inputs, needed one at least", r->n_inputs);
    for (int i = 0; i < r->n_outputs; i++)
        if (tni_check_tensor(r->function, i + 1, "output", r->outputs ? r->outputs[i] : NULL) || check_gradient(r, i))
            return tni_pending();
    for (int i = 0; i < r->n_outputs; i++)
        if (!tni_requires_grad(r->outputs[i]))
            return fail_no_graph(r->function, i);
    for (int i = 0; i < r->n_inputs; i++) {
        if (tni_check_tensor(r->function, i + 1, "input", r->inputs[i]))
            return tni_pending();
        if (!tni_requires_grad(r->inputs[i]))
            return TNI_FAIL(TN_ERROR_NO_GRAPH, r->function, "input %d does not require a gradient", i);
    }
    return TN_OK;
}

/* No edge: what an input has that no gradient can reach. */
static const tni_edge unreachable = ~(tni_edge)1;

/* Where the gradients of outputs and inputs go on; false with an error. */
static bool find_edges(const request *r, tni_edge *outputs, tni_edge *inputs)
{
    for (int i = 0; i < r->n_outputs; i++) {
        outputs[i] = tni_edge_of(r->function, r->outputs[i]);
        if (outputs[i] && tni_leads_nowhere(r->outputs[i]))
            fail_no_graph(r->function, i);
        if (tni_pending())
            return false;
    }
    for (int i = 0; i < r->n_inputs; i++) {
        inputs[i] = tni_edge_of(r->function, r->inputs[i]);
        if (inputs[i] && tni_leads_nowhere(r->inputs[i]))
            inputs[i] = unreachable;
        if (tni_pending())
            return false;
    }
    return true;
}

static tn_status start(tni_walk *walk, const request *r, const tni_edge *roots)
{
    for (int i = 0; i < r->n_outputs; i++) {
        tn_tensor *grad = r->gradients && r->gradients[i] ? r->gradients[i] : tni_tape_ops->ones_like(r->outputs[i]);
        /* a leaf may come to own a view of the gradient, which must not be one of the caller's */
        if (grad && r->gradients && grad == r->gradients[i] && !r->captured && !r->create_graph &&
            tni_edge_node(roots[i]))
            grad = tni_tape_ops->clone(grad);
        if (!grad || tni_walk_deliver(walk, NULL, roots[i], grad))
            return tni_pending();
    }
    return TN_OK;
}

/* The walk itself, in a scope, with the edges found. Recording follows create_graph. */
static void walk_from(const request *r, const tni_edge *roots, const tni_edge *inputs, tn_scope scope)
{
    tni_walk walk = {.scope = scope, .retain_graph = r->retain_graph || r->create_graph,
                     .create_graph = r->create_graph, .inputs = inputs, .captured = r->captured,
                     .n_inputs = r->captured ? r->n_inputs : 0, .anomaly = tni_anomaly_kinds()};
    tni_plan plan = {NULL, NULL, 0, 0};
    uint64_t exclude = tni_this_thread.exclude;
    tni_pending_begin(&walk.pending);
    tni_this_thread.exclude = r->create_graph ? exclude & ~TNI_KEY_TAPE : exclude | TNI_KEY_TAPE;
    tni_this_thread.exclude |= TNI_KEYS_ANOMALY;
    for (int i = 0; i < r->n_outputs; i++) /* a hook may change what made an output: the graph stays until the end */
        tni_edge_hold(roots[i]);
    bool planned = r->inputs || __atomic_load_n(&tni_leaf_hooks, __ATOMIC_RELAXED) > 0;
    if (!planned || tni_plan_make(&plan, roots, r->n_outputs, r->inputs ? inputs : NULL, r->n_inputs) == TN_OK) {
        walk.plan = planned ? &plan : NULL;
        if (start(&walk, r, roots) == TN_OK)
            tni_walk_run(&walk);
    }
    tni_this_thread.exclude = exclude;
    tni_pending_end(&walk.pending);
    for (int i = 0; i < r->n_outputs; i++)
        tni_edge_release(roots[i]);
    if (planned)
        tni_plan_free(&plan);
}

/* A request that check_request let pass. */
static tn_status run_request(const request *r)
{
    const size_t n = (size_t)r->n_outputs + (size_t)r->n_inputs, bytes = n * sizeof(tni_edge);
    tni_edge few[8], *edges = n <= 8 ? few : tni_alloc(bytes);
    if (!edges)
        return TNI_FAIL_MEMORY(r->function, bytes);
    tn_scope scope = tn_scope_begin();
    if (!tni_pending() && find_edges(r, edges, edges + r->n_outputs))
        walk_from(r, edges, edges + r->n_outputs, scope);
    tn_scope_end(scope);
    if (edges != few)
        tni_free(edges, bytes);
    return tni_pending();
}

static const tn_backward_options plain;

tn_status tn_backward_many(tn_tensor *const *outputs, tn_tensor *const *gradients, int n,
                           const tn_backward_options *options)
{
    if (!options)
        options = &plain;
    const request r = {.function = "backward", .outputs = outputs, .gradients = gradients, .n_outputs = n,
                       .inputs = options->inputs, .n_inputs = options->inputs ? options->n_inputs : 0,
                       .retain_graph = options->retain_graph, .create_graph = options->create_graph};
    if (check_request(&r))
        return tni_pending();
    for (int i = 0; i < r.n_inputs; i++) /* a result among them keeps its gradient */
        if (!tn_is_leaf(r.inputs[i]) && tn_retain_grad(r.inputs[i]))
            return tni_pending();
    return run_request(&r);
}

tn_status tn_backward_with(tn_tensor *x, tn_tensor *gradient, const tn_backward_options *options)
{
    if (tni_check_tensor("backward", 1, "self", x))
        return tni_pending();
    return tn_backward_many(&x, &gradient, 1, options);
}

tn_status tn_backward(tn_tensor *x)
{
    return tn_backward_with(x, NULL, NULL);
}

static tn_list *list_captured(const request *r, bool allow_unused)
{
    tn_list *list = tni_list_new(r->function, r->n_inputs);
    for (int i = 0; list && i < r->n_inputs; i++) {
        tn_tensor *grad = r->captured[i];
        if (!grad && !allow_unused) {
            TNI_FAIL(TN_ERROR_GRAD, r->function,
                     "input %d was not used for the outputs: needed one that they depend on, or allow_unused", i);
            tn_drop(&list);
            return NULL;
        }
        tni_list_share(list, grad);
    }
    return list;
}

tn_list *tn_grad(tn_tensor *const *outputs, tn_tensor *const *gradients, int n_outputs, tn_tensor *const *inputs,
                 int n_inputs, const tn_grad_options *options)
{
    static const tn_grad_options none;
    if (!options)
        options = &none;
    request r = {.function = "grad", .outputs = outputs, .gradients = gradients, .n_outputs = n_outputs,
                 .inputs = inputs, .n_inputs = n_inputs, .retain_graph = options->retain_graph,
                 .create_graph = options->create_graph};
    if (!inputs && !tni_pending())
        TNI_FAIL_NULL("grad", 4, "inputs");
    if (check_request(&r))
        return NULL;
    const size_t bytes = (size_t)n_inputs * sizeof *r.captured;
    r.captured = tni_alloc_zeroed(bytes);
    if (!r.captured) {
        TNI_FAIL_MEMORY("grad", bytes);
        return NULL;
    }
    tn_list *list = run_request(&r) == TN_OK ? list_captured(&r, options->allow_unused) : NULL;
    for (int i = 0; i < n_inputs; i++)
        if (r.captured[i])
            tni_object_release(&r.captured[i]->object);
    tni_free(r.captured, bytes);
    return list;
}
