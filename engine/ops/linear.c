/* linear: y = x W^T + b with weights [out, in]. Rules of torch.nn.functional.linear. The transposed weight is read
 * through its strides. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "ops/linear_shape.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/product.h"
#include "ops/product_wide.h"

/* The bias as a vector over the outputs: [out], or one number. Others are added afterwards. */
static bool is_vector(const tn_tensor *bias)
{
    return bias->ndim <= 1 || bias->numel == 1;
}

static tn_status check_bias(const tni_call *call, const tni_meta *meta)
{
    const tn_tensor *bias = call->in[2];
    const tni_record *record = &meta->record;
    int64_t sizes[TN_MAX_NDIM];
    int ndim = tni_broadcast(tni_call_name(call), record->sizes, record->ndim, bias->sizes, bias->ndim, sizes);
    if (ndim < 0)
        return tni_pending();
    if (tni_same_dims(sizes, ndim, record->sizes, record->ndim))
        return TN_OK;
    char have[100], need[100];
    tni_text_shape(have, sizeof have, bias->sizes, bias->ndim);
    tni_text_shape(need, sizeof need, record->sizes, record->ndim);
    return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the bias is %s, needed a shape that broadcasts to %s", have,
                    need);
}

tn_status tni_linear_shape(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2];
    const char *name = tni_call_name(call);
    call->level = tni_cpu_level();
    if (tni_product_dtypes(call, x, weight) || (bias && tni_product_dtypes(call, x, bias)))
        return tni_pending();
    if (weight->ndim != 1 && weight->ndim != 2)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the weight has %d dims, needed 2 ([out, in]) or 1 ([in])", weight->ndim);
    int64_t in = weight->sizes[weight->ndim - 1];
    if (x->ndim == 0 || x->sizes[x->ndim - 1] != in) {
        char x_text[100], weight_text[60];
        tni_text_shape(x_text, sizeof x_text, x->sizes, x->ndim);
        tni_text_shape(weight_text, sizeof weight_text, weight->sizes, weight->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, name, "input %s and weight %s, needed input [..., %lld]", x_text, weight_text,
                        (long long)in);
    }
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    meta->room[x->ndim - 1] = weight->sizes[0];
    int ndim = weight->ndim == 2 ? x->ndim : x->ndim - 1;
    if (tni_meta_contiguous(call, meta, ndim, (tn_dtype)x->dtype, (tn_device_type)x->device))
        return tni_pending();
    if (bias && check_bias(call, meta))
        return tni_pending();
    return tni_product_out(call, meta);
}

void tni_linear_product(tni_product *p, const tni_call *call)
{
    const tn_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *out = call->out[0];
    tni_gemm *g = &p->gemm;
    int last = x->ndim - 1;
    bool row = weight->ndim == 1; /* one output, whose dim is left off */
    p->dtype = (tn_dtype)x->dtype;
    p->level = call->level;
    p->reference = false;
    p->batch_ndim = last > 0 ? last - 1 : 0;
    for (int d = 0; d < p->batch_ndim; d++) {
        p->batch_sizes[d] = x->sizes[d];
        p->a.batch[d] = x->strides[d];
        p->b.batch[d] = 0;
        p->c.batch[d] = out->strides[d];
    }
    g->m = last > 0 ? x->sizes[last - 1] : 1;
    g->k = x->sizes[last];
    g->n = row ? 1 : weight->sizes[0];
    g->bias = bias && is_vector(bias) ? tni_data(bias) : NULL;
    g->bias_stride = bias && bias->numel > 1 ? bias->strides[0] : 0;
    p->a.data = tni_data(x);
    p->a.row = last > 0 ? x->strides[last - 1] : 0;
    p->a.column = x->strides[last];
    p->b.data = tni_data(weight);
    p->b.row = weight->strides[weight->ndim - 1];
    p->b.column = row ? 0 : weight->strides[0];
    p->c.data = tni_data(out);
    p->c.row = last > 0 ? out->strides[last - 1] : 0;
    p->c.column = row ? 0 : out->strides[last];
    tni_product_fold(p);
}

void tni_linear_run(const tni_call *call, tni_product *product, void *workspace)
{
    const tn_tensor *bias = call->in[2], *out = call->out[0];
    tni_product_run(product, workspace);
    if (!bias || is_vector(bias))
        return;
    static const tni_alpha unused;
    const tni_loop *lanes = tni_pointwise_levels[product->level]->binary[TNI_BINARY_add];
    tni_iter it;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, product->dtype);
    tni_iter_tensor(&it, out, product->dtype);
    tni_iter_tensor(&it, bias, product->dtype);
    tni_iter_run(&it, lanes[tni_lane_of(product->dtype)], &unused);
}

static size_t linear_workspace(const tni_call *call)
{
    tni_product product;
    tni_wide wide;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype))) {
        tni_wide_begin(&wide, call);
        tni_linear_product(&product, &wide.call);
        return wide.bytes + tni_product_workspace(&product);
    }
    tni_linear_product(&product, call);
    return tni_product_workspace(&product);
}

static TNI_ASIDE void run_wide(const tni_call *call, char *workspace)
{
    tni_product product;
    tni_wide wide;
    tni_wide_begin(&wide, call);
    tni_wide_load(&wide, call, workspace);
    tni_linear_product(&product, &wide.call);
    tni_linear_run(&wide.call, &product, workspace + wide.bytes);
    tni_wide_store(&wide, call);
}

static void linear_run(const tni_call *call, void *workspace)
{
    tni_product product;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype))) {
        run_wide(call, workspace);
        return;
    }
    tni_linear_product(&product, call);
    tni_linear_run(call, &product, workspace);
}

const tni_op tni_op_linear = {
    .name = TNI_NAMES_NEW_OUT(linear),
    .params = {TNI_TENSOR("input", 0), TNI_TENSOR("weight", 1), TNI_OPTIONAL_TENSOR("bias", 2)}, .n_params = 3,
    .n_in = 3, .n_out = 1, .optional_in = 4, .exact_out_dtype = true, .dtypes = TNI_PRODUCT_DTYPES,
    .infer = tni_linear_shape, .workspace = linear_workspace, .run = linear_run,
    .samples = "[5,3] [4,3] [4] | [5,3] [4,3] | [3] [4,3] [4] | [2,5,3] [4,3] [4] | [0,3] [4,3] [4] | "
        "[5,0] [4,0] [4] |"
        "[20,16] [1,16] [1] | [50,33] [40,33] [40] | ! [5,4] [4,3] [4] | [5,3] [3] [] | [3] [3] | [5,3] [4,3] [1] | "
        "[5,3] [4,3] [5,1] | [2,5,3] [4,3] [5,4] | ! [5,3] [4,3] [3] | ! [5,3] [2] | ! [3] [4,3] [2,4] | "
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
