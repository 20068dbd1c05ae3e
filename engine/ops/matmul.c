/* matmul: products of vectors, matrices and batches of them. Rules of torch.matmul. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "cpu/level.h"
#include "ops/operators.h"
#include "ops/product.h"
#include "ops/product_grad.h"
#include "ops/product_wide.h"

static tn_status fail_inner(const tni_call *call, const tn_tensor *a, const tn_tensor *b, int64_t a_inner,
                            int64_t b_inner)
{
    char a_text[120], b_text[120];
    tni_text_shape(a_text, sizeof a_text, a->sizes, a->ndim);
    tni_text_shape(b_text, sizeof b_text, b->sizes, b->ndim);
    return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "%s times %s: inner sizes %lld and %lld, needed the same",
                    a_text, b_text, (long long)a_inner, (long long)b_inner);
}

static tn_status matmul_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *a = call->in[0], *b = call->in[1];
    call->level = tni_cpu_level();
    if (tni_product_dtypes(call, a, b))
        return tni_pending();
    if (a->ndim == 0 || b->ndim == 0)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "argument %d has no dims, needed at least one",
                        a->ndim == 0 ? 1 : 2);
    int64_t a_inner = a->sizes[a->ndim - 1], b_inner = b->sizes[b->ndim > 1 ? b->ndim - 2 : 0];
    if (a_inner != b_inner)
        return fail_inner(call, a, b, a_inner, b_inner);
    int a_batch = a->ndim > 2 ? a->ndim - 2 : 0, b_batch = b->ndim > 2 ? b->ndim - 2 : 0;
    int ndim = 0;
    if (a_batch > 0 || b_batch > 0)
        ndim = tni_broadcast(tni_call_name(call), a->sizes, a_batch, b->sizes, b_batch, meta->room);
    if (ndim < 0)
        return tni_pending();
    if (a->ndim > 1)
        meta->room[ndim++] = a->sizes[a->ndim - 2];
    if (b->ndim > 1)
        meta->room[ndim++] = b->sizes[b->ndim - 1];
    if (tni_meta_contiguous(call, meta, ndim, (tn_dtype)a->dtype, (tn_device_type)a->device))
        return tni_pending();
    return tni_product_out(call, meta);
}

static void batch_strides(tni_matrix *matrix, const tni_product *p, const tn_tensor *x)
{
    int own = x->ndim > 2 ? x->ndim - 2 : 0;
    tni_broadcast_strides(x->sizes, x->strides, own, p->batch_sizes, p->batch_ndim, matrix->batch);
    matrix->data = tni_data(x);
}

static void describe(tni_product *p, const tni_call *call)
{
    const tn_tensor *a = call->in[0], *b = call->in[1], *out = call->out[0];
    bool a_vector = a->ndim == 1, b_vector = b->ndim == 1;
    memset(&p->gemm, 0, sizeof p->gemm);
    p->dtype = (tn_dtype)a->dtype;
    p->level = call->level;
    p->reference = false;
    p->batch_ndim = out->ndim - !a_vector - !b_vector;
    memcpy(p->batch_sizes, out->sizes, (size_t)p->batch_ndim * sizeof *p->batch_sizes);
    batch_strides(&p->a, p, a);
    batch_strides(&p->b, p, b);
    memcpy(p->c.batch, out->strides, (size_t)p->batch_ndim * sizeof *p->c.batch);
    p->c.data = tni_data(out);
    p->gemm.m = a_vector ? 1 : a->sizes[a->ndim - 2];
    p->gemm.k = a->sizes[a->ndim - 1];
    p->gemm.n = b_vector ? 1 : b->sizes[b->ndim - 1];
    p->a.row = a_vector ? 0 : a->strides[a->ndim - 2];
    p->a.column = a->strides[a->ndim - 1];
    p->b.row = b->strides[b_vector ? 0 : b->ndim - 2];
    p->b.column = b_vector ? 0 : b->strides[b->ndim - 1];
    p->c.row = a_vector ? 0 : out->strides[out->ndim - 1 - !b_vector];
    p->c.column = b_vector ? 0 : out->strides[out->ndim - 1];
    tni_product_fold(p);
}

static void run_product(const tni_call *call, tni_product *product, void *workspace)
{
    (void)call;
    tni_product_run(product, workspace);
}

static const tni_product_kind kind = {describe, run_product};

static size_t matmul_workspace(const tni_call *call)
{
    tni_product product;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype)))
        return tni_wide_workspace(call, &kind);
    describe(&product, call);
    return tni_product_workspace(&product);
}

static void matmul_run(const tni_call *call, void *workspace)
{
    tni_product product;
    if (TNI_UNLIKELY(tni_is_wide((tn_dtype)call->in[0]->dtype))) {
        tni_wide_run(call, &kind, workspace);
        return;
    }
    describe(&product, call);
    tni_product_run(&product, workspace);
}

/* Two matrices of float32 or float64, as describe has them. */
static bool matmul_light(const tni_call *call)
{
    const tn_tensor *a = call->in[0], *b = call->in[1], *out = call->out[0];
    if (a->ndim != 2 || b->ndim != 2 || (a->dtype != TN_FLOAT32 && a->dtype != TN_FLOAT64))
        return false;
    const int64_t m = a->sizes[0], k = a->sizes[1], n = b->sizes[1];
    const tni_gemm gemm = {.m = m, .n = n, .k = k, .a = tni_data(a), .b = tni_data(b), .c = tni_data(out),
                           .a_row = tni_tame(a->strides[0], m), .a_col = tni_tame(a->strides[1], k),
                           .b_row = tni_tame(b->strides[0], k), .b_col = tni_tame(b->strides[1], n),
                           .c_row = tni_tame(out->strides[0], m), .c_col = tni_tame(out->strides[1], n)};
    return tni_gemm_light(call->level, &gemm, a->dtype == TN_FLOAT64);
}

const tni_op tni_op_matmul = {
    .name = TNI_NAMES_NEW_OUT(matmul),
    .params = {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)},
    .n_params = 2,
    .n_in = 2,
    .n_out = 1,
    .exact_out_dtype = true,
    .dtypes = TNI_PRODUCT_DTYPES,
    .infer = matmul_infer,
    .workspace = matmul_workspace,
    .run = matmul_run, .run_light = matmul_light,
    .zero_through = 3,
    .derivative = &tni_matmul_derivative,
    .samples = "[4] [4] | [3,4] [4] | [4] [4,2] | [3,4] [4,5] | [2,3,4] [4,5] | [2,3,4] [2,4,5] | "
               "[2,1,3,4] [3,4,2] |"
               "[0,4] [4,2] | [3,0] [0,2] | [40,50] [50,60] | ! [3,4] [3,4] | ! [] [3] | ! [2,3,4] [3,4,5]"};

tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *in[2] = {a, b};
    return tni_call_new(&tni_op_matmul, in, NULL);
}

tn_status tn_matmul_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)
{
    tn_tensor *in[2] = {a, b};
    return tni_call_out(&tni_op_matmul, out, in, NULL);
}
