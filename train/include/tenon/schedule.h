/* Schedules: the learning rate of an optimizer's groups from epoch to epoch (or step to step). */
#ifndef TENON_SCHEDULE_H
#define TENON_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/optim.h>

TN_BEGIN

/* A schedule sets `lr` of every group of its optimizer, which it holds: when it is made, and at each tn_schedule_step.
 * The rate a group had when the first schedule of the optimizer was made is its base. Rates follow from the one before,
 * by PyTorch's recursions, so that their bits are PyTorch's.
 *
 *     tn_schedule *rate = tn_cosine_annealing_lr(opt, 100, 0);
 *     for (epoch ...) {
 *         ... steps of opt ...
 *         tn_schedule_step(rate);
 *     }
 */
typedef struct tn_schedule tn_schedule;

/* Makers; t counts the calls of tn_schedule_step.
 *     step              lr times gamma at every step_size-th t
 *     multi_step        lr times gamma at each of the milestones; at one that is there k times, times gamma^k
 *     exponential       lr times gamma at each t
 *     cosine_annealing  eta_min + (base - eta_min) (1 + cos(pi t / t_max)) / 2: down until t_max, then up again
 *     linear            base times a factor that goes from start_factor to end_factor in total_iters steps: warm-up
 * step_size, total_iters, t_max  1 or more
 * gamma         0 or more
 * milestones    n of them, 1 or more, in any order; n 0 or more
 * eta_min       0 or more
 * start_factor  above 0, at most 1             end_factor  0 to 1
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT, TN_ERROR_MEMORY; then NULL, and the rates are as they were
 * source  torch.optim.lr_scheduler.StepLR, MultiStepLR, ExponentialLR, CosineAnnealingLR, LinearLR; Loshchilov & Hutter
 *         2017, arXiv:1608.03983 */
TN_API tn_schedule *tn_step_lr(tn_optimizer *optimizer, int64_t step_size, double gamma);
TN_API tn_schedule *tn_multi_step_lr(tn_optimizer *optimizer, const int64_t *milestones, int n, double gamma);
TN_API tn_schedule *tn_exponential_lr(tn_optimizer *optimizer, double gamma);
TN_API tn_schedule *tn_cosine_annealing_lr(tn_optimizer *optimizer, int64_t t_max, double eta_min);
TN_API tn_schedule *tn_linear_lr(tn_optimizer *optimizer, double start_factor, double end_factor, int64_t total_iters);

/* One schedule after another: number i until t is milestones[i], then the next one from its beginning. Warm-up of 5
 * epochs, then a cosine:
 *
 *     tn_schedule *parts[] = {tn_linear_lr(opt, 0.1, 1, 5), tn_cosine_annealing_lr(opt, 95, 0)};
 *     tn_schedule *rate = tn_sequential_lr(parts, 2, (int64_t[]){5});
 *
 * schedules   n of them, 1 or more, of one optimizer; from then on they are stepped through this one alone
 * milestones  n - 1 of them, 1 or more, growing
 * errors      TN_ERROR_NULL, TN_ERROR_ARGUMENT (a plateau or another sequence among them, two optimizers),
 *             TN_ERROR_MEMORY; then NULL
 * source      torch.optim.lr_scheduler.SequentialLR */
TN_API tn_schedule *tn_sequential_lr(tn_schedule *const *schedules, int n, const int64_t *milestones);

/* Options; 0 (false) stands for the default. 0 itself is asked for afterwards: tn_schedule_set(rate, "eps", 0). */
typedef struct tn_plateau_options {
    bool max;             /* the metric is to grow; else to fall */
    double factor;        /* 0.1; below 1 */
    int64_t patience;     /* 10; -1: none, which is PyTorch's 0 */
    double threshold;     /* 1e-4: what counts as better, by this share of the best, */
    bool threshold_abs;   /* or by this much */
    int64_t cooldown;     /* 0: steps after a cut that count nothing as bad */
    double min_lr;        /* 0 */
    double eps;           /* 1e-8: a smaller change of the rate is left */
} tn_plateau_options;

/* lr times factor when the metric hasn't become better for more than `patience` steps: tn_schedule_step_metric.
 * options  NULL: all defaults
 * errors   as the other makers'
 * source   torch.optim.lr_scheduler.ReduceLROnPlateau */
TN_API tn_schedule *tn_reduce_lr_on_plateau(tn_optimizer *optimizer, const tn_plateau_options *options);

/* The next t. A plateau needs its metric; the others do not look at it.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a plateau without metric), TN_ERROR_STATE (a group came to the optimizer
 *         since, or the schedule is part of a sequence); then nothing has changed
 * source  torch.optim.lr_scheduler.LRScheduler.step */
TN_API tn_status tn_schedule_step(tn_schedule *schedule);
TN_API tn_status tn_schedule_step_metric(tn_schedule *schedule, double metric);

/* "step", "multi_step", "exponential", "cosine_annealing", "linear", "sequential" or "plateau".
 * errors  TN_ERROR_NULL; then NULL */
TN_API const char *tn_schedule_name(const tn_schedule *schedule);

/* Everything a schedule knows, settings included, as numbers with names ("last_epoch", "gamma", "base_lr.0"; those of
 * parts of a sequence "0.gamma"), to be saved and put back bit for bit. The optimizer's rates are not among them: when
 * a run is taken up, make optimizer and schedule as before, then put back this state and the optimizer's.
 *   size  how many
 *   name  writes name i into buf, cut to size and terminated, and returns the length of the whole name, as snprintf
 *   get   writes all
 *   set   puts n numbers back
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX (no such name), TN_ERROR_ARGUMENT (another n, or a number out of its range: the
 *         message names it); then nothing has changed, 0 and "" */
TN_API int64_t tn_schedule_state_size(const tn_schedule *schedule);
TN_API int tn_schedule_state_name(const tn_schedule *schedule, int64_t i, char *buf, size_t size);
TN_API tn_status tn_schedule_get_state(const tn_schedule *schedule, double *numbers);
TN_API tn_status tn_schedule_set_state(tn_schedule *schedule, const double *numbers, int64_t n);

/* One of these numbers by its name: a setting that an option's 0 cannot say, or that changes on the way.
 * errors  TN_ERROR_NULL, TN_ERROR_NAME (no such number), TN_ERROR_ARGUMENT (out of range); then nothing has changed,
 *         and NaN */
TN_API tn_status tn_schedule_set(tn_schedule *schedule, const char *name, double value);
TN_API double tn_schedule_get(const tn_schedule *schedule, const char *name);

TN_END

#endif
