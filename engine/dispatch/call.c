/* The way of a call: arguments, layers, infer, outputs, run. See Note [Forms]. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "core/overlap.h"
#include "core/tensor_make.h"
#include "dispatch/keys.h"
#include "dispatch/op.h"
#include "dispatch/writer.h"

typedef struct layer_slot {
    tn_layer_handler handler;
    void *context;
} layer_slot;

static layer_slot layers[64] = {
    [TNI_CONJ_BIT] = {tni_lazy_layer, NULL},
    [TNI_NEG_BIT] = {tni_lazy_layer, NULL},
    [TNI_ZERO_BIT] = {tni_lazy_layer, NULL},
};

void tni_set_layer(int bit, tn_layer_handler handler, void *context)
{
    layers[bit].context = context;
    __atomic_store_n(&layers[bit].handler, handler, __ATOMIC_RELEASE);
}

/* Hands the call to its highest layer, which is masked meanwhile. */
static __attribute__((noinline)) tn_status dispatch_layer(tni_call *call, uint64_t keys)
{
    tni_thread *thread = &tni_this_thread;
    int bit = 63 - __builtin_clzll(keys);
    tn_layer_handler handler = __atomic_load_n(&layers[bit].handler, __ATOMIC_ACQUIRE);
    uint64_t exclude = thread->exclude;
    thread->exclude = exclude | (UINT64_C(1) << bit);
    tn_status status = handler ? handler(layers[bit].context, call) : tni_dispatch(call);
    thread->exclude = exclude;
    if (tni_pending())
        return tni_pending();
    if (status != TN_OK)
        return TNI_FAIL(status, tni_call_name(call), "a layer refused the call and did not say why");
    if (!call->out[0])
        return TNI_FAIL(TN_ERROR_STATE, tni_call_name(call), "a layer handled the call and made no result");
    return TN_OK;
}

static __attribute__((noinline, cold)) tn_status fail_argument(const tni_call *call, int input)
{
    const tni_op *op = call->op;
    if (op->takes_list)
        return TNI_FAIL(TN_ERROR_NULL, tni_call_name(call), "argument 1 (%s) is NULL at tensor %d", op->params[0].name,
                        input);
    for (int p = 0; p < op->n_params; p++)
        if (op->params[p].input == input)
            return TNI_FAIL_NULL(tni_call_name(call), p + 1, op->params[p].name);
    return TNI_FAIL_NULL(tni_call_name(call), input + 1, "tensor");
}

static __attribute__((noinline, cold)) tn_status fail_devices(const tni_call *call)
{
    return TNI_FAIL(TN_ERROR_DEVICE, tni_call_name(call), "the tensors are on cpu and on meta, needed one device");
}

static bool has_shape(const tn_tensor *out, const tni_record *record)
{
    return tni_same_dims(out->sizes, out->ndim, record->sizes, record->ndim);
}

/* Checks an output that is there already: Note [Forms]. */
static tn_status check_output(const tni_call *call, const tni_meta *meta, const tn_tensor *out)
{
    const char *name = tni_call_name(call);
    const tni_record *record = &meta->record;
    bool same_shape = has_shape(out, record);
    if (call->form == TNI_IN_PLACE && !same_shape) {
        char have[120], need[120];
        tni_text_shape(have, sizeof have, out->sizes, out->ndim);
        tni_text_shape(need, sizeof need, record->sizes, record->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the result has shape %s, the tensor to write %s, needed the same", need,
                        have);
    }
    bool fits = call->op->exact_out_dtype ? (tn_dtype)out->dtype == record->dtype
                                          : tn_can_cast(record->dtype, (tn_dtype)out->dtype);
    if (!fits)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the result is %s, which %s into the tensor to write (%s)",
                        tn_dtype_name(record->dtype), call->op->exact_out_dtype ? "does not go" : "cannot be cast",
                        tn_dtype_name((tn_dtype)out->dtype));
    if (!tni_converter_of(record->dtype, (tn_dtype)out->dtype))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, name, "no conversion from %s to %s, the dtype of the tensor to write",
                        tn_dtype_name(record->dtype), tn_dtype_name((tn_dtype)out->dtype));
    if (tni_check_writable(name, out->storage))
        return tni_pending();
    if (same_shape && !call->op->overlap_allowed && tni_check_no_internal_overlap(name, out))
        return tni_pending();
    for (int i = 0; i < tni_input_count(call); i++) {
        const tn_tensor *x = call->in[i];
        if (!x)
            continue;
        if (!same_shape && x->storage == out->storage)
            return TNI_FAIL(TN_ERROR_OVERLAP, name,
                            "the tensor to write must be resized and shares its storage with an operand");
        if (x != out && !call->op->reads_first && tni_check_no_partial_overlap(name, out, x))
            return tni_pending();
    }
    return TN_OK;
}

/* The scratch that a call wants: *workspace of *bytes, NULL of 0 for none. */
static tn_status take_workspace(const tni_call *call, void **workspace, size_t *bytes)
{
    *bytes = call->op->workspace ? call->op->workspace(call) : 0;
    *workspace = *bytes > 0 ? tni_alloc(*bytes) : NULL;
    return *bytes > 0 && !*workspace ? TNI_FAIL_MEMORY(tni_call_name(call), *bytes) : TN_OK;
}

static void record_like(tni_record *record, const tn_tensor *x, const int64_t *strides)
{
    record->device = x->device;
    record->ndim = x->ndim;
    record->sizes = x->sizes;
    record->strides = strides;
    record->numel = x->numel;
    record->offset = 0;
    record->contiguous = false;
}

void tni_meta_preserved(tni_meta *meta, const tn_tensor *x)
{
    record_like(&meta->record, x, meta->room);
    tni_preserved_strides(x->sizes, x->strides, x->ndim, meta->room);
}

void tni_meta_settle(tni_meta *meta)
{
    if (!meta->like)
        return;
    record_like(&meta->record, meta->like, meta->room);
    tni_contiguous_strides(meta->like->sizes, meta->like->ndim, meta->room);
    meta->record.contiguous = true;
    meta->like = NULL;
}

/* The form that writes into tensors that are there: Note [Forms] has the order of the steps. */
static TNI_ASIDE tn_status execute_into(tni_call *call, tni_meta *meta)
{
    tn_tensor *out = call->out[0];
    const char *name = tni_call_name(call);
    const tni_record *record = &meta->record;
    tni_geometry old;
    void *workspace = NULL;
    size_t bytes = 0, scratch = 0;
    if (call->op->alter)
        return call->op->alter(call, meta);
    if (meta->view_of || meta->same == out) { /* a new record over the same memory, or nothing to do */
        if (meta->view_of && tni_tensor_assign(name, out, record, NULL))
            return tni_pending();
        tni_count_write(out->counter, name);
        return TN_OK;
    }
    tni_meta_settle(meta);
    if (check_output(call, meta, out))
        return tni_pending();
    bool resized = !has_shape(out, record);
    if (resized && tni_tensor_regrid(name, out, record->sizes, record->strides, record->ndim, &old, &bytes))
        return tni_pending();
    bool runs = out->keys & TNI_KEY_CPU && out->numel > 0;
    if ((runs && take_workspace(call, &workspace, &scratch)) ||
        (bytes > out->storage->nbytes && tni_storage_resize(name, out->storage, bytes))) {
        tni_free(workspace, scratch);
        if (resized)
            tni_tensor_restore(out, &old);
        return tni_pending();
    }
    if (runs)
        call->op->run(call, workspace);
    tni_free(workspace, scratch);
    if (resized)
        tni_geometry_drop(&old);
    tni_count_write(out->counter, name);
    return TN_OK;
}

/* The output of a call that is not like an input. */
static TNI_ASIDE tn_tensor *make_output(const tni_call *call, const tni_meta *meta)
{
    const char *name = tni_call_name(call);
    if (meta->view_of)
        return tni_tensor_view(name, meta->view_of, &meta->record);
    if (TNI_UNLIKELY(meta->part_of != NULL))
        return tni_tensor_sharing(name, meta->part_of, &meta->record, meta->own_counter);
    if (TNI_UNLIKELY(meta->same != NULL)) {
        if (!tni_scope_room(name))
            return NULL;
        tn_retain(meta->same);
        tni_scope_hold(&meta->same->object);
        return meta->same;
    }
    return tni_tensor_new(name, &meta->record);
}

/* Fills an output that was just made, where that takes scratch or nothing at all. */
static TNI_ASIDE tn_status fill_made(tni_call *call, tn_tensor *out)
{
    void *workspace;
    size_t bytes;
    if (out->numel == 0 || out->keys & TNI_KEY_META)
        return TN_OK;
    if (call->op->run_light && TNI_LIKELY(call->op->run_light(call)))
        return TN_OK;
    if (take_workspace(call, &workspace, &bytes)) {
        call->out[0] = NULL;
        tni_tensor_unmake(out);
        return tni_pending();
    }
    call->op->run(call, workspace);
    tni_free(workspace, bytes);
    return TN_OK;
}

/* Infers, makes and runs a call whose arguments are in order. `to_meta`: the result is on meta, though some inputs
 * are not. */
static inline __attribute__((always_inline)) tn_status execute(tni_call *call, bool to_meta)
{
    tni_meta meta;
    const tni_op *op = call->op;
    tni_meta_begin(&meta, meta.room);
    if (TNI_UNLIKELY(op->infer(call, &meta) != TN_OK))
        return tni_pending();
    if (to_meta) {
        tni_meta_settle(&meta);
        meta.record.device = TN_META;
    }
    if (TNI_UNLIKELY(call->form != TNI_NEW))
        return execute_into(call, &meta);
    tn_tensor *out = TNI_LIKELY(meta.like != NULL) ? tni_tensor_like(tni_call_name(call), meta.like, meta.record.dtype)
                                                   : make_output(call, &meta);
    if (TNI_UNLIKELY(!out))
        return tni_pending();
    call->out[0] = out;
    if (TNI_UNLIKELY(meta.view_of || meta.same || meta.part_of))
        return TN_OK;
    if (TNI_UNLIKELY(op->workspace || out->numel == 0 || out->keys & TNI_KEY_META))
        return fill_made(call, out);
    op->run(call, NULL);
    return TN_OK;
}

/* The end of execute_view where infer failed, or the result is no view whose dims stand in the block. */
static TNI_ASIDE tn_status finish_view(tni_call *call, const tni_meta *meta, tn_tensor *block)
{
    tn_tensor *out = tni_pending() ? NULL : make_output(call, meta);
    tni_free(block, sizeof *block);
    call->out[0] = out;
    return out ? TN_OK : tni_pending();
}

static TNI_ASIDE tn_status execute_aside(tni_call *call)
{
    return execute(call, false);
}

/* execute for the new result of an operator that runs nothing, a view as a rule: infer writes its dims into it. */
static TNI_ASIDE tn_status execute_view(tni_call *call)
{
    tni_meta meta;
    tn_tensor *block = tni_view_block();
    if (TNI_UNLIKELY(!block))
        return execute_aside(call);
    tni_meta_begin(&meta, block->inline_dims);
    if (TNI_UNLIKELY(call->op->infer(call, &meta) != TN_OK || !meta.view_of || meta.record.sizes != meta.dims))
        return finish_view(call, &meta, block);
    tni_set_view(block, meta.view_of, &meta.record, block->inline_dims);
    call->out[0] = block;
    return TN_OK;
}

const char tni_plain_below[1];

tn_status tni_execute_plain(tni_call *call)
{
    return call->op->run || call->form != TNI_NEW ? execute(call, false) : execute_view(call);
}

/* tni_dispatch for the layer that records and a call that no other layer sees: what is below is tni_execute_plain. */
static TNI_ASIDE tn_status dispatch_tape(tni_call *call)
{
    tni_thread *thread = &tni_this_thread;
    thread->exclude |= TNI_KEY_TAPE;
    tn_layer_handler handler = __atomic_load_n(&layers[TNI_TAPE_BIT].handler, __ATOMIC_ACQUIRE);
    tn_status status = handler((void *)(uintptr_t)tni_plain_below, call);
    thread->exclude &= ~TNI_KEY_TAPE;
    return status;
}

/* Whether input i, which is NULL, was left off rightly or is a number. */
static bool may_be_missing(const tni_call *call, int i)
{
    const unsigned bit = i < TNI_MAX_IN ? 1u << i : 0; /* in a list none is */
    uint32_t numbers = 0;
    if (call->op->optional_in & bit)
        return true;
    if (call->op->number_in & bit)
        memcpy(&numbers, call->attr, sizeof numbers);
    return numbers & bit;
}

/* As in PyTorch an operand without dims may be on the CPU whatever the others' device: it stands for a number. */
static bool may_mix(const tni_call *call)
{
    for (int i = 0; i < tni_input_count(call); i++) {
        const tn_tensor *x = call->in[i];
        if (x && x->device == TN_CPU && (x->ndim > 0 || i >= call->op->n_in || !(call->op->number_in & (1u << i))))
            return false;
    }
    return call->form == TNI_NEW || call->out[0]->device == TN_META;
}

tn_status tni_dispatch_any(tni_call *call)
{
    const tni_thread *thread = &tni_this_thread;
    if (thread->error.code != TN_OK)
        return thread->error.code;
    uint64_t keys = thread->include;
    const int n = tni_input_count(call);
    for (int i = 0; i < n; i++) {
        const tn_tensor *x = call->in[i];
        if (x)
            keys |= tni_keys(x);
        else if (!may_be_missing(call, i))
            return fail_argument(call, i);
    }
    if (call->form != TNI_NEW) {
        if (!call->out[0]) /* in place on a NULL that another form takes for a number */
            return fail_argument(call, 0);
        keys |= tni_keys(call->out[0]);
    }
    keys &= ~thread->exclude;
    bool mixed = (keys & (TNI_KEY_CPU | TNI_KEY_META)) == (TNI_KEY_CPU | TNI_KEY_META);
    if (mixed && !may_mix(call))
        return fail_devices(call);
    if (keys & TNI_LAYER_KEYS)
        return dispatch_layer(call, keys);
    return mixed ? execute(call, true) : execute(call, false);
}

/* What the bases of views add to a call's keys. */
static TNI_ASIDE uint64_t base_keys(const tni_call *call)
{
    uint64_t keys = 0;
    for (int i = 0; i < call->op->n_in; i++)
        keys |= call->in[i] ? tni_keys(call->in[i]) : 0;
    return keys;
}

/* The common call goes straight on: no error pending, all inputs that must be there and on the CPU, no layer, a new
 * result. Equal to tni_dispatch_any. */
tn_status tni_dispatch(tni_call *call)
{
    const tni_thread *thread = &tni_this_thread;
    uint64_t keys = thread->include;
    uintptr_t bases = 0;
    size_t n = call->op->n_in;
    if (n == 0 && call->op->takes_list)
        return tni_dispatch_any(call);
    while (n > 0) {
        const tn_tensor *x = call->in[--n];
        if (TNI_UNLIKELY(!x)) {
            if (call->op->optional_in >> n & 1)
                continue;
            return tni_dispatch_any(call);
        }
        keys |= x->keys;
        bases |= (uintptr_t)x->base;
    }
    if (bases)
        keys |= base_keys(call);
    keys &= ~thread->exclude;
    if (TNI_UNLIKELY((keys & ~TNI_KEY_TAPE) > TNI_KEY_CPU || call->form != TNI_NEW || thread->error.code != TN_OK))
        return tni_dispatch_any(call);
    if (TNI_UNLIKELY(keys & TNI_KEY_TAPE))
        return dispatch_tape(call);
    return call->op->run ? execute_aside(call) : execute_view(call);
}

tn_status tni_call_out(const tni_op *op, tn_tensor *out, tn_tensor **in, const void *attr)
{
    if (tni_check_tensor(op->name[TNI_OUT], 1, "out", out))
        return tni_pending();
    tni_call call = {.op = op, .attr = attr, .in = in, .out = &out, .form = TNI_OUT};
    return tni_dispatch_any(&call);
}

tn_status tni_meta_contiguous(const tni_call *call, tni_meta *meta, int ndim, tn_dtype dtype, tn_device_type device)
{
    tni_record *record = &meta->record;
    record->dtype = (uint8_t)dtype;
    record->device = (uint8_t)device;
    record->ndim = (int8_t)ndim;
    record->sizes = meta->room;
    record->strides = meta->room + TN_MAX_NDIM;
    record->offset = 0;
    record->contiguous = true;
    int64_t bytes;
    if (ndim == 2 && (uint64_t)meta->room[0] < 1u << 31 && (uint64_t)meta->room[1] < 1u << 27) { /* nothing wraps */
        record->numel = meta->room[0] * meta->room[1];
        meta->room[TN_MAX_NDIM] = meta->room[1] > 1 ? meta->room[1] : 1;
        meta->room[TN_MAX_NDIM + 1] = 1;
        return TN_OK;
    }
    if (!tni_numel(meta->room, ndim, &record->numel) ||
        __builtin_mul_overflow(record->numel, tni_itemsize(dtype), &bytes)) {
        char text[160];
        tni_text_shape(text, sizeof text, meta->room, ndim);
        return TNI_FAIL(TN_ERROR_OVERFLOW, tni_call_name(call), "%s of %s takes more bytes than 64 bits count", text,
                        tn_dtype_name(dtype));
    }
    tni_contiguous_strides(meta->room, ndim, meta->room + TN_MAX_NDIM);
    return TN_OK;
}
