/* One schedule after another (torch.optim.lr_scheduler.SequentialLR). */
#include "schedule.h"

enum { NUMBERS = 1 };

static void step(tn_schedule *self, double metric)
{
    const double t = self->numbers[TNI_LAST_EPOCH];
    int64_t i = 0;
    while (i < self->n_milestones && self->milestones[i] <= t)
        i++;
    tn_schedule *part = self->parts[i];
    if (i == 0 || self->milestones[i - 1] != t) {
        tni_schedule_advance(part, metric);
        return;
    }
    part->numbers[TNI_LAST_EPOCH] = 0;
    for (int64_t g = 0; g < part->n_groups; g++)
        *tni_rate(part, g) = part->kind->again ? part->kind->again(part, part->base[g]) : part->base[g];
}

static const tni_schedule_kind kind = {
    .name = "sequential",
    .numbers = {{"last_epoch", TNI_EPOCH, -1}},
    .n_numbers = NUMBERS,
    .step = step,
};

static tn_status check_part(const char *function, tn_schedule *const *parts, int i)
{
    if (!parts[i])
        return TN_FAIL(TN_ERROR_NULL, function, "schedule %d is NULL", i);
    if (parts[i]->kind->step)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "schedule %d is %s, which can't be part of a sequence", i,
                       parts[i]->kind->name);
    if (parts[i]->is_part)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "schedule %d is part of a sequence already", i);
    if (parts[i]->optimizer != parts[0]->optimizer)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "schedules 0 and %d have two optimizers, needed one", i);
    for (int k = 0; k < i; k++)
        if (parts[k] == parts[i])
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "schedules %d and %d are the same, needed each once", k, i);
    if (parts[i]->n_groups != parts[i]->optimizer->n_groups)
        return TN_FAIL(TN_ERROR_STATE, function, "a group came to the optimizer since schedule %d was made", i);
    return TN_OK;
}

static tn_status check(const char *function, tn_schedule *const *parts, int n, const int64_t *milestones)
{
    if (tn_error_code())
        return tn_error_code();
    if (!parts)
        return TN_FAIL_NULL(function, 1, "schedules");
    if (n < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%d schedules, needed at least one", n);
    if (n > 1 && !milestones)
        return TN_FAIL_NULL(function, 3, "milestones");
    for (int i = 0; i < n; i++)
        if (check_part(function, parts, i))
            return tn_error_code();
    for (int i = 1; i < n - 1; i++)
        if (milestones[i] <= milestones[i - 1])
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "milestone %lld comes after %lld, needed growing ones",
                           (long long)milestones[i], (long long)milestones[i - 1]);
    return TN_OK;
}

tn_schedule *tn_sequential_lr(tn_schedule *const *schedules, int n, const int64_t *milestones)
{
    const char *function = "sequential_lr";
    const double numbers[NUMBERS] = {-1};
    if (check(function, schedules, n, milestones))
        return NULL;
    double *at = tn_allocate((size_t)n * sizeof *at, function);
    if (!at)
        return NULL;
    for (int i = 0; i < n - 1; i++)
        at[i] = (double)milestones[i];
    tn_schedule *self = tni_schedule_new(function, &kind, schedules[0]->optimizer, numbers, at, n - 1, n);
    tn_deallocate(at, (size_t)n * sizeof *at);
    if (!self)
        return NULL;
    for (int64_t i = 0; i < n; i++) {
        self->parts[i] = tn_retain(schedules[i]);
        self->parts[i]->is_part = true;
        self->parts[i]->numbers[TNI_LAST_EPOCH] = -1;
    }
    for (int64_t g = 0; g < self->n_groups; g++)
        *tni_rate(self, g) = self->base[g];
    tni_schedule_begin(self);
    tni_schedule_begin(self->parts[0]);
    return self;
}
