/* make_moons as scikit-learn 1.2.1 draws it: points of the outer moon, then of the inner, put in a random order, then
 * noise.
 *
 *     outer  (cos t, sin t)                  t = linspace(0, pi, n / 2)
 *     inner  (1 - cos t, (1 - sin t) - 0.5)  t = linspace(0, pi, n - n / 2)
 *
 * Bit for bit with the C library's sin and cos of glibc on x86-64; another one may differ in the last place. */
#include <inttypes.h>
#include <math.h>
#include <tenon/data.h>
#include <tenon/extend.h>
#include <tenon/random.h>

#include "dataset.h"

static const double pi = 0x1.921fb54442d18p+1;

/* Element i of numpy.linspace(0, pi, count): i * step, the last one exactly pi. */
static double angle(int64_t i, int64_t count)
{
    if (count == 1)
        return 0.0;
    return i == count - 1 ? pi : (double)i * (pi / (double)(count - 1));
}

/* Writes the points into the rows of x and their classes into y. */
static void draw(tn_random_state *random, int64_t n, double noise, void *x, int64_t *y, tn_dtype dtype)
{
    int64_t outer = n / 2, inner = n - outer;
    for (int64_t row = 0; row < n; row++)
        y[row] = row;
    tn_random_state_shuffle(random, y, n);
    for (int64_t row = 0; row < n; row++) {
        bool second = y[row] >= outer;
        double t = second ? angle(y[row] - outer, inner) : angle(y[row], outer), point[2] = {cos(t), sin(t)};
        if (second) {
            point[0] = 1.0 - point[0];
            point[1] = 1.0 - point[1] - 0.5;
        }
        for (int j = 0; j < 2; j++) {
            point[j] += 0.0 + noise * tn_random_state_next_gauss(random);
            if (dtype == TN_FLOAT64)
                ((double *)x)[2 * row + j] = point[j];
            else
                ((float *)x)[2 * row + j] = (float)point[j];
        }
        y[row] = second;
    }
}

static tn_status check(int64_t n_samples, double noise, uint64_t random_state, tn_dtype dtype)
{
    const char *name = "make_moons";
    char text[32];
    if (tn_error_code())
        return tn_error_code();
    if (n_samples < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "n_samples is %" PRId64 ", needed at least 1", n_samples);
    if (!isfinite(noise) || noise < 0.0) {
        tn_format_double(text, sizeof text, noise);
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "noise is %s, needed a finite number of at least 0", text);
    }
    if (random_state > UINT32_MAX)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "random_state is %" PRIu64 ", needed 0 to 4294967295", random_state);
    if (dtype != TN_FLOAT32 && dtype != TN_FLOAT64)
        return TN_FAIL(TN_ERROR_DTYPE, name, "dtype is %s, needed float32 or float64", tn_dtype_name(dtype));
    return TN_OK;
}

tn_dataset *tn_make_moons(int64_t n_samples, double noise, uint64_t random_state, tn_dtype dtype)
{
    if (check(n_samples, noise, random_state, dtype))
        return NULL;
    tn_device cpu = {TN_CPU, 0};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_empty_on((int64_t[]){n_samples, 2}, 2, dtype, cpu);
    tn_tensor *y = tn_empty_on(&n_samples, 1, TN_INT64, cpu);
    tn_dataset *dataset = tn_tensor_dataset(x, y);
    if (dataset) {
        tn_random_state random;
        tn_random_state_seed(&random, random_state);
        draw(&random, n_samples, noise, tn_data_mut(x), tn_data_i64_mut(y), dtype);
        dataset = tn_scope_escape(scope, dataset);
    } else {
        tn_error_rename("make_moons", NULL);
    }
    tn_scope_end(scope);
    return dataset;
}
