/* Walks over some of a tensor's dims, for the operators that reduce others, and rows that are converted on the way. */
#ifndef TNI_OPS_WALK_H
#define TNI_OPS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/convert.h"
#include "core/tensor.h"

/* One set of dims, fastest first, merged where they continue one another; at least one. */
typedef struct tni_walk {
    int ndim;
    int64_t numel;
    int64_t sizes[TN_MAX_NDIM];
    int64_t strides[TN_MAX_NDIM];     /* of x, elements */
    int64_t out_strides[TN_MAX_NDIM]; /* of the result, elements; 0 for reduced dims */
} tni_walk;

/* The dims of x whose bit in mask is `take`; out_strides by dim of x. */
void tni_walk_make(tni_walk *w, const tn_tensor *x, uint64_t mask, bool take, const int64_t *out_strides);

/* Where linear position i of the walk is, in elements of x (returned) and of the result. */
int64_t tni_walk_at(const tni_walk *w, int64_t i, int64_t *out);

/* Makes the longest of the dims the first, if the first is shorter than `enough`. */
void tni_walk_lengthen(tni_walk *w, int64_t enough);

/* How elements become those of the arithmetic's dtype. */
typedef struct tni_widening {
    tni_converter convert; /* NULL: they are already */
    tni_converter truth;   /* to bool before that; NULL: not */
    int64_t from, wide;    /* itemsizes before and after */
} tni_widening;

enum { TNI_WIDENED = 2048 };

/* n <= TNI_WIDENED elements into a dense row; stride in bytes. */
void tni_widen(const tni_widening *w, void *to, const char *x, int64_t stride, int64_t n);

/* Rows of n elements into a dense block, as they lie, row by row, or transposed, whichever takes few conversions;
 * strides in elements. Returns the block's row stride, and its stride in *to_stride. rows * n <= TNI_WIDENED. */
int64_t tni_widen_rows(const tni_widening *w, void *to, int64_t *to_stride, const char *x, int64_t row_stride,
                       int64_t stride, int64_t rows, int64_t n);

#endif
