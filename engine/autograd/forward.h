/* The layer that computes tangents. */
#ifndef TNI_AUTOGRAD_FORWARD_H
#define TNI_AUTOGRAD_FORWARD_H

#include "dispatch/op.h"

tn_status tni_dual_layer(void *context, tni_call *call);

#endif
