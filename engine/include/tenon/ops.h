/* Operators.
 *
 * Forms   tn_NAME makes a new tensor; tn_NAME_ writes into its first argument; tn_NAME_out writes into `out`, which is
 * resized when its shape differs; _scalar forms take a number as second operand. Shapes  operands broadcast as in NumPy
 * and PyTorch: aligned from the right, each pair of sizes equal, or one of them 1. Dtypes  "promoted" is PyTorch's
 * result_type: the highest kind among the operands wins; within a kind tensors with dimensions beat 0-dim ones, which
 * beat scalars. A result is written into an in-place or `out` tensor only if tn_can_cast. Layout  a new result keeps
 * the first operand's order of strides, without gaps. Errors  TN_ERROR_NULL, TN_ERROR_SHAPE (operands that do not
 * broadcast; in-place on a shape that would grow), TN_ERROR_DTYPE, TN_ERROR_OVERLAP (writing into a tensor whose
 * elements share memory, or that partly overlaps an operand), TN_ERROR_DEVICE (operands on two devices),
 * TN_ERROR_MEMORY. On an error nothing is written. META    all of it works on meta tensors, giving shapes, strides and
 * dtypes. */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Creation: [size] filled with 0, 1 or a value, on the default device. dtype TN_DTYPE_NONE: the default dtype; for
 * tn_full that of the value (bool, int64 or the default dtype). errors as tn_empty; tn_full: TN_ERROR_OVERFLOW for a
 * value that the dtype cannot hold. */
TN_API tn_tensor *tn_zeros(const int64_t *size, int ndim, tn_dtype dtype);
TN_API tn_tensor *tn_ones(const int64_t *size, int ndim, tn_dtype dtype);
TN_API tn_tensor *tn_full(const int64_t *size, int ndim, tn_scalar value, tn_dtype dtype);

/* start, start + step, ... below end (above it for a negative step): ceil((end - start) / step) elements, x_i = start +
 * i * step. dtype   TN_DTYPE_NONE: int64 when all three are integers, else the default dtype errors  TN_ERROR_ARGUMENT
 * (step 0; nan or infinite bounds; bounds that step leads away from), TN_ERROR_OVERFLOW source  torch.arange */
TN_API tn_tensor *tn_arange(tn_scalar start, tn_scalar end, tn_scalar step, tn_dtype dtype);

/* Views. They share the storage, count versions with x, and cost no copy; x may be any tensor.
 * tn_view      other sizes over the same elements; one size may be -1 (inferred).
 *              errors TN_ERROR_VIEW (no strides do it: the message names the pair of dims), TN_ERROR_SHAPE,
 * TN_ERROR_ARGUMENT tn_reshape   the view if there is one, else a contiguous copy tn_transpose swaps two dims;  tn_t
 * for at most two dims;  tn_T reverses all dims tn_narrow    length elements of dim from start (start may be negative)
 * tn_select    element `index` of dim, which disappears
 * tn_slice     start, start + step, ... below end along dim; bounds are clamped as in Python (TN_SLICE_END: to the
 * end); step >= 1 tn_expand    size-1 dims repeated by stride 0, new dims in front; -1 keeps a size tn_unsqueeze a dim
 * of size 1 at dim (-ndim-1 .. ndim);  tn_squeeze drops all dims of size 1, tn_squeeze_dim that one if its size is 1
 * tn_as_strided any sizes and strides over x's storage, offset counted from its beginning; errors TN_ERROR_BOUNDS
 * tn_contiguous x itself (a new reference) if it is contiguous, else a contiguous copy
 * errors TN_ERROR_DIM, TN_ERROR_INDEX, TN_ERROR_ARGUMENT, TN_ERROR_SHAPE as named above. grad: all, twice. */
#define TN_SLICE_END INT64_MAX
TN_API tn_tensor *tn_view(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_reshape(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_transpose(tn_tensor *x, int dim0, int dim1);
TN_API tn_tensor *tn_t(tn_tensor *x);
TN_API tn_tensor *tn_T(tn_tensor *x);
TN_API tn_tensor *tn_narrow(tn_tensor *x, int dim, int64_t start, int64_t length);
TN_API tn_tensor *tn_select(tn_tensor *x, int dim, int64_t index);
TN_API tn_tensor *tn_slice(tn_tensor *x, int dim, int64_t start, int64_t end, int64_t step);
TN_API tn_tensor *tn_expand(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_unsqueeze(tn_tensor *x, int dim);
TN_API tn_tensor *tn_squeeze(tn_tensor *x);
TN_API tn_tensor *tn_squeeze_dim(tn_tensor *x, int dim);
TN_API tn_tensor *tn_as_strided(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset);
TN_API tn_tensor *tn_contiguous(tn_tensor *x);

/* Copies.
 * tn_clone  same values, same order of strides without gaps (memory format "preserve")
 * tn_to     x itself (a new reference) if it has the dtype already, else a converted copy; floats to integers are cut
 * towards zero tn_copy_  writes src, broadcast and converted, into self;  tn_fill_ and tn_zero_ write a number
 * everywhere errors of tn_fill_: TN_ERROR_OVERFLOW for a value that the dtype cannot hold */
TN_API tn_tensor *tn_clone(tn_tensor *x);
TN_API tn_tensor *tn_to(tn_tensor *x, tn_dtype dtype);
TN_API tn_status tn_copy_(tn_tensor *self, tn_tensor *src);
TN_API tn_status tn_fill_(tn_tensor *self, tn_scalar value);
TN_API tn_status tn_zero_(tn_tensor *self);

/* Arithmetic: add a + b, sub a - b, mul a b, div a / b (true division: integers give the default dtype).
 * a, b    any shapes that broadcast; any dtype with arithmetic (sub refuses bool)
 * result  broadcast shape, promoted dtype; integers wrap
 * The _alpha forms scale the second operand: a + alpha b, a - alpha b.
 * grad    a and b, twice differentiable. cost O(numel). source torch.add and its kin */
TN_API tn_tensor *tn_add(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_sub(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_mul(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_div(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_add_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_sub_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_mul_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_div_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_add_alpha(tn_tensor *a, tn_tensor *b, tn_scalar alpha);
TN_API tn_tensor *tn_sub_alpha(tn_tensor *a, tn_tensor *b, tn_scalar alpha);
TN_API tn_status tn_add_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_sub_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_mul_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_div_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_add_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_sub_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_mul_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_div_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_add_alpha_(tn_tensor *self, tn_tensor *b, tn_scalar alpha);
TN_API tn_status tn_sub_alpha_(tn_tensor *self, tn_tensor *b, tn_scalar alpha);
TN_API tn_status tn_add_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_sub_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_mul_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_div_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* The larger of each pair; NaN if either is NaN. Shapes, dtypes and errors as tn_add; no complex. source torch.maximum
 */
TN_API tn_tensor *tn_maximum(tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_maximum_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Comparisons: a == b, a != b, a < b, a <= b, a > b, a >= b, compared in the promoted dtype; result bool, not
 * differentiable. The in-place forms write 0 or 1 in self's dtype. source torch.eq and its kin */
TN_API tn_tensor *tn_eq(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_ne(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_lt(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_le(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_gt(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_ge(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_eq_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_ne_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_lt_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_le_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_gt_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_ge_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_eq_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_eq_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_ne_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_ne_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_lt_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_lt_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_le_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_le_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_gt_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_gt_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_ge_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_ge_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_eq_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_ne_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_lt_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_le_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_gt_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_ge_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* One operand, element by element; same shape.
 * neg -x;  abs |x|;  relu max(x, 0), NaN stays NaN: dtype as x, not bool
 * exp, log, sigmoid 1/(1+e^-x), tanh: floating as x; integers and bool give the default dtype
 * error   of exp, log, sigmoid, tanh: at most 2 ulp in float32 and float64
 * grad    x, twice differentiable. cost O(numel), at memory speed for large float32. */
TN_API tn_tensor *tn_neg(tn_tensor *x);
TN_API tn_tensor *tn_abs(tn_tensor *x);
TN_API tn_tensor *tn_relu(tn_tensor *x);
TN_API tn_tensor *tn_exp(tn_tensor *x);
TN_API tn_tensor *tn_log(tn_tensor *x);
TN_API tn_tensor *tn_sigmoid(tn_tensor *x);
TN_API tn_tensor *tn_tanh(tn_tensor *x);
TN_API tn_status tn_neg_(tn_tensor *self);
TN_API tn_status tn_abs_(tn_tensor *self);
TN_API tn_status tn_relu_(tn_tensor *self);
TN_API tn_status tn_exp_(tn_tensor *self);
TN_API tn_status tn_log_(tn_tensor *self);
TN_API tn_status tn_sigmoid_(tn_tensor *self);
TN_API tn_status tn_tanh_(tn_tensor *self);
TN_API tn_status tn_neg_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_abs_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_relu_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_exp_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_log_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_sigmoid_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_tanh_out(tn_tensor *out, tn_tensor *x);

/* Reductions over the dims of a list; n_dims 0: over all of them. keepdim keeps reduced dims with size 1.
 * sum     sum of x; integers and bool give int64; over nothing 0. dtype TN_DTYPE_NONE: as said, else x is converted
 * first. float32 is added in float64 and rounded once; float64 in 32 lanes and a fixed tree: the same bits for every
 *         thread count and CPU.
 * mean    sum / count (floating x or dtype, else TN_ERROR_DTYPE); over nothing NaN
 * amax    the largest; NaN wins; over nothing TN_ERROR_EMPTY
 * argmax  int64 index of the first largest element along dim (NaN counts as the largest); tn_argmax_all indexes the
 * flattened tensor errors  TN_ERROR_DIM (out of range, twice). grad sum, mean, amax (shared among ties). cost O(numel)
 */
TN_API tn_tensor *tn_sum(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype);
TN_API tn_tensor *tn_mean(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype);
TN_API tn_tensor *tn_amax(tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_tensor *tn_argmax(tn_tensor *x, int dim, bool keepdim);
TN_API tn_tensor *tn_argmax_all(tn_tensor *x, bool keepdim);
TN_API tn_status tn_sum_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_mean_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_amax_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim);
TN_API tn_status tn_argmax_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim);

/* Matrix product, as torch.matmul: [k] x [k] -> [], [m, k] x [k, n] -> [m, n], a 1-dim operand is a row on the left and
 * a column on the right (its dim then disappears), more dims are batches and broadcast: [..., m, k] x [..., k, n] ->
 * [..., m, n]. dtype   both the same: float32, float64 (and int64, bool excluded). Any strides; no copy is made of
 * transposed operands. errors  TN_ERROR_SHAPE (inner sizes differ; a 0-dim operand), TN_ERROR_DTYPE grad    both,
 * twice. cost 2 m n k; own kernels for small sizes, OpenBLAS above, the same bits for every thread count */
TN_API tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_matmul_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* y = x W^T + b, as torch.nn.functional.linear.
 * x       [..., in]     weight [out, in]     bias [out], or NULL     y [..., out]
 * dtype, errors, grad, cost as tn_matmul. source torch.nn.functional.linear */
TN_API tn_tensor *tn_linear(tn_tensor *x, tn_tensor *weight, tn_tensor *bias);
TN_API tn_status tn_linear_out(tn_tensor *out, tn_tensor *x, tn_tensor *weight, tn_tensor *bias);

/* Reference arithmetic: results whose bits are defined, on every CPU, compiler and thread count; slow.
 * The order in which tn_linear_reference adds the products of one element:
 *   TN_ORDER_SEQUENTIAL      fl(x_k w_k) added from k = 0 upwards, then the bias
 *   TN_ORDER_SEQUENTIAL_FMA  the same with one rounding per step: s = fma(x_k, w_k, s)
 *   TN_ORDER_MKL             as PyTorch 2.15's wheel (MKL 2024.2, AVX-512) adds on small nets: several outputs: as
 *                            SEQUENTIAL_FMA; one output: rounded products in eight lanes, x_0 and x_1 in lane 0,
 * x_(j+1) in lane j, later blocks of eight likewise, lanes summed in halves (4, 2, 1); then the bias
 * tn_sigmoid_reference: 1 / (1 + exp(-x)) with the C library's exp of x's dtype; with TN_ORDER_MKL and float32 as that
 * wheel does on contiguous tensors: SLEEF's expf_u10 bits, and the C library's for the last numel mod 32 elements.
 * shapes, errors as tn_linear and tn_sigmoid; floating dtypes; not differentiable. */
typedef enum tn_order { TN_ORDER_SEQUENTIAL, TN_ORDER_SEQUENTIAL_FMA, TN_ORDER_MKL } tn_order;
TN_API tn_tensor *tn_linear_reference(tn_tensor *x, tn_tensor *weight, tn_tensor *bias, tn_order order);
TN_API tn_tensor *tn_sigmoid_reference(tn_tensor *x, tn_order order);

/* Whether a and b have the same shape and equal elements, in the dtype that they promote to (NaN is never equal). As
 * torch.equal. errors TN_ERROR_DEVICE; false while an error is pending */
TN_API bool tn_equal(tn_tensor *a, tn_tensor *b);

/* Whether |a - b| <= atol + rtol |b| everywhere, after broadcasting; infinities must be equal, NaN equals NaN if
 * equal_nan. As torch.allclose (its defaults: rtol 1e-5, atol 1e-8). errors TN_ERROR_DTYPE if the dtypes differ,
 * TN_ERROR_ARGUMENT (negative or NaN tolerances) */
TN_API bool tn_allclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan);

/* torch.testing.assert_close: TN_OK, or TN_ERROR_NOT_CLOSE with PyTorch's report as the message (for the first of:
 * shape, device, dtype, strides if asked, values). Close: |actual - expected| <= atol + rtol |expected|. options NULL
 * or zeroed: PyTorch's tolerances for the dtype (float32 1.3e-6, 1e-5; float64 1e-7, 1e-7; integers exact; of two
 * dtypes the larger), checking the dtype. errors  TN_ERROR_ARGUMENT if only one tolerance is given, or one is negative
 */
typedef struct tn_assert_close_options {
    bool tolerances_given; /* use rtol and atol below */
    double rtol, atol;
    bool equal_nan;
    bool ignore_dtype; /* check_dtype=False: compare after promotion */
    bool check_stride;
} tn_assert_close_options;
TN_API tn_status tn_assert_close(tn_tensor *actual, tn_tensor *expected, const tn_assert_close_options *options);

TN_END

#endif
