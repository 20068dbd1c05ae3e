/* A layered layout, after Sugiyama, Tagawa & Toda 1981: layers by the longest way to the roots, an order in each layer
 * by the mean of the neighbours' places, x by the mean of the neighbours' x, kept apart. Sorting is stable and numbers
 * are whole. */
#include "autograd/graph_layout.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/error.h"

/* SPACE between neighbours of a layer; arrows that pass more than MOST_GAPS layers in all go straight. */
enum { SPACE = 26, GAP_WIDTH = 10, MOST_GAPS = 20000, SWEEPS = 8, UNIT = 1024 };

uint32_t tni_layout_box(const tni_layout *layout, const tni_graph *graph, size_t place)
{
    if (!tni_graph_shows(graph, place))
        return layout->n_boxes - 1;
    return (uint32_t)(place < graph->n_nodes ? place : graph->shown_nodes + (place - graph->n_nodes));
}

/* The arrows into a node's box, one from each box; with `arrows` NULL they are counted. Layers come from them, as
 * every box stands above those that it leads to. */
static uint32_t find_arrows(const tni_layout *layout, const tni_graph *graph, uint32_t box, tni_arrow *arrows)
{
    const tni_node *node = tni_edge_node(tni_graph_at(graph, box));
    uint32_t n = 0;
    for (uint32_t e = 0; e < node->n_edges; e++) {
        bool again = false;
        if (!node->edges[e])
            continue;
        const tni_arrow arrow = {.from = tni_layout_box(layout, graph, tni_graph_place(graph, node->edges[e])),
                                 .to = box};
        for (uint32_t i = 0; arrows && i < n && !again; i++)
            again = arrows[i].from == arrow.from;
        if (arrows && !again)
            arrows[n] = arrow;
        n += !again;
    }
    return n;
}

static tn_status take_memory(tni_layout *layout, const tni_graph *graph)
{
    for (uint32_t box = 0; box < graph->shown_nodes; box++)
        layout->arrow_capacity += find_arrows(layout, graph, box, NULL);
    layout->capacity = layout->n_boxes + MOST_GAPS;
    layout->drawn = tni_alloc_zeroed(layout->capacity * sizeof *layout->drawn);
    layout->rows = tni_alloc(layout->capacity * sizeof *layout->rows);
    layout->begin = tni_alloc_zeroed(((size_t)layout->n_boxes + 2) * sizeof *layout->begin);
    layout->arrows = tni_alloc((layout->arrow_capacity + 1) * sizeof *layout->arrows);
    if (layout->drawn && layout->rows && layout->begin && layout->arrows)
        return TN_OK;
    return TNI_FAIL_MEMORY("graph_write", layout->capacity * sizeof *layout->drawn);
}

tn_status tni_layout_begin(tni_layout *layout, const tni_graph *graph, bool rest)
{
    *layout = (tni_layout){.n_boxes = (uint32_t)(graph->shown_nodes + graph->shown_leaves + rest)};
    if (take_memory(layout, graph))
        return tni_pending();
    layout->n_drawn = layout->n_boxes;
    for (uint32_t box = 0; box < graph->shown_nodes; box++) {
        tni_arrow *arrows = layout->arrows + layout->n_arrows;
        uint32_t n = find_arrows(layout, graph, box, arrows);
        for (uint32_t i = 0; i < n; i++)
            if (layout->drawn[arrows[i].from].layer <= layout->drawn[box].layer)
                layout->drawn[arrows[i].from].layer = layout->drawn[box].layer + 1;
        layout->n_arrows += n;
    }
    return TN_OK;
}

void tni_layout_end(tni_layout *layout)
{
    tni_free(layout->drawn, layout->capacity * sizeof *layout->drawn);
    tni_free(layout->rows, layout->capacity * sizeof *layout->rows);
    tni_free(layout->begin, ((size_t)layout->n_boxes + 2) * sizeof *layout->begin);
    tni_free(layout->arrows, (layout->arrow_capacity + 1) * sizeof *layout->arrows);
}

/* A gap in each layer between the ends of long arrows. */
static void add_gaps(tni_layout *layout)
{
    for (uint32_t a = 0; a < layout->n_arrows; a++) {
        tni_arrow *arrow = &layout->arrows[a];
        int high = layout->drawn[arrow->from].layer, low = layout->drawn[arrow->to].layer;
        arrow->gaps = layout->n_drawn;
        arrow->n_gaps = 0;
        if ((uint32_t)(high - low) + layout->n_drawn > layout->capacity)
            continue;
        for (int layer = high - 1; layer > low; layer--) {
            layout->drawn[layout->n_drawn++] = (tni_drawn){.width = GAP_WIDTH, .layer = layer};
            arrow->n_gaps++;
        }
    }
}

/* Puts all that is drawn into rows, in the order of their numbers at first. */
static void fill_rows(tni_layout *layout)
{
    layout->n_layers = 1;
    for (uint32_t i = 0; i < layout->n_drawn; i++) {
        int layer = layout->drawn[i].layer;
        layout->n_layers = layer >= layout->n_layers ? layer + 1 : layout->n_layers;
        layout->begin[layer + 1]++;
    }
    for (int layer = 0; layer < layout->n_layers; layer++)
        layout->begin[layer + 1] += layout->begin[layer];
    for (uint32_t i = layout->n_drawn; i-- > 0;) { /* from behind: begin[layer + 1] counts down */
        tni_drawn *drawn = &layout->drawn[i];
        uint32_t at = --layout->begin[drawn->layer + 1];
        layout->rows[at] = i;
    }
    for (int layer = 0; layer < layout->n_layers; layer++) /* now begin[layer + 1] is where the layer begins */
        layout->begin[layer] = layout->begin[layer + 1];
    layout->begin[layout->n_layers] = layout->n_drawn;
    for (int layer = 0; layer < layout->n_layers; layer++)
        for (uint32_t at = layout->begin[layer]; at < layout->begin[layer + 1]; at++)
            layout->drawn[layout->rows[at]].order = (int)(at - layout->begin[layer]);
}

static void pull(tni_drawn *drawn, int64_t by)
{
    drawn->pull += by;
    drawn->pulls++;
}

/* What a link's ends pull each other to: places in their layers, or x. */
static void pull_both(tni_layout *layout, uint32_t upper, uint32_t lower, bool up, bool down, bool by_x)
{
    tni_drawn *a = &layout->drawn[upper], *b = &layout->drawn[lower];
    if (up) /* upper ones go to where lower ones are */
        pull(a, by_x ? b->x : b->order);
    if (down)
        pull(b, by_x ? a->x : a->order);
}

static void pull_all(tni_layout *layout, bool up, bool down, bool by_x)
{
    for (uint32_t i = 0; i < layout->n_drawn; i++)
        layout->drawn[i].pull = layout->drawn[i].pulls = 0;
    for (uint32_t a = 0; a < layout->n_arrows; a++) {
        const tni_arrow *arrow = &layout->arrows[a];
        uint32_t upper = arrow->from;
        for (uint32_t g = 0; g < arrow->n_gaps; g++) {
            pull_both(layout, upper, arrow->gaps + g, up, down, by_x);
            upper = arrow->gaps + g;
        }
        pull_both(layout, upper, arrow->to, up, down, by_x);
    }
}

/* Sorts a layer by where its neighbours are; what has none stays. */
static void sort_layer(tni_layout *layout, int layer)
{
    const uint32_t first = layout->begin[layer], end = layout->begin[layer + 1];
    for (uint32_t at = first; at < end; at++) {
        tni_drawn *drawn = &layout->drawn[layout->rows[at]];
        drawn->pull = drawn->pulls ? drawn->pull * UNIT / drawn->pulls : (int64_t)drawn->order * UNIT;
    }
    for (uint32_t at = first + 1; at < end; at++) {
        uint32_t moved = layout->rows[at], to = at;
        for (; to > first && layout->drawn[layout->rows[to - 1]].pull > layout->drawn[moved].pull; to--)
            layout->rows[to] = layout->rows[to - 1];
        layout->rows[to] = moved;
    }
    for (uint32_t at = first; at < end; at++)
        layout->drawn[layout->rows[at]].order = (int)(at - first);
}

static int distance(const tni_drawn *a, const tni_drawn *b)
{
    return (a->width + b->width) / 2 + SPACE;
}

/* Brings a layer as close to where its neighbours pull it as the distances allow: the mean of pushing what overlaps to
 * the right and of pushing it to the left, which both keep the distances. */
static void place_layer(tni_layout *layout, int layer)
{
    const uint32_t first = layout->begin[layer], end = layout->begin[layer + 1];
    int least = INT_MIN / 2, most = INT_MAX / 2;
    for (uint32_t at = first; at < end; at++) {
        tni_drawn *drawn = &layout->drawn[layout->rows[at]];
        int wanted = drawn->pulls ? (int)(drawn->pull / drawn->pulls) : drawn->x;
        int free = at == first ? wanted : least + distance(&layout->drawn[layout->rows[at - 1]], drawn);
        least = wanted > free ? wanted : free;
        drawn->x = wanted;
        drawn->pull = least;
    }
    for (uint32_t at = end; at-- > first;) {
        tni_drawn *drawn = &layout->drawn[layout->rows[at]];
        int free = at + 1 == end ? drawn->x : most - distance(drawn, &layout->drawn[layout->rows[at + 1]]);
        most = drawn->x < free ? drawn->x : free;
        drawn->x = (int)((drawn->pull + most) / 2);
    }
}

/* Rounding may have cost a pixel: distances are made good from the left, and all is moved to begin at 0. */
static void settle(tni_layout *layout)
{
    int left = INT_MAX, right = INT_MIN;
    for (int layer = 0; layer < layout->n_layers; layer++)
        for (uint32_t at = layout->begin[layer]; at < layout->begin[layer + 1]; at++) {
            tni_drawn *drawn = &layout->drawn[layout->rows[at]];
            if (at > layout->begin[layer]) {
                const tni_drawn *before = &layout->drawn[layout->rows[at - 1]];
                if (drawn->x < before->x + distance(before, drawn))
                    drawn->x = before->x + distance(before, drawn);
            }
            left = drawn->x - drawn->width / 2 < left ? drawn->x - drawn->width / 2 : left;
            right = drawn->x + drawn->width / 2 > right ? drawn->x + drawn->width / 2 : right;
        }
    for (uint32_t i = 0; i < layout->n_drawn; i++)
        layout->drawn[i].x -= left;
    layout->width = right - left;
}

void tni_layout_run(tni_layout *layout)
{
    add_gaps(layout);
    fill_rows(layout);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 1; i < layout->n_layers; i++) {
            bool up = sweep % 2 == 0;
            pull_all(layout, up, !up, false);
            sort_layer(layout, up ? i : layout->n_layers - 1 - i);
        }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool up = sweep % 2 == 0;
        for (int i = 0; i < layout->n_layers; i++) {
            pull_all(layout, sweep > 1 || up, sweep > 1 || !up, true);
            place_layer(layout, up ? i : layout->n_layers - 1 - i);
        }
    }
    settle(layout);
}
