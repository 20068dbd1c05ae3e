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

static void widening_and_narrowing(void **unused)
{
    (void)unused;
    float x[VF32_LANES], back[VF32_LANES];
    for (int j = 0; j < VF32_LANES; j++)
        x[j] = (float)j + 0.1f;
    vf32 v = vf32_load(x);
    vf64 low = vf64_widen_low(v), high = vf64_widen_high(v);
    for (int j = 0; j < VF64_LANES; j++)
        assert_true(low[j] == (double)x[j] && high[j] == (double)x[VF64_LANES + j] &&
                    vf64_load_f32(x)[j] == (double)x[j]);
    vf32_store(back, vf32_narrow(low, high));
    assert_memory_equal(back, x, sizeof x);
    memset(back, 0, sizeof back);
    vf64_store_f32(back, high);
    assert_memory_equal(back, x + VF64_LANES, VF64_LANES * sizeof *x);
}

TEST_MAIN(test(memory_f32), test(memory_f64), test(arithmetic_f32), test(arithmetic_f64), test(whole_vector_f32),
          test(whole_vector_f64), test(widening_and_narrowing))
