/* Products of int64, CPU level avx512. */
#include "ops/product_i64.h"

#if defined(__AVX512DQ__)
#define PANEL_I64 tni_panel_i64_avx512
#define BYTES 64
#include "ops/product_i64.kernel.h"
#endif
