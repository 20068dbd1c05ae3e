/* Matrix products of int64, CPU level avx2. */
#define PRODUCT tni_product_i64_avx2
#include "ops/product_i64.kernel.h"
