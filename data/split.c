/* A dataset cut in parts at random: PyTorch's random_split, scikit-learn's train_test_split. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/extend.h>

#include "dataset.h"

/* Some samples of a dataset that has a function. */
typedef struct subset {
    tn_dataset *parent; /* a reference */
    int64_t *index;
    size_t bytes;
} subset;

static tn_status fetch_subset(void *context, const int64_t *index, int64_t n, tn_tensor **x, tn_tensor **y)
{
    const subset *s = context;
    size_t bytes = (size_t)n * sizeof *index;
    int64_t *mapped = tn_allocate(bytes, "loader_next");
    if (!mapped)
        return tn_error_code();
    for (int64_t i = 0; i < n; i++)
        mapped[i] = s->index[index[i]];
    s->parent->functions.fetch(s->parent->context, mapped, n, x, y);
    tn_deallocate(mapped, bytes);
    return tn_error_code();
}

static void destroy_subset(void *context)
{
    subset *s = context;
    tn_release(&s->parent);
    tn_deallocate(s->index, s->bytes);
    tn_deallocate(s, sizeof *s);
}

static tn_status begin_subset(tn_dataset *part, tn_dataset *parent, const int64_t *index, int64_t n,
                              const char *function)
{
    subset *s = tn_allocate(sizeof *s, function);
    if (!s)
        return tn_error_code();
    s->bytes = (size_t)n * sizeof *index;
    s->index = s->bytes ? tn_allocate(s->bytes, function) : NULL;
    if (tn_error_code()) {
        tn_deallocate(s, sizeof *s);
        return tn_error_code();
    }
    if (n > 0)
        memcpy(s->index, index, s->bytes);
    s->parent = tn_retain(parent);
    part->size = n;
    part->functions = (tn_dataset_functions){.fetch = fetch_subset, .destroy = destroy_subset};
    part->context = s;
    return TN_OK;
}

/* Those samples as a dataset of the innermost scope: copies of rows, or the function with other numbers. */
static tn_dataset *part_of(tn_dataset *dataset, const int64_t *index, int64_t n, const char *function)
{
    tn_dataset *part = tni_dataset_new();
    if (!part)
        return NULL;
    if (dataset->x)
        tni_dataset_batch(dataset, index, 0, n, &part->x, &part->y);
    else
        begin_subset(part, dataset, index, n, function);
    part->n_classes = dataset->n_classes;
    if (tn_error_code() || tni_words_copy(&part->columns, &dataset->columns, function) ||
        tni_words_copy(&part->classes, &dataset->classes, function) ||
        tni_words_copy(&part->label, &dataset->label, function))
        tn_drop(&part);
    return part;
}

/* Parts of the given lengths along an order of the samples; all of them or none. */
static tn_status cut(tn_dataset *dataset, const int64_t *order, const int64_t *lengths, int n, tn_dataset **parts,
                     const char *function)
{
    tn_scope scope = tn_scope_begin();
    tn_dataset *made[TN_MAX_PARTS] = {0};
    for (int i = 0; i < n && !tn_error_code(); order += lengths[i++])
        made[i] = part_of(dataset, order, lengths[i], function);
    if (!tn_error_code())
        for (int i = 0; i < n; i++)
            parts[i] = tn_scope_escape(scope, made[i]);
    tn_scope_end(scope);
    tn_error_rename(function, NULL);
    return tn_error_code();
}

static tn_status check_lengths(tn_dataset *dataset, const int64_t *lengths, int n)
{
    const char *name = "random_split";
    int64_t left = tni_dataset_samples(dataset);
    if (n < 1 || n > TN_MAX_PARTS)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "n is %d, needed 1 to %d", n, TN_MAX_PARTS);
    for (int i = 0; i < n; i++) {
        if (lengths[i] < 0 || lengths[i] > left)
            return TN_FAIL(TN_ERROR_ARGUMENT, name,
                           "length %d is %" PRId64 ", of %" PRId64 " samples %" PRId64 " are left", i, lengths[i],
                           tni_dataset_samples(dataset), left);
        left -= lengths[i];
    }
    return left == 0 ? TN_OK
                     : TN_FAIL(TN_ERROR_ARGUMENT, name,
                               "the lengths leave %" PRId64 " of %" PRId64 " samples, needed "
                               "all of them",
                               left, tni_dataset_samples(dataset));
}

tn_status tn_random_split(tn_dataset *dataset, const int64_t *lengths, int n, tn_torch_generator *generator,
                          tn_dataset **parts)
{
    const char *name = "random_split";
    if (tn_error_code())
        return tn_error_code();
    if (!dataset || !lengths || !generator || !parts)
        return TN_FAIL_NULL(name,
                            !dataset     ? 1
                            : !lengths   ? 2
                            : !generator ? 4
                                         : 5,
                            !dataset     ? "dataset"
                            : !lengths   ? "lengths"
                            : !generator ? "generator"
                                         : "parts");
    if (check_lengths(dataset, lengths, n))
        return tn_error_code();
    int64_t samples = tni_dataset_samples(dataset);
    size_t bytes = (size_t)(samples + 1) * sizeof(int64_t);
    int64_t *order = tn_allocate(bytes, name);
    tn_torch_generator moved = *generator;
    if (order && !tn_torch_randperm(&moved, order, samples) && !cut(dataset, order, lengths, n, parts, name))
        *generator = moved;
    tn_deallocate(order, bytes);
    return tn_error_code();
}

tn_status tn_train_test_split(tn_dataset *dataset, double test_size, uint64_t random_state, tn_dataset **train,
                              tn_dataset **test)
{
    const char *name = "train_test_split";
    tn_random_state random;
    tn_dataset *parts[2] = {0};
    char text[32];
    if (tn_error_code())
        return tn_error_code();
    if (!dataset || !train || !test)
        return TN_FAIL_NULL(name, !dataset ? 1 : !train ? 4 : 5, !dataset ? "dataset" : !train ? "train" : "test");
    int64_t samples = tni_dataset_samples(dataset);
    tn_format_double(text, sizeof text, test_size);
    if (!(test_size > 0.0 && test_size < 1.0))
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "test_size is %s, needed more than 0 and less than 1", text);
    int64_t tests = (int64_t)ceil(test_size * (double)samples), lengths[] = {tests, samples - tests};
    if (samples - tests < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "test_size is %s of %" PRId64 " samples: nothing is left to train on",
                       text, samples);
    if (tn_random_state_seed(&random, random_state))
        return tn_error_code();
    size_t bytes = (size_t)samples * sizeof(int64_t);
    int64_t *order = tn_allocate(bytes, name);
    if (order && !tn_random_state_permutation(&random, order, samples) &&
        !cut(dataset, order, lengths, 2, parts, name)) {
        *test = parts[0];
        *train = parts[1];
    }
    tn_deallocate(order, bytes);
    return tn_error_code();
}
