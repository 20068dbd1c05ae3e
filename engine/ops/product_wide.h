/* Products in dtypes that no matrix kernel is written for: operands and result are copied into the dtype that computes
 * (float32 for 16-bit floats, int64 for small integers), so that the result is rounded or wrapped once. */
#ifndef TNI_OPS_PRODUCT_WIDE_H
#define TNI_OPS_PRODUCT_WIDE_H

#include "ops/product.h"

/* How an operator sees its call as a product, and runs that. */
typedef struct tni_product_kind {
    void (*describe)(tni_product *product, const tni_call *call);
    void (*run)(const tni_call *call, tni_product *product, void *workspace);
} tni_product_kind;

/* Whether a product of that dtype goes this way. */
bool tni_is_wide(tn_dtype dtype);

/* The workspace of such a call, and the call. */
size_t tni_wide_workspace(const tni_call *call, const tni_product_kind *kind);
void tni_wide_run(const tni_call *call, const tni_product_kind *kind, char *workspace);

#endif
