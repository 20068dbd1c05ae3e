/* lr times gamma at each t (torch.optim.lr_scheduler.ExponentialLR). */
#include "schedule.h"

enum { GAMMA = 1, NUMBERS };

static double next(const tn_schedule *self, double lr, double base)
{
    (void)base;
    return lr * self->numbers[GAMMA];
}

static const tni_schedule_kind kind = {
    .name = "exponential",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}, [GAMMA] = {"gamma", TNI_FROM_ZERO, 0}},
    .n_numbers = NUMBERS,
    .next = next,
};

tn_schedule *tn_exponential_lr(tn_optimizer *optimizer, double gamma)
{
    const double numbers[NUMBERS] = {-1, gamma};
    return tni_schedule_make("exponential_lr", &kind, optimizer, numbers, NULL, 0);
}
