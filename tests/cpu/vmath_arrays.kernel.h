/* The array functions of one CPU level; defines the table TABLE. Included by vmath_arrays_LEVEL.c. */
#include "cpu/vmath.h"
#include "cpu/vmath_arrays.h"

/* From this many bytes of result on, stores go past the caches. */
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
VMATH_EACH(FUNCTION)
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
VMATH_EACH(FUNCTION)
#include "cpu/simd_undef.h"

#undef FUNCTION

const vmath_arrays TABLE = {
#define FUNCTION(name) .f32[VMATH_##name] = array_##name##_f32, .f64[VMATH_##name] = array_##name##_f64,
    VMATH_EACH(FUNCTION)
#undef FUNCTION
};
