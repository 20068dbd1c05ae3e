/* Schedules: making and stepping them, and their state as numbers with names. The kinds are in lr_*.c. */
#include "schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t own_size(const tn_schedule *self)
{
    return self->kind->n_numbers + self->n_groups + self->n_milestones;
}

static void destroy(void *object)
{
    tn_schedule *self = object;
    for (int64_t i = 0; i < self->n_parts; i++)
        tn_release(&self->parts[i]);
    tn_deallocate(self->parts, (size_t)self->n_parts * sizeof *self->parts);
    if (self->kind)
        tn_deallocate(self->numbers, (size_t)own_size(self) * sizeof *self->numbers);
    tn_release(&self->optimizer);
}

static const tn_object_class schedule_class = {.name = "schedule", .bytes = sizeof(tn_schedule), .destroy = destroy};

double *tni_rate(const tn_schedule *self, int64_t group)
{
    return &self->optimizer->groups[group].option[TNI_LR];
}

static tn_status check_numbers(const char *function, const tni_schedule_kind *kind, const double *numbers)
{
    for (int i = 0; i < kind->n_numbers; i++)
        if (tni_option_check(function, kind->numbers[i].name, kind->numbers[i].range, numbers[i]))
            return tn_error_code();
    return TN_OK;
}

static tn_status check_milestones(const char *function, const double *milestones, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (tni_option_check(function, "a milestone", TNI_COUNT, milestones[i]))
            return tn_error_code();
    return TN_OK;
}

static tn_status allocate(tn_schedule *self, const char *function, int64_t n_parts)
{
    self->numbers = tn_allocate((size_t)own_size(self) * sizeof *self->numbers, function);
    if (self->numbers && n_parts > 0)
        self->parts = tn_allocate((size_t)n_parts * sizeof *self->parts, function);
    self->n_parts = self->parts ? n_parts : 0;
    return tn_error_code();
}

tn_schedule *tni_schedule_new(const char *function, const tni_schedule_kind *kind, tn_optimizer *optimizer,
                              const double *numbers, const double *milestones, int64_t n_milestones, int64_t n_parts)
{
    if (!tn_error_code() && !optimizer)
        TN_FAIL_NULL(function, 1, "optimizer");
    if (tn_error_code() || check_numbers(function, kind, numbers) ||
        check_milestones(function, milestones, n_milestones))
        return NULL;
    tn_schedule *self = tn_object_new(&schedule_class);
    tn_error_rename(function, NULL);
    if (!self)
        return NULL;
    self->kind = kind;
    self->n_groups = optimizer->n_groups;
    self->n_milestones = n_milestones;
    if (allocate(self, function, n_parts)) {
        tn_drop(&self);
        return NULL;
    }
    self->optimizer = tn_retain(optimizer);
    self->base = self->numbers + kind->n_numbers;
    self->milestones = self->base + self->n_groups;
    memcpy(self->numbers, numbers, (size_t)kind->n_numbers * sizeof *numbers);
    if (n_milestones > 0)
        memcpy(self->milestones, milestones, (size_t)n_milestones * sizeof *milestones);
    for (int64_t g = 0; g < self->n_groups; g++) {
        tni_group *group = &optimizer->groups[g];
        if (!group->has_initial_lr) {
            group->has_initial_lr = true;
            group->initial_lr = group->option[TNI_LR];
        }
        self->base[g] = group->initial_lr;
    }
    return self;
}

tn_schedule *tni_schedule_make(const char *function, const tni_schedule_kind *kind, tn_optimizer *optimizer,
                               const double *numbers, const double *milestones, int64_t n_milestones)
{
    tn_schedule *self = tni_schedule_new(function, kind, optimizer, numbers, milestones, n_milestones, 0);
    if (self)
        tni_schedule_begin(self);
    return self;
}

void tni_schedule_begin(tn_schedule *self)
{
    self->numbers[TNI_LAST_EPOCH] = 0;
    for (int64_t g = 0; self->kind->first && g < self->n_groups; g++)
        *tni_rate(self, g) = self->kind->first(self, *tni_rate(self, g));
}

void tni_schedule_advance(tn_schedule *self, double metric)
{
    self->numbers[TNI_LAST_EPOCH]++;
    if (self->kind->step) {
        self->kind->step(self, metric);
        return;
    }
    for (int64_t g = 0; g < self->n_groups; g++)
        *tni_rate(self, g) = self->kind->next(self, *tni_rate(self, g), self->base[g]);
}

static bool is_there(const tn_schedule *self, const char *function)
{
    if (!tn_error_code() && !self)
        TN_FAIL_NULL(function, 1, "schedule");
    return !tn_error_code();
}

static tn_status check_step(const tn_schedule *self, const char *function)
{
    if (!is_there(self, function))
        return tn_error_code();
    if (self->is_part)
        return TN_FAIL(TN_ERROR_STATE, function, "the schedule is part of a sequence, needed the sequence");
    if (self->n_groups != self->optimizer->n_groups)
        return TN_FAIL(TN_ERROR_STATE, function,
                       "the optimizer has %" PRId64 " groups and had %" PRId64 " when the schedule was made",
                       self->optimizer->n_groups, self->n_groups);
    return TN_OK;
}

tn_status tn_schedule_step(tn_schedule *self)
{
    if (check_step(self, "schedule_step"))
        return tn_error_code();
    if (self->kind->needs_metric)
        return TN_FAIL(TN_ERROR_ARGUMENT, "schedule_step", "a plateau needs its metric: schedule_step_metric");
    tni_schedule_advance(self, 0);
    return TN_OK;
}

tn_status tn_schedule_step_metric(tn_schedule *self, double metric)
{
    if (check_step(self, "schedule_step_metric"))
        return tn_error_code();
    tni_schedule_advance(self, metric);
    return TN_OK;
}

const char *tn_schedule_name(const tn_schedule *self)
{
    return is_there(self, "schedule_name") ? self->kind->name : NULL;
}

/* The whole state in order: a schedule's own numbers, then those of its parts. */
static int64_t state_size(const tn_schedule *self)
{
    int64_t n = own_size(self);
    for (int64_t i = 0; i < self->n_parts; i++)
        n += own_size(self->parts[i]);
    return n;
}

typedef struct place {
    const tn_schedule *owner;
    int64_t part; /* -1: the schedule itself */
    int64_t i;    /* among the owner's numbers */
} place;

static place find(const tn_schedule *self, int64_t i)
{
    place p = {self, -1, i};
    while (p.i >= own_size(p.owner)) {
        p.i -= own_size(p.owner);
        p.owner = self->parts[++p.part];
    }
    return p;
}

static int write_name(char *buf, size_t size, const place *p)
{
    const tni_schedule_kind *kind = p->owner->kind;
    const int64_t base = p->i - kind->n_numbers, milestone = base - p->owner->n_groups;
    char part[24] = "";
    if (p->part >= 0)
        snprintf(part, sizeof part, "%" PRId64 ".", p->part);
    if (base < 0)
        return snprintf(buf, size, "%s%s", part, kind->numbers[p->i].name);
    if (milestone < 0)
        return snprintf(buf, size, "%sbase_lr.%" PRId64, part, base);
    return snprintf(buf, size, "%smilestone.%" PRId64, part, milestone);
}

int64_t tn_schedule_state_size(const tn_schedule *self)
{
    return is_there(self, "schedule_state_size") ? state_size(self) : 0;
}

int tn_schedule_state_name(const tn_schedule *self, int64_t i, char *buf, size_t size)
{
    const char *function = "schedule_state_name";
    if (size > 0 && buf)
        buf[0] = '\0';
    if (!is_there(self, function))
        return 0;
    if (i < 0 || i >= state_size(self)) {
        TN_FAIL(TN_ERROR_INDEX, function, "there is no number %" PRId64 ": the state has %" PRId64, i,
                state_size(self));
        return 0;
    }
    const place p = find(self, i);
    return write_name(buf, size, &p);
}

tn_status tn_schedule_get_state(const tn_schedule *self, double *numbers)
{
    if (!is_there(self, "schedule_get_state"))
        return tn_error_code();
    if (!numbers)
        return TN_FAIL_NULL("schedule_get_state", 2, "numbers");
    for (int64_t i = 0, n = state_size(self); i < n; i++) {
        const place p = find(self, i);
        numbers[i] = p.owner->numbers[p.i];
    }
    return TN_OK;
}

static tn_status check_number(const char *function, const place *p, double value)
{
    const tni_schedule_kind *kind = p->owner->kind;
    const int64_t base = p->i - kind->n_numbers;
    const tni_range range = base < 0                    ? kind->numbers[p->i].range
                            : base < p->owner->n_groups ? TNI_FROM_ZERO
                                                        : TNI_COUNT;
    char name[64];
    write_name(name, sizeof name, p);
    return tni_option_check(function, name, range, value);
}

static tn_status check_state(const tn_schedule *self, const char *function, const double *numbers)
{
    for (int64_t i = 0, n = state_size(self); i < n; i++) {
        const place p = find(self, i);
        if (check_number(function, &p, numbers[i]))
            return tn_error_code();
    }
    return TN_OK;
}

tn_status tn_schedule_set_state(tn_schedule *self, const double *numbers, int64_t n)
{
    const char *function = "schedule_set_state";
    if (!is_there(self, function))
        return tn_error_code();
    if (!numbers)
        return TN_FAIL_NULL(function, 2, "numbers");
    if (n != state_size(self))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%" PRId64 " numbers, needed %" PRId64, n, state_size(self));
    if (check_state(self, function, numbers))
        return tn_error_code();
    for (int64_t i = 0; i < n; i++) {
        const place p = find(self, i);
        p.owner->numbers[p.i] = numbers[i];
    }
    return TN_OK;
}

/* Where the number of that name is; false with an error. */
static bool find_name(const tn_schedule *self, const char *function, const char *name, place *p)
{
    char other[64];
    if (!is_there(self, function))
        return false;
    if (!name) {
        TN_FAIL_NULL(function, 2, "name");
        return false;
    }
    for (int64_t i = 0, n = state_size(self); i < n; i++) {
        *p = find(self, i);
        write_name(other, sizeof other, p);
        if (strcmp(other, name) == 0)
            return true;
    }
    TN_FAIL(TN_ERROR_NAME, function, "the schedule has no number '%.60s'", name);
    return false;
}

tn_status tn_schedule_set(tn_schedule *self, const char *name, double value)
{
    place p;
    if (find_name(self, "schedule_set", name, &p) && !check_number("schedule_set", &p, value))
        p.owner->numbers[p.i] = value;
    return tn_error_code();
}

double tn_schedule_get(const tn_schedule *self, const char *name)
{
    place p;
    return find_name(self, "schedule_get", name, &p) ? p.owner->numbers[p.i] : (double)NAN;
}
