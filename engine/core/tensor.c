/* Making tensors, and what can be asked of them. core/tensor_end.c ends them. */
#include "core/tensor.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/device.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/tensor_make.h"

bool tni_find_contiguity(const tn_tensor *x)
{
    bool contiguous = tni_is_contiguous(x->sizes, x->strides, x->ndim);
    __atomic_store_n((uint8_t *)&x->contiguity, contiguous ? TNI_CONTIGUOUS : TNI_NOT_CONTIGUOUS, __ATOMIC_RELAXED);
    return contiguous;
}

/* A block with room for a tensor of `bytes` in all, and for the dims of a high rank (*dims; else inline). */
static inline tn_tensor *new_block(const char *function, int ndim, size_t bytes, int64_t **dims)
{
    if (!tni_scope_room(function))
        return NULL;
    tn_tensor *x = tni_alloc(bytes);
    *dims = x ? x->inline_dims : NULL;
    if (x && ndim > TNI_INLINE_NDIM) {
        *dims = tni_alloc(2 * (size_t)ndim * sizeof **dims);
        if (!*dims) {
            tni_free(x, bytes);
            x = NULL;
        }
    }
    if (!x)
        TNI_FAIL_MEMORY(function, bytes);
    return x;
}

/* Bytes that the geometry reaches, from the beginning of the storage. */
static bool needed_bytes(const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset, int64_t itemsize,
                         size_t *bytes)
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
    TNI_FAIL(TN_ERROR_OVERFLOW, function, "%s of %s takes more bytes than 64 bits count", text,
             tn_dtype_name(record->dtype));
}

/* All of a tensor but its storage, and in no scope yet. */
static tn_tensor *new_head(const char *function, const tni_record *record)
{
    int64_t *dims;
    tn_tensor *x = new_block(function, record->ndim, sizeof *x, &dims);
    if (!x)
        return NULL;
    tni_set_record(x, record, dims,
                   tni_traits_of(record->dtype, record->device, record->ndim, record->contiguous, false, false));
    x->base = NULL;
    x->keys = record->device == TN_META ? TNI_KEY_META : TNI_KEY_CPU;
    return x;
}

/* The tensor whose storage stands apart: large data, or none on meta. */
static tn_tensor *new_apart(const char *function, const tni_record *record, size_t bytes)
{
    tn_tensor *x = new_head(function, record);
    if (!x)
        return NULL;
    x->storage = x->counter = tni_storage_new(bytes, record->device == TN_META);
    if (!x->storage) {
        tni_free_dims(x);
        tni_free(x, sizeof *x);
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_scope_hold(&x->object);
    return x;
}

tn_tensor *tni_tensor_over(const char *function, const tni_record *record, tni_storage *storage)
{
    tn_tensor *x = new_head(function, record);
    if (!x)
        return NULL;
    tni_ref(&storage->object.references);
    x->storage = x->counter = storage;
    tni_scope_hold(&x->object);
    return x;
}

static inline void set_inner(tn_tensor *x, size_t bytes, size_t block)
{
    x->keys = TNI_KEY_CPU;
    tni_storage *storage = tni_inner_storage(x);
    tni_storage_init_inner(storage, bytes, block);
    x->base = NULL;
    x->storage = x->counter = storage;
    tni_scope_hold(&x->object);
}

/* The tensor with its storage in one block, its data apart. */
static tn_tensor *new_beside(const char *function, const tni_record *record, size_t bytes)
{
    const size_t block = TNI_INNER_OFFSET + sizeof(tni_storage);
    int64_t *dims;
    tn_tensor *x = new_block(function, record->ndim, block, &dims);
    char *data = x ? tni_alloc(bytes) : NULL;
    if (!data) {
        if (!x)
            return NULL;
        if (dims != x->inline_dims)
            tni_free(dims, 2 * (size_t)record->ndim * sizeof *dims);
        tni_free(x, block);
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_set_record(x, record, dims,
                   tni_traits_of(record->dtype, TN_CPU, record->ndim, record->contiguous, true, false));
    set_inner(x, bytes, block);
    x->storage->flags = 0;
    x->storage->data = data;
    x->storage->capacity = bytes;
    return x;
}

static TNI_ASIDE tn_tensor *new_any(const char *function, const tni_record *record)
{
    size_t bytes;
    int64_t itemsize = tni_itemsize(record->dtype);
    bool fits = record->contiguous
                    ? tni_mul_size((size_t)record->numel, (size_t)itemsize, &bytes)
                    : needed_bytes(record->sizes, record->strides, record->ndim, record->offset, itemsize, &bytes);
    if (!fits) {
        fail_bytes(function, record);
        return NULL;
    }
    if (bytes > TNI_STORAGE_BESIDE || record->device != TN_CPU)
        return new_apart(function, record, bytes);
    if (bytes > TNI_STORAGE_INLINE)
        return new_beside(function, record, bytes);
    int64_t *dims;
    size_t block = TNI_INNER_OFFSET + sizeof(tni_storage) + bytes;
    tn_tensor *x = new_block(function, record->ndim, block, &dims);
    if (!x)
        return NULL;
    tni_set_record(x, record, dims,
                   tni_traits_of(record->dtype, TN_CPU, record->ndim, record->contiguous, true, false));
    set_inner(x, bytes, block);
    return x;
}

/* The common kind is made here, of a block that the thread has kept: contiguous, of low rank, with little data. Equal
 * to new_any. */
tn_tensor *tni_tensor_new(const char *function, const tni_record *record)
{
    const tni_scope_stack *stack = tni_this_thread.scopes;
    size_t bytes = (size_t)record->numel * (size_t)tni_itemsize(record->dtype);
    if (TNI_UNLIKELY(!record->contiguous || record->ndim > TNI_INLINE_NDIM ||
                     (size_t)record->numel > TNI_STORAGE_INLINE || bytes > TNI_STORAGE_INLINE ||
                     record->device != TN_CPU || !stack || stack->used >= stack->capacity))
        return new_any(function, record);
    size_t block = TNI_INNER_OFFSET + sizeof(tni_storage) + bytes;
    tn_tensor *x = tni_alloc_kept(block);
    if (TNI_UNLIKELY(!x))
        return new_any(function, record);
    tni_set_record(x, record, x->inline_dims, tni_traits_of(record->dtype, TN_CPU, record->ndim, true, true, false));
    set_inner(x, bytes, block);
    return x;
}

static TNI_ASIDE tn_tensor *like_any(const char *function, const tn_tensor *like, tn_dtype dtype)
{
    int64_t strides[TN_MAX_NDIM];
    const tni_record record = {.dtype = (uint8_t)dtype, .device = like->device, .ndim = like->ndim,
                               .sizes = like->sizes, .strides = strides, .numel = like->numel, .contiguous = true};
    tni_contiguous_strides(like->sizes, like->ndim, strides);
    return new_any(function, &record);
}

/* As tni_tensor_new, straight from the other tensor's record. */
tn_tensor *tni_tensor_like(const char *function, const tn_tensor *like, tn_dtype dtype)
{
    const tni_scope_stack *stack = tni_this_thread.scopes;
    size_t bytes = (size_t)like->numel * (size_t)tni_itemsize(dtype);
    int ndim = like->ndim;
    if (TNI_UNLIKELY(ndim > TNI_INLINE_NDIM || (size_t)like->numel > TNI_STORAGE_INLINE || bytes > TNI_STORAGE_INLINE ||
                     like->device != TN_CPU || !stack || stack->used >= stack->capacity))
        return like_any(function, like, dtype);
    size_t block = TNI_INNER_OFFSET + sizeof(tni_storage) + bytes;
    tn_tensor *x = tni_alloc_kept(block);
    if (TNI_UNLIKELY(!x))
        return like_any(function, like, dtype);
    tni_set_fields(x, x->inline_dims, ndim, tni_traits_of((uint8_t)dtype, TN_CPU, ndim, true, true, false));
    x->offset = 0;
    x->numel = like->numel;
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        x->sizes[d] = like->sizes[d];
        x->strides[d] = stride;
        stride *= like->sizes[d] > 1 ? like->sizes[d] : 1;
    }
    set_inner(x, bytes, block);
    return x;
}

tn_tensor *tni_tensor_view(const char *function, tn_tensor *of, const tni_record *record)
{
    int64_t *dims;
    tn_tensor *x = new_block(function, record->ndim, sizeof *x, &dims);
    if (!x)
        return NULL;
    memcpy(dims, record->sizes, (size_t)record->ndim * sizeof *dims);
    memcpy(dims + record->ndim, record->strides, (size_t)record->ndim * sizeof *dims);
    tni_set_view(x, of, record, dims);
    return x;
}

tn_tensor *tni_zero_tensor(const char *function, const tni_record *record)
{
    tni_record apart = *record;
    apart.device = TN_META; /* a storage without memory */
    tn_tensor *x = tni_tensor_new(function, &apart);
    if (x) {
        x->device = TN_CPU;
        x->keys = TNI_KEY_CPU | TNI_KEY_ZERO;
    }
    return tni_mark_made(x);
}

tn_tensor *tni_tensor_sharing(const char *function, tn_tensor *of, const tni_record *record, bool own_counter)
{
    int64_t *dims;
    tni_storage *counter = own_counter ? tni_storage_new(0, false) : of->counter;
    if (!counter) {
        TNI_FAIL_MEMORY(function, sizeof *counter);
        return NULL;
    }
    tn_tensor *x = new_block(function, record->ndim, sizeof *x, &dims);
    if (!x) {
        if (own_counter)
            tni_storage_release(counter);
        return NULL;
    }
    tni_set_record(x, record, dims, tni_traits_of(record->dtype, record->device, record->ndim, false, false, false));
    x->base = NULL;
    x->keys = (of->keys & ~(TNI_KEY_TAPE | TNI_KEY_DUAL | TNI_KEY_ALOOF)) ^ (uint64_t)record->toggle << TNI_CONJ_BIT;
    x->storage = of->storage;
    x->counter = counter;
    tni_ref(&x->storage->object.references);
    if (!own_counter && counter != x->storage)
        tni_ref(&counter->object.references);
    tni_scope_hold(&x->object);
    return x;
}

/* Takes the dims out of x, which needs others at once. */
static void take_geometry(tn_tensor *x, tni_geometry *old)
{
    old->block = x->sizes == x->inline_dims ? NULL : x->sizes;
    old->numel = x->numel;
    old->ndim = x->ndim;
    old->contiguity = x->contiguity;
    if (!old->block)
        memcpy(old->inline_dims, x->inline_dims, sizeof old->inline_dims);
}

void tni_tensor_restore(tn_tensor *x, tni_geometry *old)
{
    tni_free_dims(x);
    if (!old->block)
        memcpy(x->inline_dims, old->inline_dims, sizeof x->inline_dims);
    x->sizes = old->block ? old->block : x->inline_dims;
    x->strides = x->sizes + old->ndim;
    x->ndim = (int8_t)old->ndim;
    x->numel = old->numel;
    x->contiguity = old->contiguity;
    old->block = NULL;
}

void tni_geometry_drop(tni_geometry *old)
{
    if (old->block)
        tni_free(old->block, 2 * (size_t)old->ndim * sizeof *old->block);
    old->block = NULL;
}

tn_status tni_tensor_regrid(const char *function, tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim,
                            tni_geometry *old, size_t *bytes)
{
    int64_t numel;
    tni_record record = {.dtype = x->dtype, .ndim = (int8_t)ndim, .sizes = sizes};
    if (!tni_numel(sizes, ndim, &numel) ||
        !needed_bytes(sizes, strides, ndim, x->offset, tni_itemsize(record.dtype), bytes)) {
        fail_bytes(function, &record);
        return tni_pending();
    }
    int64_t *dims = x->inline_dims;
    if (ndim > TNI_INLINE_NDIM) {
        dims = tni_alloc(2 * (size_t)ndim * sizeof *dims);
        if (!dims)
            return TNI_FAIL_MEMORY(function, 2 * (size_t)ndim * sizeof *dims);
    }
    take_geometry(x, old);
    x->sizes = dims;
    x->strides = dims + ndim;
    x->ndim = (int8_t)ndim;
    memmove(x->sizes, sizes, (size_t)ndim * sizeof *dims);
    memmove(x->strides, strides, (size_t)ndim * sizeof *dims);
    x->numel = numel;
    x->contiguity = TNI_CONTIGUITY_UNKNOWN;
    return TN_OK;
}

/* x reads `storage` from now on and keeps its counter. */
static void replace_storage(tn_tensor *x, tni_storage *storage)
{
    tni_storage *old = x->storage;
    if (storage == old)
        return;
    if (x->borrows) { /* its base kept both */
        tni_ref(&x->counter->object.references);
        x->borrows = false;
    }
    if (storage != x->counter)
        tni_ref(&storage->object.references);
    x->storage = storage;
    if (old != x->counter)
        tni_storage_release(old);
}

void tni_tensor_leave_base(tn_tensor *x)
{
    tn_tensor *base = x->base;
    if (!base)
        return;
    if (x->borrows) /* counter and storage are one, which the base kept */
        tni_ref(&x->storage->object.references);
    x->borrows = false;
    x->base = NULL;
    x->creation = TNI_CREATED_NORMALLY;
    tni_object_release(&base->object);
}

tn_status tni_tensor_assign(const char *function, tn_tensor *x, const tni_record *record, tni_storage *storage)
{
    int ndim = record->ndim;
    int64_t *block = NULL, *old_block = x->sizes == x->inline_dims ? NULL : x->sizes;
    size_t old_bytes = 2 * (size_t)x->ndim * sizeof *block;
    if (storage && (x->keys & TNI_KEY_ZERO || (!storage->data && !tni_is_meta(x))))
        return TNI_FAIL(TN_ERROR_STATE, function, "a zero tensor has no memory to share, needed tn_clone of it");
    if (ndim > TNI_INLINE_NDIM) {
        block = tni_alloc(2 * (size_t)ndim * sizeof *block);
        if (!block)
            return TNI_FAIL_MEMORY(function, 2 * (size_t)ndim * sizeof *block);
    }
    int64_t dims[2 * TN_MAX_NDIM]; /* the record may lie where the new dims go */
    memcpy(dims, record->sizes, (size_t)ndim * sizeof *dims);
    memcpy(dims + ndim, record->strides, (size_t)ndim * sizeof *dims);
    x->sizes = block ? block : x->inline_dims;
    x->strides = x->sizes + ndim;
    memcpy(x->sizes, dims, 2 * (size_t)ndim * sizeof *dims);
    x->ndim = (int8_t)ndim;
    x->offset = record->offset;
    x->numel = record->numel;
    x->dtype = (uint8_t)record->dtype;
    x->contiguity = TNI_CONTIGUITY_UNKNOWN;
    if (old_block)
        tni_free(old_block, old_bytes);
    if (storage)
        replace_storage(x, storage);
    return TN_OK;
}

void tni_tensor_unmake(tn_tensor *x)
{
    tni_scope_stack *stack = tni_this_thread.scopes;
    assert(stack->used > 0 && stack->slots[stack->used - 1] == &x->object); /* nothing was made since */
    stack->used--;
    tni_object_release(&x->object);
}

tn_status tni_check_tensor(const char *function, int number, const char *name, const tn_tensor *x)
{
    if (TNI_UNLIKELY(tni_pending()))
        return tni_pending();
    return TNI_LIKELY(x != NULL) ? TN_OK : TNI_FAIL_NULL(function, number, name);
}

/* Completes a record of contiguous memory from its sizes in one walk; strides has room for 64. Even where there are
 * no elements the strides must be countable in bytes. */
static inline bool contiguous_record(tni_record *record, int64_t *strides)
{
    int64_t span = 1, bytes, overflowed = 0, any = 1;
    for (int d = record->ndim - 1; d >= 0; d--) {
        int64_t size = record->sizes[d];
        strides[d] = span;
        overflowed |= !tni_mul_i64(span, size > 1 ? size : 1, &span);
        any &= size != 0;
    }
    record->strides = strides;
    record->numel = any ? span : 0;
    record->contiguous = true;
    return !overflowed && tni_mul_i64(span, tni_itemsize(record->dtype), &bytes);
}

tn_status tni_record_of(const char *function, const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype,
                        tn_device_type device, tni_record *record, int64_t *strides)
{
    if (tni_check_sizes(function, size, ndim) || tni_check_dtype(function, dtype))
        return tni_pending();
    *record = (tni_record){
        .dtype = (uint8_t)dtype, .device = (uint8_t)device, .ndim = (int8_t)ndim, .sizes = size, .strides = stride};
    bool fits = stride ? tni_numel(size, ndim, &record->numel) : contiguous_record(record, strides);
    if (fits)
        return TN_OK;
    fail_bytes(function, record);
    return tni_pending();
}

tn_status tni_record_bytes(const char *function, const tni_record *record, size_t *bytes)
{
    if (needed_bytes(record->sizes, record->strides, record->ndim, record->offset, tni_itemsize(record->dtype), bytes))
        return TN_OK;
    fail_bytes(function, record);
    return tni_pending();
}

static tn_tensor *make(const char *function, const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype,
                       tn_device device)
{
    int64_t strides[TN_MAX_NDIM];
    tni_record record;
    if (tni_pending() || tni_record_of(function, size, stride, ndim, dtype, device.type, &record, strides))
        return NULL;
    return tni_mark_made(tni_tensor_new(function, &record));
}

/* The common call runs without the detours of `make`. */
tn_tensor *tn_empty(const int64_t *size, int ndim, tn_dtype dtype)
{
    int64_t strides[TN_MAX_NDIM], negative = 0;
    if (TNI_UNLIKELY(ndim < 0 || ndim > TN_MAX_NDIM || !size || !tni_dtype_valid(dtype) || tni_pending()))
        return make("empty", size, NULL, ndim, dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : dtype,
                    tni_default_device);
    tni_record record = {
        .dtype = (uint8_t)dtype, .device = (uint8_t)tni_default_device.type, .ndim = (int8_t)ndim, .sizes = size};
    for (int d = 0; d < ndim; d++)
        negative |= size[d];
    if (TNI_UNLIKELY(negative < 0 || !contiguous_record(&record, strides)))
        return make("empty", size, NULL, ndim, dtype, tni_default_device);
    return tni_mark_made(tni_tensor_new("empty", &record));
}

tn_tensor *tn_empty_on(const int64_t *size, int ndim, tn_dtype dtype, tn_device device)
{
    if (tni_pending() || tni_check_device("empty_on", device))
        return NULL;
    return make("empty_on", size, NULL, ndim, dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : dtype, device);
}

tn_tensor *tn_empty_with(const int64_t *size, int ndim, const tn_tensor_options *options)
{
    const char *function = "empty_with";
    static const tn_tensor_options defaults;
    if (!options)
        options = &defaults;
    if (tni_pending() || tni_check_device(function, options->device) || tni_check_layout(function, options->layout))
        return NULL;
    return make(function, size, NULL, ndim, options->dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : options->dtype,
                options->device);
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
    if (dtype == TN_DTYPE_NONE)
        dtype = tn_get_default_dtype();
    return make(function, size, stride ? stride : &none, ndim, dtype, tni_default_device);
}

tn_tensor *tn_from_array(const void *data, const int64_t *size, int ndim, tn_dtype dtype)
{
    const tn_device cpu = {TN_CPU, 0};
    int64_t numel = 0;
    if (tni_pending() || tni_check_sizes("from_array", size, ndim))
        return NULL;
    if (!data && tni_numel(size, ndim, &numel) && numel > 0) {
        TNI_FAIL_NULL("from_array", 1, "data");
        return NULL;
    }
    tn_tensor *x = make("from_array", size, NULL, ndim, dtype, cpu);
    if (!x || x->numel == 0)
        return x;
    memcpy(x->storage->data, data, x->storage->nbytes);
    return x;
}
