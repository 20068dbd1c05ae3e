/* What the two ways of recording share: calls that make a tensor, and calls that write into one. */
#ifndef TNI_AUTOGRAD_RECORD_H
#define TNI_AUTOGRAD_RECORD_H

#include "autograd/node.h"

/* Where the gradients of the inputs go on (op->n_in edges, not held); bit i is set for each that goes anywhere. May
 * leave an error pending. */
uint64_t tni_record_edges(tni_call *call, tni_edge *edges);

/* What is kept for the derivatives of the tracked inputs: bits of TNI_SAVE. */
unsigned tni_record_saves(const tni_op *op, uint64_t tracked);

/* The node of a call, with edges and saved inputs; the saved result (the last place) and the shape (room for ndim dims)
 * are up to the caller, who owns it. NULL with an error. */
tni_node *tni_record_node(const tni_call *call, const tni_edge *edges, unsigned saves, int ndim);

/* How a view that the call made counts as made: as the tensor that it is a view of. */
uint8_t tni_view_creation(const tni_call *call, const tn_tensor *view);

#endif
