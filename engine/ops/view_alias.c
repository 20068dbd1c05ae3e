/* Other handles on the same memory, and tensors that change what they read: alias, detach, data, set_, set_strided_,
 * set_data, resize_, resize_as_. Rules of torch.Tensor's methods of these names; set_strided_ is set_ of a storage. */
#include <tenon/storage.h>
#include <tenon/views.h>

#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/storage.h"
#include "dispatch/op.h"
#include "ops/operators.h"
#include "ops/tape.h"

typedef struct set_attr {
    int64_t offset;
    tni_ints size, stride;
} set_attr;

enum { NOT_GIVEN = -1 }; /* for n of a list */

static const set_attr set_default = {.size.n = NOT_GIVEN, .stride.n = NOT_GIVEN};

typedef struct resize_attr {
    tni_ints size;
    tn_memory_format format; /* or NO_FORMAT */
} resize_attr;

#define NO_FORMAT ((tn_memory_format)(TN_PRESERVE_FORMAT + 1)) /* none was given */

static tn_status alias_infer(tni_call *call, tni_meta *meta)
{
    tni_meta_view(meta, call->in[0]);
    return TN_OK;
}

enum { DETACH, DATA };

static tn_status detach_infer(tni_call *call, tni_meta *meta)
{
    tni_meta_view(meta, call->in[0]);
    meta->view_of = NULL;
    meta->part_of = call->in[0];
    meta->own_counter = call->op->family == DATA;
    return TN_OK;
}

/* Cuts the history, whatever the mode; it counts no version. A view can't leave its base. */
static tn_status detach_alter(tni_call *call, const tni_meta *meta)
{
    tn_tensor *x = call->out[0];
    (void)meta;
    if (x->base)
        return TNI_FAIL(TN_ERROR_INPLACE_VIEW, "detach_",
                        "the tensor is a view, needed one that is none; use tn_detach");
    tni_set_node(x, NULL);
    x->keys &= ~TNI_KEY_TAPE;
    return TN_OK;
}

static tn_status set_strided_infer(tni_call *call, tni_meta *meta);
static tn_status set_strided_alter(tni_call *call, const tni_meta *meta);

/* Without a source: no elements. */
static tn_status set_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *self = call->in[0], *source = call->in[1];
    if (((const set_attr *)call->attr)->size.n != NOT_GIVEN)
        return set_strided_infer(call, meta);
    if (!source) {
        int64_t *sizes, *strides;
        tni_meta_view_dims(meta, self, 1, &sizes, &strides);
        sizes[0] = meta->record.numel = meta->record.offset = 0;
        strides[0] = 1;
        return TN_OK;
    }
    if (self->dtype != source->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, "set_", "the source is %s, the tensor to set %s, needed the same",
                        tn_dtype_name((tn_dtype)source->dtype), tn_dtype_name((tn_dtype)self->dtype));
    tni_meta_view(meta, source);
    return TN_OK;
}

static tn_status set_alter(tni_call *call, const tni_meta *meta)
{
    tn_tensor *self = call->out[0];
    const char *name = tni_call_name(call);
    if (((const set_attr *)call->attr)->size.n != NOT_GIVEN)
        return set_strided_alter(call, meta);
    tni_storage *made = call->in[1] ? NULL : tni_storage_new(0, tni_is_meta(self));
    if (!call->in[1] && !made)
        return TNI_FAIL_MEMORY(name, sizeof *made);
    tn_status status = tni_tensor_assign(name, self, &meta->record, made ? made : call->in[1]->storage);
    if (made)
        tni_storage_release(made);
    if (status == TN_OK)
        tni_written(self);
    return status;
}

/* The dtype may change: nothing differentiates through it. The version is not counted. */
static tn_status set_data_infer(tni_call *call, tni_meta *meta)
{
    tni_meta_view(meta, call->in[1]);
    return TN_OK;
}

static tn_status set_data_alter(tni_call *call, const tni_meta *meta)
{
    tn_tensor *self = call->out[0];
    if (tni_tensor_assign(tni_call_name(call), self, &meta->record, call->in[1]->storage))
        return tni_pending();
    const uint64_t of_data = TNI_KEYS_LAZY | TNI_KEY_INFERENCE;
    self->keys = (self->keys & ~of_data) | (call->in[1]->keys & of_data);
    return TN_OK;
}

static tn_status set_strided_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *self = call->in[0];
    const tn_tensor *source = call->in[1];
    const set_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    int ndim = attr->size.n;
    bool plain = attr->stride.n == NOT_GIVEN; /* contiguous */
    if (!source)
        return TNI_FAIL_NULL(name, 2, "source");
    int64_t *sizes, *strides, bytes;
    if (self->dtype != source->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the source is %s, the tensor to set %s, needed the same",
                        tn_dtype_name((tn_dtype)source->dtype), tn_dtype_name((tn_dtype)self->dtype));
    if (tni_check_sizes(name, attr->size.data, ndim))
        return tni_pending();
    if (!plain && attr->stride.n != ndim)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d sizes and %d strides, needed as many", ndim, attr->stride.n);
    if (!plain && ndim > 0 && !attr->stride.data)
        return TNI_FAIL_NULL(name, 5, "stride");
    if (attr->offset < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "offset %lld, needed 0 or more", (long long)attr->offset);
    if (!tni_mul_i64(attr->offset, tni_itemsize((tn_dtype)self->dtype), &bytes))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "offset %lld is more than 64 bits count in bytes",
                        (long long)attr->offset);
    tni_meta_view_dims(meta, self, ndim, &sizes, &strides);
    for (int d = 0; d < ndim; d++) {
        sizes[d] = attr->size.data[d];
        if (plain)
            continue;
        if (attr->stride.data[d] < 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "stride %lld in dim %d, needed 0 or more",
                            (long long)attr->stride.data[d], d);
        strides[d] = attr->stride.data[d];
    }
    meta->record.offset = attr->offset;
    if (!tni_numel(sizes, ndim, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes count more elements than 64 bits");
    if (plain)
        tni_contiguous_strides(sizes, ndim, strides);
    return TN_OK;
}

/* As in PyTorch the storage grows to what the geometry reaches, unless self has these sizes and strides already. */
static tn_status set_strided_alter(tni_call *call, const tni_meta *meta)
{
    tn_tensor *self = call->out[0];
    tni_storage *storage = call->in[1]->storage;
    size_t had = storage->nbytes, bytes;
    const char *name = tni_call_name(call);
    const tni_record *record = &meta->record;
    bool same = tni_same_dims(record->sizes, record->ndim, self->sizes, self->ndim) &&
                tni_same_dims(record->strides, record->ndim, self->strides, self->ndim);
    if (tni_record_bytes(name, record, &bytes))
        return tni_pending();
    if (same && bytes > had)
        return TNI_FAIL(TN_ERROR_BOUNDS, name, "sizes, strides and offset reach %zu bytes, the storage has %zu", bytes,
                        had);
    if (bytes > had && tni_storage_resize(name, storage, bytes))
        return tni_pending();
    if (tni_tensor_assign(name, self, &meta->record, storage)) {
        storage->nbytes = had; /* Note [Shrunk storage] */
        return tni_pending();
    }
    tni_written(self);
    return TN_OK;
}

/* The geometry of `size`; meta->same where it is x's already and no format is asked for. */
static tn_status resize_to(const char *name, tni_meta *meta, tn_tensor *x, const tni_ints *size,
                           tn_memory_format format)
{
    int64_t *sizes, *strides;
    if (tni_check_sizes(name, size->data, size->n))
        return tni_pending();
    if (format == TN_PRESERVE_FORMAT)
        return TNI_FAIL(TN_ERROR_FORMAT, name, "preserve names no order of dims, needed another memory format");
    if (format != NO_FORMAT && tni_check_format(name, format, size->data, size->n))
        return tni_pending();
    if (format == NO_FORMAT && tni_same_dims(size->data, size->n, x->sizes, x->ndim)) {
        meta->same = x;
        return TN_OK;
    }
    tni_meta_view_dims(meta, x, size->n, &sizes, &strides);
    for (int d = 0; d < size->n; d++)
        sizes[d] = size->data[d];
    if (!tni_numel(sizes, size->n, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes count more elements than 64 bits");
    tni_format_strides(format, sizes, size->n, strides);
    return TN_OK;
}

static tn_status resize_infer(tni_call *call, tni_meta *meta)
{
    const resize_attr *attr = call->attr;
    return resize_to("resize_", meta, call->in[0], &attr->size, attr->format);
}

static tn_status resize_as_infer(tni_call *call, tni_meta *meta)
{
    const tni_ints size = {call->in[1]->sizes, call->in[1]->ndim};
    return resize_to("resize_as_", meta, call->in[0], &size, NO_FORMAT);
}

static tn_status resize_alter(tni_call *call, const tni_meta *meta)
{
    tn_tensor *x = call->out[0];
    const tni_record *record = &meta->record;
    const char *name = tni_call_name(call);
    if (meta->same) /* as in PyTorch neither the same sizes nor a memory format alone count a version */
        return TN_OK;
    bool other_sizes = !tni_same_dims(record->sizes, record->ndim, x->sizes, x->ndim);
    tni_geometry old;
    size_t bytes;
    if (tni_tensor_regrid(name, x, record->sizes, record->strides, record->ndim, &old, &bytes))
        return tni_pending();
    if (bytes > x->storage->nbytes && tni_storage_resize(name, x->storage, bytes)) {
        tni_tensor_restore(x, &old);
        return tni_pending();
    }
    tni_geometry_drop(&old);
    if (other_sizes)
        tni_written(x);
    return TN_OK;
}

/* What a tensor reads after set_ is another's. As in PyTorch the call is recorded and the walk refuses it. */
static void set_vjp(tni_vjp *v)
{
    TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "backward", "\"%s\" has no derivative", v->node->op->name[TNI_IN_PLACE]);
}

static const tni_derivative alias_derivative = {.linear = true, .vjp = tni_vjp_pass};
static const tni_derivative set_derivative = {.name = "NotImplemented", .vjp = set_vjp};

#define ONE_TENSOR .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1

const tni_op tni_op_alias = {
    .name = TNI_NAMES_NEW(alias), ONE_TENSOR, .infer = alias_infer, .derivative = &alias_derivative,
    .samples = "[3,4] | [] | [0,2]"};

const tni_op tni_op_detach = {
    .name = TNI_NAMES_NEW_IN_PLACE(detach), ONE_TENSOR, .infer = detach_infer, .alter = detach_alter, .family = DETACH,
    .derivative = &tni_detaching,
    .samples = "[3,4] | [] | [0,2]"};

const tni_op tni_op_data = {
    .name = TNI_NAMES_NEW(data), ONE_TENSOR, .infer = detach_infer, .family = DATA, .derivative = &tni_constant,
    .samples = "[3,4] | [] | [0,2]"};

#define TWO_TENSORS .params = {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)}, .n_params = 2, .n_in = 2, .n_out = 1

const tni_op tni_op_set = {
    .name = TNI_NAMES_IN_PLACE(set),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL_TENSOR("source", 1),
               TNI_OPTIONAL("storage_offset", 'I', set_attr, offset),
               TNI_OPTIONAL("size", 'L', set_attr, size), TNI_OPTIONAL("stride", 'L', set_attr, stride)},
    .n_params = 5, .n_in = 2, .n_out = 1, .optional_in = 2, .attr_bytes = sizeof(set_attr),
    .attr_default = &set_default, .infer = set_infer, .alter = set_alter, .derivative = &set_derivative,
    .samples = "[3,4] [2,5] | [] [3] | [0] [2,3,1,1,2,1] | [3,4] | [1] [12] 2 (2,3)"};

const tni_op tni_op_set_data = {
    .name = {NULL, "set_data", NULL}, TWO_TENSORS, .infer = set_data_infer, .alter = set_data_alter,
    .derivative = &tni_replacing_data,
    .samples = "[3,4] [2,5] | [] [3] | [0] [2,3]"};

const tni_op tni_op_set_strided = {
    .name = TNI_NAMES_IN_PLACE(set_strided),
    .params = {TNI_TENSOR("self", 0), TNI_TENSOR("source", 1), TNI_ATTR("storage_offset", 'I', set_attr, offset),
               TNI_ATTR("size", 'L', set_attr, size), TNI_ATTR("stride", 'L', set_attr, stride)},
    .n_params = 5, .n_in = 2, .n_out = 1, .attr_bytes = sizeof(set_attr), .infer = set_strided_infer,
    .alter = set_strided_alter, .derivative = &set_derivative,
    .samples = "[1] [12] 2 (2,3) (4,1) | [3] [2] 0 () () | [3] [2,2] 9 (0) (5) | ! [1] [12] -1 (2) (1) | "
        "! [1] [12] 0 (2) (-1) | ! [1] [12] 0 (-2) (1) | ! [1] [12] 0 (2) (1,1)"};

static const resize_attr no_format = {.format = NO_FORMAT};

const tni_op tni_op_resize = {
    .name = TNI_NAMES_IN_PLACE(resize),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', resize_attr, size),
               TNI_OPTIONAL("memory_format", 'M', resize_attr, format)},
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(resize_attr), .attr_default = &no_format,
    .infer = resize_infer, .alter = resize_alter, .derivative = &tni_resizing,
    .samples = "[3,4] (2,2) | [3,4] (3,4) | [] (5) | [6] () | [6] (0,3) | [2,3,4,5] (2,3,4,5) 1 | "
        "! [3] (-1) | ! [3] (3) 1 | ! [0] (4294967296,4294967296) | ! [3] (3) 3"};

const tni_op tni_op_resize_as = {
    .name = TNI_NAMES_IN_PLACE(resize_as), TWO_TENSORS, .infer = resize_as_infer, .alter = resize_alter,
    .derivative = &tni_resizing,
    .samples = "[3,4] [2,2] | [2] [3,4] | [] [5] | [6] []"};

tn_tensor *tn_alias(tn_tensor *x)
{
    return tni_call_new(&tni_op_alias, &x, NULL);
}

tn_tensor *tn_detach(tn_tensor *x)
{
    return tni_call_new(&tni_op_detach, &x, NULL);
}

tn_status tn_detach_(tn_tensor *x)
{
    return tni_call_in_place(&tni_op_detach, &x, NULL);
}

tn_tensor *tn_tensor_data(tn_tensor *x)
{
    return tni_call_new(&tni_op_data, &x, NULL);
}

tn_status tn_set_(tn_tensor *self, tn_tensor *other)
{
    tn_tensor *in[2] = {self, other};
    if (self && !other && !tni_pending())
        return TNI_FAIL_NULL("set_", 2, "other");
    return tni_call_in_place(&tni_op_set, in, &set_default);
}

tn_status tn_set_empty_(tn_tensor *self)
{
    tn_tensor *in[2] = {self, NULL};
    return tni_call_in_place(&tni_op_set, in, &set_default);
}

tn_status tn_set_data(tn_tensor *self, tn_tensor *other)
{
    tn_tensor *in[2] = {self, other};
    return tni_call_in_place(&tni_op_set_data, in, NULL);
}

tn_status tn_set_strided_(tn_tensor *self, tn_tensor *source, int64_t offset, const int64_t *size,
                          const int64_t *stride, int ndim)
{
    tn_tensor *in[2] = {self, source};
    const set_attr attr = {offset, {size, ndim}, {stride, ndim}};
    return tni_call_in_place(&tni_op_set_strided, in, &attr);
}

tn_status tn_set_storage_(tn_tensor *self, tn_storage *storage, int64_t offset, const int64_t *size,
                          const int64_t *stride, int ndim)
{
    const char *name = "set_storage_";
    static const int64_t none = 0;
    if (tni_pending())
        return tni_pending();
    if (!self || !storage)
        return TNI_FAIL_NULL(name, self ? 2 : 1, self ? "storage" : "self");
    if (ndim < 0)
        return tni_check_sizes(name, size, ndim);
    tn_scope scope = tn_scope_begin();
    tn_tensor *source = tn_from_storage(storage, 0, &none, NULL, 1, (tn_dtype)self->dtype);
    tn_tensor *in[2] = {self, source};
    const set_attr attr = {offset, {size, ndim}, {stride, stride ? ndim : NOT_GIVEN}};
    tn_status status = source ? tni_call_in_place(&tni_op_set_strided, in, &attr) : tni_pending();
    tn_scope_end(scope);
    return status;
}

tn_status tn_resize_(tn_tensor *self, const int64_t *size, int ndim)
{
    const resize_attr attr = {{size, ndim}, NO_FORMAT};
    return tni_call_in_place(&tni_op_resize, &self, &attr);
}

tn_status tn_resize_format_(tn_tensor *self, const int64_t *size, int ndim, tn_memory_format format)
{
    const resize_attr attr = {{size, ndim}, format == NO_FORMAT ? (tn_memory_format)(NO_FORMAT + 1) : format};
    return tni_call_in_place(&tni_op_resize, &self, &attr);
}

tn_status tn_resize_as_(tn_tensor *self, tn_tensor *other)
{
    tn_tensor *in[2] = {self, other};
    return tni_call_in_place(&tni_op_resize_as, in, NULL);
}
