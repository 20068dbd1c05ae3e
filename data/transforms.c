/* What is done to data before it goes into a net: standardising, one-hot labels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/create.h>
#include <tenon/data.h>
#include <tenon/extend.h>
#include <tenon/ops.h>
#include <tenon/views.h>

static double real_at(const void *data, int64_t i, tn_dtype dtype)
{
    return dtype == TN_FLOAT64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void put_real(void *data, int64_t i, double value, tn_dtype dtype)
{
    if (dtype == TN_FLOAT64)
        ((double *)data)[i] = value;
    else
        ((float *)data)[i] = (float)value;
}

/* Mean and standard deviation of column j; 1 for a column that only rounding moves. */
static void fit_column(const void *x, int64_t n, int64_t columns, int64_t j, tn_dtype dtype, double *mean,
                       double *scale)
{
    double sum = 0.0, squares = 0.0, rest = 0.0, count = (double)n;
    for (int64_t i = 0; i < n; i++)
        sum += real_at(x, i * columns + j, dtype);
    *mean = sum / count;
    for (int64_t i = 0; i < n; i++) {
        double off = real_at(x, i * columns + j, dtype) - *mean;
        squares += off * off;
        rest += off;
    }
    double variance = (squares - rest * rest / count) / count, eps = 0x1p-52;
    double bound = count * eps * variance + count * *mean * eps * (count * *mean * eps);
    *scale = variance <= bound ? 1.0 : sqrt(variance);
}

tn_status tn_standardise_fit(tn_tensor *x, tn_tensor **mean, tn_tensor **scale)
{
    const char *name = "standardise_fit";
    if (tn_error_code())
        return tn_error_code();
    if (!x || !mean || !scale)
        return TN_FAIL_NULL(name, !x ? 1 : !mean ? 2 : 3, !x ? "x" : !mean ? "mean" : "scale");
    tn_dtype dtype = tn_tensor_dtype(x);
    if (dtype != TN_FLOAT32 && dtype != TN_FLOAT64)
        return TN_FAIL(TN_ERROR_DTYPE, name, "x is %s, needed float32 or float64", tn_dtype_name(dtype));
    if (tn_ndim(x) == 0 || tn_size(x, 0) == 0)
        return TN_FAIL(TN_ERROR_SHAPE, name, "x has no samples, needed at least one along its first dim");
    tn_scope scope = tn_scope_begin();
    int64_t n = tn_size(x, 0), columns = tn_numel(x) / n;
    tn_tensor *rows = tn_contiguous(x);
    tn_tensor *means = tn_empty_on(tn_sizes(x) + 1, tn_ndim(x) - 1, dtype, tn_tensor_device(x));
    tn_tensor *scales = tn_empty_on(tn_sizes(x) + 1, tn_ndim(x) - 1, dtype, tn_tensor_device(x));
    const void *data = columns > 0 ? tn_data(rows) : NULL;
    void *to_mean = columns > 0 ? tn_data_mut(means) : NULL, *to_scale = columns > 0 ? tn_data_mut(scales) : NULL;
    for (int64_t j = 0; j < columns && !tn_error_code(); j++) {
        double m, s;
        fit_column(data, n, columns, j, dtype, &m, &s);
        put_real(to_mean, j, m, dtype);
        put_real(to_scale, j, s, dtype);
    }
    if (!tn_error_code()) {
        *mean = tn_scope_escape(scope, means);
        *scale = tn_scope_escape(scope, scales);
    }
    tn_scope_end(scope);
    tn_error_rename(name, NULL);
    return tn_error_code();
}

tn_tensor *tn_standardise(tn_tensor *x, tn_tensor *mean, tn_tensor *scale)
{
    if (tn_error_code())
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_scope_escape(scope, tn_div(tn_sub(x, mean), scale));
    tn_scope_end(scope);
    tn_error_rename("standardise", NULL);
    return y;
}

/* Checks labels; *classes below 0 becomes the largest label and one. */
static tn_status check_labels(const int64_t *labels, int64_t n, int64_t *classes)
{
    int64_t largest = -1;
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < 0 || (*classes >= 0 && labels[i] >= *classes))
            return TN_FAIL(TN_ERROR_INDEX, "one_hot", "label %" PRId64 " is %" PRId64 ", needed 0 or more%s", i,
                           labels[i], *classes >= 0 ? ", and less than the number of classes" : "");
        largest = labels[i] > largest ? labels[i] : largest;
    }
    if (*classes < 0 && (n == 0 || largest == INT64_MAX))
        return TN_FAIL(TN_ERROR_ARGUMENT, "one_hot", "classes is %" PRId64 ", needed a number: the labels give none",
                       *classes);
    *classes = *classes < 0 ? largest + 1 : *classes;
    return TN_OK;
}

static tn_tensor *one_hot(tn_tensor *labels, int64_t classes, tn_dtype dtype)
{
    int64_t size[TN_MAX_NDIM], n = tn_numel(labels);
    int ndim = tn_ndim(labels);
    tn_tensor *flat = tn_contiguous(labels), *one = tn_full(NULL, 0, tn_int(1), dtype);
    const int64_t *label = flat ? tn_data_i64(flat) : NULL;
    if (tn_error_code() || check_labels(label, n, &classes))
        return NULL;
    if (ndim > 0)
        memcpy(size, tn_sizes(labels), (size_t)ndim * sizeof *size);
    size[ndim] = classes;
    tn_tensor *y = tn_zeros(size, ndim + 1, dtype);
    char *to = y && tn_numel(y) > 0 ? tn_data_mut(y) : NULL;
    size_t itemsize = tn_itemsize(dtype);
    for (int64_t i = 0; i < n && to; i++)
        memcpy(to + (size_t)(i * classes + label[i]) * itemsize, tn_data(one), itemsize);
    return y;
}

tn_tensor *tn_one_hot(tn_tensor *labels, int64_t classes, tn_dtype dtype)
{
    const char *name = "one_hot";
    if (tn_error_code())
        return NULL;
    if (!labels) {
        TN_FAIL_NULL(name, 1, "labels");
        return NULL;
    }
    if (tn_tensor_dtype(labels) != TN_INT64 || tn_ndim(labels) == TN_MAX_NDIM) {
        TN_FAIL(TN_ERROR_DTYPE, name, "labels are %s with %d dims, needed int64 with at most 63",
                tn_dtype_name(tn_tensor_dtype(labels)), tn_ndim(labels));
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = one_hot(labels, classes, dtype == TN_DTYPE_NONE ? TN_INT64 : dtype);
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    tn_error_rename(name, NULL);
    return y;
}
