/* Steps of optimizers over one parameter: the kernels of one CPU level. */
#ifndef TNI_OPS_STEP_H
#define TNI_OPS_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/level.h"

/* The numbers are rounded to the dtype of the arithmetic where they meet an element, as scalars are. */
typedef struct tni_sgd {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize, first;
} tni_sgd;

typedef struct tni_adam {
    double beta1, beta2, eps;
    double weight_decay; /* added to the gradient; 0: none */
    double shrink;       /* what the parameter is multiplied by first; 1: nothing */
    double step_size;    /* lr / (1 - beta1^step) */
    double root;         /* sqrt(1 - beta2^step) */
    bool maximize;
} tni_adam;

typedef struct tni_rmsprop {
    double lr, alpha, eps, momentum, weight_decay;
    bool maximize;
} tni_rmsprop;

/* Dense arrays of n elements; NULL: there is none. By lane, float32 and float64. */
typedef struct tni_step_kernels {
    void (*sgd[2])(const tni_sgd *sgd, void *param, const void *grad, void *buffer, int64_t n);
    void (*adam[2])(const tni_adam *adam, void *param, const void *grad, void *exp_avg, void *exp_avg_sq,
                    void *max_exp_avg_sq, int64_t n);
    void (*rmsprop[2])(const tni_rmsprop *rmsprop, void *param, const void *grad, void *square_avg, void *grad_avg,
                       void *momentum_buffer, int64_t n);
} tni_step_kernels;

#endif
