/* The loops of the common conversions, written so that dense ones become vector code, and which converter a pair of
 * dtypes has. */
#include "core/convert.h"

#include <stdbool.h>
#include <string.h>

#include "core/convert_other.h"
#include "core/dtype.h"
#include "core/narrow.h"

static inline int64_t cut(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}

#define FROM float
#define FROM_NAME f32
#define TO_I64(x) cut((double)(x))
#include "core/convert.kernel.h"

#define FROM double
#define FROM_NAME f64
#define TO_I64(x) cut(x)
#include "core/convert.kernel.h"

#define FROM int64_t
#define FROM_NAME i64
#define TO_I64(x) (x)
#include "core/convert.kernel.h"

#define FROM uint8_t
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

/* float16 and bfloat16 from and to float32: what arithmetic in them is made of. */
#define HALF_ROW(name, TO, FROM, function)                                                                   \
    static void name(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t n)          \
    {                                                                                                        \
        char *y = to;                                                                                        \
        const char *x = from;                                                                                \
        if (to_stride == sizeof(TO) && from_stride == sizeof(FROM)) {                                        \
            TO *restrict dense = to;                                                                         \
            for (int64_t i = 0; i < n; i++)                                                                  \
                dense[i] = function(((const FROM *)from)[i]);                                                \
            return;                                                                                          \
        }                                                                                                    \
        for (int64_t i = 0; i < n; i++, y += to_stride, x += from_stride)                                    \
            *(TO *)(void *)y = function(*(const FROM *)(const void *)x);                                     \
    }
HALF_ROW(f32_from_f16, float, uint16_t, tni_f16_to_f32)
HALF_ROW(f32_from_bf16, float, uint16_t, tni_bf16_to_f32)
HALF_ROW(f16_from_f32, uint16_t, float, tni_f32_to_f16)
HALF_ROW(bf16_from_f32, uint16_t, float, tni_f32_to_bf16)

/* The pairs that have loops here: the four dtypes of the first rows of `common`, and the halves. */
enum { COMMON = 4, NONE_COMMON = -1 };

static int common_index(tn_dtype dtype)
{
    static const int8_t index[TN_DTYPE_COUNT] = {[TN_FLOAT32] = 1, [TN_FLOAT64] = 2, [TN_INT64] = 3, [TN_BOOL] = 4};
    return index[dtype] - 1;
}

static const tni_converter common[COMMON][COMMON] = {
#define FROM_ROW(suffix) {to_f32_from_##suffix, to_f64_from_##suffix, to_i64_from_##suffix, to_bool_from_##suffix}
    FROM_ROW(f32), FROM_ROW(f64), FROM_ROW(i64), FROM_ROW(b8)
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
    if (a != NONE_COMMON && b != NONE_COMMON)
        return common[a][b];
    if (from == TN_FLOAT32 && (to == TN_FLOAT16 || to == TN_BFLOAT16))
        return to == TN_FLOAT16 ? f16_from_f32 : bf16_from_f32;
    if (to == TN_FLOAT32 && (from == TN_FLOAT16 || from == TN_BFLOAT16))
        return from == TN_FLOAT16 ? f32_from_f16 : f32_from_bf16;
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

double tni_scalar_real(tn_scalar scalar)
{
    if (scalar.kind == TN_SCALAR_COMPLEX)
        return scalar.value.c.re;
    return scalar.kind == TN_SCALAR_FLOAT ? scalar.value.f : (double)scalar.value.i;
}
