/* Memory of the library: 64-byte aligned blocks, given back with the size they were asked for.
 *
 * The sizes are known wherever memory is freed, so blocks carry no header. The common case, a block of up to 4 KiB that
 * this thread has cached, is inline. */
#ifndef TNI_BASE_ALLOC_H
#define TNI_BASE_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/thread.h"

#if defined(__SANITIZE_ADDRESS__)
#define TNI_EXACT_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TNI_EXACT_BLOCKS 1
#endif
#endif
#ifndef TNI_EXACT_BLOCKS
#define TNI_EXACT_BLOCKS 0
#endif

enum {
    TNI_SMALL_STEP = 64,     /* small classes are its multiples: 64, 128 ... 4096 */
    TNI_SMALL_CLASSES = 65,  /* index = size / 64 rounded up; index 0 is unused */
    TNI_MIDDLE_CLASSES = 32, /* 4 KiB .. 1 MiB, four a doubling */
    TNI_CLASSES = TNI_SMALL_CLASSES + TNI_MIDDLE_CLASSES,
};

#define TNI_SMALL_LIMIT ((size_t)4096)
#define TNI_MIDDLE_LIMIT ((size_t)1 << 20)

typedef struct tni_free_block {
    struct tni_free_block *next;
} tni_free_block;

/* One size class of a thread. The counters are written by the owner alone and read by anybody: relaxed. All that is
 * told of memory is made of them. */
typedef struct tni_size_class {
    tni_free_block *head; /* blocks that are kept */
    _Atomic int64_t allocations;
    _Atomic int64_t releases; /* may be more than allocations: blocks made elsewhere and freed here */
} tni_size_class;

typedef struct tni_block_cache {
    size_t kept;      /* bytes of all blocks that are kept */
    int next_emptied; /* the class that gives way next when they are too many */
    tni_size_class classes[TNI_CLASSES]; /* small ones first */
    _Atomic int64_t large_allocations, large_live_blocks, large_live_bytes;
    tni_thread *owner;
    struct tni_block_cache *next, *previous; /* list of all threads' caches, under the allocator's lock */
} tni_block_cache;

/* Nonzero when the inline path must not be taken: fault injection is armed. Always nonzero under AddressSanitizer. */
extern _Atomic int tni_alloc_careful;
/* The most bytes that a thread keeps. */
extern _Atomic size_t tni_thread_limit;

/* The source of blocks unless tn_set_allocator gave another: its two functions. */
void *tni_system_allocate(void *context, size_t bytes, size_t alignment);
void tni_system_release(void *context, void *block, size_t bytes);

void *tni_alloc_slow(size_t bytes);
void tni_free_slow(void *block, size_t bytes);

static inline void tni_count(_Atomic int64_t *counter, int64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

/* tni_alloc from the blocks that this thread has kept; NULL when it has none, or must not look: tni_alloc then does
 * it in full. */
static inline __attribute__((always_inline)) void *tni_alloc_kept(size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    if (TNI_LIKELY(bytes - 1 < TNI_SMALL_LIMIT && cache &&
                   !atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))) {
        size_t index = (bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP;
        tni_size_class *size = &cache->classes[index];
        tni_free_block *block = size->head;
        if (TNI_LIKELY(block != NULL)) {
            size->head = block->next;
            cache->kept -= index * TNI_SMALL_STEP;
            tni_count(&size->allocations, 1);
            return block;
        }
    }
    return NULL;
}

/* A block of at least `bytes` (0 counts as 1), aligned to 64, content undefined. NULL with no error raised when there
 * is none: the caller names itself in TNI_FAIL_MEMORY. */
static inline void *tni_alloc(size_t bytes)
{
    void *block = tni_alloc_kept(bytes);
    return TNI_LIKELY(block != NULL) ? block : tni_alloc_slow(bytes);
}

/* Takes back a block of tni_alloc(bytes); NULL is ignored. Works while an error is pending. */
static inline __attribute__((always_inline)) void tni_free(void *pointer, size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    if (TNI_LIKELY(pointer && bytes - 1 < TNI_SMALL_LIMIT && cache &&
                   !atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))) {
        size_t index = (bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP;
        tni_size_class *size = &cache->classes[index];
        size_t kept = cache->kept + index * TNI_SMALL_STEP;
        if (TNI_LIKELY(kept <= atomic_load_explicit(&tni_thread_limit, memory_order_relaxed))) {
            tni_free_block *block = pointer;
            block->next = size->head;
            size->head = block;
            cache->kept = kept;
            tni_count(&size->releases, 1);
            return;
        }
    }
    tni_free_slow(pointer, bytes);
}

/* tni_alloc, zero-filled. */
static inline void *tni_alloc_zeroed(size_t bytes)
{
    void *block = tni_alloc(bytes);
    if (block)
        memset(block, 0, bytes ? bytes : 1);
    return block;
}

#define TNI_FAIL_MEMORY(function, bytes) \
    TNI_FAIL(TN_ERROR_MEMORY, (function), "no memory for %zu bytes", (size_t)(bytes))

#endif
