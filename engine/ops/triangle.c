/* tril, triu: the triangles of matrices. Rules of torch.tril and torch.triu. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "ops/copy.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/tape.h"

enum { LOWER, UPPER };

typedef struct triangle_attr {
    int64_t k;
} triangle_attr;

static tn_status triangle_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    if (x->ndim < 2)
        return TNI_FAIL(TN_ERROR_DIM, tni_call_name(call), "the tensor has %d dims, needed at least 2", x->ndim);
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call), "no kernel for %s on cpu",
                        tn_dtype_name((tn_dtype)x->dtype));
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    return tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

/* Row i keeps its first `kept` columns of the lower triangle, or loses them of the upper one. */
static int64_t kept(int64_t i, int64_t k, int64_t columns, int family)
{
    int64_t most = INT64_MAX - i - 1, shift = k > most ? most : k;
    int64_t edge = i + shift + (family == LOWER ? 1 : 0);
    return edge < 0 ? 0 : edge > columns ? columns : edge;
}

static void triangle_run(const tni_call *call, void *workspace)
{
    const tn_tensor *out = call->out[0], *x = call->in[0];
    int64_t k = ((const triangle_attr *)call->attr)->k, itemsize = tni_itemsize((tn_dtype)out->dtype);
    int last = out->ndim - 1, family = call->op->family;
    int64_t rows = out->sizes[last - 1], columns = out->sizes[last], step = out->strides[last] * itemsize;
    (void)workspace;
    if (out != x)
        tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, x);
    for (int64_t row = 0; row < out->numel / columns; row++) {
        int64_t rest = row / rows, i = row % rows, at = i * out->strides[last - 1];
        for (int d = last - 2; d >= 0; d--) {
            at += rest % out->sizes[d] * out->strides[d];
            rest /= out->sizes[d];
        }
        int64_t edge = kept(i, k, columns, family);
        char *y = tni_data(out) + at * itemsize;
        for (int64_t c = family == LOWER ? edge : 0; c < (family == LOWER ? columns : edge); c++)
            memset(y + c * step, 0, (size_t)itemsize);
    }
}

/* The same triangle of the gradient. */
static void triangle_vjp(tni_vjp *v)
{
    v->grads[0] = tni_call_new(v->node->op, &v->grad, v->attr);
}

static const tni_derivative triangle_derivative = {.linear = true, .vjp = triangle_vjp};

#define TRIANGLE(op, row)                                                                                       \
    const tni_op tni_op_##op = {                                                                                \
        .name = {#op, #op "_", NULL},                                                                           \
        .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("diagonal", 'I', triangle_attr, k)}, .n_params = 2,      \
        .n_in = 1, .n_out = 1,                                                                                  \
        .dtypes = TNI_REALS | TNI_BOOLS | TNI_COMPLEXES | TNI_COMPLEX_HALF, .attr_bytes = sizeof(triangle_attr), \
        .infer = triangle_infer, .run = triangle_run, .derivative = &triangle_derivative, .family = row,        \
        .samples = "[3,4] | [4,3] 1 | [3,3] -1 | [2,3,4] | [0,3] | [3,0] | [3,4] 100 | ! [4] | ! []"};          \
                                                                                                                \
    tn_tensor *tn_##op(tn_tensor *x, int64_t k)                                                                 \
    {                                                                                                           \
        const triangle_attr attr = {k};                                                                         \
        return tni_call_new(&tni_op_##op, &x, &attr);                                                           \
    }                                                                                                           \
                                                                                                                \
    tn_status tn_##op##_(tn_tensor *self, int64_t k)                                                            \
    {                                                                                                           \
        const triangle_attr attr = {k};                                                                         \
        return tni_call_in_place(&tni_op_##op, &self, &attr);                                                   \
    }
TRIANGLE(tril, LOWER)
TRIANGLE(triu, UPPER)
