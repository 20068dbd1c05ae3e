/* What a module is inside: parameters and children in plain arrays, and a class table for what differs.
 *
 * Invariant: modules form a tree. A module that has parameters or can have children stands in one place at most and
 * knows its parent; one without state (ReLU) may stand in many. So nothing is counted twice, there is no cycle, and
 * with the nesting bounded by TNI_MODULE_NESTING every walk may recurse. */
#ifndef TNI_NN_MODULE_H
#define TNI_NN_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/extend.h>
#include <tenon/nn.h>
#include <tenon/ops.h>

enum { TNI_MODULE_NESTING = 64, TNI_NAME = 64 };

/* A tensor that a module holds by name: a parameter, which is trained, or a buffer, which is not but belongs to the
 * module's state (running means). */
typedef struct tni_parameter {
    char name[TNI_NAME]; /* "weight" */
    bool buffer;
    tn_tensor *tensor; /* a reference of the module's; NULL for one that was left out (no bias) */
} tni_parameter;

typedef struct tni_child {
    char name[TNI_NAME]; /* "0", "hidden" */
    tn_module *module;   /* a reference */
} tni_child;

struct tn_module {
    tn_object object;
    tn_module *parent;         /* not a reference: the parent clears it when it dies */
    tni_parameter *parameters; /* parameters and buffers */
    tni_child *children;
    int n_parameters, parameter_capacity;
    int64_t n_children, child_capacity;
    bool evaluating; /* eval, not train: what Dropout and BatchNorm1d look at. A new module is training */
};

/* Where a module stands in the net that is running, for messages: the path is built only when something fails. */
typedef struct tni_place {
    const struct tni_place *parent;
    const char *name; /* of the child */
} tni_place;

/* A layer family's table; `object` first, so that an object's type can be read as its module class. */
typedef struct tni_module_class {
    tn_object_class object; /* destroy is tni_module_destroy */
    /* y in the innermost scope, or NULL with an error. place: of this module, NULL for the outermost. */
    tn_tensor *(*forward)(tn_module *module, tn_tensor *x, const tni_place *place);
    /* A loss: of an input and a target; its forward is then tni_loss_forward. NULL: it is none. */
    tn_tensor *(*loss)(tn_module *module, tn_tensor *input, tn_tensor *target);
    /* A module of this class and these settings without parameters, buffers and children, in the innermost scope; NULL:
     * tn_object_new is all that takes. */
    tn_module *(*bare)(const tn_module *module);
    /* The name it shows, where the class alone does not say. NULL: object.name. */
    const char *(*name)(const tn_module *module);
    /* Its settings as PyTorch shows them in brackets ("p=0.5"), as snprintf; NULL: none. */
    int (*settings)(const tn_module *module, char *buf, size_t size);
    bool stateless; /* neither parameters nor children, ever */
} tni_module_class;

extern const tni_module_class tni_linear_class, tni_embedding_class, tni_sequential_class;

/* The row of an Embedding that stays zero, or -1. */
int64_t tni_embedding_padding(const tn_module *module);

static inline const tni_module_class *tni_module_type(const tn_module *module)
{
    return (const tni_module_class *)tn_object_type(module);
}

void tni_module_destroy(void *object);

/* True when a query may go on: no error is pending and the module is there. */
bool tni_module_ready(const tn_module *module, const char *function);

const char *tni_module_shown_name(const tn_module *module);

/* Refuses: a loss takes two tensors. */
tn_tensor *tni_loss_forward(tn_module *module, tn_tensor *x, const tni_place *place);

/* The dtypes that parameters may have. */
tn_status tni_module_check_dtype(const char *function, tn_dtype dtype);

/* Whether the library can copy the module, which it can't one of the user's; the module and all below it. */
bool tni_module_copies(const tn_module *module);
bool tni_module_can_copy(const tn_module *module);

/* Puts a tensor, which the module then holds (NULL: a name without tensor), under a new name. */
tn_status tni_module_put(const char *function, tn_module *module, const char *name, tn_tensor *tensor, bool buffer);

/* The same for a tensor that was just made for it: the scope's hold goes. NULL with an error pending is no tensor.
 * Parameters come to require a gradient. */
void tni_module_give(tn_module *module, const char *name, tn_tensor *tensor, bool buffer);

tn_status tni_module_put_child(const char *function, tn_module *module, const char *name, tn_module *child);

/* What sees every forward of a module on this thread, instead of the class's: it calls that itself. place as there. */
typedef struct tni_observer {
    tn_tensor *(*forward)(struct tni_observer *self, tn_module *module, tn_tensor *x, const tni_place *place);
} tni_observer;
extern _Thread_local tni_observer *tni_observing __attribute__((tls_model("initial-exec"))); /* NULL: nothing */

/* y of a child, whose name stands before an error's message. */
tn_tensor *tni_module_run(const tni_child *child, tn_tensor *x, const tni_place *place);

/* Calls visit on root and all modules below it, parents before children, in order, until it returns false. Returns
 * false then. */
typedef bool (*tni_module_visit)(tn_module *module, void *context);
bool tni_module_each(tn_module *root, tni_module_visit visit, void *context);

#endif
