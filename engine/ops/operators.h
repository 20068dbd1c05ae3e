/* The operators' structs, declared from the list. */
#ifndef TNI_OPS_OPERATORS_H
#define TNI_OPS_OPERATORS_H

#include "dispatch/op.h"

#define TNI_OP(name) extern const tni_op tni_op_##name;
#include "ops/ops.def"
#undef TNI_OP

#endif
