/* cat and stack: a new tensor, and a copy of each into its part. Rules of torch.cat and torch.stack. */
#include <string.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "base/text.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/tensor.h"

static tn_status check_list(const char *name, tn_tensor *const *tensors, int n)
{
    if (tni_pending())
        return tni_pending();
    if (n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d tensors, needed at least one", n);
    for (int i = 0; i < n; i++)
        if (!tensors)
            return TNI_FAIL_NULL(name, 1, "tensors");
        else if (!tensors[i])
            return TNI_FAIL(TN_ERROR_NULL, name, "argument 1 (tensors) is NULL at tensor %d", i);
    return TN_OK;
}

static tn_status common_dtype(const char *name, tn_tensor *const *tensors, int n, tn_dtype *dtype)
{
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    for (int i = 0; i < n && fits; i++)
        fits = tni_result_type_tensor(&state, (tn_dtype)tensors[i]->dtype, tensors[i]->ndim);
    *dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    return *dtype != TN_DTYPE_NONE ? TN_OK : TNI_FAIL(TN_ERROR_DTYPE, name, "the tensors have no common dtype");
}

/* What torch.cat leaves out whatever the other shapes are. */
static bool is_nothing(const tn_tensor *x)
{
    return x->ndim == 1 && x->sizes[0] == 0;
}

/* The sizes of the result; *first is the tensor that gave them. */
static tn_status joined_sizes(tn_tensor *const *tensors, int n, int *dim, int64_t *sizes, const tn_tensor **first)
{
    char have[120], need[120];
    *first = tensors[0];
    for (int i = 0; i < n; i++) {
        if (tensors[i]->ndim == 0)
            return TNI_FAIL(TN_ERROR_SHAPE, "cat", "tensor %d has no dims, needed at least one", i);
        if (is_nothing(*first))
            *first = tensors[i];
    }
    *dim = tni_wrap_dim("cat", *dim, (*first)->ndim);
    if (*dim < 0)
        return tni_pending();
    memcpy(sizes, (*first)->sizes, (size_t)(*first)->ndim * sizeof *sizes);
    sizes[*dim] = 0;
    for (int i = 0; i < n; i++) {
        const tn_tensor *x = tensors[i];
        if (is_nothing(x))
            continue;
        bool same = x->ndim == (*first)->ndim;
        for (int d = 0; d < x->ndim && same; d++)
            same = d == *dim || x->sizes[d] == sizes[d];
        if (!same) {
            tni_text_shape(have, sizeof have, x->sizes, x->ndim);
            tni_text_shape(need, sizeof need, (*first)->sizes, (*first)->ndim);
            return TNI_FAIL(TN_ERROR_SHAPE, "cat", "tensor %d is %s, another %s: needed the same but in dim %d", i,
                            have, need, *dim);
        }
        sizes[*dim] += x->sizes[*dim];
    }
    return TN_OK;
}

/* The format that x asks for, with one more dim of size 1 at its end if that is what is joined. */
static tn_memory_format format_of(tn_tensor *x, bool longer)
{
    if (!longer)
        return tni_suggested_format(x);
    tn_tensor *y = tn_unsqueeze(x, x->ndim);
    return y ? tni_suggested_format(y) : TN_CONTIGUOUS_FORMAT;
}

/* The format that all of them ask for; row-major where they differ. */
static tn_memory_format common_format(tn_tensor *const *tensors, int n, bool longer)
{
    tn_memory_format format = format_of(tensors[0], longer);
    for (int i = 1; i < n && format != TN_CONTIGUOUS_FORMAT; i++)
        if (format_of(tensors[i], longer) != format)
            format = TN_CONTIGUOUS_FORMAT;
    return format;
}

static tn_tensor *new_joined(tn_tensor *const *tensors, int n, const int64_t *sizes, int ndim, tn_dtype dtype)
{
    tn_device device = {(tn_device_type)tensors[0]->device, 0}, before = tn_get_default_device();
    tn_memory_format format = common_format(tensors, n, ndim > tensors[0]->ndim);
    if (format == TN_CONTIGUOUS_FORMAT)
        return tn_empty_on(sizes, ndim, dtype, device);
    tn_set_default_device(device);
    tn_tensor *y = tn_zeros_format(sizes, ndim, dtype, format);
    tn_set_default_device(before);
    return y;
}

/* As in PyTorch a stack along an existing dim is cat along it, cut in two, one along a new last dim cat of tensors
 * with that dim: so it may be laid out as channels last. */
static tn_tensor *new_stacked(tn_tensor *const *tensors, int n, const int64_t *sizes, int at, tn_dtype dtype)
{
    const tn_tensor *x = tensors[0];
    int64_t joined[TN_MAX_NDIM], strides[TN_MAX_NDIM];
    const tn_device device = {(tn_device_type)x->device, 0};
    if (at == x->ndim)
        return new_joined(tensors, n, sizes, at + 1, dtype);
    if (x->numel == 0 || common_format(tensors, n, false) == TN_CONTIGUOUS_FORMAT)
        return tn_empty_on(sizes, x->ndim + 1, dtype, device);
    memcpy(joined, x->sizes, (size_t)x->ndim * sizeof *joined);
    joined[at] *= n;
    tn_tensor *y = new_joined(tensors, n, joined, x->ndim, dtype);
    int gap;
    if (!y || !tni_view_strides(y->sizes, y->strides, y->ndim, sizes, x->ndim + 1, strides, &gap))
        return NULL;
    return tn_as_strided_(y, sizes, strides, x->ndim + 1, 0) == TN_OK ? y : NULL;
}

/* Copies every tensor into its part of y, which goes to the caller's scope. */
static tn_tensor *fill_parts(tn_tensor *y, tn_tensor *const *tensors, int n, int dim, bool stacked, tn_scope scope)
{
    int64_t at = 0;
    for (int i = 0; i < n && y && !tni_pending(); i++) {
        if (!stacked && is_nothing(tensors[i]))
            continue;
        int64_t size = stacked ? 1 : tensors[i]->sizes[dim];
        tn_tensor *part = stacked ? tn_select(y, dim, at) : tn_narrow(y, dim, at, size);
        if (part && part->numel > 0)
            tn_copy_(part, tensors[i]);
        at += size;
    }
    if (y && !tni_pending()) {
        y->counter->version = 0; /* a new tensor was not written yet */
        tn_scope_escape(scope, y);
    }
    tn_scope_end(scope);
    return tni_pending() ? NULL : y;
}

tn_tensor *tn_cat(tn_tensor *const *tensors, int n, int dim)
{
    int64_t sizes[TN_MAX_NDIM];
    const tn_tensor *first;
    tn_dtype dtype;
    if (check_list("cat", tensors, n) || common_dtype("cat", tensors, n, &dtype) ||
        joined_sizes(tensors, n, &dim, sizes, &first))
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = new_joined(tensors, n, sizes, first->ndim, dtype);
    return fill_parts(y, tensors, n, dim, false, scope);
}

tn_tensor *tn_stack(tn_tensor *const *tensors, int n, int dim)
{
    int64_t sizes[TN_MAX_NDIM];
    tn_dtype dtype;
    if (check_list("stack", tensors, n) || common_dtype("stack", tensors, n, &dtype))
        return NULL;
    const tn_tensor *x = tensors[0];
    for (int i = 1; i < n; i++) {
        if (tni_same_dims(tensors[i]->sizes, tensors[i]->ndim, x->sizes, x->ndim))
            continue;
        char have[120], need[120];
        tni_text_shape(have, sizeof have, tensors[i]->sizes, tensors[i]->ndim);
        tni_text_shape(need, sizeof need, x->sizes, x->ndim);
        TNI_FAIL(TN_ERROR_SHAPE, "stack", "tensor %d is %s, the first %s: needed the same", i, have, need);
        return NULL;
    }
    if (x->ndim == TN_MAX_NDIM) {
        TNI_FAIL(TN_ERROR_DIM, "stack", "tensors of %d dims, needed fewer", x->ndim);
        return NULL;
    }
    int at = tni_wrap_new_dim("stack", dim, x->ndim);
    if (at < 0)
        return NULL;
    for (int d = 0; d <= x->ndim; d++)
        sizes[d] = d < at ? x->sizes[d] : d == at ? n : x->sizes[d - 1];
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = new_stacked(tensors, n, sizes, at, dtype);
    return fill_parts(y, tensors, n, at, true, scope);
}
