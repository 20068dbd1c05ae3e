/* What the tests of the loop share: a run by a plan, in a folder, with all that a run can have. */
#ifndef TENON_TESTS_TRAIN_FIT_PLAN_H
#define TENON_TESTS_TRAIN_FIT_PLAN_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/errors.h"

enum { SGD, ADAM, ADAMW, RMSPROP, LBFGS, KINDS };
enum { STEP, MULTI_STEP, EXPONENTIAL, COSINE, WARMUP, PLATEAU, SEQUENTIAL, NONE };
enum { SAMPLES = 22, BATCH = 4, STEPS = 60 }; /* six batches an epoch, the last one of two */

static char folder[64], other[64];

static int ignore_sync(void *context, int file)
{
    (void)context, (void)file;
    return 0;
}

static int ignore_sync_directory(void *context, const char *path)
{
    (void)context, (void)path;
    return 0;
}

/* Power loss is not tested here, and a sync takes milliseconds. */
static void without_syncs(void)
{
    tn_file_operations table = tn_get_file_operations();
    table.fsync = ignore_sync;
    table.sync_directory = ignore_sync_directory;
    tn_set_file_operations(&table);
}

typedef struct plan {
    int kind, schedule;
    bool shuffle;
    int64_t epochs, stop_after, save_every;
    uint64_t seed;
    const char *folder;
    bool resume;
    double poison; /* learning rate instead of the usual one, unless 0 */
    tn_dataset *data, *validation;
    int64_t patience;
    const volatile sig_atomic_t *stop;
    bool (*on_epoch)(const tn_epoch *history, int64_t n, void *context);
} plan;

static tn_optimizer *make_optimizer(const plan *p, tn_list *parameters)
{
    const double lr = p->poison != 0 ? p->poison : 0.05;
    switch (p->kind) {
    case SGD:
        return tn_sgd(parameters, &(tn_sgd_options){.lr = lr, .momentum = 0.9});
    case ADAM:
        return tn_adam(parameters, &(tn_adam_options){.lr = lr, .amsgrad = true});
    case ADAMW:
        return tn_adamw(parameters, &(tn_adam_options){.lr = lr});
    case RMSPROP:
        return tn_rmsprop(parameters, &(tn_rmsprop_options){.lr = lr, .centered = true, .momentum = 0.5});
    default:
        return tn_lbfgs(parameters,
                        &(tn_lbfgs_options){.lr = lr, .max_iter = 2, .history_size = 3, .strong_wolfe = p->shuffle});
    }
}

static tn_schedule *make_schedule(const plan *p, tn_optimizer *optimizer)
{
    switch (p->schedule) {
    case STEP:
        return tn_step_lr(optimizer, 3, 0.5);
    case MULTI_STEP:
        return tn_multi_step_lr(optimizer, (int64_t[]){7, 2, 2}, 3, 0.7);
    case EXPONENTIAL:
        return tn_exponential_lr(optimizer, 0.9);
    case COSINE:
        return tn_cosine_annealing_lr(optimizer, STEPS / 6, 0);
    case WARMUP:
        return tn_linear_lr(optimizer, 0.1, 1, 5);
    case PLATEAU:
        return tn_reduce_lr_on_plateau(optimizer, &(tn_plateau_options){.patience = 1});
    case SEQUENTIAL:
        return tn_sequential_lr(
            (tn_schedule *[]){tn_linear_lr(optimizer, 0.1, 1, 3), tn_exponential_lr(optimizer, 0.9)}, 2,
            (int64_t[]){3});
    default:
        return NULL;
    }
}

static bool stop_at(const tn_fit_step *step, void *context)
{
    const plan *p = context;
    return p->stop_after == 0 || step->step < p->stop_after;
}

static tn_status go(const plan *p, tn_fit_result *result)
{
    char path[128];
    tn_torch_generator init, masks;
    tn_dataset *moons = p->data ? p->data : tn_make_moons(SAMPLES, 0.2, 0, TN_FLOAT32);
    tn_module *net = tn_sequential();
    snprintf(path, sizeof path, "%s/last.safetensors", p->folder ? p->folder : "");
    tn_torch_manual_seed(&init, p->seed);
    tn_torch_manual_seed(&masks, p->seed);
    tn_sequential_append(net, tn_linear_module(2, 3, true, TN_FLOAT32));
    tn_sequential_append(net, tn_batch_norm1d_module(3, NULL, TN_FLOAT32));
    tn_sequential_append(net, tn_dropout_module(0.25, &masks));
    tn_sequential_append(net, tn_linear_module(3, 1, true, TN_FLOAT32));
    tn_init_torch(net, &init, true);
    tn_optimizer *optimizer = make_optimizer(p, tn_parameters(net));
    tn_loader *batches =
        tn_loader_new(moons, &(tn_loader_options){.batch_size = BATCH, .shuffle = p->shuffle, .seed = p->seed});
    const tn_stream streams[] = {{.name = "masks", .torch_generator = &masks}};
    const tn_fit_options options = {.module = net,
                                    .optimizer = optimizer,
                                    .schedule = make_schedule(p, optimizer),
                                    .train = batches,
                                    .clip_norm = 1,
                                    .clip_value = 0.5,
                                    .epochs = p->epochs,
                                    .validation = p->validation ? p->validation : moons,
                                    .folder = p->folder,
                                    .streams = streams,
                                    .n_streams = 1,
                                    .save_every = p->save_every,
                                    .save_seconds = p->save_every ? 0 : 1000,
                                    .resume = p->resume ? path : NULL,
                                    .on_step = stop_at,
                                    .on_epoch = p->on_epoch,
                                    .context = (void *)(uintptr_t)p,
                                    .patience = p->patience,
                                    .stop = p->stop};
    return tn_fit(&options, result);
}

static size_t read_file(const char *where, const char *name, char *to, size_t room)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t bytes = fread(to, 1, room, file);
    fclose(file);
    return bytes;
}

static void empty(const char *where)
{
    char path[512];
    DIR *directory = opendir(where);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(path);
    }
    if (directory)
        closedir(directory);
}

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tenon-test-XXXXXX");
    snprintf(other, sizeof other, "/tmp/tenon-test-XXXXXX");
    without_syncs();
    return !mkdtemp(folder) || !mkdtemp(other);
}

static int end(void **state)
{
    (void)state;
    empty(folder);
    empty(other);
    return rmdir(folder) + rmdir(other);
}

#endif
