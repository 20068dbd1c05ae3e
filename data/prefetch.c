/* Worker threads and the ring of jobs between them and the loader. */
#include "prefetch.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <tenon/extend.h>
#include <unistd.h>

#include "dataset.h"

typedef enum job_state { FREE, WAITING, RUNNING, DONE } job_state;

/* One slot of the ring, that of the numbers which are it modulo the depth. */
typedef struct job {
    job_state state;
    bool in_order; /* samples from start on, instead of the index */
    int64_t number, start, n;
    int64_t *index; /* [batch_size] */
    tn_tensor *x, *y;
    tn_error error;
} job;

struct tni_prefetch {
    tn_dataset *dataset;
    int workers, started, depth;
    int64_t batch_size;
    tn_dtype default_dtype; /* of the thread that made the loader: its workers have it too */
    pid_t process;          /* that the threads belong to */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t *threads; /* [workers] */
    int64_t *indices;   /* [depth, batch_size] */
    job *jobs;          /* [depth] */
};

static const char function[] = "loader_next";

static void start_locks(tni_prefetch *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->process = getpid();
    p->started = 0;
}

tni_prefetch *tni_prefetch_new(tn_dataset *dataset, int workers, int depth, int64_t batch_size)
{
    size_t bytes;
    if (__builtin_mul_overflow((size_t)depth * sizeof(int64_t), (size_t)batch_size, &bytes)) {
        TN_FAIL(TN_ERROR_OVERFLOW, "loader_new", "%d batches of %" PRId64 " samples are more than memory holds", depth,
                batch_size);
        return NULL;
    }
    tni_prefetch *p = tn_allocate(sizeof *p, "loader_new");
    if (!p)
        return NULL;
    p->dataset = dataset;
    p->workers = workers;
    p->depth = depth;
    p->batch_size = batch_size;
    p->default_dtype = tn_get_default_dtype();
    start_locks(p);
    p->threads = tn_allocate((size_t)workers * sizeof *p->threads, "loader_new");
    p->indices = tn_allocate(bytes, "loader_new");
    p->jobs = tn_allocate((size_t)depth * sizeof *p->jobs, "loader_new");
    if (tn_error_code()) {
        tni_prefetch_free(p);
        return NULL;
    }
    for (int i = 0; i < depth; i++)
        p->jobs[i].index = p->indices + i * batch_size;
    return p;
}

/* In a forked child: no thread is there, what was being made is made again, what is done stays. */
static void adopt_after_fork(tni_prefetch *p)
{
    if (p->process == getpid())
        return;
    start_locks(p);
    p->stop = false;
    for (int i = 0; i < p->depth && p->jobs; i++)
        if (p->jobs[i].state == RUNNING) {
            p->jobs[i].state = WAITING;
            p->jobs[i].x = p->jobs[i].y = NULL;
        }
}

static void run(tni_prefetch *p, job *j)
{
    const int64_t *index = j->in_order ? NULL : j->index;
    tn_scope scope = tn_scope_begin();
    tn_set_default_dtype(p->default_dtype);
    tni_dataset_batch(p->dataset, index, j->start, j->n, &j->x, &j->y);
    tn_scope_end(scope);
    tn_error_push(&j->error);
}

static job *next_job(tni_prefetch *p)
{
    job *next = NULL;
    for (int i = 0; i < p->depth; i++)
        if (p->jobs[i].state == WAITING && (!next || p->jobs[i].number < next->number))
            next = &p->jobs[i];
    return next;
}

static void *worker(void *context)
{
    tni_prefetch *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        job *j = next_job(p);
        if (!j) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        j->state = RUNNING;
        pthread_mutex_unlock(&p->lock);
        run(p, j);
        pthread_mutex_lock(&p->lock);
        j->state = DONE;
        pthread_cond_broadcast(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals go to the host's own threads. Some of the workers are enough. */
static tn_status start_threads(tni_prefetch *p)
{
    if (p->started > 0)
        return TN_OK;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (p->started < p->workers && pthread_create(&p->threads[p->started], NULL, worker, p) == 0)
        p->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return p->started > 0
               ? TN_OK
               : TN_FAIL(TN_ERROR_MEMORY, function, "none of %d worker threads could be started", p->workers);
}

tn_status tni_prefetch_ask(tni_prefetch *p, int64_t number, const int64_t *index, int64_t start, int64_t n)
{
    adopt_after_fork(p);
    if (start_threads(p))
        return tn_error_code();
    job *j = &p->jobs[number % p->depth];
    pthread_mutex_lock(&p->lock);
    if (j->state == FREE) {
        j->in_order = !index;
        j->number = number;
        j->start = start;
        j->n = n;
        if (index)
            memcpy(j->index, index, (size_t)n * sizeof *index);
        j->state = WAITING;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return TN_OK;
}

tn_status tni_prefetch_take(tni_prefetch *p, int64_t number, tn_tensor **x, tn_tensor **y)
{
    job *j = &p->jobs[number % p->depth];
    pthread_mutex_lock(&p->lock);
    while (j->state != DONE)
        pthread_cond_wait(&p->done, &p->lock);
    j->state = FREE;
    pthread_mutex_unlock(&p->lock);
    *x = j->x;
    *y = j->y;
    j->x = j->y = NULL;
    if (j->error.code)
        tn_error_pop(&j->error);
    return tn_error_code();
}

void tni_prefetch_cancel(tni_prefetch *p)
{
    adopt_after_fork(p);
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < p->depth; i++) {
        job *j = &p->jobs[i];
        while (j->state == RUNNING)
            pthread_cond_wait(&p->done, &p->lock);
        if (j->state == DONE) {
            tn_release(&j->x);
            tn_release(&j->y);
        }
        j->state = FREE;
    }
    pthread_mutex_unlock(&p->lock);
}

void tni_prefetch_free(tni_prefetch *p)
{
    if (!p)
        return;
    if (p->jobs)
        tni_prefetch_cancel(p);
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    tn_deallocate(p->threads, (size_t)p->workers * sizeof *p->threads);
    tn_deallocate(p->indices, (size_t)p->depth * (size_t)p->batch_size * sizeof *p->indices);
    tn_deallocate(p->jobs, (size_t)p->depth * sizeof *p->jobs);
    tn_deallocate(p, sizeof *p);
}
