/* tn_save and tn_load: PyTorch's names, round trips with buffers and views, what does not fit, and every allocation
 * failing; the module is as it was after each refusal. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/memory_files.h"
#include "support/scratch.h"

static tn_module *net(uint64_t seed)
{
    tn_module *all = tn_sequential();
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, seed);
    tn_sequential_append(all, tn_linear_module(2, 4, true, TN_FLOAT32));
    tn_sequential_append(all, tn_batch_norm1d_module(4, NULL, TN_FLOAT32));
    tn_sequential_append(all, tn_relu_module());
    tn_sequential_append(all, tn_linear_module(4, 1, true, TN_FLOAT32));
    tn_init_torch(all, &generator, true);
    tn_forward(all, tn_full((int64_t[]){3, 2}, 2, tn_float(0.5 + (double)seed), TN_FLOAT32));
    assert_int_equal(tn_error_code(), TN_OK);
    return all;
}

static tn_tensor *weight(const tn_module *module, int64_t i)
{
    int64_t parameters = tn_parameter_count(module);
    return i < parameters ? tn_parameter(module, i) : tn_buffer(module, i - parameters);
}

static int64_t weights(const tn_module *module)
{
    return tn_parameter_count(module) + tn_buffer_count(module);
}

static bool equal(const tn_module *a, const tn_module *b)
{
    bool same = weights(a) == weights(b);
    tn_scope scope = tn_scope_begin();
    for (int64_t i = 0; same && i < weights(a); i++)
        same = tn_equal(weight(a, i), weight(b, i));
    tn_scope_end(scope);
    return same;
}

static void comes_back(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *one = net(1), *two = net(2);
    static const char *const names[] = {"0.bias", "0.weight", "1.bias", "1.num_batches_tracked", "1.running_mean",
                                        "1.running_var", "1.weight", "3.bias", "3.weight"};
    assert_false(equal(one, two));
    assert_int_equal(tn_save(one, scratch_path), TN_OK);
    tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
    assert_int_equal(tn_safetensors_count(file), 9);
    for (int i = 0; i < 9; i++)
        assert_string_equal(tn_safetensors_at(file, i).name, names[i]);
    assert_string_equal(tn_safetensors_metadata_find(file, "format"), "pt");
    assert_int_equal(tn_load(two, scratch_path), TN_OK);
    assert_true(equal(one, two));
    tn_scope_end(scope);
}

/* A parameter that is a view with strides of its own. */
static tn_tensor *no_forward(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)context;
    return x;
}

static void through_views(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *rows = tn_to(tn_arange(tn_int(0), tn_int(24), tn_int(1), TN_INT64), TN_FLOAT64);
    tn_tensor *cube = tn_transpose(tn_view(rows, (int64_t[]){2, 3, 4}, 3), 0, 2);
    tn_module *module = tn_module_new(&(tn_module_kind){.name = "View", .forward = no_forward}, NULL);
    tn_register_buffer(module, "cube", cube);
    tn_register_buffer(module, "nothing", tn_zeros((int64_t[]){0, 3}, 2, TN_FLOAT32));
    tn_register_buffer(module, "scalar", tn_zeros(NULL, 0, TN_BOOL));
    assert_int_equal(tn_save(module, scratch_path), TN_OK);
    tn_tensor *before = tn_clone(rows);
    tn_zero_(rows);
    assert_int_equal(tn_load(module, scratch_path), TN_OK);
    assert_true(tn_equal(before, rows));
    tn_scope_end(scope);
}

static void refuses(tn_module *module, tn_status status, const char *part)
{
    tn_scope scope = tn_scope_begin();
    tn_module *copy = tn_module_to(module, TN_FLOAT32);
    assert_int_equal(tn_load(module, scratch_path), status);
    expect_error(status, part);
    assert_true(equal(copy, module));
    tn_scope_end(scope);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *wide = tn_mlp((int64_t[]){2, 8, 1}, 3, TN_FLOAT32);
    tn_module *narrow = tn_mlp((int64_t[]){2, 4, 1}, 3, TN_FLOAT32);
    tn_module *deep = tn_mlp((int64_t[]){2, 4, 1, 1}, 4, TN_FLOAT32);
    assert_int_equal(tn_save(narrow, scratch_path), TN_OK);
    refuses(wide, TN_ERROR_SHAPE, "has tensor '0.weight' as float32 [4, 2], needed float32 [8, 2]");
    refuses(deep, TN_ERROR_NAME, "has no tensor '4.weight', which is needed");
    assert_int_equal(tn_save(deep, scratch_path), TN_OK);
    refuses(narrow, TN_ERROR_NAME, "has tensor '4.bias', which the module does not have");
    assert_int_equal(tn_save(tn_module_to(narrow, TN_FLOAT64), scratch_path), TN_OK);
    refuses(narrow, TN_ERROR_DTYPE, "has tensor '0.weight' as float64 [4, 2], needed float32 [4, 2]");
    assert_int_equal(tn_load(narrow, "/tmp/tenon-test-none"), TN_ERROR_FILE);
    EXPECT(TN_ERROR_FILE);
    assert_int_equal(tn_load(NULL, scratch_path), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_save(narrow, NULL), TN_ERROR_NULL);
    EXPECT(TN_ERROR_NULL);
    assert_int_equal(tn_save(narrow, "/tmp/tenon-test-none/x"), TN_ERROR_FILE);
    expect_error(TN_ERROR_FILE, "save: ");
    tn_scope_end(scope);
}

static tn_tensor *unused(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)context;
    return x;
}

/* A tensor in two places is there by both names, as in state_dict, and is one again when they are read. */
static void tied(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *both = tn_module_new(&(tn_module_kind){.name = "Tied", .forward = unused}, NULL);
    tn_tensor *shared = tn_full((int64_t[]){2, 2}, 2, tn_float(3), TN_FLOAT32);
    tn_register_parameter(both, "encoder", shared);
    tn_register_parameter(both, "decoder", shared);
    assert_int_equal(tn_save(both, scratch_path), TN_OK);
    tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
    assert_int_equal(tn_safetensors_count(file), 2);
    assert_true(tn_equal(tn_safetensors_find(file, "decoder"), shared));
    tn_zero_(tn_detach(shared));
    assert_int_equal(tn_load(both, scratch_path), TN_OK);
    assert_ptr_equal(tn_named_parameter(both, "encoder"), tn_named_parameter(both, "decoder"));
    assert_true(tn_data_f32(shared)[3] == 3);
    tn_scope_end(scope);
}

/* Every bit of a saved file, flipped: it is refused, or was of no consequence (such as one of the key of the sum). */
static void damaged(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    memory_files_begin();
    tn_module *small = tn_mlp((int64_t[]){1, 2}, 2, TN_FLOAT32), *other = tn_mlp((int64_t[]){1, 2}, 2, TN_FLOAT32);
    tn_data_f32_mut(tn_parameter(small, 0))[0] = 0.75f;
    assert_int_equal(tn_save(small, "/net"), TN_OK);
    char file[2048];
    size_t bytes;
    const char *whole = memory_file("/net", &bytes);
    assert_true(bytes < sizeof file);
    memcpy(file, whole, bytes);
    int taken = 0;
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        tn_scope inner = tn_scope_begin();
        file[bit / 8] ^= (char)(1 << bit % 8);
        memory_file_put("/net", file, bytes);
        file[bit / 8] ^= (char)(1 << bit % 8);
        tn_data_f32_mut(tn_parameter(other, 0))[0] = 0;
        if (tn_load(other, "/net") == TN_OK && !equal(small, other))
            fail_msg("bit %d of byte %d was flipped, and other weights were read", (int)bit % 8, (int)bit / 8);
        taken += tn_error_code() == TN_OK;
        tn_error_clear();
        tn_scope_end(inner);
    }
    memory_files_end();
    assert_in_range(taken, 0, 24); /* "sum" has 24 bits */
    tn_scope_end(scope);
}

static void without_memory(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *one = net(1), *two = net(2), *before = net(2);
    for (int saving = 1; saving >= 0; saving--)
        for (int at = 0, hit = 1; hit; at++) {
            assert_int_equal(tn_save(one, scratch_path), TN_OK);
            int64_t blocks = tn_get_memory_stats().live_blocks;
            tn_fail_allocation(at, false);
            tn_status status = saving ? tn_save(two, scratch_path) : tn_load(two, scratch_path);
            hit = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(status, hit ? TN_ERROR_MEMORY : TN_OK);
            EXPECT(status);
            assert_int_equal(tn_get_memory_stats().live_blocks, blocks);
            if (!hit)
                continue;
            assert_true(equal(two, before));
            tn_scope inner = tn_scope_begin();
            tn_module *three = net(3);
            assert_int_equal(tn_load(three, scratch_path), TN_OK);
            assert_true(equal(three, one));
            tn_scope_end(inner);
        }
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(comes_back), test(through_views), test(what_does_not_fit), test(tied),
                                       test(damaged), test(without_memory)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
