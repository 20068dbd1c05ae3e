/* The derivatives that unary.def names. */
#ifndef TNI_OPS_UNARY_DERIVATIVES_H
#define TNI_OPS_UNARY_DERIVATIVES_H

#include "autograd/derivative.h"

/* Of steps: the gradient is zero wherever there is one. */
extern const tni_derivative tni_zero_derivative;

#define TNI_UNARY(name, rule, lanes, dtypes, derivative) extern const tni_derivative tni_##name##_derivative;
#include "ops/unary.def"
#undef TNI_UNARY

#endif
