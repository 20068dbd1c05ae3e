/* The allocator: counts, limits, caches, injected failures, threads. */
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/alloc.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/refcount.h"

#define MIB ((size_t)1 << 20)

/* Blocks are cached in this build (not under AddressSanitizer). */
static bool cached_build(void)
{
    return tni_alloc_careful == 0;
}

static int fresh(void **state)
{
    (void)state;
    tn_fail_allocation(-1, false);
    tn_set_memory_limit(SIZE_MAX);
    tn_set_cache_limits(4 * MIB, 256 * MIB);
    tn_trim_memory();
    tni_free(tni_alloc(1), 1); /* the thread's cache is there now */
    tn_trim_memory();
    return 0;
}

static void counts_are_exact(void **state)
{
    (void)state;
    static const struct {
        size_t bytes, counted;
    } sizes[] = {
        {0, 64},
        {1, 64},
        {64, 64},
        {65, 128},
        {1024, 1024},
        {1025, 1088},
        {4096, 4096},
        {4097, 5120},
        {5121, 6144},
        {8192, 8192},
        {8193, 10240},
        {MIB, MIB},
        {MIB + 1, MIB + (64 << 10)},
        {3 * MIB, 3 * MIB + (64 << 10)},
    };
    enum { N = sizeof sizes / sizeof *sizes };
    void *blocks[N];
    tn_memory_stats before = tn_get_memory_stats(), now = before;
    for (int i = 0; i < N; i++) {
        blocks[i] = tni_alloc(sizes[i].bytes);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 64, 0);
        memset(blocks[i], 0xa5, sizes[i].bytes);
        tn_memory_stats after = tn_get_memory_stats();
        assert_int_equal(after.allocations, now.allocations + 1);
        assert_int_equal(after.live_blocks, now.live_blocks + 1);
        assert_int_equal(after.live_bytes, now.live_bytes + (int64_t)sizes[i].counted);
        assert_int_equal(after.reserved_bytes, now.reserved_bytes + (int64_t)sizes[i].counted);
        assert_true(after.peak_reserved_bytes >= after.reserved_bytes);
        now = after;
    }
    for (int i = 0; i < N; i++)
        tni_free(blocks[i], sizes[i].bytes);
    tni_free(NULL, 10);
    now = tn_get_memory_stats();
    assert_int_equal(now.live_blocks, before.live_blocks);
    assert_int_equal(now.live_bytes, before.live_bytes);
    assert_int_equal(now.allocations, before.allocations + N);
    tn_trim_memory();
    assert_int_equal(tn_get_memory_stats().reserved_bytes, before.reserved_bytes);
}

/* Every class: aligned, wide enough to be filled, wasteful by no more than a quarter, and the same block for the same
 * class. */
static void every_size_class(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes <= 2 * MIB; bytes += 1 + bytes / 97) {
        int64_t before = tn_get_memory_stats().live_bytes;
        unsigned char *block = tni_alloc_zeroed(bytes);
        int64_t counted = tn_get_memory_stats().live_bytes - before;
        if (!block || (uintptr_t)block % 64 != 0 || counted < (int64_t)bytes ||
            counted > (int64_t)(bytes + (bytes < 256 ? 64 : bytes / 4 + 64)))
            fail_msg("%zu bytes: block %p counted as %lld", bytes, (void *)block, (long long)counted);
        assert_int_equal(block[0] | block[bytes / 2] | block[bytes - 1], 0);
        memset(block, 0xff, bytes);
        tni_free(block, bytes);
        if (cached_build())
            assert_ptr_equal(tni_alloc(bytes), block);
        else
            block = tni_alloc(bytes);
        tni_free(block, bytes);
    }
}

static void hopeless_sizes(void **state)
{
    (void)state;
    tn_memory_stats before = tn_get_memory_stats();
    for (size_t less = 0; less < 200; less++) {
        assert_null(tni_alloc(SIZE_MAX - less));
        assert_null(tni_alloc((size_t)PTRDIFF_MAX - less));
        assert_null(tni_alloc((size_t)PTRDIFF_MAX + less));
    }
    assert_null(tni_alloc_zeroed((size_t)1 << 50));
    tn_memory_stats after = tn_get_memory_stats();
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.reserved_bytes, before.reserved_bytes);
    assert_int_equal(tn_error_code(), TN_OK);
}

/* An allocator that checks what it is given back. */
typedef struct ledger {
    void *blocks[64];
    size_t bytes[64];
    int calls, wrong, live;
} ledger;

static void *ledger_allocate(void *context, size_t bytes, size_t alignment)
{
    ledger *l = context;
    void *block = NULL;
    l->calls++;
    if (posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    for (int i = 0; i < 64; i++)
        if (!l->blocks[i]) {
            l->blocks[i] = block;
            l->bytes[i] = bytes;
            l->live++;
            return block;
        }
    free(block);
    return NULL;
}

static void ledger_release(void *context, void *block, size_t bytes)
{
    ledger *l = context;
    for (int i = 0; i < 64; i++)
        if (l->blocks[i] == block) {
            l->wrong += l->bytes[i] != bytes;
            l->blocks[i] = NULL;
            l->live--;
            free(block);
            return;
        }
    l->wrong++;
}

static void replaced_allocator(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 100, 1024, 1500, 70000, MIB, 2 * MIB, 5 * MIB};
    enum { N = sizeof sizes / sizeof *sizes };
    ledger l = {.calls = 0};
    tn_allocator mine = {ledger_allocate, ledger_release, &l}, half = {ledger_allocate, NULL, &l};
    void *blocks[N];

    assert_int_equal(tn_set_allocator(&half), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_set_allocator(&mine), TN_OK);
    assert_int_equal(tn_get_memory_stats().reserved_bytes, 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            blocks[i] = tni_alloc(sizes[i]);
            assert_non_null(blocks[i]);
            memset(blocks[i], round, sizes[i]);
        }
        assert_true(l.calls >= N);
        assert_int_equal(tn_set_allocator(NULL), TN_ERROR_STATE);
        tn_error_clear();
        for (int i = 0; i < N; i++)
            tni_free(blocks[i], sizes[i]);
    }
    for (int i = 0; i < 10000; i++)
        tni_free(tni_alloc(sizes[i % N]), sizes[i % N]);
    if (cached_build())
        assert_int_equal(l.calls, N + 1); /* and the cache itself */
    assert_int_equal(tn_set_allocator(NULL), TN_OK);
    assert_int_equal(l.live, 0);
    assert_int_equal(l.wrong, 0);
    assert_int_equal(tn_get_memory_stats().reserved_bytes, 0);
}

static void memory_limit(void **state)
{
    (void)state;
    int64_t base = tn_get_memory_stats().reserved_bytes;
    tn_set_memory_limit((size_t)base + 300000);
    void *a = tni_alloc(200000);
    assert_non_null(a);
    assert_null(tni_alloc(200000));
    assert_null(tni_alloc(2 * MIB));
    void *b = tni_alloc(1000);
    assert_non_null(b);
    tni_free(b, 1000);
    tni_free(a, 200000);
    assert_null(tni_alloc(310000));
    a = tni_alloc(250000); /* needs the cached 200000 to go */
    assert_non_null(a);
    assert_true(tn_get_memory_stats().reserved_bytes <= base + 300000);
    tni_free(a, 250000);
    tn_set_memory_limit(0);
    assert_null(tni_alloc(100000));
    tn_set_memory_limit(SIZE_MAX);
    a = tni_alloc(2 * MIB);
    assert_non_null(a);
    tni_free(a, 2 * MIB);
}

enum { SCENARIO = 6 };

/* Makes and frees six blocks of all kinds; true if all were there. Leaks nothing either way. */
static bool scenario(void)
{
    static const size_t sizes[SCENARIO] = {32, 64, 900, 5000, 3 * MIB, 64};
    void *blocks[SCENARIO];
    int made = 0;
    while (made < SCENARIO && (blocks[made] = tni_alloc(sizes[made])))
        made++;
    for (int i = made; i-- > 0;)
        tni_free(blocks[i], sizes[i]);
    return made == SCENARIO;
}

static void injected_failures(void **state)
{
    (void)state;
    for (int warm = 0; warm < 2; warm++)
        for (int good = 0; good < 2; good++)
            for (int64_t k = 0; k <= SCENARIO; k++) { /* k == SCENARIO: the first of the second round */
                tn_memory_stats before = tn_get_memory_stats();
                tn_fail_allocation(k, good);
                bool whole = scenario();
                bool failed = tn_allocation_failed();
                bool again = scenario();
                tn_fail_allocation(-1, false);
                if (whole != (k == SCENARIO) || failed == whole || again != (!good && k < SCENARIO))
                    fail_msg("k %lld, for good %d: first %d, failed %d, second %d", (long long)k, good, whole, failed,
                             again);
                tn_memory_stats after = tn_get_memory_stats();
                assert_int_equal(after.live_blocks, before.live_blocks);
                assert_int_equal(after.live_bytes, before.live_bytes);
                assert_false(tn_allocation_failed());
            }
    assert_true(scenario());
}

enum { PASSED = 1000 };
static void *passed[PASSED];

static void *fill_passed(void *unused)
{
    (void)unused;
    for (int i = 0; i < PASSED; i++)
        passed[i] = tni_alloc((size_t)(1 + i * 7));
    return NULL;
}

static void *free_passed(void *unused)
{
    (void)unused;
    for (int i = 0; i < PASSED; i++)
        tni_free(passed[i], (size_t)(1 + i * 7));
    return NULL;
}

static void run(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    pthread_join(thread, NULL);
}

static void freed_by_another_thread(void **state)
{
    (void)state;
    tn_memory_stats before = tn_get_memory_stats();
    run(fill_passed, NULL);
    assert_int_equal(tn_get_memory_stats().live_blocks, before.live_blocks + PASSED);
    free_passed(NULL);
    assert_int_equal(tn_get_memory_stats().live_blocks, before.live_blocks);
    fill_passed(NULL);
    run(free_passed, NULL);
    tn_trim_memory();
    tn_memory_stats after = tn_get_memory_stats();
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_int_equal(after.live_bytes, before.live_bytes);
    assert_int_equal(after.reserved_bytes, before.reserved_bytes);
    assert_int_equal(after.allocations, before.allocations + 2 * PASSED);
}

/* glibc's last round is the fourth; ThreadSanitizer is gone by then. */
#if defined(TNI_THREAD_SANITIZER)
enum { LATE_ROUNDS = 2 };
#else
enum { LATE_ROUNDS = 3 };
#endif
static pthread_key_t late_key;

/* Runs in some later round of the thread's destructors, after the cache has ended. */
static void late_free(void *block)
{
    static _Thread_local int round;
    if (round++ < LATE_ROUNDS) {
        pthread_setspecific(late_key, block);
        return;
    }
    tni_free(block, 100);
    tni_free(tni_alloc(100), 100);
}

static void *keep_till_late(void *unused)
{
    (void)unused;
    for (size_t bytes = 1; bytes < 4 * MIB; bytes *= 3)
        tni_free(tni_alloc(bytes), bytes);
    pthread_setspecific(late_key, tni_alloc(100));
    return NULL;
}

static void thread_end_gives_back(void **state)
{
    (void)state;
    tn_memory_stats before = tn_get_memory_stats();
    assert_int_equal(pthread_key_create(&late_key, late_free), 0);
    for (int i = 0; i < 20; i++)
        run(keep_till_late, NULL);
    pthread_key_delete(late_key);
    tn_trim_memory();
    tn_memory_stats after = tn_get_memory_stats();
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_int_equal(after.live_bytes, before.live_bytes);
    assert_int_equal(after.reserved_bytes, before.reserved_bytes);
}

static void large_blocks_are_reused(void **state)
{
    (void)state;
    if (!cached_build())
        skip();
    char *a = tni_alloc(40 * MIB);
    int64_t reserved = tn_get_memory_stats().reserved_bytes;
    tni_free(a, 40 * MIB);
    assert_ptr_equal(tni_alloc(40 * MIB - 1000), a);
    tni_free(a, 40 * MIB - 1000);
    assert_ptr_equal(tni_alloc(31 * MIB), a);
    assert_int_equal(tn_get_memory_stats().reserved_bytes, reserved);
    tni_free(a, 31 * MIB);
    char *b = tni_alloc(20 * MIB);
    assert_ptr_not_equal(b, a);
    char *c = tni_alloc(36 * MIB);
    assert_ptr_equal(c, a); /* its whole size is known after the reuse */
    tni_free(b, 20 * MIB);
    tni_free(c, 36 * MIB);
    assert_ptr_equal(tni_alloc(19 * MIB), b); /* best fit */
    tni_free(b, 19 * MIB);

    tn_set_cache_limits(4 * MIB, 30 * MIB);
    assert_true(tn_get_memory_stats().reserved_bytes <= reserved - (int64_t)(10 * MIB));
}

static void many_large_blocks(void **state)
{
    (void)state;
    int64_t before = tn_get_memory_stats().reserved_bytes;
    for (int i = 0; i < PASSED; i++) /* more than the list holds */
        assert_non_null(passed[i] = tni_alloc(MIB + 1));
    tn_set_cache_limits(4 * MIB, SIZE_MAX);
    for (int i = 0; i < PASSED; i++)
        tni_free(passed[i], MIB + 1);
    assert_true(tn_get_memory_stats().reserved_bytes - before < (int64_t)(600 * MIB * 17 / 16));
    tn_trim_memory();
    assert_int_equal(tn_get_memory_stats().reserved_bytes, before);
}

static void caches_are_bounded(void **state)
{
    (void)state;
    enum { N = 20000 };
    static void *blocks[N];
    tn_memory_stats before = tn_get_memory_stats();
    for (int size = 64; size <= 8192; size *= 2) {
        for (int i = 0; i < N; i++)
            blocks[i] = tni_alloc((size_t)size);
        for (int i = 0; i < N; i++)
            tni_free(blocks[i], (size_t)size);
        tn_memory_stats after = tn_get_memory_stats();
        if (after.reserved_bytes - before.reserved_bytes > (int64_t)(4 * MIB))
            fail_msg("size %d: %lld bytes kept", size, (long long)(after.reserved_bytes - before.reserved_bytes));
    }
}

typedef struct churn_seed {
    uint32_t seed;
} churn_seed;

static void *churn(void *context)
{
    uint32_t random = ((churn_seed *)context)->seed;
    struct {
        unsigned char *block;
        size_t bytes;
    } held[64] = {{NULL, 0}};
    for (int i = 0; i < 10000; i++) {
        random = random * 1664525u + 1013904223u;
        int slot = random >> 26;
        if (held[slot].block) {
            unsigned char tag = (unsigned char)held[slot].bytes;
            if (held[slot].block[0] != tag || held[slot].block[held[slot].bytes - 1] != tag)
                return "a block changed under its owner";
            tni_free(held[slot].block, held[slot].bytes);
            held[slot].block = NULL;
        } else {
            size_t bytes = 1 + ((random >> 8) % 4096) * ((random >> 4) % 600 == 0 ? 512 : 1);
            held[slot].block = tni_alloc(bytes);
            if (!held[slot].block)
                return "no memory";
            held[slot].bytes = bytes;
            held[slot].block[0] = held[slot].block[bytes - 1] = (unsigned char)bytes;
        }
        if (i % 1000 == 0)
            tn_get_memory_stats();
    }
    for (int slot = 0; slot < 64; slot++)
        tni_free(held[slot].block, held[slot].bytes);
    return NULL;
}

static void threads_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    churn_seed seeds[THREADS];
    tn_memory_stats before = tn_get_memory_stats();
    for (int i = 0; i < THREADS; i++) {
        seeds[i].seed = (uint32_t)i * 977u + 5u;
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &seeds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong)
            fail_msg("seed %u: %s", seeds[i].seed, (char *)wrong);
    }
    tn_trim_memory();
    tn_memory_stats after = tn_get_memory_stats();
    assert_int_equal(after.live_blocks, before.live_blocks);
    assert_int_equal(after.reserved_bytes, before.reserved_bytes);
}

static atomic_bool enough;

static void *hold_the_lock(void *unused)
{
    while (!enough)
        tn_get_memory_stats();
    return unused;
}

static void child_allocates(void **state)
{
    (void)state;
#if defined(TNI_THREAD_SANITIZER)
    skip(); /* it reports the parent's thread in the child */
#endif
    churn_seed seed = {8};
    pthread_t thread;
    enough = false;
    assert_int_equal(pthread_create(&thread, NULL, hold_the_lock, NULL), 0);
    for (int i = 0; i < 10; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            bool wrong = churn(&seed) != NULL || tn_get_memory_stats().live_blocks < 0;
            _exit(wrong ? 1 : 0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    enough = true;
    pthread_join(thread, NULL);
}

TEST_MAIN(cmocka_unit_test_setup(counts_are_exact, fresh), cmocka_unit_test_setup(every_size_class, fresh),
          cmocka_unit_test_setup(hopeless_sizes, fresh), cmocka_unit_test_setup(replaced_allocator, fresh),
          cmocka_unit_test_setup(memory_limit, fresh), cmocka_unit_test_setup(injected_failures, fresh),
          cmocka_unit_test_setup(freed_by_another_thread, fresh), cmocka_unit_test_setup(thread_end_gives_back, fresh),
          cmocka_unit_test_setup(large_blocks_are_reused, fresh), cmocka_unit_test_setup(many_large_blocks, fresh),
          cmocka_unit_test_setup(caches_are_bounded, fresh), cmocka_unit_test_setup(threads_at_once, fresh),
          cmocka_unit_test_setup(child_allocates, fresh))
