/* A factor that goes from start_factor to end_factor in total_iters steps: warm-up (torch.optim.lr_scheduler.LinearLR).
 */
#include "schedule.h"

enum { START_FACTOR = 1, END_FACTOR, TOTAL_ITERS, NUMBERS };

static double next(const tn_schedule *self, double lr, double base)
{
    const double start = self->numbers[START_FACTOR], change = self->numbers[END_FACTOR] - start;
    const double total = self->numbers[TOTAL_ITERS], t = self->numbers[TNI_LAST_EPOCH];
    (void)base;
    return t > total ? lr : lr * (1.0 + change / (total * start + (t - 1) * change));
}

static double first(const tn_schedule *self, double lr)
{
    return lr * self->numbers[START_FACTOR];
}

static const tni_schedule_kind kind = {
    .name = "linear",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}, [START_FACTOR] = {"start_factor", TNI_SHARE_ABOVE_ZERO, 0},
                [END_FACTOR] = {"end_factor", TNI_SHARE, 0}, [TOTAL_ITERS] = {"total_iters", TNI_COUNT, 0}},
    .n_numbers = NUMBERS,
    .next = next,
    .first = first,
    .again = first,
};

tn_schedule *tn_linear_lr(tn_optimizer *optimizer, double start_factor, double end_factor, int64_t total_iters)
{
    const double numbers[NUMBERS] = {-1, start_factor, end_factor, (double)total_iters};
    return tni_schedule_make("linear_lr", &kind, optimizer, numbers, NULL, 0);
}
