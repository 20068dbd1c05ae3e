/* The checks that every public function of the floor begins with. True means go on; false: an error is pending. */
#ifndef TNI_RANDOM_CHECK_H
#define TNI_RANDOM_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "random/mt19937.h"

/* An argument that must not be NULL. */
static inline bool tni_check_pointer(const char *function, const void *pointer, int number, const char *name)
{
    if (tni_pending())
        return false;
    if (!pointer)
        TNI_FAIL_NULL(function, number, name);
    return pointer != NULL;
}

/* An array of n elements: the argument of that number. */
static inline bool tni_check_array(const char *function, const void *array, int number, const char *name, int64_t n)
{
    if (n < 0) {
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "length of %s is %lld, needed 0 or more", name, (long long)n);
        return false;
    }
    if (!array && n > 0) {
        TNI_FAIL_NULL(function, number, name);
        return false;
    }
    return true;
}

static inline bool tni_check_mt(const char *function, const tn_mt19937 *mt, const char *name)
{
    if (!tni_check_pointer(function, mt, 1, name))
        return false;
    bool ready = tni_mt19937_ready(mt);
    if (!ready)
        TNI_FAIL(TN_ERROR_STATE, function, "the generator is not seeded, needed a seed first");
    return ready;
}

static inline bool tni_check_rng(const char *function, const tn_default_rng *rng)
{
    if (!tni_check_pointer(function, rng, 1, "rng"))
        return false;
    bool ready = rng->inc_low & 1;
    if (!ready)
        TNI_FAIL(TN_ERROR_STATE, function, "the generator is not seeded, needed a seed first");
    return ready;
}

/* A standard deviation. */
static inline bool tni_check_scale(const char *function, const char *name, double scale)
{
    if (!(scale >= 0.0))
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed 0 or more", name, isnan(scale) ? "nan" : "negative");
    return scale >= 0.0;
}

/* The bounds of a uniform deviate whose width must not exceed `largest`. NaN fails. */
static inline bool tni_check_bounds(const char *function, double low, double high, double largest)
{
    bool finite = fabs(low) <= largest && fabs(high) <= largest && fabs(high - low) <= largest;
    if (!finite)
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "low, high or high - low is not finite, needed finite bounds");
    else if (high < low)
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "high is below low, needed low <= high");
    return finite && low <= high;
}

/* The half-open range of an integer deviate. */
static inline bool tni_check_range(const char *function, int64_t low, int64_t high)
{
    if (high <= low)
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "low is %lld and high %lld, needed low < high", (long long)low,
                 (long long)high);
    return low < high;
}

#endif
