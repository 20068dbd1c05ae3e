/* Adding elements into others of the same dtype, for operators that write where an index says. Sums are rounded to the
 * dtype at each step, integers wrap, bools are or'ed. */
#ifndef TNI_OPS_ACCUMULATE_H
#define TNI_OPS_ACCUMULATE_H

#include "core/dtype.h"

/* to[i] += from[i], all of to's elements apart from each other; strides in bytes. */
void tni_add_row(tn_dtype dtype, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n);

/* The same with alpha from[i], in 16 bits and less rounded to the dtype first; there is a lane for the dtype. */
void tni_add_scaled_row(tn_dtype dtype, char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
                        tn_scalar alpha);

/* What lies at[i] bytes behind `to` += from[i], one after the other: places may come again. */
void tni_add_scattered(tn_dtype dtype, char *to, const int64_t *at, const char *from, int64_t from_stride, int64_t n);

#endif
