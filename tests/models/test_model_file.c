/* The file of a trained net holds buffers too: all that PyTorch's load_state_dict asks for. */
#include <string.h>
#include <tenon/tenon.h>

#include "model_file.h"
#include "support/errors.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {test(buffers)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
