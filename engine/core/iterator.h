/* The iterator: rank, broadcasting, order of axes, dtype conversion and threads, so that a kernel sees
 * one-dimensional strided rows.
 *
 *     tni_iter it;
 *     tni_iter_begin(&it, sizes, ndim);
 *     tni_iter_operand(&it, out ...);            operand 0 is written
 *     tni_iter_operand(&it, in ...);
 *     tni_iter_run(&it, loop, context);
 *
 * Dims are ordered so that the rows run along memory, and dims that continue one another are made one. An operand
 * whose dtype is not the loop's is converted in blocks of TNI_BLOCK elements on the stack. Rows are handed out in
 * pieces that depend on the shape alone, so that values never depend on the number of threads. */
#ifndef TNI_CORE_ITERATOR_H
#define TNI_CORE_ITERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/convert.h"
#include "core/tensor.h"

enum { TNI_MAX_OPERANDS = 4, TNI_BLOCK = 512 };

/* One row for a kernel: n elements of each operand, strides in bytes. */
typedef struct tni_row {
    char *data[TNI_MAX_OPERANDS];
    int64_t strides[TNI_MAX_OPERANDS];
    int64_t n;
    bool stream; /* the output is far larger than the caches: write around them */
    const void *context;
} tni_row;

typedef void (*tni_loop)(const tni_row *row);

typedef struct tni_iter {
    int ndim, operands;
    int64_t numel;
    bool converts;
    char *data[TNI_MAX_OPERANDS];
    tn_dtype dtype[TNI_MAX_OPERANDS];   /* in memory */
    tn_dtype compute[TNI_MAX_OPERANDS]; /* in the loop */
    tni_converter convert[TNI_MAX_OPERANDS]; /* memory to loop, or back for operand 0; NULL: none is needed */
    tni_converter again[TNI_MAX_OPERANDS];   /* a second step after `convert`; NULL: there is none */
    uint8_t between[TNI_MAX_OPERANDS];       /* itemsize between the two steps */
    int64_t sizes[TN_MAX_NDIM];                     /* after tni_iter_run: fastest first, merged */
    int64_t strides[TNI_MAX_OPERANDS][TN_MAX_NDIM]; /* bytes */
} tni_iter;

void tni_iter_begin(tni_iter *it, const int64_t *sizes, int ndim);

/* Adds an operand of the given geometry, broadcast to the iterator's sizes, whose loop dtype is `compute`. False when
 * there is no conversion between the two dtypes. data NULL is allowed when there are no elements. */
bool tni_iter_operand(tni_iter *it, char *data, const int64_t *sizes, const int64_t *strides, int ndim, tn_dtype dtype,
                      tn_dtype compute);

/* The same by way of a third dtype: what the operand (or for operand 0 the result) is rounded or wrapped to besides. */
bool tni_iter_operand_via(tni_iter *it, char *data, const int64_t *sizes, const int64_t *strides, int ndim,
                          tn_dtype dtype, tn_dtype via, tn_dtype compute);

static inline bool tni_iter_tensor(tni_iter *it, const tn_tensor *x, tn_dtype compute)
{
    return tni_iter_operand(it, tni_data(x), x->sizes, x->strides, x->ndim, (tn_dtype)x->dtype, compute);
}

/* Orders and merges the dims; tni_iter_run does it too. Afterwards ndim >= 1. */
void tni_iter_prepare(tni_iter *it);

/* Runs the loop over all elements. */
void tni_iter_run(tni_iter *it, tni_loop loop, const void *context);

/* Bytes of output from which kernels write around the caches. */
#define TNI_STREAM_BYTES ((int64_t)4 << 20)

/* Elements a thread should have at least, at the cost of an addition each. */
#define TNI_GRAIN ((int64_t)1 << 16)

#endif
