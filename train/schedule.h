/* What a schedule is inside. A kind of schedule is one file (lr_step.c, lr_cosine.c): a constant table of its numbers,
 * and the rate at last_epoch from the rate before. schedule.c does the rest. */
#ifndef TNI_TRAIN_SCHEDULE_H
#define TNI_TRAIN_SCHEDULE_H

#include <tenon/schedule.h>

#include "optimizer.h"

enum { TNI_NUMBERS = 12, TNI_LAST_EPOCH = 0 };

typedef struct tni_schedule_kind {
    const char *name; /* "step" */
    /* Settings and state by number; number 0 is last_epoch, -1 before the first rate is set. */
    tni_option numbers[TNI_NUMBERS];
    int n_numbers;
    /* The rate at last_epoch: from that at last_epoch - 1; at 0, from the optimizer's; and at 0 once more, when a
     * sequence comes to this schedule. NULL: the rate as it is, and the base. */
    double (*next)(const tn_schedule *self, double lr, double base);
    double (*first)(const tn_schedule *self, double lr);
    double (*again)(const tn_schedule *self, double base);
    /* Instead of these, for a kind that steps in its own way. */
    void (*step)(tn_schedule *self, double metric);
    bool needs_metric;
} tni_schedule_kind;

struct tn_schedule {
    tn_object object;
    const tni_schedule_kind *kind;
    tn_optimizer *optimizer;
    double *numbers;                         /* the kind's, then base rates, then milestones */
    double *base, *milestones;               /* these, in there */
    int64_t n_groups, n_milestones;
    tn_schedule **parts;                     /* of a sequence */
    int64_t n_parts;
    bool is_part;
};

/* A schedule with those numbers, which has set the first rate. */
tn_schedule *tni_schedule_make(const char *function, const tni_schedule_kind *kind, tn_optimizer *optimizer,
                               const double *numbers, const double *milestones, int64_t n_milestones);

/* The same with room for parts, whose first rate is not set yet. */
tn_schedule *tni_schedule_new(const char *function, const tni_schedule_kind *kind, tn_optimizer *optimizer,
                              const double *numbers, const double *milestones, int64_t n_milestones, int64_t n_parts);

/* Sets the rate at t = 0, or at the next t. */
void tni_schedule_begin(tn_schedule *self);
void tni_schedule_advance(tn_schedule *self, double metric);

/* A group's rate. */
double *tni_rate(const tn_schedule *self, int64_t group);

#endif
