/* The recursion that made the ziggurat's tables gives their bits, with glibc's log and exp. */
#include <math.h>
#include <stdlib.h>

#include "random/ziggurat.h"
#include "support/golden.h"
#include "support/test.h"

static void recursion(void **unused)
{
    (void)unused;
#if !defined(__GLIBC__) || !defined(__x86_64__)
    skip();
#endif
    const double R = TNI_ZIGGURAT_R, V = TNI_ZIGGURAT_V, steps = 0x1p52;
    double x[256] = {0}, f[256], w[256];
    uint64_t k[256] = {0};
    x[255] = R;
    f[255] = exp(-0.5 * R * R);
    f[0] = 1.0;
    for (int i = 254; i > 0; i--) {
        x[i] = sqrt(-2.0 * log(f[i + 1] + V / x[i + 1]));
        f[i] = exp(-0.5 * x[i] * x[i]);
        if (i == 38)
            f[i] = nextafter(f[i], 2.0); /* the one value that the original tables have rounded up */
    }
    w[0] = V / f[255] / steps;
    k[0] = (uint64_t)llrint(R * f[255] / V * steps);
    for (int i = 1; i < 256; i++) {
        w[i] = x[i] / steps;
        k[i] = (uint64_t)llrint(x[i - 1] / x[i] * steps);
    }
    golden_compare("fi", "f64", tni_ziggurat_fi, f, 256);
    golden_compare("wi", "f64", tni_ziggurat_wi, w, 256);
    golden_compare("ki", "u64", tni_ziggurat_ki, k, 256);
}

/* What the sampler relies on: widths grow, heights fall, and no step below ki leaves the layer above. */
static void shape(void **unused)
{
    (void)unused;
    for (int i = 2; i < 256; i++) {
        assert_true(tni_ziggurat_wi[i] > tni_ziggurat_wi[i - 1]);
        assert_true(tni_ziggurat_fi[i] < tni_ziggurat_fi[i - 1]);
        double reach = (double)tni_ziggurat_ki[i] * tni_ziggurat_wi[i];
        assert_true(fabs(reach - tni_ziggurat_wi[i - 1] * 0x1p52) < 1e-15);
    }
}

TEST_MAIN(test(recursion), test(shape))
