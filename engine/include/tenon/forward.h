/* Forward mode: tangents that are computed beside values.
 *
 * Inside a level, a tensor can be given a tangent: the rate at which it changes. Every operator on it then computes the
 * tangent of its result, too: one pass gives a product with the Jacobian, J t. Semantics are those of
 * torch.autograd.forward_ad. Reverse mode goes on beside it, so that either can be differentiated by the other:
 *
 *     tn_enter_dual_level();
 *     tn_tensor *x = tn_make_dual(point, direction);
 *     tn_tensor *y = tn_mul(x, x);
 *     tn_tensor *dy = tn_tangent(y);                 2 point direction
 *     tn_exit_dual_level();
 *
 * An operator whose derivative is not written for this mode gets its tangent from that of reverse mode: the gradient of
 * the inputs is linear in that of the result, and the transpose of this map takes tangents forward.
 *
 * Views      a view of a tensor that has a tangent has the view of it: they are one memory, as the values are
 * In place   a write changes the tangent in place; the first tangent that comes to a view reaches its base
 * Without    comparisons, detach, results of integer dtypes; what is made in inference mode. no_grad does not switch
 *            tangents off
 *
 * Threads    a level is the thread's. Others may use tensors that have a tangent as long as the level is open. */
#ifndef TENON_FORWARD_H
#define TENON_FORWARD_H

#include <stdbool.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Opens the thread's level. There is one: levels are not nested.
 * errors  TN_ERROR_FORWARD_AD (one is open), TN_ERROR_MEMORY
 * source  torch.autograd.forward_ad.enter_dual_level */
TN_API tn_status tn_enter_dual_level(void);

/* Closes it: every tensor that got a tangent in it has none any more. The level is closed even while an error is
 * pending.
 * errors  TN_ERROR_FORWARD_AD (none is open)
 * cost    O(tensors that have a tangent)
 * source  torch.autograd.forward_ad.exit_dual_level */
TN_API tn_status tn_exit_dual_level(void);

/* Whether the thread's level is open.
 * errors  none */
TN_API bool tn_in_dual_level(void);

/* A view of x that has a tangent. x itself gets none, nor do its other views.
 * x        floating or complex, without a tangent
 * tangent  floating or complex, x's shape, without a tangent. It is taken itself (and written by in-place operators on
 *          the result) if it is laid out as x is, offset included; else it is copied
 * errors   TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_FORWARD_AD, TN_ERROR_MEMORY
 * grad     x and tangent
 * source   torch.autograd.forward_ad.make_dual */
TN_API tn_tensor *tn_make_dual(tn_tensor *x, tn_tensor *tangent);

/* The two halves: a view of x without the tangent (x itself, a new reference, when no level is open), and the tangent
 * itself (a new reference), NULL when there is none.
 * errors   TN_ERROR_NULL, TN_ERROR_MEMORY
 * grad     x
 * source   torch.autograd.forward_ad.unpack_dual */
TN_API tn_tensor *tn_primal(tn_tensor *x);
TN_API tn_tensor *tn_tangent(tn_tensor *x);

TN_END

#endif
