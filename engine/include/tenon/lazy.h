/* Tensors whose elements are not what their memory says: views that read it conjugated or negated, and zeros that have
 * none.
 *
 * Such a tensor carries a bit, as in PyTorch; making it costs a view. Views of it carry the bit along. Every other
 * operator sees a tensor without: one layer of the dispatcher resolves it first, and one that is written in place reads
 * afterwards as what was written. Raw data is not given out as long as a bit is set: tn_data and its kin refuse, and
 * name the function that resolves it. */
#ifndef TENON_LAZY_H
#define TENON_LAZY_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/tensor.h>

TN_BEGIN

/* The complex conjugate, as a view of x with the conj bit the other way round.
 * x       any dtype
 * y       complex: a view with x's geometry; writing it writes x. Real: x itself (a new reference)
 * errors  TN_ERROR_NULL, TN_ERROR_MEMORY
 * grad    x, twice differentiable
 * cost    O(ndim)
 * source  torch.conj */
TN_API tn_tensor *tn_conj(tn_tensor *x);

/* x without the bit: x itself (a new reference) if it is not set, else a copy in x's order of strides, in which the
 * other bit is settled too.
 * errors  TN_ERROR_NULL, TN_ERROR_OVERFLOW, TN_ERROR_MEMORY
 * grad    x, twice differentiable
 * cost    O(1), or O(numel) for the copy
 * source  torch.resolve_conj, torch.resolve_neg */
TN_API tn_tensor *tn_resolve_conj(tn_tensor *x);
TN_API tn_tensor *tn_resolve_neg(tn_tensor *x);

/* The conjugate as a tensor of its own; of a real x, x itself (a new reference).
 * errors  as tn_resolve_conj
 * grad    x, twice differentiable
 * cost    O(numel), of a real x O(1)
 * source  torch.conj_physical */
TN_API tn_tensor *tn_conj_physical(tn_tensor *x);

/* Zeros of that shape without memory, on the CPU: what stands for an absent tangent. Products with it are zero tensors
 * again, whatever the other factor; other operators take it for zeros. It cannot be written: tn_clone gives zeros that
 * can.
 * dtype   any; TN_DTYPE_NONE: the thread's default dtype
 * errors  as tn_empty
 * cost    O(ndim)
 * source  torch._efficientzerotensor */
TN_API tn_tensor *tn_zero_tensor(const int64_t *size, int ndim, tn_dtype dtype);

/* Whether the bit is set. false for NULL.
 * errors  TN_ERROR_NULL
 * source  torch.is_conj, torch.is_neg, torch._is_zerotensor */
TN_API bool tn_is_conj(const tn_tensor *x);
TN_API bool tn_is_neg(const tn_tensor *x);
TN_API bool tn_is_zero_tensor(const tn_tensor *x);

TN_END

#endif
