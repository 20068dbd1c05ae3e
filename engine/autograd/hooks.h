/* Hooks: functions that see a gradient on its way, in the order of their registration. */
#ifndef TNI_AUTOGRAD_HOOKS_H
#define TNI_AUTOGRAD_HOOKS_H

#include <tenon/autograd.h>

#include "core/tensor.h"

typedef struct tni_hook {
    struct tni_hook *next;
    int64_t number; /* the handle that removes it */
    tn_hook_function function;
    void *context;
} tni_hook;

/* Adds one at the end; its handle, or 0 with an error raised. */
int64_t tni_hook_add(const char *function_name, tni_hook **list, tn_hook_function function, void *context);
/* Takes the hook off; false when it is not in the list. */
bool tni_hook_remove(tni_hook **list, int64_t number);
void tni_hooks_free(tni_hook **list);

/* The gradient after all hooks, `grad` itself when none changes it. NULL with an error pending. */
tn_tensor *tni_hooks_run(tni_hook *const *list, tn_tensor *grad);

/* Hooks on leaves that exist in the process: while there are some, a walk accumulates into a leaf as soon as its
 * gradient is complete, as PyTorch does; else at its end. */
extern int64_t tni_leaf_hooks;

#endif
