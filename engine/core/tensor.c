/* Making and ending tensors, and what can be asked of them. */
#include "core/tensor.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"

static void tensor_destroy(void *object);

/* bytes 0: tensor_destroy frees the block. */
static const tn_object_class tensor_class = {.name = "tensor", .bytes = 0, .destroy = tensor_destroy};

static _Thread_local tn_device default_device = {TN_CPU, 0};

static inline void free_dims(tn_tensor *x)
{
    if (TNI_UNLIKELY(x->sizes != x->inline_dims))
        tni_free(x->sizes, 2 * (size_t)x->ndim * sizeof *x->sizes);
}

static void tensor_destroy(void *object)
{
    tn_tensor *x = object;
    tni_storage *storage = x->storage;
    if (TNI_UNLIKELY(x->autograd != NULL))
        x->autograd->destroy(x->autograd);
    if (TNI_UNLIKELY(x->counter != storage))
        tni_storage_release(x->counter);
    free_dims(x);
    if (x->base)
        tni_object_release(&x->base->object);
    if (TNI_UNLIKELY(!x->has_inner)) {
        tni_free(x, sizeof *x);
        tni_storage_release(storage);
        return;
    }
    /* x ends with its block: Note [One block] */
    tni_storage *inner = tni_inner_storage(x);
    if (TNI_UNLIKELY(storage != inner))
        tni_storage_release(storage);
    if (!tni_unref(&inner->object.references))
        return;
    if (TNI_LIKELY(inner->data == tni_storage_inline_data(inner)))
        tni_free(x, inner->of.block);
    else
        tni_object_destroy(&inner->object);
}

/* Fills a tensor's record; its storage is up to the caller. The dims find room inline, or in `dims` (2 ndim numbers). */
static inline void set_record(tn_tensor *x, const tni_record *record, int64_t *dims)
{
    int ndim = record->ndim;
    tni_object_init(&x->object, &tensor_class);
    x->keys = TNI_LIKELY(record->device == TN_CPU) ? TNI_KEY_CPU : TNI_KEY_META;
    x->offset = record->offset;
    x->numel = record->numel;
    x->sizes = dims;
    x->strides = dims + ndim;
    x->base = NULL;
    x->autograd = NULL;
    x->dtype = (uint8_t)record->dtype;
    x->device = (uint8_t)record->device;
    x->ndim = (int8_t)ndim;
    x->creation = TNI_CREATED_NORMALLY;
    for (int d = 0; d < ndim; d++) {
        dims[d] = record->sizes[d];
        dims[ndim + d] = record->strides[d];
    }
    x->contiguous = record->contiguous || tni_is_contiguous(dims, dims + ndim, ndim);
}

/* A block with room for a tensor and `more` bytes behind it, and for the dims of a high rank (*dims; else NULL). */
static inline tn_tensor *new_block(const char *function, int ndim, size_t bytes, int64_t **dims)
{
    if (TNI_UNLIKELY(!tni_scope_room(function)))
        return NULL;
    tn_tensor *x = tni_alloc(bytes);
    *dims = x ? x->inline_dims : NULL;
    if (x && TNI_UNLIKELY(ndim > TNI_INLINE_NDIM)) {
        *dims = tni_alloc(2 * (size_t)ndim * sizeof **dims);
        if (!*dims) {
            tni_free(x, bytes);
            x = NULL;
        }
    }
    if (TNI_UNLIKELY(!x))
        TNI_FAIL_MEMORY(function, bytes);
    return x;
}

/* Bytes that the geometry reaches, from the beginning of the storage. */
static bool needed_bytes(const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset, int64_t itemsize, size_t *bytes)
{
    int64_t extent, total;
    if (!tni_extent(sizes, strides, ndim, &extent))
        return false;
    if (extent == 0) {
        *bytes = 0;
        return true;
    }
    if (!tni_add_i64(extent, offset, &extent) || !tni_mul_i64(extent, itemsize, &total))
        return false;
    *bytes = (size_t)total;
    return true;
}

static __attribute__((noinline, cold)) void fail_bytes(const char *function, const tni_record *record)
{
    char text[160];
    tni_text_shape(text, sizeof text, record->sizes, record->ndim);
    TNI_FAIL(TN_ERROR_OVERFLOW, function, "%s of %s takes more bytes than 64 bits count", text, tn_dtype_name(record->dtype));
}

/* The tensor whose storage stands apart: large data, or none on meta. */
static __attribute__((noinline)) tn_tensor *new_apart(const char *function, const tni_record *record, size_t bytes)
{
    int64_t *dims;
    tn_tensor *x = new_block(function, record->ndim, sizeof *x, &dims);
    if (!x)
        return NULL;
    set_record(x, record, dims);
    x->has_inner = false;
    x->storage = x->counter = tni_storage_new(bytes, record->device == TN_META);
    if (!x->storage) {
        free_dims(x);
        tni_free(x, sizeof *x);
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_scope_hold(&x->object);
    return x;
}

tn_tensor *tni_tensor_new(const char *function, const tni_record *record)
{
    size_t bytes;
    int64_t itemsize = tni_itemsize(record->dtype);
    bool fits = record->contiguous ? tni_mul_size((size_t)record->numel, (size_t)itemsize, &bytes)
                                   : needed_bytes(record->sizes, record->strides, record->ndim, record->offset, itemsize, &bytes);
    if (TNI_UNLIKELY(!fits)) {
        fail_bytes(function, record);
        return NULL;
    }
    if (TNI_UNLIKELY(bytes > TNI_STORAGE_INLINE || record->device != TN_CPU))
        return new_apart(function, record, bytes);
    int64_t *dims;
    size_t block = TNI_INNER_OFFSET + sizeof(tni_storage) + bytes;
    tn_tensor *x = new_block(function, record->ndim, block, &dims);
    if (TNI_UNLIKELY(!x))
        return NULL;
    set_record(x, record, dims);
    x->has_inner = true;
    tni_storage *storage = tni_inner_storage(x);
    tni_storage_init(storage, &tni_inner_storage_class, tni_storage_inline_data(storage), bytes, block);
    x->storage = x->counter = storage;
    tni_scope_hold(&x->object);
    return x;
}

tn_tensor *tni_tensor_view(const char *function, tn_tensor *of, const tni_record *record)
{
    int64_t *dims;
    tn_tensor *x = new_block(function, record->ndim, sizeof *x, &dims);
    if (TNI_UNLIKELY(!x))
        return NULL;
    set_record(x, record, dims);
    x->has_inner = false;
    x->keys = of->keys;
    x->storage = of->storage;
    tni_ref(&x->storage->object.references);
    x->counter = of->counter;
    if (TNI_UNLIKELY(x->counter != x->storage))
        tni_ref(&x->counter->object.references);
    x->base = of->base ? of->base : of;
    tni_ref(&x->base->object.references);
    tni_scope_hold(&x->object);
    return x;
}

tn_status tni_tensor_resize(const char *function, tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim)
{
    size_t bytes;
    int64_t numel;
    tni_record record = {.dtype = (tn_dtype)x->dtype, .ndim = ndim, .sizes = sizes};
    if (!tni_numel(sizes, ndim, &numel) ||
        !needed_bytes(sizes, strides, ndim, x->offset, tni_itemsize(record.dtype), &bytes)) {
        fail_bytes(function, &record);
        return tni_pending();
    }
    int64_t *dims = x->inline_dims;
    if (ndim > TNI_INLINE_NDIM) {
        dims = tni_alloc(2 * (size_t)ndim * sizeof *dims);
        if (!dims)
            return TNI_FAIL_MEMORY(function, 2 * (size_t)ndim * sizeof *dims);
    }
    if (bytes > x->storage->nbytes && !tni_storage_resize(x->storage, bytes)) {
        if (dims != x->inline_dims)
            tni_free(dims, 2 * (size_t)ndim * sizeof *dims);
        return TNI_FAIL_MEMORY(function, bytes);
    }
    free_dims(x);
    x->sizes = dims;
    x->strides = dims + ndim;
    x->ndim = (int8_t)ndim;
    memmove(x->sizes, sizes, (size_t)ndim * sizeof *dims);
    memmove(x->strides, strides, (size_t)ndim * sizeof *dims);
    x->numel = numel;
    x->contiguous = (uint8_t)tni_is_contiguous(x->sizes, x->strides, ndim);
    return TN_OK;
}

void tni_tensor_unmake(tn_tensor *x)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    stack->used--; /* x is the newest: nothing was made since */
    tni_object_release(&x->object);
}

tn_status tni_check_tensor(const char *function, int number, const char *name, const tn_tensor *x)
{
    if (TNI_UNLIKELY(tni_pending()))
        return tni_pending();
    return TNI_LIKELY(x != NULL) ? TN_OK : TNI_FAIL_NULL(function, number, name);
}

tn_status tn_set_default_device(tn_device device)
{
    if (tni_pending())
        return tni_pending();
    if (device.type != TN_CPU && device.type != TN_META)
        return TNI_FAIL(TN_ERROR_DEVICE, "set_default_device", "found %s:%d, needed cpu or meta: there is no other device here",
                        tn_device_type_name(device.type), device.index);
    default_device = device;
    return TN_OK;
}

tn_device tn_get_default_device(void)
{
    return default_device;
}

static tn_tensor *make(const char *function, const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype, tn_device device)
{
    int64_t contiguous[TN_MAX_NDIM], numel;
    if (tni_pending() || tni_check_sizes(function, size, ndim))
        return NULL;
    if (!tni_dtype_valid(dtype)) {
        TNI_FAIL(TN_ERROR_DTYPE, function, "%d is no dtype", (int)dtype);
        return NULL;
    }
    tni_record record = {.dtype = dtype, .device = device.type, .ndim = ndim, .sizes = size, .strides = stride};
    if (!tni_numel(size, ndim, &numel)) {
        fail_bytes(function, &record);
        return NULL;
    }
    record.numel = numel;
    if (!stride) {
        tni_contiguous_strides(size, ndim, contiguous);
        record.strides = contiguous;
        record.contiguous = true;
        int64_t span = 1;
        for (int d = 0; d < ndim; d++)
            span *= size[d] > 1 ? size[d] : 1;
        if (!tni_mul_i64(span, tni_itemsize(dtype), &span)) { /* even without elements the strides must be countable in bytes */
            fail_bytes(function, &record);
            return NULL;
        }
    }
    return tni_tensor_new(function, &record);
}

tn_tensor *tn_empty(const int64_t *size, int ndim, tn_dtype dtype)
{
    return make("empty", size, NULL, ndim, dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : dtype, default_device);
}

tn_tensor *tn_empty_strided(const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype)
{
    const char *function = "empty_strided";
    if (tni_pending())
        return NULL;
    if (ndim > 0 && !stride) {
        TNI_FAIL_NULL(function, 2, "stride");
        return NULL;
    }
    for (int d = 0; d < ndim && d < TN_MAX_NDIM; d++) {
        if (stride[d] < 0) {
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "stride %lld in dim %d, needed 0 or more", (long long)stride[d], d);
            return NULL;
        }
    }
    int64_t none = 0;
    return make(function, size, stride ? stride : &none, ndim, dtype, default_device);
}

tn_tensor *tn_from_array(const void *data, const int64_t *size, int ndim, tn_dtype dtype)
{
    const tn_device cpu = {TN_CPU, 0};
    tn_tensor *x = make("from_array", size, NULL, ndim, dtype, cpu);
    if (!x || x->numel == 0)
        return x;
    if (!data) {
        tni_tensor_unmake(x);
        TNI_FAIL_NULL("from_array", 1, "data");
        return NULL;
    }
    memcpy(x->storage->data, data, x->storage->nbytes);
    return x;
}
