/* One operand, element by element: a row of unary.def each. */
#include <tenon/ops.h>

#include "base/error.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/unary_derivatives.h"

enum { KEEP, FLOATS, MODULUS, TRUTH, COUNTS };

static const unsigned char rules[TNI_UNARY_COUNT] = {
#define TNI_UNARY(name, rule, lanes, dtypes, derivative) [TNI_UNARY_##name] = rule,
#include "ops/unary.def"
#undef TNI_UNARY
};

static tn_status unary_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_loop *lanes = tni_pointwise_levels[tni_cpu_level()]->unary[call->op->family];
    tn_dtype dtype = (tn_dtype)x->dtype, result = dtype;
    int rule = rules[call->op->family];
    if (TNI_UNLIKELY(!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))) {
        if (dtype == TN_BOOL)
            return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the tensor is bool, needed numbers");
        return tni_fail_no_kernel(call, dtype);
    }
    if (rule == FLOATS && tni_dtype_kind(dtype) <= TNI_INT)
        result = dtype = tn_get_default_dtype();
    else if (rule == COUNTS && dtype == TN_BOOL)
        result = dtype = TN_INT64;
    else if (rule == TRUTH)
        result = TN_BOOL;
    else if (rule == MODULUS && TNI_UNLIKELY(tni_dtype_kind(dtype) == TNI_COMPLEX)) {
        result = tni_real_dtype(dtype);
        if (call->form == TNI_IN_PLACE)
            return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the result is %s, which does not replace %s",
                            tn_dtype_name(result), tn_dtype_name(dtype));
    }
    if (rule == TRUTH && call->form == TNI_IN_PLACE)
        result = dtype; /* the 0 or 1 takes self's dtype */
    if (TNI_UNLIKELY(rule == MODULUS && result != dtype)) { /* as empty_like lays it out */
        tni_meta_preserved(meta, x);
        meta->record.dtype = (uint8_t)result;
    } else {
        tni_meta_of_one(meta, x, result);
    }
    call->dense = tni_contiguous(x) && (tn_dtype)x->dtype == dtype;
    return tni_set_loop(call, lanes, dtype);
}

/* The dtype that the loop writes. */
static tn_dtype written_dtype(const tni_call *call)
{
    if (rules[call->op->family] == TRUTH)
        return TN_BOOL;
    return rules[call->op->family] == MODULUS ? tni_real_dtype(call->compute) : call->compute;
}

static void unary_run(const tni_call *call, void *workspace)
{
    static const int64_t all_bits = -1, one_bit = 1;
    (void)workspace;
    tni_run_pointwise(call, 1, written_dtype(call), call->common == TN_BOOL ? &one_bit : &all_bits);
}

#define UNARY_OP(op, dtype_set, its_derivative)                                                                     \
    const tni_op tni_op_##op = {.name = TNI_NAMES(op), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, \
                                .n_out = 1, .dtypes = dtype_set, .infer = unary_infer, .run = unary_run,            \
                                .derivative = &its_derivative, .family = TNI_UNARY_##op,                            \
                                .samples = "[3,4] | [] | [0,3] | [2,3,4] | [37]"};                                  \
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
#define TNI_UNARY(name, rule, lanes, dtypes, derivative) UNARY_OP(name, dtypes, derivative)
#include "ops/unary.def"
#undef TNI_UNARY
