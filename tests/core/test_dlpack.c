/* DLPack out and in: layout, round trips, every refusal with its one call of the deleter, failing allocations, and what
 * a foreign thread may do. The same program runs under valgrind where that is installed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/extend.h>
#include <tenon/tenon.h>

#include "core/tensor.h"
#include "support/test.h"

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

/* The structs of DLPack's C header on a machine with pointers of 8 bytes. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(tn_dlpack_tensor) == 48 && offsetof(tn_dlpack_tensor, device) == 8 &&
                    offsetof(tn_dlpack_tensor, ndim) == 16 && offsetof(tn_dlpack_tensor, dtype) == 20 &&
                    offsetof(tn_dlpack_tensor, shape) == 24 && offsetof(tn_dlpack_tensor, strides) == 32 &&
                    offsetof(tn_dlpack_tensor, byte_offset) == 40),
               "DLTensor");
_Static_assert(sizeof(void *) != 8 || (sizeof(tn_dlpack) == 80 && offsetof(tn_dlpack, context) == 8 &&
                                       offsetof(tn_dlpack, deleter) == 16 && offsetof(tn_dlpack, flags) == 24 &&
                                       offsetof(tn_dlpack, tensor) == 32),
               "DLManagedTensorVersioned");
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(tn_dlpack_unversioned) == 64 && offsetof(tn_dlpack_unversioned, context) == 48 &&
                    offsetof(tn_dlpack_unversioned, deleter) == 56),
               "DLManagedTensor");

static void expect(tn_status status, int line)
{
    if (tn_error_code() != status)
        fail_msg("line %d: %s (%s), needed %s", line, tn_status_name(tn_error_code()), tn_error_message(),
                 tn_status_name(status));
    if (status != TN_OK && (!strstr(tn_error_message(), "dlpack") || strchr(tn_error_message(), '\n')))
        fail_msg("line %d: not a proper message: %s", line, tn_error_message());
    tn_error_clear();
}

#define EXPECT(status) expect(status, __LINE__)

static int64_t live_blocks(void)
{
    tn_scope_end(tn_scope_begin()); /* the thread's stack of scopes does not count */
    return tn_get_memory_stats().live_blocks;
}

/* Another library's array of 12 floats as [3, 4]. */
typedef struct foreign {
    tn_dlpack versioned;
    tn_dlpack_unversioned unversioned;
    int64_t shape[3], strides[3];
    _Alignas(8) float data[16];
} foreign;

static int deletions;

static void delete_versioned(tn_dlpack *self)
{
    deletions++;
    free(self->context);
}

static void delete_unversioned(tn_dlpack_unversioned *self)
{
    deletions++;
    free(self->context);
}

static foreign *make_foreign(void)
{
    foreign *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->shape[0] = 3;
    f->shape[1] = f->strides[0] = 4;
    f->strides[1] = 1;
    for (int i = 0; i < 16; i++)
        f->data[i] = (float)i;
    f->versioned.version.major = 1;
    f->versioned.context = f->unversioned.context = f;
    f->versioned.deleter = delete_versioned;
    f->unversioned.deleter = delete_unversioned;
    f->versioned.tensor = (tn_dlpack_tensor){.data = f->data,
                                             .device = {TN_DLPACK_CPU, 0},
                                             .ndim = 2,
                                             .dtype = {TN_DLPACK_FLOAT, 32, 1},
                                             .shape = f->shape,
                                             .strides = f->strides};
    f->unversioned.tensor = f->versioned.tensor;
    return f;
}

static tn_tensor *take(foreign *f, bool versioned)
{
    if (versioned)
        return tn_from_dlpack(&f->versioned);
    f->unversioned.tensor = f->versioned.tensor;
    return tn_from_dlpack_unversioned(&f->unversioned);
}

static void imports(void **state)
{
    (void)state;
    int64_t blocks = live_blocks();
    for (int versioned = 0; versioned < 2; versioned++) {
        deletions = 0;
        tn_scope scope = tn_scope_begin();
        foreign *f = make_foreign();
        f->versioned.tensor.byte_offset = 4;
        tn_tensor *x = take(f, versioned);
        assert_ptr_equal(tn_data(x), f->data + 1);
        assert_int_equal(tn_storage_offset(x), 0);
        assert_int_equal(tn_storage_nbytes(x), 48);
        assert_true(tn_is_contiguous(x));
        tn_tensor *column = tn_select(x, 1, 3);
        assert_true(tn_item(tn_sum(column, NULL, 0, false, TN_DTYPE_NONE)) == 4 + 8 + 12);
        tn_fill_(column, tn_int(-1));
        assert_true(f->data[4] == -1 && f->data[12] == -1 && f->data[13] == 13);
        f->data[1] = 50;
        assert_true(tn_data_f32(x)[0] == 50);
        assert_int_equal(tn_version(x), 1);
        assert_int_equal(tn_storage_resize_(tn_storage_of(x), 400), TN_ERROR_STATE);
        tn_error_clear();
        /* no strides: contiguous; and strides of another order */
        f = make_foreign();
        f->versioned.tensor.strides = NULL;
        assert_int_equal(tn_stride(take(f, versioned), 0), 4);
        f = make_foreign();
        f->strides[0] = 1;
        f->strides[1] = 3;
        assert_false(tn_is_contiguous(take(f, versioned)));
        /* negative where nothing moves */
        f = make_foreign();
        f->shape[0] = 1;
        f->strides[0] = -4;
        assert_int_equal(tn_stride(take(f, versioned), 0), 4);
        f = make_foreign();
        f->shape[1] = 0;
        f->strides[0] = -4;
        assert_int_equal(tn_stride(take(f, versioned), 0), 1);
        /* nothing at all, and one element */
        f = make_foreign();
        f->shape[1] = 0;
        f->versioned.tensor.data = NULL;
        assert_int_equal(tn_numel(take(f, versioned)), 0);
        f = make_foreign();
        f->versioned.tensor.ndim = 0;
        f->versioned.tensor.shape = f->versioned.tensor.strides = NULL;
        assert_true(tn_item(take(f, versioned)) == 0);
        /* minor versions do not matter */
        f = make_foreign();
        f->versioned.version.minor = 99;
        assert_non_null(take(f, versioned));
        EXPECT(TN_OK);
        assert_int_equal(deletions, 0);
        tn_scope_end(scope);
        assert_int_equal(deletions, 8);
    }
    assert_int_equal(live_blocks(), blocks);
    /* no deleter */
    foreign *f = make_foreign();
    f->versioned.deleter = NULL;
    tn_scope scope = tn_scope_begin();
    assert_non_null(tn_from_dlpack(&f->versioned));
    f->versioned.tensor.ndim = 99;
    assert_null(tn_from_dlpack(&f->versioned));
    EXPECT(TN_ERROR_DIM);
    tn_scope_end(scope);
    free(f);
    assert_int_equal(live_blocks(), blocks);
}

enum { REFUSALS = 25 };

/* Spoils the array in the k-th way and returns what must come of it. */
static tn_status spoil(foreign *f, int k)
{
    tn_dlpack_tensor *array = &f->versioned.tensor;
    static int64_t huge[2] = {INT64_MAX / 2, 8};
    switch (k) {
    case 0:
        f->strides[1] = -1;
        return TN_ERROR_ARGUMENT;
    case 1:
        f->strides[0] = INT64_MIN;
        return TN_ERROR_ARGUMENT;
    case 2:
        array->device.type = 2;
        return TN_ERROR_DEVICE;
    case 3:
        array->device.type = 0;
        return TN_ERROR_DEVICE;
    case 4:
        array->dtype.lanes = 4;
        return TN_ERROR_DTYPE;
    case 5:
        array->dtype.lanes = 0;
        return TN_ERROR_DTYPE;
    case 6:
        array->dtype.code = 3; /* opaque handles */
        return TN_ERROR_DTYPE;
    case 7:
        array->dtype.bits = 128;
        return TN_ERROR_DTYPE;
    case 8:
        array->dtype = (tn_dlpack_dtype){17, 4, 1}; /* float4 */
        return TN_ERROR_DTYPE;
    case 9:
        array->dtype = (tn_dlpack_dtype){200, 0, 1};
        return TN_ERROR_DTYPE;
    case 10:
        array->ndim = 65;
        return TN_ERROR_DIM;
    case 11:
        array->ndim = -1;
        return TN_ERROR_DIM;
    case 12:
        array->shape = NULL;
        return TN_ERROR_NULL;
    case 13:
        array->data = NULL;
        return TN_ERROR_NULL;
    case 14:
        f->shape[0] = -3;
        return TN_ERROR_ARGUMENT;
    case 15:
        array->shape = huge;
        return TN_ERROR_OVERFLOW;
    case 16:
        array->shape = huge;
        array->strides = NULL;
        return TN_ERROR_OVERFLOW;
    case 17:
        f->strides[0] = INT64_MAX / 2;
        return TN_ERROR_OVERFLOW;
    case 18:
        f->shape[0] = INT64_MAX / 8;
        return TN_ERROR_OVERFLOW;
    case 19:
        array->byte_offset = 2;
        return TN_ERROR_ARGUMENT;
    case 20:
        array->data = (char *)f->data + 1;
        return TN_ERROR_ARGUMENT;
    case 21:
        array->byte_offset = UINT64_MAX;
        return TN_ERROR_OVERFLOW;
    case 22:
        array->byte_offset = UINT64_MAX - (uintptr_t)f->data - 15;
        return TN_ERROR_OVERFLOW;
    case 23:
        f->shape[1] = 0;
        f->shape[0] = INT64_MAX;
        array->strides = NULL;
        return TN_ERROR_OVERFLOW;
    default: /* everything at once */
        array->device.type = 2;
        array->ndim = -9;
        array->data = NULL;
        return TN_ERROR_DEVICE;
    }
}

static void refused_imports(void **state)
{
    (void)state;
    int64_t blocks = live_blocks();
    for (int versioned = 0; versioned < 2; versioned++) {
        deletions = 0;
        for (int k = 0; k < REFUSALS; k++) {
            foreign *f = make_foreign();
            tn_status status = spoil(f, k);
            tn_tensor *x = take(f, versioned);
            if (x || tn_error_code() != status)
                fail_msg("case %d: %s (%s), needed %s", k, tn_status_name(tn_error_code()), tn_error_message(),
                         tn_status_name(status));
            EXPECT(status);
            if (deletions != k + 1)
                fail_msg("case %d: %d calls of deleters, needed %d", k, deletions, k + 1);
        }
        TN_FAIL(TN_ERROR_STATE, "earlier dlpack", "pending");
        assert_null(take(make_foreign(), versioned));
        EXPECT(TN_ERROR_STATE);
        assert_int_equal(deletions, REFUSALS + 1);
    }
    /* of another major version nothing is read but the deleter */
    foreign *f = make_foreign();
    f->versioned.version.major = 2;
    memset(&f->versioned.flags, 0xff, sizeof f->versioned - offsetof(tn_dlpack, flags));
    deletions = 0;
    assert_null(tn_from_dlpack(&f->versioned));
    EXPECT(TN_ERROR_ARGUMENT);
    assert_int_equal(deletions, 1);
    assert_null(tn_from_dlpack(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_from_dlpack_unversioned(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(live_blocks(), blocks);
}

static void read_only(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    deletions = 0;
    foreign *f = make_foreign();
    f->versioned.flags = TN_DLPACK_READ_ONLY;
    tn_tensor *x = tn_from_dlpack(&f->versioned);
    assert_true(tn_data_f32(x)[5] == 5);
    assert_int_equal(tn_zero_(x), TN_ERROR_STATE);
    tn_error_clear();
    assert_null(tn_data_mut(tn_t(x)));
    tn_error_clear();
    assert_true(f->data[5] == 5);
    tn_dlpack *out = tn_to_dlpack(tn_t(x));
    assert_int_equal(out->flags, TN_DLPACK_READ_ONLY);
    assert_null(tn_to_dlpack_unversioned(x));
    EXPECT(TN_ERROR_STATE);
    tn_scope_end(scope);
    assert_int_equal(deletions, 0); /* out lives */
    assert_true(((float *)out->tensor.data)[5] == 5);
    out->deleter(out);
    assert_int_equal(deletions, 1);
}

static void *end_elsewhere(void *managed)
{
    tn_dlpack *given = managed;
    given->deleter(given);
    return NULL;
}

static void exports(void **state)
{
    (void)state;
    int64_t blocks = live_blocks();
    const int64_t lengths[] = {8, 800};
    for (int i = 0; i < 2; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *base = tn_arange(tn_int(0), tn_int(3 * lengths[i]), tn_int(1), TN_FLOAT64);
        tn_tensor *x = tn_t(tn_narrow(tn_view(base, LIST(3, lengths[i]), 2), 1, 2, 3)); /* [3, 3] */
        tn_dlpack *given = tn_to_dlpack(x);
        assert_int_equal(given->version.major, 1);
        assert_int_equal(given->flags, 0);
        assert_int_equal(given->tensor.device.type, TN_DLPACK_CPU);
        assert_int_equal(given->tensor.device.index, 0);
        assert_int_equal(given->tensor.ndim, 2);
        assert_true(given->tensor.dtype.code == TN_DLPACK_FLOAT && given->tensor.dtype.bits == 64 &&
                    given->tensor.dtype.lanes == 1);
        assert_true(given->tensor.shape[0] == 3 && given->tensor.shape[1] == 3);
        assert_true(given->tensor.strides[0] == 1 && given->tensor.strides[1] == lengths[i]);
        assert_int_equal(given->tensor.byte_offset, 0);
        assert_ptr_equal(given->tensor.data, tn_data(x)); /* the offset is in it */
        tn_storage *storage = tn_storage_of(x);
        assert_false(tn_storage_is_resizable(storage));
        tn_dlpack_unversioned *second = tn_to_dlpack_unversioned(x);
        second->deleter(second);
        assert_false(tn_storage_is_resizable(storage));
        assert_int_equal(tn_storage_resize_(storage, 1 << 20), TN_ERROR_STATE);
        tn_error_clear();
        tn_tensor *one = tn_ones(LIST(70, 70), 2, TN_FLOAT64);
        assert_int_equal(tn_add_out(base, one, one), TN_ERROR_STATE);
        tn_error_clear();
        assert_int_equal(tn_ndim(base), 1);
        double *data = given->tensor.data;
        data[lengths[i]] = -5;
        assert_true(tn_item(tn_select(tn_select(x, 0, 0), 0, 1)) == -5);
        tn_fill_(x, tn_int(8));
        assert_true(data[2 * lengths[i] + 2] == 8);
        /* back in: a second tensor around the same memory */
        tn_tensor *shared = tn_from_dlpack(tn_to_dlpack(x));
        assert_ptr_equal(tn_data(shared), tn_data(x));
        assert_false(tn_is_same_storage(shared, x));
        assert_int_equal(tn_version(shared), 0);
        assert_int_equal(tn_stride(shared, 1), lengths[i]);
        assert_int_equal(tn_storage_nbytes(shared), 8 * (2 * lengths[i] + 3));
        tn_add_(shared, shared);
        assert_true(data[0] == 16);
        tn_tensor *named = tn_call("from_shared", &(tn_value){.kind = TN_VALUE_TENSOR, .as = {.tensor = x}}, 1);
        assert_ptr_equal(tn_data(named), tn_data(x));
        assert_false(tn_is_same_storage(named, shared));
        EXPECT(TN_OK);
        tn_retain(storage);
        tn_scope_end(scope);
        assert_true(data[1] == 16); /* the memory lives on */
        given->deleter(given);
        assert_true(tn_storage_is_resizable(storage));
        tn_release(&storage);
        assert_int_equal(live_blocks(), blocks);
    }
    /* the last holder is another thread */
    tn_scope scope = tn_scope_begin();
    tn_dlpack *given = tn_to_dlpack(tn_ones(LIST(5), 1, TN_FLOAT32));
    tn_scope_end(scope);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, given), 0);
    pthread_join(thread, NULL);
    assert_int_equal(live_blocks(), blocks);
}

static void every_dtype(void **state)
{
    (void)state;
    for (int dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = tn_empty(LIST(2, 1, 3), 3, (tn_dtype)dtype);
        memset(tn_data_mut(x), 0, tn_storage_nbytes(x));
        tn_dlpack *given = tn_to_dlpack(x);
        bool none = !given;
        if (none) {
            assert_null(tn_to_dlpack_unversioned(x));
            EXPECT(TN_ERROR_DTYPE);
            assert_true(strstr(tn_dtype_name((tn_dtype)dtype), "bits") || tn_dtype_name((tn_dtype)dtype)[0] == 'q');
        } else {
            assert_int_equal(given->tensor.dtype.bits, 8 * tn_itemsize((tn_dtype)dtype));
            tn_tensor *back = tn_from_dlpack(given);
            assert_int_equal(tn_tensor_dtype(back), dtype);
            assert_ptr_equal(tn_data(back), tn_data(x));
            back = tn_from_dlpack_unversioned(tn_to_dlpack_unversioned(x));
            assert_int_equal(tn_tensor_dtype(back), dtype);
            assert_int_equal(tn_stride(back, 1), 3);
        }
        EXPECT(TN_OK);
        tn_scope_end(scope);
    }
}

static void refused_exports(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *meta = tn_empty_on(LIST(2), 1, TN_FLOAT32, (tn_device){TN_META, 0});
    assert_null(tn_to_dlpack(meta));
    EXPECT(TN_ERROR_DEVICE);
    assert_null(tn_to_dlpack(NULL));
    EXPECT(TN_ERROR_NULL);
    assert_null(tn_to_dlpack_unversioned(NULL));
    EXPECT(TN_ERROR_NULL);
    tn_tensor *x = tn_zeros(LIST(2), 1, TN_FLOAT32), *z = tn_zeros(LIST(2), 1, TN_COMPLEX64);
    tn_tensor *lazy[] = {tn_conj(z), tn_zero_tensor(LIST(2), 1, TN_FLOAT32)};
    for (int i = 0; i < 2; i++) {
        assert_null(tn_to_dlpack(lazy[i]));
        EXPECT(TN_ERROR_STATE);
        assert_null(tn_to_dlpack_unversioned(lazy[i]));
        EXPECT(TN_ERROR_STATE);
    }
    assert_non_null(tn_from_dlpack(tn_to_dlpack(tn_resolve_conj(lazy[0]))));
    TN_FAIL(TN_ERROR_STATE, "earlier dlpack", "pending");
    assert_null(tn_to_dlpack(x));
    EXPECT(TN_ERROR_STATE);
    tn_dlpack *given = tn_to_dlpack(tn_zeros(LIST(3, 0), 2, TN_FLOAT32));
    assert_null(given->tensor.data);
    given->deleter(given);
    given = tn_to_dlpack(tn_zeros(NULL, 0, TN_FLOAT32));
    assert_int_equal(given->tensor.ndim, 0);
    given->deleter(given);
    assert_true(tn_storage_is_resizable(tn_storage_of(x)));
    EXPECT(TN_OK);
    tn_scope_end(scope);
}

/* Each allocation of the way out and in fails once, and from there on. */
static void failing_allocations(void **state)
{
    (void)state;
    const int64_t ones[7] = {1, 1, 1, 1, 1, 1, 1};
    int64_t first = live_blocks();
    for (int way = 0; way < 4; way++) {
        bool done = false;
        for (int k = 0; !done; k++) {
            for (int for_good = 0; for_good < 2; for_good++) {
                tn_scope scope = tn_scope_begin();
                tn_tensor *x = tn_ones(ones, way == 1 ? 7 : 2, TN_FLOAT32);
                int64_t blocks = live_blocks(), uses = tn_use_count(x->storage);
                deletions = 0;
                tn_fail_allocation(k, for_good);
                tn_dlpack *given = way < 2 ? tn_to_dlpack(x) : NULL;
                tn_dlpack_unversioned *old = way == 2 ? tn_to_dlpack_unversioned(x) : NULL;
                tn_tensor *back = given ? tn_from_dlpack(given) : old ? tn_from_dlpack_unversioned(old) : NULL;
                if (way == 3)
                    back = tn_from_dlpack(&make_foreign()->versioned);
                bool failed = tn_allocation_failed();
                tn_fail_allocation(-1, false);
                done = !failed;
                assert_int_equal(deletions, way == 3 && failed);
                if (failed) {
                    assert_null(back);
                    EXPECT(TN_ERROR_MEMORY);
                    assert_int_equal(live_blocks(), blocks);
                    assert_int_equal(tn_use_count(x->storage), uses);
                    assert_int_equal(x->storage->pins, 0);
                }
                EXPECT(TN_OK);
                tn_scope_end(scope);
                assert_int_equal(deletions, way == 3);
                assert_int_equal(live_blocks(), first);
            }
        }
    }
}

enum { THREADS = 4, ROUNDS = 5000 };

static void *give_and_end(void *tensor)
{
    for (int i = 0; i < ROUNDS; i++) {
        tn_scope scope = tn_scope_begin();
        tn_dlpack *given = tn_to_dlpack(tensor);
        tn_tensor *shared = tn_from_dlpack(tn_to_dlpack(tensor));
        if (!shared || *(float *)given->tensor.data != 1)
            return tensor;
        given->deleter(given);
        tn_scope_end(scope);
    }
    return NULL;
}

/* A tensor may be given away by several threads at once, as it may be read. */
static void threads(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_ones(LIST(3), 1, TN_FLOAT32);
    pthread_t each[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&each[i], NULL, give_and_end, x), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(each[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(x->storage->pins, 0);
    assert_int_equal(tn_use_count(x->storage), 1);
    tn_scope_end(scope);
}

/* Structs of random numbers, sound and not: each is deleted once, and what is refused says why. */
static void random_structs(void **state)
{
    (void)state;
    uint64_t draw = 4;
#define DRAW(n) ((int64_t)((draw = draw * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33) % (n))
    const int64_t numbers[] = {0, 1, 2, 3, 4, 8, -1, INT64_MAX, INT64_MIN, INT64_C(1) << 62, INT64_C(1) << 32, 7};
    enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
    int taken = 0, turns = 50000;
    deletions = 0;
    for (int turn = 0; turn < turns; turn++) {
        foreign *f = make_foreign();
        tn_dlpack_tensor *array = &f->versioned.tensor;
        int64_t likely = DRAW(4) == 0 ? NUMBERS : 6; /* wild numbers now and then */
        array->ndim = (int32_t)DRAW(4);
        for (int d = 0; d < 3; d++) {
            f->shape[d] = numbers[DRAW(likely)];
            f->strides[d] = numbers[DRAW(likely)];
        }
        array->byte_offset = (uint64_t)numbers[DRAW(likely)];
        if (DRAW(3) == 0)
            array->strides = NULL;
        if (DRAW(4) == 0) {
            array->dtype.code = (uint8_t)DRAW(18);
            array->dtype.bits = (uint8_t)(8 << DRAW(5));
            array->dtype.lanes = (uint16_t)(DRAW(8) != 0);
        }
        if (DRAW(16) == 0)
            array->device.type = (int32_t)DRAW(20);
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = take(f, turn % 2);
        if ((x != NULL) != (tn_error_code() == TN_OK))
            fail_msg("turn %d: %s", turn, x ? tn_error_message() : "refused without a reason");
        taken += x != NULL;
        tn_error_clear();
        tn_scope_end(scope);
        if (deletions != turn + 1)
            fail_msg("turn %d: %d calls of deleters", turn, deletions);
    }
    assert_in_range(taken, turns / 10, turns * 9 / 10);
}

/* The same with every block from malloc and back, so that valgrind sees each one's end. */
static void without_cache(void **state)
{
    tn_set_cache_limits(0, 0);
    imports(state);
    refused_imports(state);
    read_only(state);
    exports(state);
    failing_allocations(state);
    tn_set_cache_limits((size_t)4 << 20, (size_t)256 << 20);
}

TEST_MAIN(test(imports), test(refused_imports), test(read_only), test(exports), test(every_dtype),
          test(refused_exports), test(threads), test(random_structs), test(failing_allocations), test(without_cache))
