/* The loader: a dataset in batches, in order or in a new random order each epoch.
 *
 * Invariant: what can fail (memory) comes before what moves the state, so a failed call may be repeated and gives the
 * same batch. The order of shuffled epochs is that of torch.utils.data.DataLoader without workers, with a generator of
 * its own or with PyTorch's global one (tenon/random.h says what each draws). */
#include <inttypes.h>
#include <math.h>
#include <tenon/extend.h>

#include "crc32.h"
#include "dataset.h"
#include "prefetch.h"

struct tn_loader {
    tn_object object;
    tn_dataset *dataset; /* a reference */
    int64_t of;          /* samples of the dataset */
    int64_t samples, batch_size, batches;
    bool shuffle, drop_last;
    uint32_t weights; /* their checksum, or 0 */
    int64_t next;       /* batch that comes next; -1 before an epoch */
    int64_t epoch;      /* begun so far */
    int64_t *order;     /* [samples] for shuffling and weights, else NULL */
    double *cumulative; /* [of + samples] sums of the weights, the last one 1, and room for draws; NULL: no weights */
    tn_torch_generator generator;
    tn_torch_generator *global; /* draws come from it instead, unless NULL */
    tn_torch_generator begun;   /* what it was when the epoch began */
    tn_tensor *x, *y;           /* the batch that is out, references */
    tni_prefetch *prefetch;     /* NULL: no workers */
    int64_t ahead;              /* batches that may be asked for */
};

static void let_go(tn_loader *loader)
{
    tn_release(&loader->x);
    tn_release(&loader->y);
}

static void destroy(void *object)
{
    tn_loader *loader = object;
    let_go(loader);
    tni_prefetch_free(loader->prefetch);
    tn_release(&loader->dataset);
    tn_deallocate(loader->order, (size_t)loader->samples * sizeof *loader->order);
    tn_deallocate(loader->cumulative, (size_t)(loader->of + loader->samples) * sizeof *loader->cumulative);
}

static const tn_object_class loader_class = {.name = "DataLoader", .bytes = sizeof(tn_loader), .destroy = destroy};

static tn_status check_weights(const tn_loader_options *options, int64_t samples)
{
    const char *name = "loader_new";
    tn_tensor *weights = options->weights;
    double sum = 0.0;
    if (options->draws < 0 || (options->draws && !weights) || options->draws > INT64_MAX / 64)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "draws is %" PRId64 "%s", options->draws,
                       weights ? ", needed 0 or more" : " without weights");
    if (!weights)
        return TN_OK;
    if (options->shuffle)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "there are weights and shuffle, needed one of them");
    if (tn_ndim(weights) != 1 || tn_size(weights, 0) != samples)
        return TN_FAIL(TN_ERROR_ARGUMENT, name,
                       "the weights have %d dims and %" PRId64 " elements, needed 1 and %" PRId64 ", one a sample",
                       tn_ndim(weights), tn_numel(weights), samples);
    const double *data = tn_data_f64(weights);
    for (int64_t i = 0; data && i < samples; i++) {
        double weight = data[i * tn_stride(weights, 0)];
        if (!(weight >= 0.0) || !isfinite(sum += weight))
            return TN_FAIL(TN_ERROR_ARGUMENT, name, "weight %" PRId64 " is negative, or not finite with those before",
                           i);
    }
    if (data && sum == 0.0)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "all weights are 0");
    tn_error_rename(name, "weights");
    return tn_error_code();
}

static tn_status check(const tn_dataset *dataset, const tn_loader_options *options)
{
    const char *name = "loader_new";
    if (tn_error_code())
        return tn_error_code();
    if (!dataset)
        return TN_FAIL_NULL(name, 1, "dataset");
    int64_t samples = tni_dataset_samples(dataset), drawn = options->draws ? options->draws : samples;
    if (samples == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "the dataset is empty, needed at least one sample");
    if (options->batch_size < 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "batch_size is %" PRId64 ", needed at least 1, or 0 for the default",
                       options->batch_size);
    if (options->workers < 0 || options->workers > 1024 || options->prefetch < 0 || options->prefetch > 1024)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "%s is %d, needed 0 to 1024",
                       options->workers < 0 || options->workers > 1024 ? "workers" : "prefetch",
                       options->workers < 0 || options->workers > 1024 ? options->workers : options->prefetch);
    if (check_weights(options, samples))
        return tn_error_code();
    if ((options->shuffle || options->weights) && options->global_generator &&
        tn_torch_uniform_float32(options->global_generator, 0.0, 1.0, false, NULL, 0)) {
        tn_error_rename(name, NULL);
        return tn_error_code();
    }
    if (options->drop_last && options->batch_size > drawn)
        return TN_FAIL(TN_ERROR_ARGUMENT, name,
                       "batch_size is %" PRId64 " with drop_last, the %s has %" PRId64
                       " samples: no batch would ever come",
                       options->batch_size, options->draws ? "epoch" : "dataset", drawn);
    return TN_OK;
}

/* Sums as torch.multinomial takes them. */
static void fill_cumulative(tn_loader *loader, tn_tensor *weights)
{
    const double *data = tn_data_f64(weights);
    int64_t stride = tn_stride(weights, 0);
    double sum = 0.0;
    tni_crc32 crc;
    tni_crc32_begin(&crc);
    for (int64_t i = 0; i < loader->of; i++) {
        loader->cumulative[i] = sum += data[i * stride];
        tni_crc32_add(&crc, &data[i * stride], sizeof *data);
    }
    loader->weights = tni_crc32_value(&crc);
    if (loader->weights == 0)
        loader->weights = 1;
    for (int64_t i = 0; i < loader->of; i++)
        loader->cumulative[i] /= sum;
    loader->cumulative[loader->of - 1] = 1.0;
}

static tn_status fill_loader(tn_loader *loader, const tn_loader_options *options)
{
    const char *name = "loader_new";
    if (options->shuffle || options->weights) {
        loader->order = tn_allocate((size_t)loader->samples * sizeof *loader->order, name);
        if (!loader->order)
            return tn_error_code();
        loader->global = options->global_generator;
        tn_torch_manual_seed(&loader->generator, options->seed);
    }
    if (options->weights) {
        loader->cumulative = tn_allocate((size_t)(loader->of + loader->samples) * sizeof *loader->cumulative, name);
        if (!loader->cumulative)
            return tn_error_code();
        fill_cumulative(loader, options->weights);
    }
    if (options->workers > 0) {
        int64_t rows = loader->batch_size < loader->samples ? loader->batch_size : loader->samples;
        int64_t ahead = (int64_t)options->workers * (options->prefetch ? options->prefetch : 2);
        loader->ahead = ahead < loader->batches ? ahead : loader->batches;
        int workers = options->workers < loader->ahead ? options->workers : (int)loader->ahead;
        loader->prefetch = tni_prefetch_new(loader->dataset, workers, (int)loader->ahead, rows);
    }
    return tn_error_code();
}

tn_loader *tn_loader_new(tn_dataset *dataset, const tn_loader_options *options)
{
    static const tn_loader_options defaults = {0};
    if (!options)
        options = &defaults;
    if (check(dataset, options))
        return NULL;
    tn_loader *loader = tn_object_new(&loader_class);
    if (!loader)
        return NULL;
    loader->of = tni_dataset_samples(dataset);
    loader->samples = options->draws ? options->draws : loader->of;
    loader->batch_size = options->batch_size ? options->batch_size : 1;
    loader->batches = loader->samples / loader->batch_size;
    loader->shuffle = options->shuffle;
    loader->drop_last = options->drop_last;
    if (!options->drop_last && loader->samples % loader->batch_size)
        loader->batches++;
    loader->next = -1;
    loader->dataset = tn_retain(dataset);
    if (fill_loader(loader, options))
        tn_drop(&loader);
    return loader;
}

/* The dataset shares its tensors: an `out` argument may have resized one since. */
static bool same_samples(const tn_loader *loader)
{
    const tn_tensor *tensors[] = {loader->dataset->x, loader->dataset->y};
    for (int i = 0; i < 2; i++)
        if (tensors[i] && (tn_ndim(tensors[i]) == 0 || tn_size(tensors[i], 0) != loader->of)) {
            TN_FAIL(TN_ERROR_STATE, "loader_next",
                    "the dataset's %s was resized, needed %" PRId64 " samples as at the start", i ? "y" : "x",
                    loader->of);
            return false;
        }
    return true;
}

/* What the loader draws for its workers, then one uniform a sample, which is looked up in the sums. */
static tn_status draw_weighted(tn_loader *loader, tn_torch_generator *from)
{
    double *uniform = loader->cumulative + loader->of;
    tn_torch_next_random(from);
    if (tn_torch_uniform_float64(from, 0.0, 1.0, false, uniform, loader->samples))
        return tn_error_code();
    for (int64_t i = 0; i < loader->samples; i++) {
        int64_t low = 0, high = loader->of;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (loader->cumulative[middle] < uniform[i])
                low = middle + 1;
            else
                high = middle;
        }
        loader->order[i] = low;
    }
    return TN_OK;
}

/* Draws the order of the epoch that begins. Fails only for a global generator that lost its seed. */
static tn_status begin_order(tn_loader *loader, tn_torch_generator *from)
{
    tn_torch_generator before = *from;
    tn_status status = loader->cumulative ? draw_weighted(loader, from)
                       : loader->global   ? tn_torch_loader_epoch(from, loader->order, loader->samples)
                                          : tn_torch_loader_begin_epoch(from, loader->order, loader->samples);
    if (!status)
        loader->begun = before;
    return status;
}

/* Draws what PyTorch's sampler draws when it is exhausted. */
static void end_order(tn_loader *loader)
{
    if (loader->order && !loader->global && !loader->cumulative)
        tn_torch_loader_end_epoch(&loader->generator, loader->samples);
}

/* False at the end of the epoch, which it closes. */
static bool epoch_goes_on(tn_loader *loader)
{
    if (loader->next < loader->batches)
        return true;
    loader->next = -1;
    end_order(loader);
    let_go(loader);
    return false;
}

/* Batch `number`, made here or by a worker, as references. */
static tn_status make_batch(tn_loader *loader, int64_t number, tn_tensor **x, tn_tensor **y)
{
    for (int64_t i = number; i < loader->batches && i < number + (loader->prefetch ? loader->ahead : 1); i++) {
        int64_t start = i * loader->batch_size, left = loader->samples - start;
        int64_t rows = left < loader->batch_size ? left : loader->batch_size;
        const int64_t *index = loader->order ? loader->order + start : NULL;
        if (!loader->prefetch)
            return tni_dataset_batch(loader->dataset, index, start, rows, x, y);
        if (tni_prefetch_ask(loader->prefetch, i, index, start, rows))
            return tn_error_code();
    }
    return tni_prefetch_take(loader->prefetch, number, x, y);
}

bool tn_loader_next(tn_loader *loader, tn_batch *batch)
{
    tn_tensor *x = NULL, *y = NULL;
    if (tn_error_code())
        return false;
    if (!loader || !batch) {
        TN_FAIL_NULL("loader_next", loader ? 2 : 1, loader ? "batch" : "loader");
        return false;
    }
    if (!same_samples(loader) || !epoch_goes_on(loader))
        return false;
    if (loader->next < 0) {
        if (loader->order && begin_order(loader, loader->global ? loader->global : &loader->generator)) {
            tn_error_rename("loader_next", NULL);
            return false;
        }
        loader->next = 0;
        loader->epoch++;
    }
    if (make_batch(loader, loader->next, &x, &y)) {
        tn_error_rename("loader_next", NULL);
        return false;
    }
    let_go(loader);
    loader->x = x;
    loader->y = y;
    *batch = (tn_batch){.x = x, .y = y, .index = loader->next++};
    return true;
}

tn_status tn_loader_reset(tn_loader *loader)
{
    if (tn_error_code())
        return tn_error_code();
    if (!loader)
        return TN_FAIL_NULL("loader_reset", 1, "loader");
    /* PyTorch's sampler is exhausted as soon as it has handed out a last batch that is not full. */
    if (loader->next == loader->batches && loader->batches > loader->samples / loader->batch_size)
        end_order(loader);
    loader->next = -1;
    let_go(loader);
    if (loader->prefetch)
        tni_prefetch_cancel(loader->prefetch);
    return TN_OK;
}

tn_status tn_loader_get_state(const tn_loader *loader, tn_loader_state *state)
{
    if (tn_error_code())
        return tn_error_code();
    if (!loader || !state)
        return TN_FAIL_NULL("loader_get_state", loader ? 2 : 1, loader ? "state" : "loader");
    *state = (tn_loader_state){.epoch = loader->epoch,
                               .next = loader->next,
                               .samples = loader->of,
                               .draws = loader->samples,
                               .batch_size = loader->batch_size,
                               .shuffle = loader->shuffle,
                               .drop_last = loader->drop_last,
                               .global_generator = loader->global != NULL,
                               .weights = loader->weights};
    if (loader->order)
        state->generator = loader->next >= 0 ? loader->begun : loader->global ? *loader->global : loader->generator;
    return TN_OK;
}

/* Whether the state comes from a loader that makes the same batches. */
static tn_status check_kin(const char *name, const tn_loader *loader, const tn_loader_state *state)
{
    const struct {
        const char *name;
        int64_t found, needed;
    } rows[] = {{"samples", state->samples, loader->of},
                {"draws", state->draws, loader->samples},
                {"batch_size", state->batch_size, loader->batch_size},
                {"shuffle", state->shuffle, loader->shuffle},
                {"drop_last", state->drop_last, loader->drop_last},
                {"global_generator", state->global_generator, loader->global != NULL},
                {"weights of checksum", state->weights, loader->weights}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].found != rows[i].needed)
            return TN_FAIL(TN_ERROR_ARGUMENT, name,
                           "the state is of a loader with %s %" PRId64 ", this one has %" PRId64, rows[i].name,
                           rows[i].found, rows[i].needed);
    return TN_OK;
}

tn_status tn_loader_set_state(tn_loader *loader, const tn_loader_state *state)
{
    const char *name = "loader_set_state";
    if (tn_error_code())
        return tn_error_code();
    if (!loader || !state)
        return TN_FAIL_NULL(name, loader ? 2 : 1, loader ? "state" : "loader");
    if (check_kin(name, loader, state))
        return tn_error_code();
    if (state->next < -1 || state->next > loader->batches || state->epoch < 0 || (state->next >= 0 && !state->epoch))
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "batch %" PRId64 " of epoch %" PRId64 " is none of the loader's",
                       state->next, state->epoch);
    tn_torch_generator generator = state->generator;
    if (loader->order && (state->next >= 0 ? begin_order(loader, &generator)
                                           : tn_torch_uniform_float32(&generator, 0.0, 1.0, false, NULL, 0))) {
        tn_error_rename(name, NULL);
        return tn_error_code();
    }
    loader->generator = generator;
    loader->epoch = state->epoch;
    loader->next = state->next;
    let_go(loader);
    if (loader->prefetch)
        tni_prefetch_cancel(loader->prefetch);
    return TN_OK;
}

int64_t tn_loader_batch_count(const tn_loader *loader)
{
    if (!tn_error_code() && !loader)
        TN_FAIL_NULL("loader_batch_count", 1, "loader");
    return tn_error_code() ? 0 : loader->batches;
}

int64_t tn_loader_epoch(const tn_loader *loader)
{
    if (!tn_error_code() && !loader)
        TN_FAIL_NULL("loader_epoch", 1, "loader");
    return tn_error_code() ? 0 : loader->epoch;
}
