/* See product_wide.h. */
#include "ops/product_wide.h"

#include <string.h>

#include "core/geometry.h"
#include "ops/copy.h"
#include "ops/pointwise.h"

enum { OUT = TNI_MAX_IN, ALIGNMENT = 64 };

bool tni_is_wide(tn_dtype dtype)
{
    return tni_lane_dtype(tni_lane_of(dtype)) != dtype;
}

/* x's shape over bytes `offset` and following of the workspace; returns the offset behind it. */
static size_t shadow(tni_wide *wide, int i, const tn_tensor *x, size_t offset)
{
    tn_tensor *copy = &wide->tensors[i];
    memset(copy, 0, sizeof *copy);
    memset(&wide->storages[i], 0, sizeof wide->storages[i]);
    copy->dtype = (uint8_t)tni_lane_dtype(tni_lane_of((tn_dtype)x->dtype));
    copy->device = x->device;
    copy->keys = x->keys;
    copy->ndim = x->ndim;
    copy->numel = x->numel;
    copy->sizes = x->sizes;
    copy->strides = wide->strides[i];
    copy->contiguity = TNI_CONTIGUOUS;
    copy->storage = copy->counter = &wide->storages[i];
    tni_contiguous_strides(x->sizes, x->ndim, copy->strides);
    size_t bytes = (size_t)x->numel * (size_t)tni_itemsize((tn_dtype)copy->dtype);
    return offset + (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void tni_wide_begin(tni_wide *wide, const tni_call *call)
{
    wide->call = *call;
    wide->call.in = wide->in;
    wide->call.out = wide->out;
    wide->bytes = shadow(wide, OUT, call->out[0], 0);
    wide->out[0] = &wide->tensors[OUT];
    for (int i = 0; i < call->op->n_in; i++) {
        wide->in[i] = call->in[i] ? &wide->tensors[i] : NULL;
        if (call->in[i])
            wide->bytes = shadow(wide, i, call->in[i], wide->bytes);
    }
}

void tni_wide_load(tni_wide *wide, const tni_call *call, char *workspace)
{
    size_t offset = shadow(wide, OUT, call->out[0], 0);
    wide->storages[OUT].data = workspace;
    for (int i = 0; i < call->op->n_in; i++) {
        if (!call->in[i])
            continue;
        size_t behind = shadow(wide, i, call->in[i], offset);
        wide->storages[i].data = workspace + offset;
        tni_copy_elements(workspace + offset, wide->strides[i], (tn_dtype)wide->tensors[i].dtype, call->in[i]);
        offset = behind;
    }
}

void tni_wide_store(const tni_wide *wide, const tni_call *call)
{
    const tn_tensor *out = call->out[0];
    tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, wide->out[0]);
}
