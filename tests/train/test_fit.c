/* The loop: runs that are stopped after every step and taken up by another process end in the same bytes; a process
 * that is killed while it saves leaves a whole checkpoint; what is not finite is named and written nowhere; early
 * stopping, validation, weighted means. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tenon/tenon.h>
#include <time.h>
#include <unistd.h>

#include "support/errors.h"

enum { SGD, ADAM, ADAMW, KINDS };
enum { SAMPLES = 22, BATCH = 4, STEPS = 60 }; /* six batches an epoch, the last one of two */

static const char *program;
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
    int kind;
    bool shuffle;
    int64_t epochs, stop_after, save_every;
    uint64_t seed;
    const char *folder;
    bool resume;
    double poison; /* learning rate instead of the usual one, unless 0 */
    tn_dataset *data, *validation;
    int64_t patience;
    bool bare; /* no schedule */
    bool (*on_epoch)(const tn_epoch *history, int64_t n, void *context);
} plan;

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
    const double lr = p->poison != 0 ? p->poison : 0.05;
    snprintf(path, sizeof path, "%s/last.safetensors", p->folder ? p->folder : "");
    tn_torch_manual_seed(&init, p->seed);
    tn_torch_manual_seed(&masks, p->seed);
    tn_sequential_append(net, tn_linear_module(2, 3, true, TN_FLOAT32));
    tn_sequential_append(net, tn_batch_norm1d_module(3, NULL, TN_FLOAT32));
    tn_sequential_append(net, tn_dropout_module(0.25, &masks));
    tn_sequential_append(net, tn_linear_module(3, 1, true, TN_FLOAT32));
    tn_init_torch(net, &init, true);
    tn_list *parameters = tn_parameters(net);
    tn_optimizer *optimizer = p->kind == SGD ? tn_sgd(parameters, &(tn_sgd_options){.lr = lr, .momentum = 0.9})
                              : p->kind == ADAM
                                  ? tn_adam(parameters, &(tn_adam_options){.lr = lr, .amsgrad = true})
                                  : tn_adamw(parameters, &(tn_adam_options){.lr = lr});
    tn_loader *batches = tn_loader_new(moons, &(tn_loader_options){.batch_size = BATCH, .shuffle = p->shuffle,
                                                                   .seed = p->seed});
    tn_schedule *schedule = p->kind == SGD    ? tn_step_lr(optimizer, 3, 0.5)
                            : p->kind == ADAM ? tn_cosine_annealing_lr(optimizer, STEPS / 6, 0)
                                              : tn_reduce_lr_on_plateau(optimizer, NULL);
    const tn_stream streams[] = {{.name = "masks", .torch_generator = &masks}};
    const tn_fit_options options = {.module = net, .optimizer = optimizer, .schedule = p->bare ? NULL : schedule,
                                    .train = batches,
                                    .clip_norm = 1, .clip_value = 0.5, .epochs = p->epochs,
                                    .validation = p->validation ? p->validation : moons, .folder = p->folder,
                                    .streams = streams, .n_streams = 1, .save_every = p->save_every,
                                    .save_seconds = p->save_every ? 0 : 1000, .resume = p->resume ? path : NULL,
                                    .on_step = stop_at, .on_epoch = p->on_epoch, .context = (void *)(uintptr_t)p,
                                    .patience = p->patience};
    return tn_fit(&options, result);
}

/* The other process: FOLDER KIND SHUFFLE (1) + BARE (2) SAVE_EVERY RESUME. */
static int worker(char **arguments)
{
    const plan p = {.folder = arguments[0], .kind = atoi(arguments[1]), .shuffle = atoi(arguments[2]) & 1,
                    .bare = atoi(arguments[2]) & 2,
                    .epochs = STEPS / 6, .save_every = atoi(arguments[3]), .resume = atoi(arguments[4]),
                    .seed = atoi(arguments[4]) ? 77 : 1};
    without_syncs();
    if (go(&p, NULL))
        fprintf(stderr, "%s\n", tn_error_message());
    return tn_error_code() != TN_OK;
}

static pid_t start(const char *where, int kind, int shuffle, int save_every, int resume)
{
    char text[4][16];
    const int numbers[] = {kind, shuffle, save_every, resume};
    for (int i = 0; i < 4; i++)
        snprintf(text[i], sizeof text[i], "%d", numbers[i]);
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, "worker", where, text[0], text[1], text[2], text[3], (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static int end_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
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

static void is_same_file(const char *name, const char *what, int kind, int shuffle, int at)
{
    static char a[1 << 17], b[1 << 17];
    size_t bytes = read_file(folder, name, a, sizeof a);
    if (bytes == 0 || bytes != read_file(other, name, b, sizeof b) || memcmp(a, b, bytes) != 0)
        fail_msg("%s: %s differs: optimizer %d, shuffle %d, step %d", what, name, kind, shuffle, at);
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

static void stopped_after_every_step(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int shuffle = 0; shuffle < 4; shuffle++) { /* 2 and 3: without a schedule, at fewer steps */
            tn_scope scope = tn_scope_begin();
            tn_fit_result result;
            plan p = {.kind = kind, .shuffle = shuffle & 1, .bare = shuffle & 2, .epochs = STEPS / 6, .seed = 1,
                      .folder = folder};
            assert_int_equal(go(&p, &result), TN_OK);
            assert_int_equal(result.end, TN_FIT_COMPLETE);
            assert_int_equal(result.progress.step, STEPS);
            tn_scope_end(scope);
            for (int at = 1; at <= STEPS; at += shuffle & 2 ? 7 : 1) {
                scope = tn_scope_begin();
                empty(other);
                p.folder = other;
                p.stop_after = at;
                assert_int_equal(go(&p, &result), TN_OK);
                assert_int_equal(result.end, TN_FIT_STOPPED);
                assert_int_equal(result.progress.step, at);
                tn_scope_end(scope);
                assert_int_equal(end_of(start(other, kind, shuffle, 0, 1)), 0);
                is_same_file("last.safetensors", "resumed", kind, shuffle, at);
                is_same_file("best.safetensors", "resumed", kind, shuffle, at);
            }
        }
}

static void killed_while_saving(void **state)
{
    (void)state;
    srand(7);
    empty(folder);
    empty(other);
    assert_int_equal(end_of(start(folder, ADAM, 1, 1, 0)), 0);
    int there = 0, kills = 0;
    int64_t before = 0;
    for (int round = 0; round < 400 && kills < 200; round++) {
        const long micro = 500 + rand() % 9000;
        const pid_t child = start(other, ADAM, 1, 1, there);
        nanosleep(&(struct timespec){.tv_nsec = micro * 1000}, NULL);
        kill(child, SIGKILL);
        const int status = end_of(child);
        kills += WIFSIGNALED(status);
        if (!WIFSIGNALED(status))
            assert_int_equal(status, 0);
        char path[128];
        struct stat info;
        snprintf(path, sizeof path, "%s/last.safetensors", other);
        if (stat(path, &info) != 0)
            continue;
        there = 1;
        tn_progress progress;
        if (tn_checkpoint_load(path, &(tn_checkpoint){.progress = &progress}))
            fail_msg("killed after %ld us (round %d): %s", micro, round, tn_error_message());
        assert_true(progress.step >= before);
        before = progress.step;
        if (progress.epoch == STEPS / 6) {
            is_same_file("last.safetensors", "killed", ADAM, 1, round);
            is_same_file("best.safetensors", "killed", ADAM, 1, round);
            empty(other);
            there = 0;
            before = 0;
        }
    }
    if (kills < 200)
        fail_msg("only %d processes were killed", kills);
}

static void not_finite(void **state)
{
    (void)state;
    static char a[1 << 17], b[1 << 17];
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    empty(folder);
    plan p = {.kind = SGD, .epochs = 2, .seed = 1, .folder = folder, .save_every = 1};
    assert_int_equal(go(&p, NULL), TN_OK);
    size_t bytes = read_file(folder, "last.safetensors", a, sizeof a);
    p.poison = 1e30;
    p.save_every = 0;
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    assert_non_null(strstr(tn_error_message(), "step "));
    expect_error(TN_ERROR_ANOMALY, "fit: ");
    tn_tensor *x = tn_clone(tn_dataset_x(tn_make_moons(SAMPLES, 0.2, 0, TN_FLOAT32)));
    ((float *)tn_data_mut(x))[2 * 9] = NAN;
    p.poison = 0;
    p.data = tn_tensor_dataset(x, tn_dataset_y(tn_make_moons(SAMPLES, 0.2, 0, TN_FLOAT32)));
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    expect_error(TN_ERROR_ANOMALY, "fit: epoch 1, step 3: the loss is nan");
    p.validation = p.data;
    p.data = NULL;
    assert_int_equal(go(&p, &result), TN_ERROR_ANOMALY);
    expect_error(TN_ERROR_ANOMALY, "fit: epoch 1: the validation loss is nan");
    assert_true(bytes > 0 && bytes == read_file(folder, "last.safetensors", b, sizeof b));
    assert_memory_equal(a, b, bytes);
    tn_scope_end(scope);
}

static int64_t epochs_seen;

static bool see_epoch(const tn_epoch *history, int64_t n, void *context)
{
    (void)context;
    assert_int_equal(history[n - 1].epoch, n);
    epochs_seen++;
    return true;
}

static void stops_early(void **state)
{
    (void)state;
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    plan p = {.kind = ADAM, .epochs = 500, .seed = 1, .shuffle = true, .patience = 3, .on_epoch = see_epoch};
    epochs_seen = 0;
    assert_int_equal(go(&p, &result), TN_OK);
    assert_int_equal(result.end, TN_FIT_EARLY);
    assert_int_equal(result.progress.epoch, epochs_seen);
    assert_int_equal(result.progress.epoch, result.progress.best_epoch + 3);
    assert_int_equal(tn_size(result.history, 0), epochs_seen);
    const double *row = tn_data_f64(result.history) + 7 * (result.progress.best_epoch - 1);
    assert_true(row[4] == result.progress.best && row[6] == 1);
    tn_scope_end(scope);
}

/* Batches of 4, 4 and 2 count by their samples. */
static void means_are_weighted(void **state)
{
    (void)state;
    tn_fit_result result;
    tn_scope scope = tn_scope_begin();
    float y[10];
    for (int i = 0; i < 10; i++)
        y[i] = (float)i;
    tn_tensor *x = tn_zeros((int64_t[]){10, 1}, 2, TN_FLOAT32), *t = tn_from_array(y, (int64_t[]){10}, 1, TN_FLOAT32);
    tn_dataset *data = tn_tensor_dataset(x, t);
    tn_module *net = tn_linear_module(1, 1, false, TN_FLOAT32);
    tn_optimizer *optimizer = tn_sgd(tn_parameters(net), NULL);
    tn_loader *loader = tn_loader_new(data, &(tn_loader_options){.batch_size = 4});
    tn_fit_options options = {.module = net, .optimizer = optimizer, .train = loader, .epochs = 1, .loss = TN_FIT_MSE,
                              .validation = data, .validation_batch_size = 3};
    assert_int_equal(tn_fit(&options, &result), TN_OK);
    assert_true(fabs(tn_data_f64(result.history)[3] - 28.5) < 1e-12); /* the mean of i^2 */
    assert_true(fabs(tn_data_f64(result.history)[4] - 28.5) < 1e-5);
    tn_score score;
    assert_int_equal(tn_evaluate(net, data, TN_FIT_L1, NULL, NULL, 4, &score), TN_OK);
    assert_true(score.loss == 4.5 && score.samples == 10 && isnan(score.accuracy));
    tn_dataset *moons = tn_make_moons(10, 0.1, 0, TN_FLOAT32);
    tn_module *logits = tn_linear_module(2, 1, true, TN_FLOAT32), *two = tn_linear_module(2, 2, true, TN_FLOAT32);
    assert_int_equal(tn_evaluate(logits, moons, TN_FIT_BCE, NULL, NULL, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    assert_int_equal(tn_evaluate(two, moons, TN_FIT_CROSS_ENTROPY, NULL, NULL, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    tn_scope_end(scope);
}

/* Trains a linear classifier of moons; the history's last row. */
static const double *trained(tn_fit_options options, int64_t outputs)
{
    tn_fit_result result;
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 4);
    options.module = tn_linear_module(2, outputs, true, TN_FLOAT32);
    options.validation = tn_make_moons(40, 0.1, 0, TN_FLOAT32);
    tn_init_torch(options.module, &g, true);
    options.optimizer = tn_sgd(tn_parameters(options.module), &(tn_sgd_options){.lr = 0.1});
    options.train = tn_loader_new(options.validation, &(tn_loader_options){.batch_size = 16});
    options.epochs = 3;
    if (tn_fit(&options, &result))
        fail_msg("%s", tn_error_message());
    return tn_data_f64(result.history) + 14;
}

/* A loss as a module trains and scores as the kind of that name, labels being classes [n]. */
static void loss_modules(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const struct {
        tn_fit_loss kind;
        tn_module *module;
        int64_t outputs;
    } cases[] = {{TN_FIT_BCE, tn_bce_with_logits_module(NULL, NULL, TN_MEAN), 1},
                 {TN_FIT_CROSS_ENTROPY, tn_cross_entropy_module(NULL), 2},
                 {TN_FIT_MSE, tn_mse_loss_module(TN_MEAN), 1},
                 {TN_FIT_L1, tn_l1_loss_module(TN_MEAN), 1},
                 {TN_FIT_SMOOTH_L1, tn_smooth_l1_loss_module(1, TN_MEAN), 1}};
    for (int i = 0; i < 5; i++) {
        const double *one = trained((tn_fit_options){.loss = cases[i].kind}, cases[i].outputs);
        const double *two = trained((tn_fit_options){.loss_module = cases[i].module}, cases[i].outputs);
        for (int k = 0; k < 7; k++)
            if (!(one[k] == two[k] || (isnan(one[k]) && isnan(two[k]))))
                fail_msg("%s, column %d: %g with the module, %g with its kind", tn_module_name(cases[i].module), k,
                         two[k], one[k]);
        assert_true(isnan(one[5]) == (i > 1));
    }
    tn_score score;
    tn_dataset *moons = tn_make_moons(10, 0.1, 0, TN_FLOAT32);
    tn_module *net = tn_linear_module(2, 1, true, TN_FLOAT32);
    assert_int_equal(tn_evaluate(net, moons, 0, tn_module_loss, cases[0].module, 4, &score), TN_OK);
    assert_true(fabs(score.loss - log(2)) < 1e-7 && score.accuracy == 0.5);
    assert_int_equal(tn_evaluate(net, moons, 0, tn_module_loss, net, 4, &score), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "forward_loss: Linear is no loss");
    const tn_fit_options both = {.module = net, .optimizer = tn_sgd(tn_parameters(net), NULL), .epochs = 1,
                                 .train = tn_loader_new(moons, NULL), .loss_module = cases[0].module,
                                 .loss_function = tn_module_loss};
    assert_int_equal(tn_fit(&both, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "fit: there are a loss_module and a loss_function");
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    plan p = {.kind = SGD, .epochs = 0, .seed = 1};
    assert_int_equal(go(&p, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "fit: epochs is 0, needed 1 or more");
    p.epochs = 1;
    p.folder = "/tmp/tenon-test-none";
    assert_int_equal(go(&p, NULL), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "/tenon-test-none");
    p.folder = folder;
    empty(folder);
    p.resume = true;
    assert_int_equal(go(&p, NULL), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "last.safetensors");
    assert_int_equal(tn_fit(NULL, NULL), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_fit(&(tn_fit_options){.epochs = 1}, NULL), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    tn_scope_end(scope);
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

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {test(stopped_after_every_step), test(killed_while_saving), test(not_finite),
                                       test(stops_early), test(means_are_weighted), test(loss_modules),
                                       test(refusals)};
    program = arguments[0];
    if (count == 7)
        return worker(arguments + 2);
    return cmocka_run_group_tests(tests, begin, end);
}
