/* Batches of matrix products over any strides: what matmul and linear share. */
#ifndef TNI_OPS_PRODUCT_H
#define TNI_OPS_PRODUCT_H

#include "cpu/gemm_reference.h"
#include "dispatch/op.h"
#include "ops/dtype_sets.h"

/* One operand as [batch..., rows, columns]: batch strides over the product's batch dims, then the two of the matrix. */
typedef struct tni_matrix {
    const char *data;
    int64_t batch[TN_MAX_NDIM];
    int64_t row, column;
} tni_matrix;

typedef struct tni_product {
    int batch_ndim;
    int64_t batch_sizes[TN_MAX_NDIM];
    tni_matrix a, b, c;
    tni_gemm gemm; /* sizes, strides and bias; the pointers change from batch to batch */
    tn_dtype dtype;
    int level;      /* CPU level of the call */
    bool reference; /* add in `order`, by the reference product */
    tn_order order;
} tni_product;

#define TNI_PRODUCT_DTYPES (TNI_REALS | TNI_COMPLEXES)

/* The stride of a dim of one element may be anything, and kernels step once beyond it: that stays an address. */
static inline int64_t tni_tame(int64_t stride, int64_t size)
{
    return size > 1 || stride < INT64_C(1) << 40 ? stride : 1;
}

/* Folds batch dims into the rows where a and c allow it and b repeats, so that one product does many. Then sets
 * gemm's strides. */
void tni_product_fold(tni_product *product);

/* x W^T + b of a call of linear or linear_reference, folded. */
void tni_linear_product(tni_product *product, const tni_call *call);

/* Runs it; adds a bias that is no vector. */
void tni_linear_run(const tni_call *call, tni_product *product, void *workspace);

size_t tni_product_workspace(const tni_product *product);
void tni_product_run(tni_product *product, void *workspace);

/* Both tensors of one dtype that products have. */
tn_status tni_product_dtypes(const tni_call *call, const tn_tensor *a, const tn_tensor *b);

/* Refuses an out that shares memory with an operand: it would be read after it was written. */
tn_status tni_product_out(const tni_call *call, const tni_meta *meta);

#endif
