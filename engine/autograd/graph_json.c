/* The graph as one JSON object on one line: what the text says, for programs. */
#include "autograd/graph.h"

static void put_string(tni_out *out, const char *text)
{
    tni_put(out, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            tni_put(out, "\\", 1);
        tni_put(out, text, 1);
    }
    tni_put(out, "\"", 1);
}

static void put_shape(tni_out *out, const int64_t *sizes, int ndim, tn_dtype dtype)
{
    tni_putf(out, ",\"dtype\":\"%s\",\"shape\":[", tn_dtype_name(dtype));
    for (int d = 0; d < ndim; d++)
        tni_putf(out, "%s%lld", d ? "," : "", (long long)sizes[d]);
    tni_put_text(out, "]");
}

static void put_edges(tni_out *out, const tni_graph *graph, const tni_node *node)
{
    char id[24];
    const char *comma = "";
    tni_put_text(out, ",\"inputs\":[");
    for (uint32_t i = 0; i < node->n_edges; i++) {
        if (!node->edges[i])
            continue;
        tni_putf(out, "%s{\"input\":%u,\"from\":\"%s\"}", comma, i,
                 tni_graph_id(graph, tni_graph_place(graph, node->edges[i]), id));
        comma = ",";
    }
    tni_put_text(out, "]");
}

static void put_saved(tni_out *out, const tni_node *node)
{
    tni_put_text(out, ",\"saved\":[");
    for (int i = 0; i < node->n_saved; i++) {
        const tni_saved *saved = &tni_node_saved(node)[i];
        const tn_tensor *x = saved->tensor;
        tni_put_text(out, i ? ",{" : "{");
        if (saved->what == TNI_SAVED_RESULT)
            tni_put_text(out, "\"input\":null");
        else
            tni_putf(out, "\"input\":%d", saved->what);
        if (x) {
            put_shape(out, x->sizes, x->ndim, (tn_dtype)x->dtype);
            tni_putf(out, ",\"version\":%u,\"version_now\":%u", saved->version, x->counter->version);
        }
        tni_put_text(out, "}");
    }
    tni_put_text(out, "]");
}

static void put_node(tni_out *out, const tni_graph *graph, size_t place)
{
    char id[24], name[TNI_GRAPH_NAME];
    const tni_edge edge = tni_graph_at(graph, place);
    const tni_node *node = tni_edge_node(edge);
    const tni_shape shape = tni_edge_shape(edge);
    tni_putf(out, "%s{\"id\":\"%s\",\"name\":", place ? "," : "", tni_graph_id(graph, place, id));
    put_string(out, tni_graph_node_name(node, name));
    put_shape(out, shape.sizes, shape.ndim, shape.dtype);
    tni_putf(out, ",\"root\":%s,\"freed\":%s", tni_graph_is_root(graph, place) ? "true" : "false",
             node->flags & TNI_NODE_RELEASED ? "true" : "false");
    put_edges(out, graph, node);
    put_saved(out, node);
    tni_put_text(out, "}");
}

static void put_leaf(tni_out *out, const tni_graph *graph, size_t place)
{
    char id[24], buf[TNI_GRAPH_NAME];
    const tn_tensor *leaf = tni_edge_leaf(tni_graph_at(graph, place));
    const char *name = tni_graph_name(graph, leaf, buf);
    tni_putf(out, "%s{\"id\":\"%s\",\"name\":", place > graph->n_nodes ? "," : "", tni_graph_id(graph, place, id));
    if (name)
        put_string(out, name);
    else
        tni_put_text(out, "null");
    put_shape(out, leaf->sizes, leaf->ndim, (tn_dtype)leaf->dtype);
    tni_putf(out, ",\"has_grad\":%s}", tni_graph_has_grad(leaf) ? "true" : "false");
}

void tni_graph_put_json(tni_out *out, const tni_graph *graph)
{
    tni_putf(out, "{\"n_nodes\":%zu,\"n_leaves\":%zu,\"saved_bytes\":%zu,\"nodes\":[", graph->n_nodes, graph->n_leaves,
             graph->saved_bytes);
    for (size_t at = 0; at < graph->shown_nodes; at++)
        put_node(out, graph, at);
    tni_put_text(out, "],\"leaves\":[");
    for (size_t at = graph->n_nodes; at < graph->n_nodes + graph->shown_leaves; at++)
        put_leaf(out, graph, at);
    tni_put_text(out, "]}\n");
}
