/* The dataset of two tensors: samples along the first dim of both. */
#include "dataset.h"

#include <inttypes.h>

static void destroy(void *object)
{
    tn_dataset *dataset = object;
    tn_release(&dataset->x);
    tn_release(&dataset->y);
}

static const tn_object_class dataset_class = {.name = "TensorDataset", .bytes = sizeof(tn_dataset), .destroy = destroy};

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
    tn_dataset *dataset = tn_object_new(&dataset_class);
    if (!dataset)
        return NULL;
    dataset->x = tn_retain(x);
    dataset->y = tn_retain(y);
    return dataset;
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
    return ready(dataset, "dataset_size") ? tn_size(dataset->x, 0) : 0;
}

tn_tensor *tn_dataset_x(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_x") ? dataset->x : NULL;
}

tn_tensor *tn_dataset_y(const tn_dataset *dataset)
{
    return ready(dataset, "dataset_y") ? dataset->y : NULL;
}
