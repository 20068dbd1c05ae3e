/* Memory of the library: 64-byte aligned blocks, given back with the size they were asked for.
 *
 * The sizes are known wherever memory is freed, so blocks carry no header. The common case, a block of up to 1 KiB that
 * this thread has cached, is inline. */
#ifndef TNI_BASE_ALLOC_H
#define TNI_BASE_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/thread.h"

enum {
    TNI_SMALL_STEP = 64,     /* small classes are its multiples: 64, 128 ... 1024 */
    TNI_SMALL_CLASSES = 17,  /* index = size / 64 rounded up; index 0 is unused */
    TNI_MIDDLE_CLASSES = 40, /* 1 KiB .. 1 MiB, four a doubling */
};

#define TNI_SMALL_LIMIT ((size_t)1024)
#define TNI_MIDDLE_LIMIT ((size_t)1 << 20)

typedef struct tni_free_block {
    struct tni_free_block *next;
} tni_free_block;

/* A thread's cached blocks and counters. The counters are written by the owner alone and read by anybody: relaxed. */
typedef struct tni_block_cache {
    tni_free_block *small[TNI_SMALL_CLASSES];
    tni_free_block *middle[TNI_MIDDLE_CLASSES];
    _Atomic int64_t allocations;
    _Atomic int64_t live_blocks; /* may be negative: blocks made elsewhere and freed here */
    _Atomic int64_t live_bytes;
    size_t cached_bytes;
    int next_emptied;                        /* the class that gives way next when the cache is full */
    tni_thread *owner;
    struct tni_block_cache *next, *previous; /* list of all threads' caches, under the allocator's lock */
} tni_block_cache;

/* Nonzero when the inline path must not be taken: fault injection is armed. Always nonzero under AddressSanitizer. */
extern _Atomic int tni_alloc_careful;
/* The most that a thread may keep. */
extern _Atomic size_t tni_thread_cache_limit;

void *tni_alloc_slow(size_t bytes);
void tni_free_slow(void *block, size_t bytes);

static inline void tni_count(_Atomic int64_t *counter, int64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

/* A block of at least `bytes` (0 counts as 1), aligned to 64, content undefined. NULL with no error raised when there is
 * none: the caller names itself in TNI_FAIL_MEMORY. */
static inline void *tni_alloc(size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    if (TNI_LIKELY(bytes - 1 < TNI_SMALL_LIMIT && cache &&
                   !atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))) {
        size_t index = (bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP;
        tni_free_block *block = cache->small[index];
        if (TNI_LIKELY(block != NULL)) {
            cache->small[index] = block->next;
            cache->cached_bytes -= index * TNI_SMALL_STEP;
            tni_count(&cache->allocations, 1);
            tni_count(&cache->live_blocks, 1);
            tni_count(&cache->live_bytes, (int64_t)(index * TNI_SMALL_STEP));
            return block;
        }
    }
    return tni_alloc_slow(bytes);
}

/* Takes back a block of tni_alloc(bytes); NULL is ignored. Works while an error is pending. */
static inline void tni_free(void *pointer, size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    if (TNI_LIKELY(pointer && bytes - 1 < TNI_SMALL_LIMIT && cache &&
                   !atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))) {
        size_t index = (bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP, rounded = index * TNI_SMALL_STEP;
        size_t limit = atomic_load_explicit(&tni_thread_cache_limit, memory_order_relaxed);
        if (TNI_LIKELY(cache->cached_bytes + rounded <= limit)) {
            tni_free_block *block = pointer;
            block->next = cache->small[index];
            cache->small[index] = block;
            cache->cached_bytes += rounded;
            tni_count(&cache->live_blocks, -1);
            tni_count(&cache->live_bytes, -(int64_t)rounded);
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
