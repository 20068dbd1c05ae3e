/* The array functions of one CPU level; defines the table TABLE. Included by vmath_baseline.c, vmath_avx2.c and
 * vmath_avx512.c. */
#include "cpu/vmath.h"
#include "cpu/vmath_table.h"

/* From this many bytes of result on, stores go past the caches: half of a common second-level cache. */
#define STREAM_BYTES ((int64_t)1 << 20)

#define FUNCTION(name)                                                                                                 \
    static void T_NAME(array_##name)(T * y, const T *x, int64_t n)                                                     \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        if (y != x && n * (int64_t)sizeof(T) >= STREAM_BYTES) {                                                        \
            i = (int64_t)((0 - (uintptr_t)y) % TNI_SIMD_BYTES / sizeof(T));                                            \
            V(store_part)(y, (int)i, V(name)(V(load_part)(x, (int)i, 1)));                                             \
            for (; i + VLANES <= n; i += VLANES)                                                                       \
                V(stream)(y + i, V(name)(V(load)(x + i)));                                                             \
            tni_simd_fence();                                                                                          \
        }                                                                                                              \
        for (; i + VLANES <= n; i += VLANES)                                                                           \
            V(store)(y + i, V(name)(V(load)(x + i)));                                                                  \
        if (i < n)                                                                                                     \
            V(store_part)(y + i, (int)(n - i), V(name)(V(load_part)(x + i, (int)(n - i), 1)));                         \
    }

#include "cpu/simd_float.h"
#include "cpu/vmath.def"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "cpu/vmath.def"
#include "cpu/simd_undef.h"

#undef FUNCTION

const tni_vmath TABLE = {
#define FUNCTION(name) .name##_f32 = array_##name##_f32, .name##_f64 = array_##name##_f64,
#include "cpu/vmath.def"
#undef FUNCTION
};
