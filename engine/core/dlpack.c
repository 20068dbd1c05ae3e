/* DLPack, out and in. Both generations of the struct share the array within; a few lines each tell what differs. */
#include <string.h>
#include <tenon/dlpack.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "core/dtype.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/tensor.h"

/* Code and bits of each dtype; bits 0: it has none. */
static const struct {
    uint8_t code, bits;
} codes[TN_DTYPE_COUNT] = {
    [TN_FLOAT32] = {TN_DLPACK_FLOAT, 32},
    [TN_FLOAT64] = {TN_DLPACK_FLOAT, 64},
    [TN_FLOAT16] = {TN_DLPACK_FLOAT, 16},
    [TN_BFLOAT16] = {TN_DLPACK_BFLOAT, 16},
    [TN_FLOAT8_E4M3FN] = {TN_DLPACK_FLOAT8_E4M3FN, 8},
    [TN_FLOAT8_E4M3FNUZ] = {TN_DLPACK_FLOAT8_E4M3FNUZ, 8},
    [TN_FLOAT8_E5M2] = {TN_DLPACK_FLOAT8_E5M2, 8},
    [TN_FLOAT8_E5M2FNUZ] = {TN_DLPACK_FLOAT8_E5M2FNUZ, 8},
    [TN_FLOAT8_E8M0FNU] = {TN_DLPACK_FLOAT8_E8M0FNU, 8},
    [TN_INT8] = {TN_DLPACK_INT, 8},
    [TN_INT16] = {TN_DLPACK_INT, 16},
    [TN_INT32] = {TN_DLPACK_INT, 32},
    [TN_INT64] = {TN_DLPACK_INT, 64},
    [TN_UINT8] = {TN_DLPACK_UINT, 8},
    [TN_UINT16] = {TN_DLPACK_UINT, 16},
    [TN_UINT32] = {TN_DLPACK_UINT, 32},
    [TN_UINT64] = {TN_DLPACK_UINT, 64},
    [TN_BOOL] = {TN_DLPACK_BOOL, 8},
    [TN_COMPLEX32] = {TN_DLPACK_COMPLEX, 32},
    [TN_COMPLEX64] = {TN_DLPACK_COMPLEX, 64},
    [TN_COMPLEX128] = {TN_DLPACK_COMPLEX, 128},
};

/* What is given away: one block, which the deleter frees. The dims stand behind it. */
typedef struct export
{
    union {
        tn_dlpack versioned;
        tn_dlpack_unversioned unversioned;
    } managed;
    tn_storage *storage; /* held and pinned */
    size_t bytes;        /* of the block */
}
export;

static void end_export(export *given)
{
    tni_storage_unpin(given->storage);
    tni_storage_release(given->storage);
    tni_free(given, given->bytes);
}

static void delete_versioned(tn_dlpack *self)
{
    end_export(self->context);
}

static void delete_unversioned(tn_dlpack_unversioned *self)
{
    end_export(self->context);
}

static tn_status check_export(const char *function, const tn_tensor *x)
{
    if (tni_check_tensor(function, 1, "x", x))
        return tni_pending();
    if (tni_is_meta(x))
        return TNI_FAIL(TN_ERROR_DEVICE, function, "the tensor is on meta, which has no data to give away");
    if (tni_is_lazy(x))
        return TNI_FAIL(TN_ERROR_STATE, function,
                        "the tensor is a lazy %s, whose memory holds other values: give away %s",
                        x->keys & TNI_KEY_ZERO   ? "zero tensor"
                        : x->keys & TNI_KEY_CONJ ? "conjugate"
                                                 : "negative",
                        x->keys & TNI_KEY_ZERO   ? "its tn_clone"
                        : x->keys & TNI_KEY_CONJ ? "its tn_resolve_conj"
                                                 : "its tn_resolve_neg");
    if (codes[x->dtype].bits == 0)
        return TNI_FAIL(TN_ERROR_DTYPE, function, "the tensor is %s, for which DLPack has no code",
                        tn_dtype_name((tn_dtype)x->dtype));
    return TN_OK;
}

/* Holds x's storage and describes x; the struct around the array is up to the caller. */
static export *new_export(const char *function, const tn_tensor *x)
{
    int ndim = x->ndim;
    size_t bytes = sizeof(export) + 2 * (size_t)ndim * sizeof(int64_t);
    export *given = tni_alloc_zeroed(bytes);
    if (!given) {
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_ref(&x->storage->object.references);
    tni_storage_pin(x->storage);
    given->storage = x->storage;
    given->bytes = bytes;
    return given;
}

static void describe(export *given, const tn_tensor *x, tn_dlpack_tensor *array)
{
    int64_t *dims = (int64_t *)(void *)(given + 1);
    array->data = x->numel > 0 ? tni_data(x) : NULL;
    array->device.type = TN_DLPACK_CPU;
    array->ndim = x->ndim;
    array->dtype = (tn_dlpack_dtype){codes[x->dtype].code, codes[x->dtype].bits, 1};
    array->shape = dims;
    array->strides = dims + x->ndim;
    for (int d = 0; d < x->ndim; d++) {
        array->shape[d] = x->sizes[d];
        array->strides[d] = x->strides[d];
    }
}

tn_dlpack *tn_to_dlpack(tn_tensor *x)
{
    export *given = check_export("to_dlpack", x) ? NULL : new_export("to_dlpack", x);
    if (!given)
        return NULL;
    tn_dlpack *managed = &given->managed.versioned;
    managed->version.major = TN_DLPACK_MAJOR;
    managed->version.minor = TN_DLPACK_MINOR;
    managed->context = given;
    managed->deleter = delete_versioned;
    managed->flags = x->storage->flags & TNI_STORAGE_READ_ONLY ? TN_DLPACK_READ_ONLY : 0;
    describe(given, x, &managed->tensor);
    return managed;
}

tn_dlpack_unversioned *tn_to_dlpack_unversioned(tn_tensor *x)
{
    const char *function = "to_dlpack_unversioned";
    if (check_export(function, x))
        return NULL;
    if (x->storage->flags & TNI_STORAGE_READ_ONLY) {
        TNI_FAIL(TN_ERROR_STATE, function, "the memory is read-only, which DLPack before version 1 cannot say");
        return NULL;
    }
    export *given = new_export(function, x);
    if (!given)
        return NULL;
    tn_dlpack_unversioned *managed = &given->managed.unversioned;
    managed->context = given;
    managed->deleter = delete_unversioned;
    describe(given, x, &managed->tensor);
    return managed;
}

static tn_dtype dtype_of(tn_dlpack_dtype given)
{
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
        if (given.lanes == 1 && given.bits > 0 && codes[dtype].bits == given.bits && codes[dtype].code == given.code)
            return (tn_dtype)dtype;
    return TN_DTYPE_NONE;
}

/* Negative strides along which nothing moves become those of a contiguous tensor: NumPy's of x[:1][::-1]. */
static tn_status import_strides(const char *function, const tn_dlpack_tensor *array, int64_t *strides)
{
    int64_t numel;
    if (!tni_numel(array->shape, array->ndim, &numel)) {
        memset(strides, 0, (size_t)array->ndim * sizeof *strides); /* the sizes are refused later */
        return TN_OK;
    }
    tni_contiguous_strides(array->shape, array->ndim, strides);
    for (int d = 0; d < array->ndim; d++) {
        int64_t stride = array->strides[d];
        if (stride >= 0)
            strides[d] = stride;
        else if (array->shape[d] > 1 && numel > 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, function,
                            "stride %lld in dim %d, needed 0 or more: have the other side copy it first",
                            (long long)stride, d);
    }
    return TN_OK;
}

static tn_tensor *import(const char *function, const tn_dlpack_tensor *array, bool read_only, tn_deleter deleter,
                         void *context)
{
    int64_t strides[TN_MAX_NDIM];
    uintptr_t address;
    tn_dtype dtype = dtype_of(array->dtype);
    if (array->device.type != TN_DLPACK_CPU) {
        TNI_FAIL(TN_ERROR_DEVICE, function, "the data is on a device of type %d, needed %d (cpu)",
                 (int)array->device.type, (int)TN_DLPACK_CPU);
        return NULL;
    }
    if (dtype == TN_DTYPE_NONE) {
        TNI_FAIL(TN_ERROR_DTYPE, function, "no dtype has code %d with %d bits in %d lanes", array->dtype.code,
                 array->dtype.bits, array->dtype.lanes);
        return NULL;
    }
    if (tni_check_sizes(function, array->shape, array->ndim))
        return NULL;
    if (__builtin_add_overflow((uintptr_t)array->data, array->byte_offset, &address)) {
        TNI_FAIL(TN_ERROR_OVERFLOW, function, "byte_offset %llu leaves the address space",
                 (unsigned long long)array->byte_offset);
        return NULL;
    }
    if (array->strides && import_strides(function, array, strides))
        return NULL;
    const tn_blob_options options = {
        .stride = array->strides ? strides : NULL, .read_only = read_only, .deleter = deleter, .context = context};
    void *data = array->data ? (void *)address : NULL;
    return tni_tensor_around(function, data, array->shape, array->ndim, dtype, &options);
}

static void end_versioned(void *context, void *data)
{
    (void)data;
    tn_dlpack *managed = context;
    if (managed->deleter)
        managed->deleter(managed);
}

static void end_unversioned(void *context, void *data)
{
    (void)data;
    tn_dlpack_unversioned *managed = context;
    if (managed->deleter)
        managed->deleter(managed);
}

tn_tensor *tn_from_dlpack(tn_dlpack *managed)
{
    const char *function = "from_dlpack";
    tn_tensor *x = NULL;
    if (!managed) {
        if (!tni_pending())
            TNI_FAIL_NULL(function, 1, "managed");
        return NULL;
    }
    if (managed->version.major != TN_DLPACK_MAJOR) { /* nothing but the deleter is where it was */
        if (!tni_pending())
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "the struct is of DLPack version %lu, needed %d",
                     (unsigned long)managed->version.major, (int)TN_DLPACK_MAJOR);
    } else if (!tni_pending()) {
        x = import(function, &managed->tensor, managed->flags & TN_DLPACK_READ_ONLY, end_versioned, managed);
    }
    if (!x)
        end_versioned(managed, NULL);
    return x;
}

tn_tensor *tn_from_dlpack_unversioned(tn_dlpack_unversioned *managed)
{
    const char *function = "from_dlpack_unversioned";
    if (!managed) {
        if (!tni_pending())
            TNI_FAIL_NULL(function, 1, "managed");
        return NULL;
    }
    tn_tensor *x = tni_pending() ? NULL : import(function, &managed->tensor, false, end_unversioned, managed);
    if (!x)
        end_unversioned(managed, NULL);
    return x;
}
