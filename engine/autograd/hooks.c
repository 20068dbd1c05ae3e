/* Lists of hooks. */
#include "autograd/hooks.h"

#include <tenon/scope.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"

int64_t tni_leaf_hooks;

static int64_t last_number; /* the handle given out last */

int64_t tni_hook_add(const char *function_name, tni_hook **list, tn_hook_function function, void *context)
{
    tni_hook *hook = tni_alloc(sizeof *hook);
    if (!hook) {
        TNI_FAIL_MEMORY(function_name, sizeof *hook);
        return 0;
    }
    *hook = (tni_hook){NULL, __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED), function, context};
    while (*list)
        list = &(*list)->next;
    *list = hook;
    return hook->number;
}

bool tni_hook_remove(tni_hook **list, int64_t number)
{
    for (; *list; list = &(*list)->next) {
        tni_hook *hook = *list;
        if (hook->number != number)
            continue;
        *list = hook->next;
        tni_free(hook, sizeof *hook);
        return true;
    }
    return false;
}

void tni_hooks_free(tni_hook **list)
{
    while (*list)
        tni_hook_remove(list, (*list)->number);
}

/* What a hook gives in a gradient's place must be of the same shape, dtype and device. */
static tn_status check_result(const tn_tensor *result, const tn_tensor *grad)
{
    if (result->dtype == grad->dtype && result->device == grad->device &&
        tni_same_dims(result->sizes, result->ndim, grad->sizes, grad->ndim))
        return TN_OK;
    char have[120], need[120];
    tni_text_shape(have, sizeof have, result->sizes, result->ndim);
    tni_text_shape(need, sizeof need, grad->sizes, grad->ndim);
    return TNI_FAIL(TN_ERROR_GRAD, "hook", "a hook gave %s of %s for a gradient %s of %s, needed the same", have,
                    tn_dtype_name((tn_dtype)result->dtype), need, tn_dtype_name((tn_dtype)grad->dtype));
}

/* The first hook after number `after`, up to `last`: a list is in the order of its numbers. */
static const tni_hook *next_hook(const tni_hook *list, int64_t after, int64_t last)
{
    while (list && list->number <= after)
        list = list->next;
    return list && list->number <= last ? list : NULL;
}

/* A hook may take hooks off, itself among them, which are not called then, and add some, which are not called yet. */
tn_tensor *tni_hooks_run(tni_hook *const *list, tn_tensor *grad)
{
    int64_t last = 0, number = 0;
    for (const tni_hook *hook = *list; hook; hook = hook->next)
        last = hook->number;
    for (const tni_hook *hook; grad && (hook = next_hook(*list, number, last)); ) {
        number = hook->number;
        tn_tensor *result = hook->function(hook->context, grad);
        if (tni_pending() || (result && check_result(result, grad)))
            return NULL;
        grad = result ? result : grad;
    }
    return grad;
}
