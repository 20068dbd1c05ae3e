/* The thread pool.
 *
 * One job at a time. Its caller owns the pool (mutex `owner`), fills in `job`, opens the gate and wakes sleepers;
 * chunks are handed out by one counter. The caller never waits for a worker to wake up: a worker enters through the
 * gate, which counts those inside, and when the chunks are all handed out the caller shuts it and waits for the count
 * alone. A worker that comes late finds the gate shut and goes back to wait.
 *
 * Workers look for a new job for a while before they sleep, and the caller does so before it sleeps on the last worker.
 * A forked child has none of the workers: it forgets the pool and starts anew when needed. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <tenon/threads.h>
#include <unistd.h>

#include "base/error.h"

enum {
    MOST_THREADS = 1024,
    SPINS = 1000, /* of a pause each: 10 to 45 us */
};

#define GATE_SHUT ((uint32_t)1 << 31)

typedef struct pool_job {
    void (*body)(void *context, int64_t chunk);
    void *context;
    int64_t chunks;
    uint64_t include, exclude;
} pool_job;

_Atomic int tni_pool_threads;

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER; /* of everything down to `job` */
static pthread_t workers[MOST_THREADS];
static int started;  /* workers that run */
static int tried;    /* workers that were to run: those that could not be made are not tried again */
static pool_job job; /* read by workers inside the gate */

static _Atomic int64_t next_chunk;
static _Atomic uint32_t gate = GATE_SHUT;
static _Atomic uint32_t job_number;
static _Atomic int spins = SPINS; /* 0 when there are more threads than CPUs: spinning would keep others from working */
static atomic_bool stop;

/* Sleeping, and the error of the job's lowest failed chunk. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t new_job = PTHREAD_COND_INITIALIZER;
static pthread_cond_t gate_empty = PTHREAD_COND_INITIALIZER;
static _Atomic int sleepers;
static atomic_bool caller_sleeps;
static int64_t failed_chunk; /* -1: none */
static tn_error failure;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static int available_cpus(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set); /* 1024 at most */
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > MOST_THREADS ? MOST_THREADS : (int)online;
}

int tni_pool_default_threads(void)
{
    int none = 0, cpus = available_cpus();
    return atomic_compare_exchange_strong(&tni_pool_threads, &none, cpus) ? cpus : none;
}

static void in_child(void)
{
    pthread_mutex_init(&owner, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&new_job, NULL);
    pthread_cond_init(&gate_empty, NULL);
    started = tried = 0;
    atomic_store(&gate, GATE_SHUT);
    atomic_store(&sleepers, 0);
    atomic_store(&caller_sleeps, false);
    atomic_store(&stop, false);
    inside = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

/* Keeps the error that the chunk left on this thread if its chunk is the lowest yet. */
static void take_failure(int64_t chunk)
{
    pthread_mutex_lock(&lock);
    if (failed_chunk < 0 || chunk < failed_chunk) {
        failed_chunk = chunk;
        failure = tni_this_thread.error;
    }
    pthread_mutex_unlock(&lock);
    tn_error_clear();
}

static void run_chunks(bool keep_errors)
{
    int64_t chunk;
    inside = true;
    while ((chunk = atomic_fetch_add_explicit(&next_chunk, 1, memory_order_relaxed)) < job.chunks) {
        job.body(job.context, chunk);
        if (TNI_UNLIKELY(tni_pending() != TN_OK) && keep_errors)
            take_failure(chunk);
    }
    inside = false;
}

static bool enter_gate(void)
{
    uint32_t now = atomic_load(&gate);
    while (!(now & GATE_SHUT))
        if (atomic_compare_exchange_weak(&gate, &now, now + 1))
            return true;
    return false;
}

static void leave_gate(void)
{
    if (atomic_fetch_sub(&gate, 1) - 1 != GATE_SHUT || !atomic_load(&caller_sleeps))
        return;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&gate_empty);
    pthread_mutex_unlock(&lock);
}

/* Returns the number of a job that is not `seen`. */
static uint32_t await_job(uint32_t seen)
{
    uint32_t now = seen;
    for (int left = atomic_load_explicit(&spins, memory_order_relaxed); left > 0; left--) {
        now = atomic_load(&job_number);
        if (now != seen)
            return now;
        pause_briefly();
    }
    pthread_mutex_lock(&lock);
    atomic_fetch_add(&sleepers, 1);
    while ((now = atomic_load(&job_number)) == seen)
        pthread_cond_wait(&new_job, &lock);
    atomic_fetch_sub(&sleepers, 1);
    pthread_mutex_unlock(&lock);
    return now;
}

static void *work(void *first_job)
{
    uint32_t seen = (uint32_t)(uintptr_t)first_job;
    for (;;) {
        seen = await_job(seen);
        if (atomic_load(&stop))
            return NULL;
        if (!enter_gate())
            continue;
        tni_this_thread.include = job.include;
        tni_this_thread.exclude = job.exclude;
        run_chunks(true);
        leave_gate();
    }
}

static void announce(int wanted)
{
    atomic_fetch_add(&job_number, 1);
    if (atomic_load(&sleepers) == 0)
        return;
    pthread_mutex_lock(&lock);
    int asleep = atomic_load(&sleepers);
    pthread_mutex_unlock(&lock);
    if (wanted >= asleep)
        pthread_cond_broadcast(&new_job);
    else
        for (int i = 0; i < wanted; i++)
            pthread_cond_signal(&new_job);
}

/* Makes the workers that are missing. Signals of the process are not for them. */
static void start_workers(int wanted)
{
    sigset_t all, before;
    pthread_once(&fork_once, watch_forks);
    sigfillset(&all);
    tried = wanted;
    atomic_store(&spins, wanted < available_cpus() ? SPINS : 0);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    uint32_t number = atomic_load(&job_number);
    while (started < wanted && pthread_create(&workers[started], NULL, work, (void *)(uintptr_t)number) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_workers(void)
{
    atomic_store(&stop, true);
    announce(started);
    for (int i = 0; i < started; i++)
        pthread_join(workers[i], NULL);
    atomic_store(&stop, false);
    started = tried = 0;
}

static void await_empty_gate(void)
{
    atomic_fetch_or(&gate, GATE_SHUT);
    for (int left = atomic_load_explicit(&spins, memory_order_relaxed); left > 0; left--) {
        if (atomic_load(&gate) == GATE_SHUT)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&lock);
    atomic_store(&caller_sleeps, true);
    while (atomic_load(&gate) != GATE_SHUT)
        pthread_cond_wait(&gate_empty, &lock);
    atomic_store(&caller_sleeps, false);
    pthread_mutex_unlock(&lock);
}

static void run_serially(int64_t chunks, void (*body)(void *context, int64_t chunk), void *context)
{
    bool before = inside;
    inside = true;
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        body(context, chunk);
    inside = before;
}

void tni_parallel_for(int64_t chunks, void (*body)(void *context, int64_t chunk), void *context)
{
    int threads = tni_num_threads();
    if (chunks < 2 || threads < 2 || inside || pthread_mutex_trylock(&owner) != 0) {
        run_serially(chunks, body, context);
        return;
    }
    int wanted = threads - 1;
    if (tried < wanted)
        start_workers(wanted);
    if (started == 0) {
        pthread_mutex_unlock(&owner);
        run_serially(chunks, body, context);
        return;
    }
    job = (pool_job){body, context, chunks, tni_this_thread.include, tni_this_thread.exclude};
    failed_chunk = -1;
    atomic_store_explicit(&next_chunk, 0, memory_order_relaxed);
    atomic_store(&gate, 0);
    announce(chunks - 1 < started ? (int)(chunks - 1) : started);
    bool had_none = tni_pending() == TN_OK;
    run_chunks(had_none);
    await_empty_gate();
    if (TNI_UNLIKELY(failed_chunk >= 0))
        tni_error_adopt(&failure);
    pthread_mutex_unlock(&owner);
}

tn_status tn_set_num_threads(int n)
{
    if (tni_pending() != TN_OK)
        return tni_pending();
    if (n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "set_num_threads", "n is %d, needed 1 or more", n);
    if (inside)
        return TNI_FAIL(TN_ERROR_STATE, "set_num_threads",
                        "called from within parallel work, needed a call outside of it");
    pthread_mutex_lock(&owner);
    if (started > 0 || tried > 0)
        stop_workers();
    atomic_store(&tni_pool_threads, n < MOST_THREADS ? n : MOST_THREADS);
    pthread_mutex_unlock(&owner);
    return TN_OK;
}

int tn_get_num_threads(void)
{
    return tni_num_threads();
}
