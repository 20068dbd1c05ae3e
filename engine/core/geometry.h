/* View geometry: pure arithmetic on sizes, strides and offsets. Nothing here knows memory. Strides count elements. */
#ifndef TNI_CORE_GEOMETRY_H
#define TNI_CORE_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>

/* Product of the sizes. False when one is negative, or 64 bits do not hold it. A 0 among huge sizes is no
 * excuse: the product of max(size, 1) must fit, since contiguous strides are made of it. */
bool tni_numel(const int64_t *sizes, int ndim, int64_t *numel);

/* Row-major strides, counting sizes of 0 as 1. The sizes passed tni_numel. */
static inline void tni_contiguous_strides(const int64_t *sizes, int ndim, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= sizes[d] > 1 ? sizes[d] : 1;
    }
}

/* Row-major without gaps; size-1 dims do not count; anything without elements is. */
static inline bool tni_is_contiguous(const int64_t *sizes, const int64_t *strides, int ndim)
{
    int64_t stride = 1;
    bool contiguous = true;
    for (int d = ndim - 1; d >= 0; d--) {
        if (sizes[d] == 0)
            return true;
        if (sizes[d] == 1)
            continue;
        contiguous = contiguous && strides[d] == stride;
        stride *= sizes[d];
    }
    return contiguous;
}

/* Whether two lists of sizes (or strides) are the same. */
static inline bool tni_same_dims(const int64_t *a, int a_ndim, const int64_t *b, int b_ndim)
{
    if (a_ndim != b_ndim)
        return false;
    for (int d = 0; d < a_ndim; d++)
        if (a[d] != b[d])
            return false;
    return true;
}

/* Strides of an operand seen from the shape that it is broadcast to: 0 where it repeats. */
void tni_broadcast_strides(const int64_t *own_sizes, const int64_t *own_strides, int own_ndim, const int64_t *sizes,
                           int ndim, int64_t *strides);

/* Whether the elements fill a stretch of memory, each cell once, in any order of dims. */
bool tni_is_dense(const int64_t *sizes, const int64_t *strides, int ndim);

/* The order of dims, fastest first, that operands with these strides prefer. As PyTorch's TensorIterator: an
 * insertion sort in which the first operand with an opinion decides each pair; a stride of 0 has none; equal strides
 * are told apart by size. strides[k] may be NULL (an operand without an opinion). perm gets ndim dims. */
void tni_dim_order(const int64_t *sizes, int ndim, const int64_t *const *strides, int operands, int *perm);

/* Strides without gaps in the order of perm (fastest first). A size of 0 makes
 * those behind it 0 unless the order is row-major, as in PyTorch. */
void tni_strides_in_order(const int64_t *sizes, int ndim, const int *perm, int64_t *strides);

/* The strides of a copy that keeps the layout ("preserve"): the same when dense, else the same order of dims without
 * gaps. */
void tni_preserved_strides(const int64_t *sizes, const int64_t *strides, int ndim, int64_t *kept);

/* Elements that the strides span from the offset, 0 for an empty shape: 1 + sum (size - 1) stride. False on overflow.
 * */
bool tni_extent(const int64_t *sizes, const int64_t *strides, int ndim, int64_t *extent);

/* Strides of a view with new_sizes (same number of elements) over old ones. True when there are; else *dim is the old
 * dim whose stride does not continue dim + 1's. */
bool tni_view_strides(const int64_t *old_sizes, const int64_t *old_strides, int old_ndim, const int64_t *new_sizes,
                      int new_ndim, int64_t *new_strides, int *dim);

/* A dim counted from the end when negative, for a tensor of ndim dims (a 0-dim one counts as having one).
 * -1 with TN_ERROR_DIM raised in the name of `function`. */
int tni_wrap_dim_any(const char *function, int64_t dim, int ndim);
static inline int tni_wrap_dim(const char *function, int64_t dim, int ndim)
{
    int64_t at = dim < 0 ? dim + ndim : dim;
    return (uint64_t)at < (uint64_t)ndim ? (int)at : tni_wrap_dim_any(function, dim, ndim);
}

/* The place of a dim that is not there yet, in a tensor of ndim dims: 0 .. ndim, from the end -ndim-1 .. -1. Fails as
 * tni_wrap_dim. */
int tni_wrap_new_dim(const char *function, int64_t dim, int ndim);

/* Sizes that may be asked for: ndim 0 .. 64, none negative, not NULL. */
tn_status tni_check_sizes(const char *function, const int64_t *sizes, int ndim);

/* Shape that both broadcast to, into `sizes` (room for 64); ndim or -1 with TN_ERROR_SHAPE raised. */
int tni_broadcast(const char *function, const int64_t *a, int a_ndim, const int64_t *b, int b_ndim, int64_t *sizes);

#endif
