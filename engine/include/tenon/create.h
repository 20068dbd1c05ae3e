/* Making tensors, and copying them.
 *
 * What every call may raise ("common") stands at the beginning of tenon/ops.h. New tensors are on the thread's default
 * device, those made like another one on its device. dtype TN_DTYPE_NONE leaves it to the rule of the function. */
#ifndef TENON_CREATE_H
#define TENON_CREATE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/tensor.h>
#include <tenon/views.h>

TN_BEGIN

/* Tensors filled with 0, 1 or a value; tn_zeros_format lays them out in a memory format.
 * dtype   any number; quantised and bits types for 0 alone. TN_DTYPE_NONE: the default dtype, for tn_full that of the
 *         value (bool, int64, the default dtype or its complex twin)
 * result  [size], contiguous but for tn_zeros_format
 * errors  those of tn_empty; TN_ERROR_NOT_IMPLEMENTED (a dtype that is no number); tn_full: TN_ERROR_OVERFLOW (a value
 *         that the dtype does not hold, such as 300 in int8 or 1e39 in float32); tn_zeros_format: TN_ERROR_FORMAT (a
 *         format of another rank, or preserve), TN_ERROR_ARGUMENT (no format)
 * cost    O(numel)
 * source  torch.zeros, torch.ones, torch.full */
TN_API tn_tensor *tn_zeros(const int64_t *size, int ndim, tn_dtype dtype);
TN_API tn_tensor *tn_ones(const int64_t *size, int ndim, tn_dtype dtype);
TN_API tn_tensor *tn_full(const int64_t *size, int ndim, tn_scalar value, tn_dtype dtype);
TN_API tn_tensor *tn_zeros_format(const int64_t *size, int ndim, tn_dtype dtype, tn_memory_format format);

/* Tensors of x's shape: elements undefined, 0, 1, or a value.
 * dtype   TN_DTYPE_NONE: x's
 * format  TN_PRESERVE_FORMAT: x's order of strides, without gaps
 * errors  common; as tn_zeros_format, tn_full
 * cost    O(numel); tn_empty_like O(ndim)
 * source  torch.empty_like, zeros_like, ones_like, full_like */
TN_API tn_tensor *tn_empty_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format);
TN_API tn_tensor *tn_zeros_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format);
TN_API tn_tensor *tn_ones_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format);
TN_API tn_tensor *tn_full_like(tn_tensor *x, tn_scalar value, tn_dtype dtype, tn_memory_format format);

/* Tensors of another shape with x's dtype and device, contiguous: 0, 1, or a value.
 * errors  common; as tn_zeros, tn_full
 * cost    O(numel)
 * source  torch.Tensor.new_zeros, new_ones, new_full */
TN_API tn_tensor *tn_new_zeros(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_new_ones(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_new_full(tn_tensor *x, const int64_t *size, int ndim, tn_scalar value);

/* start, start + step, ... below end, above it for a negative step:  x_i = start + i step.
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8; TN_DTYPE_NONE: int64 when all three are integers, else
 *         the default dtype
 * result  [ceil((end - start) / step)]
 * errors  TN_ERROR_ARGUMENT (step 0; nan or infinite bounds; bounds that step leads away from; a complex number),
 *         TN_ERROR_OVERFLOW, TN_ERROR_DTYPE, TN_ERROR_NOT_IMPLEMENTED (another dtype), TN_ERROR_MEMORY
 * cost    O(numel)
 * source  torch.arange */
TN_API tn_tensor *tn_arange(tn_scalar start, tn_scalar end, tn_scalar step, tn_dtype dtype);

/* n numbers from start to end, both included, in equal steps; the half before the middle is counted from start, the
 * other from end.
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8 (steps in float64, cut towards zero), complex64,
 *         complex128; TN_DTYPE_NONE: the default dtype, or its complex twin for complex bounds
 * result  [n]
 * errors  TN_ERROR_ARGUMENT (n below 0), TN_ERROR_DTYPE, TN_ERROR_OVERFLOW (a bound that the dtype does not hold),
 *         TN_ERROR_NOT_IMPLEMENTED (another dtype), TN_ERROR_MEMORY
 * cost    O(n)
 * source  torch.linspace */
TN_API tn_tensor *tn_linspace(tn_scalar start, tn_scalar end, int64_t n, tn_dtype dtype);

/* The matrix with 1 on its diagonal and 0 elsewhere.
 * m       columns; -1: as many as rows
 * dtype   any number; TN_DTYPE_NONE: the default dtype
 * result  [n, m]
 * errors  TN_ERROR_ARGUMENT (n below 0, m below -1), those of tn_empty; TN_ERROR_NOT_IMPLEMENTED (a dtype that is no
 *         number)
 * cost    O(n m)
 * source  torch.eye */
TN_API tn_tensor *tn_eye(int64_t n, int64_t m, tn_dtype dtype);

/* Copies.
 * tn_clone         same values, same order of strides without gaps (memory format "preserve")
 * tn_clone_format  the same in a memory format
 * tn_to            x itself (a new reference) if it has the dtype already, else a converted copy, preserving the
 *                  order of strides
 * tn_to_format     the same in a memory format, which x must have too to be returned itself; `copy` always copies.
 *                  dtype TN_DTYPE_NONE: x's
 * tn_tensor_from   a copy in any case, dtype TN_DTYPE_NONE: x's. As torch.tensor(array)
 * tn_copy_         writes src, broadcast and converted, into self
 * tn_fill_         writes a number everywhere; self's elements may share memory. tn_fill_tensor_ writes the number
 *                  that a 0-dim tensor holds, which may be an element of self
 * tn_zero_         writes 0 everywhere; likewise
 * dtype   any for a copy within it; conversions among all numbers. Floats to integers are cut towards zero, integers
 *         wrap; float64 and integers to 16- and 8-bit floats go through float32, rounding to nearest and even at each
 *         step; float8_e4m3fn saturates at 448; anything but 0 is true; complex numbers give their real part
 * errors  common; tn_to and its kin: TN_ERROR_DTYPE (no dtype), TN_ERROR_FORMAT (a format of another rank);
 *         TN_ERROR_NOT_IMPLEMENTED (from or to a quantised or bits type); tn_copy_: TN_ERROR_SHAPE (src does not
 *         broadcast to self); tn_fill_: TN_ERROR_OVERFLOW (a value that the dtype does not hold, such as 1e39 in
 *         float32), tn_fill_tensor_: also TN_ERROR_DIM (a value with dims)
 * grad    tn_clone, tn_to: x; tn_copy_: src; tn_fill_tensor_: value
 * cost    O(numel)
 * source  torch.clone, torch.Tensor.to, copy_, fill_, zero_ */
TN_API tn_tensor *tn_clone(tn_tensor *x);
TN_API tn_tensor *tn_clone_format(tn_tensor *x, tn_memory_format format);
TN_API tn_tensor *tn_to(tn_tensor *x, tn_dtype dtype);
TN_API tn_tensor *tn_to_format(tn_tensor *x, tn_dtype dtype, bool copy, tn_memory_format format);
TN_API tn_tensor *tn_tensor_from(tn_tensor *x, tn_dtype dtype);
TN_API tn_status tn_copy_(tn_tensor *self, tn_tensor *src);
TN_API tn_status tn_fill_(tn_tensor *self, tn_scalar value);
TN_API tn_status tn_fill_tensor_(tn_tensor *self, tn_tensor *value);
TN_API tn_status tn_zero_(tn_tensor *self);

/* Tensors joined along a dim, and along a new one.
 * tensors  n of them; of tn_cat the same sizes but along dim ([0] among them is left out), of tn_stack the same shape
 * dim      of tn_cat -ndim .. ndim-1, of tn_stack -ndim-1 .. ndim
 * dtype    any; several promote to one
 * errors   common; TN_ERROR_ARGUMENT (n below 1), TN_ERROR_DIM, TN_ERROR_SHAPE (0-dim tensors for tn_cat, sizes that
 *          differ)
 * grad     each tensor
 * cost     O(numel)
 * source   torch.cat, torch.stack */
TN_API tn_tensor *tn_cat(tn_tensor *const *tensors, int n, int dim);
TN_API tn_tensor *tn_stack(tn_tensor *const *tensors, int n, int dim);

/* Copies with elements in other places.
 * tn_repeat  x, with new dims of size 1 in front where there are more repeats than dims, repeats[d] times along dim d
 * tn_flip    the order along each of the dims reversed
 * tn_roll    elements moved on by shifts[i] along dims[i], those that leave come in at the other end; one shift without
 *            dims (NULL, 0) moves all elements in row-major order
 * dtype      any
 * errors     common; TN_ERROR_DIM (a dim out of range, or twice; fewer repeats than dims, or over 32),
 *            TN_ERROR_ARGUMENT (a negative number of repeats; shifts that are not as many as dims), TN_ERROR_OVERFLOW
 * grad       x, twice differentiable
 * cost       O(numel of the result), for each dim
 * source     torch.Tensor.repeat, torch.flip, torch.roll */
TN_API tn_tensor *tn_repeat(tn_tensor *x, const int64_t *repeats, int n);
TN_API tn_tensor *tn_flip(tn_tensor *x, const int64_t *dims, int n);
TN_API tn_tensor *tn_roll(tn_tensor *x, const int64_t *shifts, int n_shifts, const int64_t *dims, int n_dims);

/* The lower and the upper triangle of matrices; the other elements are 0. Diagonal k and what lies below (above) it
 * stays: k 0 is the main one, 1 the one above it.
 * x       [..., n, m]
 * dtype   any number but float8 and uint16 to uint64
 * result  x's shape, contiguous
 * errors  common; TN_ERROR_DIM (fewer than 2 dims)
 * grad    x
 * cost    O(numel)
 * source  torch.tril, torch.triu */
TN_API tn_tensor *tn_tril(tn_tensor *x, int64_t k);
TN_API tn_tensor *tn_triu(tn_tensor *x, int64_t k);
TN_API tn_status tn_tril_(tn_tensor *self, int64_t k);
TN_API tn_status tn_triu_(tn_tensor *self, int64_t k);

TN_END

#endif
