/* vmath.h on arrays, AVX2. */
#include "cpu/vmath_table.h"

#if defined(__x86_64__)
#define TABLE tni_vmath_avx2
#include "cpu/vmath_loops.kernel.h"
_Static_assert(TNI_SIMD_LEVEL >= TNI_SIMD_AVX2, "this file needs its level's compile options");
#endif
