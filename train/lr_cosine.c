/* Half a cosine from the base down to eta_min in t_max steps, and up again: torch.optim.lr_scheduler.CosineAnnealingLR.
 * The rate follows from the one before by the ratio of 1 + cos at both times; where that was 0, at the bottom, from the
 * base. */
#include <math.h>

#include "schedule.h"

enum { T_MAX = 1, ETA_MIN, NUMBERS };

static const double pi = 3.14159265358979323846;

static double next(const tn_schedule *self, double lr, double base)
{
    const double t = self->numbers[TNI_LAST_EPOCH], t_max = self->numbers[T_MAX], least = self->numbers[ETA_MIN];
    if (fmod(t - 1 - t_max, 2 * t_max) == 0)
        return lr + (base - least) * (1 - cos(pi / t_max)) / 2;
    return (1 + cos(pi * t / t_max)) / (1 + cos(pi * (t - 1) / t_max)) * (lr - least) + least;
}

static double again(const tn_schedule *self, double base)
{
    const double least = self->numbers[ETA_MIN];
    return least + (base - least) * (1 + cos(0.0)) / 2;
}

static const tni_schedule_kind kind = {
    .name = "cosine_annealing",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}, [T_MAX] = {"t_max", TNI_COUNT, 0},
                [ETA_MIN] = {"eta_min", TNI_FROM_ZERO, 0}},
    .n_numbers = NUMBERS,
    .next = next,
    .again = again,
};

tn_schedule *tn_cosine_annealing_lr(tn_optimizer *optimizer, int64_t t_max, double eta_min)
{
    const double numbers[NUMBERS] = {-1, (double)t_max, eta_min};
    return tni_schedule_make("cosine_annealing_lr", &kind, optimizer, numbers, NULL, 0);
}
