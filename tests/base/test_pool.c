/* The thread pool: every chunk once, errors, nesting, several callers, forks, ends. */
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tenon/alloc.h>
#include <tenon/threads.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/refcount.h"

enum { MOST_CHUNKS = 5000 };

typedef struct tally {
    int times[MOST_CHUNKS]; /* plain: a chunk that two threads take is a race, and a lost write too */
} tally;

static void count_chunk(void *context, int64_t chunk)
{
    ((tally *)context)->times[chunk]++;
}

/* The first chunk that did not run once, or -1. */
static int64_t run_all(tally *t, int64_t chunks)
{
    memset(t, 0, sizeof *t);
    tni_parallel_for(chunks, count_chunk, t);
    for (int64_t i = 0; i < MOST_CHUNKS; i++)
        if (t->times[i] != (i < chunks))
            return i;
    return -1;
}

static void rest(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

static void count_late(void *context, int64_t chunk)
{
    rest(20);
    ((tally *)context)->times[chunk]++;
}

/* Workers are still at it when the caller has run out of chunks. */
static void the_last_chunk_is_awaited(void **state)
{
    (void)state;
    for (int threads = 2; threads <= 5; threads++) {
        tn_set_num_threads(threads);
        for (int again = 0; again < 200; again++) {
            tally *t = calloc(1, sizeof *t);
            assert_non_null(t);
            int chunks = threads + again % 2;
            tni_parallel_for(chunks, count_late, t);
            for (int i = 0; i < chunks; i++)
                if (t->times[i] != 1)
                    fail_msg("%d threads: chunk %d of %d ran %d times", threads, i, chunks, t->times[i]);
            free(t);
        }
    }
}

static void every_chunk_once(void **state)
{
    (void)state;
    static tally t;
    for (int threads = 1; threads <= 5; threads++) {
        assert_int_equal(tn_set_num_threads(threads), TN_OK);
        assert_int_equal(tn_get_num_threads(), threads);
        assert_int_equal(tni_num_threads(), threads);
        for (int64_t chunks = 0; chunks < 40; chunks++)
            for (int again = 0; again < 20; again++) {
                int64_t wrong = run_all(&t, chunks);
                if (wrong >= 0)
                    fail_msg("%d threads, %lld chunks: chunk %lld ran %d times", threads, (long long)chunks,
                             (long long)wrong, t.times[wrong]);
            }
        assert_int_equal(run_all(&t, MOST_CHUNKS), -1);
        rest(3000); /* they sleep */
        assert_int_equal(run_all(&t, 100), -1);
    }
    tni_parallel_for(-3, count_chunk, NULL);
}

static void arguments(void **state)
{
    (void)state;
    assert_int_equal(tn_set_num_threads(3), TN_OK);
    assert_int_equal(tn_set_num_threads(0), TN_ERROR_ARGUMENT);
    assert_string_equal(tn_error_message(), "set_num_threads: n is 0, needed 1 or more");
    assert_int_equal(tn_set_num_threads(2), TN_ERROR_ARGUMENT); /* pending */
    tn_error_clear();
    assert_int_equal(tn_set_num_threads(-1), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_get_num_threads(), 3);
    assert_int_equal(tn_set_num_threads(100000), TN_OK);
    assert_int_equal(tn_get_num_threads(), 1024);
}

static void change_threads(void *context, int64_t chunk)
{
    (void)context;
    if (chunk == 0)
        tn_set_num_threads(1);
}

static void not_from_within(void **state)
{
    (void)state;
    tn_set_num_threads(2);
    for (int64_t chunks = 1; chunks < 3; chunks++) {
        tni_parallel_for(chunks, change_threads, NULL);
        assert_int_equal(tn_error_code(), TN_ERROR_STATE);
        tn_error_clear();
    }
    assert_int_equal(tn_get_num_threads(), 2);
}

static void fail_some(void *context, int64_t chunk)
{
    const int64_t *first = context;
    if (chunk == *first)
        rest(200); /* others fail before it */
    if (chunk >= *first && chunk % 3 == *first % 3)
        TNI_FAIL(TN_ERROR_INDEX, "body", "chunk %lld", (long long)chunk);
}

static void lowest_error_comes_back(void **state)
{
    (void)state;
    static tally t;
    for (int threads = 1; threads <= 4; threads++) {
        tn_set_num_threads(threads);
        for (int64_t first = 0; first < 200; first += 10) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, "body: chunk %lld", (long long)first);
            tni_parallel_for(200, fail_some, &first);
            assert_int_equal(tn_error_code(), TN_ERROR_INDEX);
            assert_string_equal(tn_error_message(), wanted);
            assert_string_equal(tn_error_get()->function, "body");
            tn_error_clear();
            assert_int_equal(run_all(&t, 50), -1);
            assert_int_equal(tn_error_code(), TN_OK); /* nor in a worker, or it would have come */
        }
        int64_t first = 3;
        TNI_FAIL(TN_ERROR_SHAPE, "caller", "earlier");
        tni_parallel_for(200, fail_some, &first);
        assert_string_equal(tn_error_message(), "caller: earlier");
        assert_int_equal(run_all(&t, 50), -1);
        tn_error_clear();
    }
}

typedef struct view {
    pthread_t caller;
    _Atomic int wrong, others;
} view;

static void look(void *context, int64_t chunk)
{
    view *v = context;
    sigset_t blocked;
    if (tni_this_thread.include != 5 || tni_this_thread.exclude != 9)
        v->wrong++;
    if (!pthread_equal(pthread_self(), v->caller)) {
        v->others++;
        pthread_sigmask(SIG_BLOCK, NULL, &blocked);
        if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGALRM) || !sigismember(&blocked, SIGUSR1))
            v->wrong++;
    }
    tni_free(tni_alloc(100 + (size_t)chunk), 100 + (size_t)chunk);
    rest(50);
}

static void workers_see_the_masks(void **state)
{
    (void)state;
    view v = {.caller = pthread_self()};
    tn_set_num_threads(3);
    tni_this_thread.include = 5;
    tni_this_thread.exclude = 9;
    for (int tries = 0; tries < 100 && v.others == 0; tries++)
        tni_parallel_for(30, look, &v);
    tni_this_thread.include = tni_this_thread.exclude = 0;
    assert_int_equal(v.wrong, 0);
    assert_true(v.others > 0);
}

static void nested(void *context, int64_t chunk)
{
    tally *inner = malloc(sizeof *inner);
    *((int64_t *)context + chunk) = inner ? run_all(inner, 30 + chunk) : -2;
    free(inner);
}

static void nested_loops_are_serial(void **state)
{
    (void)state;
    int64_t wrong[40];
    tn_set_num_threads(3);
    tni_parallel_for(40, nested, wrong);
    for (int i = 0; i < 40; i++)
        assert_int_equal(wrong[i], -1);
}

static void *call_often(void *unused)
{
    (void)unused;
    tally *t = malloc(sizeof *t);
    int64_t wrong = t ? -1 : 0;
    for (int i = 0; i < 300 && wrong < 0; i++)
        wrong = run_all(t, 1 + i % 50);
    int64_t first = 2;
    tni_parallel_for(10, fail_some, &first);
    bool right = wrong < 0 && strcmp(tn_error_message(), "body: chunk 2") == 0;
    free(t);
    return right ? NULL : "wrong chunks or the wrong error";
}

static void several_callers(void **state)
{
    (void)state;
    enum { CALLERS = 3 };
    pthread_t callers[CALLERS];
    void *wrong;
    tn_set_num_threads(3);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, NULL), 0);
    for (int i = 0; i < 20; i++)
        tn_set_num_threads(2 + i % 3);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], &wrong);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
}

static int status_of_child(int (*in_child)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(in_child());
    }
    waitpid(child, &status, 0);
    return status;
}

static int run_in_child(void)
{
    static tally t;
    for (int i = 0; i < 100; i++)
        if (run_all(&t, 100) >= 0)
            return 1;
    if (tn_set_num_threads(4) != TN_OK || run_all(&t, 100) >= 0)
        return 2;
    return 0;
}

static void forked_child_works(void **state)
{
    (void)state;
#if defined(TNI_THREAD_SANITIZER)
    skip(); /* it does not support threads made after such a fork */
#endif
    static tally t;
    tn_set_num_threads(3);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(run_all(&t, 100), -1);
        if (i % 2)
            rest(2000);
        assert_int_equal(status_of_child(run_in_child), 0);
    }
    assert_int_equal(run_all(&t, 100), -1);
}

static int no_room_for_threads(void)
{
    static tally t;
    struct rlimit limit;
    tn_set_num_threads(64);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 48 << 20;
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 3;
    for (int i = 0; i < 10; i++)
        if (run_all(&t, 100) >= 0 || tn_error_code() != TN_OK)
            return 1;
    return 0;
}

static void fewer_threads_do_too(void **state)
{
    (void)state;
#if defined(TNI_THREAD_SANITIZER)
    skip();
#endif
    if (tni_alloc_careful)
        skip(); /* AddressSanitizer has terabytes mapped */
    tn_set_num_threads(1);
    assert_int_equal(status_of_child(no_room_for_threads), 0);
}

static void threads_end(void **state)
{
    (void)state;
    static tally t;
    tn_set_num_threads(1);
    tn_trim_memory();
    tn_memory_stats before = tn_get_memory_stats();
    view v = {.caller = pthread_self()};
    tn_set_num_threads(4);
    tni_parallel_for(100, look, &v);
    tn_set_num_threads(1);
    tn_trim_memory();
    tn_memory_stats after = tn_get_memory_stats();
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_true(after.reserved_bytes <=
                before.reserved_bytes + 2048); /* the caches of workers are back; ours may be new */
    assert_int_equal(run_all(&t, 100), -1);
}

TEST_MAIN(test(every_chunk_once), test(the_last_chunk_is_awaited), test(arguments), test(not_from_within),
          test(lowest_error_comes_back), test(workers_see_the_masks), test(nested_loops_are_serial),
          test(several_callers), test(forked_child_works), test(fewer_threads_do_too), test(threads_end))
