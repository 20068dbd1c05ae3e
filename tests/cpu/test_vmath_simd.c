/* simd.h at the level that this file is compiled for: the baseline in the ordinary build. Every operation against
 * scalar code. */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "cpu/simd.h"

static const double values[] = {
    0.0,  -0.0, 1.5,   -1.5, 2.5,  -2.5,   0.49999999999999994, INFINITY, -INFINITY, NAN, 1e30,
    -7.0, 8e6,  1e-40, 3.25, -0.1, 0x1p23, -0x1.000001p23,      5.5,      -5.5,      6.5, 0.5};
enum { VALUES = sizeof values / sizeof *values };

#include "cpu/simd_float.h"
#include "cpu/test_vmath_simd.kernel.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "cpu/test_vmath_simd.kernel.h"
#include "cpu/simd_undef.h"

TEST_MAIN(test(memory_f32), test(memory_f64), test(arithmetic_f32), test(arithmetic_f64), test(bits_f32),
          test(bits_f64))
