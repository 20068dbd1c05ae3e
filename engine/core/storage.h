/* Storage: one row of bytes without a shape, shared by reference count, and the version counter that its tensors share.
 *
 * Note [Version counters]
 * A counter lives inside a storage, and a reference to that storage keeps it. A tensor names the storage whose
 * counter it uses; nearly always that is its own storage, and then one reference serves for both. A tensor whose
 * counter lives elsewhere (after set_, or .data with a fresh counter: a storage of no bytes) holds a second
 * reference.
 *
 * Note [Borrowed storage]
 * A tensor's counter is never replaced while the tensor lives, and it keeps that storage, whatever storage it reads by
 * then. A view of it that reads that very storage therefore holds no reference of its own, neither for data nor
 * counter: its base has one. Whatever gives such a view another storage must take its references first. A storage's
 * count does not tell how many read it: who wants to be alone must ask for the references of the base too.
 *
 * Note [One block]
 * A new tensor with little data is one block of memory: the tensor, its storage, the data. The block belongs to the
 * storage: it is freed with the storage's last reference. The tensor in it keeps a reference on that storage for as
 * long as it lives, whatever storage it reads by then, so neither is ever freed under the other. Making and ending
 * such a tensor takes one allocation and no locked instruction. Data of middle size stands apart from such a block, so
 * that a tensor which was given another storage keeps that much for nothing, and no more.
 *
 * Note [Shrunk storage]
 * Tensors that reach beyond a storage's new end may live on, and nobody knows them all. So shrinking lowers nbytes
 * alone: their memory stays until the storage ends or outgrows it, and reading it is stale, not wild.
 *
 * Note [Pinned storage]
 * Whoever gave the address of the bytes away (DLPack) pins the storage: until it is unpinned it is not resized, which
 * might move it. 255 pins at once are for good. */
#ifndef TNI_CORE_STORAGE_H
#define TNI_CORE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/storage.h>

#include "base/refcount.h"
#include "core/scope.h"

enum {
    TNI_STORAGE_INLINE_DATA = 1, /* the data stands behind the struct, in its block */
    TNI_STORAGE_READ_ONLY = 2,   /* memory from outside that must not be written */
    TNI_STORAGE_WATCHED = 4      /* the tape saved a tensor that counts versions here: dispatch/writer.h */
};

struct tn_storage {
    tn_object object;
    uint32_t version; /* written by the one writer, read by anybody; wraps, as PyTorch's */
    uint16_t block;   /* bytes of the block that this struct is freed with */
    uint8_t flags;
    uint8_t pins; /* Note [Pinned storage] */
    char *data;   /* NULL on meta alone; without bytes some address that offsets may be added to */
    size_t nbytes;
    tn_deleter deleter; /* for memory that came from outside; NULL for the library's */
    union {
        void *context;   /* the deleter's */
        size_t capacity; /* bytes that the library's memory has, unless inline: Note [Shrunk storage] */
    };
};

typedef struct tn_storage tni_storage;

_Static_assert(sizeof(tni_storage) == 64, "small data begins one cache line behind the struct");

extern const tn_object_class tni_inner_storage_class; /* behind a tensor: Note [One block] */

/* Data up to this many bytes stands behind the struct. */
#define TNI_STORAGE_INLINE ((size_t)2048)

/* And up to this many stand apart, with the struct behind the tensor: Note [One block]. */
#define TNI_STORAGE_BESIDE ((size_t)16 << 10)

/* An inner storage in a block of `block` bytes, with one reference, in no scope; its data follows it. */
static inline void tni_storage_init_inner(tni_storage *storage, size_t nbytes, size_t block)
{
    tni_object_begin(&storage->object, &tni_inner_storage_class); /* a scope that holds it sets the rest */
    storage->version = 0;
    storage->block = (uint16_t)block;
    storage->flags = TNI_STORAGE_INLINE_DATA;
    storage->pins = 0;
    storage->data = (char *)storage + sizeof *storage;
    storage->nbytes = nbytes;
    storage->deleter = NULL;
}

/* A storage alone in its block, with one reference, in no scope; `meta` gives its bytes no memory. NULL when there is
 * no memory (no error raised). */
tni_storage *tni_storage_new(size_t nbytes, bool meta);

/* A storage over memory from outside, as above. The deleter (NULL: none) gets `data` as it is given here. */
tni_storage *tni_storage_around(void *data, size_t nbytes, bool read_only, tn_deleter deleter, void *context);

/* Grows or shrinks to nbytes, keeping the bytes that both have. Nothing changes on an error, raised in the name of
 * `function`: TN_ERROR_MEMORY, or TN_ERROR_STATE when the bytes are not the library's or the storage is pinned. */
tn_status tni_storage_resize(const char *function, tni_storage *storage, size_t nbytes);

/* The deleter that does nothing. */
void tni_storage_keep(void *context, void *data);

void tni_storage_pin(tni_storage *storage);
void tni_storage_unpin(tni_storage *storage);

/* Refuses to write memory that is read-only. */
tn_status tni_check_writable(const char *function, const tni_storage *storage);

static inline void tni_storage_release(tni_storage *storage)
{
    if (tni_unref(&storage->object.references))
        tni_object_destroy(&storage->object);
}

/* The tape wants to know who writes from now on. Threads that share the tensor may do this at once: they store the
 * same, since flags change otherwise only where nobody else uses the storage. */
static inline void tni_storage_watch(tni_storage *counter)
{
    const uint8_t flags = __atomic_load_n(&counter->flags, __ATOMIC_RELAXED);
    if (TNI_UNLIKELY(!(flags & TNI_STORAGE_WATCHED)))
        __atomic_store_n(&counter->flags, flags | TNI_STORAGE_WATCHED, __ATOMIC_RELAXED);
}

static inline void tni_storage_written(tni_storage *counter)
{
    uint32_t now = __atomic_load_n(&counter->version, __ATOMIC_RELAXED);
    __atomic_store_n(&counter->version, now + 1, __ATOMIC_RELAXED);
}

#endif
