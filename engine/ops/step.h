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

/* The tensors of a step: the parameter, its gradient, and what the optimizer remembers. */
enum { TNI_STEP_PARAM, TNI_STEP_GRAD, TNI_STEP_STATE, TNI_STEP_TENSORS = 5 };

/* A step over dense arrays of n elements, of which those that are optional may be NULL; all but the gradient are
 * written. `numbers` is a tni_sgd, tni_adam or tni_rmsprop, as the kernel's name says. */
typedef void tni_step_kernel(const void *numbers, void *const *data, int64_t n);

/* By lane, float32 and float64. */
typedef struct tni_step_kernels {
    tni_step_kernel *sgd[2], *adam[2], *rmsprop[2];
} tni_step_kernels;

#endif
