/* vmath.h on arrays, without AVX2. */
#define TABLE vmath_arrays_baseline
#include "cpu/vmath_arrays.kernel.h"
