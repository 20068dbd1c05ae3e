/* lr times gamma at each milestone (torch.optim.lr_scheduler.MultiStepLR). */
#include <math.h>

#include "schedule.h"

enum { GAMMA = 1, NUMBERS };

static double next(const tn_schedule *self, double lr, double base)
{
    int64_t times = 0;
    (void)base;
    for (int64_t i = 0; i < self->n_milestones; i++)
        times += self->milestones[i] == self->numbers[TNI_LAST_EPOCH];
    return times == 0 ? lr : lr * pow(self->numbers[GAMMA], (double)times);
}

static const tni_schedule_kind kind = {
    .name = "multi_step",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}, [GAMMA] = {"gamma", TNI_FROM_ZERO, 0}},
    .n_numbers = NUMBERS,
    .next = next,
};

tn_schedule *tn_multi_step_lr(tn_optimizer *optimizer, const int64_t *milestones, int n, double gamma)
{
    const char *function = "multi_step_lr";
    const double numbers[NUMBERS] = {-1, gamma};
    if (tn_error_code())
        return NULL;
    if (n < 0 || (n > 0 && !milestones)) {
        if (n < 0)
            TN_FAIL(TN_ERROR_ARGUMENT, function, "%d milestones, needed 0 or more", n);
        else
            TN_FAIL_NULL(function, 2, "milestones");
        return NULL;
    }
    double *at = tn_allocate((size_t)(n + 1) * sizeof *at, function);
    if (!at)
        return NULL;
    for (int i = 0; i < n; i++)
        at[i] = (double)milestones[i];
    tn_schedule *self = tni_schedule_make(function, &kind, optimizer, numbers, at, n);
    tn_deallocate(at, (size_t)(n + 1) * sizeof *at);
    return self;
}
