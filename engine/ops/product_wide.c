/* See product_wide.h. */
#include "ops/product_wide.h"

#include <string.h>

#include "core/geometry.h"
#include "ops/copy.h"
#include "ops/pointwise.h"

enum { OUT = TNI_MAX_IN, ALIGNMENT = 64 };

/* The same call over contiguous copies in another dtype. The tensors here have no life of their own: they are geometry
 * and a place in the workspace. */
typedef struct wide {
    tni_call call;
    tn_tensor *in[TNI_MAX_IN], *out[1];
    tn_tensor tensors[TNI_MAX_IN + 1];
    tni_storage storages[TNI_MAX_IN + 1];
    int64_t strides[TNI_MAX_IN + 1][TN_MAX_NDIM];
    size_t bytes; /* that the copies take in the workspace, from its beginning */
} wide;

bool tni_is_wide(tn_dtype dtype)
{
    return tni_lane_dtype(tni_lane_of(dtype)) != dtype;
}

/* x's shape over bytes `offset` and following of the workspace; returns the offset behind it. */
static size_t shadow(wide *w, int i, const tn_tensor *x, size_t offset)
{
    tn_tensor *copy = &w->tensors[i];
    memset(copy, 0, sizeof *copy);
    memset(&w->storages[i], 0, sizeof w->storages[i]);
    copy->dtype = (uint8_t)tni_lane_dtype(tni_lane_of((tn_dtype)x->dtype));
    copy->device = x->device;
    copy->keys = x->keys;
    copy->ndim = x->ndim;
    copy->numel = x->numel;
    copy->sizes = x->sizes;
    copy->strides = w->strides[i];
    copy->contiguity = TNI_CONTIGUOUS;
    copy->storage = copy->counter = &w->storages[i];
    tni_contiguous_strides(x->sizes, x->ndim, copy->strides);
    size_t bytes = (size_t)x->numel * (size_t)tni_itemsize((tn_dtype)copy->dtype);
    return offset + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Describes the copies of the call. */
static void begin(wide *w, const tni_call *call)
{
    w->call = *call;
    w->call.in = w->in;
    w->call.out = w->out;
    w->bytes = shadow(w, OUT, call->out[0], 0);
    w->out[0] = &w->tensors[OUT];
    for (int i = 0; i < call->op->n_in; i++) {
        w->in[i] = call->in[i] ? &w->tensors[i] : NULL;
        if (call->in[i])
            w->bytes = shadow(w, i, call->in[i], w->bytes);
    }
}

/* Cuts the workspace up and copies the inputs. */
static void load(wide *w, const tni_call *call, char *workspace)
{
    size_t offset = shadow(w, OUT, call->out[0], 0);
    w->storages[OUT].data = workspace;
    for (int i = 0; i < call->op->n_in; i++) {
        if (!call->in[i])
            continue;
        size_t behind = shadow(w, i, call->in[i], offset);
        w->storages[i].data = workspace + offset;
        tni_copy_elements(workspace + offset, w->strides[i], (tn_dtype)w->tensors[i].dtype, call->in[i]);
        offset = behind;
    }
}

size_t tni_wide_workspace(const tni_call *call, const tni_product_kind *kind)
{
    tni_product product;
    wide w;
    begin(&w, call);
    kind->describe(&product, &w.call);
    return w.bytes + tni_product_workspace(&product);
}

void tni_wide_run(const tni_call *call, const tni_product_kind *kind, char *workspace)
{
    const tn_tensor *out = call->out[0];
    tni_product product;
    wide w;
    begin(&w, call);
    load(&w, call, workspace);
    kind->describe(&product, &w.call);
    kind->run(&w.call, &product, workspace + w.bytes);
    tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, w.out[0]);
}
