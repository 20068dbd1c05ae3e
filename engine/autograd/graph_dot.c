/* The graph in Graphviz's language (graphviz.org/doc/info/lang.html). Arrows lead from inputs to results. */
#include <string.h>

#include "autograd/graph.h"

/* Inside of a quoted string. */
static void put_quoted(tni_out *out, const char *text)
{
    for (int i = 0; text[i]; i++) {
        if (text[i] == '"' || text[i] == '\\')
            tni_put(out, "\\", 1);
        tni_put(out, text + i, 1);
    }
}

static void put_node(tni_out *out, const tni_graph *graph, size_t place)
{
    char id[24], text[320];
    const tni_edge edge = tni_graph_at(graph, place);
    const tni_node *node = tni_edge_node(edge);
    bool written = false;
    tni_putf(out, "  %s [label=\"", tni_graph_id(graph, place, id));
    put_quoted(out, tni_graph_node_name(node, text));
    tni_putf(out, "\\n%s", tni_graph_shape(edge, text, sizeof text));
    for (int i = 0; i < node->n_saved; i++) {
        const tni_saved *saved = &tni_node_saved(node)[i];
        written = written || (saved->tensor && saved->version != saved->tensor->counter->version);
        tni_graph_saving(node, i, text, sizeof text);
        tni_put_text(out, "\\n");
        put_quoted(out, text);
    }
    tni_putf(out, "\"%s%s];\n", tni_graph_is_root(graph, place) ? ", penwidth=2" : "",
             written ? ", color=\"#d55e00\", fontcolor=\"#d55e00\"" : "");
}

static void put_leaf(tni_out *out, const tni_graph *graph, size_t place)
{
    char id[24], text[200], buf[TNI_GRAPH_NAME];
    const tni_edge edge = tni_graph_at(graph, place);
    const char *name = tni_graph_name(graph, tni_edge_leaf(edge), buf);
    tni_graph_id(graph, place, id);
    tni_putf(out, "  %s [label=\"", id);
    put_quoted(out, name ? name : id);
    tni_putf(out, "\\n%s\\n%s\", style=\"rounded,filled\", fillcolor=\"#cfe8d5\"];\n",
             tni_graph_shape(edge, text, sizeof text), tni_graph_leaf_state(tni_edge_leaf(edge)));
}

static void put_edges(tni_out *out, const tni_graph *graph, size_t place)
{
    char id[24], from[24];
    bool more = false;
    const tni_node *node = tni_edge_node(tni_graph_at(graph, place));
    tni_graph_id(graph, place, id);
    for (uint32_t i = 0; i < node->n_edges; i++) {
        size_t next = node->edges[i] ? tni_graph_place(graph, node->edges[i]) : 0;
        if (!node->edges[i] || (!tni_graph_shows(graph, next) && more))
            continue;
        more = more || !tni_graph_shows(graph, next);
        tni_putf(out, "  %s -> %s [label=\"%u\"];\n",
                 tni_graph_shows(graph, next) ? tni_graph_id(graph, next, from) : "more", id, i);
    }
}

void tni_graph_put_dot(tni_out *out, const tni_graph *graph)
{
    char rest[1024];
    tni_graph_rest(graph, rest, sizeof rest);
    tni_put_text(out, "digraph tenon {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n"
                      "  edge [fontname=\"monospace\", fontsize=9];\n");
    for (size_t at = 0; at < graph->shown_nodes; at++)
        put_node(out, graph, at);
    for (size_t at = graph->n_nodes; at < graph->n_nodes + graph->shown_leaves; at++)
        put_leaf(out, graph, at);
    if (*rest) {
        tni_put_text(out, "  more [label=\"");
        put_quoted(out, rest);
        tni_put_text(out, "\", style=dashed];\n");
    }
    for (size_t at = 0; at < graph->shown_nodes; at++)
        put_edges(out, graph, at);
    tni_put_text(out, "}\n");
}
