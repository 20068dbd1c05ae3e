/* Conversion of one strided row of elements from one dtype to another. */
#ifndef TNI_CORE_CONVERT_H
#define TNI_CORE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>

/* n elements; strides in bytes. The rows do not overlap, or are the same row with the same itemsize. */
typedef void (*tni_converter)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n);

/* NULL when there is none. From a dtype to itself it copies bits, which works for every dtype. */
tni_converter tni_converter_of(tn_dtype from, tn_dtype to);

/* Writes a scalar as one element of dtype; false when there is no conversion to it. Integers wrap, floats to integers
 * are cut. */
bool tni_scalar_to(tn_scalar scalar, tn_dtype dtype, void *element);

#endif
