/* The walk back through a graph. */
#ifndef TNI_AUTOGRAD_WALK_H
#define TNI_AUTOGRAD_WALK_H

#include "autograd/pending.h"
#include "autograd/plan.h"
#include "autograd/tape.h"

typedef struct tni_walk {
    tni_pending_set pending;
    tni_plan *plan;            /* which nodes lead to the inputs; NULL: all are walked */
    tn_scope scope;            /* what a derivative makes dies here once its gradients were handed on */
    bool retain_graph, create_graph;
    const tni_edge *inputs;    /* whose gradients are asked for; NULL: leaves accumulate */
    tn_tensor **captured;      /* n_inputs; held; NULL where none came; NULL: leaves accumulate */
    int n_inputs;
    unsigned anomaly;          /* what derivatives must not make: kinds of autograd/anomaly.h */
} tni_walk;

/* Lets a gradient reach an edge's end: brought to its shape and dtype, and added to what came before. `grad` stays the
 * caller's. `from` is the node whose derivative gave it, NULL for a root's. */
tn_status tni_walk_deliver(tni_walk *walk, const tni_node *from, tni_edge edge, tn_tensor *grad);

/* Walks until nothing is pending. */
tn_status tni_walk_run(tni_walk *walk);

/* Adds a gradient (one reference, taken over) to x's own: autograd/accumulate.c. */
tn_status tni_accumulate(tn_tensor *x, tn_tensor *grad, bool create_graph);

/* Does the same for a result that keeps its gradient. */
tn_status tni_retain(tni_tape *tape, tn_tensor *grad);

#endif
