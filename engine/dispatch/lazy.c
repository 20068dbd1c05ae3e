/* The layer of lazy bits: kernels get tensors without them. See Note [Lazy bits].
 *
 * A call whose result shares its argument's memory passes: it carries the bits along. Any other call is made
 * with the inputs resolved; a tensor that is to be written is resolved, written, and stored back through its bits. */
#include "core/lazy.h"

#include <string.h>
#include <tenon/scope.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/overlap.h"
#include "dispatch/keys.h"
#include "dispatch/op.h"

/* Zero tensors go through some operators as such: mul with one, for instance, makes one. */
static bool result_is_zero(const tni_call *call)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && call->op->zero_through & 1u << i && call->in[i]->keys & TNI_KEY_ZERO)
            return call->form == TNI_NEW;
    return false;
}

/* What must hold of the tensor to write, since the call itself writes another in its place. */
static tn_status check_written(const tni_call *call, const tni_meta *meta)
{
    const tn_tensor *out = call->out[0];
    const char *name = tni_call_name(call);
    const tni_record *record = &meta->record;
    if (out->keys & TNI_KEY_ZERO)
        return TNI_FAIL(TN_ERROR_STATE, name,
                        "the tensor to write is a zero tensor, which has no memory: clone it first");
    if (!tni_is_lazy(out))
        return TN_OK;
    if (tni_check_writable(name, out->storage))
        return tni_pending();
    if (call->form == TNI_OUT && !tni_same_dims(out->sizes, out->ndim, record->sizes, record->ndim))
        return TNI_FAIL(TN_ERROR_STATE, name,
                        "the tensor to write has a lazy %s bit and another shape: it is not resized",
                        out->keys & TNI_KEY_NEG ? "neg" : "conj");
    if (!call->op->overlap_allowed && tni_check_no_internal_overlap(name, out))
        return tni_pending();
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && call->in[i] != out && tni_check_no_partial_overlap(name, out, call->in[i]))
            return tni_pending();
    return TN_OK;
}

/* Makes the call with resolved tensors in `in`, which die with the caller's scope. */
static tn_status call_resolved(tni_call *call, tn_tensor **in)
{
    const char *name = tni_call_name(call);
    tn_tensor *out = call->form == TNI_NEW ? NULL : call->out[0], *written = out;
    if (out && tni_is_lazy(out) && !(written = tni_resolved(name, out)))
        return tni_pending();
    for (int i = 0; i < tni_input_count(call); i++) {
        in[i] = call->in[i];
        if (in[i] && out && in[i] == out)
            in[i] = written;
        else if (in[i] && tni_is_lazy(in[i]) && !(in[i] = tni_resolved(name, in[i])))
            return tni_pending();
    }
    tni_call resolved = *call;
    resolved.in = in;
    resolved.out = &written;
    if (tni_dispatch(&resolved))
        return tni_pending();
    call->out[0] = out ? out : written;
    if (out && out != written) {
        tni_store_through(out, written);
        tni_written(out);
    }
    return TN_OK;
}

/* The same with room for the inputs. */
static tn_status resolve(tni_call *call)
{
    tn_tensor *few[TNI_MAX_IN];
    const int n = tni_input_count(call);
    const size_t bytes = (size_t)n * sizeof *few;
    tn_tensor **in = n <= TNI_MAX_IN ? few : tni_alloc(bytes);
    if (!in)
        return TNI_FAIL_MEMORY(tni_call_name(call), bytes);
    tn_status status = call_resolved(call, in);
    if (in != few)
        tni_free(in, bytes);
    return status;
}

tn_status tni_lazy_layer(void *context, tni_call *call)
{
    (void)context;
    tni_meta meta;
    tni_meta_begin(&meta, meta.room);
    if (call->op->infer(call, &meta))
        return tni_pending();
    if (meta.view_of || meta.same || meta.part_of || call->op->alter)
        return tni_dispatch(call);
    tni_meta_settle(&meta);
    if (result_is_zero(call)) {
        call->out[0] = tni_zero_tensor(tni_call_name(call), &meta.record);
        return tni_pending();
    }
    if (call->form != TNI_NEW && check_written(call, &meta))
        return tni_pending();
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    if (resolve(call) == TN_OK && call->form == TNI_NEW)
        tn_scope_escape(scope, call->out[0]);
    tn_scope_end(scope);
    return tni_pending();
}
