/* The loop while memory runs out at every allocation in turn, and while every call of the file system fails in turn: an
 * error, no temporary file, the last checkpoint whole; and a run that goes on from it ends in the files of a run that
 * never failed, to the bit. The same for batches that workers make. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/memory_files.h"

static const char last[] = "/run/last.safetensors", best[] = "/run/best.safetensors";

/* Two epochs of three batches, with all that a run can have. */
static tn_status go(bool resume, uint64_t seed)
{
    tn_torch_generator init, masks;
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(11, 0.2, 0, TN_FLOAT32);
    tn_module *net = tn_sequential();
    tn_torch_manual_seed(&init, seed);
    tn_torch_manual_seed(&masks, seed);
    tn_sequential_append(net, tn_linear_module(2, 2, true, TN_FLOAT32));
    tn_sequential_append(net, tn_batch_norm1d_module(2, NULL, TN_FLOAT32));
    tn_sequential_append(net, tn_dropout_module(0.25, &masks));
    tn_sequential_append(net, tn_linear_module(2, 1, true, TN_FLOAT32));
    tn_init_torch(net, &init, true);
    tn_optimizer *optimizer = tn_adam(tn_parameters(net), &(tn_adam_options){.lr = 0.05});
    tn_schedule *schedule = tn_exponential_lr(optimizer, 0.9);
    tn_loader *batches = tn_loader_new(moons, &(tn_loader_options){.batch_size = 4, .shuffle = true, .seed = seed});
    const tn_stream masks_stream = {.name = "masks", .torch_generator = &masks};
    tn_fit_result result = {.progress = {.epoch = -1}};
    tn_fit(&(tn_fit_options){.module = net,
                             .optimizer = optimizer,
                             .schedule = schedule,
                             .train = batches,
                             .epochs = 2,
                             .validation = moons,
                             .clip_norm = 1,
                             .clip_value = 0.5,
                             .patience = 5,
                             .folder = "/run",
                             .save_every = 2,
                             .streams = &masks_stream,
                             .n_streams = 1,
                             .resume = resume ? last : NULL},
           &result);
    if (!tn_error_code() != (result.progress.epoch == 2))
        fail_msg("epoch %d with '%s'", (int)result.progress.epoch, tn_error_message());
    tn_scope_end(scope);
    return tn_error_code();
}

static char *right[2];
static size_t right_bytes[2];

/* Nothing but whole checkpoints. */
static void files_are_whole(const char *what, int64_t k)
{
    const char *path;
    size_t bytes;
    for (int i = 0; memory_file_at(i, &path, &bytes); i++) {
        tn_progress progress;
        if ((strcmp(path, last) != 0 && strcmp(path, best) != 0) ||
            tn_checkpoint_load(path, &(tn_checkpoint){.progress = &progress}))
            fail_msg("%s %d failed and left '%s': %s", what, (int)k, path, tn_error_message());
    }
    if (memory_files_open() != 0)
        fail_msg("%s %d failed: %d files are open", what, (int)k, memory_files_open());
}

static void ends_as_if_nothing_had_been(const char *what, int64_t k)
{
    const char *const names[] = {last, best};
    size_t bytes;
    if (go(memory_file(last, &bytes) != NULL, 9 - 8 * !memory_file(last, &bytes)))
        fail_msg("%s %d had failed, and going on: %s", what, (int)k, tn_error_message());
    for (int i = 0; i < 2; i++) {
        const char *content = memory_file(names[i], &bytes);
        if (!content || bytes != right_bytes[i] || memcmp(content, right[i], bytes) != 0)
            fail_msg("%s %d had failed: %s is another one", what, (int)k, names[i]);
        memory_file_remove(names[i]);
    }
}

static int begin(void **state)
{
    (void)state;
    memory_files_begin();
    if (go(false, 1))
        return 1;
    for (int i = 0; i < 2; i++) {
        const char *content = memory_file(i ? best : last, &right_bytes[i]);
        right[i] = malloc(right_bytes[i]);
        memcpy(right[i], content, right_bytes[i]);
        memory_file_remove(i ? best : last);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(right[0]);
    free(right[1]);
    memory_files_end();
    return 0;
}

/* Every allocation of the first steps and of a share of all others: they are thousands, and much alike. */
static void without_memory(void **state)
{
    (void)state;
    int resumed = 0;
    for (int64_t k = 0, failed = 1; failed; k += k < 300 ? 1 : 7) {
        const int64_t blocks = tn_get_memory_stats().live_blocks;
        size_t bytes;
        tn_fail_allocation(k, false);
        const tn_status status = go(false, 1);
        failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (status != (failed ? TN_ERROR_MEMORY : TN_OK))
            fail_msg("allocation %d: '%s'", (int)k, tn_error_message());
        tn_error_clear();
        if (tn_get_memory_stats().live_blocks != blocks)
            fail_msg("allocation %d: %d blocks leaked", (int)k, (int)(tn_get_memory_stats().live_blocks - blocks));
        files_are_whole("allocation", k);
        resumed += memory_file(last, &bytes) != NULL;
        ends_as_if_nothing_had_been("allocation", k);
    }
    assert_true(resumed > 50);
}

static void without_files(void **state)
{
    (void)state;
    static const int kinds[] = {EIO, ENOSPC, EINTR, MEMORY_FILES_SHORT};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int at = 0;; at++) {
            const bool harmless = kind >= 2;
            memory_files_fault(at, kinds[kind], false);
            const tn_status status = go(false, 1);
            const char *hit = memory_files_hit();
            memory_files_fault(-1, 0, false);
            /* the test of the folder opens and drops a file: what goes wrong in dropping it costs nothing */
            if (status != TN_OK &&
                (!hit || harmless || status != TN_ERROR_FILE || !strstr(tn_error_message(), "/run/")))
                fail_msg("call %d (%s) failed with %d: '%s'", at, hit ? hit : "none", kinds[kind], tn_error_message());
            if (status == TN_OK && hit && !harmless && strcmp(hit, "close") != 0 && strcmp(hit, "unlink") != 0)
                fail_msg("call %d (%s) failed with %d, and nobody says so", at, hit, kinds[kind]);
            tn_error_clear();
            if (hit && strcmp(hit, "unlink") == 0)
                memory_files_end(), memory_files_begin(); /* what cannot be removed stays */
            files_are_whole(hit ? hit : "", at);
            ends_as_if_nothing_had_been(hit ? hit : "", at);
            if (!hit)
                break;
        }
}

enum { BATCHES = 10 };

/* The next batch, asked for again after each failure; false at the end of the epoch. */
static bool next_at_last(tn_loader *loader, tn_batch *batch)
{
    bool came = tn_loader_next(loader, batch);
    for (int tries = 0; tn_error_code(); tries++) {
        assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
        assert_true(tries < 20 && !came);
        tn_error_clear();
        if (tries > 2)
            tn_fail_allocation(-1, false); /* it would have failed for good */
        came = tn_loader_next(loader, batch);
    }
    return came;
}

/* A batch that failed comes when it is asked for again, whoever was to make it. */
static void workers_without_memory(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_loader_options options = {.batch_size = 8, .shuffle = true, .seed = 5};
    tn_dataset *moons = tn_make_moons(40, 0.2, 0, TN_FLOAT32);
    tn_loader *plain = tn_loader_new(moons, &options);
    float expected[BATCHES][16];
    tn_batch batch;
    for (int i = 0; i < BATCHES;)
        while (tn_loader_next(plain, &batch))
            memcpy(expected[i++], tn_data(batch.x), sizeof expected[0]);
    options.workers = 2;
    for (int64_t k = 0; k < 120; k++) {
        tn_scope inner = tn_scope_begin();
        tn_fail_allocation(k, k % 3 == 2);
        tn_loader *loader = tn_loader_new(moons, &options);
        if (!loader) {
            assert_int_equal(tn_error_code(), TN_ERROR_MEMORY);
            tn_fail_allocation(-1, false);
            tn_error_clear();
            loader = tn_loader_new(moons, &options);
        }
        for (int i = 0; i < BATCHES;)
            while (next_at_last(loader, &batch)) {
                if (memcmp(expected[i], tn_data(batch.x), sizeof expected[0]) != 0)
                    fail_msg("allocation %d failed: batch %d is another one", (int)k, i);
                i++;
            }
        tn_fail_allocation(-1, false);
        tn_scope_end(inner);
    }
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {fresh(without_memory), fresh(without_files), fresh(workers_without_memory)};
    return cmocka_run_group_tests(tests, begin, end);
}
