/* Views with something left to do: tensors whose elements are to be read conjugated or negated, or as zeros that have
 * no memory.
 *
 * Note [Lazy bits]
 * Three dispatch keys of a tensor say how its elements differ from what its storage holds:
 *
 *     TNI_KEY_CONJ   the imaginary part has the other sign     (conj of a complex tensor)
 *     TNI_KEY_NEG    all of it has the other sign              (imag of such a conj)
 *     TNI_KEY_ZERO   every element is 0; the storage has no memory (an absent tangent)
 *
 * Views carry them along. No kernel knows of them: the dispatcher's lazy layer (dispatch/lazy.c) hands kernels tensors
 * without, and whoever reads elements past the dispatcher goes through the functions here. */
#ifndef TNI_CORE_LAZY_H
#define TNI_CORE_LAZY_H

#include "core/tensor.h"

enum { TNI_CONJ_BIT = 32, TNI_NEG_BIT, TNI_ZERO_BIT };

#define TNI_KEY_CONJ  (UINT64_C(1) << TNI_CONJ_BIT)
#define TNI_KEY_NEG   (UINT64_C(1) << TNI_NEG_BIT)
#define TNI_KEY_ZERO  (UINT64_C(1) << TNI_ZERO_BIT)
#define TNI_KEYS_LAZY (TNI_KEY_CONJ | TNI_KEY_NEG | TNI_KEY_ZERO)

/* What a view's record says of lazy bits that change (tni_record.toggle). */
static inline uint8_t tni_toggle(uint64_t keys)
{
    return (uint8_t)((keys & TNI_KEYS_LAZY) >> TNI_CONJ_BIT);
}

static inline bool tni_is_lazy(const tn_tensor *x)
{
    return TNI_UNLIKELY((x->keys & TNI_KEYS_LAZY) != 0);
}

/* The elements of x in memory of their own, without lazy bits, in x's order of strides; held by the innermost scope. On
 * meta the bits alone go. NULL with an error raised in the name of `function`. */
tn_tensor *tni_resolved(const char *function, tn_tensor *x);

/* Writes the elements of `from`, which has no lazy bits, x's sizes and dtype, into x, so that x then reads as `from`.
 * x is no zero tensor. */
void tni_store_through(tn_tensor *x, const tn_tensor *from);

/* Copies the element of x at `address` to `element` and does what x's bits say. Of a zero tensor: 0 whatever the
 * address. */
void tni_read_element(const tn_tensor *x, const void *address, void *element);

#endif
