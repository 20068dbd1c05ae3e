/* make_circles as scikit-learn draws it: points of the outer circle, then of the inner, put in a random order, then
 * noise.
 *
 *     outer  (cos t, sin t)         t = i (2 pi / n_outer), n_outer = n / 2
 *     inner  factor (cos t, sin t)  t = i (2 pi / n_inner)
 *
 * Bit for bit with the C library's sin and cos of glibc on x86-64; another one may differ in the last place. */
#include <math.h>
#include <tenon/extend.h>

#include "generated.h"

static const double two_pi = 0x1.921fb54442d18p+2;

tn_dataset *tn_make_circles(int64_t n_samples, double noise, double factor, uint64_t random_state, tn_dtype dtype)
{
    const char *name = "make_circles";
    tn_random_state random;
    void *x;
    int64_t *y;
    if (tni_check_generated(name, n_samples, noise, "noise", random_state, dtype))
        return NULL;
    if (!(factor >= 0.0 && factor < 1.0)) {
        char text[32];
        tn_format_double(text, sizeof text, factor);
        TN_FAIL(TN_ERROR_ARGUMENT, name, "factor is %s, needed 0 or more and less than 1", text);
        return NULL;
    }
    tn_dataset *dataset = tni_new_generated(name, n_samples, 2, dtype, &x, &y);
    if (!dataset)
        return NULL;
    tn_random_state_seed(&random, random_state);
    int64_t outer = n_samples / 2, inner = n_samples - outer;
    for (int64_t row = 0; row < n_samples; row++)
        y[row] = row;
    tn_random_state_shuffle(&random, y, n_samples);
    for (int64_t row = 0; row < n_samples; row++) {
        bool second = y[row] >= outer;
        double t = second ? (double)(y[row] - outer) * (two_pi / (double)inner)
                          : (double)y[row] * (two_pi / (double)outer),
               point[2] = {cos(t), sin(t)};
        for (int j = 0; j < 2; j++) {
            double value = second ? point[j] * factor : point[j];
            value += 0.0 + noise * tn_random_state_next_gauss(&random);
            tni_put_real(x, 2 * row + j, value, dtype);
        }
        y[row] = second;
    }
    return dataset;
}
