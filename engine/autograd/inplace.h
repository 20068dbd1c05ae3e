/* Recording of calls that write into a tensor. */
#ifndef TNI_AUTOGRAD_INPLACE_H
#define TNI_AUTOGRAD_INPLACE_H

#include "dispatch/op.h"

/* The recording layer's part for in-place and out= calls. */
tn_status tni_record_write(tni_call *call);

#endif
