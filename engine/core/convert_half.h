/* Conversions of float16 by instructions for them. */
#ifndef TNI_CORE_CONVERT_HALF_H
#define TNI_CORE_CONVERT_HALF_H

#include <stdbool.h>
#include <stddef.h>

#include "core/convert.h"

typedef struct tni_half_converters {
    tni_converter widen, narrow; /* to float32, from float32; NULL where the compiler had no AVX-512 */
} tni_half_converters;

extern const tni_half_converters tni_half_avx512;

/* Whether this machine runs them: the levels of the engine change no bits here, so they are not asked. */
static inline bool tni_half_avx512_runs(void)
{
#if defined(__x86_64__)
    return tni_half_avx512.widen && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

#endif
