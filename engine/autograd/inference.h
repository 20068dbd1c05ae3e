/* The layer of inference mode. */
#ifndef TNI_AUTOGRAD_INFERENCE_H
#define TNI_AUTOGRAD_INFERENCE_H

#include "dispatch/op.h"

/* Of tensors made in the mode, and of a thread in it. */
tn_status tni_inference_layer(void *context, tni_call *call);

#endif
