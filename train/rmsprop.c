/* RMSprop: the gradient over the root of its mean square, centered or not, with momentum (torch.optim.RMSprop).
 * Graves 2013, arXiv:1308.0850. */
#include <tenon/step.h>

#include "optimizer.h"

enum { LR, ALPHA, EPS, MOMENTUM, WEIGHT_DECAY, CENTERED, MAXIMIZE, OPTIONS };

enum { SQUARE_AVG, GRAD_AVG, MOMENTUM_BUFFER, STATES };

static unsigned needs(const double *o)
{
    return 1u << SQUARE_AVG | (o[CENTERED] != 0 ? 1u << GRAD_AVG : 0) | (o[MOMENTUM] != 0 ? 1u << MOMENTUM_BUFFER : 0);
}

static tn_status step(tni_slot *slot, tn_tensor *grad, const double *o)
{
    tn_tensor *mean = o[CENTERED] != 0 ? slot->state[GRAD_AVG] : NULL;
    tn_tensor *buffer = o[MOMENTUM] != 0 ? slot->state[MOMENTUM_BUFFER] : NULL;
    const tn_rmsprop_step_options options = {.lr = o[LR], .alpha = o[ALPHA], .eps = o[EPS], .momentum = o[MOMENTUM],
                                             .weight_decay = o[WEIGHT_DECAY], .maximize = o[MAXIMIZE] != 0};
    return tn_rmsprop_step_(slot->parameter, grad, slot->state[SQUARE_AVG], mean, buffer, &options);
}

const tni_optimizer_kind tni_rmsprop = {
    .name = "rmsprop",
    .options = {[LR] = {"lr", TNI_FROM_ZERO, 1e-2}, [ALPHA] = {"alpha", TNI_FROM_ZERO, 0.99},
                [EPS] = {"eps", TNI_FROM_ZERO, 1e-8}, [MOMENTUM] = {"momentum", TNI_FROM_ZERO, 0},
                [WEIGHT_DECAY] = {"weight_decay", TNI_FROM_ZERO, 0}, [CENTERED] = {"centered", TNI_FLAG, 0},
                [MAXIMIZE] = {"maximize", TNI_FLAG, 0}},
    .n_options = OPTIONS,
    .states = {[SQUARE_AVG] = "square_avg", [GRAD_AVG] = "grad_avg", [MOMENTUM_BUFFER] = "momentum_buffer"},
    .n_states = STATES,
    .counts_steps = true,
    .needs = needs,
    .step = step,
};

tn_optimizer *tn_rmsprop(const tn_list *parameters, const tn_rmsprop_options *options)
{
    static const tn_rmsprop_options none;
    const tn_rmsprop_options *o = options ? options : &none;
    const double all[TNI_OPTIONS] = {[LR] = tni_option_given(&tni_rmsprop, LR, o->lr),
                                     [ALPHA] = tni_option_given(&tni_rmsprop, ALPHA, o->alpha),
                                     [EPS] = tni_option_given(&tni_rmsprop, EPS, o->eps), [MOMENTUM] = o->momentum,
                                     [WEIGHT_DECAY] = o->weight_decay, [CENTERED] = o->centered,
                                     [MAXIMIZE] = o->maximize};
    return tni_optimizer_make(&tni_rmsprop, parameters, all);
}
