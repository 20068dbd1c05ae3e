/* Matrix products of int64, which wrap. Sums of integers are the same in any order, so that a CPU level may take its
 * own. */
#ifndef TNI_OPS_PRODUCT_I64_H
#define TNI_OPS_PRODUCT_I64_H

#include "cpu/gemm.h"

void tni_product_i64(int level, const tni_gemm *product);

/* What the levels have: so many columns of c from j on, all rows, `depth` steps from k on. The panel is b[k .., j ..],
 * dense. Where k is 0, c = bias + that; else c += that. */
typedef void tni_panel_i64(const tni_gemm *g, const uint64_t *panel, int64_t k, int64_t depth, int64_t j);

enum { TNI_I64_COLUMNS = 8, TNI_I64_COLUMNS_AVX512 = 16 };

tni_panel_i64 tni_panel_i64_avx2, tni_panel_i64_avx512;

/* What c begins with at row i, column j. */
static inline uint64_t tni_begin_i64(const tni_gemm *g, int64_t k, int64_t i, int64_t j)
{
    const int64_t *bias = g->bias;
    if (k > 0)
        return (uint64_t)((const int64_t *)g->c)[i * g->c_row + j * g->c_col];
    return bias ? (uint64_t)bias[j * g->bias_stride] : 0;
}

#endif
