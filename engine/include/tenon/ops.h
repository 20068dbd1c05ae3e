/* Operators.
 *
 * Forms    tn_NAME makes a new tensor; tn_NAME_ writes into its first argument; tn_NAME_out writes into `out`, which is
 *          resized when its shape differs; _scalar forms take a number as second operand.
 * Shapes   operands broadcast as in NumPy and PyTorch: aligned from the right, each pair of sizes equal or one a 1.
 * Dtypes   those that PyTorch's CPU has for the operator. 16-bit floats compute in float32 and round once, small
 *          integers wrap; float8, quantised and bits types are stored, copied and viewed only. "Promoted" is
 *          PyTorch's result_type: the highest kind among the operands wins; within a kind tensors with dimensions
 *          beat 0-dim ones, which beat scalars. A result is written into an in-place or `out` tensor only if
 *          tn_can_cast.
 * Layout   a new result keeps the first operand's order of strides, without gaps.
 * Meta     all of it works on meta tensors, giving shapes, strides and dtypes. A 0-dim operand of arithmetic and
 *          comparisons may be on the CPU all the same, as it stands for a number.
 * Grad     the operands that a gradient goes to: tenon/autograd.h. Others are constant, or have none.
 * Common   what every operator may raise, and its own lines do not repeat: TN_ERROR_NULL, TN_ERROR_SHAPE (operands
 *          that do not broadcast; in-place on a shape that would grow), TN_ERROR_DTYPE (dtypes that have none in
 *          common; a result that cannot be cast to the tensor to write), TN_ERROR_NOT_IMPLEMENTED (no kernel for the
 *          dtype), TN_ERROR_OVERLAP (writing into a tensor whose elements share memory, or that partly overlaps an
 *          operand), TN_ERROR_DEVICE (operands on two devices), TN_ERROR_OVERFLOW (a result of more bytes than 64 bits
 *          count), TN_ERROR_MEMORY. On an error nothing is written. */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/activations.h>
#include <tenon/create.h>
#include <tenon/dtype.h>
#include <tenon/reductions.h>
#include <tenon/tensor.h>
#include <tenon/views.h>

TN_BEGIN

/* Arithmetic:  add a + b,  sub a - b,  mul a b,  div a / b;  the _alpha forms a + alpha b,  a - alpha b.
 * a, b    any shapes that broadcast
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8, bool (sub refuses it), complex; mul and div also uint16
 *         to uint64; mul also float8, but not by a number nor by a b of one element; div not complex32
 * result  broadcast shape, promoted dtype; integers wrap; div is true division, integers give the default dtype
 * errors  common; TN_ERROR_DTYPE (bool for sub; a decimal alpha for integers, a bool one for numbers),
 *         TN_ERROR_ARGUMENT (by name: two numbers)
 * grad    a and b, twice differentiable
 * cost    O(numel)
 * source  torch.add, torch.sub, torch.mul, torch.div */
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

/* Whole quotients and what is left over: floor_divide rounds a / b down, trunc_divide towards zero; remainder is
 * a - b floor_divide(a, b) and has the sign of b, fmod is a - b trunc_divide(a, b) and has the sign of a.
 * a, b    any shapes that broadcast
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8
 * result  broadcast shape, promoted dtype; the least integer divided by -1 wraps; a float divisor of 0 gives infinity
 *         or NaN
 * errors  common; TN_ERROR_ARGUMENT (an integer divisor of 0; by name: two numbers)
 * grad    a and b of remainder and fmod, twice differentiable; of trunc_divide zero; a walk through
 *         floor_divide is refused (TN_ERROR_NOT_IMPLEMENTED)
 * cost    O(numel)
 * source  torch.floor_divide, torch.div with rounding_mode "trunc", torch.remainder, torch.fmod */
TN_API tn_tensor *tn_floor_divide(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_floor_divide_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_floor_divide_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_floor_divide_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_floor_divide_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_trunc_divide(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_trunc_divide_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_trunc_divide_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_trunc_divide_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_trunc_divide_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_remainder(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_remainder_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_remainder_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_remainder_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_remainder_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_fmod(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_fmod_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_fmod_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_fmod_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_fmod_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Three operands:  addcmul self + value a b,  addcdiv self + value a / b.
 * self, a, b  any shapes that broadcast
 * dtype   addcmul: float16 to float64, bfloat16, int8 to int64, uint8, complex; addcdiv: the floating ones and complex
 *         ones but complex32, a and b not both integers
 * result  broadcast shape, promoted dtype
 * errors  common; TN_ERROR_DTYPE (a and b of addcdiv both integers), TN_ERROR_OVERFLOW (a value that the dtype does not
 *         hold, or a complex one for a real result)
 * grad    self, a and b, twice differentiable
 * cost    O(numel)
 * source  torch.addcmul, torch.addcdiv */
TN_API tn_tensor *tn_addcmul(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);
TN_API tn_tensor *tn_addcdiv(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);
TN_API tn_status tn_addcmul_(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);
TN_API tn_status tn_addcdiv_(tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);
TN_API tn_status tn_addcmul_out(tn_tensor *out, tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);
TN_API tn_status tn_addcdiv_out(tn_tensor *out, tn_tensor *self, tn_tensor *a, tn_tensor *b, tn_scalar value);

/* Between self and end:  self + weight (end - self);  a weight of 1 gives end exactly.
 * weight  a tensor or a number; all three broadcast
 * dtype   float16 to float64, bfloat16, complex64 and complex128; end and weight have self's, but a weight without dims
 *         may be any floating one
 * result  broadcast shape, self's dtype
 * errors  common; TN_ERROR_DTYPE (another dtype), TN_ERROR_OVERFLOW (a complex number as weight of real tensors)
 * grad    self, end and weight, twice differentiable
 * cost    O(numel)
 * source  torch.lerp */
TN_API tn_tensor *tn_lerp(tn_tensor *self, tn_tensor *end, tn_tensor *weight);
TN_API tn_tensor *tn_lerp_scalar(tn_tensor *self, tn_tensor *end, tn_scalar weight);
TN_API tn_status tn_lerp_(tn_tensor *self, tn_tensor *end, tn_tensor *weight);
TN_API tn_status tn_lerp_scalar_(tn_tensor *self, tn_tensor *end, tn_scalar weight);
TN_API tn_status tn_lerp_out(tn_tensor *out, tn_tensor *self, tn_tensor *end, tn_tensor *weight);

/* The larger, the smaller of each pair; NaN if either is NaN.
 * a, b    any shapes that broadcast
 * dtype   all real ones but float8
 * result  broadcast shape, promoted dtype
 * errors  common
 * grad    a and b, half to each where they are equal
 * cost    O(numel)
 * source  torch.maximum, torch.minimum */
TN_API tn_tensor *tn_maximum(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_minimum(tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_maximum_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_minimum_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Every element brought between two bounds:  min(max(x, low), high).
 * low, high  NULL: no such bound. A high one below the low one wins; a NaN one makes everything NaN; a NaN
 *            element stays
 * dtype   all real ones but float8; bool is promoted by the bounds
 * result  x's shape, the dtype that x and the bounds promote to
 *         bounds beyond an integer dtype's range leave everything
 * errors  common; TN_ERROR_ARGUMENT (no bound at all), TN_ERROR_OVERFLOW (a low bound above an integer dtype's range, a
 *         high one below it)
 * grad    x, 0 at and beyond a bound
 * cost    O(numel)
 * source  torch.clamp */
TN_API tn_tensor *tn_clamp(tn_tensor *x, const tn_scalar *low, const tn_scalar *high);
TN_API tn_status tn_clamp_(tn_tensor *self, const tn_scalar *low, const tn_scalar *high);
TN_API tn_status tn_clamp_out(tn_tensor *out, tn_tensor *x, const tn_scalar *low, const tn_scalar *high);

/* self where the condition is true, other where it is false.
 * condition    bool (uint8 is taken too)
 * self, other  tensors or numbers, of any dtype that is a number; all three broadcast
 * result  broadcast shape, promoted dtype
 * errors  common; TN_ERROR_DTYPE (another condition), TN_ERROR_OVERFLOW (a number that the result's integer dtype does
 *         not hold)
 * grad    self and other
 * cost    O(numel)
 * source  torch.where */
TN_API tn_tensor *tn_where(tn_tensor *condition, tn_tensor *self, tn_tensor *other);
TN_API tn_tensor *tn_where_scalar(tn_tensor *condition, tn_tensor *self, tn_scalar other);
TN_API tn_tensor *tn_where_scalars(tn_tensor *condition, tn_scalar self, tn_scalar other);

/* self with a value where the mask is true. By name the value may be a 0-dim tensor.
 * mask    bool, broadcasts with self; in place to self, whose elements may share memory
 * dtype   all numbers but float8 and uint16 to uint64; the value is converted to it
 * result  broadcast shape, self's dtype, contiguous
 * errors  common; TN_ERROR_DTYPE (another mask; a complex value for a real tensor), TN_ERROR_OVERFLOW (a value that the
 *         dtype does not hold), TN_ERROR_SHAPE (a value with dims)
 * grad    self
 * cost    O(numel)
 * source  torch.Tensor.masked_fill */
TN_API tn_tensor *tn_masked_fill(tn_tensor *self, tn_tensor *mask, tn_scalar value);
TN_API tn_status tn_masked_fill_(tn_tensor *self, tn_tensor *mask, tn_scalar value);

/* Reading and adding at positions along one dim.
 *     index_select   y[.., k, ..] = self[.., index[k], ..]
 *     gather         y[.., k, ..] = self[.., index[.., k, ..], ..]
 *     scatter_add    self[.., index[.., k, ..], ..] += src[.., k, ..]
 *     index_add      self[.., index[k], ..] += alpha src[.., k, ..]
 * index   int64 or int32, 0 .. size-1. index_select, index_add: of one dim, or none. gather, scatter_add: of as many
 *         dims as self, nowhere larger than self but in `dim`, and nowhere larger than src. Positions may come again
 * src     self's dtype; no memory shared with self in place. index_add: self's sizes, but one a position in `dim`
 * dtype   gather, scatter_add: all numbers but float8 and complex32; index_add also complex32; index_select all numbers
 * result  index_select: self's sizes, one a position in `dim`; gather: the index's; both contiguous. Of the others
 *         self's: what is added up comes in the order of the index; sums of 16-bit floats are kept in float32 and
 *         rounded once (index_add: of matrices without alpha; else at each step)
 * errors  common; TN_ERROR_INDEX (a position outside the dim: the message names it, its place, dim and size),
 *         TN_ERROR_DTYPE (another dtype of the index, or of src), TN_ERROR_DIM, TN_ERROR_OVERFLOW (an alpha that the
 *         dtype does not hold), TN_ERROR_STATE (read-only memory)
 * grad    self and src: of index_select by index_add, of gather by scatter_add, and the other way round
 * cost    O(elements of the result, of src); the forms that make a new self copy it
 * source  torch.index_select, torch.gather, torch.Tensor.scatter_add_, torch.Tensor.index_add_ */
TN_API tn_tensor *tn_index_select(tn_tensor *self, int dim, tn_tensor *index);
TN_API tn_tensor *tn_gather(tn_tensor *self, int dim, tn_tensor *index);
TN_API tn_tensor *tn_scatter_add(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src);
TN_API tn_status tn_scatter_add_(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src);
TN_API tn_tensor *tn_index_add(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src, tn_scalar alpha);
TN_API tn_status tn_index_add_(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src, tn_scalar alpha);

/* Bit by bit: and, or, exclusive or; of bool the logical ones.
 * a, b    any shapes that broadcast
 * dtype   integers and bool
 * result  broadcast shape, promoted dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.bitwise_and and its kin */
TN_API tn_tensor *tn_bitwise_and(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_and_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_bitwise_and_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_bitwise_and_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_bitwise_and_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_or(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_or_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_bitwise_or_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_bitwise_or_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_bitwise_or_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_xor(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_xor_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_bitwise_xor_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_bitwise_xor_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_bitwise_xor_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Bits moved to the left (0 comes in) and to the right (the sign comes in); by more than there are, all of them.
 * a, b    any shapes that broadcast
 * dtype   int8 to int64, uint8, bool
 * result  broadcast shape, promoted dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.bitwise_left_shift, torch.bitwise_right_shift */
TN_API tn_tensor *tn_bitwise_left_shift(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_left_shift_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_bitwise_left_shift_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_bitwise_left_shift_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_bitwise_left_shift_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_right_shift(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_bitwise_right_shift_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_bitwise_right_shift_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_bitwise_right_shift_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_bitwise_right_shift_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* The bits turned over; of bool the other truth value.
 * dtype   int8 to int64, uint8, bool
 * result  x's shape and dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.bitwise_not */
TN_API tn_tensor *tn_bitwise_not(tn_tensor *x);
TN_API tn_status tn_bitwise_not_(tn_tensor *self);
TN_API tn_status tn_bitwise_not_out(tn_tensor *out, tn_tensor *x);

/* Whether both are not 0, either is, one alone is.
 * a, b    any shapes that broadcast
 * dtype   all numbers but float8, complex32 and uint16 to uint64
 * result  bool, broadcast shape; the in-place forms write 0 or 1 in self's dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.logical_and and its kin */
TN_API tn_tensor *tn_logical_and(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_and_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_logical_and_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_logical_and_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_logical_and_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_or(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_or_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_logical_or_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_logical_or_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_logical_or_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_xor(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_logical_xor_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_status tn_logical_xor_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_logical_xor_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_logical_xor_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Comparisons:  eq a == b,  ne a != b,  lt a < b,  le a <= b,  gt a > b,  ge a >= b.
 * a, b    any shapes that broadcast, compared in the promoted dtype
 * dtype   eq, ne: all numbers; the others all real ones but float8 and uint16 to uint64
 * result  bool, broadcast shape; the in-place forms write 0 or 1 in self's dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.eq and its kin */
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

/* One operand, element by element:  neg -x,  abs |x|,  relu max(x, 0) (NaN stays NaN),  exp e^x,  log of base e,
 * sigmoid 1/(1+e^-x),  tanh,  sqrt,  reciprocal 1/x,  square x^2,  sign (-1, 0 or 1; of NaN 0),  sgn x/|x|
 * (of real numbers the sign),  floor,  ceil,
 * round to nearest and even,  trunc towards zero.
 * dtype   neg, abs, sgn, square: float16 to float64, bfloat16, int8 to int64, uint8, complex (abs also float8 with a
 *         sign, sgn and square bool); relu, sign, floor, ceil, round, trunc: the real ones of these (sign also bool,
 *         the others uint16 to uint64); the others all but float8 and complex32, integers and bool converted
 * result  x's shape and dtype; abs of complex numbers: their real dtype; square of bool: int64; exp, log, sigmoid,
 *         tanh, sqrt and reciprocal of integers and bool: the default dtype. exp, log, sigmoid and tanh are within 2
 *         ulp; 16-bit floats compute in float32 and round once
 * errors  common; TN_ERROR_DTYPE (bool where it is no operand; abs_ of complex numbers)
 * grad    x, twice differentiable; of relu 0 at 0 and 1 at NaN, of abs 0 at 0, of sign, floor, ceil, round, trunc zero
 * cost    O(numel), at memory speed for large float32
 * source  torch.neg and its kin */
TN_API tn_tensor *tn_neg(tn_tensor *x);
TN_API tn_tensor *tn_abs(tn_tensor *x);
TN_API tn_tensor *tn_relu(tn_tensor *x);
TN_API tn_tensor *tn_exp(tn_tensor *x);
TN_API tn_tensor *tn_log(tn_tensor *x);
TN_API tn_tensor *tn_sigmoid(tn_tensor *x);
TN_API tn_tensor *tn_tanh(tn_tensor *x);
TN_API tn_tensor *tn_sqrt(tn_tensor *x);
TN_API tn_tensor *tn_reciprocal(tn_tensor *x);
TN_API tn_tensor *tn_square(tn_tensor *x);
TN_API tn_tensor *tn_sign(tn_tensor *x);
TN_API tn_tensor *tn_sgn(tn_tensor *x);
TN_API tn_tensor *tn_floor(tn_tensor *x);
TN_API tn_tensor *tn_ceil(tn_tensor *x);
TN_API tn_tensor *tn_round(tn_tensor *x);
TN_API tn_tensor *tn_trunc(tn_tensor *x);
TN_API tn_status tn_neg_(tn_tensor *self);
TN_API tn_status tn_abs_(tn_tensor *self);
TN_API tn_status tn_relu_(tn_tensor *self);
TN_API tn_status tn_exp_(tn_tensor *self);
TN_API tn_status tn_log_(tn_tensor *self);
TN_API tn_status tn_sigmoid_(tn_tensor *self);
TN_API tn_status tn_tanh_(tn_tensor *self);
TN_API tn_status tn_sqrt_(tn_tensor *self);
TN_API tn_status tn_reciprocal_(tn_tensor *self);
TN_API tn_status tn_square_(tn_tensor *self);
TN_API tn_status tn_sign_(tn_tensor *self);
TN_API tn_status tn_sgn_(tn_tensor *self);
TN_API tn_status tn_floor_(tn_tensor *self);
TN_API tn_status tn_ceil_(tn_tensor *self);
TN_API tn_status tn_round_(tn_tensor *self);
TN_API tn_status tn_trunc_(tn_tensor *self);
TN_API tn_status tn_neg_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_abs_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_relu_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_exp_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_log_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_sigmoid_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_tanh_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_sqrt_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_reciprocal_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_square_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_sign_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_sgn_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_floor_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_ceil_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_round_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_trunc_out(tn_tensor *out, tn_tensor *x);

/* a^b, element by element. Integers to integers stay integers and wrap; a negative power of an integer is 0 (of 1 and
 * -1 theirs), and refused when it is a number.
 * a, b    any shapes that broadcast
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8, complex64, complex128
 * result  the broadcast shape, promoted dtype
 * errors  common, TN_ERROR_DTYPE (an integer to a negative number; bool)
 * grad    both, twice differentiable; that in a is 0 where b is 0, that in b where a is 0
 * cost    O(numel); by products where b is the number 2, 3, -1, -2 or 0.5
 * source  torch.pow */
TN_API tn_tensor *tn_pow(tn_tensor *a, tn_tensor *b);
TN_API tn_tensor *tn_pow_scalar(tn_tensor *a, tn_scalar b);
TN_API tn_tensor *tn_scalar_pow(tn_scalar a, tn_tensor *b);
TN_API tn_status tn_pow_(tn_tensor *self, tn_tensor *b);
TN_API tn_status tn_pow_scalar_(tn_tensor *self, tn_scalar b);
TN_API tn_status tn_pow_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* rsqrt 1/sqrt(x),  sin,  cos,  log1p log(1 + x),  log2,  expm1 e^x - 1,  erf the error function, by the C library.
 * dtype   all but float8 and complex32 (log1p, log2, expm1, erf: no complex ones); integers and bool converted
 * result  x's shape and dtype; of integers and bool the default dtype
 * errors  common
 * grad    x, twice differentiable
 * cost    O(numel)
 * source  torch.rsqrt and its kin */
TN_API tn_tensor *tn_rsqrt(tn_tensor *x);
TN_API tn_status tn_rsqrt_(tn_tensor *self);
TN_API tn_status tn_rsqrt_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_sin(tn_tensor *x);
TN_API tn_status tn_sin_(tn_tensor *self);
TN_API tn_status tn_sin_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_cos(tn_tensor *x);
TN_API tn_status tn_cos_(tn_tensor *self);
TN_API tn_status tn_cos_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_log1p(tn_tensor *x);
TN_API tn_status tn_log1p_(tn_tensor *self);
TN_API tn_status tn_log1p_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_log2(tn_tensor *x);
TN_API tn_status tn_log2_(tn_tensor *self);
TN_API tn_status tn_log2_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_expm1(tn_tensor *x);
TN_API tn_status tn_expm1_(tn_tensor *self);
TN_API tn_status tn_expm1_out(tn_tensor *out, tn_tensor *x);
TN_API tn_tensor *tn_erf(tn_tensor *x);
TN_API tn_status tn_erf_(tn_tensor *self);
TN_API tn_status tn_erf_out(tn_tensor *out, tn_tensor *x);

/* What an element is:  isnan,  isinf (either sign; of complex numbers in either part),  logical_not (whether it is 0).
 * dtype   isnan, isinf: all numbers; logical_not: all but float8, complex32 and uint16 to uint64
 * result  bool, x's shape; the in-place forms write 0 or 1 in self's dtype
 * errors  common
 * grad    none
 * cost    O(numel)
 * source  torch.isnan, torch.isinf, torch.logical_not */
TN_API tn_tensor *tn_isnan(tn_tensor *x);
TN_API tn_tensor *tn_isinf(tn_tensor *x);
TN_API tn_tensor *tn_logical_not(tn_tensor *x);
TN_API tn_status tn_isnan_(tn_tensor *self);
TN_API tn_status tn_isinf_(tn_tensor *self);
TN_API tn_status tn_logical_not_(tn_tensor *self);
TN_API tn_status tn_isnan_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_isinf_out(tn_tensor *out, tn_tensor *x);
TN_API tn_status tn_logical_not_out(tn_tensor *out, tn_tensor *x);

/* Matrix product:  y_ij = sum_k a_ik b_kj.
 * a, b    [m, k] x [k, n] -> [m, n];  [k] x [k] -> [];  a 1-dim operand is a row on the left and a column on the right
 *         (its dim then disappears);  more dims are batches and broadcast: [..., m, k] x [..., k, n] -> [..., m, n].
 *         Any strides; no copy is made of transposed operands
 * dtype   float16 to float64, bfloat16, int8 to int64, uint8, complex64 or complex128, both the same; 16-bit floats are
 *         added in float32 and rounded once, small integers wrap
 * errors  common; TN_ERROR_SHAPE (inner sizes differ; a 0-dim operand), TN_ERROR_DTYPE (two dtypes; out of another
 *         one), TN_ERROR_OVERLAP (out shares memory with an operand)
 * grad    a and b, twice differentiable
 * cost    2 m n k; own kernels for small sizes, OpenBLAS above, the same bits for every thread count
 * source  torch.matmul */
TN_API tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b);
TN_API tn_status tn_matmul_out(tn_tensor *out, tn_tensor *a, tn_tensor *b);

/* Linear layer:  y = x W^T + b.
 * x       [..., in]
 * weight  [out, in], or [in] for a single output
 * bias    NULL, or [out] as a rule. As PyTorch: with an x [rows, in], and with a contiguous one of more or fewer dims
 *         where the bias has one dim or one of another size than 1, a shape that expands to [rows, out] (all leading
 *         dims of x are rows), and the weight has 2 dims; else any shape that broadcasts to y's
 * result  [..., out]; [...] for a weight [in]
 * dtype   as tn_matmul, all the same
 * errors  as tn_matmul
 * grad    x, weight and bias, twice differentiable
 * cost    as tn_matmul
 * source  torch.nn.functional.linear */
TN_API tn_tensor *tn_linear(tn_tensor *x, tn_tensor *weight, tn_tensor *bias);
TN_API tn_status tn_linear_out(tn_tensor *out, tn_tensor *x, tn_tensor *weight, tn_tensor *bias);

/* Reference arithmetic: results whose bits are defined, on every CPU, compiler and thread count; slow.
 * tn_linear_reference adds the products of one element in one of these orders:
 *   TN_ORDER_SEQUENTIAL      fl(x_k w_k) added from k = 0 upwards, then the bias
 *   TN_ORDER_SEQUENTIAL_FMA  the same with one rounding per step: s = fma(x_k, w_k, s)
 *   TN_ORDER_MKL             as PyTorch 2.15's wheel (MKL 2024.2, AVX-512, one thread) was recorded to add in the
 *                            layers of a 2-16-16-1 net on 200 points; for other sizes and CPUs MKL chooses other
 *                            orders. Several outputs: as SEQUENTIAL_FMA. One output: rounded products in eight lanes,
 *                            x_0 and x_1 in lane 0, x_(j+1) in lane j, later blocks of eight likewise, lanes summed
 *                            in halves (4, 2, 1); then the bias
 * tn_sigmoid_reference is 1 / (1 + exp(-x)) with the C library's exp of x's dtype; with TN_ORDER_MKL and float32 as
 * that wheel does on contiguous tensors: SLEEF's expf_u10 bits, and the C library's for the last numel mod 32 elements.
 * x, weight, bias  as in tn_linear
 * result  contiguous, of x's dtype
 * dtype   float32, float64
 * errors  as tn_linear; TN_ERROR_ARGUMENT (no such order), TN_ERROR_DTYPE (tn_sigmoid_reference: another dtype)
 * grad    none
 * cost    2 m n k additions one after another */
typedef enum tn_order { TN_ORDER_SEQUENTIAL, TN_ORDER_SEQUENTIAL_FMA, TN_ORDER_MKL } tn_order;
TN_API tn_tensor *tn_linear_reference(tn_tensor *x, tn_tensor *weight, tn_tensor *bias, tn_order order);
TN_API tn_tensor *tn_sigmoid_reference(tn_tensor *x, tn_order order);

/* Whether a and b have the same shape and equal elements, in the dtype that they promote to; NaN is never equal.
 * dtype   all numbers
 * errors  TN_ERROR_NULL, TN_ERROR_DEVICE (on meta), TN_ERROR_NOT_IMPLEMENTED (a quantised or bits type),
 *         TN_ERROR_MEMORY; then, and while an error is pending, false
 * cost    O(numel)
 * source  torch.equal */
TN_API bool tn_equal(tn_tensor *a, tn_tensor *b);

/* Whether |a - b| <= atol + rtol |b| everywhere, after broadcasting; infinities must be equal, NaN equals NaN if
 * equal_nan. torch's defaults are rtol 1e-5, atol 1e-8.
 * dtype   all numbers, both the same; 16-bit floats are compared in their own arithmetic
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE (two dtypes), TN_ERROR_ARGUMENT (a negative or NaN tolerance), TN_ERROR_SHAPE
 *         (no broadcasting), TN_ERROR_DEVICE (on meta), TN_ERROR_NOT_IMPLEMENTED (a quantised or bits type),
 *         TN_ERROR_MEMORY; then, and while an error is pending, false
 * cost    O(numel)
 * source  torch.allclose */
TN_API bool tn_allclose(tn_tensor *a, tn_tensor *b, double rtol, double atol, bool equal_nan);

/* Asserts that two tensors are close:  |actual - expected| <= atol + rtol |expected|.
 * options  NULL or zeroed: PyTorch's tolerances for the dtype (float16 1e-3, 1e-5; bfloat16 1.6e-2, 1e-5; float32
 *          1.3e-6, 1e-5; float64 1e-7, 1e-7; complex as their parts; float8 in all bits, integers exact; of two
 *          dtypes the larger), checking the dtype
 * dtype    all numbers
 * errors   TN_ERROR_NOT_CLOSE with PyTorch's report as the message, for the first of shape, strides if asked, device,
 *          dtype, values that do not match; TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative or NaN tolerance),
 *          TN_ERROR_DEVICE (both on meta), TN_ERROR_NOT_IMPLEMENTED (a quantised or bits type), TN_ERROR_MEMORY
 * cost     O(numel)
 * source   torch.testing.assert_close */
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
