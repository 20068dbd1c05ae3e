/* Derivatives of the losses of ops/loss.c, and their public functions.
 *
 *     y = mean w l(x, t)          grad_x = grad w l'(x, t) / n: the backward operator
 *
 * whose own derivative for a cotangent c is  c w l' / n  to grad (the operator again, of gradient 1),  c grad w l''/ n
 * to x, and the same with the derivative of l' by t to the target. */
#include <tenon/create.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "core/convert.h"
#include "ops/loss_op.h"
#include "ops/operators.h"

/* The inputs of a call as the tape kept them: x, target, weight, weight of positives; NULL where there is none. */
typedef struct kept {
    tn_tensor *x, *t, *weight, *positive;
    const tni_loss_attr *attr;
    tni_loss loss;
} kept;

static kept kept_of(tni_vjp *v)
{
    const tni_op *op = v->node->op;
    const int first = tni_loss_is_backward(op) ? 1 : 0;
    return (kept){.x = tni_saved_input(v, first),
                  .t = tni_saved_input(v, first + 1),
                  .weight = op->n_in > first + 2 ? tni_saved_input(v, first + 2) : NULL,
                  .positive = op->n_in > first + 3 ? tni_saved_input(v, first + 3) : NULL,
                  .attr = v->attr,
                  .loss = (tni_loss)(op->family % TNI_LOSSES)};
}

static tn_tensor *backward_of(const kept *k, tn_tensor *grad)
{
    tn_tensor *in[5] = {grad, k->x, k->t, k->weight, k->positive};
    return tni_call_new(tni_loss_backward_ops[k->loss], in, k->attr);
}

/* grad over the count where there is a mean. */
static tn_tensor *shared(const kept *k, tn_tensor *grad, int64_t n)
{
    return k->attr->reduction == TN_MEAN ? tn_div_scalar(grad, tn_int(n)) : grad;
}

static tn_tensor *weighted(const kept *k, tn_tensor *grad)
{
    return k->weight ? tn_mul(grad, k->weight) : grad;
}

/* The losses of the elements, or their slopes, without weight. */
static tn_tensor *elements(const kept *k, const tni_op *op, bool slopes)
{
    const tni_loss_attr attr = {TN_NONE, k->attr->parameter};
    tn_tensor *one = slopes ? tn_ones(NULL, 0, TN_FLOAT32) : NULL;
    tn_tensor *in[5] = {one, k->x, k->t, NULL, k->positive};
    return slopes ? tni_call_new(tni_loss_backward_ops[k->loss], in, &attr) : tni_call_new(op, in + 1, &attr);
}

/* log sigmoid x = -log(1 + e^-x), smooth at 0; past 40 the logarithm is -x in every dtype. */
static tn_tensor *log_sigmoid(tn_tensor *x)
{
    return tn_neg(tn_softplus_beta(tn_neg(x), 1, 40));
}

static tn_tensor *one_minus(tn_tensor *x)
{
    return tn_add_scalar(tn_neg(x), tn_int(1));
}

/* p - 1, where there are weights of positives. */
static tn_tensor *positive_less_one(const kept *k)
{
    return tn_add_scalar(k->positive, tn_int(-1));
}

/* The derivative of the loss by the target, of the two whose slope it does not mirror. As in PyTorch that of bce takes
 * the logarithms as they are, where the loss does not let them below -100. */
static tn_tensor *target_slope(const kept *k)
{
    if (k->loss == TNI_LOSS_BCE)
        return tn_sub(tn_log(one_minus(k->x)), tn_log(k->x));
    if (!k->positive)
        return tn_neg(k->x);
    return tn_sub(tn_neg(k->x), tn_mul(positive_less_one(k), log_sigmoid(k->x)));
}

static void loss_vjp(tni_vjp *v)
{
    const kept k = kept_of(v);
    const bool mirrored = k.loss < TNI_LOSS_BCE;
    if (tni_needs(v, 0) || mirrored)
        v->grads[0] = backward_of(&k, v->grad);
    if (mirrored) {
        v->grads[1] = tni_needs(v, 1) ? tn_neg(v->grads[0]) : NULL;
        return;
    }
    if (!(v->needed & ~UINT64_C(1)) || !k.x)
        return;
    tn_tensor *grad = shared(&k, v->grad, k.x->numel), *weight = weighted(&k, grad);
    if (tni_needs(v, 1))
        v->grads[1] = tn_mul(weight, target_slope(&k));
    if (tni_needs(v, 2))
        v->grads[2] = tn_mul(grad, elements(&k, v->node->op, false));
    if (tni_needs(v, 3))
        v->grads[3] = tn_neg(tn_mul(tn_mul(weight, k.t), log_sigmoid(k.x)));
}

/* Elements closer than the parameter, as numbers 0 and 1. */
static tn_tensor *within(const kept *k)
{
    return tn_lt_scalar(tn_abs(tn_sub(k->x, k->t)), k->attr->parameter);
}

/* c times the derivative of the slope by x. */
static tn_tensor *by_input(const kept *k, tn_tensor *c)
{
    const tn_scalar least = tn_float(1e-12);
    switch (k->loss) {
    case TNI_LOSS_MSE:
        return tn_mul_scalar(c, tn_int(2));
    case TNI_LOSS_SMOOTH_L1:
        if (tni_scalar_real(k->attr->parameter) == 0)
            break;
        return tn_mul(tn_div_scalar(c, k->attr->parameter), within(k));
    case TNI_LOSS_HUBER:
        return tn_mul(c, within(k));
    case TNI_LOSS_BCE: {
        tn_tensor *square = tn_mul(k->x, k->x);
        tn_tensor *above = tn_add(tn_sub(square, tn_mul_scalar(tn_mul(k->x, k->t), tn_int(2))), k->t);
        tn_tensor *below = tn_mul(tn_add_scalar(k->x, least), tn_add_scalar(one_minus(k->x), least)); /* as PyTorch */
        return tn_mul(c, tn_div(above, tn_square(below)));
    }
    case TNI_LOSS_BCE_WITH_LOGITS: {
        tn_tensor *y = tn_sigmoid(k->x), *slope = tn_mul(c, tn_sub(y, tn_mul(y, y)));
        if (!k->positive)
            return slope;
        return tn_mul(slope, tn_add_scalar(tn_mul(positive_less_one(k), k->t), tn_int(1)));
    }
    default:
        break;
    }
    return tn_mul_scalar(tn_zeros_like(c, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), tn_int(0));
}

/* c times the derivative of the slope by the target. */
static tn_tensor *by_target(const kept *k, tn_tensor *c)
{
    const tn_scalar least = tn_float(1e-12);
    if (k->loss == TNI_LOSS_BCE)
        return tn_neg(tn_div(c, tn_clamp(tn_sub(k->x, tn_mul(k->x, k->x)), &least, NULL)));
    if (!k->positive)
        return tn_neg(c);
    return tn_mul(c, tn_sub(tn_mul(positive_less_one(k), tn_sigmoid(k->x)), k->positive));
}

static void loss_backward_vjp(tni_vjp *v)
{
    const kept k = kept_of(v);
    const bool mirrored = k.loss < TNI_LOSS_BCE;
    const tni_shape shape = tni_result_shape(v);
    int64_t numel = 1;
    for (int d = 0; d < shape.ndim; d++)
        numel *= shape.sizes[d];
    if (tni_needs(v, 0))
        v->grads[0] = tn_mul(v->grad, backward_of(&k, tn_ones(NULL, 0, (tn_dtype)v->grad->dtype)));
    if (!(v->needed & ~UINT64_C(1)))
        return;
    tn_tensor *bare = shared(&k, tn_mul(v->grad, tni_saved_input(v, 0)), numel), *c = weighted(&k, bare);
    if (tni_needs(v, 1) || mirrored)
        v->grads[1] = by_input(&k, c);
    if (tni_needs(v, 2))
        v->grads[2] = mirrored ? tn_neg(v->grads[1]) : by_target(&k, c);
    if (tni_needs(v, 3))
        v->grads[3] = tn_mul(bare, elements(&k, v->node->op, true));
    if (tni_needs(v, 4))
        v->grads[4] = tn_mul(tn_mul(c, k.t), tn_add_scalar(tn_sigmoid(k.x), tn_int(-1)));
}

static const char *l1_node(const tni_node *node)
{
    const int64_t reduction = ((const tni_loss_attr *)node->attr)->reduction;
    return reduction == TN_MEAN ? "MeanBackward0" : reduction == TN_SUM ? "SumBackward0" : "AbsBackward0";
}

#define TWO  (TNI_SAVE(0) | TNI_SAVE(1))
#define ALL  (TNI_SAVE(0) | TNI_SAVE(1) | TNI_SAVE(2))
#define WITH (ALL | TNI_SAVE(3))
#define EACH (WITH | TNI_SAVE(4))

static const tni_domain probability = {0, 1};

const tni_derivative tni_loss_derivatives[TNI_LOSSES] = {
    [TNI_LOSS_MSE] = {.saves = {TWO, TWO}, .vjp = loss_vjp},
    [TNI_LOSS_L1] = {.saves = {TWO, TWO}, .vjp = loss_vjp, .named = l1_node},
    [TNI_LOSS_SMOOTH_L1] = {.saves = {TWO, TWO}, .vjp = loss_vjp, .name = "SmoothL1LossBackward0"},
    [TNI_LOSS_HUBER] = {.saves = {TWO, TWO}, .vjp = loss_vjp},
    [TNI_LOSS_BCE] = {.saves = {ALL, ALL, ALL}, .vjp = loss_vjp, .name = "BinaryCrossEntropyBackward0",
                       .domain = &probability},
    [TNI_LOSS_BCE_WITH_LOGITS] = {.saves = {WITH, WITH, WITH, WITH}, .vjp = loss_vjp,
                                  .name = "BinaryCrossEntropyWithLogitsBackward0"},
};

const tni_derivative tni_loss_backward_derivatives[TNI_LOSSES] = {
    [TNI_LOSS_MSE] = {.saves = {ALL, ALL, ALL}, .vjp = loss_backward_vjp, .name = "MseLossBackwardBackward0"},
    [TNI_LOSS_L1] = {.saves = {ALL, ALL, ALL}, .vjp = loss_backward_vjp, .name = "L1LossBackwardBackward0"},
    [TNI_LOSS_SMOOTH_L1] = {.saves = {ALL, ALL, ALL}, .vjp = loss_backward_vjp,
                            .name = "SmoothL1LossBackwardBackward0"},
    [TNI_LOSS_HUBER] = {.saves = {ALL, ALL, ALL}, .vjp = loss_backward_vjp, .name = "HuberLossBackwardBackward0"},
    [TNI_LOSS_BCE] = {.saves = {WITH, WITH, WITH, WITH}, .vjp = loss_backward_vjp,
                      .name = "BinaryCrossEntropyBackwardBackward0", .domain = &probability},
    [TNI_LOSS_BCE_WITH_LOGITS] = {.saves = {EACH, EACH, EACH, EACH, EACH}, .vjp = loss_backward_vjp,
                                  .name = "BinaryCrossEntropyWithLogitsBackwardBackward0"},
};

static tn_tensor *call_loss(const tni_op *op, tn_tensor **in, tn_reduction reduction, double parameter)
{
    if (reduction == TN_MEAN && parameter == 1)
        return tni_call_new(op, in, &tni_loss_default);
    const tni_loss_attr attr = {(int64_t)reduction, tn_float(parameter)};
    return tni_call_new(op, in, &attr);
}

tn_tensor *tn_mse_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    tn_tensor *in[2] = {x, target};
    return call_loss(&tni_op_mse_loss, in, reduction, 1);
}

tn_tensor *tn_l1_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    tn_tensor *in[2] = {x, target};
    return call_loss(&tni_op_l1_loss, in, reduction, 1);
}

tn_tensor *tn_smooth_l1_loss(tn_tensor *x, tn_tensor *target, double beta, tn_reduction reduction)
{
    tn_tensor *in[2] = {x, target};
    return call_loss(&tni_op_smooth_l1_loss, in, reduction, beta);
}

tn_tensor *tn_huber_loss(tn_tensor *x, tn_tensor *target, double delta, tn_reduction reduction)
{
    tn_tensor *in[2] = {x, target};
    return call_loss(&tni_op_huber_loss, in, reduction, delta);
}

tn_tensor *tn_bce_loss(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    return tn_bce_loss_weighted(x, target, NULL, reduction);
}

tn_tensor *tn_bce_loss_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight, tn_reduction reduction)
{
    tn_tensor *in[3] = {x, target, weight};
    return call_loss(&tni_op_bce_loss, in, reduction, 1);
}

tn_tensor *tn_bce_with_logits(tn_tensor *x, tn_tensor *target, tn_reduction reduction)
{
    return tn_bce_with_logits_weighted(x, target, NULL, NULL, reduction);
}

tn_tensor *tn_bce_with_logits_weighted(tn_tensor *x, tn_tensor *target, tn_tensor *weight, tn_tensor *pos_weight,
                                       tn_reduction reduction)
{
    tn_tensor *in[4] = {x, target, weight, pos_weight};
    return call_loss(&tni_op_bce_with_logits, in, reduction, 1);
}
