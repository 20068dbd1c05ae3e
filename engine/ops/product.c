/* Running batches of matrix products. */
#include "ops/product.h"

#include <string.h>

#include "base/error.h"
#include "core/overlap.h"
#include "ops/product_i64.h"

void tni_product_fold(tni_product *p)
{
    tni_gemm *g = &p->gemm;
    /* the last batch dim becomes rows: its steps must continue a's and c's rows, and b must be the same throughout */
    while (p->batch_ndim > 0) {
        int d = p->batch_ndim - 1;
        int64_t size = p->batch_sizes[d];
        bool continues = g->m == 1 || size == 1 ||
                         (p->a.batch[d] == p->a.row * g->m && p->c.batch[d] == p->c.row * g->m);
        if (!continues || (size != 1 && p->b.batch[d] != 0))
            break;
        if (size != 1) {
            if (g->m == 1) {
                p->a.row = p->a.batch[d];
                p->c.row = p->c.batch[d];
            }
            g->m *= size;
        }
        p->batch_ndim--;
    }
    g->a_row = tni_tame(p->a.row, g->m);
    g->a_col = tni_tame(p->a.column, g->k);
    g->b_row = tni_tame(p->b.row, g->k);
    g->b_col = tni_tame(p->b.column, g->n);
    g->c_row = tni_tame(p->c.row, g->m);
    g->c_col = tni_tame(p->c.column, g->n);
}

size_t tni_product_workspace(const tni_product *p)
{
    if (p->dtype == TN_INT64 || tni_dtype_kind(p->dtype) == TNI_COMPLEX || p->reference)
        return 0;
    return tni_gemm_workspace(p->level, &p->gemm, p->dtype == TN_FLOAT64);
}

/* Complex numbers are added in double. */
#define PRODUCT_COMPLEX(name, T)                                                                              \
    static void name(const tni_gemm *g)                                                                       \
    {                                                                                                         \
        for (int64_t i = 0; i < g->m; i++) {                                                                  \
            for (int64_t j = 0; j < g->n; j++) {                                                              \
                const T *a = (const T *)g->a + 2 * i * g->a_row, *b = (const T *)g->b + 2 * j * g->b_col;     \
                const T *bias = g->bias ? (const T *)g->bias + 2 * j * g->bias_stride : NULL;                 \
                double re = bias ? (double)bias[0] : 0, im = bias ? (double)bias[1] : 0;                      \
                for (int64_t k = 0; k < g->k; k++) {                                                          \
                    const T *x = a + 2 * k * g->a_col, *y = b + 2 * k * g->b_row;                             \
                    re += (double)x[0] * (double)y[0] - (double)x[1] * (double)y[1];                          \
                    im += (double)x[0] * (double)y[1] + (double)x[1] * (double)y[0];                          \
                }                                                                                             \
                T *c = (T *)g->c + 2 * (i * g->c_row + j * g->c_col);                                         \
                c[0] = (T)re;                                                                                 \
                c[1] = (T)im;                                                                                 \
            }                                                                                                 \
        }                                                                                                     \
    }
PRODUCT_COMPLEX(product_c64, float)
PRODUCT_COMPLEX(product_c128, double)

void tni_product_run(tni_product *p, void *workspace)
{
    int64_t itemsize = tni_itemsize(p->dtype), batches = 1;
    for (int d = 0; d < p->batch_ndim; d++)
        batches *= p->batch_sizes[d];
    for (int64_t batch = 0; batch < batches; batch++) {
        int64_t rest = batch, a = 0, b = 0, c = 0;
        for (int d = p->batch_ndim - 1; d >= 0; d--) {
            int64_t index = rest % p->batch_sizes[d];
            rest /= p->batch_sizes[d];
            a += index * p->a.batch[d];
            b += index * p->b.batch[d];
            c += index * p->c.batch[d];
        }
        p->gemm.a = p->a.data + a * itemsize;
        p->gemm.b = p->b.data + b * itemsize;
        p->gemm.c = (char *)p->c.data + c * itemsize;
        if (p->dtype == TN_INT64)
            tni_product_i64(p->level, &p->gemm);
        else if (tni_dtype_kind(p->dtype) == TNI_COMPLEX)
            (p->dtype == TN_COMPLEX64 ? product_c64 : product_c128)(&p->gemm);
        else if (p->reference)
            (p->dtype == TN_FLOAT64 ? tni_gemm_reference_f64 : tni_gemm_reference_f32)(&p->gemm, p->order);
        else
            (p->dtype == TN_FLOAT64 ? tni_gemm_f64 : tni_gemm_f32)(p->level, &p->gemm, workspace);
    }
}

tn_status tni_product_dtypes(const tni_call *call, const tn_tensor *a, const tn_tensor *b)
{
    if (TNI_UNLIKELY(a->dtype != b->dtype))
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call),
                        "%s is %s and %s is %s, needed the same; convert one with tn_to", call->op->params[0].name,
                        tn_dtype_name((tn_dtype)a->dtype), call->op->params[b == call->in[1] ? 1 : 2].name,
                        tn_dtype_name((tn_dtype)b->dtype));
    if (TNI_UNLIKELY(!(call->op->dtypes & TNI_DTYPE_BIT(a->dtype))))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call), "no kernel for %s on cpu",
                        tn_dtype_name((tn_dtype)a->dtype));
    return TN_OK;
}

tn_status tni_product_out(const tni_call *call, const tni_meta *meta)
{
    if (TNI_LIKELY(call->form == TNI_NEW))
        return TN_OK;
    const tn_tensor *out = call->out[0];
    bool resized = !tni_same_dims(out->sizes, out->ndim, meta->record.sizes, meta->record.ndim);
    for (int i = 0; i < call->op->n_in; i++) {
        const tn_tensor *x = call->in[i];
        if (x && (x->storage == out->storage ? resized || tni_may_share(out, x) : tni_may_share(out, x)))
            return TNI_FAIL(TN_ERROR_OVERLAP, tni_call_name(call),
                            "out shares memory with %s, which is read while out is written", call->op->params[i].name);
    }
    return TN_OK;
}
