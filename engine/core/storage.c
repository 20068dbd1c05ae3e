/* Storage: making, resizing and ending rows of bytes. */
#include "core/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "core/tensor.h"

static void storage_destroy(void *object);
static void inner_storage_destroy(void *object);

static const tn_object_class storage_class = {.name = "storage", .bytes = 0, .destroy = storage_destroy};
const tn_object_class tni_inner_storage_class = {.name = "storage", .bytes = 0, .destroy = inner_storage_destroy};

enum { PINNED_FOR_GOOD = 255 };

/* What storages without bytes point at. Nobody reads or writes there. */
static const char nothing;
#define NO_BYTES ((char *)(uintptr_t)&nothing)

/* Where data and its size or deleter are still to be set. */
static tni_storage *new_record(void)
{
    tni_storage *storage = tni_alloc_zeroed(sizeof *storage);
    if (!storage)
        return NULL;
    tni_object_init(&storage->object, &storage_class);
    storage->block = sizeof *storage;
    return storage;
}

tni_storage *tni_storage_new(size_t nbytes, bool meta)
{
    tni_storage *storage = new_record();
    char *data = meta ? NULL : nbytes == 0 ? NO_BYTES : tni_alloc(nbytes);
    if (!storage || (!meta && !data)) {
        if (data != NO_BYTES)
            tni_free(data, nbytes);
        tni_free(storage, sizeof *storage);
        return NULL;
    }
    storage->data = data;
    storage->nbytes = storage->capacity = nbytes;
    return storage;
}

void tni_storage_keep(void *context, void *data)
{
    (void)context;
    (void)data;
}

tni_storage *tni_storage_around(void *data, size_t nbytes, bool read_only, tn_deleter deleter, void *context)
{
    tni_storage *storage = new_record();
    if (!storage)
        return NULL;
    storage->flags = read_only ? TNI_STORAGE_READ_ONLY : 0;
    storage->data = data ? data : NO_BYTES;
    storage->nbytes = nbytes;
    storage->deleter = deleter ? deleter : tni_storage_keep;
    storage->context = context;
    return storage;
}

static void free_data(tni_storage *storage)
{
    if (storage->deleter)
        storage->deleter(storage->context, storage->data == NO_BYTES ? NULL : storage->data);
    else if (storage->data && storage->data != NO_BYTES && !(storage->flags & TNI_STORAGE_INLINE_DATA)) /* NULL: meta */
        tni_free(storage->data, storage->capacity);
}

/* Bytes behind `data`, of memory that is the library's. */
static size_t capacity_of(const tni_storage *storage)
{
    return storage->flags & TNI_STORAGE_INLINE_DATA ? storage->block - TNI_INNER_OFFSET - sizeof *storage
                                                    : storage->capacity;
}

tn_status tni_storage_resize(const char *function, tni_storage *storage, size_t nbytes)
{
    if (nbytes == storage->nbytes)
        return TN_OK;
    if (storage->deleter)
        return TNI_FAIL(TN_ERROR_STATE, function, "%zu bytes needed of a storage of %zu that came from outside", nbytes,
                        storage->nbytes);
    if (__atomic_load_n(&storage->pins, __ATOMIC_ACQUIRE) > 0)
        return TNI_FAIL(TN_ERROR_STATE, function, "%zu bytes needed of a storage of %zu whose address is given away",
                        nbytes, storage->nbytes);
    if (!storage->data || nbytes <= capacity_of(storage)) { /* meta, or Note [Shrunk storage] */
        storage->nbytes = nbytes;
        return TN_OK;
    }
    char *data = tni_alloc(nbytes);
    if (!data)
        return TNI_FAIL_MEMORY(function, nbytes);
    memcpy(data, storage->data, capacity_of(storage));
    free_data(storage);
    storage->flags = 0;
    storage->data = data;
    storage->nbytes = storage->capacity = nbytes;
    return TN_OK;
}

/* A count that has reached its end stays there. */
static void add_pins(tni_storage *storage, int step)
{
    uint8_t pins = __atomic_load_n(&storage->pins, __ATOMIC_RELAXED);
    while (pins != PINNED_FOR_GOOD && !__atomic_compare_exchange_n(&storage->pins, &pins, (uint8_t)(pins + step), false,
                                                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
}

void tni_storage_pin(tni_storage *storage)
{
    add_pins(storage, 1);
}

void tni_storage_unpin(tni_storage *storage)
{
    add_pins(storage, -1);
}

tn_status tni_check_writable(const char *function, const tni_storage *storage)
{
    if (TNI_LIKELY(!(storage->flags & TNI_STORAGE_READ_ONLY)))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_STATE, function, "the storage's memory came from outside as read-only; clone it first");
}

static void storage_destroy(void *object)
{
    tni_storage *storage = object;
    free_data(storage);
    tni_free(storage, storage->block);
}

static void inner_storage_destroy(void *object)
{
    tni_storage *storage = object;
    free_data(storage);
    tni_free(tni_outer_tensor(storage), storage->block);
}
