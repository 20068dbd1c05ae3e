/* Kernels of the reductions by CPU level, and what turns any strides into rows or columns for them. */
#ifndef TNI_OPS_REDUCE_H
#define TNI_OPS_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tensor.h"
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
 * row      folds n elements into one value in a fixed order: 32 lanes, lane l takes elements l, l + 32, ...; then a
 *          tree
 * rows     folds each of `rows` rows of n >= 1 elements into totals[row] (what columns has), as `row` does: the same
 *          bits, but for the sign of zero and what a NaN holds in maxima and minima
 * columns  folds `rows` rows of `columns` adjacent elements into totals[column] (float64 or int64 for sums, T for
 *          maxima and minima), in order of rows */
typedef struct tni_reduce_kernel {
    tni_total (*row)(const void *x, int64_t stride, int64_t n);
    void (*rows)(void *totals, const void *x, int64_t row_stride, int64_t stride, int64_t rows, int64_t n);
    void (*columns)(void *totals, const void *x, int64_t row_stride, int64_t rows, int64_t columns);
} tni_reduce_kernel;

typedef enum tni_reduction { TNI_SUM, TNI_MAX, TNI_MIN, TNI_REDUCTIONS } tni_reduction;

/* The first place of the extreme, NaN counting as the most; n <= INT32_MAX.
 * rows     of each of `rows` rows of n elements, into place[row]
 * columns  goes on with elements first .. first + rows - 1 of each column: best[column] and place[column] hold what
 *          was found so far; places are as wide as T */
typedef struct tni_search_kernel {
    void (*rows)(int64_t *place, const void *x, int64_t row_stride, int64_t stride, int64_t rows, int64_t n);
    void (*columns)(void *best, void *place, const void *x, int64_t row_stride, int64_t rows, int64_t columns,
                    int64_t first);
} tni_search_kernel;

/* [reduction][lane of ops/pointwise.h, the first three] */
typedef struct tni_reduce_kernels {
    tni_reduce_kernel kernel[TNI_REDUCTIONS][3];
    tni_search_kernel search[TNI_REDUCTIONS][3]; /* none for sums */
} tni_reduce_kernels;

extern const tni_reduce_kernels *const tni_reduce_levels[TNI_CPU_LEVELS];

/* One reduction: of x into out, whose shape and dtype fit. */
typedef struct tni_reduce_job {
    const tn_tensor *x, *out;
    uint64_t mask; /* bit d: dim d is reduced */
    bool keepdim;  /* out has the reduced dims, of size 1 */
    bool mean;     /* sums are divided by how many there are */
    bool truth;    /* elements are taken as bool first: sums ask whether anything is true */
    tni_reduction reduction;
    tn_dtype compute; /* a lane's */
} tni_reduce_job;

/* Bytes that tni_reduce_run needs in its workspace. */
size_t tni_reduce_workspace(const tn_tensor *x, const tn_tensor *out);
void tni_reduce_run(const tni_reduce_job *job, void *workspace);

/* tni_reduce_run for sums over the rows of a contiguous matrix of float32 or float64 that is small enough for one band
 * of one thread; false, and nothing is done, for another. */
bool tni_reduce_rows(const tn_tensor *x, const tn_tensor *out);

#endif
