/* Matrix products of int64, CPU level avx512. */
#define PRODUCT tni_product_i64_avx512
#include "ops/product_i64.kernel.h"
