/* Sizes, strides, and the questions asked of them. */
#include "core/geometry.h"

#include <string.h>
#include <tenon/tensor.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"

bool tni_numel(const int64_t *sizes, int ndim, int64_t *numel)
{
    int64_t span = 1, count = 1;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0 || !tni_mul_i64(span, sizes[d] > 1 ? sizes[d] : 1, &span))
            return false;
        count = sizes[d] == 0 ? 0 : count;
    }
    *numel = count == 0 ? 0 : span;
    return true;
}

bool tni_is_dense(const int64_t *sizes, const int64_t *strides, int ndim)
{
    int order[TN_MAX_NDIM];
    int counted = 0;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] == 0)
            return true;
        if (sizes[d] == 1)
            continue;
        int place = counted++;
        for (; place > 0 && strides[order[place - 1]] > strides[d]; place--)
            order[place] = order[place - 1];
        order[place] = d;
    }
    int64_t stride = 1;
    for (int i = 0; i < counted; i++) {
        if (strides[order[i]] != stride)
            return false;
        stride *= sizes[order[i]];
    }
    return true;
}

/* Positive when dim0 (now the faster) should be slower than dim1, negative when the order is right, 0 when nobody
 * cares. */
static int compare_dims(const int64_t *sizes, const int64_t *const *strides, int operands, int dim0, int dim1)
{
    for (int k = 0; k < operands; k++) {
        if (!strides[k])
            continue;
        int64_t stride0 = strides[k][dim0], stride1 = strides[k][dim1];
        if (stride0 == 0 || stride1 == 0)
            continue;
        if (stride0 != stride1)
            return stride0 < stride1 ? -1 : 1;
        if (sizes[dim0] > sizes[dim1])
            return 1;
    }
    return 0;
}

void tni_dim_order(const int64_t *sizes, int ndim, const int64_t *const *strides, int operands, int *perm)
{
    for (int d = 0; d < ndim; d++)
        perm[d] = ndim - 1 - d;
    for (int i = 1; i < ndim; i++) {
        int moving = i;
        for (int j = i - 1; j >= 0; j--) {
            int order = compare_dims(sizes, strides, operands, perm[j], perm[moving]);
            if (order < 0)
                break;
            if (order > 0) {
                int swap = perm[j];
                perm[j] = perm[moving];
                perm[moving] = swap;
                moving = j;
            }
        }
    }
}

void tni_strides_in_order(const int64_t *sizes, int ndim, const int *perm, int64_t *strides)
{
    int64_t stride = 1;
    bool row_major = true;
    for (int i = 0; i < ndim; i++)
        row_major = row_major && perm[i] == ndim - 1 - i;
    for (int i = 0; i < ndim; i++) {
        strides[perm[i]] = stride;
        stride *= row_major && sizes[perm[i]] == 0 ? 1 : sizes[perm[i]];
    }
}

void tni_preserved_strides(const int64_t *sizes, const int64_t *strides, int ndim, int64_t *kept)
{
    if (tni_is_dense(sizes, strides, ndim)) {
        memcpy(kept, strides, (size_t)ndim * sizeof *kept);
        return;
    }
    int perm[TN_MAX_NDIM];
    tni_dim_order(sizes, ndim, &strides, 1, perm);
    tni_strides_in_order(sizes, ndim, perm, kept);
}

bool tni_extent(const int64_t *sizes, const int64_t *strides, int ndim, int64_t *extent)
{
    *extent = 1;
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] == 0) {
            *extent = 0;
            return true;
        }
    }
    for (int d = 0; d < ndim; d++) {
        int64_t reach;
        if (sizes[d] > 1 && (!tni_mul_i64(sizes[d] - 1, strides[d], &reach) || !tni_add_i64(*extent, reach, extent)))
            return false;
    }
    return true;
}

/* Both walks go from the last dim to the first. Old dims that continue one another form a run of `run` elements with
 * one stride; new dims are cut from the run until it is used up. */
bool tni_view_strides(const int64_t *old_sizes, const int64_t *old_strides, int old_ndim, const int64_t *new_sizes,
                      int new_ndim, int64_t *new_strides, int *dim)
{
    int64_t numel = 1;
    for (int d = 0; d < old_ndim; d++)
        numel *= old_sizes[d];
    if (numel == 0) {
        if (tni_same_dims(old_sizes, old_ndim, new_sizes, new_ndim))
            memcpy(new_strides, old_strides, (size_t)old_ndim * sizeof *old_strides);
        else
            tni_contiguous_strides(new_sizes, new_ndim, new_strides);
        return true;
    }
    if (old_ndim == 0) {
        for (int d = 0; d < new_ndim; d++)
            new_strides[d] = 1;
        return true;
    }
    int next = new_ndim - 1;
    int64_t run = 1, taken = 1, base = old_strides[old_ndim - 1];
    for (int d = old_ndim - 1; d >= 0; d--) {
        run *= old_sizes[d];
        bool ends = d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != run * base);
        if (!ends)
            continue;
        while (next >= 0 && (taken < run || new_sizes[next] == 1)) {
            new_strides[next] = taken * base;
            taken *= new_sizes[next--];
        }
        if (taken != run) {
            *dim = d - 1;
            return false;
        }
        if (d > 0) {
            base = old_strides[d - 1];
            run = taken = 1;
        }
    }
    return next < 0;
}

int tni_wrap_dim_any(const char *function, int64_t dim, int ndim)
{
    int dims = ndim > 0 ? ndim : 1;
    if (dim >= -dims && dim < dims)
        return (int)(dim < 0 ? dim + dims : dim);
    TNI_FAIL(TN_ERROR_DIM, function, "dim %lld of a %d-dim tensor, needed %d .. %d", (long long)dim, ndim, -dims,
             dims - 1);
    return -1;
}

int tni_wrap_new_dim(const char *function, int64_t dim, int ndim)
{
    if (dim >= -ndim - 1 && dim <= ndim)
        return (int)(dim < 0 ? dim + ndim + 1 : dim);
    TNI_FAIL(TN_ERROR_DIM, function, "new dim %lld of a %d-dim tensor, needed %d .. %d", (long long)dim, ndim,
             -ndim - 1, ndim);
    return -1;
}

tn_status tni_check_sizes(const char *function, const int64_t *sizes, int ndim)
{
    if (ndim < 0 || ndim > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, function, "%d dims, needed 0 .. %d", ndim, TN_MAX_NDIM);
    if (ndim > 0 && !sizes)
        return TNI_FAIL_NULL(function, 1, "size");
    for (int d = 0; d < ndim; d++) {
        if (sizes[d] < 0) {
            char text[160];
            tni_text_shape(text, sizeof text, sizes, ndim);
            return TNI_FAIL(TN_ERROR_ARGUMENT, function, "size %lld in dim %d of %s, needed 0 or more",
                            (long long)sizes[d], d, text);
        }
    }
    return TN_OK;
}

void tni_broadcast_strides(const int64_t *own_sizes, const int64_t *own_strides, int own_ndim, const int64_t *sizes,
                           int ndim, int64_t *strides)
{
    int lead = ndim - own_ndim;
    for (int d = 0; d < ndim; d++)
        strides[d] = d < lead || (own_sizes[d - lead] == 1 && sizes[d] != 1) ? 0 : own_strides[d - lead];
}

int tni_broadcast(const char *function, const int64_t *a, int a_ndim, const int64_t *b, int b_ndim, int64_t *sizes)
{
    int ndim = a_ndim > b_ndim ? a_ndim : b_ndim;
    for (int d = ndim - 1; d >= 0; d--) {
        int ad = d - (ndim - a_ndim), bd = d - (ndim - b_ndim);
        int64_t an = ad >= 0 ? a[ad] : 1, bn = bd >= 0 ? b[bd] : 1;
        if (an != bn && an != 1 && bn != 1) {
            char a_text[120], b_text[120];
            tni_text_shape(a_text, sizeof a_text, a, a_ndim);
            tni_text_shape(b_text, sizeof b_text, b, b_ndim);
            TNI_FAIL(TN_ERROR_SHAPE, function,
                     "%s and %s do not broadcast: %lld against %lld at dim %d, needed equal or 1", a_text, b_text,
                     (long long)an, (long long)bn, d - ndim);
            return -1;
        }
        sizes[d] = an == 1 ? bn : an;
    }
    return ndim;
}
