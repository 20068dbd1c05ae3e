/* Matrix products of int64 by CPU level. Integers wrap, so that any order gives the same bits. */
#ifndef TNI_OPS_PRODUCT_I64_H
#define TNI_OPS_PRODUCT_I64_H

#include "cpu/gemm.h"

/* Columns begin .. end - 1 of the product. */
typedef void (*tni_product_i64)(const tni_gemm *g, int64_t begin, int64_t end);

void tni_product_i64_baseline(const tni_gemm *g, int64_t begin, int64_t end);
void tni_product_i64_avx2(const tni_gemm *g, int64_t begin, int64_t end);
void tni_product_i64_avx512(const tni_gemm *g, int64_t begin, int64_t end);

#endif
