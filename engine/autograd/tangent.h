/* Where tangents are kept. See Note [Tangents] in autograd/tangent.c. */
#ifndef TNI_AUTOGRAD_TANGENT_H
#define TNI_AUTOGRAD_TANGENT_H

#include "autograd/tape.h"

/* x's tangent: its own, or, of a view, its part of the base's, which is its own from then on. Not held for the caller.
 * NULL: none; or an error. */
tn_tensor *tni_tangent_find(const char *function, tn_tensor *x);

static inline tn_tensor *tni_tangent_of(const char *function, tn_tensor *x)
{
    return TNI_LIKELY(!(tni_keys(x) & TNI_KEY_DUAL)) ? NULL : tni_tangent_find(function, x);
}

/* Gives x, which has none, a tangent of its shape in that level. A copy is taken where t is not laid out as x. written:
 * it came by a write into x, so that x's base gets it, too. */
tn_status tni_tangent_put(const char *function, tn_tensor *x, tn_tensor *t, uint64_t level, bool written);

/* Zeros laid out as x, in that dtype, for a tangent of x. The innermost scope holds them. */
tn_tensor *tni_tangent_zeros(const tn_tensor *x, tn_dtype dtype);

/* Gives `to` the tangent of `from`, if there is one: both are the same elements. */
tn_status tni_tangent_hand_on(const char *function, tn_tensor *from, tn_tensor *to);

/* Takes the tangent away. */
void tni_tangent_drop(tni_tape *tape);

/* tn_enter_dual_level, once the tape has begun. */
tn_status tni_dual_enter(void);

#endif
