/* One CPU level's yardsticks: the loops of yardstick.kernel.h in float and double, those of
 * yardstick_train.kernel.h in float, and their table. LEVEL names it. */
#include "yardstick.h"
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b)  PASTE2(a, b)
#define TEXT2(a)     #a
#define TEXT(a)      TEXT2(a)

/* Vectors are gcc's and clang's common extension; STREAM stores one past the caches. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define STREAM(p, v) _mm512_stream_si512((void *)(p), (__m512i)(v))
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define STREAM(p, v) _mm256_stream_si256((void *)(p), (__m256i)(v))
#elif defined(__x86_64__)
#define VECTOR_BYTES 16
#define STREAM(p, v) _mm_stream_si128((void *)(p), (__m128i)(v))
#else
#define VECTOR_BYTES 16
#define STREAM(p, v) (*(p) = (v))
#endif

#if defined(__x86_64__)
#define STREAM_END() _mm_sfence()
#else
#define STREAM_END() ((void)0)
#endif

#define T              float
#define INTEGER        int32_t
#define NAME(n)        PASTE(n, _f32)
#define LANES          (VECTOR_BYTES / 4)
#define MANTISSA_BITS  23
#define EXPONENT_BIAS  127
#define ROUND_TO_WHOLE 12582912.0f /* 1.5 2^23: adding and taking it away rounds to an integer */
#define DEGREE         7
#include "yardstick.kernel.h"
#undef T
#undef INTEGER
#undef NAME
#undef LANES
#undef MANTISSA_BITS
#undef EXPONENT_BIAS
#undef ROUND_TO_WHOLE
#undef DEGREE

#define T              double
#define INTEGER        int64_t
#define NAME(n)        PASTE(n, _f64)
#define LANES          (VECTOR_BYTES / 8)
#define MANTISSA_BITS  52
#define EXPONENT_BIAS  1023
#define ROUND_TO_WHOLE 6755399441055744.0
#define DEGREE         13
#include "yardstick.kernel.h"

#include "yardstick_train.kernel.h"

const yardstick PASTE(yardstick_, LEVEL) = {
    .level = TEXT(LEVEL),
    .copy = {copy_f32, copy_f64},
    .add = {add_f32, add_f64},
    .relu = {relu_f32, relu_f64},
    .sum_rows = {sum_rows_f32, sum_rows_f64},
    .sum_columns = {sum_columns_f32, sum_columns_f64},
    .transpose = {transpose_f32, transpose_f64},
    .even = {even_f32, even_f64},
    .forward_f32 = forward_f32,
    .forward_f64 = forward_f64,
    .product_f32 = product_plain_f32,
    .product_f64 = product_plain_f64,
    .train = {train_gradients, train_sgd, train_adam},
};
