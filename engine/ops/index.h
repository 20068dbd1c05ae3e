/* Indexing by tensors, masks, bools and lists: ops/index_copy.c makes a view and int64 tensors of any index, and
 * ops/index_put.c has the two operators that these go to. */
#ifndef TNI_OPS_INDEX_H
#define TNI_OPS_INDEX_H

#include <tenon/views.h>

#include "dispatch/op.h"

/* Attributes of index and index_put. */
typedef struct tni_put_attr {
    tni_tensors indices; /* int64 without lazy bits; NULL: the whole dim */
    bool accumulate;
    const char *caller; /* in whose name errors are raised; NULL: the operator's */
} tni_put_attr;

/* Whether a basic index takes all of x as it is, as [...] and [:, :] do: what is written there is written to x itself.
 * As in PyTorch, where no view stands in the history then. */
bool tni_takes_all(const tn_tensor *x, const tn_index *index, int n);

/* tn_getitem and its kin where an entry is no integer, slice, ellipsis or new axis. */
tn_tensor *tni_getitem_copy(tn_tensor *x, const tn_index *index, int n);
tn_status tni_setitem_copy(tn_tensor *x, const tn_index *index, int n, tn_tensor *value);
tn_status tni_setitem_copy_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value);

/* The calls of index and index_put by name: in and attr as their params say. NULL when it failed. */
tn_tensor *tni_index_by_name(const tni_op *op, tni_form form, tn_tensor **in, const tni_put_attr *attr);

/* Whether every element of `at`, an index of integers with data, is in -size .. size-1, or in 0 .. size-1 where
 * `from_end` is false. The message names the first that is not, its place, `dim` and `size`. */
tn_status tni_check_positions(const char *name, const tn_tensor *at, int dim, int64_t size, bool from_end);

#endif
