/* The functions of cpu/vmath.h on contiguous arrays, one table per CPU level: what test_vmath.c measures. The library
 * itself has them in the pointwise kernels of ops. */
#ifndef TENON_TESTS_VMATH_ARRAYS_H
#define TENON_TESTS_VMATH_ARRAYS_H

#include <stdint.h>

#include "cpu/level.h"

#define VMATH_EACH(FUNCTION) \
    FUNCTION(exp) FUNCTION(expm1) FUNCTION(log) FUNCTION(log1p) FUNCTION(tanh) FUNCTION(sigmoid)

/* An index of the tables for each: VMATH_exp and so on. */
enum {
#define FUNCTION(name) VMATH_##name,
    VMATH_EACH(FUNCTION)
#undef FUNCTION
    VMATH_FUNCTIONS
};

/* y_i = function(x_i), i < n. y may be x; otherwise they do not overlap. Large results are streamed past the caches. */
typedef struct vmath_arrays {
    void (*f32[VMATH_FUNCTIONS])(float *y, const float *x, int64_t n);
    void (*f64[VMATH_FUNCTIONS])(double *y, const double *x, int64_t n);
} vmath_arrays;

extern const vmath_arrays vmath_arrays_baseline;
#if defined(__x86_64__)
extern const vmath_arrays vmath_arrays_avx2, vmath_arrays_avx512;
#endif

#endif
