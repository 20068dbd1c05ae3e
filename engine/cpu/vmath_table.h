/* The functions of vmath.h on contiguous arrays, one table per CPU level. */
#ifndef TNI_CPU_VMATH_TABLE_H
#define TNI_CPU_VMATH_TABLE_H

#include <stdint.h>

#include "cpu/level.h"

/* y_i = function(x_i), i < n. y may be x; otherwise they do not overlap. An element's bits do not depend on its place.
 * Large results are streamed past the caches. */
typedef struct tni_vmath {
#define FUNCTION(name)                                                                                                 \
    void (*name##_f32)(float *y, const float *x, int64_t n);                                                           \
    void (*name##_f64)(double *y, const double *x, int64_t n);
#include "cpu/vmath.def"
#undef FUNCTION
} tni_vmath;

extern const tni_vmath tni_vmath_baseline;
#if defined(__x86_64__)
extern const tni_vmath tni_vmath_avx2, tni_vmath_avx512;
#endif

/* level is one that the machine has, such as tni_cpu_level(). */
const tni_vmath *tni_vmath_at(int level);

#endif
