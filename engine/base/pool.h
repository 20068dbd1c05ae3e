/* Threads that share a loop: one pool for the process, started when first needed.
 *
 * The work is cut into chunks whose number and borders depend on the problem alone, never on the threads, so that every
 * number of threads gives the same bits. */
#ifndef TNI_BASE_POOL_H
#define TNI_BASE_POOL_H

#include <stdatomic.h>
#include <stdint.h>

/* 0 until it is set or asked for. */
extern _Atomic int tni_pool_threads;
int tni_pool_default_threads(void);

/* The threads that tni_parallel_for may use, the caller included. */
static inline int tni_num_threads(void)
{
    int threads = atomic_load_explicit(&tni_pool_threads, memory_order_relaxed);
    return threads > 0 ? threads : tni_pool_default_threads();
}

/* Calls body(context, chunk) once for each chunk 0 .. chunks - 1, on this thread and the pool's, and returns when all
 * are done; what they wrote is then visible here. Any thread may take any chunk, in any order. From within a body, or
 * while another thread has the pool, the loop runs on the caller alone. Every chunk runs even if one fails. An error
 * that bodies raise is handed to the caller, that of the lowest chunk, unless the caller had one pending. Bodies see
 * the caller's dispatch masks and no other state of its thread. Cost about 1 us while the pool is warm (it was used in
 * the last 20 us or so), else that of waking threads. */
void tni_parallel_for(int64_t chunks, void (*body)(void *context, int64_t chunk), void *context);

#endif
