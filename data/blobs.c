/* make_blobs as scikit-learn draws it: centers uniform in a box, then the points of each center in turn, then a random
 * order of the rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/extend.h>

#include "generated.h"

static const char function[] = "make_blobs";

static tn_status check(int64_t n_features, int64_t centers, double low, double high)
{
    if (n_features < 1 || centers < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %" PRId64 ", needed at least 1",
                       n_features < 1 ? "n_features" : "centers", n_features < 1 ? n_features : centers);
    if (!isfinite(low) || !isfinite(high) || !(low <= high) || !isfinite(high - low))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "center_box is no range of finite numbers");
    return TN_OK;
}

/* Points in the order of their centers; center is where theirs is kept. */
static void draw(tn_random_state *random, int64_t n, int64_t features, int64_t centers, double std,
                 const double *center, double *points)
{
    for (int64_t c = 0; c < centers; c++, center += features)
        for (int64_t count = n / centers + (c < n % centers); count > 0; count--)
            for (int64_t j = 0; j < features; j++)
                *points++ = center[j] + std * tn_random_state_next_gauss(random);
}

/* The center of the point that is number i before the shuffling. */
static int64_t center_of(int64_t i, int64_t n, int64_t centers)
{
    int64_t larger = n % centers, few = n / centers, first = larger * (few + 1);
    return i < first ? i / (few + 1) : larger + (i - first) / few;
}

tn_dataset *tn_make_blobs(int64_t n_samples, const tn_blobs_options *options, uint64_t random_state, tn_dtype dtype)
{
    static const tn_blobs_options defaults = {0};
    const tn_blobs_options *o = options ? options : &defaults;
    int64_t features = o->n_features ? o->n_features : 2, centers = o->centers ? o->centers : 3;
    double std = o->cluster_std != 0.0 ? o->cluster_std : 1.0, low = o->center_low, high = o->center_high;
    if (low == 0.0 && high == 0.0) {
        low = -10.0;
        high = 10.0;
    }
    if (tni_check_generated(function, n_samples, std, "cluster_std", random_state, dtype) ||
        check(features, centers, low, high))
        return NULL;
    size_t center_bytes, point_bytes;
    if (__builtin_mul_overflow((size_t)centers, (size_t)features * 8, &center_bytes) || features > INT64_MAX / 64 ||
        __builtin_mul_overflow((size_t)n_samples, (size_t)features * 8, &point_bytes)) {
        TN_FAIL(TN_ERROR_OVERFLOW, function, "%" PRId64 " features are more than memory holds", features);
        return NULL;
    }
    void *x;
    int64_t *y;
    tn_random_state random;
    double *center = tn_allocate(center_bytes, function), *points = tn_allocate(point_bytes, function);
    tn_dataset *dataset = tn_error_code() ? NULL : tni_new_generated(function, n_samples, features, dtype, &x, &y);
    if (dataset) {
        tn_random_state_seed(&random, random_state);
        tn_random_state_uniform(&random, low, high, center, centers * features);
        draw(&random, n_samples, features, centers, std, center, points);
        for (int64_t row = 0; row < n_samples; row++)
            y[row] = row;
        tn_random_state_shuffle(&random, y, n_samples);
        for (int64_t row = 0; row < n_samples; row++) {
            for (int64_t j = 0; j < features; j++)
                tni_put_real(x, row * features + j, points[y[row] * features + j], dtype);
            y[row] = center_of(y[row], n_samples, centers);
        }
    }
    tn_deallocate(center, center_bytes);
    tn_deallocate(points, point_bytes);
    return dataset;
}
