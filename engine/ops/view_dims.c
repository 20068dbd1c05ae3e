/* Views that move, add or drop dims: transpose, swapaxes, swapdims, t, T, mT, H, mH, adjoint, permute, movedim,
 * moveaxis, unsqueeze, squeeze. Rules of torch. */
#include <tenon/lazy.h>
#include <tenon/views.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "dispatch/op.h"
#include "ops/operators.h"
#include "ops/reduce_attr.h"
#include "ops/tape.h"

typedef struct pair_attr {
    int64_t dim0, dim1;
} pair_attr;

typedef struct move_attr {
    tni_ints source, destination;
} move_attr;

typedef struct dim_attr {
    tni_ints dims; /* data NULL and n 0: all */
} dim_attr;

/* Families of matrix_infer: what may be transposed, and whether complex numbers are conjugated. */
enum { TRANSPOSES, CONJUGATES, CONJUGATES_ONE };

static inline void swap_dims(tni_meta *meta, tn_tensor *x, int a, int b)
{
    int64_t *sizes, *strides;
    const int ndim = x->ndim;
    tni_meta_view_dims(meta, x, ndim, &sizes, &strides);
    for (int d = 0; d < ndim; d++) {
        int from = d == a ? b : d == b ? a : d;
        sizes[d] = x->sizes[from];
        strides[d] = x->strides[from];
    }
}

/* Dim d of the result is dim order[d] of x. */
static void order_dims(tni_meta *meta, tn_tensor *x, const int *order)
{
    int64_t *sizes, *strides;
    tni_meta_view_dims(meta, x, x->ndim, &sizes, &strides);
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[order[d]];
        strides[d] = x->strides[order[d]];
    }
}

static tn_status transpose_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const pair_attr *attr = call->attr;
    uint64_t ndim = (uint64_t)x->ndim;
    if (TNI_LIKELY((uint64_t)attr->dim0 < ndim && (uint64_t)attr->dim1 < ndim)) {
        swap_dims(meta, x, (int)attr->dim0, (int)attr->dim1);
        return TN_OK;
    }
    int a = tni_wrap_dim(tni_call_name(call), attr->dim0, x->ndim);
    int b = a < 0 ? -1 : tni_wrap_dim(tni_call_name(call), attr->dim1, x->ndim);
    if (b < 0)
        return tni_pending();
    if (x->ndim == 0)
        tni_meta_view(meta, x);
    else
        swap_dims(meta, x, a, b);
    return TN_OK;
}

static tn_status t_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    if (TNI_UNLIKELY(x->ndim > 2))
        return TNI_FAIL(TN_ERROR_DIM, tni_call_name(call), "the tensor has %d dims, needed at most 2", x->ndim);
    if (x->ndim < 2)
        tni_meta_view(meta, x);
    else
        swap_dims(meta, x, 0, 1);
    return TN_OK;
}

static tn_status T_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    int order[TN_MAX_NDIM];
    for (int d = 0; d < x->ndim; d++)
        order[d] = x->ndim - 1 - d;
    order_dims(meta, x, order);
    return TN_OK;
}

/* mT, mH, adjoint, H: the last two dims, of matrices; H of one matrix alone. A tensor without dims passes. */
static tn_status matrix_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const char *name = tni_call_name(call);
    bool conjugates = call->op->family != TRANSPOSES;
    if (x->ndim == 1 || (x->ndim > 2 && call->op->family == CONJUGATES_ONE))
        return TNI_FAIL(TN_ERROR_DIM, name, "the tensor has %d dims, needed %s", x->ndim,
                        call->op->family == CONJUGATES_ONE ? "2" : "2 or more");
    if (x->ndim == 0 && !(conjugates && tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX)) {
        meta->same = x;
        return TN_OK;
    }
    if (x->ndim == 0)
        tni_meta_view(meta, x);
    else
        swap_dims(meta, x, x->ndim - 2, x->ndim - 1);
    if (conjugates && tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX)
        meta->record.toggle = tni_toggle(TNI_KEY_CONJ);
    return TN_OK;
}

/* The dims of a list, wrapped, none twice, into `at`. */
static tn_status distinct_dims(const char *name, const char *what, const tn_tensor *x, const tni_ints *dims, int *at)
{
    uint64_t seen = 0;
    if (dims->n > 0 && !dims->data)
        return TNI_FAIL_NULL(name, 2, what);
    for (int i = 0; i < dims->n; i++) {
        at[i] = tni_wrap_dim(name, dims->data[i], x->ndim);
        if (at[i] < 0)
            return tni_pending();
        if (seen & (UINT64_C(1) << at[i]))
            return TNI_FAIL(TN_ERROR_DIM, name, "dim %d stands twice in %s, needed each once", at[i], what);
        seen |= UINT64_C(1) << at[i];
    }
    return TN_OK;
}

static tn_status permute_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const tni_ints *dims = &((const dim_attr *)call->attr)->dims;
    int order[TN_MAX_NDIM];
    if (dims->n != x->ndim)
        return TNI_FAIL(TN_ERROR_DIM, "permute", "%d dims named of a tensor of %d, needed each once", dims->n, x->ndim);
    if (distinct_dims("permute", "dims", x, dims, order))
        return tni_pending();
    order_dims(meta, x, order);
    return TN_OK;
}

/* Dims `source` go to the places `destination`; the others keep their order. */
static tn_status movedim_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const move_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    int from[TN_MAX_NDIM], to[TN_MAX_NDIM], order[TN_MAX_NDIM], n = attr->source.n;
    uint64_t moved = 0;
    if (n != attr->destination.n)
        return TNI_FAIL(TN_ERROR_DIM, name, "%d source dims and %d destinations, needed as many", n,
                        attr->destination.n);
    if (n > (x->ndim > 0 ? x->ndim : 1))
        return TNI_FAIL(TN_ERROR_DIM, name, "%d dims named of a tensor of %d, needed each once", n, x->ndim);
    if (distinct_dims(name, "source", x, &attr->source, from) ||
        distinct_dims(name, "destination", x, &attr->destination, to))
        return tni_pending();
    for (int d = 0; d < x->ndim; d++)
        order[d] = -1;
    for (int i = 0; i < n && x->ndim > 0; i++) {
        order[to[i]] = from[i];
        moved |= UINT64_C(1) << from[i];
    }
    int next = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (order[d] >= 0)
            continue;
        while (moved & (UINT64_C(1) << next))
            next++;
        order[d] = next++;
    }
    order_dims(meta, x, order);
    return TN_OK;
}

static tn_status unsqueeze_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const pair_attr *attr = call->attr;
    int ndim = x->ndim + 1;
    const char *name = tni_call_name(call);
    if (ndim > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "the tensor has %d dims already, the most there can be", x->ndim);
    int dim = tni_wrap_new_dim(name, attr->dim0, x->ndim);
    if (dim < 0)
        return tni_pending();
    int64_t *sizes, *strides;
    tni_meta_view_dims(meta, x, ndim, &sizes, &strides);
    for (int d = 0; d < ndim; d++) {
        int from = d < dim ? d : d - 1;
        sizes[d] = d == dim ? 1 : x->sizes[from];
        strides[d] = d == dim ? 1 : x->strides[from];
    }
    if (dim < x->ndim && !tni_mul_i64(x->sizes[dim], x->strides[dim], &strides[dim]))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "size %lld times stride %lld is more than 64 bits hold",
                        (long long)x->sizes[dim], (long long)x->strides[dim]);
    return TN_OK;
}

static tn_status squeeze_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    uint64_t named;
    const tni_ints *dims = &((const dim_attr *)call->attr)->dims;
    if (tni_reduced_dims(tni_call_name(call), x, dims, &named))
        return tni_pending();
    if (dims->data && dims->n == 0) /* a list that names none */
        named = 0;
    int64_t *sizes, *strides;
    uint64_t left_out = 0;
    for (int d = 0; d < x->ndim; d++)
        left_out |= x->sizes[d] == 1 ? named & (UINT64_C(1) << d) : 0;
    tni_meta_view_dims(meta, x, x->ndim - __builtin_popcountll(left_out), &sizes, &strides);
    for (int d = 0, kept = 0; d < x->ndim; d++) {
        if (left_out & (UINT64_C(1) << d))
            continue;
        sizes[kept] = x->sizes[d];
        strides[kept++] = x->strides[d];
    }
    return TN_OK;
}

static void transpose_vjp(tni_vjp *v)
{
    const pair_attr *attr = v->attr;
    v->grads[0] = tn_transpose(v->grad, (int)attr->dim0, (int)attr->dim1);
}

static void t_vjp(tni_vjp *v)
{
    v->grads[0] = tn_t(v->grad);
}

static void T_vjp(tni_vjp *v)
{
    v->grads[0] = tn_T(v->grad);
}

static bool conjugates(const tni_node *node)
{
    return node->op->family != TRANSPOSES && tni_dtype_kind((tn_dtype)node->dtype) == TNI_COMPLEX;
}

static void matrix_vjp(tni_vjp *v)
{
    tn_tensor *grad = v->grad->ndim > 1 ? tn_transpose(v->grad, -2, -1) : v->grad;
    v->grads[0] = grad && conjugates(v->node) ? tn_conj(grad) : grad;
}

static void permute_vjp(tni_vjp *v)
{
    const tni_ints *dims = &((const dim_attr *)v->attr)->dims;
    int64_t back[TN_MAX_NDIM];
    for (int d = 0; d < dims->n; d++)
        back[dims->data[d] < 0 ? dims->data[d] + dims->n : dims->data[d]] = d;
    v->grads[0] = tn_permute(v->grad, back, dims->n);
}

static void movedim_vjp(tni_vjp *v)
{
    const move_attr *attr = v->attr;
    v->grads[0] = tn_movedim(v->grad, attr->destination.data, attr->source.data, attr->source.n);
}

static void unsqueeze_vjp(tni_vjp *v)
{
    v->grads[0] = tn_squeeze_dim(v->grad, (int)((const pair_attr *)v->attr)->dim0);
}

static const char *transpose_node(const tni_node *node)
{
    return node->form == TNI_IN_PLACE ? "TransposeBackward1" : "TransposeBackward0";
}

static const char *t_node(const tni_node *node)
{
    return node->form == TNI_IN_PLACE ? "TBackward1" : "TBackward0";
}

static const char *matrix_node(const tni_node *node)
{
    return conjugates(node) ? "ConjBackward0" : "TransposeBackward0";
}

static const char *unsqueeze_node(const tni_node *node)
{
    return node->form == TNI_IN_PLACE ? "UnsqueezeBackward1" : "UnsqueezeBackward0";
}

/* Of all dims, of one, of several. */
static const char *squeeze_node(const tni_node *node)
{
    static const char *const names[2][3] = {{"SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2"},
                                            {"SqueezeBackward3", "SqueezeBackward4", "SqueezeBackward5"}};
    const tni_ints *dims = &((const dim_attr *)node->attr)->dims;
    return names[node->form == TNI_IN_PLACE][!dims->data ? 0 : dims->n == 1 ? 1 : 2];
}

static const tni_derivative transpose_derivative = {.named = transpose_node, .linear = true, .vjp = transpose_vjp};
static const tni_derivative t_derivative = {.named = t_node, .linear = true, .vjp = t_vjp};
static const tni_derivative T_derivative = {.name = "PermuteBackward0", .linear = true, .vjp = T_vjp};
static const tni_derivative matrix_derivative = {.named = matrix_node, .linear = true, .vjp = matrix_vjp};
static const tni_derivative permute_derivative = {.linear = true, .vjp = permute_vjp};
static const tni_derivative movedim_derivative = {.name = "PermuteBackward0", .linear = true, .vjp = movedim_vjp};
static const tni_derivative unsqueeze_derivative = {.named = unsqueeze_node, .linear = true, .vjp = unsqueeze_vjp};
static const tni_derivative squeeze_derivative = {.named = squeeze_node, .linear = true, .vjp = tni_vjp_reshape};

#define PAIR_ROW(row)                                                                                                  \
    .name = TNI_NAMES_NEW_IN_PLACE(row),                                                                               \
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim0", 'I', pair_attr, dim0), TNI_ATTR("dim1", 'I', pair_attr, dim1)}, \
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(pair_attr), .infer = transpose_infer,    \
    .derivative = &transpose_derivative

const tni_op tni_op_transpose = {
    PAIR_ROW(transpose),
    .samples = "[3,4] 0 1 | [2,3,4] -1 0 | [5] 0 0 | [] 0 -1 | [2,0] 0 1 | [3,3] 1 0 | ! [3,4] 0 2 | ! [3,4] -3 0"};

const tni_op tni_op_swapaxes = {PAIR_ROW(swapaxes), .samples = "[3,4] 0 1 | [2,3,4] -1 0 | ! [3,4] 0 2"};

const tni_op tni_op_swapdims = {PAIR_ROW(swapdims), .samples = "[3,4] 0 1 | [2,3,4] -1 0 | ! [3,4] 0 2"};

const tni_op tni_op_t = {
    .name = TNI_NAMES_NEW_IN_PLACE(t), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .infer = t_infer, .derivative = &t_derivative,
    .samples = "[3,4] | [5] | [] | [0,3] | ! [2,3,4]"};

const tni_op tni_op_T = {
    .name = TNI_NAMES_NEW(T), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .infer = T_infer, .derivative = &T_derivative,
    .samples = "[3,4] | [2,3,4] | [5] | []"};

#define MATRIX_ROW(row, kind)                                                                                          \
    .name = TNI_NAMES_NEW(row), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,               \
    .infer = matrix_infer, .derivative = &matrix_derivative, .family = (kind)

const tni_op tni_op_mT = {MATRIX_ROW(mT, TRANSPOSES), .samples = "[3,4] | [2,3,4] | [] | [2,0,3] | ! [3]"};
const tni_op tni_op_H = {MATRIX_ROW(H, CONJUGATES_ONE), .samples = "[3,4] | [] | ! [3] | ! [2,3,4]"};
const tni_op tni_op_mH = {MATRIX_ROW(mH, CONJUGATES), .samples = "[3,4] | [2,3,4] | [] | ! [3]"};
const tni_op tni_op_adjoint = {MATRIX_ROW(adjoint, CONJUGATES), .samples = "[3,4] | [2,3,4] | [] | ! [3]"};

const tni_op tni_op_permute = {
    .name = TNI_NAMES_NEW(permute), .params = {TNI_TENSOR("self", 0), TNI_ATTR("dims", 'L', dim_attr, dims)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(dim_attr), .infer = permute_infer,
    .derivative = &permute_derivative,
    .samples = "[2,3,4] (2,0,1) | [3,4] (-1,0) | [] () | [2,0,3] (1,2,0) | ! [3,4] (0) | ! [3,4] (0,0) | "
        "! [3,4] (0,2)"};

#define MOVE_ROW(row)                                                                                                  \
    .name = TNI_NAMES_NEW(row),                                                                                        \
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("source", 'J', move_attr, source),                                      \
               TNI_ATTR("destination", 'J', move_attr, destination)},                                                  \
    .n_params = 3, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(move_attr), .infer = movedim_infer,    \
    .derivative = &movedim_derivative

const tni_op tni_op_movedim = {
    MOVE_ROW(movedim),
    .samples = "[2,3,4] 0 -1 | [2,3,4] (0,1) (1,2) | [2,3,4] (2,0) (0,1) | [] 0 0 | [3] () () | ! [2,3] (0,1) (0) | "
        "! [2,3] (0,0) (0,1) | ! [2,3] (0,1) (1,1) | ! [2,3] 2 0"};

const tni_op tni_op_moveaxis = {MOVE_ROW(moveaxis), .samples = "[2,3,4] 0 -1 | [2,3,4] (0,1) (1,2) | ! [2,3] 2 0"};

const tni_op tni_op_unsqueeze = {
    .name = TNI_NAMES_NEW_IN_PLACE(unsqueeze), .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', pair_attr, dim0)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(pair_attr), .infer = unsqueeze_infer,
    .derivative = &unsqueeze_derivative,
    .samples = "[3,4] 0 | [3,4] 1 | [3,4] -1 | [] 0 | [0] 1 | ! [3,4] 3 | ! [3,4] -4"};

const tni_op tni_op_squeeze = {
    .name = TNI_NAMES_NEW_IN_PLACE(squeeze),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', dim_attr, dims)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(dim_attr), .infer = squeeze_infer,
    .derivative = &squeeze_derivative,
    .samples = "[1,3,1] | [1,3,1] 0 | [1,3,1] 1 | [1,3,1] (0,-1) | [] | [1,0] | ! [1,3] 2 | ! [1,3] (0,0)"};

/* The front of an operator of two dims, and of its in-place form. */
#define PAIR_FRONT(row)                                                                                                \
    tn_tensor *tn_##row(tn_tensor *x, int dim0, int dim1)                                                              \
    {                                                                                                                  \
        const pair_attr attr = {dim0, dim1};                                                                           \
        return tni_call_new(&tni_op_##row, &x, &attr);                                                                 \
    }                                                                                                                  \
    tn_status tn_##row##_(tn_tensor *x, int dim0, int dim1)                                                            \
    {                                                                                                                  \
        const pair_attr attr = {dim0, dim1};                                                                           \
        return tni_call_in_place(&tni_op_##row, &x, &attr);                                                            \
    }
PAIR_FRONT(transpose)
PAIR_FRONT(swapaxes)
PAIR_FRONT(swapdims)

#define PLAIN_FRONT(row)                                                                                               \
    tn_tensor *tn_##row(tn_tensor *x)                                                                                  \
    {                                                                                                                  \
        return tni_call_new(&tni_op_##row, &x, NULL);                                                                  \
    }
PLAIN_FRONT(t)
PLAIN_FRONT(T)
PLAIN_FRONT(mT)
PLAIN_FRONT(H)
PLAIN_FRONT(mH)
PLAIN_FRONT(adjoint)

tn_status tn_t_(tn_tensor *x)
{
    return tni_call_in_place(&tni_op_t, &x, NULL);
}

tn_tensor *tn_permute(tn_tensor *x, const int64_t *dims, int n)
{
    const dim_attr attr = {{dims, n}};
    return tni_call_new(&tni_op_permute, &x, &attr);
}

#define MOVE_FRONT(row)                                                                                                \
    tn_tensor *tn_##row(tn_tensor *x, const int64_t *source, const int64_t *destination, int n)                        \
    {                                                                                                                  \
        const move_attr attr = {{source, n}, {destination, n}};                                                        \
        return tni_call_new(&tni_op_##row, &x, &attr);                                                                 \
    }
MOVE_FRONT(movedim)
MOVE_FRONT(moveaxis)

tn_tensor *tn_unsqueeze(tn_tensor *x, int dim)
{
    const pair_attr attr = {.dim0 = dim};
    return tni_call_new(&tni_op_unsqueeze, &x, &attr);
}

tn_tensor *tn_squeeze(tn_tensor *x)
{
    const dim_attr attr = {{NULL, 0}};
    return tni_call_new(&tni_op_squeeze, &x, &attr);
}

tn_tensor *tn_squeeze_dim(tn_tensor *x, int dim)
{
    const int64_t one = dim;
    const dim_attr attr = {{&one, 1}};
    return tni_call_new(&tni_op_squeeze, &x, &attr);
}

tn_tensor *tn_squeeze_dims(tn_tensor *x, const int64_t *dims, int n)
{
    static const int64_t none = 0;
    const dim_attr attr = {{n == 0 ? &none : dims, n}};
    return tni_call_new(&tni_op_squeeze, &x, &attr);
}

tn_status tn_unsqueeze_(tn_tensor *x, int dim)
{
    const pair_attr attr = {.dim0 = dim};
    return tni_call_in_place(&tni_op_unsqueeze, &x, &attr);
}

tn_status tn_squeeze_(tn_tensor *x)
{
    const dim_attr attr = {{NULL, 0}};
    return tni_call_in_place(&tni_op_squeeze, &x, &attr);
}

tn_status tn_squeeze_dims_(tn_tensor *x, const int64_t *dims, int n)
{
    static const int64_t none = 0;
    const dim_attr attr = {{n == 0 ? &none : dims, n}};
    return tni_call_in_place(&tni_op_squeeze, &x, &attr);
}

tn_status tn_squeeze_dim_(tn_tensor *x, int dim)
{
    const int64_t one = dim;
    const dim_attr attr = {{&one, 1}};
    return tni_call_in_place(&tni_op_squeeze, &x, &attr);
}
