/* The table of conversions. Floats to integers are cut towards zero; what int64 does not hold becomes its smallest
 * value, as the x86 instruction does it; anything but 0 becomes true, NaN too. */
#include "core/convert.h"

#include <stdbool.h>
#include <string.h>

#include "core/dtype.h"

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

static const tni_converter conversions[TN_DTYPE_COUNT][TN_DTYPE_COUNT] = {
#define FROM_ROW(NAME, suffix)                                                               \
    [TN_##NAME] = {[TN_FLOAT32] = to_f32_from_##suffix, [TN_FLOAT64] = to_f64_from_##suffix, \
                   [TN_INT64] = to_i64_from_##suffix, [TN_BOOL] = to_bool_from_##suffix},
    FROM_ROW(FLOAT32, f32) FROM_ROW(FLOAT64, f64) FROM_ROW(INT64, i64) FROM_ROW(BOOL, b8)
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
    return from == to ? copy_of(tni_itemsize(from)) : conversions[from][to];
}

bool tni_scalar_to(tn_scalar scalar, tn_dtype dtype, void *element)
{
    bool real = scalar.kind == TN_SCALAR_FLOAT;
    tni_converter convert = tni_converter_of(real ? TN_FLOAT64 : TN_INT64, dtype);
    if (!convert)
        return false;
    convert(element, 0, real ? (const void *)&scalar.value.f : (const void *)&scalar.value.i, 0, 1);
    return true;
}
