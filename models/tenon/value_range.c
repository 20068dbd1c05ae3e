/* See value_range.h. Integers are compared as integers, so that 2^53 + 1 is shown as it is. */
#include "value_range.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "number_text.h"

typedef struct floats {
    double low, high, sum;
    int64_t finite;
} floats;

static void add_float(value_range *range, floats *all, double value)
{
    if (isnan(value)) {
        range->nan++;
    } else if (isinf(value)) {
        range->inf++;
    } else {
        all->low = all->finite == 0 || value < all->low ? value : all->low;
        all->high = all->finite == 0 || value > all->high ? value : all->high;
        all->sum += value;
        all->finite++;
    }
}

static void range_of_floats(value_range *range, tn_tensor *x)
{
    bool single = tn_tensor_dtype(x) != TN_FLOAT64;
    tn_tensor *dense = tn_contiguous(single ? tn_to(x, TN_FLOAT32) : x);
    const float *f = single ? tn_data_f32(dense) : NULL;
    const double *d = single ? NULL : tn_data_f64(dense);
    floats all = {0};
    if (tn_error_code())
        return;
    for (int64_t i = 0; i < range->numel; i++)
        add_float(range, &all, single ? (double)f[i] : d[i]);
    range->mean = all.finite ? all.sum / (double)all.finite : (double)NAN;
    if (all.finite == 0)
        return;
    number_text(range->low, all.low, single);
    number_text(range->high, all.high, single);
}

/* uint64 is shifted into int64 by its top bit, which keeps the order. */
static void range_of_integers(value_range *range, tn_tensor *x)
{
    bool wide = tn_tensor_dtype(x) == TN_UINT64;
    tn_tensor *dense = tn_contiguous(wide ? x : tn_to(x, TN_INT64));
    const void *data = tn_data(dense);
    uint64_t low = UINT64_MAX, high = 0, flip = wide ? 0 : (uint64_t)1 << 63;
    double sum = 0;
    if (tn_error_code() || range->numel == 0)
        return;
    for (int64_t i = 0; i < range->numel; i++) {
        uint64_t bits = ((const uint64_t *)data)[i], key = bits ^ flip;
        low = key < low ? key : low;
        high = key > high ? key : high;
        sum += wide ? (double)bits : (double)(int64_t)bits;
    }
    range->mean = sum / (double)range->numel;
    if (wide) {
        snprintf(range->low, sizeof range->low, "%" PRIu64, low);
        snprintf(range->high, sizeof range->high, "%" PRIu64, high);
    } else {
        snprintf(range->low, sizeof range->low, "%" PRId64, (int64_t)(low ^ flip));
        snprintf(range->high, sizeof range->high, "%" PRId64, (int64_t)(high ^ flip));
    }
}

value_range value_range_of(tn_tensor *x)
{
    value_range range = {.numel = tn_numel(x), .mean = (double)NAN};
    tn_scope scope = tn_scope_begin();
    if (tn_is_floating_point(tn_tensor_dtype(x)))
        range_of_floats(&range, x);
    else
        range_of_integers(&range, x);
    tn_scope_end(scope);
    return range;
}
