/* nll_loss: the negative log-likelihood of the classes that a target names, and its backward operator. Rules of
 * torch.nn.functional.nll_loss.
 *
 *     l_i = -w[t_i] x[i, t_i], 0 where t_i is ignored          mean: sum l_i / sum w[t_i]
 *
 * It is linear in x, so that the two are each other's derivative. */
#include <string.h>
#include <tenon/create.h>
#include <tenon/losses.h>

#include "autograd/node.h"
#include "base/error.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "ops/dtype_sets.h"
#include "ops/loss_op.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

typedef struct nll_attr {
    int64_t reduction, ignore_index;
    tni_ints size; /* of x, for the backward operator */
} nll_attr;

static const nll_attr nll_default = {.reduction = TN_MEAN, .ignore_index = -100};

/* Inputs of the forward operator: x, target, weight; of the backward one the gradient stands for x. */
enum { X, TARGET, WEIGHT };
enum { FORWARD, BACKWARD };

static int class_dim(int ndim)
{
    return ndim > 1 ? 1 : 0;
}

/* x [C] and target [], or x [N, C, ...] and target [N, ...]. */
static tn_status check_shapes(const tni_call *call, const int64_t *sizes, int ndim)
{
    const tn_tensor *t = call->in[TARGET], *weight = call->in[WEIGHT];
    const int c = class_dim(ndim);
    bool fits = ndim > 0 && t->ndim == ndim - 1;
    for (int d = 0; fits && d < t->ndim; d++)
        fits = t->sizes[d] == sizes[d < c ? d : d + 1];
    if (!fits) {
        char x_text[100], t_text[100];
        tni_text_shape(x_text, sizeof x_text, sizes, ndim);
        tni_text_shape(t_text, sizeof t_text, t->sizes, t->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call),
                        "the input is %s and the target %s, needed the input's dims without the second one (the "
                        "classes)", x_text, t_text);
    }
    if (weight && (weight->ndim != 1 || weight->sizes[0] != sizes[c])) {
        char text[100];
        tni_text_shape(text, sizeof text, weight->sizes, weight->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the weight is %s, needed one for each of %lld classes",
                        text, (long long)sizes[c]);
    }
    return TN_OK;
}

static int64_t target_at(const tn_tensor *t, int64_t i)
{
    int64_t at = 0;
    if (tni_contiguous(t))
        at = i;
    else
        for (int d = t->ndim - 1; d >= 0; i /= t->sizes[d--])
            at += i % t->sizes[d] * t->strides[d];
    const char *data = tni_data(t);
    return t->dtype == TN_UINT8 ? (int64_t)((const uint8_t *)data)[at] : ((const int64_t *)(const void *)data)[at];
}

static tn_status check_targets(const tni_call *call, int64_t classes)
{
    const tn_tensor *t = call->in[TARGET];
    const nll_attr *attr = call->attr;
    if (tni_is_meta(t))
        return TN_OK;
    for (int64_t i = 0; i < t->numel; i++) {
        const int64_t class = target_at(t, i);
        if (class != attr->ignore_index && (class < 0 || class >= classes))
            return TNI_FAIL(TN_ERROR_INDEX, tni_call_name(call),
                            "element %lld of the target is class %lld, needed one of 0 .. %lld, or %lld (ignored)",
                            (long long)i, (long long)class, (long long)classes - 1, (long long)attr->ignore_index);
    }
    return TN_OK;
}

static tn_status nll_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[X], *t = call->in[TARGET], *weight = call->in[WEIGHT];
    const nll_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    const bool backward = call->op->family == BACKWARD;
    const int64_t *sizes = backward ? attr->size.data : x->sizes;
    const int ndim = backward ? attr->size.n : x->ndim;
    if (tni_check_reduction(name, attr->reduction))
        return tni_pending();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (t->dtype != TN_INT64 && t->dtype != TN_UINT8)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the target is %s, needed int64 or uint8 (classes)",
                        tn_dtype_name((tn_dtype)t->dtype));
    if (weight && weight->dtype != x->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the weight is %s and the input %s, needed the same",
                        tn_dtype_name((tn_dtype)weight->dtype), tn_dtype_name((tn_dtype)x->dtype));
    if (backward && tni_check_sizes(name, sizes, ndim))
        return tni_pending();
    if (check_shapes(call, sizes, ndim) || check_targets(call, sizes[class_dim(ndim)]))
        return tni_pending();
    const bool each = attr->reduction == TN_NONE;
    if (backward && x->ndim > 0 && !(each && tni_same_dims(x->sizes, x->ndim, t->sizes, t->ndim)))
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the gradient has %d dims, needed those of the loss", x->ndim);
    if (backward) {
        memcpy(meta->room, sizes, (size_t)ndim * sizeof *sizes);
        return tni_meta_contiguous(call, meta, ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
    }
    memcpy(meta->room, t->sizes, (size_t)t->ndim * sizeof *t->sizes);
    return tni_meta_contiguous(call, meta, each ? t->ndim : 0, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

/* Where element i of the target has its class `class`, in elements of a tensor [N, C, ...]. */
static int64_t place_of(const int64_t *sizes, const int64_t *strides, int ndim, int64_t i, int64_t class)
{
    const int c = class_dim(ndim);
    int64_t at = class * strides[c];
    for (int d = ndim - 1; d >= 0; d--) {
        if (d == c)
            continue;
        at += i % sizes[d] * strides[d];
        i /= sizes[d];
    }
    return at;
}

static double load(const tn_tensor *x, int64_t at)
{
    double value;
    const char *element = tni_data(x) + at * tni_itemsize((tn_dtype)x->dtype);
    switch ((tn_dtype)x->dtype) {
    case TN_FLOAT32:
        return (double)*(const float *)(const void *)element;
    case TN_FLOAT64:
        return *(const double *)(const void *)element;
    default:
        tni_converter_of((tn_dtype)x->dtype, TN_FLOAT64)(&value, 0, element, 0, 1);
        return value;
    }
}

static void store(const tn_tensor *x, int64_t at, double value)
{
    char *element = tni_data(x) + at * tni_itemsize((tn_dtype)x->dtype);
    tni_converter_of(TN_FLOAT64, (tn_dtype)x->dtype)(element, 0, &value, 0, 1);
}

static double weight_of(const tni_call *call, int64_t class)
{
    const tn_tensor *weight = call->in[WEIGHT];
    return weight ? load(weight, class * weight->strides[0]) : 1;
}

static void nll_run(const tni_call *call, void *workspace)
{
    const tn_tensor *x = call->in[X], *t = call->in[TARGET], *out = call->out[0];
    const nll_attr *attr = call->attr;
    double total = 0, weights = 0;
    (void)workspace;
    for (int64_t i = 0; i < t->numel; i++) {
        const int64_t class = target_at(t, i);
        double loss = 0;
        if (class != attr->ignore_index) {
            const double weight = weight_of(call, class);
            loss = -weight * load(x, place_of(x->sizes, x->strides, x->ndim, i, class));
            weights += weight;
        }
        if (attr->reduction == TN_NONE)
            store(out, i, loss);
        total += loss;
    }
    if (attr->reduction != TN_NONE)
        store(out, 0, attr->reduction == TN_MEAN ? total / weights : total);
}

static void nll_backward_run(const tni_call *call, void *workspace)
{
    const tn_tensor *grad = call->in[X], *t = call->in[TARGET], *out = call->out[0];
    const nll_attr *attr = call->attr;
    double weights = 0, one = grad->ndim == 0 ? load(grad, 0) : 0;
    (void)workspace;
    memset(tni_data(out), 0, (size_t)out->numel * (size_t)tni_itemsize((tn_dtype)out->dtype));
    for (int64_t i = 0; attr->reduction == TN_MEAN && i < t->numel; i++) {
        const int64_t class = target_at(t, i);
        weights += class != attr->ignore_index ? weight_of(call, class) : 0;
    }
    for (int64_t i = 0; i < t->numel; i++) {
        const int64_t class = target_at(t, i);
        int64_t at = 0;
        if (class == attr->ignore_index)
            continue;
        for (int64_t d = grad->ndim - 1, rest = i; d >= 0; rest /= grad->sizes[d--])
            at += rest % grad->sizes[d] * grad->strides[d];
        double slope = -weight_of(call, class) * (grad->ndim == 0 ? one : load(grad, at));
        if (attr->reduction == TN_MEAN)
            slope /= weights;
        store(out, place_of(out->sizes, out->strides, out->ndim, i, class), slope);
    }
}

static tn_tensor *call_nll(const tni_op *op, tn_tensor *x, tn_tensor *target, tn_tensor *weight, const nll_attr *attr)
{
    tn_tensor *in[3] = {x, target, weight};
    return tni_call_new(op, in, attr);
}

static tn_status refuse_weight(const tni_vjp *v)
{
    if (!tni_needs(v, WEIGHT))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, v->node->op->name[TNI_NEW],
                    "a weight requires a gradient, and the loss has none for it: needed a constant weight");
}

static void nll_vjp(tni_vjp *v)
{
    const tni_shape x = tni_input_shape(v, X);
    nll_attr attr = *(const nll_attr *)v->attr;
    if (refuse_weight(v))
        return;
    attr.size = (tni_ints){x.sizes, x.ndim};
    v->grads[X] = call_nll(&tni_op_nll_loss_backward, v->grad, tni_saved_input(v, TARGET), tni_saved_input(v, WEIGHT),
                           &attr);
}

static void nll_backward_vjp(tni_vjp *v)
{
    nll_attr attr = *(const nll_attr *)v->attr;
    if (refuse_weight(v))
        return;
    attr.size = (tni_ints){NULL, 0};
    v->grads[X] = call_nll(&tni_op_nll_loss, v->grad, tni_saved_input(v, TARGET), tni_saved_input(v, WEIGHT), &attr);
}

static const char *nll_node(const tni_node *node)
{
    const nll_attr *attr = node->attr;
    const tni_saved *saved = tni_node_saved(node);
    const bool images = (attr->reduction == TN_NONE && node->ndim > 1) ||
                        (node->n_saved > 0 && saved[0].tensor && saved[0].tensor->ndim > 1);
    return images ? "NllLoss2DBackward0" : "NllLossBackward0";
}

#define KEPT (TNI_SAVE(TARGET) | TNI_SAVE(WEIGHT))

static const tni_derivative nll_derivative = {.saves = {KEPT}, .vjp = nll_vjp, .named = nll_node};
static const tni_derivative nll_backward_derivative = {
    .saves = {KEPT}, .vjp = nll_backward_vjp, .name = "NllLossBackwardBackward0"};

#define NLL(op, row)                                                                                               \
    .name = TNI_NAMES_NEW(op), .n_in = 3, .n_out = 1, .optional_in = 1 << WEIGHT, .exact_out_dtype = true,         \
    .dtypes = TNI_FLOATS, .attr_bytes = sizeof(nll_attr), .attr_default = &nll_default, .infer = nll_infer,        \
    .family = row
#define OPTIONS                                                                                                    \
    TNI_OPTIONAL("reduction", 'Q', nll_attr, reduction), TNI_OPTIONAL("ignore_index", 'I', nll_attr, ignore_index), \
        TNI_OPTIONAL_TENSOR("weight", WEIGHT)

const tni_op tni_op_nll_loss = {
    .params = {TNI_TENSOR("self", X), TNI_TENSOR("target", TARGET), OPTIONS}, .n_params = 5, NLL(nll_loss, FORWARD),
    .run = nll_run, .derivative = &nll_derivative,
    .samples = "[5,3] <5:3> | [5,3] <5:3> 1 | [5,3] <5:3> 2 0 | [3] <:3> | [2,3,4] <2,4:3> 0 1 | "
        "[2,3,4] <2,4:3> 2 | [0,3] <0:3> 1 | ! [5,3] <4:3> | ! [5,3] <5:3> 3 | ! [] <:3> | "
        "! [5,3] <5:3> 0 0 [4]"};

const tni_op tni_op_nll_loss_backward = {
    .params = {TNI_TENSOR("grad", X), TNI_TENSOR("target", TARGET), TNI_ATTR("size", 'L', nll_attr, size), OPTIONS},
    .n_params = 6, NLL(nll_loss_backward, BACKWARD), .run = nll_backward_run, .derivative = &nll_backward_derivative,
    .samples = "[] <5:3> (5,3) | [] <5:3> (5,3) 1 | [5] <5:3> (5,3) 2 0 | [2,4] <2,4:3> (2,3,4) 2 | "
        "[] <2,4:3> (2,3,4) 0 1 | ! [] <5:3> (4,3) | ! [4] <5:3> (5,3) 2"};

tn_tensor *tn_nll_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    if (reduction == TN_MEAN)
        return call_nll(&tni_op_nll_loss, x, target, NULL, &nll_default);
    return tn_nll_loss_weighted(x, target, NULL, -100, reduction);
}

tn_tensor *tn_nll_loss_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight, int64_t ignore_index,
                                tn_reduction reduction)
{
    const nll_attr attr = {.reduction = (int64_t)reduction, .ignore_index = ignore_index};
    return call_nll(&tni_op_nll_loss, x, target, weight, &attr);
}
