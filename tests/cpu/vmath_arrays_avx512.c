/* vmath.h on arrays, AVX-512. */
#include "cpu/vmath_arrays.h"

#if defined(__x86_64__)
#define TABLE vmath_arrays_avx512
#include "cpu/vmath_arrays.kernel.h"
_Static_assert(TNI_SIMD_LEVEL >= TNI_SIMD_AVX512, "this file needs its level's compile options");
#endif
