/* linear: y = x W^T + b with weights [out, in]. Rules of torch.nn.functional.linear. The transposed weight is read
 * through its strides. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "base/text.h"
#include "ops/linear_shape.h"
#include "ops/operators.h"
#include "ops/product.h"

tn_status tni_linear_shape(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    const char *name = tni_call_name(call);
    char text[120];
    if (tni_product_dtypes(call, x, weight) || (bias && tni_product_dtypes(call, x, bias)))
        return tni_pending();
    if (weight->ndim != 2)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the weight has %d dims, needed 2: [out, in]", weight->ndim);
    if (x->ndim == 0 || x->sizes[x->ndim - 1] != weight->sizes[1]) {
        char weight_text[60];
        tni_text_shape(text, sizeof text, x->sizes, x->ndim);
        tni_text_shape(weight_text, sizeof weight_text, weight->sizes, 2);
        return TNI_FAIL(TN_ERROR_SHAPE, name, "input %s and weight %s: needed input [..., %lld]", text, weight_text,
                        (long long)weight->sizes[1]);
    }
    if (bias && (bias->ndim != 1 || bias->sizes[0] != weight->sizes[0])) {
        tni_text_shape(text, sizeof text, bias->sizes, bias->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the bias is %s, needed [%lld] as the weight has rows", text,
                        (long long)weight->sizes[0]);
    }
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    meta->room[x->ndim - 1] = weight->sizes[0];
    if (tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device))
        return tni_pending();
    return tni_product_out(call, meta);
}

void tni_linear_product(tni_product *p, const tni_call *call)
{
    const tn_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *out = call->out[0];
    tni_gemm *g = &p->gemm;
    int last = x->ndim - 1;
    p->dtype = (tn_dtype)x->dtype;
    p->reference = false;
    p->batch_ndim = last > 0 ? last - 1 : 0;
    for (int d = 0; d < p->batch_ndim; d++) {
        p->batch_sizes[d] = x->sizes[d];
        p->a.batch[d] = x->strides[d];
        p->b.batch[d] = 0;
        p->c.batch[d] = out->strides[d];
    }
    g->m = last > 0 ? x->sizes[last - 1] : 1;
    g->k = weight->sizes[1];
    g->n = weight->sizes[0];
    g->bias = bias ? tni_data(bias) : NULL;
    g->bias_stride = bias ? bias->strides[0] : 0;
    p->a.data = tni_data(x);
    p->a.row = last > 0 ? x->strides[last - 1] : 0;
    p->a.column = x->strides[last];
    p->b.data = tni_data(weight);
    p->b.row = weight->strides[1];
    p->b.column = weight->strides[0];
    p->c.data = tni_data(out);
    p->c.row = last > 0 ? out->strides[last - 1] : 0;
    p->c.column = out->strides[last];
    tni_product_fold(p);
}

static size_t linear_workspace(const tni_call *call)
{
    tni_product product;
    tni_linear_product(&product, call);
    return tni_product_workspace(&product);
}

static void linear_run(const tni_call *call, void *workspace)
{
    tni_product product;
    tni_linear_product(&product, call);
    tni_product_run(&product, workspace);
}

const tni_op tni_op_linear = {
    .name = TNI_NAMES_NEW_OUT(linear),
    .params = {TNI_TENSOR("input", 0), TNI_TENSOR("weight", 1), TNI_OPTIONAL_TENSOR("bias", 2)}, .n_params = 3,
    .n_in = 3, .n_out = 1, .optional_in = 4, .exact_out_dtype = true, .dtypes = TNI_PRODUCT_DTYPES,
    .infer = tni_linear_shape, .workspace = linear_workspace, .run = linear_run,
    .samples = "[5,3] [4,3] [4] | [5,3] [4,3] | [3] [4,3] [4] | [2,5,3] [4,3] [4] | [0,3] [4,3] [4] | "
        "[5,0] [4,0] [4] |"
        "[20,16] [1,16] [1] | [50,33] [40,33] [40] | ! [5,4] [4,3] [4] | ! [5,3] [4,3] [3] | ! [5,3] [3] | "
        "! [] [4,1]"};

tn_tensor *tn_linear(tn_tensor *x, tn_tensor *weight, tn_tensor *bias)
{
    tn_tensor *in[3] = {x, weight, bias};
    return tni_call_new(&tni_op_linear, in, NULL);
}

tn_status tn_linear_out(tn_tensor *out, tn_tensor *x, tn_tensor *weight, tn_tensor *bias)
{
    tn_tensor *in[3] = {x, weight, bias};
    return tni_call_out(&tni_op_linear, out, in, NULL);
}
