/* tn_graph_write: checks what is asked for, gathers the graph and lets a writer put it. */
#include "autograd/graph.h"
#include "base/error.h"

static tn_status check(tn_tensor *const *x, int n, tn_graph_format format, const tn_graph_options *options,
                       tn_text_writer write)
{
    if (tni_pending())
        return tni_pending();
    if (!x || !write)
        return TNI_FAIL_NULL("graph_write", x ? 3 : 1, x ? "write" : "x");
    if (n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "graph_write", "%d tensors, needed 1 or more", n);
    if ((unsigned)format > TN_GRAPH_JSON)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "graph_write", "format %d, needed one of tn_graph_format", (int)format);
    if (options->max_nodes < 0 || options->max_nodes > TN_GRAPH_MAX_NODES)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "graph_write", "max_nodes is %d, needed 1 to %d, or 0 for 200",
                        options->max_nodes, TN_GRAPH_MAX_NODES);
    if (options->n_names < 0 || (options->n_names > 0 && (!options->named || !options->names)))
        return TNI_FAIL(TN_ERROR_ARGUMENT, "graph_write", "%d names, needed as many tensors and texts",
                        options->n_names);
    return TN_OK;
}

tn_status tn_graph_write_many(tn_tensor *const *x, int n, tn_graph_format format, const tn_graph_options *options,
                              tn_text_writer write, void *context)
{
    const tn_graph_options defaults = {0};
    char gathered[512];
    tni_graph graph;
    options = options ? options : &defaults;
    if (check(x, n, format, options, write))
        return tni_pending();
    if (tni_graph_gather(&graph, x, n, options) == TN_OK) {
        tni_out out = {.buf = gathered, .size = sizeof gathered, .write = write, .context = context};
        if (format == TN_GRAPH_TEXT)
            tni_graph_put_text(&out, &graph);
        else if (format == TN_GRAPH_DOT)
            tni_graph_put_dot(&out, &graph);
        else if (format == TN_GRAPH_JSON)
            tni_graph_put_json(&out, &graph);
        else
            tni_graph_put_svg(&out, &graph);
        tni_flush(&out);
        if (out.refused)
            TNI_FAIL(TN_ERROR_FILE, "graph_write", "the function that takes the text refused it");
    }
    tni_graph_end(&graph);
    return tni_pending();
}

tn_status tn_graph_write(tn_tensor *x, tn_graph_format format, tn_text_writer write, void *context)
{
    return tn_graph_write_many(&x, 1, format, NULL, write, context);
}
