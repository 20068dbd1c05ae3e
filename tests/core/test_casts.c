/* Conversions between all pairs of dtypes that are numbers, against what PyTorch makes of the same bit patterns:
 * every code of the dtypes of 8 and 16 bits, random ones of the others, among them many that are half way between two
 * narrow numbers. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "core/convert.h"
#include "core/dtype.h"
#include "support/test.h"

enum { MOST = 65536, OTHERS = 4096 };

static uint64_t mix(uint64_t x)
{
    uint64_t z = x * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The exponent of a double brought near those of float32. */
static uint64_t near_one(uint64_t z)
{
    uint64_t exponent = 0x3ff - 160 + ((z >> 52) & 0x7ff) % 320;
    return (z & UINT64_C(0x800fffffffffffff)) | (exponent << 52);
}

/* Pattern i of a dtype, in two words. */
static void pattern(tn_dtype dtype, uint64_t i, uint64_t word[2])
{
    static const int cleared[] = {0, 12, 18, 21};
    uint64_t z = mix(i + 1);
    int shift = (int)(i % 4) == 0 ? 0 : cleared[i % 4] + (dtype == TN_FLOAT64 ? 29 : 0);
    word[1] = 0;
    switch (dtype) {
    case TN_BOOL:
        word[0] = i & 1;
        break;
    case TN_FLOAT32:
        word[0] = z >> 32 >> shift << shift;
        break;
    case TN_FLOAT64:
        word[0] = (i % 8 == 0 ? z : near_one(z)) >> shift << shift;
        break;
    case TN_COMPLEX128:
        word[0] = near_one(z);
        word[1] = near_one(mix(z));
        break;
    case TN_INT64:
        word[0] = (uint64_t)((int64_t)z >> (i % 64));
        break;
    case TN_UINT64:
        word[0] = z >> (i % 64);
        break;
    case TN_INT32:
        word[0] = (uint64_t)(uint32_t)((int32_t)(uint32_t)z >> (i % 32));
        break;
    case TN_UINT32:
        word[0] = (uint32_t)z >> (i % 32);
        break;
    default:
        word[0] = tni_itemsize(dtype) <= 2 ? i : z;
    }
}

static int64_t count(tn_dtype dtype)
{
    return tni_itemsize(dtype) == 1 ? 256 : tni_itemsize(dtype) == 2 ? MOST : OTHERS;
}

/* Whether the result is no number, or the source is beyond what an integer dtype is sure to hold: those depend on the
 * processor or on a payload. */
static bool left_out(tn_dtype from, const char *x, tn_dtype to, const char *y)
{
    double re[2];
    tni_kind source = tni_dtype_kind(from), target = tni_dtype_kind(to);
    if (target >= TNI_FLOAT8) {
        tni_converter_of(to, TN_COMPLEX128)(re, 0, y, 0, 1);
        return isnan(re[0]) || isnan(re[1]);
    }
    if (target == TNI_BOOL || source < TNI_FLOAT8)
        return false;
    tni_converter_of(from, TN_COMPLEX128)(re, 0, x, 0, 1);
    return !(fabs(re[0]) < 0x1p31);
}

static uint64_t checksum(tn_dtype from, tn_dtype to, char *x, char *y, int64_t step)
{
    int64_t n = count(from), from_size = tni_itemsize(from), to_size = tni_itemsize(to);
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t word[2];
        pattern(from, (uint64_t)i, word);
        memcpy(x + i * from_size * step, word, (size_t)from_size);
    }
    tni_converter_of(from, to)(y, to_size * step, x, from_size * step, n);
    for (int64_t i = 0; i < n; i++) {
        uint64_t word[2] = {0, 0};
        const char *at = y + i * to_size * step;
        memcpy(word, at, (size_t)to_size);
        uint64_t value = left_out(from, x + i * from_size * step, to, at)
                             ? 0xffff
                             : word[0] + word[1] * UINT64_C(0x9e3779b97f4a7c15);
        sum += value * (2 * (uint64_t)i + 1);
    }
    return sum;
}

static void against_torch(void **state)
{
    char line[256], a[32], b[32];
    uint64_t wanted;
    int pairs = 0;
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/casts_torch_2.15.txt", "r");
    char *x = malloc((size_t)MOST * 2 * 16 * 2), *y = malloc((size_t)MOST * 2 * 16 * 2);
    assert_non_null(file);
    assert_non_null(x);
    assert_non_null(y);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%31s %31s %" SCNx64, a, b, &wanted), 3);
        tn_dtype from = tn_dtype_from_name(a), to = tn_dtype_from_name(b);
        for (int64_t step = 1; step <= 2; step++) {
            uint64_t got = checksum(from, to, x, y, step);
            if (got != wanted)
                fail_msg("%s to %s, every %s element: the sum is %016" PRIx64 ", needed %016" PRIx64, a, b,
                         step == 1 ? "single" : "second", got, wanted);
        }
        pairs++;
    }
    free(x);
    free(y);
    fclose(file);
    assert_int_equal(pairs, 21 * 21);
}

/* Numbers in and out of one element: nothing is lost where the dtype holds them. */
static void scalars(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        tni_kind kind = tni_dtype_kind((tn_dtype)dtype);
        _Alignas(16) char element[16] = {0}, again[16] = {0};
        for (uint64_t i = 0; i < 300; i++) {
            uint64_t word[2];
            pattern((tn_dtype)dtype, i, word);
            memcpy(element, word, (size_t)tni_itemsize((tn_dtype)dtype));
            tn_scalar scalar = tni_scalar_load((tn_dtype)dtype, element);
            assert_int_equal(scalar.kind, kind == TNI_BOOL                          ? TN_SCALAR_BOOL
                                          : kind == TNI_COMPLEX                     ? TN_SCALAR_COMPLEX
                                          : kind == TNI_FLOAT || kind == TNI_FLOAT8 ? TN_SCALAR_FLOAT
                                                                                    : TN_SCALAR_INT);
            if (!tni_scalar_to(scalar, (tn_dtype)dtype, again)) {
                assert_true(kind >= TNI_QUANTIZED);
                continue;
            }
            bool nan = (scalar.kind == TN_SCALAR_FLOAT && isnan(scalar.value.f)) ||
                       (scalar.kind == TN_SCALAR_COMPLEX && (isnan(scalar.value.c.re) || isnan(scalar.value.c.im)));
            if (!nan)
                assert_memory_equal(again, element, (size_t)tni_itemsize((tn_dtype)dtype));
        }
    }
}

TEST_MAIN(test(against_torch), test(scalars))
