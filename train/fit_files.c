/* When the loop writes its checkpoints, and how it takes a run up. */
#include "fit_files.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/file.h>
#include <tenon/ops.h>
#include <time.h>

#include "checkpoint_format.h"
#include "evaluate.h"

static const char function[] = "fit";

enum { COLUMNS = 7 };

static double seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static char *path_of(const char *folder, const char *name, size_t *bytes)
{
    *bytes = strlen(folder) + strlen(name) + 1;
    char *path = tn_allocate(*bytes, function);
    if (path) {
        memcpy(path, folder, strlen(folder));
        memcpy(path + strlen(folder), name, strlen(name) + 1);
    }
    return path;
}

tn_status tni_run_open(tni_run *run)
{
    const char *folder = run->options->folder;
    tn_file file;
    if (!folder)
        return TN_OK;
    run->last = path_of(folder, "/last.safetensors", &run->last_bytes);
    run->best = run->last ? path_of(folder, "/best.safetensors", &run->best_bytes) : NULL;
    run->saved_at = seconds();
    /* A folder that cannot be written to is better known before the first epoch than after it. */
    if (!tn_error_code() && !tn_file_create(&file, run->last, function))
        tn_file_close(&file);
    return tn_error_code();
}

static tn_checkpoint all_of(tni_run *run, tn_tensor **history)
{
    const tn_fit_options *o = run->options;
    return (tn_checkpoint){.module = o->module,
                           .optimizer = o->optimizer,
                           .schedule = o->schedule,
                           .loader = o->train,
                           .streams = o->streams,
                           .n_streams = o->n_streams,
                           .progress = &run->progress,
                           .history = history};
}

tn_status tni_run_push(tni_run *run, const tn_epoch *epoch)
{
    if (run->n_epochs == run->room) {
        const int64_t larger = run->room ? 2 * run->room : 64;
        tn_epoch *epochs = tn_allocate((size_t)larger * sizeof *epochs, function);
        if (!epochs)
            return tn_error_code();
        if (run->n_epochs > 0)
            memcpy(epochs, run->epochs, (size_t)run->n_epochs * sizeof *epochs);
        tn_deallocate(run->epochs, (size_t)run->room * sizeof *epochs);
        run->epochs = epochs;
        run->room = larger;
    }
    run->epochs[run->n_epochs++] = *epoch;
    return TN_OK;
}

tn_tensor *tni_run_history(const tni_run *run)
{
    tn_tensor *history = tn_empty_on((int64_t[]){run->n_epochs, COLUMNS}, 2, TN_FLOAT64, (tn_device){TN_CPU, 0});
    double *to = history && run->n_epochs > 0 ? tn_data_mut(history) : NULL;
    for (int64_t i = 0; to && i < run->n_epochs; i++) {
        const tn_epoch *e = &run->epochs[i];
        const double row[COLUMNS] = {(double)e->epoch, (double)e->step,   e->lr,          e->train_loss,
                                     e->valid_loss,    e->valid_accuracy, (double)e->best};
        memcpy(to + i * COLUMNS, row, sizeof row);
    }
    tn_error_rename(function, NULL);
    return tn_error_code() ? NULL : history;
}

tn_epoch tn_history_epoch(tn_tensor *history, int64_t i)
{
    static const char name[] = "history_epoch";
    const tn_epoch none = {.epoch = 0};
    if (tn_error_code())
        return none;
    if (!history) {
        TN_FAIL_NULL(name, 1, "history");
        return none;
    }
    if (tn_ndim(history) != 2 || tn_size(history, 1) != COLUMNS) {
        char shape[64];
        tn_format_shape(shape, sizeof shape, tn_sizes(history), tn_ndim(history));
        TN_FAIL(TN_ERROR_SHAPE, name, "history is %s, needed [epochs, %d]", shape, COLUMNS);
        return none;
    }
    if (i < 0 || i >= tn_size(history, 0)) {
        TN_FAIL(TN_ERROR_INDEX, name, "row %" PRId64 " of a history of %" PRId64 " epochs", i, tn_size(history, 0));
        return none;
    }
    const double *row = tn_data_f64(history);
    if (!row)
        return none;
    const int64_t down = tn_stride(history, 0), right = tn_stride(history, 1);
    row += i * down;
    return (tn_epoch){.epoch = (int64_t)row[0],
                      .step = (int64_t)row[right],
                      .lr = row[2 * right],
                      .train_loss = row[3 * right],
                      .valid_loss = row[4 * right],
                      .valid_accuracy = row[5 * right],
                      .best = row[6 * right] != 0};
}

static tn_status take_history(tni_run *run, tn_tensor *history)
{
    for (int64_t i = 0; history && i < tn_size(history, 0) && !tn_error_code(); i++) {
        const tn_epoch epoch = tn_history_epoch(history, i);
        tni_run_push(run, &epoch);
    }
    return tn_error_code();
}

/* Counts, as doubles, that int64 holds. */
static bool is_history(const tn_tensor *history, int64_t epochs)
{
    if (!history || tn_size(history, 1) != COLUMNS || tn_size(history, 0) != epochs)
        return false;
    const double *from = epochs > 0 ? tn_data_f64(history) : NULL;
    for (int64_t i = 0; from && i < epochs; i++)
        for (int k = 0; k < 2; k++)
            if (!(from[i * COLUMNS + k] >= 0 && from[i * COLUMNS + k] < 0x1p53))
                return false;
    return !tn_error_code();
}

tn_status tni_run_resume(tni_run *run)
{
    tn_progress progress;
    tn_tensor *history = NULL;
    tn_checkpoint all = all_of(run, &history);
    tn_scope scope = tn_scope_begin();
    /* First what only this loop can judge, while nothing has changed. */
    const tn_checkpoint part = {.progress = &progress, .history = &history};
    if (!tn_checkpoint_load(run->options->resume, &part) && !is_history(history, progress.epoch) && !tn_error_code())
        TN_FAIL(TN_ERROR_DATA, function, "'%.80s' was not written by this loop: its history does not fit",
                run->options->resume);
    if (!tn_error_code() && !take_history(run, history))
        tn_checkpoint_load(run->options->resume, &all);
    tn_scope_end(scope);
    return tn_error_code();
}

/* A weight that is not finite would replace a good state. */
static tn_status check_finite(const tni_run *run)
{
    const tn_module *module = run->options->module;
    const int64_t parameters = tn_parameter_count(module), all = parameters + tn_buffer_count(module);
    char name[TNI_SHOWN_NAME];
    for (int64_t i = 0; i < all; i++) {
        tn_tensor *x = i < parameters ? tn_parameter(module, i) : tn_buffer(module, i - parameters);
        if (tni_is_finite(x))
            continue;
        if (tn_error_code())
            return tn_error_code();
        if (i < parameters)
            tn_parameter_name(module, i, name, sizeof name);
        else
            tn_buffer_name(module, i - parameters, name, sizeof name);
        return TN_FAIL(TN_ERROR_ANOMALY, function,
                       "after step %" PRId64 ", in epoch %" PRId64 ", '%s' is nan or infinite in places",
                       run->progress.step, run->progress.epoch + (run->progress.samples > 0), name);
    }
    return tn_error_code();
}

static tn_status write_best(tni_run *run)
{
    const tn_checkpoint all = all_of(run, NULL);
    if (run->best_kept.n == 0)
        return TN_OK;
    if (!tni_checkpoint_write(run->best, &run->best_kept, &all))
        tni_saving_free(&run->best_kept);
    return tn_error_code();
}

tn_status tni_run_save(tni_run *run)
{
    if (!run->last || !run->dirty || check_finite(run) || write_best(run))
        return tn_error_code();
    tn_scope scope = tn_scope_begin();
    tn_tensor *history = tni_run_history(run);
    const tn_checkpoint all = all_of(run, &history);
    if (history && !tn_checkpoint_save(run->last, &all)) {
        run->saved_at = seconds();
        run->dirty = false;
    }
    tn_scope_end(scope);
    return tn_error_code();
}

/* A copy of the state that just became the best. */
static tn_status keep_best(tni_run *run)
{
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *history = tni_run_history(run);
    const tn_checkpoint all = all_of(run, &history);
    tni_saving_free(&run->best_kept);
    run->best_kept.function = function;
    if (history && !tni_checkpoint_collect(&run->best_kept, &all))
        tni_saving_copy(&run->best_kept);
    if (tn_error_code())
        tni_saving_free(&run->best_kept);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return tn_error_code();
}

tn_status tni_run_save_epoch(tni_run *run, bool is_best)
{
    if (!run->last || check_finite(run) || (is_best && keep_best(run)))
        return tn_error_code();
    return seconds() - run->saved_at >= run->options->save_seconds ? tni_run_save(run) : TN_OK;
}

void tni_run_free(tni_run *run)
{
    tni_saving_free(&run->best_kept);
    tn_deallocate(run->epochs, (size_t)run->room * sizeof *run->epochs);
    tn_deallocate(run->last, run->last_bytes);
    tn_deallocate(run->best, run->best_bytes);
}
