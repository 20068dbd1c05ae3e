/* The twin of SLEEF's expf: known values, and the bits of the library itself where it is installed.
 *
 * About 10^7 floats, evenly over all bit patterns; all 2^32 with TENON_EXHAUSTIVE=1 in the environment (a minute or
 * two). */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/sleef_twin.h"

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void known_values(void **unused)
{
    (void)unused;
    assert_true(tni_sleef_expf(0.0f) == 1.0f && tni_sleef_expf(-0.0f) == 1.0f);
    assert_true(tni_sleef_expf(1.0f) == 0x1.5bf0a8p+1f);
    assert_true(tni_sleef_expf(INFINITY) == (float)INFINITY && tni_sleef_expf(-INFINITY) == 0.0f);
    assert_true(tni_sleef_expf(100.5f) == (float)INFINITY && tni_sleef_expf(-104.5f) == 0.0f);
    assert_true(isnan(tni_sleef_expf(NAN)));
    for (float x = -103.0f; x < 88.0f; x += 0.37f) {
        float exact = (float)exp(x), twin = tni_sleef_expf(x);
        int64_t apart = (int64_t)bits_of(twin) - (int64_t)bits_of(exact);
        if (apart < -1 || apart > 1)
            fail_msg("exp(%a) = %a, twin %a", (double)x, (double)exact, (double)twin);
    }
}

#if defined(TENON_HAVE_SLEEF)
/* sleef.h hides it from translation units without FMA, though the library always has it. */
float Sleef_expf1_u10purecfma(float x);

static void same_bits_as_sleef(void **unused)
{
    (void)unused;
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return;
#endif
    const uint64_t step = getenv("TENON_EXHAUSTIVE") ? 1 : 431;
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += step) {
        uint32_t low = (uint32_t)bits;
        float x;
        memcpy(&x, &low, sizeof x);
        uint32_t theirs = bits_of(Sleef_expf1_u10purecfma(x)), ours = bits_of(tni_sleef_expf(x));
        if (theirs != ours)
            fail_msg("expf of bits %08x: SLEEF %08x, twin %08x", (unsigned)low, (unsigned)theirs, (unsigned)ours);
    }
}

TEST_MAIN(test(known_values), test(same_bits_as_sleef))
#else
TEST_MAIN(test(known_values))
#endif
