/* Where nodes, leaves and arrows of a graph's picture stand. Pixels are whole numbers: the picture is the same
 * everywhere. */
#ifndef TNI_AUTOGRAD_GRAPH_LAYOUT_H
#define TNI_AUTOGRAD_GRAPH_LAYOUT_H

#include "autograd/graph.h"

/* A box, or a gap in a layer that a long arrow passes through. */
typedef struct tni_drawn {
    int width, height; /* set by the caller for boxes */
    int x, layer;      /* x of the middle; layer 0 has what nothing else depends on, and stands lowest */
    int order;         /* in its layer, from the left */
    int64_t pull;      /* while it is laid out: sum and number of its neighbours' places */
    int32_t pulls;
} tni_drawn;

/* From an input's box down to that of the call that takes it. */
typedef struct tni_arrow {
    uint32_t from, to;
    uint32_t gaps, n_gaps; /* drawn[gaps] ... are passed on the way, the upper ones first */
} tni_arrow;

typedef struct tni_layout {
    tni_drawn *drawn; /* boxes first: the shown nodes, the shown leaves, then one for the rest if there is one */
    uint32_t n_boxes, n_drawn, capacity;
    tni_arrow *arrows;
    uint32_t n_arrows, arrow_capacity;
    uint32_t *rows;  /* numbers of drawn, layer by layer, from the left */
    uint32_t *begin; /* n_layers + 1: where a layer begins in rows */
    int n_layers, width;
} tni_layout;

/* Boxes and arrows, before sizes are known. */
tn_status tni_layout_begin(tni_layout *layout, const tni_graph *graph, bool rest);
/* Sets x, layers and width. */
void tni_layout_run(tni_layout *layout);
void tni_layout_end(tni_layout *layout);

/* The box of what stands at a place of the graph. */
uint32_t tni_layout_box(const tni_layout *layout, const tni_graph *graph, size_t place);

#endif
