/* Modules that move where they stand, and copies on another device: dtypes, meta and back, tied weights, gradients,
 * what is refused, and every allocation failing, after which nothing has changed. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static const tn_device cpu = {TN_CPU, 0}, meta = {TN_META, 0};

static tn_tensor *decode(tn_module *self, tn_tensor *x, void *context)
{
    (void)context;
    return tn_linear(tn_forward(tn_child(self, 0), x), tn_named_parameter(self, "decoder"), NULL);
}

/* A module of the user's whose decoder is the table of its embedding, a BatchNorm1d and a plain Linear beside it. */
static tn_module *tied(void)
{
    tn_module *table = tn_embedding_module(5, 3, NULL, TN_FLOAT32);
    tn_module *both = tn_module_new(&(tn_module_kind){.name = "Tied", .forward = decode}, NULL);
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 1);
    tn_init_normal_(tn_parameter(table, 0), 0, 1, &g);
    tn_register_parameter(both, "decoder", tn_parameter(table, 0));
    tn_register_module(both, "table", table);
    tn_register_module(both, "norm", tn_batch_norm1d_module(3, NULL, TN_FLOAT32));
    tn_tensor *frozen = tn_ones((int64_t[]){2}, 1, TN_FLOAT32);
    tn_register_parameter(both, "frozen", frozen);
    tn_requires_grad_(frozen, false);
    tn_module_eval(both);
    return both;
}

static tn_tensor *indices(void)
{
    return tn_from_array((int64_t[]){4, 0, 4}, (int64_t[]){3}, 1, TN_INT64);
}

/* One tensor, two names, one place among the parameters. */
static void tied_once(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tied();
    assert_int_equal(tn_parameter_count(net), 5);
    assert_int_equal(tn_list_size(tn_parameters(net)), 4);
    assert_int_equal(tn_parameter_numel(net), 15 + 2 + 3 + 3);
    tn_optimizer *sgd = tn_sgd(tn_parameters(net), &(tn_sgd_options){.lr = 1});
    assert_int_equal(tn_error_code(), TN_OK);
    tn_backward(tn_sum(tn_forward(net, indices()), NULL, 0, false, TN_DTYPE_NONE));
    tn_tensor *before = tn_clone(tn_detach(tn_parameter(net, 0)));
    assert_int_equal(tn_step(sgd), TN_OK);
    tn_tensor *expected = tn_sub(before, tn_grad_of(tn_parameter(net, 0)));
    assert_true(tn_equal(tn_parameter(net, 0), expected));
    assert_ptr_equal(tn_named_parameter(net, "decoder"), tn_named_parameter(net, "table.weight"));
    tn_scope_end(scope);
}

static void to_dtype(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tied();
    tn_tensor *y = tn_forward(net, indices()), *decoder = tn_parameter(net, 0);
    tn_backward(tn_sum(y, NULL, 0, false, TN_DTYPE_NONE));
    tn_tensor *values = tn_clone(tn_detach(decoder)), *gradient = tn_clone(tn_grad_of(decoder));
    assert_int_equal(tn_module_to_(net, TN_FLOAT64), TN_OK);
    assert_ptr_equal(tn_named_parameter(net, "table.weight"), decoder);
    assert_int_equal(tn_tensor_dtype(decoder), TN_FLOAT64);
    assert_true(tn_equal(tn_to(tn_detach(decoder), TN_FLOAT32), values));
    assert_int_equal(tn_tensor_dtype(tn_grad_of(decoder)), TN_FLOAT64);
    assert_true(tn_equal(tn_to(tn_grad_of(decoder), TN_FLOAT32), gradient));
    assert_true(tn_requires_grad(decoder) && tn_is_leaf(decoder));
    assert_false(tn_requires_grad(tn_named_parameter(net, "frozen")));
    assert_int_equal(tn_tensor_dtype(tn_named_buffer(net, "norm.running_mean")), TN_FLOAT64);
    assert_int_equal(tn_tensor_dtype(tn_named_buffer(net, "norm.num_batches_tracked")), TN_INT64);
    assert_false(tn_module_is_training(net));
    tn_tensor *wide = tn_forward(net, indices());
    assert_int_equal(tn_tensor_dtype(wide), TN_FLOAT64);
    assert_true(tn_allclose(tn_to(wide, TN_FLOAT32), y, 1e-5, 1e-6, false));
    const tn_tensor *storage = decoder;
    const void *data = tn_data(storage);
    assert_int_equal(tn_module_to_(net, TN_FLOAT64), TN_OK); /* nothing to do */
    assert_ptr_equal(tn_data(storage), data);
    tn_tensor *optimized = tn_parameter(net, 0);
    tn_optimizer *adam = tn_adam(tn_parameters(net), NULL);
    assert_int_equal(tn_step(adam), TN_OK);
    assert_false(tn_equal(tn_to(tn_detach(optimized), TN_FLOAT32), values));
    tn_scope_end(scope);
}

static void to_meta_and_back(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tied();
    tn_tensor *old = tn_parameter(net, 0);
    tn_backward(tn_sum(tn_forward(net, indices()), NULL, 0, false, TN_DTYPE_NONE));
    assert_int_equal(tn_module_to_device_(net, cpu), TN_OK); /* is there already */
    assert_ptr_equal(tn_parameter(net, 0), old);
    assert_int_equal(tn_module_to_device_(net, meta), TN_OK);
    tn_tensor *there = tn_parameter(net, 0);
    assert_ptr_not_equal(there, old);
    assert_int_equal(tn_tensor_device(old).type, TN_CPU);
    assert_int_equal(tn_tensor_device(there).type, TN_META);
    assert_ptr_equal(tn_named_parameter(net, "table.weight"), there);
    assert_true(tn_requires_grad(there) && tn_grad_of(there));
    assert_int_equal(tn_tensor_device(tn_named_buffer(net, "norm.running_var")).type, TN_META);
    tn_tensor *y = tn_forward(net, tn_to_device(indices(), meta));
    assert_int_equal(tn_size(y, 1), 5);
    assert_int_equal(tn_module_to_(net, TN_FLOAT64), TN_OK); /* works there too */
    assert_int_equal(tn_tensor_dtype(there), TN_FLOAT64);

    assert_int_equal(tn_module_to_device_(net, cpu), TN_ERROR_DEVICE);
    expect_error(TN_ERROR_DEVICE, "module_to_device_: decoder: the tensor is on meta");
    assert_ptr_equal(tn_parameter(net, 0), there);
    assert_int_equal(tn_module_to_empty_(net, cpu), TN_OK);
    tn_tensor *here = tn_parameter(net, 0);
    assert_int_equal(tn_tensor_device(here).type, TN_CPU);
    assert_ptr_equal(tn_named_parameter(net, "table.weight"), here);
    assert_true(tn_requires_grad(here) && tn_is_leaf(here) && !tn_grad_of(here));
    assert_false(tn_requires_grad(tn_named_parameter(net, "frozen")));
    assert_int_equal(tn_tensor_dtype(tn_named_buffer(net, "norm.num_batches_tracked")), TN_INT64);
    assert_int_equal(tn_size(here, 0), 5);
    assert_non_null(tn_data_f64_mut(here));
    tn_scope_end(scope);
}

static void copies(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((int64_t[]){2, 3, 1}, 3, TN_FLOAT64);
    tn_requires_grad_(tn_parameter(net, 1), false);
    tn_module *shapes = tn_module_to_device(net, meta), *same = tn_module_to_device(net, cpu);
    assert_int_equal(tn_tensor_device(tn_parameter(shapes, 0)).type, TN_META);
    assert_true(tn_requires_grad(tn_parameter(shapes, 0)) && !tn_requires_grad(tn_parameter(shapes, 1)));
    assert_int_equal(tn_tensor_device(tn_parameter(net, 0)).type, TN_CPU);
    assert_true(tn_equal(tn_parameter(same, 0), tn_parameter(net, 0)));
    assert_false(tn_is_same_storage(tn_parameter(same, 0), tn_parameter(net, 0)));
    assert_null(tn_module_to_device(shapes, cpu));
    expect_error(TN_ERROR_DEVICE, "module_to_device: the tensor is on meta");
    assert_null(tn_module_to_device(tied(), meta));
    expect_error(TN_ERROR_NOT_IMPLEMENTED, "Tied is a module of the user's, which is not copied: needed tn_module_to_");
    tn_scope_end(scope);
}

/* All layers have shapes there, in training too. */
static void runs_on_meta(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 1);
    tn_module *net = tn_sequential();
    tn_sequential_append(net, tn_embedding_module(9, 4, &(tn_embedding_options){.pad = true, .max_norm = 1},
                                                  TN_FLOAT32));
    tn_sequential_append(net, tn_flatten_module(1, -1));
    tn_sequential_append(net, tn_batch_norm1d_module(8, &(tn_batch_norm_options){.cumulative = true}, TN_FLOAT32));
    tn_sequential_append(net, tn_layer_norm_module((int64_t[]){8}, 1, NULL, TN_FLOAT32));
    tn_sequential_append(net, tn_dropout_module(0.5, &g));
    tn_sequential_append(net, tn_linear_module(8, 3, true, TN_FLOAT32));
    tn_module *loss = tn_cross_entropy_module(NULL);
    assert_int_equal(tn_module_to_device_(net, meta), TN_OK);
    tn_tensor *y = tn_forward(net, tn_empty_on((int64_t[]){5, 2}, 2, TN_INT64, meta));
    assert_string_equal(tn_error_message(), "");
    assert_true(tn_ndim(y) == 2 && tn_size(y, 0) == 5 && tn_size(y, 1) == 3);
    tn_tensor *value = tn_forward_loss(loss, y, tn_empty_on((int64_t[]){5}, 1, TN_INT64, meta));
    assert_int_equal(tn_ndim(value), 0);
    assert_int_equal(tn_backward(value), TN_OK);
    assert_int_equal(tn_tensor_device(tn_grad_of(tn_parameter(net, 0))).type, TN_META);
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tied();
    tn_tensor *weight = tn_parameter(net, 0);
    assert_int_equal(tn_module_to_(net, TN_INT64), TN_ERROR_DTYPE);
    expect_error(TN_ERROR_DTYPE, "module_to_: dtype is int64, needed float32 or float64");
    assert_int_equal(tn_module_to_(NULL, TN_FLOAT32), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "module_to_: argument 1 (module) is NULL");
    assert_int_equal(tn_module_to_device_(net, tn_device_from_name("cuda:0")), TN_ERROR_DEVICE);
    expect_error(TN_ERROR_DEVICE, "cuda:0");
    assert_int_equal(tn_module_to_empty_(net, tn_device_from_name("cuda:0")), TN_ERROR_DEVICE);
    expect_error(TN_ERROR_DEVICE, "module_to_empty_: ");
    assert_null(tn_module_to_device(net, tn_device_from_name("cuda:0")));
    expect_error(TN_ERROR_DEVICE, "cuda:0");
    assert_int_equal(tn_module_to_device_(NULL, meta), TN_ERROR_NULL);
    assert_int_equal(tn_module_to_empty_(net, cpu), TN_ERROR_NULL); /* pending: nothing happens */
    expect_error(TN_ERROR_NULL, "module_to_device_: argument 1 (module) is NULL");
    assert_ptr_equal(tn_parameter(net, 0), weight);
    assert_int_equal(tn_module_to_(tn_relu_module(), TN_FLOAT64), TN_OK);
    tn_scope_end(scope);
}

static void without_memory(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++)
        for (int64_t at = 0, hit = 1; hit; at++) {
            tn_scope scope = tn_scope_begin();
            tn_module *net = tied();
            tn_backward(tn_sum(tn_forward(net, indices()), NULL, 0, false, TN_DTYPE_NONE));
            const tn_tensor *weight = tn_parameter(net, 0);
            const void *data = tn_data(weight);
            tn_tensor *gradient = tn_grad_of(weight), *mean = tn_named_buffer(net, "norm.running_mean");
            tn_fail_allocation(at, false);
            const tn_status status = which == 0   ? tn_module_to_(net, TN_FLOAT64)
                                     : which == 1 ? tn_module_to_device_(net, meta)
                                                  : tn_module_to_empty_(net, cpu);
            hit = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            assert_int_equal(status, hit ? TN_ERROR_MEMORY : TN_OK);
            EXPECT(status);
            if (hit && (tn_parameter(net, 0) != weight || tn_data(weight) != data || tn_grad_of(weight) != gradient ||
                        tn_tensor_dtype(mean) != TN_FLOAT32 || tn_named_buffer(net, "norm.running_mean") != mean))
                fail_msg("move %d, allocation %d: something has changed", which, (int)at);
            tn_scope_end(scope);
        }
}

TEST_MAIN(test(tied_once), test(to_dtype), test(to_meta_and_back), test(copies), test(runs_on_meta),
          test(refusals), test(without_memory))
