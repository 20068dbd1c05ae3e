/* The recorded graph, for looking at: node by node, or written as text, DOT, SVG or JSON.
 *
 * The graph of a tensor is what tn_backward would walk: nodes (recorded calls), in the order of the walk, and leaves.
 * The same program gives the same text: nodes are n0, n1 ... in the order of the walk, leaves x0, x1 ... as it meets
 * them.
 *
 * Threads  a graph that nobody records into, walks or frees meanwhile may be looked at by several threads. */
#ifndef TENON_GRAPH_H
#define TENON_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/autograd.h>
#include <tenon/dtype.h>
#include <tenon/error.h>
#include <tenon/print.h>
#include <tenon/tensor.h>

TN_BEGIN

/* What a node is about. Walk a graph with them from tn_grad_fn(x) on, in a loop and not by recursion: graphs are deep.
 *   operator     the recorded call: "add", "add_"
 *   sequence     larger than that of every node that the node leads to
 *   input_count  of the call, numbers among them
 *   next         the node that made input i; NULL: input i is a leaf or requires no gradient
 *   leaf         input i where it is a leaf that requires a gradient; NULL: it is none
 *   shape        that of the result: returns the number of dims, *sizes gets them, *dtype its dtype; both may be NULL
 * result  valid while the node lives; nothing is retained. For a NULL node or an i out of range "", 0 and NULL
 * errors  none; they work while an error is pending */
TN_API const char *tn_node_operator(const tn_node *node);
TN_API uint64_t tn_node_sequence(const tn_node *node);
TN_API int tn_node_input_count(const tn_node *node);
TN_API tn_node *tn_node_next(const tn_node *node, int i);
TN_API tn_tensor *tn_node_leaf(const tn_node *node, int i);
TN_API int tn_node_shape(const tn_node *node, const int64_t **sizes, tn_dtype *dtype);

/* A tensor that a node keeps for its derivative. */
typedef struct tn_node_saving {
    const tn_tensor *tensor; /* the node's own; NULL: a number, or given up by a walk that did not retain the graph */
    int input;               /* which input of the call it was (of a tn_function: which that it kept); -1: its result */
    uint32_t version;        /* when it was saved */
    uint32_t version_now;    /* another one: it was written since, and the derivative will refuse it */
} tn_node_saving;

/* How many tensors a node saved, and number i of them; whether a walk has given them up.
 * errors  none; tensor is NULL and input -1 for a NULL node or an i out of range */
TN_API int tn_node_saved_count(const tn_node *node);
TN_API tn_node_saving tn_node_saved(const tn_node *node, int i);
TN_API bool tn_node_is_freed(const tn_node *node);

typedef enum tn_graph_format {
    TN_GRAPH_TEXT, /* a line a node, with where its gradients go on; a line below it for each saved tensor */
    TN_GRAPH_DOT,  /* for Graphviz; arrows lead the way of the computation, from the leaves down */
    TN_GRAPH_SVG,  /* the same picture, laid out */
    TN_GRAPH_JSON  /* one object on one line: nodes, with inputs and saved tensors, and leaves */
} tn_graph_format;

/* The zero value is the default. */
typedef struct tn_graph_options {
    tn_tensor *const *named; /* n_names leaves, and what they are called: any text, cut to 120 bytes */
    const char *const *names;
    int n_names;
    int max_nodes; /* nodes shown; what is beyond is summed up in one line. 0: 200; up to TN_GRAPH_MAX_NODES */
    bool colour;   /* of TN_GRAPH_TEXT: with the colour codes of a terminal */
} tn_graph_options;

#define TN_GRAPH_MAX_NODES 1000

/* Writes the graph of x, or of several tensors together: nodes as tn_node_name calls them, shape and dtype of results,
 * saved tensors with their versions (marked when written since), leaves, and edges with the numbers of the inputs.
 * x        requires a gradient
 * options  NULL: the defaults
 * errors   TN_ERROR_NULL, TN_ERROR_ARGUMENT (n below 1, no such format, max_nodes), TN_ERROR_NO_GRAPH (one requires
 *          no gradient), TN_ERROR_MEMORY, TN_ERROR_FILE (write did not return 0)
 * cost     O(nodes) time and memory; constant stack */
TN_API tn_status tn_graph_write(tn_tensor *x, tn_graph_format format, tn_text_writer write, void *context);
TN_API tn_status tn_graph_write_many(tn_tensor *const *x, int n, tn_graph_format format,
                                     const tn_graph_options *options, tn_text_writer write, void *context);

TN_END

#endif
