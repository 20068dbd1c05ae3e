/* Derivatives of matrix products, in matrix products:
 *
 *     y = a b             grad_a = grad b^H           grad_b = a^H grad
 *     y = x W^T + bias    grad_x = grad conj(W)       grad_W = grad^T conj(x)      grad_bias = sums of grad's columns
 *
 * A 1-dim operand is a row on the left and a column on the right; batches that were repeated are summed by the walk,
 * or are rows of one product from the start. */
#include "ops/product_grad.h"

#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "autograd/node.h"
#include "base/error.h"

static tn_tensor *conjugate(tn_tensor *x)
{
    return x && tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX ? tn_conj(x) : x;
}

static tn_tensor *transposed(tn_tensor *x)
{
    return x ? tn_transpose(x, -2, -1) : NULL;
}

static tn_tensor *as_row(tn_tensor *x)
{
    return x && x->ndim == 1 ? tn_unsqueeze(x, 0) : x;
}

/* x as a matrix of rows of n elements; n > 0 or x is empty. */
static tn_tensor *as_rows(tn_tensor *x, int64_t n)
{
    if (!x || (x->ndim == 2 && x->sizes[1] == n))
        return x;
    return tn_reshape(x, (int64_t[]){n > 0 ? x->numel / n : 0, n}, 2);
}

/* The ranks of the operands of a recorded matmul, and its gradient with the dims back that 1-dim ones dropped. */
static tn_tensor *matrix_grad(const tni_vjp *v, int a_ndim, int b_ndim)
{
    tn_tensor *grad = v->grad;
    if (b_ndim == 1)
        grad = tn_unsqueeze(grad, -1);
    return grad && a_ndim == 1 ? tn_unsqueeze(grad, -2) : grad;
}

static void matmul_vjp(tni_vjp *v)
{
    const bool for_a = tni_needs(v, 0), for_b = tni_needs(v, 1);
    tn_tensor *a = for_b ? tni_saved_input(v, 0) : NULL, *b = for_a ? tni_saved_input(v, 1) : NULL;
    if ((for_b && !a) || (for_a && !b))
        return;
    const int a_ndim = a ? a->ndim : tni_input_shape(v, 0).ndim, b_ndim = b ? b->ndim : tni_input_shape(v, 1).ndim;
    if (a_ndim == 1 && b_ndim == 1) {
        v->grads[0] = b ? tn_mul(v->grad, conjugate(b)) : NULL;
        v->grads[1] = a ? tn_mul(v->grad, conjugate(a)) : NULL;
        return;
    }
    tn_tensor *grad = matrix_grad(v, a_ndim, b_ndim);
    if (b) {
        b = conjugate(b);
        b = b_ndim == 1 ? as_row(b) : transposed(b);
        v->grads[0] = tn_matmul(grad, b);
        if (a_ndim == 1 && v->grads[0])
            v->grads[0] = tn_squeeze_dim(v->grads[0], -2);
    }
    if (!a)
        return;
    a = as_row(conjugate(a));
    if (a_ndim > 2 && b_ndim <= 2 && a && grad) { /* the sum over batches is part of the product */
        int64_t rows = 1, columns = grad->sizes[grad->ndim - 1], inner = a->sizes[a_ndim - 1];
        for (int d = 0; d < a_ndim - 1; d++)
            rows *= a->sizes[d];
        grad = tn_reshape(grad, (int64_t[]){rows, columns}, 2);
        a = tn_reshape(a, (int64_t[]){rows, inner}, 2);
    }
    v->grads[1] = tn_matmul(transposed(a), grad);
    if (b_ndim == 1 && v->grads[1])
        v->grads[1] = tn_squeeze_dim(v->grads[1], -1);
}

/* The gradient of a bias that was added to the rows of a matrix [rows, out], whatever x's dims were. */
static tn_tensor *bias_grad(const tni_vjp *v)
{
    const tni_shape bias = tni_input_shape(v, 2), y = tni_result_shape(v);
    if (bias.ndim != 2 || y.ndim <= 2 || bias.sizes[0] == 1 || bias.sizes[0] == y.sizes[y.ndim - 2])
        return v->grad;
    return as_rows(v->grad, y.sizes[y.ndim - 1]);
}

static void linear_vjp(tni_vjp *v)
{
    const bool for_x = tni_needs(v, 0), for_w = tni_needs(v, 1);
    tn_tensor *x = for_w ? tni_saved_input(v, 0) : NULL, *w = for_x ? tni_saved_input(v, 1) : NULL;
    if ((for_w && !x) || (for_x && !w))
        return;
    const tni_shape y = tni_result_shape(v);
    const bool vector = w ? w->ndim == 1 : for_w && tni_input_shape(v, 1).ndim == 1;
    tn_tensor *grad = vector ? tn_unsqueeze(v->grad, -1) : v->grad;
    if (for_x)
        v->grads[0] = tn_matmul(grad, as_row(conjugate(w)));
    if (tni_needs(v, 2))
        v->grads[2] = bias_grad(v);
    if (!for_w || !grad)
        return;
    const int64_t out = vector ? 1 : y.sizes[y.ndim - 1], in = x->sizes[x->ndim - 1];
    tn_tensor *rows = as_rows(conjugate(x), in);
    tn_tensor *columns = as_rows(grad, out);
    if (out == 0 || in == 0) { /* no rows can be counted, and nothing is in the weight */
        v->grads[1] = tn_zeros((int64_t[]){out, in}, 2, (tn_dtype)x->dtype);
        return;
    }
    v->grads[1] = tn_matmul(transposed(columns), rows);
    if (vector && v->grads[1])
        v->grads[1] = tn_squeeze_dim(v->grads[1], 0);
}

static int saved_ndim(const tni_node *node, int input)
{
    const tni_saved *saved = tni_node_saved(node);
    for (int i = 0; i < node->n_saved; i++)
        if (saved[i].what == input && saved[i].tensor)
            return saved[i].tensor->ndim;
    return -1;
}

/* PyTorch makes both of mm, mv, dot and bmm, which its nodes are named after. */
static const char *matmul_node(const tni_node *node)
{
    if (node->ndim == 0)
        return "DotBackward0";
    if (node->ndim == 1)
        return saved_ndim(node, 0) == 1 || saved_ndim(node, 1) >= 2 ? "SqueezeBackward4" : "MvBackward0";
    int a = saved_ndim(node, 0), b = saved_ndim(node, 1);
    return node->ndim == 2 && (a < 0 || a == 2) && (b < 0 || b == 2) ? "MmBackward0" : "UnsafeViewBackward0";
}

static const char *linear_node(const tni_node *node)
{
    const bool bias = node->n_edges > 2 && node->edges[2];
    if (node->ndim == 2)
        return bias ? "AddmmBackward0" : "MmBackward0";
    if (node->ndim < 2)
        return bias ? "AddBackward0" : saved_ndim(node, 1) == 1 ? "MvBackward0" : "SqueezeBackward4";
    return bias ? "ViewBackward0" : "UnsafeViewBackward0";
}

const tni_derivative tni_matmul_derivative = {
    .saves = {TNI_SAVE(1), TNI_SAVE(0)}, .vjp = matmul_vjp, .named = matmul_node};
const tni_derivative tni_linear_derivative = {
    .saves = {TNI_SAVE(1), TNI_SAVE(0), 0}, .vjp = linear_vjp, .named = linear_node};
