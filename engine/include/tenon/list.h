/* Lists of tensors: what calls with several results return (tn_split, tn_unbind ...). A list is one object of the
 * innermost scope and holds its tensors: they live as long as it does, or longer where they are retained. */
#ifndef TENON_LIST_H
#define TENON_LIST_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_list tn_list;

/* A list of n tensors, which it holds.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT, TN_ERROR_MEMORY; then NULL */
TN_API tn_list *tn_list_of(tn_tensor *const *tensors, int64_t n);

/* The number of tensors; 0 for NULL.
 * errors  TN_ERROR_NULL */
TN_API int64_t tn_list_size(const tn_list *list);

/* Tensor i, 0 .. size-1, a negative i counted from the end. It belongs to the list.
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX; then NULL */
TN_API tn_tensor *tn_list_get(const tn_list *list, int64_t i);

/* All of them, in order: `size` pointers that live as long as the list; NULL for NULL.
 * errors  TN_ERROR_NULL */
TN_API tn_tensor *const *tn_list_tensors(const tn_list *list);

TN_END

#endif
