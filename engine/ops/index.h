/* Indexing by tensors, masks, bools and lists: ops/index_copy.c, behind the functions of tenon/views.h. */
#ifndef TNI_OPS_INDEX_H
#define TNI_OPS_INDEX_H

#include <tenon/views.h>

/* tn_getitem and its kin where an entry is no integer, slice, ellipsis or new axis. */
tn_tensor *tni_getitem_copy(tn_tensor *x, const tn_index *index, int n);
tn_status tni_setitem_copy(tn_tensor *x, const tn_index *index, int n, tn_tensor *value);
tn_status tni_setitem_copy_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value);

#endif
