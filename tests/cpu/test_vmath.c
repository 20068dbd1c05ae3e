/* The vector functions of every level that the machine has: their largest error in units in the last place, special
 * arguments, and that a result does not depend on its place.
 *
 * The reference is MPFR at 113 bits, or long double functions of the C library; for floats the double functions, good
 * to 2^-28 of a float's last place. TENON_EXHAUSTIVE=1 in the environment runs all 2^32 floats through every function
 * (some minutes). */
#include "support/test.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/level.h"
#include "cpu/vmath_arrays.h"

#if defined(TENON_HAVE_MPFR)
#include <mpfr.h>
#endif

typedef void array_f32(float *y, const float *x, int64_t n);
typedef void array_f64(double *y, const double *x, int64_t n);

/* Bounds in ulp: what was measured over all floats, or a few 10^5 doubles, rounded up a little. */
static const struct {
    const char *name;
    double f32, f64;
} functions[VMATH_FUNCTIONS] = {
    [VMATH_exp] = {"exp", 1.15, 1.25},
    [VMATH_expm1] = {"expm1", 1.85, 1.9},
    [VMATH_log] = {"log", 1.05, 1.1},
    [VMATH_log1p] = {"log1p", 1.1, 1.2},
    [VMATH_tanh] = {"tanh", 1.6, 1.7},
    [VMATH_sigmoid] = {"sigmoid", 1.9, 1.9},
};

static const struct {
    const char *name;
    const vmath_arrays *arrays;
} levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = {"default", &vmath_arrays_baseline},
#if defined(__x86_64__)
    [TNI_CPU_AVX2] = {"avx2", &vmath_arrays_avx2},
    [TNI_CPU_AVX512] = {"avx512", &vmath_arrays_avx512},
#endif
};

static array_f32 *f32_at(int level, int function)
{
    return levels[level].arrays->f32[function];
}

static array_f64 *f64_at(int level, int function)
{
    return levels[level].arrays->f64[function];
}

static double reference_f32(int function, double x)
{
    switch (function) {
    case VMATH_exp:
        return exp(x);
    case VMATH_expm1:
        return expm1(x);
    case VMATH_log:
        return log(x);
    case VMATH_log1p:
        return log1p(x);
    case VMATH_tanh:
        return tanh(x);
    default:
        return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    }
}

static long double reference_f64(int function, double x)
{
#if defined(TENON_HAVE_MPFR)
    mpfr_t v, w;
    mpfr_inits2(113, v, w, (mpfr_ptr)NULL);
    mpfr_set_d(v, x, MPFR_RNDN);
    int (*const plain[])(mpfr_t, const mpfr_t, mpfr_rnd_t) = {mpfr_exp, mpfr_expm1, mpfr_log, mpfr_log1p, mpfr_tanh};
    if (function < VMATH_sigmoid) {
        plain[function](v, v, MPFR_RNDN);
    } else {
        mpfr_neg(v, v, MPFR_RNDN);
        mpfr_exp(w, v, MPFR_RNDN);
        mpfr_add_ui(w, w, 1, MPFR_RNDN);
        mpfr_ui_div(v, 1, w, MPFR_RNDN);
    }
    long double result = mpfr_get_ld(v, MPFR_RNDN);
    mpfr_clears(v, w, (mpfr_ptr)NULL);
    return result;
#else
    switch (function) {
    case VMATH_exp:
        return expl(x);
    case VMATH_expm1:
        return expm1l(x);
    case VMATH_log:
        return logl(x);
    case VMATH_log1p:
        return log1pl(x);
    case VMATH_tanh:
        return tanhl(x);
    default:
        return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-(long double)x));
    }
#endif
}

/* Error of y against the exact r in units of the last place of a format with `digits` bits and smallest exponent
 * `least`; the format's overflow is at `limit` (its largest number and half a unit). Infinite for a wrong NaN, infinity
 * or sign of zero. */
static double ulps(long double y, long double r, int digits, int least, long double limit)
{
    if (isnan(r) || isnan(y))
        return isnan(r) && isnan(y) ? 0 : (double)INFINITY;
    if (fabsl(r) >= limit || isinf(y)) {
        bool near = !isinf(r) && fabsl(fabsl(r) / limit - 1) < ldexpl(1, 1 - digits);
        return near || (isinf(y) && fabsl(r) >= limit && !signbit(y) == !signbit(r)) ? 0 : (double)INFINITY;
    }
    if (r == 0)
        return y == 0 && !signbit(y) == !signbit(r) ? 0 : (double)INFINITY;
    int exponent;
    frexpl(r, &exponent);
    return (double)(fabsl(y - r) / ldexpl(1, (exponent > least ? exponent : least) - digits));
}

static double ulps_f32(float y, double r)
{
    return ulps(y, r, 24, -125, 0x1.ffffffp127L);
}

static double ulps_f64(double y, long double r)
{
    return ulps(y, r, 53, -1021, 0x1.fffffffffffff8p1023L);
}

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state ^ (state >> 31)) * 0x9e3779b97f4a7c15u;
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(next_random() >> 11) * 0x1p-53;
}

static const double special[] = {0.0,      -0.0,      INFINITY,  -INFINITY, NAN,      1.0,     -1.0,    0.75,
                                 1.5,      0.125,     0.55,      -0.55,     9.01,     9.02,    -9.02,   19.06,
                                 22.0,     -103.97,   -103.98,   -104.0,    88.72,    88.73,   89.0,    -87.33,
                                 -87.34,   709.78,    709.79,    -708.4,    -745.13,  -745.14, -746.0,  0x1p-149,
                                 0x1p-126, 0x1p-1074, 0x1p-1022, 0x1p127,   0x1p1023, 0x1p-25, 0x1p-54, -0.25};

/* Special points, some of every binade, and more where the functions do something. */
static int64_t points_f32(float *x, int64_t room)
{
    int64_t n = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        x[n++] = (float)special[i];
    for (uint32_t top = 0; top < 512; top++)
        for (int i = 0; i < 100; i++) {
            uint32_t bits = top << 23 | (i == 0 ? 0 : i == 1 ? 0x7fffff : (uint32_t)(next_random() >> 41));
            memcpy(&x[n++], &bits, sizeof bits);
        }
    const double ranges[][2] = {{-105, 90}, {-12, 12}, {-1.5, 1.5}, {0.3, 3}};
    for (; n < room; n++)
        x[n] = (float)uniform(ranges[n % 4][0], ranges[n % 4][1]);
    return n;
}

static int64_t points_f64(double *x, int64_t room)
{
    int64_t n = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        x[n++] = special[i];
    for (uint64_t top = 0; top < 4096; top++)
        for (int i = 0; i < 3; i++) {
            uint64_t bits = top << 52 | (i == 0 ? 0 : next_random() >> 12);
            memcpy(&x[n++], &bits, sizeof bits);
        }
    const double ranges[][2] = {{-747, 711}, {-20, 20}, {-1.5, 1.5}, {0.3, 3}};
    for (; n < room; n++)
        x[n] = uniform(ranges[n % 4][0], ranges[n % 4][1]);
    return n;
}

static void error_of_floats(void **unused)
{
    (void)unused;
    enum { ROOM = 200000 };
    float *x = malloc(ROOM * sizeof *x), *y = malloc(ROOM * sizeof *y);
    double *r = malloc(ROOM * sizeof *r);
    int64_t n = points_f32(x, ROOM);
    for (int function = 0; function < VMATH_FUNCTIONS; function++) {
        for (int64_t i = 0; i < n; i++)
            r[i] = reference_f32(function, x[i]);
        for (int level = 0; level <= tni_cpu_level_detected(); level++) {
            double worst = 0;
            int64_t at = 0;
            f32_at(level, function)(y, x, n);
            for (int64_t i = 0; i < n; i++) {
                double error = ulps_f32(y[i], r[i]);
                if (error > worst) {
                    worst = error;
                    at = i;
                }
            }
            printf("%-8s float  %-8s %.3f ulp at %a\n", functions[function].name, levels[level].name, worst,
                   (double)x[at]);
            assert_true(worst <= functions[function].f32);
        }
    }
    free(x);
    free(y);
    free(r);
}

static void error_of_doubles(void **unused)
{
    (void)unused;
    enum { ROOM = 60000 };
    double *x = malloc(ROOM * sizeof *x), *y = malloc(ROOM * sizeof *y);
    long double *r = malloc(ROOM * sizeof *r);
    int64_t n = points_f64(x, ROOM);
    for (int function = 0; function < VMATH_FUNCTIONS; function++) {
        for (int64_t i = 0; i < n; i++)
            r[i] = reference_f64(function, x[i]);
        for (int level = 0; level <= tni_cpu_level_detected(); level++) {
            double worst = 0;
            int64_t at = 0;
            f64_at(level, function)(y, x, n);
            for (int64_t i = 0; i < n; i++) {
                double error = ulps_f64(y[i], r[i]);
                if (error > worst) {
                    worst = error;
                    at = i;
                }
            }
            printf("%-8s double %-8s %.3f ulp at %a\n", functions[function].name, levels[level].name, worst,
                   x[at]);
            assert_true(worst <= functions[function].f64);
        }
    }
    free(x);
    free(y);
    free(r);
}

/* Every count and offset gives each element the bits that it has alone, and writes nothing outside. */
static void place_does_not_matter(void **unused)
{
    (void)unused;
    enum { LONGEST = 53 };
    float x[LONGEST + 16], alone[LONGEST + 16], y[LONGEST + 32];
    double xd[LONGEST + 16], alone_d[LONGEST + 16], yd[LONGEST + 32];
    for (int i = 0; i < LONGEST + 16; i++) {
        xd[i] = i % 9 == 0 ? special[i % 40] : uniform(-30, 30);
        x[i] = (float)xd[i];
    }
    for (int level = 0; level <= tni_cpu_level_detected(); level++)
        for (int function = 0; function < VMATH_FUNCTIONS; function++) {
            for (int i = 0; i < LONGEST + 16; i++) {
                f32_at(level, function)(alone + i, x + i, 1);
                f64_at(level, function)(alone_d + i, xd + i, 1);
            }
            for (int n = 0; n <= LONGEST; n++)
                for (int offset = 0; offset < 16; offset += 5) {
                    memset(y, 0x5a, sizeof y);
                    memset(yd, 0x5a, sizeof yd);
                    f32_at(level, function)(y + 1 + offset, x + offset, n);
                    f64_at(level, function)(yd + 1 + offset, xd + offset, n);
                    assert_memory_equal(y + 1 + offset, alone + offset, (size_t)n * sizeof *y);
                    assert_memory_equal(yd + 1 + offset, alone_d + offset, (size_t)n * sizeof *yd);
                    const unsigned char *end = (unsigned char *)(y + 1 + offset + n),
                                        *end_d = (unsigned char *)(yd + 1 + offset + n);
                    assert_true(end[0] == 0x5a && end[3] == 0x5a && end_d[0] == 0x5a && end_d[7] == 0x5a);
                    assert_true(((unsigned char *)(y + offset))[3] == 0x5a &&
                                ((unsigned char *)(yd + offset))[7] == 0x5a);
                }
        }
}

/* Results long enough to be streamed, from an unaligned address, equal those written in pieces and in place. */
static void streamed_equals_stored(void **unused)
{
    (void)unused;
    enum { N = (1 << 18) + 77, PIECE = 1000 };
    float *x = malloc((N + 1) * sizeof *x), *y = malloc((N + 2) * sizeof *y), *z = malloc(N * sizeof *z);
    for (int i = 0; i <= N; i++)
        x[i] = (float)uniform(-20, 20);
    for (int level = 0; level <= tni_cpu_level_detected(); level++)
        for (int function = 0; function < VMATH_FUNCTIONS; function++) {
            y[0] = y[N + 1] = 42;
            f32_at(level, function)(y + 1, x + 1, N);
            for (int i = 0; i < N; i += PIECE)
                f32_at(level, function)(z + i, x + 1 + i, N - i < PIECE ? N - i : PIECE);
            assert_memory_equal(y + 1, z, N * sizeof *z);
            assert_true(y[0] == 42 && y[N + 1] == 42);
            memcpy(z, x + 1, N * sizeof *z);
            f32_at(level, function)(z, z, N);
            assert_memory_equal(y + 1, z, N * sizeof *z);
        }
    free(x);
    free(y);
    free(z);
}

/* The fused levels agree in bits, but for tanh of floats. */
static void fused_levels_agree(void **unused)
{
    (void)unused;
    if (tni_cpu_level_detected() < TNI_CPU_AVX512)
        return;
    enum { ROOM = 100000 };
    float *x = malloc(ROOM * sizeof *x), *y = malloc(ROOM * sizeof *y), *z = malloc(ROOM * sizeof *z);
    double *xd = malloc(ROOM * sizeof *xd), *yd = malloc(ROOM * sizeof *yd), *zd = malloc(ROOM * sizeof *zd);
    int64_t n = points_f32(x, ROOM), nd = points_f64(xd, ROOM);
    for (int function = 0; function < VMATH_FUNCTIONS; function++) {
        f32_at(TNI_CPU_AVX2, function)(y, x, n);
        f32_at(TNI_CPU_AVX512, function)(z, x, n);
        for (int64_t i = 0; function != VMATH_tanh && i < n; i++)
            if (memcmp(y + i, z + i, sizeof *y) != 0 && !(isnan(y[i]) && isnan(z[i])))
                fail_msg("%s(%a): avx2 %a, avx512 %a", functions[function].name, (double)x[i], (double)y[i],
                         (double)z[i]);
        f64_at(TNI_CPU_AVX2, function)(yd, xd, nd);
        f64_at(TNI_CPU_AVX512, function)(zd, xd, nd);
        for (int64_t i = 0; i < nd; i++)
            if (memcmp(yd + i, zd + i, sizeof *yd) != 0 && !(isnan(yd[i]) && isnan(zd[i])))
                fail_msg("%s(%a): avx2 %a, avx512 %a", functions[function].name, xd[i], yd[i], zd[i]);
    }
    free(x), free(y), free(z);
    free(xd), free(yd), free(zd);
}

static void every_float(void **unused)
{
    (void)unused;
    if (!getenv("TENON_EXHAUSTIVE"))
        return;
    enum { BLOCK = 1 << 12 };
    static float x[BLOCK], y[TNI_CPU_LEVELS][BLOCK];
    for (int function = 0; function < VMATH_FUNCTIONS; function++) {
        double worst[TNI_CPU_LEVELS] = {0};
        for (uint64_t first = 0; first < (uint64_t)1 << 32; first += BLOCK) {
            for (uint32_t i = 0; i < BLOCK; i++) {
                uint32_t bits = (uint32_t)first + i;
                memcpy(x + i, &bits, sizeof bits);
            }
            for (int level = 0; level <= tni_cpu_level_detected(); level++)
                f32_at(level, function)(y[level], x, BLOCK);
            for (int i = 0; i < BLOCK; i++) {
                double r = reference_f32(function, x[i]);
                for (int level = 0; level <= tni_cpu_level_detected(); level++)
                    worst[level] = fmax(worst[level], ulps_f32(y[level][i], r));
            }
        }
        for (int level = 0; level <= tni_cpu_level_detected(); level++) {
            printf("%-8s every float %-8s %.4f ulp\n", functions[function].name, levels[level].name,
                   worst[level]);
            assert_true(worst[level] <= functions[function].f32);
        }
    }
}

TEST_MAIN(test(error_of_floats), test(error_of_doubles), test(place_does_not_matter), test(streamed_equals_stored),
          test(fused_levels_agree), test(every_float))
