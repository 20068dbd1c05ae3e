/* What a walk must know of the whole graph before it starts, where it must know anything: which nodes lead to the
 * inputs that were asked for, and how many gradients each leaf will get. */
#ifndef TNI_AUTOGRAD_PLAN_H
#define TNI_AUTOGRAD_PLAN_H

#include "autograd/node.h"

typedef struct tni_planned {
    tni_edge end;    /* a node or a leaf */
    tn_tensor *grad; /* of a leaf, while gradients for it may still come; held */
    uint32_t coming; /* edges that lead here from nodes that will be walked */
    bool only_seen;  /* the one root, from where no input is reached: its hooks see the gradient, no more */
    bool needed;     /* it is an input, or leads to one; everything is where no inputs are given */
    bool ours;
} tni_planned;

typedef struct tni_plan {
    tni_planned *ends;
    uint32_t *table; /* number + 1 by hash, twice the capacity */
    uint32_t used, capacity;
} tni_plan;

/* Looks through the graph from the roots. NULL inputs: all leaves. */
tn_status tni_plan_make(tni_plan *plan, const tni_edge *roots, int n_roots, const tni_edge *inputs, int n_inputs);
void tni_plan_free(tni_plan *plan);
tni_planned *tni_plan_find(const tni_plan *plan, tni_edge end);

#endif
