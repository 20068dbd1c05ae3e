/* Memory: one allocator for the whole library, replaceable, counted, limited, and able to fail on purpose.
 *
 * Blocks of up to 1 MiB are cached by size class per thread, larger ones in one list for the process; both within a
 * bound. Under AddressSanitizer nothing is cached. A single block of more than 512 GiB is refused as if there were no
 * memory. Every function here is thread-safe unless it says otherwise. */
#ifndef TENON_ALLOC_H
#define TENON_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>

TN_BEGIN

/* Where blocks come from. allocate returns a block of `bytes` aligned to `alignment` (a power of two, at least 64), or
 * NULL; release takes it back with the same `bytes`. Both may be called from any thread. */
typedef struct tn_allocator {
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *block, size_t bytes);
    void *context;
} tn_allocator;

/* Replaces the allocator; NULL brings the built-in one back. Blocks that are cached go back to the old one first.
 * It works while no block of the old one is in use: every object has died, blocks of tn_allocate were given back, and
 * no other thread that lives has used scopes or objects. The calling thread's own scopes do not count when none but the
 * root is open and it holds nothing. Not to be called while another thread uses Tenon.
 * errors  TN_ERROR_STATE (blocks of the old allocator are in use), TN_ERROR_ARGUMENT (a function is missing); then
 *         nothing changes */
TN_API tn_status tn_set_allocator(const tn_allocator *allocator);

typedef struct tn_memory_stats {
    int64_t allocations;         /* logical allocations since the process began, cached or not */
    int64_t live_blocks;         /* in use now */
    int64_t live_bytes;          /* in use now, rounded up to size classes */
    int64_t reserved_bytes;      /* taken from the allocator: in use and cached */
    int64_t peak_reserved_bytes; /* the most that reserved_bytes has been */
} tn_memory_stats;

/* The counts of all threads together. Exact while no other thread allocates. Works while an error is pending.
 * errors  none
 * cost    O(threads) */
TN_API tn_memory_stats tn_get_memory_stats(void);

/* reserved_bytes may not exceed `bytes` (SIZE_MAX: no limit, the default). An allocation that would exceed it, or that
 * the allocator refuses, first gives back the calling thread's cached blocks and the process's large ones and is tried
 * again; what other threads have cached stays. If that is not enough it fails with TN_ERROR_MEMORY.
 * errors  none */
TN_API void tn_set_memory_limit(size_t bytes);

/* Bounds for cached blocks: of each thread (default 16 MiB) and of the process for blocks over 1 MiB (default 256 MiB).
 * What the calling thread has cached, and large blocks beyond the new bound, are given back at once; what other threads
 * have cached already may stay until they use it or end.
 * errors  none */
TN_API void tn_set_cache_limits(size_t thread_bytes, size_t large_bytes);

/* Gives the calling thread's cached blocks and the process's large ones back to the allocator.
 * errors  none */
TN_API void tn_trim_memory(void);

/* Fault injection: the next `after` logical allocations of the process succeed, then one fails, or all do when
 * `for_good`. A negative `after` switches it off. Cached blocks count too, so the k-th allocation is the same in every
 * build.
 * errors  none */
TN_API void tn_fail_allocation(int64_t after, bool for_good);

/* True when an injected failure has happened since tn_fail_allocation was last called.
 * errors  none */
TN_API bool tn_allocation_failed(void);

TN_END

#endif
