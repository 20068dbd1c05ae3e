/* See train_optimizer.h. */
#include "train_optimizer.h"

#include <stddef.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "report.h"

/* Which optimizers and schedules have an option, as bits of their numbers. */
enum {
    SGD = 1 << OPTIMIZER_SGD,
    ADAM = 1 << OPTIMIZER_ADAM | 1 << OPTIMIZER_ADAMW,
    RMSPROP = 1 << OPTIMIZER_RMSPROP,
    LBFGS = 1 << OPTIMIZER_LBFGS
};

typedef struct knob {
    const char *name, *option; /* on the command line; the library's */
    double value;
    bool given;
    int of;
} knob;

static knob number(const char *name, const char *option, double value, int of)
{
    return (knob){name, option, value, value >= 0, of};
}

static knob flag(const char *name, const char *option, bool value, int of)
{
    return (knob){name, option, value, value, of};
}

static knob whole(const char *name, const char *option, int64_t value, int of)
{
    return (knob){name, option, (double)value, value > 0, of};
}

/* "sgd or rmsprop" */
static const char *write_owners(char *buf, size_t size, int of, const char *const *words)
{
    size_t used = 0;
    for (int i = 0; words[i] && used < size; i++)
        if (of >> i & 1)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? " or " : "", words[i]);
    return buf;
}

/* The first option that is given and that the chosen one does not have is told of. */
static bool all_known(const knob *knobs, int n, int chosen, const char *option, const char *const *words)
{
    char owners[80];
    for (int i = 0; i < n; i++)
        if (knobs[i].given && !(knobs[i].of >> chosen & 1)) {
            report("train", "--%s: found it beside --%s %s, needed --%s %s", knobs[i].name, option, words[chosen],
                   option, write_owners(owners, sizeof owners, knobs[i].of, words));
            report_hint("train");
            return false;
        }
    return true;
}

/* What options ask of each other. */
static bool fit_together(const train_options *asked)
{
    const char *wrong = asked->nesterov && !(asked->momentum > 0) ? "--nesterov: needed --momentum above 0 with it"
                        : asked->nesterov && asked->dampening > 0  ? "--nesterov: needed no --dampening with it"
                        : asked->eta_min > asked->lr ? "--eta-min: found more than --lr, needed the lowest rate" : NULL;
    if (wrong)
        report("train", "%s", wrong);
    return !wrong;
}

static tn_optimizer *make_optimizer(const train_options *asked, const tn_list *parameters)
{
    const double lr = asked->lr;
    tn_adam_options adam = {.lr = lr, .amsgrad = asked->amsgrad};
    switch ((enum optimizer_kind)asked->optimizer) {
    case OPTIMIZER_SGD:
        return tn_sgd(parameters, &(tn_sgd_options){.lr = lr});
    case OPTIMIZER_ADAM:
        return tn_adam(parameters, &adam);
    case OPTIMIZER_ADAMW:
        return tn_adamw(parameters, &adam);
    case OPTIMIZER_RMSPROP:
        return tn_rmsprop(parameters, &(tn_rmsprop_options){.lr = lr});
    case OPTIMIZER_LBFGS:
        return tn_lbfgs(parameters, &(tn_lbfgs_options){.lr = lr,
                                                        .max_iter = asked->max_iter,
                                                        .history_size = asked->history_size,
                                                        .strong_wolfe = asked->strong_wolfe});
    }
    return NULL;
}

static tn_schedule *make_schedule(const train_options *asked, tn_optimizer *optimizer)
{
    double gamma = asked->gamma >= 0 ? asked->gamma : asked->schedule == SCHEDULE_EXPONENTIAL ? 0.95 : 0.1;
    double lowest = asked->eta_min >= 0 ? asked->eta_min : 0;
    switch ((enum schedule_kind)asked->schedule) {
    case SCHEDULE_NONE:
        return NULL;
    case SCHEDULE_STEP:
        return tn_step_lr(optimizer, asked->step_size ? asked->step_size : 30, gamma);
    case SCHEDULE_EXPONENTIAL:
        return tn_exponential_lr(optimizer, gamma);
    case SCHEDULE_COSINE:
        return tn_cosine_annealing_lr(optimizer, asked->t_max, lowest);
    case SCHEDULE_WARMUP:
        return tn_linear_lr(optimizer, 0.1, 1, asked->warmup ? asked->warmup : 5);
    case SCHEDULE_PLATEAU:
        return tn_reduce_lr_on_plateau(optimizer, &(tn_plateau_options){.max = asked->monitor == TN_MONITOR_ACCURACY,
                                                                        .factor = gamma,
                                                                        .patience = asked->schedule_patience,
                                                                        .min_lr = lowest});
    }
    return NULL;
}

bool train_optimizer(const train_options *asked, tn_module *net, tn_optimizer **optimizer, tn_schedule **schedule)
{
    enum { DECAYS = SGD | ADAM | RMSPROP };
    const knob knobs[] = {
        number("lr", "lr", asked->lr, DECAYS | LBFGS),
        number("momentum", "momentum", asked->momentum, SGD | RMSPROP),
        number("dampening", "dampening", asked->dampening, SGD),
        flag("nesterov", "nesterov", asked->nesterov, SGD),
        number("weight-decay", "weight_decay", asked->weight_decay, DECAYS),
        number("beta1", "beta1", asked->beta1, ADAM),
        number("beta2", "beta2", asked->beta2, ADAM),
        number("eps", "eps", asked->eps, ADAM | RMSPROP),
        flag("amsgrad", "amsgrad", asked->amsgrad, ADAM),
        number("alpha", "alpha", asked->alpha, RMSPROP),
        flag("centered", "centered", asked->centered, RMSPROP),
        whole("max-iter", NULL, asked->max_iter, LBFGS),
        whole("history-size", NULL, asked->history_size, LBFGS),
        flag("strong-wolfe", NULL, asked->strong_wolfe, LBFGS),
    };
    const knob rates[] = {
        whole("step-size", NULL, asked->step_size, 1 << SCHEDULE_STEP),
        number("gamma", NULL, asked->gamma, 1 << SCHEDULE_STEP | 1 << SCHEDULE_EXPONENTIAL | 1 << SCHEDULE_PLATEAU),
        number("eta-min", NULL, asked->eta_min, 1 << SCHEDULE_COSINE | 1 << SCHEDULE_PLATEAU),
        whole("t-max", NULL, asked->t_max, 1 << SCHEDULE_COSINE),
        whole("warmup", NULL, asked->warmup, 1 << SCHEDULE_WARMUP),
        whole("lr-patience", NULL, asked->schedule_patience, 1 << SCHEDULE_PLATEAU),
    };
    enum { KNOBS = sizeof knobs / sizeof *knobs, RATES = sizeof rates / sizeof *rates };
    if (!all_known(knobs, KNOBS, asked->optimizer, "optimizer", optimizer_words) ||
        !all_known(rates, RATES, asked->schedule, "schedule", schedule_words) || !fit_together(asked))
        return false;
    *optimizer = make_optimizer(asked, tn_parameters(net));
    for (int i = 0; i < KNOBS; i++)
        if (knobs[i].given && knobs[i].option)
            tn_optimizer_set(*optimizer, -1, knobs[i].option, knobs[i].value);
    *schedule = make_schedule(asked, *optimizer);
    return true;
}
