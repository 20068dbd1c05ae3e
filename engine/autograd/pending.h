/* The gradients that a walk has under way: which node is next, and what has come together for it so far. */
#ifndef TNI_AUTOGRAD_PENDING_H
#define TNI_AUTOGRAD_PENDING_H

#include "autograd/node.h"

typedef struct tni_waiting {
    tni_edge edge;    /* whose gradient it is; 0: the place is free */
    tn_tensor *grad;  /* held */
    uint64_t sequence; /* the largest is next; leaves have 0 */
    uint32_t next;    /* in the list of its slot of the table, or of free places: number + 1; 0: the end */
    bool ours;        /* the gradient is a sum made here: nobody else holds it */
} tni_waiting;

typedef struct tni_pending_set {
    tni_waiting *places;
    uint32_t *heap;  /* numbers of places, largest sequence first */
    uint32_t *table; /* number + 1 by hash of the edge; 0: none */
    uint32_t used, capacity, waiting, free;
    tni_waiting first_places[32];
    uint32_t first_heap[32], first_table[64];
} tni_pending_set;

void tni_pending_begin(tni_pending_set *set);
/* Gives up what is still waiting. */
void tni_pending_end(tni_pending_set *set);

/* The place of an edge, made when there is none (grad NULL then). NULL with an error. */
tni_waiting *tni_pending_at(tni_pending_set *set, tni_edge edge, uint64_t sequence);
tni_waiting *tni_pending_find(tni_pending_set *set, tni_edge edge);

/* Takes the next out of the set: false when nothing waits. The caller owns its gradient. */
bool tni_pending_next(tni_pending_set *set, tni_waiting *next);

#endif
