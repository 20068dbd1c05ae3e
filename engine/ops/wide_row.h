/* Rows of elements in the dtype that sums and products are kept in: float64, int64 (which wraps) or complex128. */
#ifndef TNI_OPS_WIDE_ROW_H
#define TNI_OPS_WIDE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/convert.h"
#include "core/tensor.h"

enum { TNI_WIDE_ROW = 256 }; /* elements that are converted at a time */

/* An element of the lane, in its first bytes. */
typedef union tni_wide_number {
    double c128[2];
    double f64;
    int64_t i64;
} tni_wide_number;

typedef struct tni_wide_rows {
    tn_dtype lane;              /* TN_FLOAT64, TN_INT64 or TN_COMPLEX128 */
    tni_converter first, widen; /* x to the result's dtype, NULL if it has it; that to the lane */
    tni_converter narrow;       /* the lane to the result's dtype */
    int64_t itemsize, out_itemsize, lane_itemsize;
} tni_wide_rows;

tni_wide_rows tni_wide_rows_of(const tn_tensor *x, const tn_tensor *out);

/* n <= TNI_WIDE_ROW elements from x on as dense ones of the lane, and back into the result; strides in elements. */
void tni_wide_load(const tni_wide_rows *w, void *row, const char *x, int64_t stride, int64_t n);
void tni_wide_store(const tni_wide_rows *w, char *out, int64_t stride, const void *row, int64_t n);

static inline tni_wide_number tni_wide_one(tn_dtype lane)
{
    return lane == TN_INT64 ? (tni_wide_number){.i64 = 1} : (tni_wide_number){.c128 = {1, 0}};
}

static inline tni_wide_number tni_wide_times(tn_dtype lane, tni_wide_number a, tni_wide_number b)
{
    tni_wide_number y = {.c128 = {0, 0}};
    if (lane == TN_FLOAT64) {
        y.f64 = a.f64 * b.f64;
    } else if (lane == TN_INT64) {
        y.i64 = (int64_t)((uint64_t)a.i64 * (uint64_t)b.i64);
    } else {
        y.c128[0] = a.c128[0] * b.c128[0] - a.c128[1] * b.c128[1];
        y.c128[1] = a.c128[0] * b.c128[1] + a.c128[1] * b.c128[0];
    }
    return y;
}

#endif
