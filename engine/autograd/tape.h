/* What autograd knows of a tensor: whether it requires a gradient, where that gradient goes on, what hangs on it. */
#ifndef TNI_AUTOGRAD_TAPE_H
#define TNI_AUTOGRAD_TAPE_H

#include "autograd/node.h"
#include "dispatch/keys.h"

/* The record of a tensor that has more than a node. */
typedef struct tni_tape {
    tni_autograd_meta as_meta;
    tni_node *node;             /* held; NULL: a leaf */
    tn_tensor *grad;            /* held; NULL: none yet */
    struct tni_hook *hooks;     /* of a leaf; those of a result are its node's */
    struct tni_hook *after;     /* called once a leaf's gradient was accumulated */
    tni_node *retainer; /* held: the node whose gradient x keeps (retain_grad); NULL: none. In general `node` */
    tn_tensor *tangent;         /* held; NULL: none. It and what follows belong to autograd/tangent.c */
    tn_tensor *owner;           /* the tensor that the tangent is of */
    uint64_t level;
    struct tni_tape *next, **at; /* in the list of tapes with a tangent */
} tni_tape;

extern const tni_autograd_class tni_tape_meta;

/* For printing. */
void tni_tape_facts(const tn_tensor *x, tni_autograd_facts *facts);

/* The tape of x where it has more than a node; NULL: none. tni_tape_make makes one; NULL with an error raised. */
static inline tni_tape *tni_tape_of(const tn_tensor *x)
{
    return x->autograd && x->autograd->type == &tni_tape_meta ? (tni_tape *)(void *)x->autograd : NULL;
}

tni_tape *tni_tape_make(const char *function, tn_tensor *x);

/* The node that made x, as far as x itself knows: of a view it may be stale. NULL: none. */
static inline tni_node *tni_own_node(const tn_tensor *x)
{
    if (!x->autograd)
        return NULL;
    if (x->autograd->type == &tni_node_meta)
        return (tni_node *)(void *)((char *)x->autograd - offsetof(tni_node, as_meta));
    return ((const tni_tape *)(const void *)x->autograd)->node;
}

static inline bool tni_requires_grad(const tn_tensor *x)
{
    return tni_keys(x) & TNI_KEY_TAPE;
}

/* Whether x only requires a gradient because its base does, and was not recorded: its own gradient goes nowhere. */
static inline bool tni_leads_nowhere(const tn_tensor *x)
{
    return x->base && !(x->keys & TNI_KEY_TAPE) && !tni_own_node(x);
}

/* Whether x is a view whose history was rewritten through its base since x noted it. */
bool tni_is_stale(const tn_tensor *x);

/* The node that made x, told anew where it is stale. Not held for the caller. NULL: none; or an error: the view must
 * not be used (made under no_grad, or one of several). */
tni_node *tni_node_of(const char *function, tn_tensor *x);

/* Where the gradient of x goes on: not held. 0: x requires none, or an error is pending. */
tni_edge tni_edge_of(const char *function, tn_tensor *x);

/* Makes `node` (the caller's reference goes to x) what made x; NULL: x has no history any more. A gradient that is kept
 * is that of the new node then; with tni_replace_node it stays that of the old one. */
void tni_set_node(tn_tensor *x, tni_node *node);
void tni_replace_node(tn_tensor *x, tni_node *node);

/* Has the tape's tensor keep the gradient of a node; NULL: of none. */
void tni_set_retainer(tni_tape *tape, tni_node *node);

/* Refuses a view that must not be written, or used once it or its base was: made under no_grad, or one of several. */
tn_status tni_check_creation(const char *function, const tn_tensor *x);

/* Operators that the tape calls itself. They stand on a higher floor and are handed in: ops/tape.c. */
typedef struct tni_tape_operators {
    tn_tensor *(*add)(tn_tensor *a, tn_tensor *b);
    tn_status (*add_)(tn_tensor *self, tn_tensor *b);
    tn_tensor *(*sum_to)(tn_tensor *x, const int64_t *sizes, int ndim);
    tn_tensor *(*to)(tn_tensor *x, tn_dtype dtype);
    tn_tensor *(*real)(tn_tensor *x);
    tn_tensor *(*clone)(tn_tensor *x);
    tn_tensor *(*detach)(tn_tensor *x);
    tn_tensor *(*ones_like)(tn_tensor *x);
    /* an uninitialised tensor of these sizes and strides */
    tn_tensor *(*empty_strided)(const int64_t *sizes, const int64_t *strides, int ndim, tn_dtype dtype,
                                tn_device device);
    tn_tensor *(*as_strided)(tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset);
    tn_status (*copy_)(tn_tensor *self, tn_tensor *src);
    tn_status (*zero_)(tn_tensor *self);
    tn_tensor *(*view)(tn_tensor *x, const int64_t *sizes, int ndim);
    tn_tensor *(*expand)(tn_tensor *x, const int64_t *sizes, int ndim);
    tn_tensor *(*zero_tensor)(const int64_t *sizes, int ndim, tn_dtype dtype);
    /* the view of x with that geometry (offset from the storage's beginning, all in elements of the dtype), dtype
       (which may be the other of a complex one and its parts') and lazy bits, of which x has none */
    tn_tensor *(*part)(tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset,
                       tn_dtype dtype, uint64_t lazy);
    /* the node of x as a part of its base, for views that are told anew; edge: the base's */
    tni_node *(*as_strided_node)(const char *function, const tn_tensor *x, tni_edge edge);
} tni_tape_operators;

extern const tni_tape_operators *tni_tape_ops; /* set by tni_tape_begin, before anything requires a gradient */

/* Before anything first requires a gradient or has a tangent. Cheap when it was called before. */
void tni_tape_begin(const tni_tape_operators *operators);

/* tn_requires_grad_, once the tape has begun. */
tn_status tni_require_grad(tn_tensor *x, bool on);

/* The layer that records: autograd/record.c. */
tn_status tni_record_layer(void *context, tni_call *call);

#endif
