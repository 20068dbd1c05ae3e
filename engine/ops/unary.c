/* One operand, element by element: a row of unary.def each. */
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

#define NUMBERS_DTYPES (TNI_DTYPE_BIT(TN_FLOAT32) | TNI_DTYPE_BIT(TN_FLOAT64) | TNI_DTYPE_BIT(TN_INT64))
#define REALS_DTYPES (NUMBERS_DTYPES | TNI_DTYPE_BIT(TN_BOOL)) /* integers and bool come in, converted */

enum { KEEP, FLOATS };

static const unsigned char rules[TNI_UNARY_COUNT] = {
#define TNI_UNARY(name, rule, lanes) [TNI_UNARY_##name] = rule,
#include "ops/unary.def"
#undef TNI_UNARY
};

static tn_status unary_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    tn_dtype dtype = (tn_dtype)x->dtype;
    if (rules[call->op->family] == FLOATS && !tni_is_float(dtype) && tni_dtype_kind(dtype) <= TNI_INT)
        dtype = tn_get_default_dtype();
    else if (TNI_UNLIKELY(dtype == TN_BOOL))
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the tensor is bool, needed numbers");
    tni_meta_like(meta, x, dtype);
    call->dense = x->contiguous && (tn_dtype)x->dtype == dtype;
    return tni_set_loop(call, tni_pointwise_levels[tni_cpu_level()]->unary[call->op->family], dtype);
}

static void unary_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    tni_run_pointwise(call, 1, call->compute, NULL);
}

#define UNARY_OP(op, lanes)                                                                                         \
    const tni_op tni_op_##op = {.name = TNI_NAMES(op), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, \
                                .n_out = 1, .dtypes = lanes##_DTYPES, .infer = unary_infer, .run = unary_run,       \
                                .family = TNI_UNARY_##op, .samples = "[3,4] | [] | [0,3] | [2,3,4] | [37]"};        \
                                                                                                                    \
    tn_tensor *tn_##op(tn_tensor *x)                                                                                \
    {                                                                                                               \
        return tni_call_new(&tni_op_##op, &x, NULL);                                                                \
    }                                                                                                               \
                                                                                                                    \
    tn_status tn_##op##_(tn_tensor *self)                                                                           \
    {                                                                                                               \
        return tni_call_in_place(&tni_op_##op, &self, NULL);                                                        \
    }                                                                                                               \
                                                                                                                    \
    tn_status tn_##op##_out(tn_tensor *out, tn_tensor *x)                                                           \
    {                                                                                                               \
        return tni_call_out(&tni_op_##op, out, &x, NULL);                                                           \
    }
#define TNI_UNARY(name, rule, lanes) UNARY_OP(name, lanes)
#include "ops/unary.def"
#undef TNI_UNARY
