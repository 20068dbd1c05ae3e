/* Inference mode: what is made in it can never be on the tape.
 *
 * Tensors made while a thread is in the mode carry a key, and so does the thread; both bring calls to this layer, above
 * the one that records, so that calls outside and on other tensors pay nothing. What is made new in the mode gets the
 * key; a view or alias has what its tensor has. Outside, such a tensor may be read, but neither written nor saved for a
 * derivative: its writes were not counted. Source: torch.inference_mode. */
#include "autograd/inference.h"

#include <string.h>

#include "autograd/record.h"
#include "autograd/tape.h"
#include "base/error.h"
#include "core/tensor.h"

/* Calls that write no element and may be made on every tensor. */
static bool is_harmless(const tni_call *call)
{
    return call->op->derivative == &tni_detaching || call->op->derivative == &tni_replacing_data;
}

static tn_status check_written(tni_call *call)
{
    if (call->form == TNI_NEW || !(call->out[0]->keys & TNI_KEY_INFERENCE) || is_harmless(call))
        return TN_OK;
    /* PyTorch finds out when it counts the version: the elements are written by then, and are here, too */
    if (tni_dispatch(call))
        return tni_pending();
    return TNI_FAIL(TN_ERROR_INFERENCE, tni_call_name(call),
                    "the tensor to write was made in inference mode, needed one that was not, or that mode: clone it");
}

/* Refuses a call that will be recorded and keep such a tensor. */
static tn_status check_saved(const tni_call *call)
{
    const tni_op *op = call->op;
    const tni_derivative *derivative = op->derivative;
    uint64_t tracked = 0;
    if (tni_this_thread.exclude & TNI_KEY_TAPE || !derivative || !derivative->vjp || call->form == TNI_OUT)
        return TN_OK;
    for (int i = 0; i < op->n_in; i++)
        if (call->in[i] && tni_requires_grad(call->in[i]))
            tracked |= UINT64_C(1) << i;
    unsigned saves = tracked ? tni_record_saves(op, tracked) : 0;
    for (int i = 0; i < op->n_in; i++)
        if (saves & TNI_SAVE(i) && call->in[i] && call->in[i]->keys & TNI_KEY_INFERENCE)
            return TNI_FAIL(TN_ERROR_INFERENCE, tni_call_name(call),
                            "argument %d was made in inference mode and would be saved for the gradient: needed one "
                            "that was not, such as a clone made outside",
                            i + 1);
    return TN_OK;
}

/* The input whose memory the result shares, or that it is; NULL: the result is new. */
static tn_tensor *source_of(const tni_call *call, const tn_tensor *out)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && (call->in[i] == out || call->in[i]->storage == out->storage))
            return call->in[i];
    return NULL;
}

static bool is_input(const tni_call *call)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] == call->out[0])
            return true;
    return false;
}

static void mark(const tni_call *call)
{
    tn_tensor *out = call->out[0];
    const tn_tensor *source = source_of(call, out);
    if (!source)
        out->keys |= TNI_KEY_INFERENCE;
    else if (source != out && out->base && !(out->keys & TNI_KEY_INFERENCE))
        out->creation = TNI_CREATED_INFERENCE;
}

/* A copy made outside counts as one written version, in PyTorch, which makes it first and writes it then. */
static void count_copy(const tni_call *call)
{
    static const char *const copies[] = {"clone", "to", "contiguous"};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (strcmp(tni_call_name(call), copies[i]) == 0 && !source_of(call, call->out[0]))
            tni_written(call->out[0]);
}

tn_status tni_inference_layer(void *context, tni_call *call)
{
    (void)context;
    const bool on = tni_this_thread.inference;
    if (!on && (check_written(call) || check_saved(call)))
        return tni_pending();
    if (tni_dispatch(call))
        return tni_pending();
    if (call->form == TNI_NEW && call->out[0]->keys & TNI_KEY_INFERENCE && !is_input(call))
        tni_tensor_leave_base(call->out[0]); /* there is no history that it could share */
    if (on && call->form == TNI_NEW)
        mark(call);
    else if (call->form == TNI_NEW)
        count_copy(call);
    return TN_OK;
}
