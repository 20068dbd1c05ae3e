/* Products in dtypes that no matrix kernel is written for: operands and result are copied into the dtype that computes
 * (float32 for 16-bit floats, int64 for small integers), so that the result is rounded or wrapped once. */
#ifndef TNI_OPS_PRODUCT_WIDE_H
#define TNI_OPS_PRODUCT_WIDE_H

#include "dispatch/op.h"

/* The same call over contiguous copies in another dtype. The tensors here have no life of their own: they are geometry
 * and a place in the workspace. */
typedef struct tni_wide {
    tni_call call;
    tn_tensor *in[TNI_MAX_IN], *out[1];
    tn_tensor tensors[TNI_MAX_IN + 1];
    tni_storage storages[TNI_MAX_IN + 1];
    int64_t strides[TNI_MAX_IN + 1][TN_MAX_NDIM];
    size_t bytes; /* that the copies take in the workspace, from its beginning */
} tni_wide;

/* Whether a product of that dtype goes this way. */
bool tni_is_wide(tn_dtype dtype);

/* Describes the copies of the call. Then the workspace is cut up and the inputs are copied; at the end the result. */
void tni_wide_begin(tni_wide *wide, const tni_call *call);
void tni_wide_load(tni_wide *wide, const tni_call *call, char *workspace);
void tni_wide_store(const tni_wide *wide, const tni_call *call);

#endif
