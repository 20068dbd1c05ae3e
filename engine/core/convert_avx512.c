/* float16 from and to float32 by the instructions of AVX-512, which give the bits of core/narrow.h. */
#include "core/convert_half.h"

#if defined(__AVX512F__)
#include <immintrin.h>

#include "core/narrow.h"

static void f32_from_f16(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    int64_t i = 0;
    if (to_stride == 4 && from_stride == 2)
        for (; i + 16 <= n; i += 16)
            _mm512_storeu_ps(y + 4 * i, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(x + 2 * i))));
    for (; i < n; i++)
        *(float *)(void *)(y + i * to_stride) = tni_f16_to_f32(*(const uint16_t *)(const void *)(x + i * from_stride));
}

static void f16_from_f32(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)
{
    char *y = to;
    const char *x = from;
    int64_t i = 0;
    if (to_stride == 2 && from_stride == 4)
        for (; i + 16 <= n; i += 16)
            _mm256_storeu_si256((void *)(y + 2 * i),
                                _mm512_cvtps_ph(_mm512_loadu_ps(x + 4 * i),
                                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    for (; i < n; i++)
        *(uint16_t *)(void *)(y + i * to_stride) = tni_f32_to_f16(*(const float *)(const void *)(x + i * from_stride));
}

const tni_half_converters tni_half_avx512 = {f32_from_f16, f16_from_f32};
#else
const tni_half_converters tni_half_avx512 = {NULL, NULL};
#endif
