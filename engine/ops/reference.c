/* Reference arithmetic: linear and sigmoid whose every rounding is defined. The orders are described in tenon/ops.h;
 * the sums are cpu/gemm_reference.h's. Slow on purpose: they are what other results are measured against. */
#include <math.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "cpu/sleef_twin.h"
#include "ops/copy.h"
#include "ops/linear_shape.h"
#include "ops/operators.h"
#include "ops/product.h"
#include "ops/product_grad.h"

#define REAL_DTYPES (TNI_DTYPE_BIT(TN_FLOAT32) | TNI_DTYPE_BIT(TN_FLOAT64))

typedef struct order_attr {
    int64_t order;
} order_attr;

static tn_status check_order(const tni_call *call)
{
    int64_t order = ((const order_attr *)call->attr)->order;
    if (order >= TN_ORDER_SEQUENTIAL && order <= TN_ORDER_MKL)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "order %lld, needed %d .. %d", (long long)order,
                    TN_ORDER_SEQUENTIAL, TN_ORDER_MKL);
}

static tn_status linear_reference_infer(tni_call *call, tni_meta *meta)
{
    return check_order(call) ? tni_pending() : tni_linear_shape(call, meta);
}

static void linear_reference_run(const tni_call *call, void *workspace)
{
    tni_product product;
    tni_linear_product(&product, call);
    product.reference = true;
    product.order = (tn_order)((const order_attr *)call->attr)->order;
    tni_linear_run(call, &product, workspace);
}

/* The result is contiguous whatever x is: where an element stands decides which exp it gets. */
static tn_status sigmoid_reference_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    if (check_order(call))
        return tni_pending();
    if (!(REAL_DTYPES & TNI_DTYPE_BIT(x->dtype)))
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the tensor is %s, needed float32 or float64",
                        tn_dtype_name((tn_dtype)x->dtype));
    for (int d = 0; d < x->ndim; d++)
        meta->room[d] = x->sizes[d];
    return tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

static void sigmoid_reference_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    enum { TORCH_VECTOR = 32 }; /* PyTorch's AVX-512 loop takes two vectors of 16 at a time; the rest is scalar */
    const tn_tensor *out = call->out[0];
    int64_t n = out->numel, vectors = n - n % TORCH_VECTOR;
    bool torch = ((const order_attr *)call->attr)->order == TN_ORDER_MKL;
    tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, call->in[0]);
    if ((tn_dtype)out->dtype == TN_FLOAT64) {
        double *y = (double *)(void *)tni_data(out);
        for (int64_t i = 0; i < n; i++)
            y[i] = 1 / (1 + exp(-y[i]));
        return;
    }
    float *y = (float *)(void *)tni_data(out);
    for (int64_t i = 0; i < n; i++)
        y[i] = 1 / (1 + (torch && i < vectors ? tni_sleef_expf(-y[i]) : expf(-y[i])));
}

/* grad y (1 - y), in ordinary arithmetic. */
static void sigmoid_reference_vjp(tni_vjp *v)
{
    tn_tensor *y = tni_saved_result(v);
    v->grads[0] = tn_mul(v->grad, tn_sub(y, tn_mul(y, y)));
}

static const tni_derivative sigmoid_reference_derivative = {.saves = {TNI_SAVE_RESULT}, .vjp = sigmoid_reference_vjp};

#define ORDER TNI_OPTIONAL("order", 'I', order_attr, order)

const tni_op tni_op_linear_reference = {
    .name = TNI_NAMES_NEW(linear_reference),
    .params = {TNI_TENSOR("input", 0), TNI_TENSOR("weight", 1), TNI_OPTIONAL_TENSOR("bias", 2), ORDER}, .n_params = 4,
    .n_in = 3, .n_out = 1, .optional_in = 4, .dtypes = REAL_DTYPES, .attr_bytes = sizeof(order_attr),
    .derivative = &tni_linear_derivative, .infer = linear_reference_infer, .run = linear_reference_run,
    .samples = "[5,3] [4,3] [4] 0 | [5,3] [4,3] none 1 | [5,16] [1,16] [1] 2 | [2,5,3] [4,3] [4] 2 | "
        "[0,3] [4,3] [4] 0 |" "! [5,3] [4,3] [4] 3 | ! [5,4] [4,3] [4] 0"};

const tni_op tni_op_sigmoid_reference = {
    .name = TNI_NAMES_NEW(sigmoid_reference), .params = {TNI_TENSOR("self", 0), ORDER}, .n_params = 2, .n_in = 1,
    .n_out = 1, .dtypes = REAL_DTYPES, .attr_bytes = sizeof(order_attr), .derivative = &sigmoid_reference_derivative,
    .infer = sigmoid_reference_infer,
    .run = sigmoid_reference_run,
    .samples = "[3,4] 0 | [50] 2 | [] 1 | [0] 0 | ! [3] -1"};

tn_tensor *tn_linear_reference(tn_tensor *x, tn_tensor *weight, tn_tensor *bias, tn_order order)
{
    tn_tensor *in[3] = {x, weight, bias};
    const order_attr attr = {order};
    return tni_call_new(&tni_op_linear_reference, in, &attr);
}

tn_tensor *tn_sigmoid_reference(tn_tensor *x, tn_order order)
{
    const order_attr attr = {order};
    return tni_call_new(&tni_op_sigmoid_reference, &x, &attr);
}
