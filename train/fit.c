/* The training loop: epochs of steps, and what comes between epochs. Whatever is not finite ends it before it is
 * written anywhere. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/extend.h>
#include <tenon/fit.h>
#include <tenon/ops.h>

#include "evaluate.h"
#include "fit_files.h"
#include "optimizer.h"

static const char function[] = "fit";

typedef struct fit {
    tni_run run;
    const tn_fit_options *options;
    tni_loss loss;
    tn_list *parameters; /* of the module; for clipping */
    tn_batch batch;      /* the one that runs */
    bool stopped;
    bool epoch_over; /* the loader has no more batches */
} fit;

enum { NUMBERS = 4, COUNTS = 4 };

static tni_loss loss_asked(const tn_fit_options *o)
{
    return o->loss_module ? (tni_loss){o->loss, tn_module_loss, o->loss_module}
                          : (tni_loss){o->loss, o->loss_function, o->loss_context};
}

static tn_status check(const tn_fit_options *o)
{
    const double from_zero[NUMBERS] = {o->min_delta, o->save_seconds, o->clip_norm, o->clip_value};
    static const char *const names[] = {"min_delta", "save_seconds", "clip_norm", "clip_value"};
    const int64_t counts[COUNTS] = {o->patience, o->save_every, o->validation_batch_size, o->epochs};
    static const int least[COUNTS] = {0, 0, 0, 1};
    static const char *const count_names[] = {"patience", "save_every", "validation_batch_size", "epochs"};
    if (!o->module || !o->optimizer || !o->train)
        return TN_FAIL(TN_ERROR_NULL, function, "options.%s is NULL",
                       !o->module      ? "module"
                       : !o->optimizer ? "optimizer"
                                       : "train");
    for (int i = 0; i < NUMBERS; i++) {
        char text[32];
        tn_format_double(text, sizeof text, from_zero[i]);
        if (!(from_zero[i] >= 0))
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed 0 or more", names[i], text);
    }
    for (int i = 0; i < COUNTS; i++)
        if (counts[i] < least[i])
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %" PRId64 ", needed %d or more", count_names[i],
                           counts[i], least[i]);
    if (o->monitor != TN_MONITOR_LOSS && o->monitor != TN_MONITOR_ACCURACY)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "monitor is %d, which is none", (int)o->monitor);
    if (o->monitor == TN_MONITOR_ACCURACY && !o->validation)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the accuracy is to be watched, and there is no validation");
    if (o->loss_module && o->loss_function)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "there are a loss_module and a loss_function, needed one of them");
    const tni_loss loss = loss_asked(o);
    return tni_check_loss(function, &loss);
}

static bool holds_one_of(const tn_optimizer *optimizer, const tn_module *module)
{
    for (int64_t i = 0, n = tn_parameter_count(module); i < n; i++) {
        const tn_tensor *parameter = tn_parameter(module, i);
        for (int64_t k = 0; k < optimizer->n_slots; k++)
            if (optimizer->slots[k].parameter == parameter)
                return true;
    }
    return false;
}

/* An optimizer of another module's parameters, or of those that this one had before it moved to a device, would step
 * and change nothing. Some may be left out: they are frozen. */
static tn_status check_optimizer(const tn_fit_options *o)
{
    if (tn_parameter_count(o->module) == 0 || holds_one_of(o->optimizer, o->module) ||
        (o->loss_module && holds_one_of(o->optimizer, o->loss_module)))
        return tn_error_code();
    return TN_FAIL(TN_ERROR_ARGUMENT, function,
                   "the optimizer holds none of the module's %" PRId64 " parameters, needed at least one",
                   tn_parameter_count(o->module));
}

static bool is_to_stop(const fit *f)
{
    return f->stopped || (f->options->stop && *f->options->stop);
}

/* Names the place of what is not finite: "the loss is nan", "the gradient of '0.weight'" ... */
static tn_status fail_step(const fit *f, const char *what)
{
    return TN_FAIL(TN_ERROR_ANOMALY, function, "epoch %" PRId64 ", step %" PRId64 ": %s",
                   f->run.progress.epoch + 1, f->run.progress.step + 1, what);
}

static tn_status check_loss_value(const fit *f, double value)
{
    char text[64], number[32];
    if (tn_error_code() || isfinite(value))
        return tn_error_code();
    tn_format_double(number, sizeof number, value);
    snprintf(text, sizeof text, "the loss is %s", number);
    return fail_step(f, text);
}

/* The first name of a parameter of the module. */
static void name_of(const tn_module *module, const tn_tensor *parameter, char *name, size_t size)
{
    const int64_t n = tn_parameter_count(module);
    int64_t i = 0;
    while (i + 1 < n && tn_parameter(module, i) != parameter)
        i++;
    tn_parameter_name(module, i, name, size);
}

static tn_status check_gradients(const fit *f)
{
    char name[TNI_SHOWN_NAME], text[128];
    for (int64_t i = 0; i < tn_list_size(f->parameters); i++) {
        tn_tensor *grad = tn_grad_of(tn_list_get(f->parameters, i));
        if (!grad || tni_is_finite(grad) || tn_error_code())
            continue;
        name_of(f->options->module, tn_list_get(f->parameters, i), name, sizeof name);
        snprintf(text, sizeof text, "the gradient of '%s' is nan or infinite in places", name);
        return fail_step(f, text);
    }
    return tn_error_code();
}

/* The loss of the batch and the gradients, checked and clipped. */
static tn_tensor *closure(void *context)
{
    fit *f = context;
    const tn_fit_options *o = f->options;
    tn_tensor *loss = tni_loss_of(function, &f->loss, tn_forward(o->module, f->batch.x), f->batch.y);
    if (!loss || check_loss_value(f, tn_item(loss)) || tn_zero_grad(o->optimizer) || tn_backward(loss) ||
        check_gradients(f))
        return NULL;
    if (o->clip_norm > 0)
        tn_clip_grad_norm_(f->parameters, o->clip_norm, 2.0, false);
    if (o->clip_value > 0)
        tn_clip_grad_value_(f->parameters, o->clip_value);
    return tn_error_code() ? NULL : loss;
}

/* One step; its loss before it. */
static double step(fit *f)
{
    tn_optimizer *optimizer = f->options->optimizer;
    double value = (double)NAN;
    tn_scope scope = tn_scope_begin();
    if (optimizer->kind->minimise) {
        value = tn_step_closure(optimizer, closure, f);
    } else {
        tn_tensor *loss = closure(f);
        value = loss ? tn_item(loss) : value;
        tn_step(optimizer);
    }
    tn_scope_end(scope);
    return value;
}

static void report_step(fit *f, double value)
{
    const tn_progress *p = &f->run.progress;
    const tn_fit_step now = {.epoch = p->epoch + 1,
                             .step = p->step,
                             .batch = f->batch.index,
                             .batches = tn_loader_batch_count(f->options->train),
                             .loss = value,
                             .mean_loss = p->loss_sum / (double)p->samples};
    if (f->options->on_step && !f->options->on_step(&now, f->options->context))
        f->stopped = true;
}

/* The rest of an epoch; returns early, with its files written, when it is to stop. */
static tn_status run_steps(fit *f)
{
    const tn_fit_options *o = f->options;
    tn_progress *p = &f->run.progress;
    if (!tn_module_is_training(o->module) && tn_module_train(o->module, true))
        return tn_error_code();
    f->epoch_over = false;
    while (!is_to_stop(f)) {
        if (!tn_loader_next(o->train, &f->batch)) {
            f->epoch_over = true;
            break;
        }
        f->run.dirty = true;
        const int64_t n = tn_size(f->batch.x, 0);
        const double value = step(f);
        if (tn_error_code())
            return tn_error_code();
        p->loss_sum += value * (double)n;
        p->samples += n;
        p->step++;
        report_step(f, value);
        if (!is_to_stop(f) && o->save_every > 0 && p->step % o->save_every == 0 && tni_run_save(&f->run))
            return tn_error_code();
    }
    return tn_error_code();
}

static bool is_better(const fit *f, double score)
{
    const tn_progress *p = &f->run.progress;
    if (p->best_epoch == 0)
        return true;
    return f->options->monitor == TN_MONITOR_ACCURACY ? score > p->best + f->options->min_delta
                                                      : score < p->best - f->options->min_delta;
}

static tn_status validate(fit *f, tn_epoch *epoch)
{
    const tn_fit_options *o = f->options;
    char number[32];
    tn_score score = {.loss = (double)NAN, .accuracy = (double)NAN};
    if (o->validation && tni_evaluate(function, o->module, o->validation, &f->loss, o->validation_batch_size, &score))
        return tn_error_code();
    epoch->valid_loss = score.loss;
    epoch->valid_accuracy = score.accuracy;
    tn_format_double(number, sizeof number, score.loss);
    if (o->validation && !isfinite(score.loss))
        return TN_FAIL(TN_ERROR_ANOMALY, function, "epoch %" PRId64 ": the validation loss is %s", epoch->epoch,
                       number);
    if (o->monitor == TN_MONITOR_ACCURACY && isnan(score.accuracy))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the accuracy is to be watched, and the loss knows no classes");
    return TN_OK;
}

/* What comes after the last batch: validation, the schedule, the best so far, the files, the caller. */
static tn_status end_epoch(fit *f)
{
    const tn_fit_options *o = f->options;
    tn_progress *p = &f->run.progress;
    tn_epoch epoch = {.epoch = p->epoch + 1,
                      .step = p->step,
                      .lr = tn_optimizer_get(o->optimizer, 0, "lr"),
                      .train_loss = p->loss_sum / (double)p->samples};
    if (validate(f, &epoch))
        return tn_error_code();
    const double loss = o->validation ? epoch.valid_loss : epoch.train_loss;
    const double score = o->monitor == TN_MONITOR_ACCURACY ? epoch.valid_accuracy : loss;
    if (o->schedule && tn_schedule_step_metric(o->schedule, score))
        return tn_error_code();
    epoch.best = is_better(f, score);
    p->bad_epochs = epoch.best ? 0 : p->bad_epochs + 1;
    if (epoch.best) {
        p->best = score;
        p->best_epoch = epoch.epoch;
    }
    p->epoch++;
    f->run.dirty = true;
    p->loss_sum = 0;
    p->samples = 0;
    if (tni_run_push(&f->run, &epoch) || tni_run_save_epoch(&f->run, epoch.best))
        return tn_error_code();
    if (o->on_epoch && !o->on_epoch(f->run.epochs, f->run.n_epochs, o->context))
        f->stopped = true;
    return tn_error_code();
}

static bool has_lost_patience(const fit *f)
{
    return f->options->patience > 0 && f->run.progress.bad_epochs >= f->options->patience;
}

static tn_status run_epochs(fit *f)
{
    while (f->run.progress.epoch < f->options->epochs && !has_lost_patience(f) && !is_to_stop(f)) {
        if (run_steps(f))
            return tn_error_code();
        if (f->epoch_over && end_epoch(f))
            return tn_error_code();
    }
    return tni_run_save(&f->run);
}

static void fill_result(const fit *f, tn_tensor *history, tn_fit_result *result)
{
    const bool complete = f->run.progress.epoch >= f->options->epochs;
    *result = (tn_fit_result){.end = complete                ? TN_FIT_COMPLETE
                                     : has_lost_patience(f) ? TN_FIT_EARLY
                                                            : TN_FIT_STOPPED,
                              .progress = f->run.progress,
                              .history = history};
}

tn_status tn_fit(const tn_fit_options *options, tn_fit_result *result)
{
    if (tn_error_code())
        return tn_error_code();
    if (!options)
        return TN_FAIL_NULL(function, 1, "options");
    if (check(options) || check_optimizer(options))
        return tn_error_code();
    fit f = {.options = options,
             .run = {.options = options, .dirty = !options->resume}, /* stopped before its first step it is there too */
             .loss = loss_asked(options)};
    tn_scope scope = tn_scope_begin();
    f.parameters = tn_parameters(options->module);
    if (!tn_error_code() && !tni_run_open(&f.run) && (!options->resume || !tni_run_resume(&f.run)))
        run_epochs(&f);
    tn_scope_end(scope);
    tn_tensor *history = result ? tni_run_history(&f.run) : NULL;
    if (!tn_error_code() && result)
        fill_result(&f, history, result);
    tni_run_free(&f.run);
    return tn_error_code();
}
