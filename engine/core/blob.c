/* Storages as objects, and tensors over memory that is there: a storage's or the caller's. */
#include <tenon/storage.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/dtype.h"
#include "core/geometry.h"
#include "core/tensor_make.h"

static bool missing(const char *function, const tn_storage *storage)
{
    if (TNI_LIKELY(storage != NULL))
        return false;
    if (!tni_pending())
        TNI_FAIL_NULL(function, 1, "storage");
    return true;
}

tn_storage *tn_storage_of(tn_tensor *x)
{
    if (tni_check_tensor("storage_of", 1, "x", x) || !tni_scope_room("storage_of"))
        return NULL;
    tni_ref(&x->storage->object.references);
    tni_scope_hold(&x->storage->object);
    return x->storage;
}

tn_storage *tn_storage_new(size_t nbytes)
{
    if (tni_pending() || !tni_scope_room("storage_new"))
        return NULL;
    tn_storage *storage = tni_storage_new(nbytes, tn_get_default_device().type == TN_META);
    if (!storage) {
        TNI_FAIL_MEMORY("storage_new", nbytes);
        return NULL;
    }
    tni_scope_hold(&storage->object);
    return storage;
}

size_t tn_storage_size(const tn_storage *storage)
{
    return missing("storage_size", storage) ? 0 : storage->nbytes;
}

tn_device tn_storage_device(const tn_storage *storage)
{
    tn_device device = {TN_CPU, 0};
    if (!missing("storage_device", storage) && !storage->data)
        device.type = TN_META;
    return device;
}

tn_storage_owner tn_storage_owned_by(const tn_storage *storage)
{
    return !missing("storage_owned_by", storage) && storage->deleter ? TN_OWNER_OUTSIDE : TN_OWNER_LIBRARY;
}

bool tn_storage_is_read_only(const tn_storage *storage)
{
    return !missing("storage_is_read_only", storage) && storage->flags & TNI_STORAGE_READ_ONLY;
}

bool tn_storage_is_resizable(const tn_storage *storage)
{
    return !missing("storage_is_resizable", storage) && !storage->deleter &&
           __atomic_load_n(&storage->pins, __ATOMIC_ACQUIRE) == 0;
}

int64_t tn_storage_use_count(const tn_storage *storage)
{
    return missing("storage_use_count", storage) ? 0 : tn_use_count(storage);
}

static char *bytes_of(const char *function, const tn_storage *storage)
{
    if (tni_pending() || missing(function, storage))
        return NULL;
    if (!storage->data) {
        TNI_FAIL(TN_ERROR_DEVICE, function, "the storage is on meta, which has no data");
        return NULL;
    }
    return storage->nbytes ? storage->data : NULL;
}

const void *tn_storage_bytes(const tn_storage *storage)
{
    return bytes_of("storage_bytes", storage);
}

void *tn_storage_bytes_mut(tn_storage *storage)
{
    char *data = bytes_of("storage_bytes_mut", storage);
    if (tni_pending() || tni_check_writable("storage_bytes_mut", storage))
        return NULL;
    tni_storage_written(storage);
    return data;
}

tn_status tn_storage_resize_(tn_storage *storage, size_t nbytes)
{
    if (tni_pending() || missing("storage_resize_", storage))
        return tni_pending();
    return tni_storage_resize("storage_resize_", storage, nbytes);
}

tn_status tni_check_aligned(const char *function, const void *data, tn_dtype dtype)
{
    int64_t bytes = tni_dtype_kind(dtype) == TNI_COMPLEX ? tni_itemsize(dtype) / 2 : tni_itemsize(dtype);
    if (TNI_LIKELY((uintptr_t)data % (uintptr_t)bytes == 0))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, function,
                    "the first element's address is %d beyond a multiple of %d, needed one: %s",
                    (int)((uintptr_t)data % (uintptr_t)bytes), (int)bytes, tn_dtype_name(dtype));
}

/* The record of a tensor somewhere in memory that is there, and the bytes that it reaches. */
static tn_status place(const char *function, const int64_t *size, const int64_t *stride, int ndim, int64_t offset,
                       tn_dtype dtype, tni_record *record, int64_t *strides, size_t *reached)
{
    if (tni_check_sizes(function, size, ndim))
        return tni_pending();
    for (int d = 0; stride && d < ndim; d++)
        if (stride[d] < 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, function, "stride %lld in dim %d, needed 0 or more",
                            (long long)stride[d], d);
    if (offset < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, function, "offset %lld, needed 0 or more", (long long)offset);
    if (tni_record_of(function, size, stride, ndim, dtype, TN_CPU, record, strides))
        return tni_pending();
    record->offset = offset;
    return tni_record_bytes(function, record, reached);
}

static tn_status check_bounds(const char *function, const tni_record *record, size_t reached, size_t nbytes)
{
    int64_t start;
    bool wraps = !tni_mul_i64(record->offset, tni_itemsize(record->dtype), &start);
    if (!wraps && reached <= nbytes && (size_t)start <= nbytes)
        return TN_OK;
    if (wraps || reached == 0)
        return TNI_FAIL(TN_ERROR_BOUNDS, function, "offset %lld leaves the %zu bytes that there are",
                        (long long)record->offset, nbytes);
    return TNI_FAIL(TN_ERROR_BOUNDS, function, "the tensor reaches %zu bytes far, there are %zu", reached, nbytes);
}

tn_tensor *tn_from_storage(tn_storage *storage, int64_t offset, const int64_t *size, const int64_t *stride, int ndim,
                           tn_dtype dtype)
{
    const char *function = "from_storage";
    int64_t strides[TN_MAX_NDIM];
    size_t reached;
    tni_record record;
    if (tni_pending() || missing(function, storage))
        return NULL;
    if (dtype == TN_DTYPE_NONE)
        dtype = tn_get_default_dtype();
    if (place(function, size, stride, ndim, offset, dtype, &record, strides, &reached) ||
        check_bounds(function, &record, reached, storage->nbytes))
        return NULL;
    if (!storage->data)
        record.device = TN_META;
    else if (storage->nbytes > 0 && tni_check_aligned(function, storage->data + offset * tni_itemsize(dtype), dtype))
        return NULL;
    return tni_mark_made(tni_tensor_over(function, &record, storage));
}

/* The checks of memory from outside; *nbytes is what the options say, or what the tensor reaches. */
static tn_status check_blob(const char *function, char *data, const tni_record *record, size_t reached, size_t *nbytes)
{
    uintptr_t end;
    size_t start;
    if (!tni_mul_size((size_t)record->offset, (size_t)tni_itemsize(record->dtype), &start))
        return TNI_FAIL(TN_ERROR_OVERFLOW, function, "offset %lld leaves the address space", (long long)record->offset);
    if (*nbytes == 0)
        *nbytes = reached > start ? reached : start; /* without elements nothing is reached */
    else if (check_bounds(function, record, reached, *nbytes))
        return tni_pending();
    if (!data && (reached > 0 || *nbytes > 0))
        return TNI_FAIL(TN_ERROR_NULL, function, "data is NULL, needed %zu bytes", *nbytes);
    if (__builtin_add_overflow((uintptr_t)data, *nbytes, &end))
        return TNI_FAIL(TN_ERROR_OVERFLOW, function, "%zu bytes from %p on leave the address space", *nbytes,
                        (void *)data);
    if (*nbytes == 0)
        return TN_OK;
    /* also without elements: as_strided may find some later */
    return tni_check_aligned(function, data + record->offset * tni_itemsize(record->dtype), record->dtype);
}

tn_tensor *tni_tensor_around(const char *function, void *data, const int64_t *size, int ndim, tn_dtype dtype,
                             const tn_blob_options *options)
{
    int64_t strides[TN_MAX_NDIM];
    size_t reached, nbytes = options->nbytes;
    tni_record record;
    if (place(function, size, options->stride, ndim, options->offset, dtype, &record, strides, &reached) ||
        check_blob(function, data, &record, reached, &nbytes))
        return NULL;
    tni_storage *storage = tni_storage_around(data, nbytes, options->read_only, options->deleter, options->context);
    if (!storage) {
        TNI_FAIL_MEMORY(function, sizeof *storage);
        return NULL;
    }
    tn_tensor *x = tni_mark_made(tni_tensor_over(function, &record, storage));
    if (!x)
        storage->deleter = tni_storage_keep; /* the caller of this function calls it */
    tni_storage_release(storage);
    return x;
}

tn_tensor *tn_from_blob(void *data, const int64_t *size, int ndim, tn_dtype dtype, const tn_blob_options *options)
{
    static const tn_blob_options none;
    if (!options)
        options = &none;
    tn_tensor *x = tni_pending() ? NULL : tni_tensor_around("from_blob", data, size, ndim, dtype, options);
    if (!x && options->deleter)
        options->deleter(options->context, data);
    return x;
}
