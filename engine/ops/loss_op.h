/* What the rows of the losses, their backward operators and their derivatives share. */
#ifndef TNI_OPS_LOSS_OP_H
#define TNI_OPS_LOSS_OP_H

#include <tenon/losses.h>

#include "autograd/derivative.h"
#include "ops/loss.h"

typedef struct tni_loss_attr {
    int64_t reduction;
    tn_scalar parameter; /* beta, delta */
} tni_loss_attr;

/* A backward operator has the gradient before the loss's own inputs; its family is TNI_LOSSES more. */
static inline bool tni_loss_is_backward(const tni_op *op)
{
    return op->family >= TNI_LOSSES;
}

extern const tni_op *const tni_loss_backward_ops[TNI_LOSSES];
extern const tni_loss_attr tni_loss_default; /* mean, parameter 1 */
extern const tni_derivative tni_loss_derivatives[TNI_LOSSES], tni_loss_backward_derivatives[TNI_LOSSES];

/* Refuses a number that is no reduction. */
tn_status tni_check_reduction(const char *name, int64_t reduction);

#endif
