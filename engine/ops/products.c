/* Products by their ranks: dot, mv, mm, bmm, outer, addmm; each is a matmul of operands that it checks. */
#include <tenon/linalg.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "core/tensor.h"

static bool has_ranks(const char *name, const tn_tensor *a, int a_ndim, const tn_tensor *b, int b_ndim)
{
    if (tni_check_tensor(name, 1, "self", a) || tni_check_tensor(name, 2, "other", b))
        return false;
    if (a->ndim == a_ndim && b->ndim == b_ndim)
        return true;
    TNI_FAIL(TN_ERROR_SHAPE, name, "operands of %d and %d dims, needed %d and %d", a->ndim, b->ndim, a_ndim, b_ndim);
    return false;
}

tn_tensor *tn_dot(tn_tensor *a, tn_tensor *b)
{
    return has_ranks("dot", a, 1, b, 1) ? tn_matmul(a, b) : NULL;
}

tn_tensor *tn_mv(tn_tensor *a, tn_tensor *b)
{
    return has_ranks("mv", a, 2, b, 1) ? tn_matmul(a, b) : NULL;
}

tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b)
{
    return has_ranks("mm", a, 2, b, 2) ? tn_matmul(a, b) : NULL;
}

tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b)
{
    if (!has_ranks("bmm", a, 3, b, 3))
        return NULL;
    if (a->sizes[0] == b->sizes[0])
        return tn_matmul(a, b);
    TNI_FAIL(TN_ERROR_SHAPE, "bmm", "batches of %lld and %lld matrices, needed as many", (long long)a->sizes[0],
             (long long)b->sizes[0]);
    return NULL;
}

tn_tensor *tn_outer(tn_tensor *a, tn_tensor *b)
{
    return has_ranks("outer", a, 1, b, 1) ? tn_mul(tn_unsqueeze(a, 1), b) : NULL;
}

tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, tn_scalar beta, tn_scalar alpha)
{
    if (tni_check_tensor("addmm", 1, "self", c) || !has_ranks("addmm", a, 2, b, 2))
        return NULL;
    tn_tensor *y = tn_matmul(a, b);
    if (!y)
        return NULL;
    tn_tensor *whole = tn_expand(c, y->sizes, y->ndim);
    return tn_add_alpha(tn_mul_scalar(whole, beta), y, alpha);
}
