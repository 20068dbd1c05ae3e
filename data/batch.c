/* One batch of a dataset: views of its tensors, copies of their rows, or what its function gives. */
#include <inttypes.h>
#include <string.h>
#include <tenon/views.h>

#include "dataset.h"

/* Room for `rows` rows like those of x. */
static tn_tensor *empty_rows(tn_tensor *x, int64_t rows)
{
    int64_t size[TN_MAX_NDIM];
    int ndim = tn_ndim(x);
    memcpy(size, tn_sizes(x), (size_t)ndim * sizeof *size);
    size[0] = rows;
    return tn_empty_on(size, ndim, tn_tensor_dtype(x), tn_tensor_device(x));
}

/* Copies the elements of a strided block to dst in row-major order; returns where the next one goes. */
static char *gather_block(char *dst, const char *src, const int64_t *size, const int64_t *stride, int ndim,
                          size_t itemsize)
{
    if (ndim == 0 || (ndim == 1 && stride[0] == 1)) {
        size_t bytes = (ndim ? (size_t)size[0] : 1) * itemsize;
        memcpy(dst, src, bytes);
        return dst + bytes;
    }
    for (int64_t i = 0; i < size[0]; i++)
        dst = gather_block(dst, src + (size_t)(i * stride[0]) * itemsize, size + 1, stride + 1, ndim - 1, itemsize);
    return dst;
}

/* Rows without gaps; the constant sizes are those of a label and of a pair of floats. */
static void gather_rows(char *dst, const char *src, const int64_t *index, int64_t rows, size_t bytes)
{
    if (bytes == 8) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(dst + 8 * i, src + 8 * index[i], 8);
    } else if (bytes == 4) {
        for (int64_t i = 0; i < rows; i++)
            memcpy(dst + 4 * i, src + 4 * index[i], 4);
    } else {
        for (int64_t i = 0; i < rows; i++)
            memcpy(dst + bytes * (size_t)i, src + bytes * (size_t)index[i], bytes);
    }
}

static void gather(tn_tensor *batch, tn_tensor *from, const int64_t *index, int64_t rows)
{
    if (tn_numel(batch) == 0 || tn_tensor_device(batch).type == TN_META)
        return;
    char *dst = tn_data_mut(batch);
    const char *src = tn_data(from);
    const int64_t *size = tn_sizes(from), *stride = tn_strides(from);
    size_t itemsize = tn_itemsize(tn_tensor_dtype(from));
    if (tn_is_contiguous(from)) {
        gather_rows(dst, src, index, rows, (size_t)(tn_numel(batch) / rows) * itemsize);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        dst = gather_block(dst, src + (size_t)(index[i] * stride[0]) * itemsize, size + 1, stride + 1,
                           tn_ndim(from) - 1, itemsize);
}

/* Rows of x, as a reference; NULL for a tensor that is not there. */
static tn_tensor *take_rows(tn_tensor *from, const int64_t *index, int64_t start, int64_t n)
{
    if (!from || tn_error_code())
        return NULL;
    tn_tensor *x = index ? empty_rows(from, n) : tn_narrow(from, 0, start, n);
    if (x && index)
        gather(x, from, index, n);
    return tn_object_keep(x);
}

static tn_status check_result(const tn_tensor *x, const char *name, int64_t n)
{
    if (tn_ndim(x) > 0 && tn_size(x, 0) == n)
        return TN_OK;
    char shape[64];
    tn_format_shape(shape, sizeof shape, tn_sizes(x), tn_ndim(x));
    return TN_FAIL(TN_ERROR_SHAPE, "loader_next",
                   "the dataset's fetch gave %s of shape %s, needed %" PRId64 " samples along its first dim", name,
                   shape, n);
}

/* Calls the dataset's function in a scope of its own. */
static tn_status fetch(tn_dataset *dataset, const int64_t *index, int64_t n, tn_tensor **x, tn_tensor **y)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *made_x = NULL, *made_y = NULL;
    tn_status status = tn_error_code();
    if (!status)
        status = dataset->functions.fetch(dataset->context, index, n, &made_x, &made_y);
    tn_error_context("loader_next"); /* what the function raised, under its own names */
    if (!tn_error_code() && (status || !made_x))
        TN_FAIL(status ? status : TN_ERROR_STATE, "loader_next", "the dataset's fetch %s",
                status ? "failed without a message" : "gave no x");
    if (!tn_error_code() && !check_result(made_x, "x", n) && (!made_y || !check_result(made_y, "y", n))) {
        *x = tn_retain(made_x);
        *y = tn_retain(made_y);
    }
    tn_scope_end(scope);
    return tn_error_code();
}

tn_status tni_dataset_batch(tn_dataset *dataset, const int64_t *index, int64_t start, int64_t n, tn_tensor **x,
                            tn_tensor **y)
{
    *x = *y = NULL;
    if (tn_error_code())
        return tn_error_code();
    if (!dataset->x) {
        if (index)
            return fetch(dataset, index, n, x, y);
        size_t bytes = (size_t)n * sizeof(int64_t);
        int64_t *numbers = tn_allocate(bytes, "loader_next");
        if (!numbers)
            return tn_error_code();
        for (int64_t i = 0; i < n; i++)
            numbers[i] = start + i;
        fetch(dataset, numbers, n, x, y);
        tn_deallocate(numbers, bytes);
        return tn_error_code();
    }
    *x = take_rows(dataset->x, index, start, n);
    *y = take_rows(dataset->y, index, start, n);
    if (tn_error_code()) {
        tn_release(x);
        tn_release(y);
    }
    return tn_error_code();
}
