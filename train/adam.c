/* Adam, and AdamW, whose weight decay shrinks the parameter instead of joining the gradient (torch.optim.Adam, AdamW).
 * Kingma & Ba 2015, arXiv:1412.6980; Loshchilov & Hutter 2019, arXiv:1711.05101. */
#include <tenon/step.h>

#include "optimizer.h"

enum { LR, BETA1, BETA2, EPS, WEIGHT_DECAY, AMSGRAD, MAXIMIZE, OPTIONS };

enum { EXP_AVG, EXP_AVG_SQ, MAX_EXP_AVG_SQ, STATES };

static unsigned needs(const double *o)
{
    return 1u << EXP_AVG | 1u << EXP_AVG_SQ | (o[AMSGRAD] != 0 ? 1u << MAX_EXP_AVG_SQ : 0);
}

static tn_status move(tni_slot *slot, tn_tensor *grad, const double *o, bool decoupled)
{
    tn_tensor *largest = o[AMSGRAD] != 0 ? slot->state[MAX_EXP_AVG_SQ] : NULL;
    const tn_adam_step_options options = {.step = slot->step + 1, .lr = o[LR], .beta1 = o[BETA1], .beta2 = o[BETA2],
                                          .eps = o[EPS], .weight_decay = o[WEIGHT_DECAY], .decoupled = decoupled,
                                          .maximize = o[MAXIMIZE] != 0};
    return tn_adam_step_(slot->parameter, grad, slot->state[EXP_AVG], slot->state[EXP_AVG_SQ], largest, &options);
}

static tn_status adam_step(tni_slot *slot, tn_tensor *grad, const double *options)
{
    return move(slot, grad, options, false);
}

static tn_status adamw_step(tni_slot *slot, tn_tensor *grad, const double *options)
{
    return move(slot, grad, options, true);
}

#define KIND(text, decay, function)                                                                                    \
    {                                                                                                                  \
        .name = text,                                                                                                  \
        .options = {[LR] = {"lr", TNI_FROM_ZERO, 1e-3}, [BETA1] = {"beta1", TNI_BELOW_ONE, 0.9},                       \
                    [BETA2] = {"beta2", TNI_BELOW_ONE, 0.999}, [EPS] = {"eps", TNI_FROM_ZERO, 1e-8},                   \
                    [WEIGHT_DECAY] = {"weight_decay", TNI_FROM_ZERO, decay}, [AMSGRAD] = {"amsgrad", TNI_FLAG, 0},     \
                    [MAXIMIZE] = {"maximize", TNI_FLAG, 0}},                                                           \
        .n_options = OPTIONS,                                                                                          \
        .states = {[EXP_AVG] = "exp_avg", [EXP_AVG_SQ] = "exp_avg_sq", [MAX_EXP_AVG_SQ] = "max_exp_avg_sq"},           \
        .n_states = STATES, .counts_steps = true, .needs = needs, .step = function,                                    \
    }

const tni_optimizer_kind tni_adam = KIND("adam", 0, adam_step);
const tni_optimizer_kind tni_adamw = KIND("adamw", 1e-2, adamw_step);

static tn_optimizer *make(const tni_optimizer_kind *kind, const tn_list *parameters, const tn_adam_options *options)
{
    static const tn_adam_options none;
    const tn_adam_options *o = options ? options : &none;
    const double all[TNI_OPTIONS] = {[LR] = tni_option_given(kind, LR, o->lr),
                                     [BETA1] = tni_option_given(kind, BETA1, o->beta1),
                                     [BETA2] = tni_option_given(kind, BETA2, o->beta2),
                                     [EPS] = tni_option_given(kind, EPS, o->eps),
                                     [WEIGHT_DECAY] = tni_option_given(kind, WEIGHT_DECAY, o->weight_decay),
                                     [AMSGRAD] = o->amsgrad, [MAXIMIZE] = o->maximize};
    return tni_optimizer_make(kind, parameters, all);
}

tn_optimizer *tn_adam(const tn_list *parameters, const tn_adam_options *options)
{
    return make(&tni_adam, parameters, options);
}

tn_optimizer *tn_adamw(const tn_list *parameters, const tn_adam_options *options)
{
    return make(&tni_adamw, parameters, options);
}
