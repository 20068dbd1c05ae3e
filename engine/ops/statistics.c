/* var, std and logsumexp, made of reductions. */
#include <tenon/lazy.h>
#include <tenon/linalg.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/tensor.h"
#include "ops/reduce_attr.h"

/* Elements that one of the result stands for; -1: an error is pending. */
static int64_t count_of(const char *name, const tn_tensor *x, const int *dims, int n_dims)
{
    int64_t list[TN_MAX_NDIM], n = 1;
    uint64_t mask;
    if (n_dims < 0 || n_dims > TN_MAX_NDIM || (n_dims > 0 && !dims)) {
        TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed 0 to %d", n_dims, TN_MAX_NDIM);
        return -1;
    }
    for (int i = 0; i < n_dims; i++)
        list[i] = dims[i];
    if (tni_reduced_dims(name, x, &(tni_ints){list, n_dims}, &mask))
        return -1;
    for (int d = 0; d < x->ndim; d++)
        n *= mask >> d & 1 ? x->sizes[d] : 1;
    return n;
}

/* sum (x - mean)^2 / (n - 1), or / n */
static tn_tensor *variance(const char *name, tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim)
{
    if (tni_check_tensor(name, 1, "self", x))
        return NULL;
    if (tni_dtype_kind((tn_dtype)x->dtype) != TNI_FLOAT) {
        TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed a floating dtype; convert it",
                 tn_dtype_name((tn_dtype)x->dtype));
        return NULL;
    }
    int64_t n = count_of(name, x, dims, n_dims);
    if (n < 0)
        return NULL;
    n -= unbiased && n > 0;
    tn_tensor *away = tn_sub(x, tn_mean(x, dims, n_dims, true, TN_DTYPE_NONE));
    return tn_div_scalar(tn_sum(tn_mul(away, away), dims, n_dims, keepdim, TN_DTYPE_NONE), tn_int(n));
}

tn_tensor *tn_var(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim)
{
    return variance("var", x, dims, n_dims, unbiased, keepdim);
}

tn_tensor *tn_std(tn_tensor *x, const int *dims, int n_dims, bool unbiased, bool keepdim)
{
    tn_tensor *y = variance("std", x, dims, n_dims, unbiased, keepdim);
    return y ? tn_sqrt(y) : NULL;
}

tn_tensor *tn_logsumexp(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    if (tni_check_tensor("logsumexp", 1, "self", x) || count_of("logsumexp", x, dims, n_dims) < 0)
        return NULL;
    if (x->numel == 0)
        return tn_log(tn_sum(tn_exp(x), dims, n_dims, keepdim, TN_DTYPE_NONE));
    tn_tensor *most = tn_amax(tn_detach(x), dims, n_dims, true); /* a constant: it cancels out */
    tn_tensor *shift = most ? tn_masked_fill(most, tn_isinf(most), tn_float(0)) : NULL;
    tn_tensor *y = tn_log(tn_sum(tn_exp(tn_sub(x, shift)), dims, n_dims, keepdim, TN_DTYPE_NONE));
    return y ? tn_add(y, keepdim ? shift : tn_reshape(shift, y->sizes, y->ndim)) : NULL;
}
