/* Storage: one row of bytes without a shape, shared by reference count, and the version counter that its tensors share.
 *
 * Note [Version counters]
 * A counter lives inside a storage, and a reference to that storage keeps it. A tensor names the storage whose
 * counter it uses; nearly always that is its own storage, and then one reference serves for both. A tensor whose
 * counter lives elsewhere (after set_, or .data with a fresh counter: a storage of no bytes) holds a second
 * reference.
 *
 * Note [Borrowed storage]
 * A tensor keeps the storage of its counter for as long as it lives, whatever storage it reads by then. A view of it that
 * reads that very storage therefore holds no reference of its own: its base has one.
 *
 * Note [One block]
 * A new tensor with little data is one block of memory: the tensor, its storage, the data. The block belongs to the
 * storage: it is freed with the storage's last reference. The tensor in it keeps a reference on that storage for as
 * long as it lives, whatever storage it reads by then, so neither is ever freed under the other. Making and ending
 * such a tensor takes one allocation and no locked instruction. */
#ifndef TNI_CORE_STORAGE_H
#define TNI_CORE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/extend.h>

#include "base/refcount.h"
#include "core/scope.h"

typedef struct tni_storage {
    tn_object object;
    int64_t version; /* written by the one writer, read by anybody */
    char *data;      /* NULL on meta alone: without bytes it points behind the struct, so that offsets may be added */
    size_t nbytes;
    void (*deleter)(void *context, void *data); /* for memory that came from outside; NULL for the library's */
    union {
        void *context;
        size_t block; /* bytes of the block that this struct is freed with */
    } of;
} tni_storage;

_Static_assert(sizeof(tni_storage) == 64, "small data begins one cache line behind the struct");

extern const tn_object_class tni_storage_class;        /* alone in its block */
extern const tn_object_class tni_inner_storage_class;  /* behind a tensor: Note [One block] */

/* Data up to this many bytes stands behind the struct. */
#define TNI_STORAGE_INLINE ((size_t)640)

static inline char *tni_storage_inline_data(tni_storage *storage)
{
    return (char *)storage + sizeof *storage;
}

/* One reference, in no scope, the library's memory. `block` as in the struct. */
static inline void tni_storage_init(tni_storage *storage, const tn_object_class *type, char *data, size_t nbytes,
                                    size_t block)
{
    tni_object_init(&storage->object, type);
    storage->version = 0;
    storage->data = data;
    storage->nbytes = nbytes;
    storage->deleter = NULL;
    storage->of.block = block;
}

/* A storage alone in its block; `meta` gives its bytes no memory. NULL when there is no memory (no error raised). */
tni_storage *tni_storage_new(size_t nbytes, bool meta);

/* Grows or shrinks to nbytes, keeping the bytes that both have. False when there is no memory, or the bytes are not
 * the library's. */
bool tni_storage_resize(tni_storage *storage, size_t nbytes);

static inline void tni_storage_release(tni_storage *storage)
{
    if (tni_unref(&storage->object.references))
        tni_object_destroy(&storage->object);
}

static inline void tni_storage_written(tni_storage *counter)
{
    __atomic_store_n(&counter->version, __atomic_load_n(&counter->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

#endif
