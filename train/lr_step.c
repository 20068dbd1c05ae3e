/* lr times gamma at every step_size-th t (torch.optim.lr_scheduler.StepLR). */
#include <math.h>

#include "schedule.h"

enum { STEP_SIZE = 1, GAMMA, NUMBERS };

static double next(const tn_schedule *self, double lr, double base)
{
    (void)base;
    return fmod(self->numbers[TNI_LAST_EPOCH], self->numbers[STEP_SIZE]) == 0 ? lr * self->numbers[GAMMA] : lr;
}

static const tni_schedule_kind kind = {
    .name = "step",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}, [STEP_SIZE] = {"step_size", TNI_COUNT, 0},
                [GAMMA] = {"gamma", TNI_FROM_ZERO, 0}},
    .n_numbers = NUMBERS,
    .next = next,
};

tn_schedule *tn_step_lr(tn_optimizer *optimizer, int64_t step_size, double gamma)
{
    const double numbers[NUMBERS] = {-1, (double)step_size, gamma};
    return tni_schedule_make("step_lr", &kind, optimizer, numbers, NULL, 0);
}
