/* The file of a trained net holds buffers too, all that PyTorch's load_state_dict asks for, and shows any damage. */
#include <string.h>
#include <tenon/tenon.h>

#include "model_file.h"
#include "support/errors.h"
#include "support/memory_files.h"
#include "support/scratch.h"

static tn_module *normed(uint64_t seed)
{
    tn_torch_generator g;
    tn_torch_manual_seed(&g, seed);
    tn_module *net = tn_sequential();
    tn_sequential_append(net, tn_linear_module(2, 3, true, TN_FLOAT32));
    tn_sequential_append(net, tn_batch_norm1d_module(3, NULL, TN_FLOAT32));
    tn_sequential_append(net, tn_linear_module(3, 1, true, TN_FLOAT32));
    tn_init_torch(net, &g, true);
    tn_forward(net, tn_full((int64_t[]){4, 2}, 2, tn_float(1.5), TN_FLOAT32));
    return net;
}

static void buffers(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const model saved = {.shape = {.inputs = 2, .outputs = 1, .hidden = {.size = {3}, .count = 1}},
                         .dtype = TN_FLOAT32, .net = normed(1)};
    tn_module *other = normed(2);
    model_save(&saved, scratch_path);
    assert_string_equal(tn_error_message(), "");
    tn_safetensors *file = tn_load_safetensors(scratch_path, NULL);
    assert_int_equal(tn_safetensors_count(file), 9);
    assert_true(tn_equal(tn_safetensors_find(file, "1.running_mean"), tn_buffer(saved.net, 0)));
    assert_int_equal(tn_item_i64(tn_safetensors_find(file, "1.num_batches_tracked")), 1);
    assert_false(tn_equal(tn_buffer(other, 0), tn_buffer(saved.net, 0)));
    assert_int_equal(tn_load(other, scratch_path), TN_OK);
    for (int64_t i = 0; i < 3; i++)
        assert_true(tn_equal(tn_buffer(other, i), tn_buffer(saved.net, i)));
    tn_scope_end(scope);
}

static bool equal(const model *a, const model *b)
{
    return tn_equal(tn_parameter(a->net, 0), tn_parameter(b->net, 0)) && a->task == b->task &&
           a->classes == b->classes && a->shape.activation == b->shape.activation && tn_equal(a->mean, b->mean) &&
           tn_equal(a->scale, b->scale) && strcmp(a->label, b->label) == 0 &&
           strcmp(a->columns[0], b->columns[0]) == 0 && strcmp(a->class_names[1], b->class_names[1]) == 0;
}

/* Every bit of a file, flipped: it is refused, or all that it says is read as it was. */
static void damaged(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    memory_files_begin();
    const char *classes[] = {"no", "yes"}, *columns[] = {"width"};
    const int64_t one = 1;
    const model saved = {.shape = {.inputs = 1, .outputs = 1, .activation = 2},
                         .dtype = TN_FLOAT32,
                         .net = tn_mlp((int64_t[]){1, 1}, 2, TN_FLOAT32),
                         .label = "kind",
                         .mean = tn_full(&one, 1, tn_float(0.5), TN_FLOAT32),
                         .scale = tn_full(&one, 1, tn_float(2), TN_FLOAT32),
                         .classes = 2,
                         .class_names = classes,
                         .columns = columns};
    char file[4096];
    size_t bytes;
    model_save(&saved, "/net");
    assert_string_equal(tn_error_message(), "");
    const char *whole = memory_file("/net", &bytes);
    assert_true(bytes < sizeof file);
    memcpy(file, whole, bytes);
    int taken = 0;
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        tn_scope inner = tn_scope_begin();
        model found;
        file[bit / 8] ^= (char)(1 << bit % 8);
        memory_file_put("/net", file, bytes);
        file[bit / 8] ^= (char)(1 << bit % 8);
        model_load(&found, "/net");
        if (tn_error_code() == TN_OK) {
            taken++;
            if (!equal(&saved, &found))
                fail_msg("bit %d of byte %d was flipped, and another net was read", (int)bit % 8, (int)bit / 8);
            model_free(&found);
        }
        tn_error_clear();
        tn_scope_end(inner);
    }
    memory_files_end();
    assert_in_range(taken, 0, 24); /* the key "sum" has 24 bits */
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(buffers), test(damaged)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
