/* lr times factor when a metric has ceased to become better (torch.optim.lr_scheduler.ReduceLROnPlateau). */
#include <math.h>

#include "schedule.h"

enum { MAX = 1, FACTOR, PATIENCE, THRESHOLD, THRESHOLD_ABS, COOLDOWN, MIN_LR, EPS, BEST, BAD, COOLDOWN_LEFT, NUMBERS };

static bool is_better(const double *s, double metric)
{
    const double best = s[BEST], threshold = s[THRESHOLD];
    if (s[MAX] != 0)
        return metric > (s[THRESHOLD_ABS] != 0 ? best + threshold : best * (threshold + 1.0));
    return metric < (s[THRESHOLD_ABS] != 0 ? best - threshold : best * (1.0 - threshold));
}

static void step(tn_schedule *self, double metric)
{
    double *s = self->numbers;
    if (is_better(s, metric)) {
        s[BEST] = metric;
        s[BAD] = 0;
    } else {
        s[BAD]++;
    }
    if (s[COOLDOWN_LEFT] > 0) {
        s[COOLDOWN_LEFT]--;
        s[BAD] = 0;
    }
    if (s[BAD] <= s[PATIENCE])
        return;
    for (int64_t g = 0; g < self->n_groups; g++) {
        double *lr = tni_rate(self, g), less = *lr * s[FACTOR];
        less = less < s[MIN_LR] ? s[MIN_LR] : less;
        if (*lr - less > s[EPS])
            *lr = less;
    }
    s[COOLDOWN_LEFT] = s[COOLDOWN];
    s[BAD] = 0;
}

static const tni_schedule_kind kind = {
    .name = "plateau",
    .numbers = {{"last_epoch", TNI_EPOCH, 0}, [MAX] = {"max", TNI_FLAG, 0}, [FACTOR] = {"factor", TNI_BELOW_ONE, 0.1},
                [PATIENCE] = {"patience", TNI_WHOLE, 10}, [THRESHOLD] = {"threshold", TNI_FROM_ZERO, 1e-4},
                [THRESHOLD_ABS] = {"threshold_abs", TNI_FLAG, 0}, [COOLDOWN] = {"cooldown", TNI_WHOLE, 0},
                [MIN_LR] = {"min_lr", TNI_FROM_ZERO, 0}, [EPS] = {"eps", TNI_FROM_ZERO, 1e-8},
                [BEST] = {"best", TNI_EVEN_INFINITE, 0}, [BAD] = {"num_bad_epochs", TNI_WHOLE, 0},
                [COOLDOWN_LEFT] = {"cooldown_counter", TNI_WHOLE, 0}},
    .n_numbers = NUMBERS,
    .step = step,
    .needs_metric = true,
};

static double given(double value, int number)
{
    return value != 0 ? value : kind.numbers[number].otherwise;
}

tn_schedule *tn_reduce_lr_on_plateau(tn_optimizer *optimizer, const tn_plateau_options *options)
{
    static const tn_plateau_options none;
    const tn_plateau_options *o = options ? options : &none;
    const double numbers[NUMBERS] = {[MAX] = o->max,
                                     [FACTOR] = given(o->factor, FACTOR),
                                     [PATIENCE] = o->patience == -1 ? 0 : given((double)o->patience, PATIENCE),
                                     [THRESHOLD] = given(o->threshold, THRESHOLD),
                                     [THRESHOLD_ABS] = o->threshold_abs,
                                     [COOLDOWN] = (double)o->cooldown,
                                     [MIN_LR] = o->min_lr,
                                     [EPS] = given(o->eps, EPS),
                                     [BEST] = o->max ? -INFINITY : INFINITY};
    return tni_schedule_make("reduce_lr_on_plateau", &kind, optimizer, numbers, NULL, 0);
}
