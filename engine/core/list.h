/* Making lists: an empty list is filled by makers whose results leave the scope for it. */
#ifndef TNI_CORE_LIST_H
#define TNI_CORE_LIST_H

#include <tenon/list.h>

#include "core/tensor.h"

/* A list with room for n tensors, none there yet, held by the innermost scope. NULL with TN_ERROR_MEMORY or
 * TN_ERROR_OVERFLOW raised in the name of `function`. */
tn_list *tni_list_new(const char *function, int64_t n);

/* Adds a tensor that this scope holds; the hold becomes the list's. For the list there is room. */
void tni_list_add(tn_list *list, tn_tensor *x);

/* Adds a tensor that others hold, too. */
void tni_list_share(tn_list *list, tn_tensor *x);

#endif
