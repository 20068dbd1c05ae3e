/* Losses as modules (torch.nn.MSELoss and its kin): the functions of tenon/losses.h with their settings, and with their
 * weights as buffers. A loss is one row below: its class, its call, its maker. */
#include <tenon/losses.h>

#include "module.h"

typedef struct loss {
    tn_module module;
    double size;                      /* beta, delta, eps */
    bool logs, full;                  /* log_target, log_input; Stirling's terms */
    tn_cross_entropy_options options; /* those that it has; weight is a buffer */
} loss;

enum { WEIGHT, POS_WEIGHT, WEIGHTS };

static const loss *of(const tn_module *module)
{
    return (const loss *)(const void *)module;
}

static tn_tensor *weight_of(const loss *self, int i)
{
    return self->module.parameters[i].tensor;
}

tn_tensor *tni_loss_forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)x;
    (void)place;
    TN_FAIL(TN_ERROR_ARGUMENT, "forward", "%s is a loss of an input and a target, needed tn_forward_loss",
            tni_module_shown_name(module));
    return NULL;
}

static tn_module *bare(const tn_module *module)
{
    loss *self = tn_object_new(tn_object_type(module));
    if (!self)
        return NULL;
    self->size = of(module)->size;
    self->logs = of(module)->logs;
    self->full = of(module)->full;
    self->options = of(module)->options;
    return &self->module;
}

#define LOSS(operation, text, weights, call)                                                                           \
    static tn_tensor *operation(tn_module *module, tn_tensor *x, tn_tensor *target)                                    \
    {                                                                                                                  \
        const loss *self = of(module);                                                                                 \
        return call;                                                                                                   \
    }                                                                                                                  \
    static const tni_module_class operation##_class = {                                                                \
        .object = {.name = text, .bytes = sizeof(loss), .destroy = tni_module_destroy},                                \
        .forward = tni_loss_forward,                                                                                   \
        .loss = operation,                                                                                             \
        .bare = bare,                                                                                                  \
        .stateless = (weights) == 0,                                                                                   \
    };

LOSS(mse, "MSELoss", 0, tn_mse_loss(x, target, self->options.reduction))
LOSS(l1, "L1Loss", 0, tn_l1_loss(x, target, self->options.reduction))
LOSS(smooth_l1, "SmoothL1Loss", 0, tn_smooth_l1_loss(x, target, self->size, self->options.reduction))
LOSS(huber, "HuberLoss", 0, tn_huber_loss(x, target, self->size, self->options.reduction))
LOSS(bce, "BCELoss", 1, tn_bce_loss_weighted(x, target, weight_of(self, WEIGHT), self->options.reduction))
LOSS(bce_with_logits, "BCEWithLogitsLoss", 2,
     tn_bce_with_logits_weighted(x, target, weight_of(self, WEIGHT), weight_of(self, POS_WEIGHT),
                                 self->options.reduction))
LOSS(nll, "NLLLoss", 1,
     tn_nll_loss_weighted(x, target, weight_of(self, WEIGHT), self->options.ignore_index, self->options.reduction))
LOSS(kl_div, "KLDivLoss", 0, tn_kl_div(x, target, self->logs, self->options.reduction))
LOSS(poisson_nll, "PoissonNLLLoss", 0,
     tn_poisson_nll_loss(x, target, self->logs, self->full, self->size, self->options.reduction))

static tn_tensor *cross_entropy_of(const loss *self, tn_tensor *x, tn_tensor *target)
{
    tn_cross_entropy_options options = self->options;
    options.weight = weight_of(self, WEIGHT);
    return tn_cross_entropy_with(x, target, &options);
}

LOSS(cross_entropy, "CrossEntropyLoss", 1, cross_entropy_of(self, x, target))

/* A loss of that class with the first n of the weights, which may be NULL, as buffers. */
static tn_module *make(const tni_module_class *type, const loss *settings, int n, tn_tensor *weight,
                       tn_tensor *pos_weight)
{
    static const char *const names[WEIGHTS] = {"weight", "pos_weight"};
    tn_tensor *const weights[WEIGHTS] = {weight, pos_weight};
    loss *self = tn_error_code() ? NULL : tn_object_new(&type->object);
    if (!self)
        return NULL;
    self->size = settings->size;
    self->logs = settings->logs;
    self->full = settings->full;
    self->options = settings->options;
    self->options.weight = NULL;
    for (int i = 0; i < n && !tn_error_code(); i++)
        tni_module_put(type->object.name, &self->module, names[i], weights[i], true);
    if (tn_error_code())
        tn_drop(&self);
    return self ? &self->module : NULL;
}

tn_module *tn_mse_loss_module(tn_reduction reduction)
{
    return make(&mse_class, &(loss){.options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_l1_loss_module(tn_reduction reduction)
{
    return make(&l1_class, &(loss){.options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_smooth_l1_loss_module(double beta, tn_reduction reduction)
{
    return make(&smooth_l1_class, &(loss){.size = beta, .options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_huber_loss_module(double delta, tn_reduction reduction)
{
    return make(&huber_class, &(loss){.size = delta, .options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_bce_loss_module(tn_tensor *weight, tn_reduction reduction)
{
    return make(&bce_class, &(loss){.options.reduction = reduction}, 1, weight, NULL);
}

tn_module *tn_bce_with_logits_module(tn_tensor *weight, tn_tensor *pos_weight, tn_reduction reduction)
{
    return make(&bce_with_logits_class, &(loss){.options.reduction = reduction}, 2, weight, pos_weight);
}

tn_module *tn_kl_div_module(bool log_target, tn_reduction reduction)
{
    return make(&kl_div_class, &(loss){.logs = log_target, .options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_poisson_nll_loss_module(bool log_input, bool full, double eps, tn_reduction reduction)
{
    return make(&poisson_nll_class,
                &(loss){.size = eps, .logs = log_input, .full = full, .options.reduction = reduction}, 0, NULL, NULL);
}

tn_module *tn_nll_loss_module(tn_tensor *weight, int64_t ignore_index, tn_reduction reduction)
{
    return make(&nll_class, &(loss){.options = {.reduction = reduction, .ignore_index = ignore_index}}, 1, weight,
                NULL);
}

tn_module *tn_cross_entropy_module(const tn_cross_entropy_options *options)
{
    const loss settings = {.options = options ? *options : (tn_cross_entropy_options){.reduction = TN_MEAN}};
    return make(&cross_entropy_class, &settings, 1, settings.options.weight, NULL);
}

tn_tensor *tn_forward_loss(tn_module *module, tn_tensor *input, tn_tensor *target)
{
    const char *function = "forward_loss";
    if (!tni_module_ready(module, function))
        return NULL;
    if (!input || !target) {
        TN_FAIL_NULL(function, input ? 3 : 2, input ? "target" : "input");
        return NULL;
    }
    if (!tni_module_type(module)->loss) {
        TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is no loss, needed one, or tn_forward", tni_module_shown_name(module));
        return NULL;
    }
    return tni_module_type(module)->loss(module, input, target);
}
