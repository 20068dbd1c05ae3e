/* What the operators that make tensors share. */
#ifndef TNI_OPS_CREATE_H
#define TNI_OPS_CREATE_H

#include "dispatch/op.h"

/* Whether dtype can hold the value as fill_ and full want it; 0 goes into every dtype. */
tn_status tni_check_value(const char *name, tn_scalar value, tn_dtype dtype);

/* Writes a checked value everywhere. */
void tni_fill(const tn_tensor *out, tn_scalar scalar);

#endif
