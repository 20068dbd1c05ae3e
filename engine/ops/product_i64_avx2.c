/* Products of int64, CPU level avx2. */
#include "ops/product_i64.h"

#if defined(__AVX2__)
#define PANEL_I64 tni_panel_i64_avx2
#define BYTES 32
#include "ops/product_i64.kernel.h"
#endif
