/* The graph as a picture. */
#include "autograd/graph.h"
#include "base/error.h"

tn_status tni_graph_put_svg(tni_out *out, const tni_graph *graph)
{
    (void)out, (void)graph;
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "graph_write", "no SVG yet, needed text or DOT");
}
