/* repeat, flip, roll: copies of what views, joins and selections give. Rules of torch.Tensor.repeat, torch.flip and
 * torch.roll. */
#include <tenon/create.h>
#include <tenon/ops.h>
#include <tenon/scope.h>
#include <tenon/views.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/tensor.h"

/* The result leaves the scope of what it was made of. */
static tn_tensor *left(tn_scope scope, tn_tensor *y)
{
    if (y && !tni_pending())
        tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return tni_pending() ? NULL : y;
}

/* A list that n numbers stand in. */
static tn_status check_list(const char *name, int number, const char *what, const int64_t *list, int n)
{
    if (n < 0 || n > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "%d %s, needed 0 .. %d", n, what, TN_MAX_NDIM);
    return n > 0 && !list ? TNI_FAIL_NULL(name, number, what) : TN_OK;
}

/* Each dim d becomes repeats[d] times itself: through a dim of its own in front of it, that repeats nothing. */
tn_tensor *tn_repeat(tn_tensor *x, const int64_t *repeats, int n)
{
    const char *name = "repeat";
    int64_t apart[TN_MAX_NDIM], wide[TN_MAX_NDIM], joined[TN_MAX_NDIM];
    if (tni_check_tensor(name, 1, "self", x) || check_list(name, 2, "repeats", repeats, n))
        return NULL;
    const int lead = n - x->ndim;
    if (lead < 0 || 2 * n > TN_MAX_NDIM) {
        TNI_FAIL(TN_ERROR_DIM, name, "%d repeats of a tensor of %d dims, needed %d .. %d", n, x->ndim, x->ndim,
                 TN_MAX_NDIM / 2);
        return NULL;
    }
    for (int d = 0; d < n; d++) {
        const int64_t size = d < lead ? 1 : x->sizes[d - lead];
        if (repeats[d] < 0) {
            TNI_FAIL(TN_ERROR_ARGUMENT, name, "%lld repeats of dim %d, needed 0 or more", (long long)repeats[d], d);
            return NULL;
        }
        if (__builtin_mul_overflow(repeats[d], size, &joined[d])) {
            TNI_FAIL(TN_ERROR_OVERFLOW, name, "%lld times %lld elements are more than 64 bits count",
                     (long long)repeats[d], (long long)size);
            return NULL;
        }
        apart[2 * d] = 1;
        wide[2 * d] = repeats[d];
        apart[2 * d + 1] = wide[2 * d + 1] = size;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_clone_format(tn_expand(tn_reshape(x, apart, 2 * n), wide, 2 * n), TN_CONTIGUOUS_FORMAT);
    return left(scope, tn_view(y, joined, n));
}

/* The dims, wrapped and each once, as bits. */
static tn_status dims_of(const char *name, const tn_tensor *x, const int64_t *dims, int n, uint64_t *bits)
{
    *bits = 0;
    for (int i = 0; i < n; i++) {
        int d = tni_wrap_dim_any(name, dims[i], x->ndim);
        if (d < 0)
            return tni_pending();
        if (*bits >> d & 1)
            return TNI_FAIL(TN_ERROR_DIM, name, "dim %d stands twice in dims, needed each once", d);
        *bits |= UINT64_C(1) << d;
    }
    return TN_OK;
}

tn_tensor *tn_flip(tn_tensor *x, const int64_t *dims, int n)
{
    uint64_t bits;
    if (tni_check_tensor("flip", 1, "self", x) || check_list("flip", 2, "dims", dims, n) ||
        dims_of("flip", x, dims, n, &bits))
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = x;
    for (int d = 0; d < x->ndim && y; d++) {
        const int64_t size = x->sizes[d];
        if (bits >> d & 1 && size > 1)
            y = tn_index_select(y, d, tn_arange(tn_int(size - 1), tn_int(-1), tn_int(-1), TN_INT64));
    }
    return left(scope, y == x ? tn_clone(x) : y);
}

/* The last `shift` elements along dim come first. */
static tn_tensor *rolled(tn_tensor *x, int64_t shift, int dim)
{
    const int64_t size = tn_size(x, dim), by = size > 0 ? (shift % size + size) % size : 0;
    tn_tensor *parts[2] = {tn_narrow(x, dim, size - by, by), tn_narrow(x, dim, 0, size - by)};
    return tn_cat(parts, 2, dim);
}

tn_tensor *tn_roll(tn_tensor *x, const int64_t *shifts, int n_shifts, const int64_t *dims, int n_dims)
{
    const char *name = "roll";
    if (tni_check_tensor(name, 1, "self", x) || check_list(name, 2, "shifts", shifts, n_shifts) ||
        check_list(name, 4, "dims", dims, n_dims))
        return NULL;
    const bool flat = n_dims == 0 && n_shifts == 1;
    if (!flat && (n_shifts != n_dims || n_shifts == 0)) {
        TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d shifts and %d dims, needed as many, or one shift alone", n_shifts,
                 n_dims);
        return NULL;
    }
    for (int i = 0; i < n_dims; i++)
        if (tni_wrap_dim_any(name, dims[i], x->ndim) < 0)
            return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = x;
    if (x->numel == 0 || x->ndim == 0)
        y = tn_clone(x);
    else if (flat)
        y = tn_view(rolled(tn_flatten(x, 0, -1), shifts[0], 0), x->sizes, x->ndim);
    else
        for (int i = 0; i < n_shifts && y; i++)
            y = rolled(y, shifts[i], (int)dims[i]);
    return left(scope, y);
}
