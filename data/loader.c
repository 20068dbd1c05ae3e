/* The loader: a dataset in batches, in order or in a new random order each epoch.
 *
 * Invariant: what can fail (memory) comes before what moves the state, so a failed call may be repeated and gives the
 * same batch. The order of shuffled epochs is that of torch.utils.data.DataLoader without workers, with a generator of
 * its own or with PyTorch's global one (tenon/random.h says what each draws). */
#include <inttypes.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/ops.h>

#include "dataset.h"

struct tn_loader {
    tn_object object;
    tn_dataset *dataset; /* a reference */
    int64_t samples, batch_size, batches;
    int64_t next;   /* batch that comes next; -1 before an epoch */
    int64_t epoch;  /* begun so far */
    int64_t *order; /* [samples] for shuffling, else NULL */
    tn_torch_generator generator;
    tn_torch_generator *global; /* draws come from it instead, unless NULL */
    tn_tensor *x, *y;           /* the batch that is out, references */
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
    tn_release(&loader->dataset);
    tn_deallocate(loader->order, (size_t)loader->samples * sizeof *loader->order);
}

static const tn_object_class loader_class = {.name = "DataLoader", .bytes = sizeof(tn_loader), .destroy = destroy};

static tn_status check(const tn_dataset *dataset, const tn_loader_options *options)
{
    const char *name = "loader_new";
    if (tn_error_code())
        return tn_error_code();
    if (!dataset)
        return TN_FAIL_NULL(name, 1, "dataset");
    int64_t samples = tni_dataset_samples(dataset);
    if (samples == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "the dataset is empty, needed at least one sample");
    if (options->batch_size < 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "batch_size is %" PRId64 ", needed at least 1, or 0 for the default",
                       options->batch_size);
    if (options->shuffle && options->global_generator &&
        tn_torch_uniform_float32(options->global_generator, 0.0, 1.0, false, NULL, 0)) {
        tn_error_context(name);
        return tn_error_code();
    }
    if (options->drop_last && options->batch_size > samples)
        return TN_FAIL(TN_ERROR_ARGUMENT, name,
                       "batch_size is %" PRId64 " with drop_last, the dataset has %" PRId64
                       " samples: no batch would ever come",
                       options->batch_size, samples);
    return TN_OK;
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
    loader->samples = tni_dataset_samples(dataset);
    loader->batch_size = options->batch_size ? options->batch_size : 1;
    loader->batches = loader->samples / loader->batch_size;
    if (!options->drop_last && loader->samples % loader->batch_size)
        loader->batches++;
    loader->next = -1;
    if (options->shuffle) {
        loader->order = tn_allocate((size_t)loader->samples * sizeof *loader->order, "loader_new");
        if (!loader->order) {
            tn_drop(&loader);
            return NULL;
        }
        loader->global = options->global_generator;
        tn_torch_manual_seed(&loader->generator, options->seed);
    }
    loader->dataset = tn_retain(dataset);
    return loader;
}

/* The dataset shares its tensors: an `out` argument may have resized one since. */
static bool same_samples(const tn_loader *loader)
{
    const tn_tensor *tensors[] = {loader->dataset->x, loader->dataset->y};
    for (int i = 0; i < 2; i++)
        if (tensors[i] && (tn_ndim(tensors[i]) == 0 || tn_size(tensors[i], 0) != loader->samples)) {
            TN_FAIL(TN_ERROR_STATE, "loader_next",
                    "the dataset's %s was resized, needed %" PRId64 " samples as at the start", i ? "y" : "x",
                    loader->samples);
            return false;
        }
    return true;
}

/* Draws the order of the epoch that begins. Fails only for a global generator that lost its seed. */
static tn_status begin_order(tn_loader *loader)
{
    if (!loader->order)
        return TN_OK;
    if (loader->global)
        return tn_torch_loader_epoch(loader->global, loader->order, loader->samples);
    return tn_torch_loader_begin_epoch(&loader->generator, loader->order, loader->samples);
}

/* Draws what PyTorch's sampler draws when it is exhausted. */
static void end_order(tn_loader *loader)
{
    if (loader->order && !loader->global)
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

bool tn_loader_next(tn_loader *loader, tn_batch *batch)
{
    if (tn_error_code())
        return false;
    if (!loader || !batch) {
        TN_FAIL_NULL("loader_next", loader ? 2 : 1, loader ? "batch" : "loader");
        return false;
    }
    if (!same_samples(loader) || !epoch_goes_on(loader))
        return false;
    int64_t number = loader->next < 0 ? 0 : loader->next, start = number * loader->batch_size;
    int64_t left = loader->samples - start, rows = left < loader->batch_size ? left : loader->batch_size;
    tn_tensor *x, *y;
    if (loader->next < 0) {
        if (begin_order(loader)) {
            tn_error_context("loader_next");
            return false;
        }
        loader->next = 0;
        loader->epoch++;
    }
    if (tni_dataset_batch(loader->dataset, loader->order ? loader->order + start : NULL, start, rows, &x, &y)) {
        tn_error_context("loader_next");
        return false;
    }
    let_go(loader);
    loader->x = x;
    loader->y = y;
    loader->next = number + 1;
    *batch = (tn_batch){.x = x, .y = y, .index = number};
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
