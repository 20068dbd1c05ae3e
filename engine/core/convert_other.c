/* Conversions among all dtypes that are numbers. Seven of them are read directly (float32, float64, int64, uint64, bool
 * as int64, complex64, complex128); the others are first widened, in blocks, to the one of the seven that holds them
 * exactly. core/convert.c has loops of its own for the common pairs. */
#include "core/convert_other.h"

#include "core/narrow.h"

enum { BLOCK = 256 };

typedef struct pair32 {
    uint16_t re, im;
} pair32;

typedef struct pair64 {
    float re, im;
} pair64;

typedef struct pair128 {
    double re, im;
} pair128;

/* What the x86 instructions make of a number: the smallest integer where it does not fit. */
static inline int64_t cut64(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

static inline int32_t cut32(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

static inline uint64_t cut_u64(double x)
{
    return x >= 0x1p63 ? (uint64_t)cut64(x - 0x1p63) ^ (UINT64_C(1) << 63) : (uint64_t)cut64(x);
}

#define AT(type, row, i) (*(type *)(void *)((row) + (i)*row##_stride))
#define CONST_AT(type, row, i) (*(const type *)(const void *)((row) + (i)*row##_stride))

/* One loop: `value` names the element that was read. */
#define LOOP(name, TO, FROM, expression)                                                                        \
    static void name(void *to_row, int64_t y_stride, const void *from_row, int64_t x_stride, int64_t n)         \
    {                                                                                                           \
        char *y = to_row;                                                                                       \
        const char *x = from_row;                                                                               \
        for (int64_t i = 0; i < n; i++) {                                                                       \
            const FROM value = CONST_AT(FROM, x, i);                                                            \
            AT(TO, y, i) = expression;                                                                          \
        }                                                                                                       \
    }

/* The six loops into one dtype: what becomes of a float, of a whole number, of a complex number. */
#define INTO(to, TO, from_float, from_whole, from_complex)  \
    LOOP(to##_from_f32, TO, float, from_float(value))       \
    LOOP(to##_from_f64, TO, double, from_float(value))      \
    LOOP(to##_from_i64, TO, int64_t, from_whole(value))     \
    LOOP(to##_from_u64, TO, uint64_t, from_whole(value))    \
    LOOP(to##_from_c64, TO, pair64, from_complex(value))    \
    LOOP(to##_from_c128, TO, pair128, from_complex(value))

#define INTO_FLOAT(to, TO, encode) INTO(to, TO, encode, encode, encode##_real)
#define REAL_PART(x) ((x).re)

#define f32_of(x) ((float)(x))
#define f32_of_real(x) f32_of((x).re)
#define f64_of(x) ((double)(x))
#define f64_of_real(x) f64_of((x).re)
#define f16_of(x) tni_f32_to_f16((float)(x))
#define f16_of_real(x) f16_of((x).re)
#define bf16_of(x) tni_f32_to_bf16((float)(x))
#define bf16_of_real(x) bf16_of((x).re)
#define e4m3fn_of(x) tni_f32_to_e4m3fn((float)(x))
#define e4m3fn_of_real(x) e4m3fn_of((x).re)
#define e4m3fnuz_of(x) tni_f32_to_e4m3fnuz((float)(x))
#define e4m3fnuz_of_real(x) e4m3fnuz_of((x).re)
#define e5m2_of(x) tni_f32_to_e5m2((float)(x))
#define e5m2_of_real(x) e5m2_of((x).re)
#define e5m2fnuz_of(x) tni_f32_to_e5m2fnuz((float)(x))
#define e5m2fnuz_of_real(x) e5m2fnuz_of((x).re)
#define e8m0fnu_of(x) tni_f32_to_e8m0fnu((float)(x))
#define e8m0fnu_of_real(x) e8m0fnu_of((x).re)
INTO_FLOAT(f32, float, f32_of)
INTO_FLOAT(f64, double, f64_of)
INTO_FLOAT(f16, uint16_t, f16_of)
INTO_FLOAT(bf16, uint16_t, bf16_of)
INTO_FLOAT(e4m3fn, uint8_t, e4m3fn_of)
INTO_FLOAT(e4m3fnuz, uint8_t, e4m3fnuz_of)
INTO_FLOAT(e5m2, uint8_t, e5m2_of)
INTO_FLOAT(e5m2fnuz, uint8_t, e5m2fnuz_of)
INTO_FLOAT(e8m0fnu, uint8_t, e8m0fnu_of)

#define i8_of_float(x) ((int8_t)cut32((double)(x)))
#define i8_of(x) ((int8_t)(x))
#define i8_of_real(x) i8_of_float((x).re)
#define i16_of_float(x) ((int16_t)cut32((double)(x)))
#define i16_of(x) ((int16_t)(x))
#define i16_of_real(x) i16_of_float((x).re)
#define i32_of_float(x) cut32((double)(x))
#define i32_of(x) ((int32_t)(x))
#define i32_of_real(x) i32_of_float((x).re)
#define i64_of_float(x) cut64((double)(x))
#define i64_of(x) ((int64_t)(x))
#define i64_of_real(x) i64_of_float((x).re)
#define u8_of_float(x) ((uint8_t)cut64((double)(x)))
#define u8_of(x) ((uint8_t)(x))
#define u8_of_real(x) u8_of_float((x).re)
#define u16_of_float(x) ((uint16_t)cut32((double)(x)))
#define u16_of(x) ((uint16_t)(x))
#define u16_of_real(x) u16_of_float((x).re)
#define u32_of_float(x) ((uint32_t)cut64((double)(x)))
#define u32_of(x) ((uint32_t)(x))
#define u32_of_real(x) u32_of_float((x).re)
#define u64_of_float(x) cut_u64((double)(x))
#define u64_of(x) ((uint64_t)(x))
#define u64_of_real(x) u64_of_float((x).re)
#define INTO_WHOLE(to, TO) INTO(to, TO, to##_of_float, to##_of, to##_of_real)
INTO_WHOLE(i8, int8_t)
INTO_WHOLE(i16, int16_t)
INTO_WHOLE(i32, int32_t)
INTO_WHOLE(i64, int64_t)
INTO_WHOLE(u8, uint8_t)
INTO_WHOLE(u16, uint16_t)
INTO_WHOLE(u32, uint32_t)
INTO_WHOLE(u64, uint64_t)

#define truth_of(x) ((uint8_t)((x) != 0))
#define truth_of_complex(x) ((uint8_t)((x).re != 0 || (x).im != 0))
INTO(b8, uint8_t, truth_of, truth_of, truth_of_complex)

#define c32_of(x) ((pair32){f16_of(x), 0})
#define c32_of_complex(x) ((pair32){f16_of((x).re), f16_of((x).im)})
#define c64_of(x) ((pair64){(float)(x), 0})
#define c64_of_complex(x) ((pair64){(float)(x).re, (float)(x).im})
#define c128_of(x) ((pair128){(double)(x), 0})
#define c128_of_complex(x) ((pair128){(double)(x).re, (double)(x).im})
INTO(c32, pair32, c32_of, c32_of, c32_of_complex)
INTO(c64, pair64, c64_of, c64_of, c64_of_complex)
INTO(c128, pair128, c128_of, c128_of, c128_of_complex)

LOOP(widen_f16, float, uint16_t, tni_f16_to_f32(value))
LOOP(widen_bf16, float, uint16_t, tni_bf16_to_f32(value))
LOOP(widen_e4m3fn, float, uint8_t, tni_e4m3fn_to_f32(value))
LOOP(widen_e4m3fnuz, float, uint8_t, tni_e4m3fnuz_to_f32(value))
LOOP(widen_e5m2, float, uint8_t, tni_e5m2_to_f32(value))
LOOP(widen_e5m2fnuz, float, uint8_t, tni_e5m2fnuz_to_f32(value))
LOOP(widen_e8m0fnu, float, uint8_t, tni_e8m0fnu_to_f32(value))
LOOP(widen_i8, int64_t, int8_t, value)
LOOP(widen_i16, int64_t, int16_t, value)
LOOP(widen_i32, int64_t, int32_t, value)
LOOP(widen_u8, int64_t, uint8_t, value)
LOOP(widen_u16, int64_t, uint16_t, value)
LOOP(widen_u32, int64_t, uint32_t, value)
LOOP(widen_b8, int64_t, uint8_t, value != 0)
LOOP(widen_c32, pair64, pair32, ((pair64){tni_f16_to_f32(value.re), tni_f16_to_f32(value.im)}))

/* Both steps, block by block; `wide` is the itemsize between them. Large steps go over whole blocks, so that a row may
 * be converted onto itself where itemsizes are the same. */
static __attribute__((noinline)) void through(void *to, int64_t to_stride, const void *from, int64_t from_stride,
                                              int64_t n, int64_t wide, tni_converter widen, tni_converter then)
{
    _Alignas(16) char block[BLOCK * 8];
    char *y = to;
    const char *x = from;
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t some = n - done < BLOCK ? n - done : BLOCK;
        widen(block, wide, x + done * from_stride, from_stride, some);
        then(y + done * to_stride, to_stride, block, wide, some);
    }
}

/* The dtypes that are numbers; M(..., NAME, to). */
#define NUMBERS(M, ...)                                                                                              \
    M(__VA_ARGS__, FLOAT32, f32) M(__VA_ARGS__, FLOAT64, f64) M(__VA_ARGS__, FLOAT16, f16)                           \
    M(__VA_ARGS__, BFLOAT16, bf16) M(__VA_ARGS__, FLOAT8_E4M3FN, e4m3fn) M(__VA_ARGS__, FLOAT8_E4M3FNUZ, e4m3fnuz)   \
    M(__VA_ARGS__, FLOAT8_E5M2, e5m2) M(__VA_ARGS__, FLOAT8_E5M2FNUZ, e5m2fnuz)                                      \
    M(__VA_ARGS__, FLOAT8_E8M0FNU, e8m0fnu) M(__VA_ARGS__, INT8, i8) M(__VA_ARGS__, INT16, i16)                      \
    M(__VA_ARGS__, INT32, i32) M(__VA_ARGS__, INT64, i64) M(__VA_ARGS__, UINT8, u8) M(__VA_ARGS__, UINT16, u16)      \
    M(__VA_ARGS__, UINT32, u32) M(__VA_ARGS__, UINT64, u64) M(__VA_ARGS__, BOOL, b8) M(__VA_ARGS__, COMPLEX32, c32)  \
    M(__VA_ARGS__, COMPLEX64, c64) M(__VA_ARGS__, COMPLEX128, c128)

/* The dtypes that are widened first: M(NAME, from, what they are widened to, its bytes). */
#define WIDENED(M)                                                                                                   \
    M(FLOAT16, f16, f32, 4) M(BFLOAT16, bf16, f32, 4) M(FLOAT8_E4M3FN, e4m3fn, f32, 4)                               \
    M(FLOAT8_E4M3FNUZ, e4m3fnuz, f32, 4) M(FLOAT8_E5M2, e5m2, f32, 4) M(FLOAT8_E5M2FNUZ, e5m2fnuz, f32, 4)           \
    M(FLOAT8_E8M0FNU, e8m0fnu, f32, 4) M(INT8, i8, i64, 8) M(INT16, i16, i64, 8) M(INT32, i32, i64, 8)               \
    M(UINT8, u8, i64, 8) M(UINT16, u16, i64, 8) M(UINT32, u32, i64, 8) M(BOOL, b8, i64, 8) M(COMPLEX32, c32, c64, 8)

#define STEP(from, middle, bytes, NAME, to)                                                              \
    static void to##_via_##from(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t n)   \
    {                                                                                                    \
        through(y, y_stride, x, x_stride, n, bytes, widen_##from, to##_from_##middle);                   \
    }
#define STEPS(NAME, from, middle, bytes) NUMBERS(STEP, from, middle, bytes)
WIDENED(STEPS)

#define DIRECT_ENTRY(from, NAME, to) [TN_##NAME] = to##_from_##from,
#define VIA_ENTRY(from, NAME, to) [TN_##NAME] = to##_via_##from,
#define VIA_ROW(NAME, from, middle, bytes) [TN_##NAME] = {NUMBERS(VIA_ENTRY, from)},

const tni_converter tni_conversions[TN_DTYPE_COUNT][TN_DTYPE_COUNT] = {
    [TN_FLOAT32] = {NUMBERS(DIRECT_ENTRY, f32)},     [TN_FLOAT64] = {NUMBERS(DIRECT_ENTRY, f64)},
    [TN_INT64] = {NUMBERS(DIRECT_ENTRY, i64)},       [TN_UINT64] = {NUMBERS(DIRECT_ENTRY, u64)},
    [TN_COMPLEX64] = {NUMBERS(DIRECT_ENTRY, c64)},   [TN_COMPLEX128] = {NUMBERS(DIRECT_ENTRY, c128)},
    WIDENED(VIA_ROW)
};
