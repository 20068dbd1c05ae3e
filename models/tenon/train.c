/* tenon train: a net from points or a file, with checkpoints, history and all that is needed to repeat the run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "command.h"
#include "number_text.h"
#include "progress.h"
#include "report.h"
#include "run_folder.h"
#include "stop_signal.h"
#include "train_run.h"

typedef struct session {
    train_options *asked;
    train_run run;
    run_folder folder;
    progress progress;
    tn_epoch *history; /* a copy */
    int64_t epochs;
    double written; /* when history.csv was */
} session;

/* A run that goes on does so with the epochs and whatever else it was given anew. */
static bool on_step(const tn_fit_step *step, void *context)
{
    session *it = context;
    if (it->asked->resume && it->progress.first_step < 0)
        train_run_write(&it->run, it->asked, it->asked->out);
    progress_step(&it->progress, step);
    return true;
}

/* history.csv is renewed once a second at most: it may be large, and the checkpoints hold it too. */
static bool on_epoch(const tn_epoch *history, int64_t n, void *context)
{
    session *it = context;
    tn_epoch *longer = realloc(it->history, (size_t)n * sizeof *longer);
    if (!longer) {
        TN_FAIL(TN_ERROR_MEMORY, "train", "no memory for the history of %" PRId64 " epochs", n);
        return false;
    }
    it->history = longer;
    int64_t known = n == it->epochs + 1 ? it->epochs : 0;
    memcpy(longer + known, history + known, (size_t)(n - known) * sizeof *longer);
    it->epochs = n;
    progress_epoch(&it->progress, &history[n - 1]);
    if (it->asked->out && seconds_now() - it->written > 1) {
        run_folder_write_history(it->asked->out, it->history, n);
        it->written = seconds_now();
    }
    return true;
}

/* Between two checkpoints at epochs' ends: where an epoch takes a millisecond, a disk must not set the pace. */
#define SAVE_SECONDS 0.25

static void fit(session *it, tn_fit_result *result)
{
    const train_options *asked = it->asked;
    char last[PATH_SIZE] = "";
    if (asked->resume && !run_folder_path(last, asked->resume, "last.safetensors"))
        return;
    tn_fit_options options = {.module = it->run.model.net,
                              .optimizer = it->run.optimizer,
                              .schedule = it->run.schedule,
                              .train = it->run.loader,
                              .epochs = asked->epochs,
                              .loss = task_losses[it->run.model.task],
                              .validation = it->run.validation,
                              .clip_norm = asked->clip_norm > 0 ? asked->clip_norm : 0,
                              .clip_value = asked->clip_value > 0 ? asked->clip_value : 0,
                              .monitor = (tn_fit_monitor)asked->monitor,
                              .patience = asked->patience,
                              .min_delta = asked->min_delta > 0 ? asked->min_delta : 0,
                              .folder = asked->out,
                              .save_seconds = SAVE_SECONDS,
                              .save_every = asked->save_every,
                              .resume = asked->resume ? last : NULL,
                              .stop = &stop_signal,
                              .on_step = on_step,
                              .on_epoch = on_epoch,
                              .context = it};
    tn_fit(&options, result);
}

/* The history that tn_fit returns, which a run that is resumed and ends before an epoch does has too. */
static void take_history(session *it, tn_tensor *history)
{
    const int64_t n = tn_size(history, 0);
    tn_epoch *all = tn_error_code() ? it->history : realloc(it->history, (size_t)(n + 1) * sizeof *all);
    if (!all) {
        TN_FAIL(TN_ERROR_MEMORY, "train", "no memory for the history of %" PRId64 " epochs", n);
        return;
    }
    it->history = all;
    for (int64_t i = 0; i < n; i++)
        all[i] = tn_history_epoch(history, i);
    it->epochs = n;
}

/* The weights of the best epoch; false, without an error, if the folder does not have those of this run. */
static bool load_best(session *it, const tn_fit_result *result)
{
    static const char name[] = "best.safetensors";
    char path[PATH_SIZE];
    tn_progress saved = {.epoch = 0};
    const tn_progress *p = &result->progress;
    if (!run_folder_path(path, it->folder.path, name) || !run_folder_has(it->folder.path, name))
        return false;
    tn_checkpoint_load(path, &(tn_checkpoint){.progress = &saved});
    if (!tn_error_code() && saved.epoch == p->best_epoch && saved.best == p->best)
        return tn_checkpoint_load(path, &(tn_checkpoint){.module = it->run.model.net}) == TN_OK;
    if (tn_error_code() == TN_ERROR_DATA)
        tn_error_clear();
    return false;
}

/* The weights of the best epoch, where one was judged; those of now otherwise. */
static void save_model(session *it, const tn_fit_result *result)
{
    char path[PATH_SIZE];
    if (it->run.validation && result->progress.best_epoch > 0 && !load_best(it, result) && !tn_error_code())
        report("train", "'%s/best.safetensors' is not that of this run: model.safetensors gets the last weights, not "
                        "those of epoch %" PRId64, it->folder.path, result->progress.best_epoch);
    if (run_folder_path(path, it->folder.path, "model.safetensors"))
        model_save(&it->run.model, path);
}

static const char *const end_words[] = {
    [TN_FIT_COMPLETE] = "complete", [TN_FIT_EARLY] = "early", [TN_FIT_STOPPED] = "stopped"};

static void write_json(const session *it, const tn_fit_result *result)
{
    char text[4][NUMBER_SIZE];
    const tn_epoch none = {.train_loss = (double)NAN, .valid_loss = (double)NAN, .valid_accuracy = (double)NAN},
                   *last = it->epochs ? &it->history[it->epochs - 1] : &none;
    printf("{\"end\":\"%s\",\"epochs\":%" PRId64 ",\"steps\":%" PRId64 ",\"loss\":%s,\"valid_loss\":%s,"
           "\"valid_accuracy\":%s,\"best_epoch\":%" PRId64 ",\"parameters\":%" PRId64 ",\"seconds\":%s,\"out\":",
           end_words[result->end], result->progress.epoch, result->progress.step,
           number_json(text[0], last->train_loss), number_json(text[1], last->valid_loss),
           number_json(text[2], last->valid_accuracy), result->progress.best_epoch,
           tn_parameter_numel(it->run.model.net), number_json(text[3], seconds_now() - it->progress.began));
    if (it->asked->out)
        write_json_string(stdout, it->asked->out, (int)strlen(it->asked->out));
    else
        fputs("null", stdout);
    puts("}");
}

static void write_text(const session *it, const tn_fit_result *result)
{
    static const char *const ends[] = {[TN_FIT_COMPLETE] = "trained",
                                       [TN_FIT_EARLY] = "stopped early, since nothing got better, after",
                                       [TN_FIT_STOPPED] = "stopped after"};
    if (it->progress.first_step < 0 && result->end == TN_FIT_COMPLETE)
        printf("nothing to do: the run has its %" PRId64 " epochs; more of them, --epochs N, go on\n", it->epochs);
    else
        printf("%s %" PRId64 " epoch%s, %" PRId64 " step%s, %.2f s\n", ends[result->end], result->progress.epoch,
               result->progress.epoch == 1 ? "" : "s", result->progress.step, result->progress.step == 1 ? "" : "s",
               seconds_now() - it->progress.began);
    int64_t best = result->progress.best_epoch;
    if (best > 0 && best <= it->epochs) {
        const tn_epoch *e = &it->history[best - 1];
        printf("best epoch %" PRId64 ": loss %.6g", best, isnan(e->valid_loss) ? e->train_loss : e->valid_loss);
        if (!isnan(e->valid_accuracy))
            printf(", accuracy %.4f", e->valid_accuracy);
        puts(it->run.validation ? " in validation" : "");
    }
    char path[PATH_SIZE];
    if (it->asked->out && run_folder_path(path, it->asked->out, "model.safetensors"))
        printf("weights in %s%s\n", path,
               result->end == TN_FIT_STOPPED ? "; 'tenon train --resume' goes on" : "");
    else
        puts("nothing is saved without --out DIR");
}

/* After a failure: what is good in the checkpoints becomes history.csv and model.safetensors, if that is possible. */
static void rescue(session *it)
{
    const char *const names[] = {"best.safetensors", "last.safetensors"};
    char path[PATH_SIZE];
    tn_error_clear();
    if (it->epochs)
        run_folder_write_history(it->folder.path, it->history, it->epochs);
    for (int i = it->run.validation ? 0 : 1; i < 2; i++) {
        tn_error_clear();
        if (run_folder_has(it->folder.path, names[i]) && run_folder_path(path, it->folder.path, names[i]) &&
            tn_checkpoint_load(path, &(tn_checkpoint){.module = it->run.model.net}) == TN_OK &&
            run_folder_path(path, it->folder.path, "model.safetensors")) {
            model_save(&it->run.model, path);
            break;
        }
    }
    tn_error_clear();
}

static int report_failure(session *it)
{
    bool diverged = tn_error_code() == TN_ERROR_ANOMALY;
    const bool saved = it->folder.path && run_folder_has(it->folder.path, "last.safetensors");
    const char *kept = !diverged || !it->folder.path ? ""
                       : saved                       ? "; the last good checkpoint is kept"
                       : it->folder.laid_aside       ? "; the run that was there is kept"
                                                     : "; that was before the first checkpoint";
    input_file_close(&it->run.file);
    report("train", "%s%s", tn_error_message(), kept);
    if (saved && it->progress.began > 0 && it->progress.first_step >= 0)
        rescue(it);
    tn_error_clear();
    return diverged ? EXIT_DIVERGED : EXIT_FAILED;
}

static void open_folder(session *it)
{
    const train_options *asked = it->asked;
    if (asked->resume) {
        run_folder_resume(&it->folder, asked->out);
        train_run_check(&it->run, asked);
    } else if (asked->out) {
        run_folder_begin(&it->folder, asked->out, asked->force);
        train_run_write(&it->run, it->asked, asked->out);
    }
}

/* What is left to do with the files when the loop has ended; false: the command was called wrongly. */
static bool finish(session *it, const tn_fit_result *result)
{
    take_history(it, result->history);
    if (tn_error_code())
        return true;
    if (it->epochs > it->asked->epochs) {
        report("train", "--epochs: found %" PRId64 ", but the run in '%s' has %" PRId64 " already: needed more",
               it->asked->epochs, it->folder.path, it->epochs);
        return false;
    }
    run_folder_write_history(it->folder.path, it->history, it->epochs);
    save_model(it, result);
    return true;
}

/* Whatever fails before the first checkpoint leaves the folder as it was. */
static int train(session *it)
{
    tn_fit_result result = {.end = TN_FIT_COMPLETE};
    int code = tn_error_code() ? EXIT_FAILED : train_run_make(&it->run, it->asked);
    if (code == EXIT_MISUSED)
        return code;
    open_folder(it);
    if (!tn_error_code()) {
        it->progress = progress_begin(it->asked->epochs, it->asked->json);
        stop_signals_catch(it->progress.line);
        fit(it, &result);
        progress_end(&it->progress);
    }
    if (!tn_error_code() && it->folder.path && !finish(it, &result))
        return EXIT_MISUSED;
    if (tn_error_code())
        return report_failure(it);
    (it->asked->json ? write_json : write_text)(it, &result);
    return result.end == TN_FIT_STOPPED && stop_signal ? 128 + stop_signal : EXIT_DONE;
}

int command_train(int argc, char **argv)
{
    train_options asked;
    train_words kept;
    session it = {.asked = &asked, .run = {.file = {.copy = -1}}, .folder = {.lock = -1}};
    int code = train_read(&asked, &kept, argc, argv);
    if (code == OPTIONS_GO_ON)
        code = train(&it);
    run_folder_end(&it.folder);
    train_run_free(&it.run);
    free(it.history);
    train_words_free(&kept);
    return code;
}
