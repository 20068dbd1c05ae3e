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

/* What storages without bytes point at. Nobody reads or writes there. */
static const char nothing;
#define NO_BYTES ((char *)(uintptr_t)&nothing)

tni_storage *tni_storage_new(size_t nbytes, bool meta)
{
    tni_storage *storage = tni_alloc_zeroed(sizeof *storage);
    char *data = meta ? NULL : nbytes == 0 ? NO_BYTES : tni_alloc(nbytes);
    if (!storage || (!meta && !data)) {
        if (data != NO_BYTES)
            tni_free(data, nbytes);
        tni_free(storage, sizeof *storage);
        return NULL;
    }
    tni_object_init(&storage->object, &storage_class);
    storage->block = sizeof *storage;
    storage->data = data;
    storage->nbytes = nbytes;
    return storage;
}

static void free_data(tni_storage *storage)
{
    if (storage->deleter)
        storage->deleter(storage->context, storage->data);
    else if (storage->data && storage->data != NO_BYTES && !storage->data_is_inline) /* NULL: meta */
        tni_free(storage->data, storage->nbytes);
}

tn_status tni_storage_resize(const char *function, tni_storage *storage, size_t nbytes)
{
    if (nbytes == storage->nbytes)
        return TN_OK;
    if (storage->deleter)
        return TNI_FAIL(TN_ERROR_STATE, function, "%zu bytes needed of a storage of %zu that came from outside", nbytes,
                        storage->nbytes);
    if (!storage->data) { /* meta */
        storage->nbytes = nbytes;
        return TN_OK;
    }
    char *data = nbytes == 0 ? NO_BYTES : tni_alloc(nbytes);
    if (!data)
        return TNI_FAIL_MEMORY(function, nbytes);
    memcpy(data, storage->data, nbytes < storage->nbytes ? nbytes : storage->nbytes);
    free_data(storage);
    storage->data_is_inline = false;
    storage->data = data;
    storage->nbytes = nbytes;
    return TN_OK;
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
