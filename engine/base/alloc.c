/* The allocator: size classes per thread, one list of large blocks, a replaceable source below, counters above.
 *
 * Invariants: a block's class follows from the bytes it was asked for, so freeing needs no header below 1 MiB; a
 * large block is preceded by a header with the size that it was made with, since it may be reused for a smaller one.
 * Live counts are kept per thread and may be negative there; only their sum means something. reserved counts what is
 * taken from the source, rounded up, and is never above the limit. Under AddressSanitizer blocks have their exact
 * size and nothing is kept, but the counts are those of the other builds.
 *
 * Large blocks are reused because fresh pages cost about 0.25 us each to fault in: for a tensor of 40 MB that is longer
 * than adding two of them. */
#include "base/alloc.h"

#include <pthread.h>
#include <stdbool.h>
#include <tenon/alloc.h>

#include "base/error.h"

#define ALIGNMENT ((size_t)64)
#define LARGE_STEP ((size_t)64 << 10)      /* large blocks, with their header, are multiples of it */
#define MOST_BYTES ((size_t)1 << 39)       /* no request above it is passed on: the sanitizers end the process for it */
#define FIRST_MIDDLE_EXPONENT 12           /* TNI_SMALL_LIMIT == 1 << 12 */

enum { LARGE_ENTRIES = 512 };

typedef struct large_header {
    size_t size; /* of the whole block, header included */
} large_header;

typedef struct large_entry {
    large_header *block;
    size_t size;
    uint64_t freed_at; /* ticks of `large_clock`: the oldest gives way */
} large_entry;

_Atomic int tni_alloc_careful = TNI_EXACT_BLOCKS;
_Atomic size_t tni_thread_limit = (size_t)16 << 20;

/* One lock for the list of caches and the large blocks; no allocator is called while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static tni_block_cache *caches;
static large_entry large[LARGE_ENTRIES];
static int large_count;
static size_t large_bytes, large_limit = (size_t)256 << 20;
static uint64_t large_clock;

/* What ended threads and threads without a cache have counted. */
static _Atomic int64_t other_allocations, other_live_blocks, other_live_bytes;
static _Atomic size_t reserved, peak_reserved, reserved_limit = SIZE_MAX;

static _Atomic int64_t fail_countdown;
static atomic_bool fail_armed, fail_for_good, fail_happened;

/* Set when this thread cannot have a cache (any more): it works on without. */
static _Thread_local bool cache_refused __attribute__((tls_model("initial-exec")));

static tn_allocator source = {.allocate = tni_system_allocate, .release = tni_system_release};

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* The size of the blocks of a class. */
static size_t class_size(int class)
{
    int middle = class - TNI_SMALL_CLASSES;
    if (middle < 0)
        return (size_t)class * TNI_SMALL_STEP;
    return (size_t)(5 + middle % 4) << (FIRST_MIDDLE_EXPONENT - 2 + middle / 4);
}

/* Adds what a thread has counted. */
static void add_counts(const tni_block_cache *cache, tn_memory_stats *stats)
{
    stats->allocations += atomic_load_explicit(&cache->large_allocations, memory_order_relaxed);
    stats->live_blocks += atomic_load_explicit(&cache->large_live_blocks, memory_order_relaxed);
    stats->live_bytes += atomic_load_explicit(&cache->large_live_bytes, memory_order_relaxed);
    for (int class = 0; class < TNI_CLASSES; class++) {
        const tni_size_class *size = &cache->classes[class];
        int64_t made = atomic_load_explicit(&size->allocations, memory_order_relaxed);
        int64_t live = made - atomic_load_explicit(&size->releases, memory_order_relaxed);
        stats->allocations += made;
        stats->live_blocks += live;
        stats->live_bytes += live * (int64_t)class_size(class);
    }
}

/* Under the lock: the cache leaves the list, its counters stay. */
static void unlink_cache(tni_block_cache *cache)
{
    tn_memory_stats stats = {0};
    add_counts(cache, &stats);
    atomic_fetch_add(&other_allocations, stats.allocations);
    atomic_fetch_add(&other_live_blocks, stats.live_blocks);
    atomic_fetch_add(&other_live_bytes, stats.live_bytes);
    *(cache->previous ? &cache->previous->next : &caches) = cache->next;
    if (cache->next)
        cache->next->previous = cache->previous;
}

/* The other threads are gone in the child. What they had cached is lost to it, since they may have been stopped amid a
 * change of their lists. */
static void in_child(void)
{
    for (tni_block_cache *cache = caches, *next; cache; cache = next) {
        next = cache->next;
        if (cache != tni_this_thread.cache)
            unlink_cache(cache);
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

static void take_lock(void)
{
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&lock);
}

/* Classes of 4 KiB * 2^e * {5/4, 6/4, 7/4, 2}. bytes in (TNI_SMALL_LIMIT, TNI_MIDDLE_LIMIT]. */
static int middle_class(size_t bytes, size_t *rounded)
{
    int exponent = 63 - __builtin_clzll((unsigned long long)(bytes - 1)), shift = exponent - 2;
    size_t quarter = (bytes - 1) >> shift;
    *rounded = (quarter + 1) << shift;
    return (exponent - FIRST_MIDDLE_EXPONENT) * 4 + (int)quarter - 4;
}

/* The size that a block of `bytes` counts with, and, unless blocks are exact, has. Does not wrap below MOST_BYTES. */
static size_t block_size(size_t bytes)
{
    size_t rounded;
    if (bytes <= TNI_SMALL_LIMIT)
        return (bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP * TNI_SMALL_STEP;
    if (bytes <= TNI_MIDDLE_LIMIT) {
        middle_class(bytes, &rounded);
        return rounded;
    }
    return (bytes + ALIGNMENT + LARGE_STEP - 1) / LARGE_STEP * LARGE_STEP;
}

/* The class of a block of up to TNI_MIDDLE_LIMIT bytes. */
static tni_size_class *class_of(tni_block_cache *cache, size_t bytes)
{
    size_t rounded;
    return &cache->classes[bytes <= TNI_SMALL_LIMIT ? (int)((bytes + TNI_SMALL_STEP - 1) / TNI_SMALL_STEP)
                                                     : TNI_SMALL_CLASSES + middle_class(bytes, &rounded)];
}

/* Counts a block made (blocks 1) or released (-1). */
static void count(tni_block_cache *cache, size_t bytes, int blocks, size_t rounded)
{
    int64_t moved = blocks * (int64_t)rounded, made = blocks > 0;
    if (cache && bytes <= TNI_MIDDLE_LIMIT) {
        tni_size_class *size = class_of(cache, bytes);
        tni_count(made ? &size->allocations : &size->releases, 1);
    } else if (cache) {
        tni_count(&cache->large_allocations, made);
        tni_count(&cache->large_live_blocks, blocks);
        tni_count(&cache->large_live_bytes, moved);
    } else {
        atomic_fetch_add_explicit(&other_allocations, made, memory_order_relaxed);
        atomic_fetch_add_explicit(&other_live_blocks, blocks, memory_order_relaxed);
        atomic_fetch_add_explicit(&other_live_bytes, moved, memory_order_relaxed);
    }
}

static bool reserve(size_t bytes)
{
    size_t limit = atomic_load(&reserved_limit), now = atomic_load(&reserved);
    do {
        if (now > limit || bytes > limit - now)
            return false;
    } while (!atomic_compare_exchange_weak(&reserved, &now, now + bytes));
    return true;
}

/* From the source, counted as `rounded` bytes. */
static void *source_take(size_t bytes, size_t rounded)
{
    if (!reserve(rounded))
        return NULL;
    void *block = source.allocate(source.context, bytes, ALIGNMENT);
    if (!block) {
        atomic_fetch_sub(&reserved, rounded);
        return NULL;
    }
    size_t now = atomic_load(&reserved), peak = atomic_load(&peak_reserved);
    while (now > peak && !atomic_compare_exchange_weak(&peak_reserved, &peak, now))
        continue;
    return block;
}

static void source_give(void *block, size_t bytes, size_t rounded)
{
    source.release(source.context, block, bytes);
    atomic_fetch_sub(&reserved, rounded);
}

static void empty_class(tni_block_cache *cache, int class)
{
    tni_size_class *size = &cache->classes[class];
    while (size->head) {
        tni_free_block *block = size->head;
        size->head = block->next;
        cache->kept -= class_size(class);
        source_give(block, class_size(class), class_size(class));
    }
}

static void empty_cache(tni_block_cache *cache)
{
    for (int class = 0; class < TNI_CLASSES; class++)
        empty_class(cache, class);
}

/* Gives classes back in turn until at most `kept` bytes stay. In turn, so that a class in use is not emptied each
 * time. */
static void empty_to(tni_block_cache *cache, size_t kept)
{
    while (cache->kept > kept) {
        empty_class(cache, cache->next_emptied);
        cache->next_emptied = (cache->next_emptied + 1) % TNI_CLASSES;
    }
}

static void end_cache(tni_block_cache *cache)
{
    cache->owner->cache = NULL;
    empty_cache(cache);
    take_lock();
    unlink_cache(cache);
    pthread_mutex_unlock(&lock);
    source_give(cache, sizeof *cache, block_size(sizeof *cache));
}

/* What the thread still frees after this passes by. */
static void thread_ended(tni_thread *thread)
{
    cache_refused = true;
    if (thread->cache)
        end_cache(thread->cache);
}

/* Registers the end of the thread; raises nothing, as tni_alloc does not. */
static bool watch_end(void)
{
    bool pending = tni_pending() != TN_OK;
    bool done = tni_thread_at_end(TNI_THREAD_CACHE, thread_ended, NULL) == TN_OK;
    if (!done && !pending)
        tn_error_clear();
    return done;
}

/* The thread's cache, made if need be; NULL when it cannot be. */
static tni_block_cache *this_cache(void)
{
    tni_thread *thread = &tni_this_thread;
    if (thread->cache || cache_refused)
        return thread->cache;
    tni_block_cache *cache = source_take(sizeof *cache, block_size(sizeof *cache));
    if (!cache)
        return NULL;
    if (!watch_end()) {
        cache_refused = true;
        source_give(cache, sizeof *cache, block_size(sizeof *cache));
        return NULL;
    }
    memset(cache, 0, sizeof *cache);
    cache->owner = thread;
    take_lock();
    cache->next = caches;
    if (caches)
        caches->previous = cache;
    caches = cache;
    pthread_mutex_unlock(&lock);
    thread->cache = cache;
    return cache;
}

/* Under the lock: takes entry i off the list. */
static large_header *large_remove(int i)
{
    large_header *block = large[i].block;
    large_bytes -= large[i].size;
    large[i] = large[--large_count];
    return block;
}

/* The smallest kept block of at least `size` that wastes no more than a quarter of itself. */
static large_header *large_take(size_t size)
{
    take_lock();
    int best = -1;
    for (int i = 0; i < large_count; i++)
        if (large[i].size >= size && large[i].size - size <= large[i].size / 4 &&
            (best < 0 || large[i].size < large[best].size))
            best = i;
    large_header *block = best < 0 ? NULL : large_remove(best);
    pthread_mutex_unlock(&lock);
    return block;
}

/* Gives the blocks freed longest ago back until at most `kept` bytes in at most `entries` blocks stay. */
static void large_empty(size_t kept, int entries)
{
    for (;;) {
        take_lock();
        large_header *block = NULL;
        if (large_bytes > kept || large_count > entries) {
            int oldest = 0;
            for (int i = 1; i < large_count; i++)
                if (large[i].freed_at < large[oldest].freed_at)
                    oldest = i;
            block = large_remove(oldest);
        }
        pthread_mutex_unlock(&lock);
        if (!block)
            return;
        source_give(block, block->size, block->size);
    }
}

static void large_keep(large_header *block)
{
    size_t size = block->size;
    take_lock();
    size_t limit = large_limit;
    bool fits = size <= limit;
    if (fits && large_count < LARGE_ENTRIES) {
        large[large_count++] = (large_entry){block, size, large_clock++};
        large_bytes += size;
        block = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (block)
        source_give(block, size, size);
    large_empty(limit, LARGE_ENTRIES - 1);
}

/* One logical allocation passes: true when it is to fail. */
static bool injected(void)
{
    if (TNI_LIKELY(!atomic_load_explicit(&fail_armed, memory_order_relaxed)))
        return false;
    int64_t left = atomic_fetch_sub(&fail_countdown, 1);
    if (left > 0 || (left < 0 && !atomic_load(&fail_for_good)))
        return false;
    atomic_store(&fail_happened, true);
    return true;
}

static void *take_cached(tni_block_cache *cache, size_t bytes, size_t rounded)
{
    tni_size_class *size = cache ? class_of(cache, bytes) : NULL;
    if (!size || !size->head)
        return source_take(rounded, rounded);
    tni_free_block *block = size->head;
    size->head = block->next;
    cache->kept -= rounded;
    return block;
}

static void *take_large(size_t rounded)
{
    large_header *header = large_take(rounded);
    if (!header) {
        header = source_take(rounded, rounded);
        if (!header)
            return NULL;
        header->size = rounded;
    }
    return (char *)header + ALIGNMENT;
}

static void *take(tni_block_cache *cache, size_t bytes, size_t rounded)
{
    if (TNI_EXACT_BLOCKS)
        return source_take(bytes, rounded);
    return bytes > TNI_MIDDLE_LIMIT ? take_large(rounded) : take_cached(cache, bytes, rounded);
}

/* A block of middle size that this thread has kept; NULL when it has none, or must not look. */
static inline void *take_middle(size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    size_t rounded;
    if (!cache || bytes <= TNI_SMALL_LIMIT || bytes > TNI_MIDDLE_LIMIT ||
        atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))
        return NULL;
    tni_size_class *size = &cache->classes[TNI_SMALL_CLASSES + middle_class(bytes, &rounded)];
    tni_free_block *block = size->head;
    if (!block)
        return NULL;
    size->head = block->next;
    cache->kept -= rounded;
    tni_count(&size->allocations, 1);
    return block;
}

void *tni_alloc_slow(size_t bytes)
{
    void *kept = take_middle(bytes);
    if (TNI_LIKELY(kept != NULL))
        return kept;
    if (bytes == 0)
        bytes = 1;
    tni_block_cache *cache = this_cache();
    if (injected() || bytes > MOST_BYTES)
        return NULL;
    size_t rounded = block_size(bytes);
    void *block = take(cache, bytes, rounded);
    if (!block) {
        tn_trim_memory();
        block = take(cache, bytes, rounded);
    }
    if (block)
        count(cache, bytes, 1, rounded);
    return block;
}

static void keep_block(tni_block_cache *cache, void *block, size_t bytes, size_t rounded)
{
    const size_t limit = atomic_load_explicit(&tni_thread_limit, memory_order_relaxed);
    if (!cache || rounded > limit) {
        source_give(block, rounded, rounded);
        return;
    }
    empty_to(cache, limit - rounded);
    tni_size_class *size = class_of(cache, bytes);
    tni_free_block *freed = block;
    freed->next = size->head;
    size->head = freed;
    cache->kept += rounded;
}

/* Keeps a block of middle size where that is within the thread's limit and allowed; else false. */
static inline bool keep_middle(void *block, size_t bytes)
{
    tni_block_cache *cache = tni_this_thread.cache;
    size_t rounded;
    if (!block || !cache || bytes <= TNI_SMALL_LIMIT || bytes > TNI_MIDDLE_LIMIT ||
        atomic_load_explicit(&tni_alloc_careful, memory_order_relaxed))
        return false;
    tni_size_class *size = &cache->classes[TNI_SMALL_CLASSES + middle_class(bytes, &rounded)];
    if (cache->kept + rounded > atomic_load_explicit(&tni_thread_limit, memory_order_relaxed))
        return false;
    tni_free_block *freed = block;
    freed->next = size->head;
    size->head = freed;
    cache->kept += rounded;
    tni_count(&size->releases, 1);
    return true;
}

void tni_free_slow(void *block, size_t bytes)
{
    if (TNI_LIKELY(keep_middle(block, bytes)))
        return;
    if (!block)
        return;
    if (bytes == 0)
        bytes = 1;
    tni_block_cache *cache = tni_this_thread.cache;
    size_t rounded = block_size(bytes);
    count(cache, bytes, -1, rounded);
    if (TNI_EXACT_BLOCKS)
        source_give(block, bytes, rounded);
    else if (bytes > TNI_MIDDLE_LIMIT)
        large_keep((large_header *)((char *)block - ALIGNMENT));
    else
        keep_block(cache, block, bytes, rounded);
}

tn_memory_stats tn_get_memory_stats(void)
{
    take_lock();
    tn_memory_stats stats = {
        .allocations = atomic_load(&other_allocations),
        .live_blocks = atomic_load(&other_live_blocks),
        .live_bytes = atomic_load(&other_live_bytes),
        .reserved_bytes = (int64_t)atomic_load(&reserved),
        .peak_reserved_bytes = (int64_t)atomic_load(&peak_reserved),
    };
    for (const tni_block_cache *cache = caches; cache; cache = cache->next)
        add_counts(cache, &stats);
    pthread_mutex_unlock(&lock);
    return stats;
}

tn_status tn_set_allocator(const tn_allocator *allocator)
{
    if (tni_pending() != TN_OK)
        return tni_pending();
    if (allocator && (!allocator->allocate || !allocator->release))
        return TNI_FAIL(TN_ERROR_ARGUMENT, "set_allocator", "%s is NULL, needed allocate and release",
                        allocator->allocate ? "release" : "allocate");
    tni_thread_idle();
    int64_t live = tn_get_memory_stats().live_blocks;
    if (live != 0)
        return TNI_FAIL(TN_ERROR_STATE, "set_allocator", "%lld blocks of the old allocator are in use, needed none",
                        (long long)live);
    while (caches)
        end_cache(caches);
    large_empty(0, 0);
    source = allocator ? *allocator : (tn_allocator){.allocate = tni_system_allocate, .release = tni_system_release};
    return TN_OK;
}

void tn_set_memory_limit(size_t bytes)
{
    atomic_store(&reserved_limit, bytes);
}

void tn_set_cache_limits(size_t thread_bytes, size_t new_large_bytes)
{
    atomic_store(&tni_thread_limit, thread_bytes);
    if (tni_this_thread.cache)
        empty_cache(tni_this_thread.cache);
    take_lock();
    large_limit = new_large_bytes;
    pthread_mutex_unlock(&lock);
    large_empty(new_large_bytes, LARGE_ENTRIES - 1);
}

void tn_trim_memory(void)
{
    if (tni_this_thread.cache)
        empty_cache(tni_this_thread.cache);
    large_empty(0, 0);
}

void tn_fail_allocation(int64_t after, bool for_good)
{
    bool armed = after >= 0;
    atomic_store(&fail_countdown, after);
    atomic_store(&fail_for_good, for_good);
    atomic_store(&fail_happened, false);
    atomic_store(&fail_armed, armed);
    atomic_store(&tni_alloc_careful, armed || TNI_EXACT_BLOCKS);
}

bool tn_allocation_failed(void)
{
    return atomic_load(&fail_happened);
}
