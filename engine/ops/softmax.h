/* Softmax of rows: the kernels of one CPU level. */
#ifndef TNI_OPS_SOFTMAX_H
#define TNI_OPS_SOFTMAX_H

#include <stdint.h>

#include "cpu/level.h"

typedef enum tni_softmax { TNI_SOFTMAX, TNI_LOG_SOFTMAX, TNI_SOFTMAX_BACKWARD, TNI_LOG_SOFTMAX_BACKWARD } tni_softmax;

/* Rows of n elements one behind the other; b is NULL for the forward ones. a and y may be the same.
 *     softmax    e^(a - max a) / sum                backward    b (a - sum(a b))
 *     log        (a - max a) - log sum              backward    a - e^b sum a
 * where of the backward ones a is the gradient and b the result. */
typedef void (*tni_softmax_rows)(void *y, const void *a, const void *b, int64_t rows, int64_t n);

/* By function and lane, float32 and float64. */
typedef struct tni_softmax_kernels {
    tni_softmax_rows rows[4][2];
} tni_softmax_kernels;

#endif
