/* vmath.h on arrays, without AVX2. */
#define TABLE tni_vmath_baseline
#include "cpu/vmath_loops.kernel.h"
