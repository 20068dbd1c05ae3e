/* Comparisons: eq, ne, lt, le, gt, ge; logical and, or, xor. Compared in the promoted dtype, bool comes out. */
#include <tenon/ops.h>

#include "autograd/derivative.h"
#include "base/error.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

static tn_status compare_infer(tni_call *call, tni_meta *meta)
{
    tn_dtype dtype;
    if (tni_binary_shape(call, meta, &dtype))
        return tni_pending();
    /* in place the 0 or 1 takes self's dtype, whatever it is */
    meta->record.dtype = call->form == TNI_IN_PLACE ? (uint8_t)call->in[0]->dtype : TN_BOOL;
    return tni_set_loop(call, tni_pointwise_levels[tni_cpu_level()]->compare[call->op->family], dtype);
}

static void compare_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    tni_run_pointwise(call, 2, TN_BOOL, NULL);
}

#define OPERANDS TNI_OPERAND("self", 0, tni_binary_attr, number[0]), TNI_OPERAND("other", 1, tni_binary_attr, number[1])
#define SAMPLES "[3,4] [3,4] | [3,4] [4] | [] [2,3] | [0,4] [4] | [3,4] 2 | [5] 2.5 | 3 [5] | ! [3] [4] | ! 1 2"

#define TNI_COMPARE(op, operator, lanes, dtype_set)                                                           \
    const tni_op tni_op_##op = {                                                                              \
        .name = TNI_NAMES(op), .params = {OPERANDS}, .n_params = 2, .n_in = 2, .n_out = 1, .number_in = 3,  \
        .dtypes = dtype_set, .attr_bytes = sizeof(tni_binary_attr), .attr_default = &tni_binary_default, \
        .derivative = &tni_constant, .infer = compare_infer,\
        .run = compare_run, .family = TNI_COMPARE_##op, .samples = SAMPLES};          \
    TNI_BINARY_FRONTS(op)
#include "ops/compare.def"
#include "ops/logical.def"
#undef TNI_COMPARE
