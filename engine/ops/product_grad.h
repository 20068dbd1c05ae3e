/* Derivatives of products: matmul, and x W^T + b however it is added up. */
#ifndef TNI_OPS_PRODUCT_GRAD_H
#define TNI_OPS_PRODUCT_GRAD_H

#include "autograd/derivative.h"

extern const tni_derivative tni_matmul_derivative, tni_linear_derivative;

#endif
