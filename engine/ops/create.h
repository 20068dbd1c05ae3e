/* What the operators that make tensors share. */
#ifndef TNI_OPS_CREATE_H
#define TNI_OPS_CREATE_H

#include "dispatch/op.h"

/* Whether dtype can hold the value as fill_ and full want it; 0 goes into every dtype. */
tn_status tni_check_value(const char *name, tn_scalar value, tn_dtype dtype);

/* The same for fill_ and full of numel elements: a single element of 16 or 8 bits takes any number, rounded as a
 * conversion does, as in PyTorch. */
tn_status tni_check_fill(const char *name, tn_scalar value, tn_dtype dtype, int64_t numel);

/* Writes a checked value everywhere. */
void tni_fill(const tn_tensor *out, tn_scalar scalar);

#endif
