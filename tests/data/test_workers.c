/* Workers: the same batches for every number of them, errors with their message, weights, positions, forks. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "support/errors.h"

enum { SAMPLES = 53 };

typedef struct source {
    _Atomic int64_t bad; /* the sample that cannot be read; -1: none */
    int destroyed;
} source;

/* x is 100 + index, made at another speed for each batch. */
static tn_status fetch(void *context, const int64_t *index, int64_t n, tn_tensor **x, tn_tensor **y)
{
    source *s = context;
    nanosleep(&(struct timespec){.tv_nsec = 100000 * (index[0] % 5)}, NULL);
    tn_tensor *rows = tn_from_array(index, &n, 1, TN_INT64);
    for (int64_t i = 0; i < n; i++)
        if (index[i] == s->bad)
            return TN_FAIL(TN_ERROR_DATA, "fetch", "sample %d cannot be read", (int)index[i]);
    *x = tn_add_scalar(rows, tn_int(100));
    *y = rows;
    return tn_error_code();
}

static void destroy(void *context)
{
    ((source *)context)->destroyed++;
}

static const tn_dataset_functions functions = {.fetch = fetch, .destroy = destroy};

/* The samples of some epochs in a row. */
static int collect(tn_loader *loader, int epochs, int64_t *samples)
{
    int count = 0;
    for (int e = 0; e < epochs; e++)
        for (tn_batch b; tn_loader_next(loader, &b);)
            for (int64_t i = 0; i < tn_size(b.x, 0); i++) {
                samples[count] = tn_data_i64(b.y)[i];
                assert_int_equal(tn_data_i64(b.x)[i], samples[count++] + 100);
            }
    return count;
}

static void same_for_every_number(void **state)
{
    (void)state;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        int64_t needed[3 * SAMPLES], found[3 * SAMPLES];
        for (int workers = 0; workers <= 8; workers += workers < 4 ? 1 : 4) {
            source s = {.bad = -1};
            tn_scope scope = tn_scope_begin();
            tn_loader *loader =
                tn_loader_new(tn_function_dataset(SAMPLES, &functions, &s),
                              &(tn_loader_options){.batch_size = 4, .shuffle = shuffle, .seed = 3, .workers = workers});
            int count = collect(loader, 3, workers ? found : needed);
            assert_int_equal(tn_error_code(), TN_OK);
            assert_int_equal(count, 3 * SAMPLES);
            if (workers)
                assert_memory_equal(found, needed, sizeof found);
            tn_scope_end(scope);
            assert_int_equal(s.destroyed, 1);
        }
    }
}

static void tensors_and_workers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *d = tn_make_moons(100, 0.1, 0, TN_FLOAT32);
    tn_loader_options options = {.batch_size = 7, .shuffle = true, .seed = 9};
    tn_loader *plain = tn_loader_new(d, &options);
    options.workers = 3;
    options.prefetch = 1;
    tn_loader *threads = tn_loader_new(d, &options);
    for (int e = 0; e < 3; e++)
        for (tn_batch a, b; tn_loader_next(plain, &a);) {
            assert_true(tn_loader_next(threads, &b));
            assert_int_equal(a.index, b.index);
            assert_memory_equal(tn_data_f32(a.x), tn_data_f32(b.x), (size_t)tn_numel(a.x) * 4);
            assert_memory_equal(tn_data_i64(a.y), tn_data_i64(b.y), (size_t)tn_numel(a.y) * 8);
            if (a.index == 14)
                assert_false(tn_loader_next(threads, &b));
            if (e == 1 && a.index == 5) { /* left early */
                tn_loader_reset(plain);
                tn_loader_reset(threads);
                break;
            }
        }
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

static void errors_arrive(void **state)
{
    (void)state;
    for (int workers = 0; workers < 4; workers++) {
        source s = {.bad = 13};
        int64_t before = tn_get_memory_stats().live_blocks;
        tn_scope scope = tn_scope_begin();
        tn_loader *loader = tn_loader_new(tn_function_dataset(SAMPLES, &functions, &s),
                                          &(tn_loader_options){.batch_size = 5, .workers = workers});
        tn_batch b;
        assert_true(tn_loader_next(loader, &b) && tn_loader_next(loader, &b));
        for (int again = 0; again < 2; again++) {
            assert_false(tn_loader_next(loader, &b));
            expect_error(TN_ERROR_DATA, "fetch: sample 13 cannot be read");
        }
        s.bad = -1;
        assert_true(tn_loader_next(loader, &b));
        assert_int_equal(b.index, 2);
        assert_int_equal(tn_data_i64(b.y)[0], 10);
        tn_scope_end(scope);
        if (workers == 0)
            assert_int_equal(tn_get_memory_stats().live_blocks, before);
    }
}

static void forked_child(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it does not follow threads into a child */
#endif
    source s = {.bad = -1};
    int64_t all[SAMPLES], rest[SAMPLES];
    tn_scope scope = tn_scope_begin();
    tn_loader *loader = tn_loader_new(tn_function_dataset(SAMPLES, &functions, &s),
                                      &(tn_loader_options){.batch_size = 4, .workers = 3, .shuffle = true});
    assert_int_equal(collect(loader, 1, all), SAMPLES);
    tn_loader_reset(loader);
    tn_batch b;
    tn_loader_state where;
    tn_loader_get_state(loader, &where);
    assert_true(tn_loader_next(loader, &b));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int count = 0;
        alarm(20);
        while (tn_loader_next(loader, &b))
            for (int64_t i = 0; i < tn_size(b.y, 0); i++)
                rest[count++] = tn_data_i64(b.y)[i];
        tn_loader_set_state(loader, &where);
        int again = collect(loader, 1, all);
        tn_scope_end(scope);
        _exit(tn_error_code() || count != SAMPLES - 4 || again != SAMPLES || memcmp(rest, all + 4, sizeof *rest * 49));
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(collect(loader, 1, rest), SAMPLES - 4);
    tn_scope_end(scope);
}

/* PyTorch 2.15: DataLoader(batch_size=3, sampler=WeightedRandomSampler(w, draws, generator=g), generator=g) after
 * g.manual_seed(3). */
static void weighted(void **state)
{
    (void)state;
    static const double w[] = {1, 2, 3, 4, .5, 0, 7};
    static const struct {
        int draws;
        int64_t samples[24];
    } cases[] = {
        {7, {2, 6, 2, 6, 6, 2, 3, 6, 2, 4, 3, 2, 6, 1}},
        {12, {2, 6, 2, 6, 6, 2, 3, 3, 6, 2, 4, 3, 6, 1, 1, 3, 6, 1, 6, 3, 0, 2, 3, 1}},
    };
    tn_scope scope = tn_scope_begin();
    tn_tensor *weights = tn_from_array(w, (int64_t[]){7}, 1, TN_FLOAT64);
    source s = {.bad = -1};
    tn_dataset *d = tn_function_dataset(7, &functions, &s);
    tn_loader_options options = {.batch_size = 3, .weights = weights, .seed = 3};
    for (int i = 0; i < 2; i++) {
        int64_t found[24];
        options.draws = cases[i].draws;
        assert_int_equal(collect(tn_loader_new(d, &options), 2, found), 2 * cases[i].draws);
        assert_memory_equal(found, cases[i].samples, sizeof *found * 2 * (size_t)cases[i].draws);
    }
    options.shuffle = true;
    REFUSED(tn_loader_new(d, &options), TN_ERROR_ARGUMENT);
    options.shuffle = false;
    options.weights = tn_from_array((double[]){1, -1, 0, 0, 0, 0, 0}, (int64_t[]){7}, 1, TN_FLOAT64);
    REFUSED(tn_loader_new(d, &options), TN_ERROR_ARGUMENT);
    options.weights = tn_zeros((int64_t[]){7}, 1, TN_FLOAT64);
    REFUSED(tn_loader_new(d, &options), TN_ERROR_ARGUMENT);
    options.weights = tn_zeros((int64_t[]){6}, 1, TN_FLOAT64);
    REFUSED(tn_loader_new(d, &options), TN_ERROR_ARGUMENT);
    options = (tn_loader_options){.workers = -1};
    REFUSED(tn_loader_new(d, &options), TN_ERROR_ARGUMENT);
    tn_scope_end(scope);
}

/* From each position of three epochs a fresh loader goes on with the same samples. */
static void positions(void **state)
{
    (void)state;
    for (int workers = 0; workers < 3; workers += 2)
        for (int steps = 0; steps <= 30; steps++) {
            source s = {.bad = -1};
            tn_scope scope = tn_scope_begin();
            tn_dataset *d = tn_function_dataset(SAMPLES, &functions, &s);
            tn_loader_options options = {.batch_size = 5, .shuffle = true, .seed = 4, .workers = workers};
            tn_loader *a = tn_loader_new(d, &options), *b = tn_loader_new(d, &options);
            tn_batch batch;
            tn_loader_state where;
            int64_t from_a[3 * SAMPLES], from_b[3 * SAMPLES];
            for (int i = 0; i < steps; i++)
                tn_loader_next(a, &batch);
            tn_loader_get_state(a, &where);
            assert_int_equal(tn_loader_set_state(b, &where), TN_OK);
            int count = collect(a, 2, from_a);
            assert_int_equal(collect(b, 2, from_b), count);
            assert_memory_equal(from_a, from_b, (size_t)count * sizeof *from_a);
            assert_int_equal(tn_loader_epoch(a), tn_loader_epoch(b));
            where.next = 12;
            tn_loader_set_state(b, &where);
            EXPECT(TN_ERROR_ARGUMENT);
            tn_scope_end(scope);
        }
}

/* Parts of a dataset with a function, and batches without labels. */
static void parts_and_features(void **state)
{
    (void)state;
    source s = {.bad = -1};
    tn_scope scope = tn_scope_begin();
    tn_dataset *parts[2] = {0}, *d = tn_function_dataset(SAMPLES, &functions, &s);
    tn_torch_generator generator;
    int64_t order[SAMPLES], found[SAMPLES];
    tn_torch_manual_seed(&generator, 1);
    tn_torch_generator again = generator;
    tn_torch_randperm(&again, order, SAMPLES);
    assert_int_equal(tn_random_split(d, (int64_t[]){40, 13}, 2, &generator, parts), TN_OK);
    assert_null(tn_dataset_x(d));
    assert_int_equal(collect(tn_loader_new(parts[0], &(tn_loader_options){.batch_size = 6}), 1, found), 40);
    assert_int_equal(
        collect(tn_loader_new(parts[1], &(tn_loader_options){.batch_size = 6, .workers = 2}), 1, found + 40), 13);
    assert_memory_equal(found, order, sizeof order);
    tn_loader *plain = tn_loader_new(tn_feature_dataset(tn_ones((int64_t[]){5, 2}, 2, TN_FLOAT32)),
                                     &(tn_loader_options){.batch_size = 2, .shuffle = true});
    int batches = 0;
    for (tn_batch b; tn_loader_next(plain, &b); batches++)
        assert_null(b.y);
    assert_int_equal(batches, 3);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
    assert_int_equal(s.destroyed, 1);
}

TEST_MAIN(test(same_for_every_number), test(parts_and_features), test(tensors_and_workers), test(errors_arrive),
          test(forked_child), test(weighted), test(positions))
