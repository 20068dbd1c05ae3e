/* Anomaly mode: who made the first NaN or infinity.
 *
 * The mode is two bits of the thread's masks, so that nothing is spent while they are off. The layer goes on below,
 * where the call is recorded and run, and looks at the result; arguments are looked at only when there is something to
 * explain, but those that are written before the call. A walk looks itself (autograd/walk.c) and has the layer masked:
 * there the operator to name is the one that was recorded.
 *
 * Where a call stood in the program is kept as a hook of its node, which sees gradients and leaves them. */
#include "autograd/anomaly.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/census.h"
#include "autograd/hooks.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "base/text.h"

static _Thread_local const char *where;
static int begun; /* the layers are set */

static tn_tensor *stood_here(void *context, tn_tensor *grad)
{
    (void)context, (void)grad;
    return NULL;
}

static unsigned kinds_in(const tni_census *census)
{
    return (census->nans ? TNI_ANOMALY_NAN : 0u) | (census->infinities ? TNI_ANOMALY_INFINITY : 0u);
}

static unsigned kinds_of(const tn_tensor *x)
{
    if (!x || tni_dtype_kind((tn_dtype)x->dtype) < TNI_FLOAT)
        return 0;
    const tni_census census = tni_census_of(x);
    return kinds_in(&census);
}

static unsigned kinds_of_number(tn_scalar number)
{
    double parts[2] = {0, 0};
    if (number.kind == TN_SCALAR_FLOAT)
        parts[0] = number.value.f;
    if (number.kind == TN_SCALAR_COMPLEX) {
        parts[0] = number.value.c.re;
        parts[1] = number.value.c.im;
    }
    return (isnan(parts[0]) || isnan(parts[1]) ? TNI_ANOMALY_NAN : 0u) |
           (isinf(parts[0]) || isinf(parts[1]) ? TNI_ANOMALY_INFINITY : 0u);
}

/* What the arguments bring along: tensors, those in lists, numbers. */
static unsigned kinds_given(const tni_call *call)
{
    const tni_op *op = call->op;
    unsigned given = 0;
    for (int i = 0; i < op->n_in; i++)
        given |= kinds_of(call->in[i]);
    for (int p = 0; p < op->n_params && call->attr; p++) {
        const char *field = (const char *)call->attr + op->params[p].offset;
        const int input = op->params[p].input;
        if (op->params[p].code == 'S' || (op->params[p].code == 'X' && input >= 0 && !call->in[input]))
            given |= kinds_of_number(*(const tn_scalar *)(const void *)field);
        if (op->params[p].code != 'G')
            continue;
        const tni_tensors *list = (const tni_tensors *)(const void *)field;
        for (int i = 0; i < list->n; i++)
            given |= kinds_of(list->data[i]);
    }
    return given;
}

/* Whether the call computes its result: not where it is a view, an argument itself, or memory as it was found. */
static bool computes(const tni_call *call, const tn_tensor *out)
{
    const char *name = tni_call_name(call);
    if (tni_dtype_kind((tn_dtype)out->dtype) < TNI_FLOAT || call->op->n_in == 0)
        return false;
    if (strncmp(name, "empty", 5) == 0 || strncmp(name, "resize", 6) == 0)
        return false;
    for (int i = 0; call->form == TNI_NEW && i < call->op->n_in; i++)
        if (call->in[i] && call->in[i]->storage == out->storage)
            return false;
    return true;
}

static void shape_text(const tn_tensor *x, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s ", tn_dtype_name((tn_dtype)x->dtype));
    tni_text_shape(buf + n, size - (size_t)n, x->sizes, x->ndim);
}

/* "nan at [1, 0] of" and so on: the first element of the kinds. */
static void element_text(const tn_tensor *x, const tni_census *census, unsigned kinds, char *buf, size_t size)
{
    int64_t index[TN_MAX_NDIM];
    char at[100];
    bool nan = kinds & TNI_ANOMALY_NAN;
    if (nan && kinds & TNI_ANOMALY_INFINITY && census->first_infinity < census->first_nan)
        nan = false;
    int64_t position = nan ? census->first_nan : census->first_infinity;
    for (int d = x->ndim - 1; d >= 0; d--) {
        index[d] = position % x->sizes[d];
        position /= x->sizes[d];
    }
    tni_text_shape(at, sizeof at, index, x->ndim);
    snprintf(buf, size, "%s at %s", nan ? "nan" : census->negative ? "-inf" : "inf", at);
}

static tn_status fail_call(const tni_call *call, const tn_tensor *out, const tni_census *census, unsigned kinds)
{
    char element[120], result[80], inputs[140] = "", shape[60];
    size_t n = 0;
    element_text(out, census, kinds, element, sizeof element);
    shape_text(out, result, sizeof result);
    for (int i = 0; i < call->op->n_in && n < sizeof inputs; i++) {
        if (!call->in[i])
            continue;
        shape_text(call->in[i], shape, sizeof shape);
        n += (size_t)snprintf(inputs + n, sizeof inputs - n, "%s%s", n ? ", " : "", shape);
    }
    return TNI_FAIL(TN_ERROR_ANOMALY, tni_call_name(call), "made %s of its result, %s, from %s without one", element,
                    result, inputs);
}

/* Notes where the call stood, once. */
static tn_status note_where(const tni_call *call, const tn_tensor *out)
{
    tni_node *node = where ? tni_own_node(out) : NULL;
    if (!node || node->op != call->op)
        return TN_OK;
    for (const tni_hook *hook = node->hooks; hook; hook = hook->next)
        if (hook->function == stood_here)
            return TN_OK;
    tni_hook_add(tni_call_name(call), &node->hooks, stood_here, (void *)(uintptr_t)where);
    return tni_pending();
}

static tn_status look(tni_call *call, unsigned kinds, unsigned given)
{
    tn_tensor *out = call->out[0];
    if (note_where(call, out))
        return tni_pending();
    if (!computes(call, out))
        return TN_OK;
    const tni_census census = tni_census_of(out);
    unsigned made = kinds_in(&census) & kinds & ~given;
    if (made && call->form == TNI_NEW)
        made &= ~kinds_given(call);
    return made ? fail_call(call, out, &census, made) : TN_OK;
}

static tn_status anomaly_layer(void *context, tni_call *call)
{
    const unsigned kinds = context ? TNI_ANOMALY_NAN : TNI_ANOMALY_NAN | TNI_ANOMALY_INFINITY;
    const unsigned given = call->form == TNI_NEW ? 0 : kinds_given(call);
    if (tni_dispatch(call))
        return tni_pending();
    if (!call->out[0] || look(call, kinds, given) == TN_OK)
        return TN_OK;
    if (call->form == TNI_NEW) {
        tn_drop(&call->out[0]);
        call->out[0] = NULL;
    }
    return tni_pending();
}

tn_anomaly tn_anomaly_mode_now(void)
{
    const uint64_t include = tni_this_thread.include;
    return include & UINT64_C(1) << TNI_ANOMALY_BIT       ? TN_ANOMALY_NOT_FINITE
           : include & UINT64_C(1) << TNI_ANOMALY_NAN_BIT ? TN_ANOMALY_NAN
                                                          : TN_ANOMALY_OFF;
}

tn_anomaly tn_anomaly_mode(tn_anomaly mode)
{
    static const char nan_alone[1];
    const tn_anomaly before = tn_anomaly_mode_now();
    tni_thread *thread = &tni_this_thread;
    thread->include &= ~TNI_KEYS_ANOMALY;
    if (mode != TN_ANOMALY_NOT_FINITE && mode != TN_ANOMALY_NAN)
        return before;
    if (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) {
        tni_set_layer(TNI_ANOMALY_BIT, anomaly_layer, NULL);
        tni_set_layer(TNI_ANOMALY_NAN_BIT, anomaly_layer, (void *)(uintptr_t)nan_alone);
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    }
    thread->include |= UINT64_C(1) << (mode == TN_ANOMALY_NAN ? TNI_ANOMALY_NAN_BIT : TNI_ANOMALY_BIT);
    return before;
}

void tn_anomaly_where(const char *text)
{
    where = text;
}

static tn_status fail_derivative(const tni_vjp *v, int input, const tni_census *census, unsigned kinds)
{
    const tni_node *node = v->node;
    const tn_tensor *grad = v->grads[input];
    const char *stood = NULL;
    char element[120], shape[80], result[80], made[64];
    element_text(grad, census, kinds, element, sizeof element);
    shape_text(grad, shape, sizeof shape);
    shape_text(v->grad, result, sizeof result);
    for (const tni_hook *hook = node->hooks; hook; hook = hook->next)
        if (hook->function == stood_here)
            stood = hook->context;
    return TNI_FAIL(TN_ERROR_ANOMALY, "backward",
                    "the derivative of \"%s\" (%s) made %s of the gradient of input %d, %s, from that of the "
                    "result, %s, without one%s%.60s",
                    node->op->name[node->form], tni_node_name(node, made, sizeof made), element, input, shape, result,
                    stood ? "; recorded at " : "", stood ? stood : "");
}

tn_status tni_anomaly_check(const tni_vjp *v, unsigned kinds)
{
    unsigned given = kinds_of(v->grad);
    for (uint32_t i = 0; i < v->node->n_edges; i++) {
        const tn_tensor *grad = v->node->edges[i] ? v->grads[i] : NULL;
        if (!grad)
            continue;
        const tni_census census = tni_census_of(grad);
        unsigned made = kinds_in(&census) & kinds & ~given;
        if (made)
            return fail_derivative(v, (int)i, &census, made);
    }
    return TN_OK;
}
