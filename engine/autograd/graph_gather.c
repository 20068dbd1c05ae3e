/* Finds the nodes and leaves of a graph without recursion: ends of edges are looked at in the order in which they are
 * found, then nodes are sorted as a walk takes them, largest sequence number first. Two nodes of one number come from
 * two threads; they stand as they were found. */
#include <stdio.h>
#include <string.h>

#include "autograd/graph.h"
#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

static inline size_t slot_of(const tni_pointers *set, uintptr_t key)
{
    return (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (2 * set->capacity - 1);
}

/* The slot of the key, or the free one where it belongs. */
static size_t probe(const tni_pointers *set, uintptr_t key)
{
    size_t slot = slot_of(set, key);
    while (set->table[slot] && set->keys[set->table[slot] - 1] != key)
        slot = (slot + 1) & (2 * set->capacity - 1);
    return slot;
}

static void pointers_free(tni_pointers *set)
{
    tni_free(set->keys, set->capacity * sizeof *set->keys);
    tni_free(set->table, 2 * set->capacity * sizeof *set->table);
}

static tn_status pointers_grow(tni_pointers *set)
{
    tni_pointers larger = {.n = set->n, .capacity = set->capacity ? 2 * set->capacity : 32};
    if (larger.capacity > UINT32_MAX / 4)
        return TNI_FAIL(TN_ERROR_MEMORY, "graph_write", "more than %zu nodes", set->capacity);
    larger.keys = tni_alloc(larger.capacity * sizeof *larger.keys);
    larger.table = tni_alloc_zeroed(2 * larger.capacity * sizeof *larger.table);
    if (!larger.keys || !larger.table) {
        pointers_free(&larger);
        return TNI_FAIL_MEMORY("graph_write", larger.capacity * sizeof *larger.keys);
    }
    for (size_t i = 0; i < set->n; i++) {
        larger.keys[i] = set->keys[i];
        larger.table[probe(&larger, set->keys[i])] = (uint32_t)i + 1;
    }
    pointers_free(set);
    *set = larger;
    return TN_OK;
}

/* *fresh: the key was not there. */
static tn_status pointers_add(tni_pointers *set, uintptr_t key, bool *fresh)
{
    if (set->n == set->capacity && pointers_grow(set))
        return tni_pending();
    size_t slot = probe(set, key);
    *fresh = !set->table[slot];
    if (*fresh) {
        set->keys[set->n++] = key;
        set->table[slot] = (uint32_t)set->n;
    }
    return TN_OK;
}

static tn_status find_ends(tni_graph *graph, tn_tensor *const *x, int n)
{
    bool fresh;
    for (int i = 0; i < n; i++) {
        if (tni_check_tensor("graph_write", 1, "x", x[i]))
            return tni_pending();
        tni_edge edge = tni_edge_of("graph_write", x[i]);
        if (!edge)
            return TNI_FAIL(TN_ERROR_NO_GRAPH, "graph_write", "tensor %d does not require a gradient", i);
        if (pointers_add(&graph->ends, edge, &fresh))
            return tni_pending();
    }
    graph->n_roots = graph->ends.n;
    for (size_t at = 0; at < graph->ends.n; at++) {
        const tni_node *node = tni_edge_node(graph->ends.keys[at]);
        graph->n_nodes += node != NULL;
        for (uint32_t i = 0; node && i < node->n_edges; i++)
            if (node->edges[i] && pointers_add(&graph->ends, node->edges[i], &fresh))
                return tni_pending();
    }
    graph->n_leaves = graph->ends.n - graph->n_nodes;
    return TN_OK;
}

static inline uint64_t sequence_at(const tni_graph *graph, uint32_t end)
{
    return tni_edge_node(graph->ends.keys[end])->sequence;
}

/* Merges runs of `width` of `from` into `to`; equal ones keep their order. */
static void merge_runs(const tni_graph *graph, const uint32_t *from, uint32_t *to, size_t width)
{
    const size_t n = graph->n_nodes;
    for (size_t begin = 0; begin < n; begin += 2 * width) {
        size_t middle = begin + width < n ? begin + width : n, end = middle + width < n ? middle + width : n;
        size_t a = begin, b = middle;
        for (size_t at = begin; at < end; at++) {
            bool first = b == end || (a < middle && sequence_at(graph, from[a]) >= sequence_at(graph, from[b]));
            to[at] = first ? from[a++] : from[b++];
        }
    }
}

static void sort_nodes(tni_graph *graph, uint32_t *spare)
{
    uint32_t *from = graph->order, *to = spare;
    size_t n = 0;
    for (uint32_t end = 0; end < graph->ends.n; end++)
        if (tni_edge_node(graph->ends.keys[end]))
            from[n++] = end;
    for (size_t width = 1; width < graph->n_nodes; width *= 2) {
        merge_runs(graph, from, to, width);
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != graph->order)
        memcpy(graph->order, from, graph->n_nodes * sizeof *from);
}

enum { NOWHERE = UINT32_MAX };

static void place_leaf(tni_graph *graph, tni_edge edge, size_t *next)
{
    uint32_t end = graph->ends.table[probe(&graph->ends, edge)] - 1;
    if (!tni_edge_leaf(edge) || graph->place[end] != NOWHERE)
        return;
    graph->place[end] = (uint32_t)*next;
    graph->order[(*next)++] = end;
}

static void set_places(tni_graph *graph)
{
    size_t next = graph->n_nodes;
    const int most = graph->options->max_nodes ? graph->options->max_nodes : 200;
    graph->shown_nodes = graph->n_nodes < (size_t)most ? graph->n_nodes : (size_t)most;
    for (size_t end = 0; end < graph->ends.n; end++)
        graph->place[end] = NOWHERE;
    for (size_t i = 0; i < graph->n_nodes; i++)
        graph->place[graph->order[i]] = (uint32_t)i;
    for (size_t i = 0; i < graph->n_roots; i++)
        place_leaf(graph, graph->ends.keys[i], &next);
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const tni_node *node = tni_edge_node(tni_graph_at(graph, i));
        if (i == graph->shown_nodes)
            graph->shown_leaves = next - graph->n_nodes;
        for (uint32_t e = 0; e < node->n_edges; e++)
            if (node->edges[e])
                place_leaf(graph, node->edges[e], &next);
    }
    if (graph->shown_nodes == graph->n_nodes)
        graph->shown_leaves = next - graph->n_nodes;
    if (graph->shown_leaves > (size_t)most)
        graph->shown_leaves = (size_t)most;
}

static tn_status count_saved(tni_graph *graph)
{
    tni_pointers storages = {0};
    bool fresh;
    for (size_t at = 0; at < graph->n_nodes && !tni_pending(); at++) {
        const tni_node *node = tni_edge_node(tni_graph_at(graph, at));
        for (int i = 0; i < node->n_saved; i++) {
            const tni_saved *saved = &tni_node_saved(node)[i];
            if (!saved->tensor)
                continue;
            graph->n_saved++;
            graph->n_written += saved->version != saved->tensor->counter->version;
            if (pointers_add(&storages, (uintptr_t)saved->tensor->storage, &fresh))
                break;
            graph->saved_bytes += fresh ? saved->tensor->storage->nbytes : 0;
        }
    }
    pointers_free(&storages);
    return tni_pending();
}

tn_status tni_graph_gather(tni_graph *graph, tn_tensor *const *x, int n, const tn_graph_options *options)
{
    *graph = (tni_graph){.options = options};
    if (find_ends(graph, x, n))
        return tni_pending();
    const size_t bytes = graph->ends.capacity * sizeof *graph->order;
    graph->order = tni_alloc(bytes);
    graph->place = tni_alloc(bytes);
    if (!graph->order || !graph->place)
        return TNI_FAIL_MEMORY("graph_write", bytes);
    sort_nodes(graph, graph->place);
    set_places(graph);
    return count_saved(graph);
}

void tni_graph_end(tni_graph *graph)
{
    const size_t bytes = graph->ends.capacity * sizeof *graph->order;
    tni_free(graph->order, bytes);
    tni_free(graph->place, bytes);
    pointers_free(&graph->ends);
}

size_t tni_graph_place(const tni_graph *graph, tni_edge edge)
{
    return graph->place[graph->ends.table[probe(&graph->ends, edge)] - 1];
}

bool tni_graph_is_root(const tni_graph *graph, size_t place)
{
    return graph->order[place] < graph->n_roots;
}

bool tni_graph_shows(const tni_graph *graph, size_t place)
{
    return place < graph->n_nodes ? place < graph->shown_nodes : place - graph->n_nodes < graph->shown_leaves;
}
