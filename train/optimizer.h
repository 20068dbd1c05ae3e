/* What an optimizer is inside. A kind of optimizer is one file (sgd.c, adam.c): a constant table of its options and of
 * what it remembers of each parameter, and the function that moves one. Everything else is shared: optimizer.c has
 * groups and steps, optimizer_state.c what a checkpoint puts back. */
#ifndef TNI_TRAIN_OPTIMIZER_H
#define TNI_TRAIN_OPTIMIZER_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/optim.h>
#include <tenon/tensor.h>

enum { TNI_OPTIONS = 10, TNI_STATES = 6, TNI_LR = 0 /* option 0 of every kind is the learning rate */ };

/* Which numbers an option takes. All but the last are finite. */
typedef enum tni_range {
    TNI_ANY,
    TNI_FROM_ZERO,        /* 0 or more */
    TNI_BELOW_ONE,        /* 0 or more and below 1 */
    TNI_SHARE,            /* 0 to 1 */
    TNI_SHARE_ABOVE_ZERO, /* above 0, at most 1 */
    TNI_FLAG,             /* 0 or 1 */
    TNI_COUNT,            /* 1, 2, ... */
    TNI_WHOLE,            /* 0, 1, ... */
    TNI_EPOCH,            /* -1, 0, ... */
    TNI_EVEN_INFINITE     /* and NaN */
} tni_range;

typedef struct tni_option {
    const char *name; /* PyTorch's; betas are beta1 and beta2 */
    tni_range range;
    double otherwise; /* the value where none is given */
} tni_option;

/* A parameter and what is remembered of it. */
typedef struct tni_slot {
    tn_tensor *parameter;
    tn_tensor *state[TNI_STATES]; /* numbered as the kind's states; NULL until a step needs it */
    unsigned fresh;               /* bits of the states that the step that runs has made: zeros */
    int64_t step;                 /* steps taken, where the kind counts them; else 0 */
    int64_t group;
} tni_slot;

typedef struct tni_group {
    double option[TNI_OPTIONS]; /* numbered as the kind's options */
    double initial_lr;          /* the rate when the first schedule was made */
    bool has_initial_lr;
} tni_group;

typedef struct tni_closure {
    tn_tensor *(*function)(void *context);
    void *context;
} tni_closure;

typedef struct tni_optimizer_kind {
    const char *name; /* "sgd" */
    tni_option options[TNI_OPTIONS];
    int n_options;
    const char *states[TNI_STATES]; /* PyTorch's names; shape and dtype are the parameter's unless fits says more */
    int n_states;
    bool counts_steps;
    /* Refuses options that do not go together; each is in its range. NULL: all do. */
    tn_status (*check)(const char *function, const double *options);
    /* Bits of the states that step is to find with those options. */
    unsigned (*needs)(const double *options);
    /* Moves one parameter, under no_grad. An error leaves it as it was. */
    tn_status (*step)(tni_slot *slot, tn_tensor *grad, const double *options);
    /* Instead of step, for a kind that asks for the loss itself; returns the loss at the start. */
    double (*minimise)(tn_optimizer *self, const tni_closure *closure);
    /* Whether a value may be state `which` of a slot, for a kind whose states are of other shapes. */
    bool (*fits)(const tn_optimizer *self, int64_t slot, int which, const tn_tensor *value);
} tni_optimizer_kind;

struct tn_optimizer {
    tn_object object;
    const tni_optimizer_kind *kind;
    tni_slot *slots; /* in the order of the parameters, group after group */
    int64_t n_slots, slot_capacity;
    tni_group *groups;
    int64_t n_groups, group_capacity;
};

extern const tni_optimizer_kind tni_sgd, tni_adam, tni_adamw, tni_rmsprop, tni_lbfgs;

/* A new optimizer over one group with those options, by number. */
tn_optimizer *tni_optimizer_make(const tni_optimizer_kind *kind, const tn_list *parameters, const double *options);

/* The option's default for a value of 0, as in the public option structs. */
double tni_option_given(const tni_optimizer_kind *kind, int option, double value);

/* Calls it with gradients recorded; its loss as a number, NaN with an error. */
double tni_closure_call(const tni_closure *closure);

/* Refuses a number out of its range, by its name. */
tn_status tni_option_check(const char *function, const char *name, tni_range range, double value);

/* For checkpoints. Check all first, then put: putting can't fail.
 *
 * check_options  n numbers for the kind's options, in their order
 * check_state    value (NULL: the optimizer has not come to need it) may be that state; the message names the state
 * put_state      the optimizer takes a reference on value itself: nobody else may write it afterwards */
tn_status tni_optimizer_check_options(const char *function, const tni_optimizer_kind *kind, const double *options);
tn_status tni_optimizer_check_state(const char *function, const tn_optimizer *self, int64_t slot, int which,
                                    const tn_tensor *value);
void tni_optimizer_put_options(tn_optimizer *self, int64_t group, const double *options);
void tni_optimizer_put_state(tn_optimizer *self, int64_t slot, int which, tn_tensor *value);

#endif
