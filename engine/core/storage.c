/* Storage: making, resizing and ending rows of bytes. */
#include "core/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "core/scope.h"

static const tn_object_class storage_class = {.name = "storage", .bytes = 0, .destroy = tni_storage_destroy};

static char *inline_data(tni_storage *storage)
{
    return (char *)storage + sizeof *storage;
}

tni_storage *tni_storage_new(size_t nbytes, int meta)
{
    size_t block = sizeof(tni_storage);
    if (!meta && nbytes <= TNI_STORAGE_INLINE)
        block += nbytes;
    tni_storage *storage = tni_alloc(block);
    if (!storage)
        return NULL;
    tni_object_init(&storage->object, &storage_class);
    storage->version = 0;
    storage->nbytes = nbytes;
    storage->deleter = NULL;
    storage->of.block = block;
    storage->data = meta ? NULL : inline_data(storage);
    if (!meta && nbytes > TNI_STORAGE_INLINE) {
        storage->data = tni_alloc(nbytes);
        if (!storage->data) {
            tni_free(storage, block);
            return NULL;
        }
    }
    return storage;
}

static void free_data(tni_storage *storage)
{
    if (storage->deleter)
        storage->deleter(storage->of.context, storage->data);
    else if (storage->data && storage->data != inline_data(storage)) /* NULL: meta */
        tni_free(storage->data, storage->nbytes);
}

int tni_storage_resize(tni_storage *storage, size_t nbytes)
{
    if (nbytes == storage->nbytes)
        return 1;
    if (storage->deleter)
        return 0;
    if (!storage->data) { /* meta */
        storage->nbytes = nbytes;
        return 1;
    }
    char *data = inline_data(storage);
    if (nbytes > 0) {
        data = tni_alloc(nbytes);
        if (!data)
            return 0;
        memcpy(data, storage->data, nbytes < storage->nbytes ? nbytes : storage->nbytes);
    }
    free_data(storage);
    storage->data = data;
    storage->nbytes = nbytes;
    return 1;
}

void tni_storage_destroy(void *pointer)
{
    tni_storage *storage = pointer;
    size_t block = storage->deleter ? sizeof *storage : storage->of.block;
    free_data(storage);
    tni_free(storage, block);
}
