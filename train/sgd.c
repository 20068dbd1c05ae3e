/* Stochastic gradient descent, with momentum (torch.optim.SGD). */
#include <tenon/step.h>

#include "optimizer.h"

enum { LR, MOMENTUM, DAMPENING, WEIGHT_DECAY, NESTEROV, MAXIMIZE, OPTIONS };

enum { MOMENTUM_BUFFER, STATES };

static tn_status check(const char *function, const double *o)
{
    if (o[NESTEROV] != 0 && (o[MOMENTUM] <= 0 || o[DAMPENING] != 0))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "nesterov needs momentum, and no dampening");
    return TN_OK;
}

static unsigned needs(const double *o)
{
    return o[MOMENTUM] != 0 ? 1u << MOMENTUM_BUFFER : 0;
}

static tn_status step(tni_slot *slot, tn_tensor *grad, const double *o)
{
    tn_tensor *buffer = o[MOMENTUM] != 0 ? slot->state[MOMENTUM_BUFFER] : NULL;
    const tn_sgd_step_options options = {.lr = o[LR], .momentum = o[MOMENTUM], .dampening = o[DAMPENING],
                                         .weight_decay = o[WEIGHT_DECAY], .nesterov = o[NESTEROV] != 0,
                                         .maximize = o[MAXIMIZE] != 0, .first = slot->fresh != 0};
    return tn_sgd_step_(slot->parameter, grad, buffer, &options);
}

const tni_optimizer_kind tni_sgd = {
    .name = "sgd",
    .options = {[LR] = {"lr", TNI_FROM_ZERO, 1e-3}, [MOMENTUM] = {"momentum", TNI_FROM_ZERO, 0},
                [DAMPENING] = {"dampening", TNI_ANY, 0}, [WEIGHT_DECAY] = {"weight_decay", TNI_FROM_ZERO, 0},
                [NESTEROV] = {"nesterov", TNI_FLAG, 0}, [MAXIMIZE] = {"maximize", TNI_FLAG, 0}},
    .n_options = OPTIONS,
    .states = {[MOMENTUM_BUFFER] = "momentum_buffer"},
    .n_states = STATES,
    .check = check,
    .needs = needs,
    .step = step,
};

tn_optimizer *tn_sgd(const tn_list *parameters, const tn_sgd_options *options)
{
    static const tn_sgd_options none;
    const tn_sgd_options *o = options ? options : &none;
    const double all[TNI_OPTIONS] = {[LR] = tni_option_given(&tni_sgd, LR, o->lr), [MOMENTUM] = o->momentum,
                                     [DAMPENING] = o->dampening, [WEIGHT_DECAY] = o->weight_decay,
                                     [NESTEROV] = o->nesterov, [MAXIMIZE] = o->maximize};
    return tni_optimizer_make(&tni_sgd, parameters, all);
}
