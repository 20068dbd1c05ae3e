/* Operators in the dtypes that the table's tests leave out (complex), on pairs of dtypes that promote to a third, on
 * 0-dim operands and 16-bit floats, against recorded results of PyTorch: dtypes exactly, integers in all bits, floats
 * within a few units of the last place of the larger part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

enum { MOST_ELEMENTS = 8 };

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* A tensor from its dtype (a 0 behind it: no dims) and the bytes of its elements. */
static tn_tensor *read_tensor(const char *dtype_text, const char *hex)
{
    unsigned char bytes[MOST_ELEMENTS * 16];
    char name[32];
    size_t length = strlen(dtype_text), n = strlen(hex) / 2;
    bool scalar = dtype_text[length - 1] == '0';
    snprintf(name, sizeof name, "%.*s", (int)(length - scalar), dtype_text);
    tn_dtype dtype = tn_dtype_from_name(name);
    assert_int_equal(tn_error_code(), TN_OK);
    assert_true(n <= sizeof bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    const int64_t size = (int64_t)(n / tn_itemsize(dtype));
    tn_tensor *x = tn_from_array(bytes, &size, scalar ? 0 : 1, dtype);
    assert_non_null(x);
    return x;
}

static bool close_parts(double a, double b, double bound)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= bound;
}

/* NULL when they agree. */
static const char *differs(const char *name, tn_tensor *y, tn_tensor *wanted)
{
    tn_dtype dtype = tn_tensor_dtype(wanted);
    if (tn_tensor_dtype(y) != dtype)
        return "another dtype";
    if (tn_numel(y) != tn_numel(wanted))
        return "another size";
    bool exact = !tn_is_floating_point(dtype) && !tn_is_complex(dtype);
    if (exact)
        return tn_equal(y, wanted) ? NULL : "other numbers";
    for (int64_t i = 0; i < tn_numel(y); i++) {
        tn_tensor *a = tn_ndim(y) ? tn_select(y, 0, i) : y, *b = tn_ndim(wanted) ? tn_select(wanted, 0, i) : wanted;
        tn_complex_value p = tn_item_scalar(tn_to(a, TN_COMPLEX128)).value.c,
                         q = tn_item_scalar(tn_to(b, TN_COMPLEX128)).value.c;
        double size = fmax(fabs(q.re), fabs(q.im)), bound = 8 * tn_finfo(dtype).eps * size;
        if (tn_itemsize(dtype) <= 2)
            bound = strstr("add sub mul div", name) ? 0 : tn_finfo(dtype).eps * size; /* sums and functions */
        if (!close_parts(p.re, q.re, bound) || !close_parts(p.im, q.im, bound))
            return "other numbers";
    }
    return NULL;
}

static void one_line(const char *line)
{
    char name[32], dtype[3][32], hex[3][2 * MOST_ELEMENTS * 16 + 1], equals[4];
    int used = 0, operands = 0;
    tn_value values[2];
    memset(values, 0, sizeof values);
    assert_int_equal(sscanf(line, "%31s%n", name, &used), 1);
    for (const char *at = line + used;; at += used) {
        assert_int_equal(sscanf(at, "%31s %256s%n", dtype[operands], hex[operands], &used), 2);
        if (strcmp(dtype[operands], "=") == 0)
            break;
        assert_true(operands < 2);
        values[operands].kind = TN_VALUE_TENSOR;
        values[operands].as.tensor = read_tensor(dtype[operands], hex[operands]);
        operands++;
    }
    const char *result = strchr(line, '=');
    assert_int_equal(sscanf(result, "%3s %31s %256s", equals, dtype[2], hex[2]), 3);
    tn_tensor *y = tn_call(name, values, operands);
    if (!y)
        fail_msg("%s  %s", line, tn_error_message());
    char wanted_dtype[40];
    snprintf(wanted_dtype, sizeof wanted_dtype, "%s%s", dtype[2], tn_ndim(y) == 0 ? "0" : "");
    const char *wrong = differs(name, y, read_tensor(wanted_dtype, hex[2]));
    if (wrong)
        fail_msg("%s  gave %s", line, wrong);
}

static void against_torch(void **state)
{
    char line[2048];
    int lines = 0;
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/dtype_ops_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        tn_scope scope = tn_scope_begin();
        one_line(line);
        assert_int_equal(tn_scope_end(scope), TN_OK);
        lines++;
    }
    fclose(file);
    assert_true(lines > 180);
}

/* Facts, result_type and items of every dtype. */
static void facts(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        tn_dtype d = (tn_dtype)dtype;
        tn_float_facts real = tn_finfo(d);
        assert_int_equal(tn_error_code(), tn_is_floating_point(d) || tn_is_complex(d) ? TN_OK : TN_ERROR_DTYPE);
        tn_error_clear();
        assert_int_equal(real.bits > 0, tn_is_floating_point(d) || tn_is_complex(d));
        tn_integer_facts whole = tn_iinfo(d);
        assert_int_equal(whole.bits > 0, tn_error_code() == TN_OK);
        tn_error_clear();
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = tn_zeros(NULL, 0, d);
        assert_non_null(x);
        assert_int_equal(tn_result_type(&x, 1, NULL, 0), d);
        tn_scalar item = tn_item_scalar(x);
        assert_int_equal(tn_error_code(), TN_OK);
        assert_true(item.value.i == 0 || (d == TN_FLOAT8_E8M0FNU && item.value.f == 0x1p-127));
        tn_scope_end(scope);
    }
    assert_true(tn_finfo(TN_COMPLEX64).max == 0x1.fffffep127 && tn_iinfo(TN_INT8).min == -128);
    assert_true(tn_iinfo(TN_UINT64).max == UINT64_MAX && tn_iinfo(TN_UINT64).min == 0);
    assert_true(tn_is_signed(TN_COMPLEX32) && tn_is_signed(TN_QINT8) && !tn_is_signed(TN_BOOL));
    assert_int_equal(tn_result_type(NULL, 0, NULL, 0), TN_DTYPE_NONE);
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    tn_scope scope = tn_scope_begin();
    tn_tensor *z = tn_full(NULL, 0, tn_complex(1, 2), TN_DTYPE_NONE);
    assert_int_equal(tn_tensor_dtype(z), TN_COMPLEX64);
    assert_true(isnan(tn_item(z)));
    assert_int_equal(tn_error_code(), TN_ERROR_OVERFLOW);
    tn_error_clear();
    tn_scope_end(scope);
}

static bool same_part(float a, float b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* A complex alpha multiplies as a complex number, also a real one; sub negates it first. From PyTorch 2.15. */
static void complex_alpha(void **state)
{
    static const float a[] = {1, 2, -0.0f, -0.0f}, b[] = {INFINITY, 1, 0, -0.0f};
    static const struct {
        bool sub;
        tn_scalar_kind kind;
        double re, im;
        float wanted[4];
    } rows[] = {
        {true, TN_SCALAR_COMPLEX, 1, 0, {-INFINITY, NAN, -0.0f, 0}},
        {true, TN_SCALAR_INT, 2, 0, {-INFINITY, NAN, 0, 0}},
        {true, TN_SCALAR_COMPLEX, 0, 1, {NAN, -INFINITY, -0.0f, 0}},
        {true, TN_SCALAR_INT, 0, 0, {NAN, NAN, 0, 0}},
        {false, TN_SCALAR_COMPLEX, 1, -0.0, {INFINITY, NAN, 0, -0.0f}},
    };
    const int64_t two = 2;
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array(a, &two, 1, TN_COMPLEX64), *y = tn_from_array(b, &two, 1, TN_COMPLEX64);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tn_scalar alpha = rows[i].kind == TN_SCALAR_INT ? tn_int((int64_t)rows[i].re)
                                                        : tn_complex(rows[i].re, rows[i].im);
        const float *parts = tn_data(rows[i].sub ? tn_sub_alpha(x, y, alpha) : tn_add_alpha(x, y, alpha));
        assert_non_null(parts);
        for (int k = 0; k < 4; k++)
            if (!same_part(parts[k], rows[i].wanted[k]))
                fail_msg("row %d part %d is %g, needed %g", (int)i, k, (double)parts[k], (double)rows[i].wanted[k]);
    }
    const float *parts = tn_data(tn_add_scalar(x, tn_float(INFINITY)));
    assert_true(isinf(parts[0]) && isnan(parts[1]));
    tn_scope_end(scope);
}

/* As PyTorch's CPU: two tensors multiply unless the second has one element, numbers never; other operators refuse. */
static void float8_products(void **state)
{
    static const tn_dtype dtypes[] = {TN_FLOAT8_E4M3FN, TN_FLOAT8_E4M3FNUZ, TN_FLOAT8_E5M2, TN_FLOAT8_E5M2FNUZ,
                                      TN_FLOAT8_E8M0FNU};
    const int64_t three = 3, one = 1, none = 0, square[] = {3, 3};
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = tn_full(&three, 1, tn_float(4), dtypes[i]), *single = tn_full(&one, 1, tn_float(4), dtypes[i]),
                  *empty = tn_empty(&none, 1, dtypes[i]), *wide = tn_full(square, 2, tn_float(2), dtypes[i]);
        tn_tensor *refused[] = {tn_mul(x, single), tn_mul(empty, single), tn_mul(single, single), tn_add(x, x),
                                tn_mul_scalar(x, tn_int(2)), tn_div(x, x)};
        tn_error_clear();
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            assert_null(refused[k]);
        assert_null(tn_mul(x, single));
        assert_int_equal(tn_error_code(), TN_ERROR_NOT_IMPLEMENTED);
        tn_error_clear();
        assert_int_equal(tn_numel(tn_mul(single, empty)), 0);
        tn_tensor *y = tn_mul(tn_mul(single, x), tn_T(wide));
        assert_int_equal(tn_tensor_dtype(y), dtypes[i]);
        assert_true(tn_ndim(y) == 2 && tn_item(tn_select(tn_select(y, 0, 2), 0, 1)) == 32);
        assert_int_equal(tn_mul_(wide, x), TN_OK);
        assert_true(tn_item(tn_select(tn_select(wide, 0, 2), 0, 1)) == 8);
        assert_int_equal(tn_set_default_device(tn_device_from_name("meta")), TN_OK);
        assert_non_null(tn_mul_scalar(tn_empty(&three, 1, dtypes[i]), tn_int(2)));
        assert_int_equal(tn_set_default_device(tn_device_from_name("cpu")), TN_OK);
        tn_scope_end(scope);
    }
}

/* The physical conjugate of a real tensor is the tensor. */
static void conj_of_real(void **state)
{
    const int64_t three = 3;
    (void)state;
    tn_scope scope = tn_scope_begin();
    for (int dtype = 0; dtype < TN_QINT8; dtype++) {
        tn_tensor *x = tn_zeros(&three, 1, (tn_dtype)dtype), *y = tn_conj_physical(x);
        assert_non_null(y);
        assert_int_equal(y == x, !tn_is_complex((tn_dtype)dtype));
        assert_int_equal(tn_is_same_storage(x, y), y == x);
    }
    tn_scope_end(scope);
}

/* cat and stack: parts, dtypes, what is refused. */
static void joined(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t sizes[] = {2, 3}, none = 0;
    tn_tensor *a = tn_ones(sizes, 2, TN_INT8), *b = tn_full(sizes, 2, tn_float(2.5), TN_FLOAT32);
    tn_tensor *empty = tn_zeros(&none, 1, TN_FLOAT32);
    tn_tensor *const parts[] = {a, empty, b};
    tn_tensor *y = tn_cat(parts, 3, -1);
    assert_non_null(y);
    assert_int_equal(tn_tensor_dtype(y), TN_FLOAT32);
    assert_true(tn_size(y, 0) == 2 && tn_size(y, 1) == 6 && tn_version(y) == 0 && tn_is_contiguous(y));
    assert_true(tn_data_f32(y)[2] == 1 && tn_data_f32(y)[3] == 2.5f && tn_data_f32(y)[11] == 2.5f);
    tn_tensor *const pair[] = {a, a};
    y = tn_stack(pair, 2, 1);
    assert_true(y && tn_ndim(y) == 3 && tn_size(y, 1) == 2 && tn_tensor_dtype(y) == TN_INT8);
    assert_null(tn_stack(parts, 3, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    tn_error_clear();
    assert_null(tn_cat(parts, 0, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_null(tn_cat(parts, 3, 2));
    assert_int_equal(tn_error_code(), TN_ERROR_DIM);
    tn_error_clear();
    tn_tensor *const with_null[] = {a, NULL};
    assert_null(tn_cat(with_null, 2, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    tn_tensor *scalar = tn_zeros(NULL, 0, TN_FLOAT32);
    assert_null(tn_cat(&scalar, 1, 0));
    assert_int_equal(tn_error_code(), TN_ERROR_SHAPE);
    tn_error_clear();
    tn_scope_end(scope);
}

/* Storage types: made, copied, viewed, never computed in. */
static void storage_types(void **state)
{
    (void)state;
    for (int dtype = TN_QINT8; dtype < TN_DTYPE_COUNT; dtype++) {
        tn_scope scope = tn_scope_begin();
        const int64_t sizes[] = {3, 4};
        tn_tensor *x = tn_zeros(sizes, 2, (tn_dtype)dtype);
        memset(tn_data_mut(x), 5, 12 * tn_itemsize((tn_dtype)dtype));
        tn_tensor *y = tn_clone(tn_T(x));
        assert_non_null(y);
        assert_memory_equal(tn_data(y), tn_data(x), 12 * tn_itemsize((tn_dtype)dtype));
        assert_int_equal(tn_copy_(y, tn_T(x)), TN_OK);
        assert_null(tn_add(x, x));
        tn_error_clear();
        assert_null(tn_to(x, TN_FLOAT32));
        assert_int_equal(tn_error_code(), TN_ERROR_NOT_IMPLEMENTED);
        tn_error_clear();
        assert_int_equal(tn_fill_(x, tn_int(1)), TN_ERROR_NOT_IMPLEMENTED);
        tn_error_clear();
        tn_scope_end(scope);
    }
}

TEST_MAIN(test(against_torch), test(complex_alpha), test(float8_products), test(conj_of_real),
          test(facts), test(joined), test(storage_types))
