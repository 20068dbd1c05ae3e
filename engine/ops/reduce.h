/* Kernels of the reductions by CPU level, and the plan that turns any strides into rows or columns for them. */
#ifndef TNI_OPS_REDUCE_H
#define TNI_OPS_REDUCE_H

#include <stdint.h>

#include "cpu/level.h"

/* One accumulated value. Sums of float32 and float64 are accumulated in float64, int64 in int64 (wrapping), those
 * of complex numbers as two of float64, maxima and minima in their dtype. */
typedef union tni_total {
    double f64;
    float f32;
    int64_t i64;
    double c128[2];
} tni_total;

enum { TNI_COLUMNS = 2048 }; /* columns that a column kernel takes at a time; their totals stay in the first cache */

/* The kernels of one reduction of one dtype; strides in elements.
 * row      folds n elements into one value in a fixed order: 32 lanes, lane l takes elements l, l + 32, ...; then a tree
 * columns  folds `rows` rows of `columns` adjacent elements into totals[column] (float64 or int64 for sums, T for
 *          maxima and minima), in order of rows */
typedef struct tni_reduce_kernel {
    tni_total (*row)(const void *x, int64_t stride, int64_t n);
    void (*columns)(void *totals, const void *x, int64_t row_stride, int64_t rows, int64_t columns);
} tni_reduce_kernel;

typedef enum tni_reduction { TNI_SUM, TNI_MAX, TNI_MIN, TNI_REDUCTIONS } tni_reduction;

/* [reduction][lane of ops/pointwise.h, the first three] */
typedef struct tni_reduce_kernels {
    tni_reduce_kernel kernel[TNI_REDUCTIONS][3];
} tni_reduce_kernels;

extern const tni_reduce_kernels *const tni_reduce_levels[TNI_CPU_LEVELS];

#endif
