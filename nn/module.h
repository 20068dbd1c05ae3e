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

enum { TNI_MODULE_NESTING = 64 };

typedef struct tni_parameter {
    const char *name;  /* "weight" */
    tn_tensor *tensor; /* a reference of the module's; NULL for one that was left out (no bias) */
} tni_parameter;

struct tn_module {
    tn_object object;
    tn_module *parent;         /* not a reference: the parent clears it when it dies */
    tni_parameter *parameters; /* points into the layer's own struct */
    int n_parameters;
    tn_module **children; /* references */
    int64_t n_children, capacity;
};

/* Where a module stands in the net that is running, for messages: the path is built only when something fails. */
typedef struct tni_place {
    const struct tni_place *parent;
    int64_t index; /* among the parent's children */
} tni_place;

/* A layer family's table; `object` first, so that an object's type can be read as its module class. */
typedef struct tni_module_class {
    tn_object_class object; /* destroy is tni_module_destroy */
    /* y in the innermost scope, or NULL with an error. place: of this module, NULL for the outermost. */
    tn_tensor *(*forward)(tn_module *module, tn_tensor *x, const tni_place *place);
    /* A module like this one, with parameters of dtype, in the innermost scope; what a failure leaves half made the
     * caller's scope ends. */
    tn_module *(*copy)(const tn_module *module, tn_dtype dtype);
    bool stateless; /* neither parameters nor children, ever */
} tni_module_class;

extern const tni_module_class tni_linear_class;

static inline const tni_module_class *tni_module_type(const tn_module *module)
{
    return (const tni_module_class *)tn_object_type(module);
}

void tni_module_destroy(void *object);

/* The dtypes that parameters may have. */
tn_status tni_module_check_dtype(const char *function, tn_dtype dtype);

tn_module *tni_module_copy(const tn_module *module, tn_dtype dtype);

/* Calls visit on root and all modules below it, parents before children, in order, until it returns false. Returns
 * false then. */
typedef bool (*tni_module_visit)(tn_module *module, void *context);
bool tni_module_each(tn_module *root, tni_module_visit visit, void *context);

#endif
