/* Matrix products of int64, CPU level baseline. */
#define PRODUCT tni_product_i64_baseline
#include "ops/product_i64.kernel.h"
