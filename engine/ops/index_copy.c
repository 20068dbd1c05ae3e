/* Indexing by tensors, masks, bools and lists. */
#include "base/error.h"
#include "core/tensor.h"
#include "ops/index.h"

static tn_status refuse(const char *function, const tn_tensor *x)
{
    if (tni_check_tensor(function, 1, "self", x))
        return tni_pending();
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, function, "an index by tensors, bools or lists is not there yet");
}

tn_tensor *tni_getitem_copy(tn_tensor *x, const tn_index *index, int n)
{
    (void)index;
    (void)n;
    refuse("getitem", x);
    return NULL;
}

tn_status tni_setitem_copy(tn_tensor *x, const tn_index *index, int n, tn_tensor *value)
{
    (void)index;
    (void)n;
    (void)value;
    return refuse("setitem", x);
}

tn_status tni_setitem_copy_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value)
{
    (void)index;
    (void)n;
    (void)value;
    return refuse("setitem", x);
}
