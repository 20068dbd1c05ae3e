/* Making tensors and asking them: hostile sizes, accessors, versions, typed data, items, meta and devices. */
#include <math.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "core/tensor.h"
#include "support/errors.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void hostile_sizes(void **state)
{
    (void)state;
    int64_t many[65];
    for (int d = 0; d < 65; d++)
        many[d] = 1;
    const float one = 1;
    tn_scope scope = tn_scope_begin();
    int64_t blocks = tn_get_memory_stats().live_blocks;
    REFUSED(tn_empty(LIST(2305843009213693953, 1), 2, TN_FLOAT64),
            TN_ERROR_OVERFLOW); /* 8 bytes each: 8 more than 2^64 */
    REFUSED(tn_empty(LIST(4611686018427387904, 4), 2, TN_BOOL), TN_ERROR_OVERFLOW);
    REFUSED(tn_empty(LIST(0, INT64_C(1) << 62), 2, TN_FLOAT32), TN_ERROR_OVERFLOW);
    REFUSED(tn_empty(LIST(INT64_MAX), 1, TN_FLOAT32), TN_ERROR_OVERFLOW);
    REFUSED(tn_empty(LIST(-2), 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_empty(LIST(3, INT64_MIN), 2, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_empty(many, 65, TN_FLOAT32), TN_ERROR_DIM);
    REFUSED(tn_empty(many, -3, TN_FLOAT32), TN_ERROR_DIM);
    REFUSED(tn_empty(NULL, 1, TN_FLOAT32), TN_ERROR_NULL);
    REFUSED(tn_empty(many, 1, (tn_dtype)99), TN_ERROR_DTYPE);
    REFUSED(tn_empty(many, 1, (tn_dtype)-2), TN_ERROR_DTYPE);
    REFUSED(tn_empty(LIST(INT64_C(1) << 50), 1, TN_FLOAT32), TN_ERROR_MEMORY);
    REFUSED(tn_from_array(NULL, LIST(1), 1, TN_FLOAT32), TN_ERROR_NULL);
    REFUSED(tn_from_array(&one, LIST(1), 1, TN_DTYPE_NONE), TN_ERROR_DTYPE);
    REFUSED(tn_from_array(&one, LIST(-1), 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_empty_strided(LIST(2), LIST(-1), 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_empty_strided(LIST(2), NULL, 1, TN_FLOAT32), TN_ERROR_NULL);
    REFUSED(tn_empty_strided(LIST(3), LIST(INT64_MAX), 1, TN_FLOAT32), TN_ERROR_OVERFLOW);
    REFUSED(tn_empty_strided(LIST(2), LIST(INT64_MAX / 2), 1, TN_FLOAT32), TN_ERROR_OVERFLOW);
    REFUSED(tn_empty_strided(many, many, 65, TN_FLOAT32), TN_ERROR_DIM);
    REFUSED(tn_zeros(LIST(2305843009213693953, 1), 2, TN_FLOAT64), TN_ERROR_OVERFLOW);
    assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
    tn_tensor *deep = tn_empty(many, 64, TN_FLOAT32);
    assert_int_equal(tn_ndim(deep), 64);
    assert_int_equal(tn_numel(deep), 1);
    REFUSED(tn_unsqueeze(deep, 0), TN_ERROR_DIM);
    assert_int_equal(tn_ndim(tn_add(deep, deep)), 64);
    assert_int_equal(tn_ndim(tn_T(deep)), 64);
    assert_int_equal(tn_ndim(tn_sum(deep, NULL, 0, true, TN_DTYPE_NONE)), 64);
    assert_int_equal(tn_numel(tn_empty_strided(LIST(INT64_C(1) << 40), LIST(0), 1, TN_FLOAT32)), INT64_C(1) << 40);
    assert_int_equal(tn_numel(tn_from_array(NULL, LIST(3, 0), 2, TN_FLOAT32)), 0);
    EXPECT(TN_OK);
    tn_scope_end(scope);
}

static void accessors(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(2, 3, 4), 3, TN_FLOAT64), *scalar = tn_zeros(NULL, 0, TN_INT64);
    assert_int_equal(tn_size(x, 1), 3);
    assert_int_equal(tn_size(x, -1), 4);
    assert_int_equal(tn_stride(x, 0), 12);
    assert_int_equal(tn_stride(x, -2), 4);
    assert_int_equal(tn_numel(x), 24);
    assert_int_equal(tn_storage_nbytes(x), 192);
    assert_true(tn_is_contiguous(x) && !tn_is_contiguous(tn_t(tn_select(x, 0, 0))));
    assert_true(!tn_is_view(x) && tn_base(x) == NULL);
    tn_tensor *view = tn_narrow(tn_narrow(x, 0, 1, 1), 1, 1, 2);
    assert_true(tn_is_view(view) && tn_base(view) == x); /* the base is never itself a view */
    assert_int_equal(tn_storage_offset(view), 16);
    assert_true(tn_is_same_storage(view, x) && !tn_is_same_storage(x, scalar));
    EXPECT(TN_OK);
    const int bad[] = {3, -4, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tn_size(x, bad[i]), 0);
        EXPECT(TN_ERROR_DIM);
        assert_int_equal(tn_stride(x, bad[i]), 0);
        EXPECT(TN_ERROR_DIM);
    }
    assert_int_equal(tn_size(scalar, 0), 0);
    EXPECT(TN_ERROR_DIM);
    assert_int_equal(tn_ndim(NULL), 0);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_numel(NULL), 0);
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_sizes(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_strides(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_version(NULL), 0);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_tensor_dtype(NULL), TN_DTYPE_NONE);
    EXPECT(TN_ERROR_NULL);
    assert_false(tn_is_same_storage(x, NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_data(NULL));
    EXPECT(TN_ERROR_NULL);
    /* a base outlives its scope as long as a view does */
    tn_scope inner = tn_scope_begin();
    tn_tensor *short_lived = tn_ones(LIST(3), 1, TN_FLOAT32), *last = tn_narrow(short_lived, 0, 1, 2);
    tn_scope_escape(inner, last);
    tn_scope_end(inner);
    assert_true(tn_data_f32(last)[1] == 1);
    assert_non_null(tn_base(last));
    tn_scope_end(scope);
}

static void versions_and_data(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_zeros(LIST(2, 3), 2, TN_FLOAT32), *row = tn_select(x, 0, 1);
    assert_int_equal(tn_version(x), 0);
    tn_data_f32_mut(row)[2] = 7;
    assert_int_equal(tn_version(x), 1);
    assert_true(tn_data_f32(x)[5] == 7);
    assert_int_equal(tn_version(row), 1); /* reading counts nothing */
    assert_null(tn_data_f64(x));
    EXPECT(TN_ERROR_DTYPE);
    assert_null(tn_data_i64_mut(x));
    EXPECT(TN_ERROR_DTYPE);
    assert_null(tn_data_bool_mut(x));
    EXPECT(TN_ERROR_DTYPE);
    assert_int_equal(tn_version(x), 1);
    tn_fill_(row, tn_int(1));
    tn_add_(x, x);
    assert_int_equal(tn_version(row), 3);
    tn_tensor *empty = tn_zeros(LIST(0), 1, TN_FLOAT32);
    tn_fill_(empty, tn_int(3)); /* writing nothing counts too */
    assert_int_equal(tn_version(empty), 1);
    assert_null(tn_data(empty));
    EXPECT(TN_OK);
    assert_int_equal(tn_version(tn_clone(x)), 0);
    TN_FAIL(TN_ERROR_STATE, "earlier", "pending");
    assert_null(tn_data_mut(x));
    assert_int_equal(tn_version(x), 3);
    assert_int_equal(tn_ndim(x), 2);
    EXPECT(TN_ERROR_STATE);
    /* data is aligned and inside its storage, whatever its size */
    for (int64_t n = 1; n < 400; n += 13) {
        tn_tensor *y = tn_zeros(&n, 1, TN_FLOAT64);
        assert_int_equal((uintptr_t)tn_data(y) % 64, 0);
        assert_ptr_equal(tn_data(y), tn_storage_data(y));
    }
    tn_scope_end(scope);
}

static void items(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    assert_true(tn_item(tn_full(LIST(1, 1), 2, tn_float(2.5), TN_FLOAT32)) == 2.5);
    assert_true(tn_item(tn_full(NULL, 0, tn_bool(true), TN_BOOL)) == 1);
    assert_int_equal(tn_item_i64(tn_full(NULL, 0, tn_int(INT64_MIN), TN_INT64)), INT64_MIN);
    assert_int_equal(tn_item_i64(tn_full(NULL, 0, tn_float(-2.9), TN_FLOAT64)), -2);
    assert_int_equal(tn_item_i64(tn_full(NULL, 0, tn_float(-0x1p63), TN_FLOAT64)), INT64_MIN);
    assert_int_equal(tn_item_i64(tn_select(tn_arange(tn_int(0), tn_int(9), tn_int(1), TN_DTYPE_NONE), 0, 4)), 4);
    EXPECT(TN_OK);
    const double bad[] = {0x1p63, -0x1.8p63, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tn_item_i64(tn_full(NULL, 0, tn_float(bad[i]), TN_FLOAT64)), 0);
        EXPECT(TN_ERROR_OVERFLOW);
    }
    assert_true(isnan(tn_item(tn_zeros(LIST(2), 1, TN_FLOAT32))));
    EXPECT(TN_ERROR_NOT_SCALAR);
    assert_true(isnan(tn_item(tn_zeros(LIST(0), 1, TN_FLOAT32))));
    EXPECT(TN_ERROR_NOT_SCALAR);
    assert_true(isnan(tn_item(NULL)));
    EXPECT(TN_ERROR_NULL);
    assert_true(isnan(tn_item(tn_empty(NULL, 0, TN_QINT8))));
    EXPECT(TN_ERROR_NOT_IMPLEMENTED);
    TN_FAIL(TN_ERROR_STATE, "earlier", "pending");
    assert_true(isnan(tn_item(tn_ones(NULL, 0, TN_FLOAT32))));
    EXPECT(TN_ERROR_STATE);
    tn_scope_end(scope);
}

static void devices(void **state)
{
    const tn_device meta = {TN_META, 0}, cpu = {TN_CPU, 0};
    (void)state;
    tn_scope scope = tn_scope_begin();
    assert_int_equal(tn_device_from_name("cpu").type, TN_CPU);
    assert_int_equal(tn_device_from_name("cuda:3").index, 3);
    tn_device cuda = tn_device_from_name("cuda:0");
    assert_int_equal(cuda.type, TN_CUDA);
    EXPECT(TN_OK);
    assert_int_equal(tn_set_default_device(cuda), TN_ERROR_DEVICE);
    assert_non_null(strstr(tn_error_message(), "cuda"));
    EXPECT(TN_ERROR_DEVICE);
    const char *const bad[] = {"", "gpu", "cpu:", "cuda:x", "cuda:1x", "cuda:-1", "CPU", "metal"};
    for (int i = 0; i < 8; i++) {
        tn_device_from_name(bad[i]);
        if (tn_error_code() != TN_ERROR_NAME)
            fail_msg("\"%s\" is taken for a device", bad[i]);
        tn_error_clear();
    }
    tn_device_from_name(NULL);
    EXPECT(TN_ERROR_NULL);
    tn_tensor *here = tn_ones(LIST(3), 1, TN_FLOAT32);
    assert_int_equal(tn_set_default_device(meta), TN_OK);
    tn_tensor *huge = tn_zeros(LIST(1000000, 1000000), 2, TN_FLOAT32), *there = tn_ones(LIST(3), 1, TN_FLOAT32);
    tn_tensor *copied = tn_from_array(tn_data(here), LIST(3), 1, TN_FLOAT32);
    assert_int_equal(tn_tensor_device(tn_empty_on(LIST(3), 1, TN_DTYPE_NONE, cpu)).type, TN_CPU);
    assert_int_equal(tn_set_default_device(cpu), TN_OK);
    assert_int_equal(tn_tensor_device(tn_empty_on(LIST(3), 1, TN_INT64, meta)).type, TN_META);
    REFUSED(tn_empty_on(LIST(3), 1, TN_INT64, ((tn_device){TN_CUDA, 1})), TN_ERROR_DEVICE);
    REFUSED(tn_empty_on(LIST(-3), 1, TN_INT64, meta), TN_ERROR_ARGUMENT);
    REFUSED(tn_empty_on(LIST(3), 1, TN_DTYPE_COUNT, cpu), TN_ERROR_DTYPE);
    assert_int_equal(tn_tensor_device(copied).type, TN_CPU);
    assert_int_equal(tn_tensor_device(huge).type, TN_META);
    assert_true(tn_storage_nbytes(huge) == 4000000000000u && !tn_storage_data(huge));
    tn_tensor *product = tn_matmul(huge, huge);
    assert_true(tn_numel(product) == 1000000000000 && tn_tensor_device(product).type == TN_META);
    assert_int_equal(tn_fill_(huge, tn_int(1)), TN_OK);
    assert_int_equal(tn_version(huge), 1);
    assert_int_equal(tn_add_out(there, there, there), TN_OK);
    EXPECT(TN_OK);
    REFUSED(tn_data(huge), TN_ERROR_DEVICE);
    REFUSED(tn_data_f32_mut(huge), TN_ERROR_DEVICE);
    assert_true(isnan(tn_item(tn_sum(huge, NULL, 0, false, TN_DTYPE_NONE))));
    EXPECT(TN_ERROR_DEVICE);
    REFUSED(tn_add(here, there), TN_ERROR_DEVICE);
    assert_int_equal(tn_copy_(here, there), TN_ERROR_DEVICE);
    EXPECT(TN_ERROR_DEVICE);
    assert_int_equal(tn_add_out(there, here, here), TN_ERROR_DEVICE);
    EXPECT(TN_ERROR_DEVICE);
    assert_int_equal(tn_version(here), 0);
    tn_scope_end(scope);
}

/* A resize swaps the geometry; what it replaced comes back without memory, for small and high ranks. */
static void resizing(void **state)
{
    const int64_t high[] = {1, 2, 1, 2, 1, 2, 1}, high_strides[] = {8, 4, 4, 2, 2, 1, 1};
    (void)state;
    for (int from = 0; from < 2; from++) {
        for (int to = 0; to < 2; to++) {
            tn_scope scope = tn_scope_begin();
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_tensor *x = from ? tn_ones(high, 7, TN_FLOAT32) : tn_ones(LIST(2, 4), 2, TN_FLOAT32);
            tni_geometry old;
            size_t bytes;
            assert_int_equal(tni_tensor_regrid("test", x, to ? high : LIST(100, 3), to ? high_strides : LIST(3, 1),
                                               to ? 7 : 2, &old, &bytes),
                             TN_OK);
            assert_true(bytes == (to ? 8 : 300) * sizeof(float));
            assert_true(bytes <= x->storage->nbytes || tni_storage_resize("test", x->storage, bytes) == TN_OK);
            assert_int_equal(tn_numel(x), to ? 8 : 300);
            assert_true(tn_data_f32(x)[7] == 1);
            tn_fail_allocation(0, true);
            tni_tensor_restore(x, &old);
            tn_fail_allocation(-1, false);
            assert_int_equal(tn_ndim(x), from ? 7 : 2);
            assert_true(tn_numel(x) == 8 && tn_is_contiguous(x) && tn_stride(x, -1) == 1 && tn_data_f32(x)[7] == 1);
            assert_int_equal(tni_tensor_regrid("test", x, LIST(3), LIST(1), 1, &old, &bytes), TN_OK);
            tni_geometry_drop(&old);
            assert_int_equal(tn_size(x, 0), 3);
            tn_scope_end(scope);
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
        }
    }
}

TEST_MAIN(test(hostile_sizes), test(accessors), test(versions_and_data), test(items), test(devices), test(resizing))
