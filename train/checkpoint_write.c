/* Writes a checkpoint: every part puts its tensors into one list, which becomes one file. */
#include <tenon/autograd.h>
#include <tenon/create.h>

#include "checkpoint_format.h"

static const char function[] = "checkpoint_save";

static void add_row(tni_saving *saving, const char *name, const void *data, int64_t n, tn_dtype dtype)
{
    tni_saving_add(saving, tni_row_of(data, n, dtype), "%s", name);
}

static void add_states(tni_saving *saving, const tn_optimizer *optimizer)
{
    for (int64_t i = 0; i < optimizer->n_slots; i++)
        for (int s = 0; s < optimizer->kind->n_states && !tn_error_code(); s++)
            if (optimizer->slots[i].state[s])
                tni_saving_add(saving, optimizer->slots[i].state[s], "optim.%s.%lld", optimizer->kind->states[s],
                               (long long)i);
}

static tn_status add_optimizer(tni_saving *saving, const tn_optimizer *optimizer)
{
    const tn_device cpu = {TN_CPU, 0};
    const int64_t n_options = optimizer->kind->n_options;
    tn_tensor *options = tn_empty_on((int64_t[]){optimizer->n_groups, n_options}, 2, TN_FLOAT64, cpu);
    tn_tensor *groups = tn_empty_on(&optimizer->n_slots, 1, TN_INT64, cpu);
    tn_tensor *steps = tn_empty_on(&optimizer->n_slots, 1, TN_INT64, cpu);
    double *option = options ? tn_data_mut(options) : NULL;
    int64_t *group = groups ? tn_data_mut(groups) : NULL, *step = steps ? tn_data_mut(steps) : NULL;
    if (tn_error_code())
        return tn_error_code();
    for (int64_t g = 0; g < optimizer->n_groups; g++)
        for (int64_t o = 0; o < n_options; o++)
            option[g * n_options + o] = optimizer->groups[g].option[o];
    for (int64_t i = 0; i < optimizer->n_slots; i++) {
        group[i] = optimizer->slots[i].group;
        step[i] = optimizer->slots[i].step;
    }
    tni_saving_add(saving, options, "optim.options");
    tni_saving_add(saving, groups, "optim.groups");
    tni_saving_add(saving, steps, "optim.steps");
    add_states(saving, optimizer);
    return tn_error_code();
}

static void add_schedule(tni_saving *saving, const tn_schedule *schedule)
{
    const int64_t n = tn_schedule_state_size(schedule);
    tn_tensor *numbers = tn_empty_on(&n, 1, TN_FLOAT64, (tn_device){TN_CPU, 0});
    double *to = numbers && n > 0 ? tn_data_mut(numbers) : NULL;
    if (to)
        tn_schedule_get_state(schedule, to);
    tni_saving_add(saving, numbers, "schedule.numbers");
}

static void add_loader(tni_saving *saving, const tn_loader *loader)
{
    const tni_stream_format *format = &tni_stream_formats[TNI_TORCH_STREAM];
    uint32_t words[TNI_TORCH_WORDS];
    tn_loader_state state;
    if (tn_loader_get_state(loader, &state))
        return;
    const int64_t position[] = {state.epoch, state.next};
    int64_t options[TNI_LOADER_OPTIONS];
    tni_pack_loader(&state, options);
    format->pack(&state.generator, words);
    add_row(saving, "loader.position", position, 2, TN_INT64);
    add_row(saving, "loader.options", options, TNI_LOADER_OPTIONS, TN_INT64);
    add_row(saving, "loader.generator", words, format->words, format->dtype);
}

static void add_streams(tni_saving *saving, const tn_checkpoint *checkpoint)
{
    uint64_t words[TNI_STREAM_BYTES / sizeof(uint64_t)];
    for (int64_t i = 0; i < checkpoint->n_streams && !tn_error_code(); i++) {
        tni_stream_kind kind;
        const tn_stream *stream = &checkpoint->streams[i];
        const void *generator = tni_stream_of(function, stream, i, &kind);
        const tni_stream_format *format = &tni_stream_formats[kind];
        if (tni_check_seeded(function, stream, generator, kind))
            return;
        format->pack(generator, words);
        tni_saving_add(saving, tni_row_of(words, format->words, format->dtype), "stream.%s.%s", stream->name,
                       format->name);
    }
}

static void add_progress(tni_saving *saving, const tn_progress *progress)
{
    int64_t counts[TNI_PROGRESS_COUNTS];
    double numbers[TNI_PROGRESS_NUMBERS];
    tni_pack_progress(progress, counts, numbers);
    add_row(saving, "progress.counts", counts, TNI_PROGRESS_COUNTS, TN_INT64);
    add_row(saving, "progress.numbers", numbers, TNI_PROGRESS_NUMBERS, TN_FLOAT64);
}

static void add_history(tni_saving *saving, tn_tensor *history)
{
    if (tn_tensor_dtype(history) != TN_FLOAT64 || tn_ndim(history) != 2)
        TN_FAIL(TN_ERROR_ARGUMENT, function, "the history is %s with %d dims, needed float64 with 2",
                tn_dtype_name(tn_tensor_dtype(history)), tn_ndim(history));
    tni_saving_add(saving, history, "history");
}

tn_status tni_checkpoint_write(const char *path, const tni_saving *saving, const tn_checkpoint *checkpoint)
{
    const tn_optimizer *optimizer = checkpoint->optimizer;
    char names[TNI_OPTION_NAMES];
    char *schedule = NULL;
    size_t schedule_bytes = 0;
    int64_t n = 2;
    tn_metadata metadata[6] = {{"format", "checkpoint"}, {"version", TNI_CHECKPOINT_VERSION}};
    if (optimizer) {
        tni_option_names(names, optimizer->kind);
        metadata[n++] = (tn_metadata){"optimizer", optimizer->kind->name};
        metadata[n++] = (tn_metadata){"optimizer.options", names};
    }
    if (checkpoint->schedule) {
        schedule = tni_schedule_names(function, checkpoint->schedule, &schedule_bytes);
        if (!schedule)
            return tn_error_code();
        metadata[n++] = (tn_metadata){"schedule", tn_schedule_name(checkpoint->schedule)};
        metadata[n++] = (tn_metadata){"schedule.names", schedule};
    }
    const tn_safetensors_options options = {.metadata = metadata, .n_metadata = n, .sum = true};
    if (tn_save_safetensors(path, saving->tensors, saving->n, &options))
        tn_error_rename(function, NULL);
    tn_deallocate(schedule, schedule_bytes);
    return tn_error_code();
}

tn_status tni_checkpoint_collect(tni_saving *saving, const tn_checkpoint *checkpoint)
{
    if (checkpoint->module)
        tni_weights_add(saving, checkpoint->module, TNI_MODEL_PREFIX);
    if (checkpoint->optimizer && !tn_error_code())
        add_optimizer(saving, checkpoint->optimizer);
    if (checkpoint->schedule && !tn_error_code())
        add_schedule(saving, checkpoint->schedule);
    if (checkpoint->loader)
        add_loader(saving, checkpoint->loader);
    add_streams(saving, checkpoint);
    if (checkpoint->progress)
        add_progress(saving, checkpoint->progress);
    if (checkpoint->history && *checkpoint->history)
        add_history(saving, *checkpoint->history);
    return tn_error_code();
}

tn_status tn_checkpoint_save(const char *path, const tn_checkpoint *checkpoint)
{
    if (tn_error_code())
        return tn_error_code();
    if (!path || !checkpoint)
        return TN_FAIL_NULL(function, path ? 2 : 1, path ? "checkpoint" : "path");
    if (tni_check_streams(function, checkpoint))
        return tn_error_code();
    tni_saving saving = {.function = function};
    tn_grad_mode mode = tn_no_grad();
    tn_scope scope = tn_scope_begin();
    if (!tn_error_code() && !tni_checkpoint_collect(&saving, checkpoint))
        tni_checkpoint_write(path, &saving, checkpoint);
    tn_scope_end(scope);
    tn_error_rename(function, NULL);
    tn_grad_mode_restore(mode);
    tni_saving_free(&saving);
    return tn_error_code();
}
