/* The static table of all operators. */
#include "ops/operators.h"

const tni_op *const tni_operators[] = {
#define TNI_OP(name) &tni_op_##name,
#include "ops/ops.def"
#undef TNI_OP
};

const int tni_operator_count = sizeof tni_operators / sizeof *tni_operators;
