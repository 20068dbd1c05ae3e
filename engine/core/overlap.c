/* Overlap of a written tensor with itself and with its operands. */
#include "core/overlap.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"

tn_status tni_check_no_internal_overlap(const char *function, const tn_tensor *written)
{
    if (TNI_LIKELY(tni_contiguous(written)))
        return TN_OK;
    for (int d = 0; d < written->ndim; d++) {
        if (written->strides[d] == 0 && written->sizes[d] > 1)
            return TNI_FAIL(
                TN_ERROR_OVERLAP, function,
                "dim %d of the tensor to write has %lld elements in one memory cell (stride 0); clone it first", d,
                (long long)written->sizes[d]);
    }
    return TN_OK;
}

bool tni_may_share(const tn_tensor *a, const tn_tensor *b)
{
    int64_t a_extent, b_extent;
    if (!a->storage->data || !b->storage->data || a->numel == 0 || b->numel == 0)
        return false;
    if (!tni_extent(a->sizes, a->strides, a->ndim, &a_extent) || !tni_extent(b->sizes, b->strides, b->ndim, &b_extent))
        return true;
    const char *a_begin = tni_data(a), *b_begin = tni_data(b);
    return a_begin < b_begin + b_extent * tni_itemsize((tn_dtype)b->dtype) &&
           b_begin < a_begin + a_extent * tni_itemsize((tn_dtype)a->dtype);
}

tn_status tni_check_no_partial_overlap(const char *function, const tn_tensor *written, const tn_tensor *read)
{
    if (TNI_LIKELY(written->storage != read->storage) || written == read || written->numel == 0 || read->numel == 0)
        return TN_OK;
    if (!tni_is_dense(written->sizes, written->strides, written->ndim) ||
        !tni_is_dense(read->sizes, read->strides, read->ndim))
        return TN_OK;
    if (!tni_may_share(written, read))
        return TN_OK;
    /* as PyTorch: the same bytes under the same strides, whatever their dtypes and sizes */
    int64_t bytes_written = written->numel * tni_itemsize((tn_dtype)written->dtype);
    bool same = tni_data(written) == tni_data(read) &&
                bytes_written == read->numel * tni_itemsize((tn_dtype)read->dtype) &&
                tni_same_dims(written->strides, written->ndim, read->strides, read->ndim);
    if (same)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_OVERLAP, function,
                    "the tensor to write covers part of an operand's memory; clone one of them first");
}

tn_status tni_check_no_overlap(const char *function, const tn_tensor *written, const tn_tensor *read, const char *what)
{
    bool apart = written->storage != read->storage || !tni_is_dense(written->sizes, written->strides, written->ndim) ||
                 !tni_is_dense(read->sizes, read->strides, read->ndim) || !tni_may_share(written, read);
    if (TNI_LIKELY(written != read && apart))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_OVERLAP, function, "%s shares memory with the tensor to write; clone one of them first",
                    what);
}
