/* Storage: one row of bytes without a shape, shared by reference count, and the version counter that its tensors share.
 *
 * Note [Version counters]
 * A counter lives inside a storage, and a reference to that storage keeps it. A tensor names the storage whose counter it
 * uses; nearly always that is its own storage, and then one reference serves for both. A tensor whose counter lives elsewhere (after set_, or
 * .data with a fresh counter: a storage of no bytes) holds a second reference. */
#ifndef TNI_CORE_STORAGE_H
#define TNI_CORE_STORAGE_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/extend.h>

#include "base/refcount.h"

typedef struct tni_storage {
    tn_object object;
    int64_t version; /* written by the one writer, read by anybody */
    char *data;      /* NULL on meta alone: without bytes it points behind the struct, so that offsets may be added to it */
    size_t nbytes;
    void (*deleter)(void *context, void *data); /* for memory that came from outside; NULL for the library's */
    union {
        void *context;
        size_t block; /* bytes of this struct with the data that follows it */
    } of;
} tni_storage;

_Static_assert(sizeof(tni_storage) == 64, "small data begins one cache line behind the struct");

/* Small data stands behind the struct in one block. */
#define TNI_STORAGE_INLINE ((size_t)960)

/* A storage of nbytes undefined bytes with one reference, in no scope; `meta` gives none of them memory. NULL when there is no
 * memory (no error raised). */
tni_storage *tni_storage_new(size_t nbytes, int meta);

/* Grows or shrinks to nbytes, keeping the bytes that both have. False when there is no memory, or the bytes are not the library's. */
int tni_storage_resize(tni_storage *storage, size_t nbytes);

void tni_storage_destroy(void *storage);

static inline void tni_storage_release(tni_storage *storage)
{
    if (storage && tni_unref(&storage->object.references))
        tni_storage_destroy(storage);
}

static inline void tni_storage_written(tni_storage *counter)
{
    __atomic_store_n(&counter->version, __atomic_load_n(&counter->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

#endif
