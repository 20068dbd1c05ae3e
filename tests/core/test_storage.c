/* Storages as objects, tensors over memory that is there: lifetimes, bounds, resizing, deleters, failing memory. */
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "core/tensor.h"
#include "support/errors.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static int64_t live_blocks(void)
{
    tn_scope_end(tn_scope_begin()); /* the thread's stack of scopes does not count */
    return tn_get_memory_stats().live_blocks;
}

static void lifetimes(void **state)
{
    (void)state;
    const int64_t sizes[] = {4, 1000}; /* data inside the tensor's block, and apart */
    for (int i = 0; i < 2; i++) {
        tn_scope scope = tn_scope_begin();
        int64_t blocks = live_blocks();
        tn_tensor *x = tn_full(&sizes[i], 1, tn_float(2), TN_FLOAT32), *view = tn_narrow(x, 0, 1, 2);
        tn_storage *storage = tn_storage_of(x);
        assert_ptr_equal(tn_storage_of(view), storage);
        assert_int_equal(tn_storage_size(storage), 4 * sizes[i]);
        assert_int_equal(tn_storage_use_count(storage), 3);
        assert_int_equal(tn_use_count(storage), 3);
        assert_ptr_equal(tn_storage_bytes(storage), tn_data(x));
        assert_int_equal(tn_storage_owned_by(storage), TN_OWNER_LIBRARY);
        assert_true(tn_storage_is_resizable(storage) && !tn_storage_is_read_only(storage));
        assert_int_equal(tn_version(x), 0);
        float *bytes = tn_storage_bytes_mut(storage);
        bytes[1] = 7;
        assert_int_equal(tn_version(view), 1);
        assert_true(tn_data_f32(view)[0] == 7);
        /* the tensors go first */
        tn_drop(&x);
        tn_drop(&view);
        assert_true(((const float *)tn_storage_bytes(storage))[1] == 7);
        tn_tensor *again = tn_from_storage(storage, 1, LIST(2), NULL, 1, TN_FLOAT32);
        tn_storage *second = storage;
        tn_drop(&storage);
        tn_drop(&second);
        assert_true(tn_data_f32(again)[0] == 7 && tn_data_f32(again)[1] == 2);
        assert_int_equal(tn_storage_offset(again), 1);
        assert_int_equal(tn_version(again), 1);
        assert_false(tn_is_view(again));
        tn_drop(&again);
        assert_int_equal(live_blocks(), blocks);
        EXPECT(TN_OK);
        tn_scope_end(scope);
    }
}

static void own_storage(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_storage *storage = tn_storage_new(48);
    memset(tn_storage_bytes_mut(storage), 0, 48);
    tn_tensor *x = tn_from_storage(storage, 2, LIST(2, 3), LIST(1, 2), 2, TN_FLOAT32);
    tn_tensor *whole = tn_from_storage(storage, 0, LIST(6), NULL, 1, TN_INT64);
    tn_fill_(x, tn_int(1));
    assert_int_equal(tn_version(whole), 2); /* one counter */
    assert_true(tn_is_same_storage(x, whole));
    assert_int_equal(tn_data_i64(whole)[0], 0);
    assert_int_equal(tn_data_i64(whole)[1], 0x3f8000003f800000);
    assert_int_equal(tn_numel(tn_from_storage(storage, 12, LIST(0), NULL, 1, TN_FLOAT32)), 0);
    assert_int_equal(tn_tensor_dtype(tn_from_storage(storage, 0, NULL, NULL, 0, TN_DTYPE_NONE)), TN_FLOAT32);
    EXPECT(TN_OK);
    int64_t count = tn_storage_use_count(storage);
    REFUSED(tn_from_storage(NULL, 0, LIST(2), NULL, 1, TN_FLOAT32), TN_ERROR_NULL);
    REFUSED(tn_from_storage(storage, 0, NULL, NULL, 1, TN_FLOAT32), TN_ERROR_NULL);
    REFUSED(tn_from_storage(storage, 0, LIST(13), NULL, 1, TN_FLOAT32), TN_ERROR_BOUNDS);
    REFUSED(tn_from_storage(storage, 1, LIST(12), NULL, 1, TN_FLOAT32), TN_ERROR_BOUNDS);
    REFUSED(tn_from_storage(storage, 13, LIST(0), NULL, 1, TN_FLOAT32), TN_ERROR_BOUNDS);
    REFUSED(tn_from_storage(storage, INT64_MAX, LIST(0), NULL, 1, TN_FLOAT32), TN_ERROR_BOUNDS);
    REFUSED(tn_from_storage(storage, INT64_MAX, LIST(1), NULL, 1, TN_FLOAT32), TN_ERROR_OVERFLOW);
    REFUSED(tn_from_storage(storage, 0, LIST(2, 2), LIST(11, 1), 2, TN_FLOAT32), TN_ERROR_BOUNDS);
    REFUSED(tn_from_storage(storage, -1, LIST(2), NULL, 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_from_storage(storage, 0, LIST(2), LIST(-1), 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_from_storage(storage, 0, LIST(-2), NULL, 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_from_storage(storage, 0, LIST(1), LIST(0), 65, TN_FLOAT32), TN_ERROR_DIM);
    REFUSED(tn_from_storage(storage, 0, LIST(1), NULL, 1, (tn_dtype)77), TN_ERROR_DTYPE);
    REFUSED(tn_from_storage(storage, 0, LIST(3, INT64_MAX / 2), NULL, 2, TN_BOOL), TN_ERROR_OVERFLOW);
    assert_int_equal(tn_storage_use_count(storage), count);
    assert_int_equal(tn_storage_size(NULL), 0);
    EXPECT(TN_ERROR_NULL);
    assert_false(tn_storage_is_resizable(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_storage_of(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_storage_bytes_mut(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_storage_resize_(NULL, 3), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_storage_bytes(tn_storage_new(0)));
    EXPECT(TN_OK);
    /* meta */
    tn_set_default_device((tn_device){TN_META, 0});
    tn_storage *nowhere = tn_storage_new((size_t)1 << 60);
    tn_set_default_device((tn_device){TN_CPU, 0});
    assert_int_equal(tn_storage_device(nowhere).type, TN_META);
    assert_int_equal(tn_tensor_device(tn_from_storage(nowhere, 5, LIST(7), NULL, 1, TN_FLOAT32)).type, TN_META);
    EXPECT(TN_OK);
    assert_null(tn_storage_bytes(nowhere));
    EXPECT(TN_ERROR_DEVICE);
    assert_null(tn_storage_new((size_t)1 << 60));
    EXPECT(TN_ERROR_MEMORY);
    TN_FAIL(TN_ERROR_STATE, "earlier", "pending");
    assert_null(tn_storage_new(3));
    assert_null(tn_storage_of(x));
    assert_null(tn_storage_bytes_mut(storage));
    assert_null(tn_from_storage(storage, 0, LIST(1), NULL, 1, TN_FLOAT32));
    assert_int_equal(tn_storage_size(storage), 48);
    EXPECT(TN_ERROR_STATE);
    tn_scope_end(scope);
}

/* Growing keeps the bytes, shrinking the tensors' memory. */
static void resizing(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    int64_t blocks = live_blocks();
    const int64_t sizes[] = {5, 5000};
    for (int i = 0; i < 2; i++) {
        tn_tensor *x = tn_arange(tn_int(0), tn_int(sizes[i]), tn_int(1), TN_FLOAT32);
        tn_storage *storage = tn_storage_of(x);
        size_t bytes = 4 * (size_t)sizes[i];
        assert_int_equal(tn_storage_resize_(storage, 4), TN_OK);
        assert_int_equal(tn_storage_size(storage), 4);
        assert_int_equal(tn_storage_nbytes(x), 4);
        assert_true(tn_data_f32(x)[sizes[i] - 1] == (float)(sizes[i] - 1)); /* stale, but there */
        REFUSED(tn_from_storage(storage, 0, LIST(2), NULL, 1, TN_FLOAT32), TN_ERROR_BOUNDS);
        assert_int_equal(tn_storage_resize_(storage, 2 * bytes), TN_OK);
        assert_true(tn_data_f32(x)[sizes[i] - 1] == (float)(sizes[i] - 1));
        memset((char *)tn_storage_bytes_mut(storage) + bytes, 1, bytes);
        assert_int_equal(tn_storage_resize_(storage, 0), TN_OK);
        assert_null(tn_storage_bytes(storage));
        assert_int_equal(tn_storage_resize_(storage, 3 * bytes), TN_OK);
        assert_true(tn_data_f32(x)[1] == 1);
        assert_int_equal(tn_storage_resize_(storage, (size_t)1 << 60), TN_ERROR_MEMORY);
        EXPECT(TN_ERROR_MEMORY);
        assert_int_equal(tn_storage_size(storage), 3 * bytes);
        tn_fail_allocation(0, true);
        assert_int_equal(tn_storage_resize_(storage, 30 * bytes), TN_ERROR_MEMORY);
        assert_null(tn_storage_new(700));
        tn_fail_allocation(-1, false);
        EXPECT(TN_ERROR_MEMORY);
        assert_true(tn_data_f32(x)[1] == 1);
        tni_storage_pin(storage);
        assert_false(tn_storage_is_resizable(storage));
        assert_int_equal(tn_storage_resize_(storage, 8), TN_ERROR_STATE);
        EXPECT(TN_ERROR_STATE);
        tni_storage_unpin(storage);
        assert_int_equal(tn_storage_resize_(storage, 8), TN_OK);
        tn_drop(&x);
        tn_drop(&storage);
    }
    assert_int_equal(live_blocks(), blocks);
    /* as many pins as can be told apart, then more */
    tn_storage *storage = tn_storage_new(4);
    for (int i = 0; i < 300; i++)
        tni_storage_pin(storage);
    for (int i = 0; i < 300; i++)
        tni_storage_unpin(storage);
    assert_false(tn_storage_is_resizable(storage));
    EXPECT(TN_OK);
    tn_scope_end(scope);
}

/* Counts the deleter's calls, and notes the last. */
typedef struct deletion {
    int calls;
    void *data;
} deletion;

static void note(void *context, void *data)
{
    deletion *deleted = context;
    deleted->calls++;
    deleted->data = data;
}

static void blobs(void **state)
{
    (void)state;
    int64_t blocks = live_blocks();
    double array[12];
    for (int i = 0; i < 12; i++)
        array[i] = i;
    deletion deleted = {0, NULL};
    tn_scope scope = tn_scope_begin();
    const tn_blob_options options = {
        .stride = LIST(1, 4), .offset = 1, .nbytes = sizeof array, .deleter = note, .context = &deleted};
    tn_tensor *x = tn_from_blob(array, LIST(3, 3), 2, TN_FLOAT64, &options);
    assert_int_equal(tn_storage_nbytes(x), sizeof array);
    assert_int_equal(tn_storage_offset(x), 1);
    assert_int_equal(tn_stride(x, 1), 4);
    assert_ptr_equal(tn_data(x), array + 1);
    assert_ptr_equal(tn_storage_data(x), array);
    assert_false(tn_is_view(x));
    assert_true(tn_item(tn_select(tn_select(x, 0, 2), 0, 1)) == 7);
    tn_tensor *row = tn_select(x, 0, 0);
    tn_add_(row, tn_full(NULL, 0, tn_int(100), TN_FLOAT64));
    assert_true(array[1] == 101 && array[5] == 105 && array[9] == 109);
    array[1] = -1;
    assert_true(tn_item(tn_select(row, 0, 0)) == -1);
    tn_storage *storage = tn_storage_of(x);
    assert_int_equal(tn_storage_owned_by(storage), TN_OWNER_OUTSIDE);
    assert_false(tn_storage_is_resizable(storage));
    assert_int_equal(tn_storage_resize_(storage, 8), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    tn_tensor *out = tn_from_storage(storage, 0, LIST(2), NULL, 1, TN_FLOAT64);
    assert_int_equal(tn_add_out(out, tn_ones(LIST(40), 1, TN_FLOAT64), tn_ones(LIST(40), 1, TN_FLOAT64)),
                     TN_ERROR_STATE); /* would have to grow */
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_numel(out), 2);
    tn_drop(&x);
    tn_drop(&storage);
    tn_drop(&out);
    assert_int_equal(deleted.calls, 0); /* the row lives */
    tn_scope_end(scope);
    assert_int_equal(deleted.calls, 1);
    assert_ptr_equal(deleted.data, array);
    /* without a deleter, and without elements */
    scope = tn_scope_begin();
    assert_true(tn_item(tn_sum(tn_from_blob(array, LIST(1), 1, TN_FLOAT64, NULL), NULL, 0, false, TN_DTYPE_NONE)) == 0);
    tn_tensor *none =
        tn_from_blob(NULL, LIST(0, 3), 2, TN_FLOAT32, &(tn_blob_options){.deleter = note, .context = &deleted});
    assert_int_equal(tn_numel(none), 0);
    assert_int_equal(tn_numel(tn_from_blob(array, NULL, 0, TN_FLOAT64, NULL)), 1);
    tn_tensor *repeated = tn_from_blob(array, LIST(1000), 1, TN_FLOAT64, &(tn_blob_options){.stride = LIST(0)});
    assert_int_equal(tn_storage_nbytes(repeated), 8);
    EXPECT(TN_OK);
    tn_scope_end(scope);
    assert_int_equal(deleted.calls, 2);
    assert_null(deleted.data);
    assert_int_equal(live_blocks(), blocks);
}

/* Every refusal calls the deleter once. */
static void refused_blobs(void **state)
{
    (void)state;
    _Alignas(16) char array[96];
    const struct {
        void *data;
        int64_t size[3];
        int ndim;
        tn_dtype dtype;
        int64_t stride[3]; /* used where one is not 0 */
        int64_t offset;
        size_t nbytes;
        tn_status status;
    } cases[] = {
        {NULL, {1}, 1, TN_FLOAT32, {0}, 0, 0, TN_ERROR_NULL},
        {NULL, {0}, 1, TN_FLOAT32, {0}, 0, 8, TN_ERROR_NULL},
        {array, {-1}, 1, TN_FLOAT32, {0}, 0, 0, TN_ERROR_ARGUMENT},
        {array, {2}, 1, TN_FLOAT32, {-1}, 0, 0, TN_ERROR_ARGUMENT},
        {array, {2}, 1, TN_FLOAT32, {0}, -1, 0, TN_ERROR_ARGUMENT},
        {array + 2, {2}, 1, TN_FLOAT32, {0}, 0, 0, TN_ERROR_ARGUMENT},
        {array + 2, {2}, 1, TN_COMPLEX64, {0}, 0, 0, TN_ERROR_ARGUMENT},
        {array + 1, {2}, 1, TN_BFLOAT16, {0}, 0, 0, TN_ERROR_ARGUMENT},
        {array + 2, {0}, 1, TN_FLOAT32, {0}, 0, 8, TN_ERROR_ARGUMENT},
        {array, {2}, -1, TN_FLOAT32, {0}, 0, 0, TN_ERROR_DIM},
        {array, {2}, 65, TN_FLOAT32, {0}, 0, 0, TN_ERROR_DIM},
        {array, {2}, 1, TN_DTYPE_NONE, {0}, 0, 0, TN_ERROR_DTYPE},
        {array, {2}, 1, (tn_dtype)1000, {0}, 0, 0, TN_ERROR_DTYPE},
        {array, {INT64_MAX, 4}, 2, TN_BOOL, {0}, 0, 0, TN_ERROR_OVERFLOW},
        {array, {0, INT64_MAX}, 2, TN_FLOAT32, {0}, 0, 0, TN_ERROR_OVERFLOW},
        {array, {3, 3}, 2, TN_FLOAT32, {INT64_MAX / 2, 1}, 0, 0, TN_ERROR_OVERFLOW},
        {array, {2}, 1, TN_FLOAT32, {0}, INT64_MAX, 0, TN_ERROR_OVERFLOW},
        {array, {INT64_MAX}, 1, TN_BOOL, {2}, 0, 0, TN_ERROR_OVERFLOW},
        {array, {0}, 1, TN_FLOAT64, {0}, INT64_MAX, 0, TN_ERROR_OVERFLOW},
        {NULL, {0}, 1, TN_FLOAT64, {0}, 4, 0, TN_ERROR_NULL},
        {(void *)(UINTPTR_MAX - 7), {16}, 1, TN_BOOL, {0}, 0, 0, TN_ERROR_OVERFLOW},
        {array, {25}, 1, TN_FLOAT32, {0}, 0, 96, TN_ERROR_BOUNDS},
        {array, {24}, 1, TN_FLOAT32, {0}, 1, 96, TN_ERROR_BOUNDS},
        {array, {0}, 1, TN_FLOAT32, {0}, 25, 96, TN_ERROR_BOUNDS},
        {array, {2, 2}, 2, TN_FLOAT32, {23, 1}, 0, 96, TN_ERROR_BOUNDS},
    };
    deletion deleted = {0, NULL};
    int calls = 0;
    int64_t blocks = live_blocks();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tn_blob_options options = {
            .offset = cases[i].offset, .nbytes = cases[i].nbytes, .deleter = note, .context = &deleted};
        if (cases[i].stride[0] != 0)
            options.stride = cases[i].stride;
        tn_tensor *x = tn_from_blob(cases[i].data, cases[i].size, cases[i].ndim, cases[i].dtype, &options);
        if (x || tn_error_code() != cases[i].status)
            fail_msg("case %zu: %s (%s), needed %s", i, tn_status_name(tn_error_code()), tn_error_message(),
                     tn_status_name(cases[i].status));
        assert_memory_equal(tn_error_message(), "from_blob: ", 11);
        tn_error_clear();
        assert_int_equal(deleted.calls, ++calls);
        assert_ptr_equal(deleted.data, cases[i].data);
    }
    TN_FAIL(TN_ERROR_STATE, "earlier", "pending");
    assert_null(tn_from_blob(array, LIST(1), 1, TN_FLOAT32, &(tn_blob_options){.deleter = note, .context = &deleted}));
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(deleted.calls, ++calls);
    assert_int_equal(live_blocks(), blocks);
}

static void read_only(void **state)
{
    (void)state;
    static const float array[6] = {1, 2, 3, 4, 5, 6};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x =
        tn_from_blob((void *)(uintptr_t)array, LIST(2, 3), 2, TN_FLOAT32, &(tn_blob_options){.read_only = true});
    tn_tensor *view = tn_t(x);
    assert_true(tn_data_f32(view)[5] == 6);
    assert_true(tn_item(tn_sum(tn_add(x, x), NULL, 0, false, TN_DTYPE_NONE)) == 42);
    assert_true(tn_storage_is_read_only(tn_storage_of(view)));
    EXPECT(TN_OK);
    assert_int_equal(tn_add_(x, x), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_fill_(view, tn_int(3)), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_add_out(x, tn_ones(LIST(2, 3), 2, TN_FLOAT32), x), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_copy_(view, tn_ones(LIST(3, 2), 2, TN_FLOAT32)), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_null(tn_data_f32_mut(view));
    EXPECT(TN_ERROR_STATE);
    assert_null(tn_storage_bytes_mut(tn_storage_of(x)));
    assert_non_null(strstr(tn_error_message(), "the storage's memory"));
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_version(x), 0);
    /* through lazy bits, too */
    tn_tensor *z =
        tn_from_blob((void *)(uintptr_t)array, LIST(3), 1, TN_COMPLEX64, &(tn_blob_options){.read_only = true});
    assert_int_equal(tn_fill_(tn_conj(z), tn_int(3)), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_true(array[0] == 1 && array[1] == 2);
    tn_tensor *mine = tn_clone(x);
    assert_int_equal(tn_add_(mine, x), TN_OK);
    EXPECT(TN_OK);
    tn_scope_end(scope);
}

/* Tensors that change what they read: memory that is pinned, not the library's, not aligned or not there. */
static void changed_geometry(void **state)
{
    (void)state;
    static _Alignas(8) float array[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    deletion deleted = {0, NULL};
    tn_scope scope = tn_scope_begin();
    const tn_blob_options options = {.read_only = true, .deleter = note, .context = &deleted};
    tn_tensor *foreign = tn_from_blob(array, LIST(3, 4), 2, TN_FLOAT32, &options);
    const tn_index first = tn_index_integer(0);
    assert_int_equal(tn_setitem_scalar(foreign, &first, 1, tn_int(3)), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_transpose_(foreign, 0, 1), TN_OK); /* no element is written */
    assert_int_equal(tn_resize_(foreign, LIST(2, 2), 2), TN_OK);
    assert_int_equal(tn_resize_(foreign, LIST(13), 1), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_ndim(foreign), 2);
    /* a tensor leaves memory that is given away */
    tn_tensor *x = tn_ones(LIST(4), 1, TN_FLOAT32), *view = tn_narrow(x, 0, 1, 2);
    tn_dlpack *given = tn_to_dlpack(x);
    assert_int_equal(tn_resize_(x, LIST(400), 1), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_set_strided_(x, x, 0, LIST(500), LIST(1), 1), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_set_(x, foreign), TN_OK);
    tn_drop(&foreign);
    assert_int_equal(deleted.calls, 0);
    assert_true(tn_data_f32(x)[3] == 4 && tn_data_f32(view)[0] == 1 && ((float *)given->tensor.data)[3] == 1);
    given->deleter(given);
    assert_true(tn_data_f32(view)[1] == 1);
    tn_drop(&x);
    tn_drop(&view);
    assert_int_equal(deleted.calls, 1);
    /* none to take */
    x = tn_ones(LIST(3), 1, TN_FLOAT32);
    tn_tensor *zero = tn_zero_tensor(LIST(3), 1, TN_FLOAT32);
    assert_int_equal(tn_set_(x, zero), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_set_data(x, zero), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_set_strided_(x, zero, 0, LIST(9), LIST(1), 1), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_int_equal(tn_set_(zero, x), TN_ERROR_STATE);
    EXPECT(TN_ERROR_STATE);
    assert_true(tn_item(tn_sum(x, NULL, 0, false, TN_DTYPE_NONE)) == 3);
    tn_tensor *z = tn_full(LIST(2), 1, tn_complex(1, 2), TN_COMPLEX64), *data = tn_zeros(LIST(2), 1, TN_COMPLEX64);
    assert_int_equal(tn_set_data(data, tn_conj(z)), TN_OK);
    assert_true(tn_is_conj(data) && tn_item(tn_imag(tn_select(data, 0, 1))) == -2);
    /* bytes at odd addresses do not become floats */
    tn_tensor *odd = tn_from_blob((char *)array + 1, LIST(32), 1, TN_UINT8, NULL), *none = tn_narrow(odd, 0, 0, 0);
    assert_non_null(tn_view_dtype(odd, TN_INT8));
    REFUSED(tn_view_dtype(odd, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_view_dtype(none, TN_FLOAT32), TN_ERROR_ARGUMENT);
    REFUSED(tn_from_storage(tn_storage_of(odd), 0, LIST(0), NULL, 1, TN_FLOAT32), TN_ERROR_ARGUMENT);
    tn_scope_end(scope);
}

/* Two storages over one memory are two to the library: writes through one may tear the other, but nothing else. */
static void overlapping_blobs(void **state)
{
    (void)state;
    enum { MOST = 3 << 20 };
    float *array = tn_allocate(MOST * sizeof *array, "test");
    const int64_t lengths[] = {1, 7, 100, 5000, MOST / 2};
    assert_non_null(array);
    for (int i = 0; i < 5; i++) {
        for (int shift = -9; shift <= 9; shift++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *x = tn_from_blob(array + 16, &lengths[i], 1, TN_FLOAT32, NULL);
            tn_tensor *y = tn_from_blob(array + 16 + shift, &lengths[i], 1, TN_FLOAT32, NULL);
            assert_int_equal(tn_copy_(x, y), TN_OK);
            assert_int_equal(tn_add_(x, y), TN_OK);
            tn_scope_end(scope);
        }
    }
    tn_deallocate(array, MOST * sizeof *array);
    EXPECT(TN_OK);
}

/* Bounds of random grids against a walk over every element. */
static void random_bounds(void **state)
{
    (void)state;
    uint64_t draw = 4;
#define DRAW(n) ((int64_t)((draw = draw * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33) % (n))
    static _Alignas(8) char array[64];
    int inside = 0;
    for (int turn = 0; turn < 100000; turn++) {
        int64_t size[4], stride[4], index[4] = {0}, offset = DRAW(12), numel = 1, most = 0;
        int ndim = (int)DRAW(5);
        for (int d = 0; d < ndim; d++) {
            size[d] = DRAW(20) == 0 ? 0 : 1 + DRAW(4);
            stride[d] = DRAW(12);
            numel *= size[d];
        }
        for (int64_t n = 0; n < numel; n++) {
            int64_t at = offset;
            for (int d = 0; d < ndim; d++)
                at += index[d] * stride[d];
            most = at > most ? at : most;
            for (int d = ndim - 1; d >= 0 && ++index[d] == size[d]; d--)
                index[d] = 0;
        }
        tn_scope scope = tn_scope_begin();
        bool fits = numel > 0 ? most < 32 : offset <= 32;
        const tn_blob_options options = {.stride = stride, .offset = offset, .nbytes = sizeof array};
        tn_storage *storage = tn_storage_of(tn_from_blob(array, LIST(64), 1, TN_UINT8, NULL));
        tn_tensor *x = tn_from_blob(array, size, ndim, TN_INT16, &options);
        tn_error_clear();
        tn_tensor *y = tn_from_storage(storage, offset, size, stride, ndim, TN_INT16);
        if ((x != NULL) != fits || (y != NULL) != fits || (x && tn_numel(x) != numel))
            fail_msg("turn %d: reaches %lld of 32, ndim %d, offset %lld: %s", turn, (long long)most, ndim,
                     (long long)offset, fits ? tn_error_message() : "not refused");
        inside += fits;
        tn_error_clear();
        tn_scope_end(scope);
    }
    assert_in_range(inside, 10000, 90000);
}

/* Each allocation of each maker fails once, and from there on. */
static void failing_allocations(void **state)
{
    (void)state;
    float array[64] = {0};
    int64_t ones[7] = {1, 1, 1, 1, 1, 1, 1};
    for (int maker = 0; maker < 4; maker++) {
        bool done = false;
        for (int k = 0; !done; k++) {
            for (int for_good = 0; for_good < 2; for_good++) {
                tn_scope scope = tn_scope_begin();
                deletion deleted = {0, NULL};
                const tn_blob_options options = {.deleter = note, .context = &deleted};
                tn_storage *storage = tn_storage_new(256);
                int64_t blocks = live_blocks();
                tn_fail_allocation(k, for_good);
                void *made = maker == 0   ? (void *)tn_from_blob(array, LIST(4, 4), 2, TN_FLOAT32, &options)
                             : maker == 1 ? (void *)tn_from_blob(array, ones, 7, TN_FLOAT32, &options)
                             : maker == 2 ? (void *)tn_from_storage(storage, 3, ones, NULL, 7, TN_FLOAT32)
                                          : (void *)tn_storage_new(300);
                bool failed = tn_allocation_failed();
                tn_fail_allocation(-1, false);
                done = !failed;
                if (failed) {
                    assert_null(made);
                    EXPECT(TN_ERROR_MEMORY);
                    assert_int_equal(live_blocks(), blocks);
                    assert_int_equal(deleted.calls, maker < 2);
                }
                EXPECT(TN_OK);
                assert_int_equal(tn_storage_use_count(storage), 1 + (!failed && maker == 2));
                tn_scope_end(scope);
                assert_int_equal(deleted.calls, maker < 2);
            }
        }
    }
}

/* The same with every block from malloc and back, so that valgrind sees each one's end. */
static void without_cache(void **state)
{
    tn_set_cache_limits(0, 0);
    lifetimes(state);
    own_storage(state);
    resizing(state);
    blobs(state);
    failing_allocations(state);
    tn_set_cache_limits((size_t)4 << 20, (size_t)256 << 20);
}

TEST_MAIN(test(lifetimes), test(own_storage), test(resizing), test(blobs), test(refused_blobs), test(read_only),
          test(changed_geometry), test(overlapping_blobs), test(random_bounds), test(failing_allocations),
          test(without_cache))
