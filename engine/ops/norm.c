/* norm: the length of all elements together, sqrt(sum x^2). As torch.linalg.vector_norm; at 0 its gradient is 0. */
#include <math.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "core/convert.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

enum { BLOCK = 256, LANES = 8 };

static tn_status norm_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    return tni_meta_contiguous(call, meta, 0, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

/* The sum of squares in float64, row by row, in lanes that do not depend on the CPU level. */
static void norm_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[0];
    const tn_dtype dtype = (tn_dtype)x->dtype;
    const tni_converter widen = tni_converter_of(dtype, TN_FLOAT64);
    const int last = x->ndim - 1;
    const int64_t itemsize = tni_itemsize(dtype), row = x->ndim > 0 ? x->sizes[last] : 1;
    const bool dense = tni_contiguous(x);
    double lanes[LANES] = {0}, block[BLOCK];
    (void)workspace;
    for (int64_t i = 0, n; i < x->numel; i += n) {
        int64_t at = dense ? i : 0, left = dense ? x->numel - i : row - i % row;
        for (int64_t d = last, rest = i; d >= 0 && !dense; rest /= x->sizes[d--])
            at += rest % x->sizes[d] * x->strides[d];
        n = left < BLOCK ? left : BLOCK;
        widen(block, 8, tni_data(x) + at * itemsize, itemsize * (dense ? 1 : x->strides[last]), n);
        for (int64_t k = 0; k < n; k++)
            lanes[(i + k) % LANES] += block[k] * block[k];
    }
    double y = sqrt(((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])));
    tni_converter_of(TN_FLOAT64, dtype)(tni_data(call->out[0]), 0, &y, 0, 1);
}

/* grad x / y, 0 where y is. */
static void norm_vjp(tni_vjp *v)
{
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    tn_tensor *zero = tn_eq_scalar(y, tn_int(0));
    tn_tensor *scale = tn_masked_fill(tn_div(v->grad, tn_masked_fill(y, zero, tn_int(1))), zero, tn_int(0));
    v->grads[0] = tn_mul(x, scale);
}

static const tni_derivative norm_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = norm_vjp, .name = "LinalgVectorNormBackward0"};

const tni_op tni_op_norm = {
    .name = TNI_NAMES_NEW(norm), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .exact_out_dtype = true, .dtypes = TNI_FLOATS, .infer = norm_infer, .run = norm_run,
    .derivative = &norm_derivative, .samples = "[3,4] | [5] | [] | [0,3] | [600]"};

tn_tensor *tn_norm(tn_tensor *x)
{
    return tni_call_new(&tni_op_norm, &x, NULL);
}
