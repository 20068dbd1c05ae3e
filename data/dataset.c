/* Datasets: of two tensors, with samples along the first dim of both, and of a function that makes batches. */
#include "dataset.h"

#include <inttypes.h>
#include <string.h>

static void destroy(void *object)
{
    tn_dataset *dataset = object;
    tn_release(&dataset->x);
    tn_release(&dataset->y);
    tni_words_free(&dataset->columns);
    tni_words_free(&dataset->classes);
    tni_words_free(&dataset->label);
    if (dataset->functions.destroy)
        dataset->functions.destroy(dataset->context);
}

static const tn_object_class dataset_class = {.name = "Dataset", .bytes = sizeof(tn_dataset), .destroy = destroy};

tn_dataset *tni_dataset_new(void)
{
    return tn_object_new(&dataset_class);
}

tn_dataset *tn_tensor_dataset(tn_tensor *x, tn_tensor *y)
{
    const char *name = "tensor_dataset";
    if (tn_error_code())
        return NULL;
    if (!x || !y) {
        TN_FAIL_NULL(name, x ? 2 : 1, x ? "y" : "x");
        return NULL;
    }
    if (tn_ndim(x) == 0 || tn_ndim(y) == 0) {
        TN_FAIL(TN_ERROR_SHAPE, name, "%s has no dims, needed samples along its first", tn_ndim(x) ? "y" : "x");
        return NULL;
    }
    if (tn_size(x, 0) != tn_size(y, 0)) {
        TN_FAIL(TN_ERROR_SHAPE, name, "x has %" PRId64 " samples, y has %" PRId64 ", needed the same", tn_size(x, 0),
                tn_size(y, 0));
        return NULL;
    }
    tn_dataset *dataset = tni_dataset_new();
    if (!dataset)
        return NULL;
    dataset->x = tn_retain(x);
    dataset->y = tn_retain(y);
    return dataset;
}

tn_dataset *tn_feature_dataset(tn_tensor *x)
{
    const char *name = "feature_dataset";
    if (tn_error_code())
        return NULL;
    if (!x) {
        TN_FAIL_NULL(name, 1, "x");
        return NULL;
    }
    if (tn_ndim(x) == 0) {
        TN_FAIL(TN_ERROR_SHAPE, name, "x has no dims, needed samples along its first");
        return NULL;
    }
    tn_dataset *dataset = tni_dataset_new();
    if (dataset)
        dataset->x = tn_retain(x);
    return dataset;
}

tn_dataset *tn_function_dataset(int64_t size, const tn_dataset_functions *functions, void *context)
{
    const char *name = "function_dataset";
    if (tn_error_code())
        return NULL;
    if (!functions || !functions->fetch) {
        TN_FAIL_NULL(name, 2, functions ? "functions.fetch" : "functions");
        return NULL;
    }
    if (size < 0) {
        TN_FAIL(TN_ERROR_ARGUMENT, name, "size is %" PRId64 ", needed 0 or more", size);
        return NULL;
    }
    tn_dataset *dataset = tni_dataset_new();
    if (!dataset)
        return NULL;
    dataset->size = size;
    dataset->functions = *functions;
    dataset->context = context;
    return dataset;
}

int64_t tni_dataset_samples(const tn_dataset *dataset)
{
    return dataset->x ? tn_size(dataset->x, 0) : dataset->size;
}

/* The dataset, or NULL when a query must not go on. */
static const tn_dataset *ready(const tn_dataset *dataset, const char *function)
{
    if (!tn_error_code() && !dataset)
        TN_FAIL_NULL(function, 1, "dataset");
    return tn_error_code() ? NULL : dataset;
}

int64_t tn_dataset_size(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_size") ? tni_dataset_samples(dataset) : 0;
}

tn_tensor *tn_dataset_x(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_x") ? dataset->x : NULL;
}

tn_tensor *tn_dataset_y(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_y") ? dataset->y : NULL;
}

static const char *word_at(const tni_words *words, int64_t i)
{
    return i >= 0 && i < words->n ? words->word[i] : NULL;
}

const char *tn_dataset_column_name(const tn_dataset *dataset, int64_t column)
{
    return ready(dataset, "dataset_column_name") ? word_at(&dataset->columns, column) : NULL;
}

const char *tn_dataset_label_name(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_label_name") ? word_at(&dataset->label, 0) : NULL;
}

int64_t tn_dataset_class_count(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_class_count") ? dataset->n_classes : 0;
}

const char *tn_dataset_class_name(const tn_dataset *dataset, int64_t number)
{
    return ready(dataset, "dataset_class_name") ? word_at(&dataset->classes, number) : NULL;
}

tn_status tn_dataset_name_classes(tn_dataset *dataset, const char *const *names, int64_t n)
{
    const char *name = "dataset_name_classes";
    tni_words words;
    if (tn_error_code())
        return tn_error_code();
    if (!dataset || !names)
        return TN_FAIL_NULL(name, dataset ? 2 : 1, dataset ? "names" : "dataset");
    if (n < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "n is %" PRId64 ", needed 1 or more", n);
    if (tni_words_from(&words, names, n, name))
        return tn_error_code();
    tni_words_free(&dataset->classes);
    dataset->classes = words;
    dataset->n_classes = n;
    return TN_OK;
}
