/* What per-operation overhead looks like without waste: a tensor with a refcounted storage, blocks from free lists by
 * size class, kernels through a table by dtype, shapes and contiguity checked. It is no engine: no errors, no scopes,
 * no broadcasting, counts that are not atomic. */
#ifndef TENON_BENCH_YARDSTICK_TENSOR_H
#define TENON_BENCH_YARDSTICK_TENSOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct plain plain;

enum { PLAIN_F32, PLAIN_F64, PLAIN_DTYPES };

plain *plain_empty(const int64_t *size, int ndim, int dtype);
plain *plain_add(plain *a, plain *b); /* NULL unless both have one shape and dtype and are contiguous */
plain *plain_mul(plain *a, plain *b); /* likewise */
plain *plain_ones_like(plain *x);     /* of a contiguous x */
plain *plain_hold(plain *x);          /* one more reference */
plain *plain_t(plain *x);             /* two dims swapped, over the same storage */
plain *plain_slice(plain *x, int64_t start, int64_t stop); /* rows start .. stop-1 of two dims, likewise */
void plain_release(plain *x);
void *plain_data(plain *x);
int64_t plain_stride(const plain *x, int dim);

/* Blocks from the free lists, for what is built on top. */
void *plain_take(size_t bytes);
void plain_give(void *block, size_t bytes);

#endif
