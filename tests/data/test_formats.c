/* Writing .npy and safetensors: round trips, every allocation and every file operation failing (those of CSV too),
 * checksums, deep nesting and other headers that are too large to keep as files. Reading is tested by tests/hostile and
 * tests/fuzz. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include "support/errors.h"
#include "support/scratch.h"

static char content[1 << 20];

static size_t read_back(void)
{
    FILE *file = fopen(scratch_path, "rb");
    assert_non_null(file);
    size_t bytes = fread(content, 1, sizeof content, file);
    fclose(file);
    return bytes;
}

static void put(const void *data, size_t bytes)
{
    FILE *file = fopen(scratch_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* A header with its length, and zeros for the tensors. */
static void put_safetensors(const char *header, size_t tensors)
{
    size_t bytes = strlen(header);
    char *file = calloc(bytes + 8 + tensors, 1);
    for (int i = 0; i < 4; i++)
        file[i] = (char)(bytes >> (8 * i));
    memcpy(file + 8, header, bytes);
    put(file, bytes + 8 + tensors);
    free(file);
}

static tn_tensor *sample(tn_dtype dtype)
{
    tn_tensor *x = tn_to(tn_arange(tn_int(0), tn_int(6), tn_int(1), TN_INT64), dtype);
    return tn_view(x, (int64_t[]){2, 3}, 2);
}

static bool same(tn_tensor *a, tn_tensor *b)
{
    tn_tensor *p = tn_contiguous(a), *q = tn_contiguous(b);
    return tn_tensor_dtype(a) == tn_tensor_dtype(b) && tn_ndim(a) == tn_ndim(b) && tn_numel(a) == tn_numel(b) &&
           (tn_numel(a) == 0 ||
            memcmp(tn_data(p), tn_data(q), (size_t)tn_numel(a) * tn_itemsize(tn_tensor_dtype(a))) == 0);
}

static void round_trips(void **state)
{
    (void)state;
    static const tn_dtype dtypes[] = {TN_FLOAT32, TN_FLOAT64, TN_FLOAT16, TN_BFLOAT16, TN_INT8,   TN_INT16, TN_INT32,
                                      TN_INT64,   TN_UINT8,   TN_UINT16,  TN_UINT32,   TN_UINT64, TN_BOOL};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = sample(dtypes[i]), *views[] = {x, tn_transpose(x, 0, 1), tn_select(x, 1, 1),
                                                      tn_select(tn_select(x, 0, 1), 0, 2), tn_narrow(x, 0, 1, 0)};
        for (int v = 0; v < 5; v++) {
            tn_named_tensor named[] = {{"b", views[v]}, {"a", x}};
            assert_int_equal(tn_save_safetensors(scratch_path, named, 2, NULL), TN_OK);
            tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
            assert_int_equal(tn_safetensors_count(file), 2);
            assert_string_equal(tn_safetensors_at(file, 0).name, "a");
            assert_true(same(tn_safetensors_find(file, "b"), views[v]));
            assert_null(tn_safetensors_find(file, "c"));
            if (dtypes[i] == TN_BFLOAT16)
                continue;
            assert_int_equal(tn_save_npy(views[v], scratch_path), TN_OK);
            assert_true(same(tn_load_npy(scratch_path), views[v]));
        }
        assert_int_equal(tn_error_code(), TN_OK);
        tn_scope_end(scope);
    }
}

static const tn_metadata metadata[] = {{"step", "3"}, {"who \"\\\n\x01\xc3\xa9", "\t"}};

static tn_status save_with_sum(tn_tensor *x)
{
    tn_named_tensor named[] = {{"w", x}, {"b", tn_select(x, 0, 0)}};
    return tn_save_safetensors(scratch_path, named, 2,
                               &(tn_safetensors_options){.metadata = metadata, .n_metadata = 2, .sum = true});
}

/* Every cut and every flipped bit is refused by a reader that asks for the sum. */
static void damage(void **state)
{
    (void)state;
    static const tn_safetensors_options sum = {.sum = true};
    tn_scope scope = tn_scope_begin();
    assert_int_equal(save_with_sum(sample(TN_FLOAT32)), TN_OK);
    tn_safetensors *file = tn_load_safetensors(scratch_path, &sum);
    assert_string_equal(tn_safetensors_metadata_find(file, "step"), "3");
    assert_string_equal(tn_safetensors_metadata_find(file, metadata[1].key), "\t");
    assert_int_equal(tn_safetensors_metadata_count(file), 3);
    size_t bytes = read_back();
    char *good = malloc(bytes);
    memcpy(good, content, bytes);
    for (size_t length = 0; length < bytes; length++) {
        put(good, length);
        REFUSED(tn_load_safetensors(scratch_path, &sum), TN_ERROR_DATA);
    }
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        good[bit / 8] ^= (char)(1 << bit % 8);
        put(good, bytes);
        good[bit / 8] ^= (char)(1 << bit % 8);
        if (tn_load_safetensors(scratch_path, &sum))
            fail_msg("bit %d of %d was flipped, and it loaded", (int)bit, 8 * (int)bytes);
        EXPECT(TN_ERROR_DATA);
    }
    free(good);
    tn_named_tensor named = {"w", sample(TN_FLOAT32)};
    assert_int_equal(tn_save_safetensors(scratch_path, &named, 1, NULL), TN_OK);
    assert_null(tn_load_safetensors(scratch_path, &sum));
    expect_error(TN_ERROR_DATA, "has no checksum");
    tn_scope_end(scope);
}

static struct {
    tn_file_operations real;
    int at, calls, number;
} fault;

static int64_t strike(void)
{
    return fault.calls++ == fault.at ? -fault.number : 0;
}

static int fault_open(void *context, const char *name, int flags, uint32_t mode)
{
    int64_t struck = strike();
    return struck ? (int)struck : fault.real.open(context, name, flags, mode);
}

static int64_t fault_write(void *context, int file, const void *data, size_t bytes)
{
    int64_t struck = strike();
    return struck ? struck : fault.real.write(context, file, data, bytes < 100 ? bytes : 100);
}

static int fault_fsync(void *context, int file)
{
    int64_t struck = strike();
    return struck ? (int)struck : fault.real.fsync(context, file);
}

static int fault_rename(void *context, const char *from, const char *to)
{
    int64_t struck = strike();
    return struck ? (int)struck : fault.real.rename(context, from, to);
}

/* Whatever fails, the old file stays, and the call may be made again. */
static void full_disk(void **state)
{
    (void)state;
    for (int format = 0; format < 3; format++)
        for (int at = 0, past = 0; !past; at++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *x = sample(TN_FLOAT64);
            put("old", 3);
            fault.real = tn_get_file_operations();
            tn_file_operations table = fault.real;
            table.open = fault_open;
            table.write = fault_write;
            table.fsync = fault_fsync;
            table.rename = fault_rename;
            fault.at = at;
            fault.calls = 0;
            fault.number = at % 2 ? ENOSPC : EIO;
            tn_set_file_operations(&table);
            tn_status status = format == 2 ? tn_save_csv(scratch_path, tn_feature_dataset(x), NULL)
                               : format    ? save_with_sum(x)
                                           : tn_save_npy(x, scratch_path);
            tn_error_clear();
            tn_set_file_operations(&fault.real);
            past = fault.calls <= at;
            assert_int_equal(status, past ? TN_OK : TN_ERROR_FILE);
            assert_true(past || (read_back() == 3 && memcmp(content, "old", 3) == 0));
            tn_scope_end(scope);
        }
}

static void without_memory(void **state)
{
    (void)state;
    for (int format = 0; format < 2; format++)
        for (int64_t at = 0;; at++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *x = tn_transpose(tn_expand(sample(TN_FLOAT32), (int64_t[]){2, 2, 3}, 3), 0, 1);
            int64_t before = tn_get_memory_stats().live_blocks;
            put("old", 3);
            tn_fail_allocation(at, false);
            tn_status status = format ? save_with_sum(x) : tn_save_npy(x, scratch_path);
            bool hit = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(status, hit ? TN_ERROR_MEMORY : TN_OK);
            tn_error_clear();
            assert_true(!hit || (read_back() == 3 && memcmp(content, "old", 3) == 0));
            tn_scope inner = tn_scope_begin();
            tn_scope_end(inner);
            assert_true(tn_get_memory_stats().live_blocks <= before + 2); /* scopes grow, and what select made */
            tn_scope_end(scope);
            if (!hit)
                break;
        }
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = sample(TN_FLOAT32), *meta = tn_to_device(x, (tn_device){TN_META, 0});
    tn_named_tensor twice[] = {{"a", x}, {"a", x}}, reserved = {"__metadata__", x}, latin = {"\xe9", x},
                    complex = {"c", tn_to(x, TN_COMPLEX64)}, nothing = {"m", meta}, null = {NULL, x};
    put("old", 3);
    assert_int_equal(tn_save_safetensors(scratch_path, twice, 2, NULL), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "two names are 'a'");
    assert_int_equal(tn_save_safetensors(scratch_path, &reserved, 1, NULL), TN_ERROR_ARGUMENT);
    EXPECT(TN_ERROR_ARGUMENT);
    tn_save_safetensors(scratch_path, &latin, 1, NULL);
    expect_error(TN_ERROR_ARGUMENT, "not UTF-8");
    tn_save_safetensors(scratch_path, &complex, 1, NULL);
    expect_error(TN_ERROR_DTYPE, "complex64");
    tn_save_safetensors(scratch_path, &nothing, 1, NULL);
    EXPECT(TN_ERROR_DEVICE);
    tn_save_safetensors(scratch_path, &null, 1, NULL);
    EXPECT(TN_ERROR_NULL);
    tn_save_safetensors(scratch_path, twice, 1,
                        &(tn_safetensors_options){.metadata = &(tn_metadata){"sum", ""}, .n_metadata = 1, .sum = true});
    EXPECT(TN_ERROR_ARGUMENT);
    tn_save_npy(tn_to(x, TN_BFLOAT16), scratch_path);
    expect_error(TN_ERROR_DTYPE, "bfloat16");
    tn_save_npy(meta, scratch_path);
    EXPECT(TN_ERROR_DEVICE);
    tn_save_npy(NULL, scratch_path);
    EXPECT(TN_ERROR_NULL);
    assert_true(read_back() == 3);
    assert_int_equal(tn_save_safetensors(scratch_path, NULL, 0, NULL), TN_OK);
    assert_int_equal(read_back(), 16);
    assert_memory_equal(content, "\x08\0\0\0\0\0\0\0{}      ", 16);
    tn_scope_end(scope);
}

static void headers(void **state)
{
    (void)state;
    static char text[200000];
    for (int kind = 0; kind < 3; kind++) {
        size_t used = (size_t)sprintf(text, kind == 0 ? "{\"a\":{\"x\":" : kind == 1 ? "{\"__metadata__\":" : "{");
        for (int i = 0; i < 20000; i++)
            used += (size_t)sprintf(text + used, kind == 0 ? "[" : "{\"\":");
        put_safetensors(text, 0);
        REFUSED(tn_load_safetensors(scratch_path, NULL), TN_ERROR_DATA);
    }
    size_t used = (size_t)sprintf(text, "{");
    for (int i = 0; i < 2000; i++)
        used += (size_t)sprintf(text + used, "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                                i ? "," : "", i, (i * 7) % 2000, (i * 7) % 2000 + 1);
    sprintf(text + used, "}");
    put_safetensors(text, 2000);
    tn_scope scope = tn_scope_begin();
    tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
    assert_int_equal(tn_safetensors_count(file), 2000);
    assert_non_null(tn_safetensors_find(file, "t1999"));
    tn_safetensors_at(file, 2000);
    EXPECT(TN_ERROR_INDEX);
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(round_trips),    test(damage),   test(full_disk),
                                       test(without_memory), test(refusals), test(headers)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
