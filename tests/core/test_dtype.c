/* Promotion and casts of every pair of dtypes against PyTorch's record; names, sizes, the default dtype. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "core/dtype.h"
#include "support/test.h"

static void against_torch(void **state)
{
    char line[256], a[32], b[32], both[32];
    int pairs = 0, cast;
    (void)state;
    FILE *file = fopen(TENON_TEST_DATA "/dtypes_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%31s %31s %31s %d", a, b, both, &cast), 4);
        tn_dtype x = tn_dtype_from_name(a), y = tn_dtype_from_name(b);
        tn_dtype wanted = strcmp(both, "-") == 0 ? TN_DTYPE_NONE : tn_dtype_from_name(both);
        assert_int_equal(tn_error_code(), TN_OK);
        tn_dtype got = tn_promote_types(x, y);
        assert_int_equal(tn_error_code(), got == TN_DTYPE_NONE ? TN_ERROR_DTYPE : TN_OK);
        tn_error_clear();
        if (got != wanted)
            fail_msg("%s and %s promote to %s, needed %s", a, b, tn_dtype_name(got), both);
        bool stored_only = tni_dtype_kind(x) >= TNI_QUANTIZED || tni_dtype_kind(y) >= TNI_QUANTIZED;
        if (stored_only) /* torch's answer is an accident: nothing converts to or from them */
            cast = x == y;
        if (tn_can_cast(x, y) != cast)
            fail_msg("can_cast(%s, %s) is %d", a, b, !cast);
        pairs++;
    }
    fclose(file);
    assert_int_equal(pairs, TN_DTYPE_COUNT * TN_DTYPE_COUNT);
}

static void names(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        assert_int_equal(tn_dtype_from_name(tn_dtype_name((tn_dtype)dtype)), dtype);
        assert_true(tn_itemsize((tn_dtype)dtype) >= 1 && tn_itemsize((tn_dtype)dtype) <= 16);
    }
    assert_string_equal(tn_dtype_name(TN_DTYPE_NONE), "invalid");
    assert_string_equal(tn_dtype_name(TN_DTYPE_COUNT), "invalid");
    assert_int_equal(tn_itemsize(TN_DTYPE_NONE), 0);
    assert_int_equal(tn_itemsize((tn_dtype)1000), 0);
    assert_false(tn_is_floating_point((tn_dtype)1000));
    assert_true(tn_is_floating_point(TN_FLOAT8_E5M2) && tn_is_floating_point(TN_BFLOAT16) &&
                !tn_is_floating_point(TN_COMPLEX64));
    const char *const bad[] = {"", "float", "FLOAT32", "float32 ", "torch.float32", NULL};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(tn_dtype_from_name(bad[i]), TN_DTYPE_NONE);
        assert_int_equal(tn_error_code(), bad[i] ? TN_ERROR_NAME : TN_ERROR_NULL);
        tn_error_clear();
    }
    assert_int_equal(tn_promote_types((tn_dtype)77, TN_FLOAT32), TN_DTYPE_NONE);
    assert_int_equal(tn_error_code(), TN_ERROR_DTYPE);
    tn_error_clear();
    assert_false(tn_can_cast((tn_dtype)-7, TN_FLOAT32));
}

static void default_dtype(void **state)
{
    (void)state;
    assert_int_equal(tn_get_default_dtype(), TN_FLOAT32);
    assert_int_equal(tn_set_default_dtype(TN_FLOAT64), TN_OK);
    tn_scope scope = tn_scope_begin();
    assert_int_equal(tn_tensor_dtype(tn_zeros(NULL, 0, TN_DTYPE_NONE)), TN_FLOAT64);
    assert_int_equal(tn_tensor_dtype(tn_div(tn_arange(tn_int(0), tn_int(2), tn_int(1), TN_DTYPE_NONE),
                                            tn_full(NULL, 0, tn_int(2), TN_INT64))),
                     TN_FLOAT64);
    tn_scope_end(scope);
    assert_int_equal(tn_set_default_dtype(TN_INT64), TN_ERROR_DTYPE);
    tn_error_clear();
    assert_int_equal(tn_get_default_dtype(), TN_FLOAT64);
    assert_int_equal(tn_set_default_dtype(TN_FLOAT32), TN_OK);
}

/* What torch.full(..., dtype=) takes: integers in range, no nan or infinity; negative numbers wrap in unsigned ones. */
static void scalars_that_fit(void **state)
{
    (void)state;
    assert_true(tni_scalar_fits(tn_int(127), TN_INT8) && tni_scalar_fits(tn_int(-128), TN_INT8));
    assert_false(tni_scalar_fits(tn_int(128), TN_INT8) || tni_scalar_fits(tn_int(-129), TN_INT8));
    assert_true(tni_scalar_fits(tn_float(127.5), TN_INT8) && !tni_scalar_fits(tn_float(-128.5), TN_INT8));
    assert_true(tni_scalar_fits(tn_int(-255), TN_UINT8) && !tni_scalar_fits(tn_float(-1), TN_UINT8));
    assert_true(tni_scalar_fits(tn_int(255), TN_UINT8) && !tni_scalar_fits(tn_int(256), TN_UINT8));
    assert_true(tni_scalar_fits(tn_float(-0x1p63), TN_INT64) && !tni_scalar_fits(tn_float(0x1p63), TN_INT64));
    assert_false(tni_scalar_fits(tn_float((double)NAN), TN_INT64) ||
                 tni_scalar_fits(tn_float((double)INFINITY), TN_INT32));
    assert_true(tni_scalar_fits(tn_float((double)NAN), TN_FLOAT32) && !tni_scalar_fits(tn_float(1e300), TN_FLOAT32));
    assert_true(tni_scalar_fits(tn_float(-0x1.fffffep127), TN_FLOAT32) && tni_scalar_fits(tn_float(1e300), TN_FLOAT64));
    assert_true(tni_scalar_fits(tn_float(-(double)INFINITY), TN_FLOAT32));
    assert_true(tni_scalar_fits(tn_float((double)NAN), TN_BOOL));
}

TEST_MAIN(test(against_torch), test(names), test(default_dtype), test(scalars_that_fit))
