/* What derivatives of element by element operators share. */
#ifndef TNI_OPS_DERIVE_H
#define TNI_OPS_DERIVE_H

#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>

#include "autograd/derivative.h"
#include "ops/pointwise.h"

/* Gradients are times the conjugate of the slope; of real numbers that is the slope itself. */
static inline tn_tensor *tni_conj_of(tn_tensor *x)
{
    return x && tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX ? tn_conj(x) : x;
}

static inline tn_scalar tni_conj_of_number(tn_scalar x)
{
    if (x.kind == TN_SCALAR_COMPLEX)
        x.value.c.im = -x.value.c.im;
    return x;
}

/* The gradient of what does not change the result. */
static inline tn_tensor *tni_no_slope(const tni_vjp *v)
{
    return tn_zeros_like(v->grad, TN_DTYPE_NONE, TN_PRESERVE_FORMAT);
}

/* Whether an element is 0, where quotients are no derivative; of META nobody knows. ops/prod.c. */
bool tni_has_zero(tn_tensor *x);

/* The numbers that stand in for operands, in a binary operator's attributes. */
static inline tn_scalar tni_number_of(const tni_vjp *v, int i)
{
    return ((const tni_binary_attr *)v->attr)->number[i];
}

#endif
