/* Storage: making, resizing and ending rows of bytes. */
#include "core/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "core/tensor.h"

static void storage_destroy(void *object);
static void inner_storage_destroy(void *object);

const tn_object_class tni_storage_class = {.name = "storage", .bytes = 0, .destroy = storage_destroy};
const tn_object_class tni_inner_storage_class = {.name = "storage", .bytes = 0, .destroy = inner_storage_destroy};

tni_storage *tni_storage_new(size_t nbytes, bool meta)
{
    tni_storage *storage = tni_alloc(sizeof *storage);
    char *data = meta || nbytes == 0 ? NULL : tni_alloc(nbytes);
    if (!storage || (!meta && nbytes > 0 && !data)) {
        tni_free(data, nbytes);
        tni_free(storage, sizeof *storage);
        return NULL;
    }
    if (!meta && nbytes == 0)
        data = tni_storage_inline_data(storage);
    tni_storage_init(storage, &tni_storage_class, data, nbytes, sizeof *storage);
    return storage;
}

static void free_data(tni_storage *storage)
{
    if (storage->deleter)
        storage->deleter(storage->of.context, storage->data);
    else if (storage->data && storage->data != tni_storage_inline_data(storage)) /* NULL: meta */
        tni_free(storage->data, storage->nbytes);
}

bool tni_storage_resize(tni_storage *storage, size_t nbytes)
{
    if (nbytes == storage->nbytes)
        return true;
    if (storage->deleter)
        return false;
    if (!storage->data) { /* meta */
        storage->nbytes = nbytes;
        return true;
    }
    char *data = tni_storage_inline_data(storage);
    if (nbytes > 0) {
        data = tni_alloc(nbytes);
        if (!data)
            return false;
        memcpy(data, storage->data, nbytes < storage->nbytes ? nbytes : storage->nbytes);
    }
    free_data(storage);
    storage->data = data;
    storage->nbytes = nbytes;
    return true;
}

static void storage_destroy(void *object)
{
    tni_storage *storage = object;
    free_data(storage);
    tni_free(storage, sizeof *storage);
}

static void inner_storage_destroy(void *object)
{
    tni_storage *storage = object;
    free_data(storage);
    tni_free(tni_outer_tensor(storage), storage->of.block);
}
