/* Losses element by element: the kernels of one CPU level, which the forward and the backward operators share. */
#ifndef TNI_OPS_LOSS_H
#define TNI_OPS_LOSS_H

#include <stdint.h>

#include "cpu/level.h"

/* Of an input x and a target t, with d = x - t; the parameter is beta or delta:
 *     mse        d^2                                          slope 2 d
 *     l1         |d|                                          sign d
 *     smooth_l1  d^2 / (2 beta) below beta, |d| - beta/2      d / beta, sign d
 *     huber      d^2 / 2 up to delta, delta (|d| - delta/2)   d, delta sign d
 *     bce        -t log x - (1-t) log(1-x), logarithms at least -100     d / max(x (1-x), 1e-12)
 *     bce_with_logits  (1-t) x - (1 + (p-1) t) log sigmoid x             (1 + (p-1) t) sigmoid x - p t
 * where p is the weight of positives, 1 where there is none. */
typedef enum tni_loss {
    TNI_LOSS_MSE,
    TNI_LOSS_L1,
    TNI_LOSS_SMOOTH_L1,
    TNI_LOSS_HUBER,
    TNI_LOSS_BCE,
    TNI_LOSS_BCE_WITH_LOGITS,
    TNI_LOSSES
} tni_loss;

/* Dense arrays of n elements; p may be NULL. slope is multiplied by the factor. */
typedef struct tni_loss_kernel {
    void (*value)(void *y, const void *x, const void *t, const void *p, int64_t n, double parameter);
    void (*slope)(void *y, const void *x, const void *t, const void *p, int64_t n, double parameter, double factor);
} tni_loss_kernel;

/* By loss and lane, float32 and float64. */
typedef struct tni_loss_kernels {
    tni_loss_kernel kernel[TNI_LOSSES][2];
    void (*times[2])(void *y, const void *by, int64_t n); /* y *= by */
} tni_loss_kernels;

extern const tni_loss_kernels *const tni_loss_levels[TNI_CPU_LEVELS];

#endif
