/* The loops of the common conversions, written so that dense ones become vector code, and which converter a pair of
 * dtypes has. */
#include "core/convert.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/convert_half.h"
#include "core/convert_other.h"
#include "core/dtype.h"
#include "core/narrow.h"

static inline int64_t cut(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

#define FROM float
#define NUMBER(x) (x)
#define FROM_NAME f32
#define TO_I64(x) cut((double)(x))
#include "core/convert.kernel.h"

#define FROM double
#define NUMBER(x) (x)
#define FROM_NAME f64
#define TO_I64(x) cut(x)
#include "core/convert.kernel.h"

#define FROM int64_t
#define NUMBER(x) (x)
#define FROM_NAME i64
#define TO_I64(x) (x)
#include "core/convert.kernel.h"

#define FROM uint8_t /* bool: any byte but 0 is true */
#define NUMBER(x) ((x) != 0)
#define FROM_NAME b8
#define TO_I64(x) (int64_t)((x) != 0)
#include "core/convert.kernel.h"

#define COPY_ROW(bytes)                                                                                     \
    static void copy_##bytes(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n) \
    {                                                                                                       \
        char *y = to;                                                                                       \
        const char *x = from;                                                                               \
        if (to_stride == bytes && from_stride == bytes) {                                                   \
            memmove(y, x, (size_t)n * bytes);                                                               \
            return;                                                                                         \
        }                                                                                                   \
        for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)                                   \
            memcpy(y, x, bytes);                                                                            \
    }
COPY_ROW(1)
COPY_ROW(2)
COPY_ROW(4)
COPY_ROW(8)
COPY_ROW(16)

/* The same as the instruction, of float32: there is none between -2^31 - 256 and -2^31. */
static inline int32_t cut32(float x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (int32_t)x : INT32_MIN;
}

static inline int32_t cut32_double(double x)
{
    return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN;
}

/* Pairs with a loop of their own: float16 and bfloat16 from and to float32, what arithmetic in them is made of; small
 * integers from and to int64, float32 and float64. */
#define PAIR_ROW(name, TO, FROM, function)                                                                   \
    static void name(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)          \
    {                                                                                                        \
        char *y = to;                                                                                        \
        const char *x = from;                                                                                \
        if (to_stride == sizeof(TO) && from_stride == sizeof(FROM)) {                                        \
            TO *restrict dense = to;                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                  \
                dense[i] = (TO)function(((const FROM *)from)[i]);                                            \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)                                    \
            *(TO *)(void *)y = (TO)function(*(const FROM *)(const void *)x);                                 \
    }
PAIR_ROW(f32_from_f16, float, uint16_t, tni_f16_to_f32)
PAIR_ROW(f32_from_bf16, float, uint16_t, tni_bf16_to_f32)
PAIR_ROW(f16_from_f32, uint16_t, float, tni_f32_to_f16)
PAIR_ROW(bf16_from_f32, uint16_t, float, tni_f32_to_bf16)

#define WHOLE_ROWS(name, TYPE)                          \
    PAIR_ROW(f32_from_##name, float, TYPE, (float))     \
    PAIR_ROW(f64_from_##name, double, TYPE, (double))   \
    PAIR_ROW(i64_from_##name, int64_t, TYPE, (int64_t)) \
    PAIR_ROW(b8_from_##name, uint8_t, TYPE, 0 !=)       \
    PAIR_ROW(name##_from_f32, TYPE, float, cut32)       \
    PAIR_ROW(name##_from_i64, TYPE, int64_t, (TYPE))
WHOLE_ROWS(i32, int32_t)
WHOLE_ROWS(i16, int16_t)
WHOLE_ROWS(i8, int8_t)
WHOLE_ROWS(u8, uint8_t) /* of float32 the low bits of an int64, which are those of the int32: 0 from 2^31 on */
PAIR_ROW(i32_from_f64, int32_t, double, cut32_double)

/* The dtypes that have loops here among one another; where there is none, tni_conversions has one. */
enum { COMMON = 10, NONE_COMMON = -1 };

static int common_index(tn_dtype dtype)
{
    static const int8_t index[TN_DTYPE_COUNT] = {[TN_FLOAT32] = 1, [TN_FLOAT64] = 2,  [TN_INT64] = 3, [TN_BOOL] = 4,
                                                 [TN_FLOAT16] = 5, [TN_BFLOAT16] = 6, [TN_INT32] = 7, [TN_INT16] = 8,
                                                 [TN_INT8] = 9,    [TN_UINT8] = 10};
    return index[dtype] - 1;
}

/* [from][to] */
static const tni_converter common[COMMON][COMMON] = {
#define FROM_ROW(suffix) to_f32_from_##suffix, to_f64_from_##suffix, to_i64_from_##suffix, to_bool_from_##suffix
    {FROM_ROW(f32), f16_from_f32, bf16_from_f32, i32_from_f32, i16_from_f32, i8_from_f32, u8_from_f32},
    {FROM_ROW(f64), NULL, NULL, i32_from_f64},
    {FROM_ROW(i64), NULL, NULL, i32_from_i64, i16_from_i64, i8_from_i64, u8_from_i64},
    {FROM_ROW(b8)},
    {f32_from_f16},
    {f32_from_bf16},
#undef FROM_ROW
#define FROM_ROW(suffix) {f32_from_##suffix, f64_from_##suffix, i64_from_##suffix, b8_from_##suffix}
    FROM_ROW(i32), FROM_ROW(i16), FROM_ROW(i8), FROM_ROW(u8)
#undef FROM_ROW
};

static tni_converter copy_of(int64_t itemsize)
{
    switch (itemsize) {
    case 1:
        return copy_1;
    case 2:
        return copy_2;
    case 4:
        return copy_4;
    case 8:
        return copy_8;
    default:
        return copy_16;
    }
}

tni_converter tni_converter_of(tn_dtype from, tn_dtype to)
{
    if (from == to)
        return copy_of(tni_itemsize(from));
    int a = common_index(from), b = common_index(to);
    if (from == TN_FLOAT16 && to == TN_FLOAT32 && tni_half_avx512_runs())
        return tni_half_avx512.widen;
    if (from == TN_FLOAT32 && to == TN_FLOAT16 && tni_half_avx512_runs())
        return tni_half_avx512.narrow;
    if (a != NONE_COMMON && b != NONE_COMMON && common[a][b])
        return common[a][b];
    return tni_conversions[from][to];
}

bool tni_scalar_to(tn_scalar scalar, tn_dtype dtype, void *element)
{
    static const tn_dtype sources[] = {[TN_SCALAR_BOOL] = TN_INT64, [TN_SCALAR_INT] = TN_INT64,
                                       [TN_SCALAR_FLOAT] = TN_FLOAT64, [TN_SCALAR_COMPLEX] = TN_COMPLEX128};
    tni_converter convert = tni_converter_of(sources[scalar.kind], dtype);
    if (!convert)
        return false;
    convert(element, 0, &scalar.value, 0, 1);
    return true;
}

/* Quantised and bits types hold integers of their size; qint8 and qint32 signed ones. */
static int64_t stored_integer(tn_dtype dtype, const void *element)
{
    static const tn_dtype unsigned_of[] = {[1] = TN_UINT8, [2] = TN_UINT16, [4] = TN_UINT32};
    int64_t value;
    tn_dtype as = dtype == TN_QINT8 ? TN_INT8 : dtype == TN_QINT32 ? TN_INT32 : unsigned_of[tni_itemsize(dtype)];
    tni_converter_of(as, TN_INT64)(&value, 0, element, 0, 1);
    return value;
}

tn_scalar tni_scalar_load(tn_dtype dtype, const void *element)
{
    tn_scalar scalar = {.kind = TN_SCALAR_INT};
    switch (tni_dtype_kind(dtype)) {
    case TNI_BOOL:
    case TNI_UINT:
    case TNI_INT:
        scalar.kind = dtype == TN_BOOL ? TN_SCALAR_BOOL : TN_SCALAR_INT;
        tni_converter_of(dtype, TN_INT64)(&scalar.value.i, 0, element, 0, 1);
        break;
    case TNI_FLOAT8:
    case TNI_FLOAT:
        scalar.kind = TN_SCALAR_FLOAT;
        tni_converter_of(dtype, TN_FLOAT64)(&scalar.value.f, 0, element, 0, 1);
        break;
    case TNI_COMPLEX:
        scalar.kind = TN_SCALAR_COMPLEX;
        tni_converter_of(dtype, TN_COMPLEX128)(&scalar.value.c, 0, element, 0, 1);
        break;
    default:
        scalar.value.i = stored_integer(dtype, element);
    }
    return scalar;
}
