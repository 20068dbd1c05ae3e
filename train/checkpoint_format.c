/* Generators and progress as words of a checkpoint, and back with checks. */
#include "checkpoint_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_u64(uint32_t *to, uint64_t value)
{
    to[0] = (uint32_t)value;
    to[1] = (uint32_t)(value >> 32);
}

static uint64_t get_u64(const uint32_t *from)
{
    return from[0] | (uint64_t)from[1] << 32;
}

static void put_double(uint32_t *to, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(to, bits);
}

static double get_double(const uint32_t *from)
{
    uint64_t bits = get_u64(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool good_twister(const uint32_t *words)
{
    return words[624] <= 624 && words[625] <= 1;
}

static void pack_torch(const void *generator, void *words)
{
    const tn_torch_generator *g = generator;
    uint32_t *to = words;
    memcpy(to, g->mt.key, sizeof g->mt.key);
    to[624] = (uint32_t)g->mt.position;
    to[625] = (uint32_t)g->has_normal;
    put_double(to + 626, g->normal);
    put_u64(to + 628, g->initial_seed);
}

static bool unpack_torch(void *generator, const void *words)
{
    tn_torch_generator *g = generator;
    const uint32_t *from = words;
    if (!good_twister(from))
        return false;
    memcpy(g->mt.key, from, sizeof g->mt.key);
    g->mt.position = (int32_t)from[624];
    g->has_normal = (int32_t)from[625];
    g->normal = get_double(from + 626);
    g->initial_seed = get_u64(from + 628);
    return true;
}

static void pack_random_state(const void *generator, void *words)
{
    const tn_random_state *g = generator;
    uint32_t *to = words;
    memcpy(to, g->mt.key, sizeof g->mt.key);
    to[624] = (uint32_t)g->mt.position;
    to[625] = (uint32_t)g->has_gauss;
    put_double(to + 626, g->gauss);
}

static bool unpack_random_state(void *generator, const void *words)
{
    tn_random_state *g = generator;
    const uint32_t *from = words;
    if (!good_twister(from))
        return false;
    memcpy(g->mt.key, from, sizeof g->mt.key);
    g->mt.position = (int32_t)from[624];
    g->has_gauss = (int32_t)from[625];
    g->gauss = get_double(from + 626);
    return true;
}

static void pack_default_rng(const void *generator, void *words)
{
    const tn_default_rng *g = generator;
    const uint64_t all[TNI_DEFAULT_RNG_WORDS] = {g->state_high, g->state_low,            g->inc_high,
                                                 g->inc_low,    (uint64_t)g->has_uint32, g->uinteger};
    memcpy(words, all, sizeof all);
}

static bool unpack_default_rng(void *generator, const void *words)
{
    const uint64_t *from = words;
    if (from[4] > 1 || from[5] > UINT32_MAX)
        return false;
    *(tn_default_rng *)generator = (tn_default_rng){from[0], from[1], from[2], from[3], (int32_t)from[4],
                                                    (uint32_t)from[5]};
    return true;
}

const tni_stream_format tni_stream_formats[TNI_STREAM_KINDS] = {
    [TNI_TORCH_STREAM] = {"torch", TN_UINT32, TNI_TORCH_WORDS, sizeof(tn_torch_generator), pack_torch, unpack_torch},
    [TNI_DEFAULT_RNG_STREAM] = {"default_rng", TN_UINT64, TNI_DEFAULT_RNG_WORDS, sizeof(tn_default_rng),
                                pack_default_rng, unpack_default_rng},
    [TNI_RANDOM_STATE_STREAM] = {"random_state", TN_UINT32, TNI_RANDOM_STATE_WORDS, sizeof(tn_random_state),
                                 pack_random_state, unpack_random_state},
};

/* A draw of nothing refuses a generator without a seed. */
static tn_status check_seeded(const void *generator, tni_stream_kind kind)
{
    void *g = (void *)(uintptr_t)generator;
    switch (kind) {
    case TNI_TORCH_STREAM:
        return tn_torch_uniform_float32(g, 0.0, 1.0, false, NULL, 0);
    case TNI_DEFAULT_RNG_STREAM:
        return tn_default_rng_random(g, NULL, 0);
    default:
        return tn_random_state_random_sample(g, NULL, 0);
    }
}

void *tni_stream_of(const char *function, const tn_stream *stream, int64_t number, tni_stream_kind *kind)
{
    void *const pointers[] = {[TNI_TORCH_STREAM] = stream->torch_generator,
                              [TNI_DEFAULT_RNG_STREAM] = stream->default_rng,
                              [TNI_RANDOM_STATE_STREAM] = stream->random_state};
    int set = 0;
    for (int i = 0; i < TNI_STREAM_KINDS; i++)
        if (pointers[i]) {
            *kind = (tni_stream_kind)i;
            set++;
        }
    if (stream->name && stream->name[0] && set == 1 && strlen(stream->name) < TNI_SHOWN_NAME)
        return pointers[*kind];
    if (stream->name && strlen(stream->name) >= TNI_SHOWN_NAME)
        TN_FAIL(TN_ERROR_ARGUMENT, function, "the name of stream %" PRId64 " is longer than %d bytes", number,
                TNI_SHOWN_NAME - 1);
    else if (stream->name && stream->name[0])
        TN_FAIL(TN_ERROR_ARGUMENT, function, "stream '%.40s' has %d generators, needed one", stream->name, set);
    else
        TN_FAIL(TN_ERROR_ARGUMENT, function, "stream %" PRId64 " has no name", number);
    return NULL;
}

tn_status tni_check_streams(const char *function, const tn_checkpoint *checkpoint)
{
    tni_stream_kind kind;
    if (checkpoint->n_streams < 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "n_streams is %" PRId64 ", needed 0 or more",
                       checkpoint->n_streams);
    if (checkpoint->n_streams > 0 && !checkpoint->streams)
        return TN_FAIL(TN_ERROR_NULL, function, "streams is NULL");
    for (int64_t i = 0; i < checkpoint->n_streams; i++) {
        const tn_stream *stream = &checkpoint->streams[i];
        const void *generator = tni_stream_of(function, stream, i, &kind);
        if (!generator)
            return tn_error_code();
        for (int64_t j = 0; j < i; j++)
            if (strcmp(checkpoint->streams[j].name, stream->name) == 0)
                return TN_FAIL(TN_ERROR_ARGUMENT, function, "two streams are named '%.40s'", stream->name);
    }
    return TN_OK;
}

tn_status tni_check_seeded(const char *function, const tn_stream *stream, const void *generator, tni_stream_kind kind)
{
    char context[TNI_SHOWN_NAME];
    if (check_seeded(generator, kind) == TN_OK)
        return TN_OK;
    snprintf(context, sizeof context, "stream '%.40s'", stream->name);
    tn_error_rename(function, context);
    return tn_error_code();
}

void tni_option_names(char text[TNI_OPTION_NAMES], const tni_optimizer_kind *kind)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < kind->n_options && used < TNI_OPTION_NAMES; i++)
        used += (size_t)snprintf(text + used, TNI_OPTION_NAMES - used, "%s%s", i ? " " : "", kind->options[i].name);
}

void tni_pack_loader(const tn_loader_state *s, int64_t options[TNI_LOADER_OPTIONS])
{
    const int64_t all[TNI_LOADER_OPTIONS] = {s->samples,   s->draws,            s->batch_size, s->shuffle,
                                             s->drop_last, s->global_generator, s->weights};
    memcpy(options, all, sizeof all);
}

void tni_pack_progress(const tn_progress *p, int64_t counts[TNI_PROGRESS_COUNTS],
                       double numbers[TNI_PROGRESS_NUMBERS])
{
    const int64_t all[TNI_PROGRESS_COUNTS] = {p->epoch, p->step, p->samples, p->best_epoch, p->bad_epochs};
    memcpy(counts, all, sizeof all);
    numbers[0] = p->loss_sum;
    numbers[1] = p->best;
}

bool tni_unpack_progress(tn_progress *p, const int64_t counts[TNI_PROGRESS_COUNTS],
                         const double numbers[TNI_PROGRESS_NUMBERS])
{
    for (int i = 0; i < TNI_PROGRESS_COUNTS; i++)
        if (counts[i] < 0)
            return false;
    *p = (tn_progress){.epoch = counts[0], .step = counts[1], .samples = counts[2], .best_epoch = counts[3],
                       .bad_epochs = counts[4], .loss_sum = numbers[0], .best = numbers[1]};
    return true;
}

char *tni_schedule_names(const char *function, const tn_schedule *schedule, size_t *bytes)
{
    const int64_t n = tn_schedule_state_size(schedule);
    size_t used = 0;
    *bytes = 1;
    for (int64_t i = 0; i < n; i++)
        *bytes += (size_t)tn_schedule_state_name(schedule, i, NULL, 0) + 1;
    char *names = tn_error_code() ? NULL : tn_allocate(*bytes, function);
    for (int64_t i = 0; names && i < n; i++) {
        if (i > 0)
            names[used++] = ' ';
        used += (size_t)tn_schedule_state_name(schedule, i, names + used, *bytes - used);
    }
    return names;
}
