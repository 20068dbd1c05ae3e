/* Conversions between the dtypes that compute, strided and dense, against plain casts; bits alone for the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "core/convert.h"
#include "core/convert_other.h"
#include "core/dtype.h"
#include "support/draw.h"
#include "support/test.h"

static const tn_dtype four[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};

/* One number through both dtypes. */
static void write_value(void *at, tn_dtype dtype, double value)
{
    float f32 = (float)value;
    int64_t i64 = value >= -0x1p63 && value < 0x1p63 ? (int64_t)value : INT64_MIN;
    unsigned char byte = value != 0 || isnan(value);
    switch (dtype) {
    case TN_FLOAT32:
        memcpy(at, &f32, sizeof f32);
        break;
    case TN_FLOAT64:
        memcpy(at, &value, sizeof value);
        break;
    case TN_INT64:
        memcpy(at, &i64, sizeof i64);
        break;
    default:
        memcpy(at, &byte, sizeof byte);
    }
}

static double read_value(const void *at, tn_dtype dtype)
{
    float f32;
    double f64;
    int64_t i64;
    switch (dtype) {
    case TN_FLOAT32:
        memcpy(&f32, at, sizeof f32);
        return (double)f32;
    case TN_FLOAT64:
        memcpy(&f64, at, sizeof f64);
        return f64;
    case TN_INT64:
        memcpy(&i64, at, sizeof i64);
        return (double)i64;
    default:
        return *(const unsigned char *)at;
    }
}

/* Floats are cut towards zero; what int64 does not hold, NaN among it, becomes its smallest, as PyTorch has it on x86.
 */
static void values(void **state)
{
    static const double numbers[] = {0.0,
                                     -0.0,
                                     1,
                                     -1,
                                     0.5,
                                     -0.5,
                                     1.9,
                                     -1.9,
                                     1e10,
                                     -1e10,
                                     1e300,
                                     -1e19,
                                     0x1p62,
                                     9007199254740993,
                                     (double)NAN,
                                     (double)INFINITY,
                                     -(double)INFINITY,
                                     1e-45};
    enum { N = sizeof numbers / sizeof *numbers };
    (void)state;
    for (int pair = 0; pair < 16; pair++) {
        tn_dtype from = four[pair / 4], to = four[pair % 4];
        tni_converter convert = tni_converter_of(from, to);
        assert_non_null(convert);
        for (int gap = 1; gap <= 3; gap++) {
            _Alignas(16) char source[N * 8 * 3], target[N * 8 * 3 + 8], wanted[8];
            int64_t from_step = tni_itemsize(from) * gap, to_step = tni_itemsize(to) * (4 - gap);
            memset(target, 0x5a, sizeof target);
            for (int i = 0; i < N; i++)
                write_value(source + i * from_step, from, numbers[i]);
            convert(target, to_step, source, from_step, N);
            for (int i = 0; i < N; i++) {
                write_value(wanted, to, read_value(source + i * from_step, from));
                if (from == TN_INT64) { /* not through a double */
                    int64_t exact;
                    memcpy(&exact, source + i * from_step, sizeof exact);
                    float f32 = (float)exact;
                    if (to == TN_INT64)
                        memcpy(wanted, &exact, sizeof exact);
                    if (to == TN_FLOAT32)
                        memcpy(wanted, &f32, sizeof f32);
                }
                double a = read_value(target + i * to_step, to), b = read_value(wanted, to);
                if (memcmp(target + i * to_step, wanted, (size_t)tni_itemsize(to)) != 0 && !(isnan(a) && isnan(b)))
                    fail_msg("%s to %s, gap %d: %g became %g, needed %g", tn_dtype_name(from), tn_dtype_name(to), gap,
                             numbers[i], a, b);
            }
            assert_int_equal(target[(N - 1) * to_step + tni_itemsize(to)], 0x5a); /* nothing behind the last */
        }
    }
}

static void bits_alone(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        unsigned char from[16 * 5], to[16 * 5] = {0};
        int64_t itemsize = tni_itemsize((tn_dtype)dtype);
        for (int i = 0; i < 80; i++)
            from[i] = (unsigned char)(i * 37 + 11);
        tni_converter copy = tni_converter_of((tn_dtype)dtype, (tn_dtype)dtype);
        copy(to, itemsize, from, itemsize, 5);
        assert_memory_equal(to, from, (size_t)(5 * itemsize));
        copy(to, itemsize, from, 2 * itemsize, 2);
        assert_memory_equal(to + itemsize, from + 2 * itemsize, (size_t)itemsize);
    }
    assert_null(tni_converter_of(TN_QINT8, TN_FLOAT32));
    assert_null(tni_converter_of(TN_BOOL, TN_BITS8));
}

static void scalars(void **state)
{
    float f32;
    int64_t i64;
    bool truth;
    char unknown[16];
    (void)state;
    assert_true(tni_scalar_to(tn_int((INT64_C(1) << 53) + 1), TN_INT64, &i64) && i64 == (INT64_C(1) << 53) + 1);
    assert_true(tni_scalar_to(tn_float(0.1), TN_FLOAT32, &f32) && f32 == 0.1f);
    assert_true(tni_scalar_to(tn_float((double)NAN), TN_BOOL, &truth) && truth);
    assert_true(tni_scalar_to(tn_bool(true), TN_INT64, &i64) && i64 == 1);
    assert_false(tni_scalar_to(tn_int(1), TN_QUINT8, unknown));
    float pair[2];
    assert_true(tni_scalar_to(tn_complex(1.5, -2), TN_COMPLEX64, pair) && pair[0] == 1.5f && pair[1] == -2);
    assert_true(tni_scalar_to(tn_complex(1.5, -2), TN_FLOAT32, &f32) && f32 == 1.5f);
    tn_scalar back = tni_scalar_load(TN_COMPLEX64, pair);
    assert_true(back.kind == TN_SCALAR_COMPLEX && back.value.c.re == 1.5 && back.value.c.im == -2);
}

/* Bits of all kinds for a dtype: every pattern of 16-bit ones, else random ones and those near powers of two. */
static void patterns(char *row, int64_t n, int64_t itemsize, uint64_t *state)
{
    for (int64_t i = 0; i < n * itemsize; i += 8) {
        uint64_t bits = draw_bits(state);
        if (bits >> 62 == 0)
            bits &= UINT64_C(0xffff0000ff800000); /* few bits of a float32 or float64 */
        memcpy(row + i, &bits, 8);
    }
    for (int64_t i = 0; itemsize == 2 && i < n; i++)
        memcpy(row + 2 * i, &(uint16_t){(uint16_t)i}, 2);
    for (int64_t i = 0; itemsize == 8 && i < n; i += 5) { /* numbers that smaller types hold, or nearly */
        double x = ldexp(1 + (double)(*state >> 40) * 0x1p-24, (int)(i % 80));
        memcpy(row + 8 * i, &x, 8);
    }
}

/* The loops for common pairs against those that all dtypes have, dense and strided; float16's instructions too. */
static void common_pairs(void **state)
{
    enum { N = 1 << 16 };
    char *from = malloc(N * 16), *dense = malloc(N * 16), *plain = malloc(N * 16), *apart = malloc(N * 32);
    uint64_t seed = 88172645463325252u;
    int pairs = 0;
    (void)state;
    for (int a = 0; a < TN_DTYPE_COUNT; a++) {
        for (int b = 0; b < TN_DTYPE_COUNT; b++) {
            tni_converter convert = tni_converter_of((tn_dtype)a, (tn_dtype)b), other = tni_conversions[a][b];
            int64_t x = tni_itemsize((tn_dtype)a), y = tni_itemsize((tn_dtype)b);
            if (a == b || !other || convert == other)
                continue;
            patterns(from, N, x, &seed);
            if (a == TN_BOOL)
                for (int64_t i = 0; i < N; i++)
                    from[i] &= 1;
            convert(dense, y, from, x, N);
            other(plain, y, from, x, N);
            convert(apart, 2 * y, from, x, N);
            for (int64_t i = 0; i < N; i++)
                if (memcmp(dense + i * y, plain + i * y, (size_t)y) ||
                    memcmp(apart + 2 * i * y, plain + i * y, (size_t)y))
                    fail_msg("%s to %s: element %d is not what the plain loop gives", tn_dtype_name((tn_dtype)a),
                             tn_dtype_name((tn_dtype)b), (int)i);
            pairs++;
        }
    }
    free(from);
    free(dense);
    free(plain);
    free(apart);
    assert_true(pairs >= 40);
}

/* A bool that came as other bytes (view_dtype, DLPack) counts as PyTorch counts it. */
static void any_byte_but_zero_is_true(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const unsigned char bytes[] = {0, 1, 2, 255};
    tn_tensor *truth = tn_view_dtype(tn_from_array(bytes, (int64_t[]){4}, 1, TN_UINT8), TN_BOOL);
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        tn_tensor *x = tn_to(truth, (tn_dtype)dtype), *y = x ? tn_to(x, TN_FLOAT64) : NULL;
        tn_error_clear(); /* no number */
        for (int i = 0; y && dtype != TN_BOOL && dtype != TN_FLOAT8_E8M0FNU && i < 4; i++)
            assert_true(tn_data_f64(y)[i] == (i > 0));
    }
    const tn_index mask = tn_index_tensor(truth);
    tn_tensor *four_numbers = tn_arange(tn_int(0), tn_int(4), tn_int(1), TN_INT64);
    assert_int_equal(tn_numel(tn_getitem(four_numbers, &mask, 1)), 3);
    assert_int_equal(tn_setitem_scalar(four_numbers, &mask, 1, tn_int(9)), TN_OK);
    assert_int_equal(tn_data_i64(four_numbers)[0], 0);
    tn_scope_end(scope);
}

TEST_MAIN(test(any_byte_but_zero_is_true), test(common_pairs), test(values), test(bits_alone), test(scalars))
