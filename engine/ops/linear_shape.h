/* The shape rule of linear, which the reference product shares. */
#ifndef TNI_OPS_LINEAR_SHAPE_H
#define TNI_OPS_LINEAR_SHAPE_H

#include "dispatch/op.h"

tn_status tni_linear_shape(tni_call *call, tni_meta *meta);

#endif
