/* Reads a checkpoint. Two phases: everything is read, checked and laid aside; then it is put into the objects, where
 * nothing can fail any more. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/ops.h>

#include "checkpoint_format.h"

static const char function[] = "checkpoint_load";

/* What is laid aside. Tensors belong to the file. */
typedef struct plan {
    tni_weights_plan weights;
    const double *options; /* [groups, options] */
    const int64_t *steps;  /* [slots] */
    tn_tensor **states;    /* [slots, states], NULL where there is none */
    size_t state_bytes;
    unsigned char *streams; /* [streams][TNI_STREAM_BYTES]: generators */
    size_t stream_bytes;
    const double *schedule; /* its numbers */
    double *old_schedule;   /* room for those that it has */
    int64_t n_schedule;
    tn_loader_state loader;
    tn_progress progress;
    tn_tensor *history; /* in the caller's scope */
} plan;

enum { STREAM_ROOM = sizeof(tn_torch_generator) }; /* the largest generator */

static tn_status check_head(const tni_reading *reading)
{
    const char *version = tn_safetensors_metadata_find(reading->file, "version");
    char shown[TNI_SHOWN_NAME];
    if (!tni_is_checkpoint(reading->file))
        return READING_FAIL(reading, TN_ERROR_DATA, "is no checkpoint: its metadata have no format \"checkpoint\"");
    if (!version || strcmp(version, TNI_CHECKPOINT_VERSION) != 0)
        return READING_FAIL(reading, TN_ERROR_DATA, "is a checkpoint of version %s, needed " TNI_CHECKPOINT_VERSION,
                            version ? tni_shown_name(shown, version) : "none");
    return TN_OK;
}

static tn_status check_kind(const tni_reading *reading, const tn_optimizer *optimizer)
{
    char shown[TNI_SHOWN_NAME], names[TNI_OPTION_NAMES];
    const char *kind = tn_safetensors_metadata_find(reading->file, "optimizer");
    const char *options = tn_safetensors_metadata_find(reading->file, "optimizer.options");
    tni_option_names(names, optimizer->kind);
    if (!kind || !options)
        return READING_FAIL(reading, TN_ERROR_ARGUMENT, "holds no optimizer, needed %s", optimizer->kind->name);
    if (strcmp(kind, optimizer->kind->name) != 0)
        return READING_FAIL(reading, TN_ERROR_ARGUMENT, "holds the state of optimizer %s, needed %s",
                            tni_shown_name(shown, kind), optimizer->kind->name);
    if (strcmp(options, names) != 0)
        return READING_FAIL(reading, TN_ERROR_ARGUMENT, "holds options '%s' of the optimizer, needed '%s'",
                            tni_shown_name(shown, options), names);
    return TN_OK;
}

/* States by number of the parameter; *found counts them. */
static tn_status read_states(plan *p, const tni_reading *reading, const tn_optimizer *optimizer, int64_t *found)
{
    const int n_states = optimizer->kind->n_states;
    char name[TNI_SHOWN_NAME];
    *found = 0;
    if (n_states == 0)
        return TN_OK;
    p->state_bytes = (size_t)optimizer->n_slots * (size_t)n_states * sizeof *p->states;
    p->states = tn_allocate(p->state_bytes, function);
    for (int64_t i = 0; i < optimizer->n_slots && !tn_error_code(); i++)
        for (int s = 0; s < n_states && !tn_error_code(); s++) {
            snprintf(name, sizeof name, "optim.%s.%lld", optimizer->kind->states[s], (long long)i);
            tn_tensor *state = tn_safetensors_find(reading->file, name);
            if (!tn_error_code() && !tni_optimizer_check_state(function, optimizer, i, s, state))
                p->states[i * n_states + s] = state;
            *found += state != NULL;
        }
    return tn_error_code();
}

static tn_status check_groups(plan *p, const tni_reading *reading, const tn_optimizer *optimizer)
{
    const int64_t shape[] = {optimizer->n_groups, optimizer->kind->n_options};
    tn_tensor *options = tni_reading_take(reading, "optim.options", shape, 2, TN_FLOAT64);
    const int64_t *groups = tni_reading_row(reading, "optim.groups", optimizer->n_slots, TN_INT64);
    p->steps = tni_reading_row(reading, "optim.steps", optimizer->n_slots, TN_INT64);
    p->options = options ? tn_data(options) : NULL;
    for (int64_t g = 0; g < optimizer->n_groups && !tn_error_code(); g++) {
        double row[TNI_OPTIONS];
        memcpy(row, p->options + g * shape[1], (size_t)shape[1] * sizeof *row);
        row[TNI_LR] = fabs(row[TNI_LR]); /* a schedule may end below 0 */
        tni_optimizer_check_options(function, optimizer->kind, row);
    }
    for (int64_t i = 0; i < optimizer->n_slots && !tn_error_code(); i++) {
        if (groups[i] != optimizer->slots[i].group)
            return READING_FAIL(reading, TN_ERROR_ARGUMENT,
                                "has parameter %lld of the optimizer in group %lld, needed group %lld", (long long)i,
                                (long long)groups[i], (long long)optimizer->slots[i].group);
        if (p->steps[i] < 0)
            return READING_FAIL(reading, TN_ERROR_DATA, "has parameter %lld after %lld steps", (long long)i,
                                (long long)p->steps[i]);
    }
    return tn_error_code();
}

static tn_status read_optimizer(plan *p, const tni_reading *reading, const tn_optimizer *optimizer)
{
    int64_t needed = 3, found, all = 0;
    if (check_kind(reading, optimizer) || check_groups(p, reading, optimizer) ||
        read_states(p, reading, optimizer, &found))
        return tn_error_code();
    for (int64_t i = 0; i < tn_safetensors_count(reading->file); i++)
        all += strncmp(tn_safetensors_at(reading->file, i).name, "optim.", 6) == 0;
    if (all != needed + found)
        return READING_FAIL(reading, TN_ERROR_NAME, "has %lld tensors of the optimizer, needed %lld", (long long)all,
                            (long long)(needed + found));
    return TN_OK;
}

static tn_status read_schedule(plan *p, const tni_reading *reading, const tn_schedule *schedule)
{
    char shown[TNI_SHOWN_NAME];
    const char *kind = tn_safetensors_metadata_find(reading->file, "schedule"), *needed = tn_schedule_name(schedule);
    const char *found = tn_safetensors_metadata_find(reading->file, "schedule.names");
    if (!kind || !found || strcmp(kind, needed) != 0)
        return READING_FAIL(reading, TN_ERROR_ARGUMENT, "holds the state of schedule %s, needed %s",
                            kind ? tni_shown_name(shown, kind) : "none", needed);
    size_t bytes = 0;
    char *names = tni_schedule_names(function, schedule, &bytes);
    const bool same = names && strcmp(names, found) == 0;
    tn_deallocate(names, bytes);
    if (names && !same)
        return READING_FAIL(reading, TN_ERROR_ARGUMENT, "holds numbers '%s' of the schedule, which has others",
                            tni_shown_name(shown, found));
    p->n_schedule = tn_schedule_state_size(schedule);
    p->schedule = tni_reading_row(reading, "schedule.numbers", p->n_schedule, TN_FLOAT64);
    p->old_schedule = tn_error_code() ? NULL : tn_allocate((size_t)p->n_schedule * sizeof(double), function);
    return p->old_schedule ? tn_schedule_get_state(schedule, p->old_schedule) : tn_error_code();
}

/* Another loader would go on with other batches. */
static tn_status check_loader(const tni_reading *reading, const int64_t *found, const tn_loader_state *state)
{
    static const char *const names[TNI_LOADER_OPTIONS] = {
        "samples", "draws", "batch_size", "shuffle", "drop_last", "global_generator", "weights of checksum"};
    int64_t needed[TNI_LOADER_OPTIONS];
    tni_pack_loader(state, needed);
    for (int i = 0; i < TNI_LOADER_OPTIONS; i++)
        if (found[i] != needed[i])
            return READING_FAIL(reading, TN_ERROR_ARGUMENT, "is of a loader with %s %lld, this one has %lld", names[i],
                                (long long)found[i], (long long)needed[i]);
    return TN_OK;
}

static tn_status read_loader(plan *p, const tni_reading *reading, const tn_loader *loader)
{
    const tni_stream_format *format = &tni_stream_formats[TNI_TORCH_STREAM];
    const int64_t *position = tni_reading_row(reading, "loader.position", 2, TN_INT64);
    const int64_t *options = tni_reading_row(reading, "loader.options", TNI_LOADER_OPTIONS, TN_INT64);
    const void *words = tni_reading_row(reading, "loader.generator", format->words, format->dtype);
    if (tn_loader_get_state(loader, &p->loader) || check_loader(reading, options, &p->loader))
        return tn_error_code();
    p->loader.epoch = position[0];
    p->loader.next = position[1];
    return format->unpack(&p->loader.generator, words)
               ? TN_OK
               : READING_FAIL(reading, TN_ERROR_DATA, "holds words that are no generator in 'loader.generator'");
}

static tn_status read_streams(plan *p, const tni_reading *reading, const tn_checkpoint *checkpoint)
{
    char name[128], shown[TNI_SHOWN_NAME];
    if (checkpoint->n_streams == 0)
        return TN_OK;
    p->stream_bytes = (size_t)checkpoint->n_streams * STREAM_ROOM;
    p->streams = tn_allocate(p->stream_bytes, function);
    for (int64_t i = 0; i < checkpoint->n_streams && !tn_error_code(); i++) {
        const tn_stream *stream = &checkpoint->streams[i];
        unsigned char *generator = p->streams + (size_t)i * STREAM_ROOM;
        tni_stream_kind kind;
        if (!tni_stream_of(function, stream, i, &kind))
            return tn_error_code();
        const tni_stream_format *format = &tni_stream_formats[kind];
        snprintf(name, sizeof name, "stream.%s.%s", stream->name, format->name);
        const void *words = tni_reading_row(reading, name, format->words, format->dtype);
        if (words && !format->unpack(generator, words))
            READING_FAIL(reading, TN_ERROR_DATA, "holds words that are no generator in '%s'",
                         tni_shown_name(shown, name));
        if (!tn_error_code())
            tni_check_seeded(function, stream, generator, kind);
    }
    return tn_error_code();
}

static tn_status read_progress(plan *p, const tni_reading *reading)
{
    const int64_t *counts = tni_reading_row(reading, "progress.counts", TNI_PROGRESS_COUNTS, TN_INT64);
    const double *numbers = tni_reading_row(reading, "progress.numbers", TNI_PROGRESS_NUMBERS, TN_FLOAT64);
    if (tn_error_code())
        return tn_error_code();
    return tni_unpack_progress(&p->progress, counts, numbers)
               ? TN_OK
               : READING_FAIL(reading, TN_ERROR_DATA, "holds a negative count in 'progress.counts'");
}

static tn_status read_history(plan *p, const tni_reading *reading)
{
    tn_tensor *found = tn_safetensors_find(reading->file, "history");
    if (found && (tn_tensor_dtype(found) != TN_FLOAT64 || tn_ndim(found) != 2))
        return READING_FAIL(reading, TN_ERROR_DATA, "has a history as %s with %d dims, needed float64 with 2",
                            tn_dtype_name(tn_tensor_dtype(found)), tn_ndim(found));
    p->history = found ? tn_clone(found) : NULL;
    return tn_error_code();
}

static tn_status check(plan *p, const tni_reading *reading, const tn_checkpoint *checkpoint)
{
    if (check_head(reading) || tni_check_streams(function, checkpoint))
        return tn_error_code();
    if (checkpoint->module && tni_weights_check(&p->weights, reading, checkpoint->module, TNI_MODEL_PREFIX))
        return tn_error_code();
    if (checkpoint->optimizer && read_optimizer(p, reading, checkpoint->optimizer))
        return tn_error_code();
    if (checkpoint->schedule && read_schedule(p, reading, checkpoint->schedule))
        return tn_error_code();
    if (checkpoint->loader && read_loader(p, reading, checkpoint->loader))
        return tn_error_code();
    if (read_streams(p, reading, checkpoint) || (checkpoint->progress && read_progress(p, reading)))
        return tn_error_code();
    return checkpoint->history ? read_history(p, reading) : TN_OK;
}

static void put_optimizer(const plan *p, tn_optimizer *optimizer)
{
    const int n_states = optimizer->kind->n_states;
    for (int64_t g = 0; g < optimizer->n_groups; g++)
        tni_optimizer_put_options(optimizer, g, p->options + g * optimizer->kind->n_options);
    for (int64_t i = 0; i < optimizer->n_slots; i++) {
        optimizer->slots[i].step = p->steps[i];
        for (int s = 0; s < n_states; s++)
            tni_optimizer_put_state(optimizer, i, s, p->states[i * n_states + s]);
    }
}

/* The schedule's and the loader's own checks are the last things that can fail; what failed has changed nothing, and
 * the schedule gets its numbers back. */
static tn_status put_checked(const plan *p, const tn_checkpoint *checkpoint)
{
    if (checkpoint->schedule && tn_schedule_set_state(checkpoint->schedule, p->schedule, p->n_schedule)) {
        tn_error_rename(function, NULL);
        return tn_error_code();
    }
    if (!checkpoint->loader || !tn_loader_set_state(checkpoint->loader, &p->loader))
        return TN_OK;
    tn_error_rename(function, NULL);
    tn_error pending;
    tn_error_push(&pending);
    if (checkpoint->schedule)
        tn_schedule_set_state(checkpoint->schedule, p->old_schedule, p->n_schedule);
    tn_error_pop(&pending);
    return tn_error_code();
}

static tn_status put(const plan *p, const tn_checkpoint *checkpoint)
{
    if (put_checked(p, checkpoint))
        return tn_error_code();
    tni_weights_put(&p->weights);
    if (checkpoint->optimizer)
        put_optimizer(p, checkpoint->optimizer);
    for (int64_t i = 0; i < checkpoint->n_streams; i++) {
        tni_stream_kind kind;
        void *generator = tni_stream_of(function, &checkpoint->streams[i], i, &kind);
        memcpy(generator, p->streams + (size_t)i * STREAM_ROOM, tni_stream_formats[kind].bytes);
    }
    if (checkpoint->progress)
        *checkpoint->progress = p->progress;
    if (checkpoint->history)
        *checkpoint->history = p->history;
    return TN_OK;
}

tn_status tn_checkpoint_load(const char *path, const tn_checkpoint *checkpoint)
{
    if (tn_error_code())
        return tn_error_code();
    if (!path || !checkpoint)
        return TN_FAIL_NULL(function, path ? 2 : 1, path ? "checkpoint" : "path");
    plan *p = tn_allocate(sizeof *p, function);
    tn_safetensors *file = p ? tn_load_safetensors(path, &(tn_safetensors_options){.sum = true}) : NULL;
    const tni_reading reading = {.function = function, .path = path, .file = file};
    if (p && !file)
        tn_error_rename(function, NULL);
    else if (p && (check(p, &reading, checkpoint) || put(p, checkpoint)))
        tn_drop(&p->history);
    if (p) {
        tni_weights_free(&p->weights);
        tn_deallocate(p->states, p->state_bytes);
        tn_deallocate(p->streams, p->stream_bytes);
        tn_deallocate(p->old_schedule, (size_t)p->n_schedule * sizeof(double));
    }
    tn_deallocate(p, sizeof *p);
    tn_drop(&file);
    return tn_error_code();
}
