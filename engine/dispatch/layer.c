/* Layers registered from outside, and what a layer sees of a call. */
#include <string.h>

#include "base/error.h"
#include "dispatch/keys.h"
#include "dispatch/op.h"

static const char *layer_names[TN_MAX_LAYERS]; /* NULL: free. Changed with compare and exchange */

static bool known(int layer)
{
    return layer >= 0 && layer < TN_MAX_LAYERS && __atomic_load_n(&layer_names[layer], __ATOMIC_ACQUIRE);
}

int tn_layer_register(const char *name, tn_layer_handler handler, void *context)
{
    if (tni_pending())
        return -1;
    if (!name || !handler) {
        TNI_FAIL_NULL("layer_register", name ? 2 : 1, name ? "handler" : "name");
        return -1;
    }
    for (int layer = 0; layer < TN_MAX_LAYERS; layer++) {
        const char *free_name = NULL;
        if (!__atomic_compare_exchange_n(&layer_names[layer], &free_name, name, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        tni_set_layer(TNI_LAYER_BIT(layer), handler, context);
        return layer;
    }
    TNI_FAIL(TN_ERROR_STATE, "layer_register", "all %d layers are taken", TN_MAX_LAYERS);
    return -1;
}

tn_status tn_layer_unregister(int layer)
{
    if (tni_pending())
        return tni_pending();
    if (!known(layer))
        return TNI_FAIL(TN_ERROR_ARGUMENT, "layer_unregister", "%d is no registered layer", layer);
    tni_this_thread.include &= ~TNI_KEY_LAYER(layer);
    tni_set_layer(TNI_LAYER_BIT(layer), NULL, NULL);
    __atomic_store_n(&layer_names[layer], NULL, __ATOMIC_RELEASE);
    return TN_OK;
}

tn_status tn_layer_enable(int layer, bool on)
{
    if (tni_pending())
        return tni_pending();
    if (!known(layer))
        return TNI_FAIL(TN_ERROR_ARGUMENT, "layer_enable", "%d is no registered layer", layer);
    if (on)
        tni_this_thread.include |= TNI_KEY_LAYER(layer);
    else
        tni_this_thread.include &= ~TNI_KEY_LAYER(layer);
    return TN_OK;
}

tn_status tn_layer_next(tn_op_call *call)
{
    return call ? tni_dispatch(call) : TNI_FAIL_NULL("layer_next", 1, "call");
}

const char *tn_op_call_name(const tn_op_call *call)
{
    return call ? tni_call_name(call) : "";
}

int tn_op_call_input_count(const tn_op_call *call)
{
    return call ? tni_input_count(call) : 0;
}

tn_tensor *tn_op_call_input(const tn_op_call *call, int i)
{
    return call && i >= 0 && i < tni_input_count(call) ? call->in[i] : NULL;
}

int tn_op_call_output_count(const tn_op_call *call)
{
    return call ? call->op->n_out : 0;
}

tn_tensor *tn_op_call_output(const tn_op_call *call, int i)
{
    return call && i >= 0 && i < call->op->n_out ? call->out[i] : NULL;
}
