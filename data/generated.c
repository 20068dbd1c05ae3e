/* Arguments and tensors of the datasets that are drawn. */
#include "generated.h"

#include <inttypes.h>
#include <math.h>

#include "dataset.h"

tn_status tni_check_generated(const char *function, int64_t n_samples, double spread, const char *spread_name,
                              uint64_t random_state, tn_dtype dtype)
{
    char text[32];
    if (tn_error_code())
        return tn_error_code();
    if (n_samples < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "n_samples is %" PRId64 ", needed at least 1", n_samples);
    if (!isfinite(spread) || spread < 0.0) {
        tn_format_double(text, sizeof text, spread);
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed a finite number of at least 0", spread_name,
                       text);
    }
    if (random_state > UINT32_MAX)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "random_state is %" PRIu64 ", needed 0 to 4294967295",
                       random_state);
    if (dtype != TN_FLOAT32 && dtype != TN_FLOAT64)
        return TN_FAIL(TN_ERROR_DTYPE, function, "dtype is %s, needed float32 or float64", tn_dtype_name(dtype));
    return TN_OK;
}

tn_dataset *tni_new_generated(const char *function, int64_t n_samples, int64_t n_features, tn_dtype dtype, void **x,
                              int64_t **y)
{
    tn_device cpu = {TN_CPU, 0};
    tn_tensor *points = tn_empty_on((int64_t[]){n_samples, n_features}, 2, dtype, cpu);
    tn_tensor *classes = tn_empty_on(&n_samples, 1, TN_INT64, cpu);
    tn_dataset *dataset = tn_tensor_dataset(points, classes);
    if (dataset) {
        *x = tn_data_mut(points);
        *y = tn_data_i64_mut(classes);
        tn_drop(&points);
        tn_drop(&classes);
    } else {
        tn_drop(&points);
        tn_drop(&classes);
        tn_error_rename(function, NULL);
    }
    return dataset;
}
