/* A graph gathered for writing: its nodes in the order of a walk, its leaves, and their numbers. */
#ifndef TNI_AUTOGRAD_GRAPH_H
#define TNI_AUTOGRAD_GRAPH_H

#include <tenon/graph.h>

#include "autograd/node.h"
#include "core/print.h"

/* Pointers, each once, in the order in which they came. */
typedef struct tni_pointers {
    uintptr_t *keys;
    uint32_t *table; /* number + 1 by hash of the key; 0: none. Twice the capacity */
    size_t n, capacity;
} tni_pointers;

typedef struct tni_graph {
    const tn_graph_options *options;
    tni_pointers ends; /* of edges, as they were found */
    uint32_t *order;   /* which end comes at which place: nodes in the order of the walk, then leaves */
    uint32_t *place;   /* the inverse */
    size_t n_nodes, n_leaves, shown_nodes, shown_leaves;
    size_t n_roots;    /* ends[0 .. n_roots) are what the tensors point to */
    size_t n_saved, n_written, saved_bytes; /* bytes of distinct storages that saved tensors keep */
} tni_graph;

tn_status tni_graph_gather(tni_graph *graph, tn_tensor *const *x, int n, const tn_graph_options *options);
void tni_graph_end(tni_graph *graph);

/* The end at a place: 0 .. n_nodes-1 are n0 ..., those behind x0 ... */
static inline tni_edge tni_graph_at(const tni_graph *graph, size_t place)
{
    return graph->ends.keys[graph->order[place]];
}

/* The place of an end that is in the graph. */
size_t tni_graph_place(const tni_graph *graph, tni_edge edge);
bool tni_graph_is_root(const tni_graph *graph, size_t place);
bool tni_graph_shows(const tni_graph *graph, size_t place);

/* "n3" or "x0". */
const char *tni_graph_id(const tni_graph *graph, size_t place, char buf[24]);
enum { TNI_GRAPH_NAME = 128 };
/* What the caller calls a leaf, in buf, or NULL; what a node is called. Both may be any text: what is no UTF-8 becomes
 * '?', control characters become blanks. */
const char *tni_graph_name(const tni_graph *graph, const tn_tensor *leaf, char buf[TNI_GRAPH_NAME]);
const char *tni_graph_node_name(const tni_node *node, char buf[TNI_GRAPH_NAME]);
/* "float32 [3, 4]". */
const char *tni_graph_shape(tni_edge edge, char *buf, size_t size);
/* What the call calls its input, "self"; NULL where it has no name. */
const char *tni_graph_parameter(const tni_node *node, uint32_t input);
/* What a saved tensor is to the call: "other", "result"; "tensor 1" of a user's function, which numbers them. */
const char *tni_graph_saved_name(const tni_node *node, const tni_saved *saved, char buf[24]);
/* "saves other float32 [3] version 0, now 2: written since". */
void tni_graph_saving(const tni_node *node, int i, char *buf, size_t size);
/* "requires_grad, no grad yet". */
const char *tni_graph_leaf_state(const tn_tensor *leaf);
bool tni_graph_has_grad(const tn_tensor *leaf);
/* "3 nodes, 1 leaf, 2 saved tensors (24 bytes)". */
void tni_graph_summary(const tni_graph *graph, char *buf, size_t size);
/* "12 more nodes: 6 AddBackward0, 6 MulBackward0"; "" when all are shown. */
void tni_graph_rest(const tni_graph *graph, char *buf, size_t size);

void tni_putf(tni_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

void tni_graph_put_text(tni_out *out, const tni_graph *graph);
void tni_graph_put_dot(tni_out *out, const tni_graph *graph);
void tni_graph_put_json(tni_out *out, const tni_graph *graph);
/* May raise TN_ERROR_MEMORY: then nothing was put. */
tn_status tni_graph_put_svg(tni_out *out, const tni_graph *graph);

#endif
