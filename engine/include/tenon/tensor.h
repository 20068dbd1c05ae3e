/* Tensors: a storage (one row of bytes) and a record that reads it as a grid: sizes, strides, offset, dtype.
 *
 * Element (i_1 ... i_k) is storage[offset + sum of i_j * stride_j]; strides and the offset count elements, as in
 * PyTorch, and are never negative. Views share the storage and the version counter of their base.
 *
 * Unless a function says otherwise: sizes and strides may be NULL when ndim is 0; a negative dim counts from the end; a
 * tensor argument that is NULL is TN_ERROR_NULL; while an error is pending nothing is made or written, and no data
 * given out. What a tensor's record says (tn_ndim to tn_version below) can be asked even then; of a tensor that is NULL
 * the answer is 0, NULL, false, TN_DTYPE_NONE or cpu.
 *
 * Threads  several threads may read a tensor at once. One that writes (any in-place operator, tn_data_mut) must be
 * alone. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/error.h>
#include <tenon/scope.h>

TN_BEGIN

#define TN_MAX_NDIM 64

typedef struct tn_tensor tn_tensor;

/* Where a tensor's bytes live. TN_META has shapes and no bytes: every shape rule works, data is an error. */
typedef enum tn_device_type { TN_CPU, TN_META, TN_CUDA } tn_device_type;

typedef struct tn_device {
    tn_device_type type;
    int index;
} tn_device;

/* The device of that name: "cpu", "meta", "cuda:1". cuda parses, and is refused when a tensor is asked for there.
 * errors  TN_ERROR_NULL, TN_ERROR_NAME (another word); then cpu */
TN_API tn_device tn_device_from_name(const char *name);

/* "cpu", "meta", "cuda"; "invalid" for another number. Never NULL.
 * errors  none */
TN_API const char *tn_device_type_name(tn_device_type type);

/* How a tensor's elements are laid out. All of PyTorch's names are known; every tensor here is strided. */
typedef enum tn_layout {
    TN_STRIDED,
    TN_SPARSE_COO,
    TN_SPARSE_CSR,
    TN_SPARSE_CSC,
    TN_SPARSE_BSR,
    TN_SPARSE_BSC,
    TN_MKLDNN,
    TN_JAGGED
} tn_layout;

/* The layout of that name, "strided", "sparse_coo", "mkldnn", "jagged" and so on; and the name of a layout ("invalid"
 * for another number, never NULL). Layouts other than strided parse, and are refused when a tensor is asked for in
 * them.
 * errors  tn_layout_from_name: TN_ERROR_NULL, TN_ERROR_NAME; then TN_STRIDED */
TN_API tn_layout tn_layout_from_name(const char *name);
TN_API const char *tn_layout_name(tn_layout layout);

/* The device of new tensors on this thread; the CPU at first.
 * errors  TN_ERROR_DEVICE (cuda)
 * source  torch.set_default_device */
TN_API tn_status tn_set_default_device(tn_device device);
TN_API tn_device tn_get_default_device(void);

/* A tensor that holds a copy of the row-major array `data` of the given sizes.
 * data    product(size) elements of dtype; may be NULL if that is 0
 * dtype   any, and given: TN_DTYPE_NONE is an error, since the array says nothing of its dtype
 * result  [size], contiguous, on the CPU
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (negative size), TN_ERROR_DIM (ndim not 0 .. 64), TN_ERROR_OVERFLOW,
 *         TN_ERROR_DTYPE, TN_ERROR_MEMORY
 * cost    O(numel) */
TN_API tn_tensor *tn_from_array(const void *data, const int64_t *size, int ndim, tn_dtype dtype);

/* A tensor whose elements are undefined: tn_empty on the thread's default device, tn_empty_on on the given one.
 * dtype   any; TN_DTYPE_NONE: the thread's default dtype
 * result  [size], contiguous
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (negative size), TN_ERROR_DIM (ndim not 0 .. 64), TN_ERROR_OVERFLOW,
 *         TN_ERROR_DTYPE, TN_ERROR_MEMORY; tn_empty_on: TN_ERROR_DEVICE (cuda)
 * cost    O(ndim), and what the allocator takes
 * source  torch.empty */
TN_API tn_tensor *tn_empty(const int64_t *size, int ndim, tn_dtype dtype);
TN_API tn_tensor *tn_empty_on(const int64_t *size, int ndim, tn_dtype dtype, tn_device device);

/* How a new tensor shall be, all at once; zeros ask for strided float32 on the CPU. */
typedef struct tn_tensor_options {
    tn_dtype dtype; /* TN_DTYPE_NONE: the thread's default dtype */
    tn_device device;
    tn_layout layout;
} tn_tensor_options;

/* tn_empty with options, NULL for the zeroed ones.
 * errors  as tn_empty; TN_ERROR_DEVICE (cuda), TN_ERROR_NOT_IMPLEMENTED (a layout other than strided)
 * source  torch.empty(..., dtype=, device=, layout=) */
TN_API tn_tensor *tn_empty_with(const int64_t *size, int ndim, const tn_tensor_options *options);

/* x on that device: x itself (a new reference) if it is there already; else, from cpu to meta, its record alone.
 * errors  TN_ERROR_NULL, TN_ERROR_DEVICE (from meta to cpu, since there is no data; to cuda), TN_ERROR_MEMORY
 * cost    O(ndim)
 * source  torch.Tensor.to */
TN_API tn_tensor *tn_to_device(tn_tensor *x, tn_device device);

/* A tensor with explicit strides over a storage just large enough, on the thread's default device; elements undefined.
 * Strides may overlap (be 0).
 * dtype   any; TN_DTYPE_NONE: the thread's default dtype
 * errors  as tn_empty; TN_ERROR_ARGUMENT also for a negative stride
 * source  torch.empty_strided */
TN_API tn_tensor *tn_empty_strided(const int64_t *size, const int64_t *stride, int ndim, tn_dtype dtype);

/* The record.
 * tn_size, tn_stride    of one dim, -ndim .. ndim-1
 * tn_sizes, tn_strides  ndim numbers that live as long as the tensor keeps its geometry
 * tn_numel              the product of the sizes
 * errors  TN_ERROR_NULL; tn_size and tn_stride: TN_ERROR_DIM (a dim out of range), then 0 */
TN_API int tn_ndim(const tn_tensor *x);
TN_API int64_t tn_size(const tn_tensor *x, int dim);
TN_API int64_t tn_stride(const tn_tensor *x, int dim);
TN_API const int64_t *tn_sizes(const tn_tensor *x);
TN_API const int64_t *tn_strides(const tn_tensor *x);
TN_API int64_t tn_storage_offset(const tn_tensor *x);
TN_API int64_t tn_numel(const tn_tensor *x);
TN_API tn_dtype tn_tensor_dtype(const tn_tensor *x);
TN_API tn_device tn_tensor_device(const tn_tensor *x);

/* Row-major without gaps; strides of size-1 dimensions do not count, and a tensor without elements is contiguous.
 * errors  TN_ERROR_NULL */
TN_API bool tn_is_contiguous(const tn_tensor *x);

/* Whether x was made as a view, and of what: the base is never itself a view. NULL when x is none. The base belongs to
 * the view.
 * errors  TN_ERROR_NULL */
TN_API bool tn_is_view(const tn_tensor *x);
TN_API tn_tensor *tn_base(const tn_tensor *x);

/* Whether both read the same storage.
 * errors  TN_ERROR_NULL */
TN_API bool tn_is_same_storage(const tn_tensor *a, const tn_tensor *b);

/* Bytes of x's storage (tenon/storage.h), and the address of its first byte (NULL on meta, or when there are none):
 * valid as tn_data's.
 * errors  TN_ERROR_NULL */
TN_API size_t tn_storage_nbytes(const tn_tensor *x);
TN_API const void *tn_storage_data(const tn_tensor *x);

/* How often the elements were written, counted with every tensor that shares the counter (modulo 2^32).
 * errors  TN_ERROR_NULL, TN_ERROR_INFERENCE (x was made in inference mode)
 * source  Tensor._version */
TN_API int64_t tn_version(const tn_tensor *x);

/* The first element, to read: x's own strides apply. NULL for a tensor without elements, which is no error.
 * Valid while x lives and no tensor of its storage is resized, x itself or another: that may move the storage.
 * errors  TN_ERROR_NULL, TN_ERROR_DEVICE (on meta); tn_data_f32 and its kin: TN_ERROR_DTYPE (x has another). Then, and
 *         while an error is pending, NULL */
TN_API const void *tn_data(const tn_tensor *x);
TN_API const float *tn_data_f32(const tn_tensor *x);
TN_API const double *tn_data_f64(const tn_tensor *x);
TN_API const int64_t *tn_data_i64(const tn_tensor *x);
TN_API const bool *tn_data_bool(const tn_tensor *x);

/* The same to write: counts one version.
 * errors  as tn_data; TN_ERROR_STATE (memory that came from outside as read-only). Then nothing is counted */
TN_API void *tn_data_mut(tn_tensor *x);
TN_API float *tn_data_f32_mut(tn_tensor *x);
TN_API double *tn_data_f64_mut(tn_tensor *x);
TN_API int64_t *tn_data_i64_mut(tn_tensor *x);
TN_API bool *tn_data_bool_mut(tn_tensor *x);

/* The only element: tn_item as a double, tn_item_i64 as an integer (floats are cut towards zero), tn_item_scalar as a
 * number of its own kind, without loss (uint64 from 2^63 on wraps in value.i).
 * dtype   all numbers; tn_item and tn_item_i64 of a complex element need an imaginary part of 0; tn_item_scalar also
 *         quantised and bits types, whose stored integer it gives
 * errors  TN_ERROR_NULL, TN_ERROR_NOT_SCALAR (not exactly one element), TN_ERROR_DEVICE (on meta),
 *         TN_ERROR_NOT_IMPLEMENTED (a quantised or bits type); TN_ERROR_OVERFLOW (an imaginary part; tn_item_i64:
 *         nan, or what 64 bits do not hold). Then, and while an error is pending, NaN, 0, or the integer 0
 * source  Tensor.item */
TN_API double tn_item(const tn_tensor *x);
TN_API int64_t tn_item_i64(const tn_tensor *x);
TN_API tn_scalar tn_item_scalar(const tn_tensor *x);

/* The dtype that arithmetic of these tensors and numbers has: tensors with dims come first; 0-dim tensors raise it only
 * by being of a higher kind (bool < integers < floats < complex), and numbers likewise after those.
 * n_tensors, n_numbers  how many there are, at least one in all; a pointer may be NULL when there are none
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (none at all, or a negative count), TN_ERROR_DTYPE (they have no common
 *         dtype: see tn_promote_types); then TN_DTYPE_NONE
 * source  torch.result_type */
TN_API tn_dtype tn_result_type(tn_tensor *const *tensors, int n_tensors, const tn_scalar *numbers, int n_numbers);

TN_END

#endif
