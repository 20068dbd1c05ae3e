/* Reference counts: atomic, but without a locked instruction where none is needed.
 *
 * Two cases need none: a count of 1 seen with acquire order belongs to the caller alone, and a process that never
 * made a second thread (glibc says so in __libc_single_threaded) has nobody to race with. A locked add costs 5 ns,
 * half a view. Counts are plain integers touched through the atomic builtins, because a public struct that C++ reads
 * holds one. */
#ifndef TNI_BASE_REFCOUNT_H
#define TNI_BASE_REFCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define TNI_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TNI_THREAD_SANITIZER 1
#endif
#endif

#if defined(__has_include) && !defined(TNI_THREAD_SANITIZER)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define TNI_SINGLE_THREADED __libc_single_threaded
#endif
#endif
#ifndef TNI_SINGLE_THREADED
#define TNI_SINGLE_THREADED 0
#endif

typedef uint32_t tni_refcount;

static inline void tni_ref(tni_refcount *count)
{
    if (TNI_SINGLE_THREADED)
        __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* True when that was the last reference: the caller then destroys the object. */
static inline bool tni_unref(tni_refcount *count)
{
    uint32_t now = __atomic_load_n(count, __ATOMIC_ACQUIRE);
    if (now == 1)
        return true;
    if (TNI_SINGLE_THREADED) {
        __atomic_store_n(count, now - 1, __ATOMIC_RELAXED);
        return false;
    }
    return __atomic_fetch_sub(count, 1, __ATOMIC_ACQ_REL) == 1;
}

static inline uint32_t tni_ref_now(const tni_refcount *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

#endif
