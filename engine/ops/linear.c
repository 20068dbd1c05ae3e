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
#include "ops/product_grad.h"
#include "ops/product_wide.h"

/* Whether all dims but the last `kept` ones have size 1. */
static bool has_ones_before(const tn_tensor *x, int kept)
{
    for (int d = 0; d < x->ndim - kept; d++)
        if (x->sizes[d] != 1)
            return false;
    return true;
}

/* The bias as a vector over the outputs: [out], [1, out], or one number. Others are added afterwards. */
static bool is_vector(const tn_tensor *bias)
{
    return has_ones_before(bias, 1);
}

/* As PyTorch, whose addmm adds this bias to the matrix [rows, out] that the input's leading dims are flattened to: for
 * an input [rows, in] always; for other contiguous ones where the bias has one dim, or one of another size than 1. */
static bool is_of_rows(const tn_tensor *x, const tn_tensor *bias)
{
    int longer = 0;
    if (x->ndim == 2 || bias->ndim == 0)
        return x->ndim == 2;
    for (int d = 0; d < bias->ndim; d++)
        longer += bias->sizes[d] != 1;
    return tni_contiguous(x) && (bias->ndim == 1 || longer == 1);
}

static tn_status check_bias_of_rows(const tni_call *call, const tni_meta *meta)
{
    const tn_tensor *weight = call->in[1], *bias = call->in[2];
    const tni_record *record = &meta->record;
    if (weight->ndim != 2)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call),
                        "the weight has 1 dim and a bias comes with it, needed 2 ([out, in])");
    int64_t out = weight->sizes[0], rows = 1;
    for (int d = 0; d < record->ndim - 1; d++) /* fits: x has as many rows */
        rows *= record->sizes[d];
    int n = bias->ndim;
    if (n <= 2 && (n < 1 || bias->sizes[n - 1] == 1 || bias->sizes[n - 1] == out) &&
        (n < 2 || bias->sizes[0] == 1 || bias->sizes[0] == rows))
        return TN_OK;
    char have[100];
    tni_text_shape(have, sizeof have, bias->sizes, n);
    return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the bias is %s, needed a shape that expands to [%lld, %lld]",
                    have, (long long)rows, (long long)out);
}

static tn_status check_bias(const tni_call *call, const tni_meta *meta)
{
    const tn_tensor *bias = call->in[2];
    if (is_of_rows(call->in[0], bias))
        return check_bias_of_rows(call, meta);
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
    for (int d = 0; d < x->ndim - 1; d++)
        meta->room[d] = x->sizes[d];
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
    g->bias_stride = bias && bias->numel > 1 ? bias->strides[bias->ndim - 1] : 0;
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

/* The strides at which the result's elements meet the bias's: broadcast to the result, or where it is of rows, to the
 * flattened one. Where both are possible they are the same. */
static void bias_strides(const tn_tensor *bias, const tn_tensor *out, int64_t *strides)
{
    int last = out->ndim - 1;
    bool broadcasts = bias->ndim <= out->ndim;
    for (int d = 0; broadcasts && d < bias->ndim; d++)
        broadcasts = bias->sizes[d] == 1 || bias->sizes[d] == out->sizes[out->ndim - bias->ndim + d];
    if (broadcasts) {
        tni_broadcast_strides(bias->sizes, bias->strides, bias->ndim, out->sizes, out->ndim, strides);
        return;
    }
    strides[last] = bias->sizes[1] == 1 ? 0 : bias->strides[1];
    int64_t step = bias->strides[0];
    for (int d = last - 1; d >= 0; step *= out->sizes[d--])
        strides[d] = step;
}

void tni_linear_run(const tni_call *call, tni_product *product, void *workspace)
{
    const tn_tensor *bias = call->in[2], *out = call->out[0];
    tni_product_run(product, workspace);
    if (!bias || is_vector(bias))
        return;
    static const tni_alpha unused;
    int64_t strides[TN_MAX_NDIM];
    bias_strides(bias, out, strides);
    const tni_loop *lanes = tni_pointwise_levels[product->level]->binary[TNI_BINARY_add];
    tni_iter it;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, product->dtype);
    tni_iter_tensor(&it, out, product->dtype);
    tni_iter_operand(&it, tni_data(bias), out->sizes, strides, out->ndim, (tn_dtype)bias->dtype,
                     product->dtype);
    tni_iter_run(&it, lanes[tni_lane_of(product->dtype)], &unused);
}

static const tni_product_kind kind = {tni_linear_product, tni_linear_run};

static size_t linear_workspace(const tni_call *call)
{
    tni_product product;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype)))
        return tni_wide_workspace(call, &kind);
    tni_linear_product(&product, call);
    return tni_product_workspace(&product);
}

static void linear_run(const tni_call *call, void *workspace)
{
    tni_product product;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype))) {
        tni_wide_run(call, &kind, workspace);
        return;
    }
    tni_linear_product(&product, call);
    tni_linear_run(call, &product, workspace);
}

/* Rows of float32 or float64 and a bias that is a vector or none, as tni_linear_product has them. */
static bool linear_light(const tni_call *call)
{
    const tn_tensor *x = call->in[0], *weight = call->in[1], *bias = call->in[2], *out = call->out[0];
    if (x->ndim != 2 || weight->ndim != 2 || (bias && bias->ndim != 1) ||
        (x->dtype != TN_FLOAT32 && x->dtype != TN_FLOAT64))
        return false;
    const int64_t m = x->sizes[0], k = x->sizes[1], n = weight->sizes[0];
    const tni_gemm gemm = {.m = m, .n = n, .k = k, .a = tni_data(x), .b = tni_data(weight), .c = tni_data(out),
                           .bias = bias ? tni_data(bias) : NULL,
                           .bias_stride = bias && bias->numel > 1 ? bias->strides[0] : 0,
                           .a_row = tni_tame(x->strides[0], m), .a_col = tni_tame(x->strides[1], k),
                           .b_row = tni_tame(weight->strides[1], k), .b_col = tni_tame(weight->strides[0], n),
                           .c_row = tni_tame(out->strides[0], m), .c_col = tni_tame(out->strides[1], n)};
    return tni_gemm_light(call->level, &gemm, x->dtype == TN_FLOAT64);
}

const tni_op tni_op_linear = {
    .name = TNI_NAMES_NEW_OUT(linear),
    .params = {TNI_TENSOR("input", 0), TNI_TENSOR("weight", 1), TNI_OPTIONAL_TENSOR("bias", 2)}, .n_params = 3,
    .n_in = 3, .n_out = 1, .optional_in = 4, .exact_out_dtype = true, .dtypes = TNI_PRODUCT_DTYPES,
    .derivative = &tni_linear_derivative, .infer = tni_linear_shape, .workspace = linear_workspace, .run = linear_run,
    .run_light = linear_light,
    .samples = "[5,3] [4,3] [4] | [5,3] [4,3] | [3] [4,3] [4] | [2,5,3] [4,3] [4] | [0,3] [4,3] [4] | "
        "[5,0] [4,0] [4] | [20,16] [1,16] [1] | [50,33] [40,33] [40] | ! [5,4] [4,3] [4] | ! [5,3] [3] [] | "
        "[2,5,3] [3] [] | [3] [3] | [5,3] [4,3] [1] | [5,3] [4,3] [5,1] | [2,5,3] [4,3] [5,4] | ! [5,3] [4,3] [3] | "
        "! [5,3] [2] | ! [3] [4,3] [2,4] | ! [] [4,1]"};

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
