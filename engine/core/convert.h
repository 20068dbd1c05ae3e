/* Conversion of one strided row of elements from one dtype to another, and of single numbers.
 *
 * Among all dtypes but the quantised and bits types, as PyTorch's Tensor.to on x86: integers wrap; floats to integers
 * are cut towards zero, and what the integer does not hold becomes what the processor's instruction makes of it (the
 * smallest int64, int32; int8 and int16 are the low bits of an int32, uint8 and uint32 those of an int64); anything but
 * 0 becomes true, NaN too; a complex number gives its real part. Numbers go through float32 on their way to floats of
 * 16 and 8 bits (core/narrow.h), float64 and int64 too. */
#ifndef TNI_CORE_CONVERT_H
#define TNI_CORE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>

/* n elements; strides in bytes. The rows do not overlap, or are the same row with the same itemsize. */
typedef void (*tni_converter)(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n);

/* NULL when there is none: to or from a quantised or bits type. From a dtype to itself it copies bits, which works for
 * every dtype. */
tni_converter tni_converter_of(tn_dtype from, tn_dtype to);

/* Writes a scalar as one element of dtype; false when there is no conversion to it. */
bool tni_scalar_to(tn_scalar scalar, tn_dtype dtype, void *element);

/* The element at `element` as a number of its kind, without loss; of uint64 the bits, value.i wraps. Of quantised and
 * bits types the stored integer. */
tn_scalar tni_scalar_load(tn_dtype dtype, const void *element);

/* A scalar's real part as a double; of a bool or an integer its value. */
static inline double tni_scalar_real(tn_scalar scalar)
{
    if (scalar.kind == TN_SCALAR_FLOAT)
        return scalar.value.f;
    return scalar.kind == TN_SCALAR_COMPLEX ? scalar.value.c.re : (double)scalar.value.i;
}

#endif
