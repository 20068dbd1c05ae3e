/* What an optimizer is inside; checkpoints read and write it. */
#ifndef TNI_TRAIN_OPTIMIZER_H
#define TNI_TRAIN_OPTIMIZER_H

#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/tensor.h>

enum { TNI_SGD, TNI_ADAM, TNI_ADAMW };

/* Options of a group, all as numbers. */
typedef enum tni_option {
    TNI_LR,
    TNI_MOMENTUM,
    TNI_DAMPENING,
    TNI_WEIGHT_DECAY,
    TNI_NESTEROV,
    TNI_MAXIMIZE,
    TNI_BETA1,
    TNI_BETA2,
    TNI_EPS,
    TNI_AMSGRAD,
    TNI_OPTIONS
} tni_option;

enum { TNI_STATES = 3 };

/* A parameter and what is remembered of it: SGD's momentum_buffer; Adam's exp_avg, exp_avg_sq, max_exp_avg_sq. */
typedef struct tni_slot {
    tn_tensor *parameter;
    tn_tensor *state[TNI_STATES]; /* NULL until a step needs it */
    int64_t step;                 /* steps taken */
    int64_t group;
} tni_slot;

typedef struct tni_group {
    double option[TNI_OPTIONS];
} tni_group;

struct tn_optimizer {
    tn_object object;
    int kind;
    tni_slot *slots;
    int64_t n_slots, slot_capacity;
    tni_group *groups;
    int64_t n_groups, group_capacity;
};

#endif
