/* Nodes of the tape: one for every recorded call.
 *
 * Note [Tape]
 * A tensor that requires a gradient is either a leaf (the user asked for it) or the result of a recorded call. A call
 * is recorded as a node: the operator and its attributes, an edge for each input to where its gradient goes on (the
 * node that made it, or the leaf), the tensors that the derivative needs with the versions they had, the shape of the
 * result, and a sequence number larger than that of every node it leads to.
 *
 * The node of an ordinary result is all that autograd hangs on the tensor: x->autograd points into it. When a tensor
 * gets more (a gradient, hooks, a tangent) a tni_tape takes its place and holds the node.
 *
 * A node holds references to its edges' ends and to saved tensors; a saved result is held without its history, or it
 * would hold the node in turn. Tensors hold their nodes; nodes never hold the tensors they made.
 *
 * One block holds all of a node: edges, saved tensors, sizes of the result, attributes stand behind the struct. */
#ifndef TNI_AUTOGRAD_NODE_H
#define TNI_AUTOGRAD_NODE_H

#include <string.h>
#include <tenon/autograd.h>

#include "autograd/derivative.h"
#include "core/tensor.h"

/* Where a gradient goes on: a node, or a leaf tensor (bit 0 is set), or nowhere (0). */
typedef uintptr_t tni_edge;

typedef struct tni_saved {
    tn_tensor *tensor; /* held; NULL: a number, or given up after the walk */
    uint32_t version;
    uint8_t what; /* number of the input, or TNI_SAVED_RESULT */
} tni_saved;

enum { TNI_SAVED_RESULT = 255 };

enum {
    TNI_NODE_HOLDS = 1,   /* it saved something, if only a number: after the walk it can't be walked again */
    TNI_NODE_RELEASED = 2, /* and that was given up */
    TNI_NODE_APART = 4,    /* it made nothing, and its saved result is the result itself: autograd/forward.c */
    TNI_NODE_VIEW = 8,     /* the result is a view: of operators that make one or copy, for the name */
    TNI_NODE_LISTS = 16,   /* its attributes hold tensors: Note [Listed tensors] */
    TNI_NODE_PIECE = 32 * 3, /* what made several results at once: a tni_piece */
    TNI_NODE_ENDS = 128      /* the derivative's `end` is to be told when the node is gone */
};

/* The calls with several results, each of which has a node of its own. */
typedef enum tni_piece { TNI_NO_PIECE, TNI_OF_SPLIT, TNI_OF_SPLIT_SIZES, TNI_OF_UNBIND } tni_piece;

/* Of a write into a view: the node stands in the history of the base, and its operator's derivative is about a part
 * (autograd/inplace.c). Both geometries are sizes, strides, offset. */
typedef struct tni_slices {
    int base_ndim, view_ndim;
    tn_dtype dtype; /* the view's: complex numbers may be written by their parts */
    uint64_t lazy;  /* its lazy bits */
    int64_t geometry[]; /* 2 base_ndim + 1 of the base, then 2 view_ndim + 1 of the view */
} tni_slices;

struct tn_node {
    tn_object object;
    tni_autograd_meta as_meta; /* what tensors point to: Note [Tape] */
    const tni_op *op;
    const void *attr;
    uint64_t sequence;
    struct tni_hook *hooks; /* see the gradient of the result first: autograd/hooks.c */
    struct tni_tape *retains; /* of a tensor that wants the gradient kept (retain_grad); not held */
    tni_slices *slices;     /* NULL: the result is all of what was written */
    int64_t *geometry;      /* of input 0, or the shapes of a list, where the derivative asks for it; in the block */
    uint32_t bytes;         /* of the block */
    uint32_t n_edges;
    union {
        struct {
            uint8_t n_saved;
            uint8_t flags;
            int8_t ndim; /* of the result */
            uint8_t dtype;
            uint8_t device;
            uint8_t form;
            uint16_t number; /* the result is piece `number` of several */
        };
        uint64_t traits; /* all of them: a new node is filled in few stores */
    };
    tni_edge edges[];
};

extern const tn_object_class tni_node_class;
extern const tni_autograd_class tni_node_meta;

static inline tni_saved *tni_node_saved(const tni_node *node)
{
    return (tni_saved *)(uintptr_t)(node->edges + node->n_edges);
}

static inline int64_t *tni_node_sizes(const tni_node *node)
{
    return (int64_t *)(void *)(tni_node_saved(node) + node->n_saved);
}

static inline tni_edge tni_edge_to_node(tni_node *node)
{
    return (uintptr_t)node;
}

static inline tni_edge tni_edge_to_leaf(tn_tensor *leaf)
{
    return (uintptr_t)leaf | 1;
}

static inline tni_node *tni_edge_node(tni_edge edge)
{
    return edge & 1 ? NULL : (tni_node *)edge;
}

static inline tn_tensor *tni_edge_leaf(tni_edge edge)
{
    return edge & 1 ? (tn_tensor *)(edge & ~(uintptr_t)1) : NULL;
}

static inline tn_object *tni_edge_object(tni_edge edge)
{
    return (tn_object *)(edge & ~(uintptr_t)1); /* both begin with their object */
}

static inline void tni_edge_hold(tni_edge edge)
{
    if (edge)
        tni_ref(&tni_edge_object(edge)->references);
}

static inline void tni_edge_release(tni_edge edge)
{
    tni_object_release(tni_edge_object(edge));
}

/* Fills a new node's block but for edges, saved tensors and what tni_node_set_shape sets. */
static inline __attribute__((always_inline)) void tni_node_begin(tni_node *node, const tni_op *op, const void *attr,
                                                                 uint32_t n_edges, int n_saved, size_t bytes)
{
    tni_object_begin(&node->object, &tni_node_class);
    node->object.owner = NULL;
    node->as_meta.type = &tni_node_meta;
    node->op = op;
    node->attr = attr;
    memset(&node->hooks, 0, offsetof(tni_node, bytes) - offsetof(tni_node, hooks)); /* two wide stores */
    node->bytes = (uint32_t)bytes;
    node->n_edges = n_edges;
    node->traits = TNI_TRAIT(0, n_saved); /* no flags, TNI_NEW, the first result */
}

/* Makes it known that the result is number `number` of several. */
static inline void tni_node_set_piece(tni_node *node, tni_piece piece, int64_t number)
{
    node->flags |= (uint8_t)(piece * 32);
    node->number = (uint16_t)(number < UINT16_MAX ? number : UINT16_MAX);
}

/* The shape of what an edge's end made. */
tni_shape tni_edge_shape(tni_edge edge);

/* A node with room for all that stands behind it; one reference, in no scope; edges and saved tensors are 0. `ndim`
 * dims of the result can be set; `geometry` numbers have room. NULL with an error raised in the name of `function`. */
tni_node *tni_node_new(const char *function, const tni_op *op, const void *attr, uint32_t n_edges, int n_saved,
                       int ndim, size_t geometry);

/* The result's shape. It has as many dims as room was made for, or fewer. */
static inline void tni_node_set_shape(tni_node *node, const tn_tensor *result)
{
    int64_t *sizes = tni_node_sizes(node);
    node->ndim = result->ndim;
    node->dtype = result->dtype;
    node->device = result->device;
    for (int d = 0; d < result->ndim; d++)
        sizes[d] = result->sizes[d];
}

/* Keeps input 0's geometry, in tni_geometry_count numbers: ndim, sizes, strides, offset. */
void tni_node_set_geometry(tni_node *node, const tn_tensor *input);

static inline size_t tni_geometry_count(const tn_tensor *input)
{
    return 2 * (size_t)input->ndim + 2;
}

/* Saves a tensor in the next free place. A result is saved without its history: NULL with an error. */
static inline void tni_node_save_input(tni_node *node, int place, int input, tn_tensor *x)
{
    tni_saved *saved = &tni_node_saved(node)[place];
    saved->what = (uint8_t)input;
    saved->tensor = x;
    if (!x)
        return;
    tni_ref(&x->object.references);
    saved->version = x->counter->version;
    tni_storage_watch(x->counter);
}
tn_status tni_node_save_result(tni_node *node, int place, tn_tensor *result);

/* Gives up the saved tensors: the node was walked, and is not to be again. */
void tni_node_release_saved(tni_node *node);

/* Refuses a node that saved a tensor which was written since, whether or not its derivative would look at it. */
tn_status tni_saved_check(const tni_node *node);

/* Its name as PyTorch prints it: "AddBackward0". In buf where it must be made. */
const char *tni_node_name(const tni_node *node, char *buf, size_t size);

#endif
