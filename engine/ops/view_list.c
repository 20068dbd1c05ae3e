/* Views with several results, as lists: split, hsplit, vsplit, dsplit, chunk, tensor_split, unbind; and
 * broadcast_tensors. Rules of torch's functions of these names. Each result is a view of its own (narrow, slice,
 * select, expand), made through dispatch. */
#include <tenon/views.h>

#include "autograd/tape.h"
#include "base/error.h"
#include "core/geometry.h"
#include "core/list.h"
#include "dispatch/op.h"

/* A tensor to cut, and where: *dim is wrapped. */
static tn_status cut_along(const char *function, const tn_tensor *x, int *dim)
{
    if (tni_check_tensor(function, 1, "self", x))
        return tni_pending();
    if (x->ndim == 0)
        return TNI_FAIL(TN_ERROR_DIM, function, "the tensor has no dims, needed one to cut");
    *dim = tni_wrap_dim(function, *dim, x->ndim);
    return *dim < 0 ? tni_pending() : TN_OK;
}

/* Hands one piece to the list; without a piece the list goes, and false comes back. Pieces of split, chunk and unbind
 * are marked: they may not be written while they are recorded. */
static bool add_piece(tn_list **list, tn_tensor *piece, tni_piece of)
{
    if (!piece) {
        tn_drop(list);
        *list = NULL;
        return false;
    }
    if (of != TNI_NO_PIECE) {
        tni_node *node = tni_own_node(piece);
        if (node)
            tni_node_set_piece(node, of, tn_list_size(*list));
        if (!(tni_this_thread.exclude & TNI_KEY_TAPE)) /* else what counts is that nothing was recorded */
            piece->creation = TNI_CREATED_MULTI_OUTPUT;
    }
    tni_list_add(*list, piece);
    return true;
}

/* `n` pieces of x along dim: the first `larger` of size + 1, the others of size, the last cut at the end. */
static tn_list *equal_pieces(const char *function, tn_tensor *x, int dim, int64_t n, int64_t size, int64_t larger,
                             tni_piece of)
{
    tn_list *list = tni_list_new(function, n);
    int64_t start = 0, end = x->sizes[dim];
    for (int64_t i = 0; list && i < n; i++) {
        int64_t length = size + (i < larger);
        length = length < end - start ? length : end - start;
        if (!add_piece(&list, tn_narrow(x, dim, start, length), of))
            return NULL;
        start += length;
    }
    return list;
}

static tn_list *split_along(const char *function, tn_tensor *x, int64_t size, int dim)
{
    int64_t have = x->sizes[dim];
    if (size < 0 || (size == 0 && have > 0)) {
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "pieces of size %lld of dim %d of size %lld, needed 1 or more",
                 (long long)size, dim, (long long)have);
        return NULL;
    }
    int64_t n = have == 0 ? 1 : have / size + (have % size != 0);
    return equal_pieces(function, x, dim, n, size, 0, TNI_OF_SPLIT);
}

tn_list *tn_split(tn_tensor *x, int64_t size, int dim)
{
    return cut_along("split", x, &dim) ? NULL : split_along("split", x, size, dim);
}

tn_list *tn_split_sizes(tn_tensor *x, const int64_t *sizes, int n, int dim)
{
    const char *function = "split_sizes";
    int64_t left, start = 0;
    if (cut_along(function, x, &dim))
        return NULL;
    if (n < 0 || (n > 0 && !sizes)) {
        if (n < 0)
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "%d sizes, needed 0 or more", n);
        else
            TNI_FAIL_NULL(function, 2, "sizes");
        return NULL;
    }
    left = x->sizes[dim];
    for (int i = 0; i < n; i++) {
        if (sizes[i] < 0) {
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "piece %d has size %lld, needed 0 or more", i, (long long)sizes[i]);
            return NULL;
        }
        left = sizes[i] > left ? -1 : left - sizes[i];
        if (left < 0)
            break;
    }
    if (left != 0) {
        for (int i = 0; i < n; i++) /* a size below 0 is the fault, wherever it stands */
            if (sizes[i] < 0) {
                TNI_FAIL(TN_ERROR_ARGUMENT, function, "piece %d has size %lld, needed 0 or more", i,
                         (long long)sizes[i]);
                return NULL;
            }
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "the sizes add up to %s than the %lld of dim %d, needed just that",
                 left < 0 ? "more" : "less", (long long)x->sizes[dim], dim);
        return NULL;
    }
    tn_list *list = tni_list_new(function, n);
    for (int i = 0; list && i < n; i++) {
        if (!add_piece(&list, tn_narrow(x, dim, start, sizes[i]), TNI_OF_SPLIT_SIZES))
            return NULL;
        start += sizes[i];
    }
    return list;
}

tn_list *tn_chunk(tn_tensor *x, int64_t n, int dim)
{
    if (cut_along("chunk", x, &dim))
        return NULL;
    if (n < 1) {
        TNI_FAIL(TN_ERROR_ARGUMENT, "chunk", "%lld pieces, needed 1 or more", (long long)n);
        return NULL;
    }
    int64_t have = x->sizes[dim];
    if (have == 0)
        return equal_pieces("chunk", x, dim, n, 0, 0, TNI_OF_SPLIT_SIZES);
    return split_along("chunk", x, have / n + (have % n != 0), dim);
}

static tn_list *sections(const char *function, tn_tensor *x, int64_t n, int dim)
{
    if (n < 1) {
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "%lld pieces, needed 1 or more", (long long)n);
        return NULL;
    }
    return equal_pieces(function, x, dim, n, x->sizes[dim] / n, x->sizes[dim] % n, TNI_NO_PIECE);
}

static tn_list *between(const char *function, tn_tensor *x, const int64_t *indices, int n, int dim)
{
    int64_t start = 0;
    if (n < 0 || (n > 0 && !indices)) {
        if (n < 0)
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "%d indices, needed 0 or more", n);
        else
            TNI_FAIL_NULL(function, 2, "indices");
        return NULL;
    }
    tn_list *list = tni_list_new(function, (int64_t)n + 1);
    for (int i = 0; list && i <= n; i++) {
        int64_t end = i < n ? indices[i] : TN_SLICE_END;
        if (!add_piece(&list, tn_slice(x, dim, start, end, 1), TNI_NO_PIECE))
            return NULL;
        start = end;
    }
    return list;
}

tn_list *tn_tensor_split(tn_tensor *x, int64_t n, int dim)
{
    return cut_along("tensor_split", x, &dim) ? NULL : sections("tensor_split", x, n, dim);
}

tn_list *tn_tensor_split_at(tn_tensor *x, const int64_t *indices, int n, int dim)
{
    return cut_along("tensor_split_at", x, &dim) ? NULL : between("tensor_split_at", x, indices, n, dim);
}

/* hsplit, vsplit, dsplit: along dims 1 (0 of a vector), 0 and 2. -1 with an error raised. */
static int named_dim(const char *function, const tn_tensor *x, int least, int dim)
{
    if (tni_check_tensor(function, 1, "self", x))
        return -1;
    if (x->ndim < least) {
        TNI_FAIL(TN_ERROR_DIM, function, "the tensor has %d dims, needed %d or more", x->ndim, least);
        return -1;
    }
    return x->ndim == 1 ? 0 : dim;
}

static tn_list *exact_sections(const char *function, tn_tensor *x, int64_t n, int dim)
{
    if (dim < 0)
        return NULL;
    if (n > 0 && x->sizes[dim] % n == 0)
        return sections(function, x, n, dim);
    TNI_FAIL(TN_ERROR_ARGUMENT, function, "%lld pieces of dim %d of size %lld, needed a divisor of that", (long long)n,
             dim, (long long)x->sizes[dim]);
    return NULL;
}

#define NAMED_SPLIT(row, least, dim)                                                                                   \
    tn_list *tn_##row(tn_tensor *x, int64_t n)                                                                         \
    {                                                                                                                  \
        return exact_sections(#row, x, n, named_dim(#row, x, least, dim));                                             \
    }                                                                                                                  \
    tn_list *tn_##row##_at(tn_tensor *x, const int64_t *indices, int n)                                                \
    {                                                                                                                  \
        int along = named_dim(#row "_at", x, least, dim);                                                              \
        return along < 0 ? NULL : between(#row "_at", x, indices, n, along);                                           \
    }
NAMED_SPLIT(hsplit, 1, 1)
NAMED_SPLIT(vsplit, 2, 0)
NAMED_SPLIT(dsplit, 3, 2)

tn_list *tn_unbind(tn_tensor *x, int dim)
{
    if (cut_along("unbind", x, &dim))
        return NULL;
    int64_t n = x->sizes[dim];
    tn_list *list = tni_list_new("unbind", n);
    for (int64_t i = 0; list && i < n; i++)
        if (!add_piece(&list, tn_select(x, dim, i), TNI_OF_UNBIND))
            return NULL;
    return list;
}

int tn_broadcast_shapes(const int64_t *const *sizes, const int *ndims, int n, int64_t *out)
{
    const char *function = "broadcast_shapes";
    int ndim = 0;
    if (tni_pending())
        return -1;
    if (n < 0 || (n > 0 && (!sizes || !ndims || !out))) {
        if (n < 0)
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "%d shapes, needed 0 or more", n);
        else
            TNI_FAIL_NULL(function, !sizes ? 1 : !ndims ? 2 : 4, !sizes ? "sizes" : !ndims ? "ndims" : "out");
        return -1;
    }
    for (int i = 0; i < n; i++) {
        int64_t so_far[TN_MAX_NDIM];
        if (tni_check_sizes(function, sizes[i], ndims[i]))
            return -1;
        for (int d = 0; d < ndim; d++)
            so_far[d] = out[d];
        ndim = tni_broadcast(function, so_far, ndim, sizes[i], ndims[i], out);
        if (ndim < 0)
            return -1;
    }
    return ndim;
}

tn_list *tn_broadcast_tensors(tn_tensor *const *tensors, int n)
{
    const char *function = "broadcast_tensors";
    int64_t sizes[TN_MAX_NDIM], so_far[TN_MAX_NDIM];
    int ndim = 0;
    if (tni_pending())
        return NULL;
    if (n < 0 || (n > 0 && !tensors)) {
        if (n < 0)
            TNI_FAIL(TN_ERROR_ARGUMENT, function, "%d tensors, needed 0 or more", n);
        else
            TNI_FAIL_NULL(function, 1, "tensors");
        return NULL;
    }
    for (int i = 0; i < n; i++) {
        if (tni_check_tensor(function, i + 1, "tensor", tensors[i]))
            return NULL;
        for (int d = 0; d < ndim; d++)
            so_far[d] = sizes[d];
        ndim = tni_broadcast(function, so_far, ndim, tensors[i]->sizes, tensors[i]->ndim, sizes);
        if (ndim < 0)
            return NULL;
    }
    tn_list *list = tni_list_new(function, n);
    for (int i = 0; list && i < n; i++) {
        tn_tensor *x = tensors[i];
        if (tni_same_dims(x->sizes, x->ndim, sizes, ndim)) { /* the tensor itself, as in PyTorch */
            tni_list_share(list, x);
            continue;
        }
        tn_tensor *y = tn_expand(x, sizes, ndim);
        if (!y) {
            tn_drop(&list);
            return NULL;
        }
        tni_list_add(list, y);
    }
    return list;
}
