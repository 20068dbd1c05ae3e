/* Layers beside Linear: train and eval, buffers, user-defined modules, settings of normalisations and dropout. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

static void expect_values(const tn_tensor *x, const double *expected, double tolerance)
{
    assert_non_null(x);
    for (int64_t i = 0; i < tn_numel(x); i++)
        if (!(fabs(tn_data_f64(x)[i] - expected[i]) <= tolerance))
            fail_msg("element %d is %.17g, needed %.17g", (int)i, tn_data_f64(x)[i], expected[i]);
}

/* torch.manual_seed(0), then torch.nn.Dropout(0.3)(torch.ones(10)). */
static void dropout(void **state)
{
    (void)state;
    static const int kept[] = {0, 0, 1, 0, 1, 0, 1, 1, 1, 1};
    tn_scope scope = tn_scope_begin();
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 0);
    tn_module *layer = tn_dropout_module(0.3, &g);
    tn_tensor *x = tn_ones((int64_t[]){10}, 1, TN_FLOAT64), *y = tn_forward(layer, x);
    for (int i = 0; i < 10; i++)
        assert_true(tn_data_f64(y)[i] == (kept[i] ? 1 / 0.7 : 0));
    assert_int_equal(tn_module_eval(layer), TN_OK);
    assert_ptr_equal(tn_forward(layer, x), x);
    assert_null(tn_dropout_module(1.5, &g));
    expect_error(TN_ERROR_ARGUMENT, "dropout_module: p is 1.5, needed 0 to 1");
    tn_scope_end(scope);
}

/* Two features; values from torch.nn.BatchNorm1d(2) in float64. */
static void batch_norm(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *layer = tn_batch_norm1d_module(2, NULL, TN_FLOAT64);
    assert_int_equal(tn_parameter_count(layer), 2);
    assert_int_equal(tn_buffer_count(layer), 3);
    char name[32];
    tn_buffer_name(layer, 2, name, sizeof name);
    assert_string_equal(name, "num_batches_tracked");
    tn_tensor *x = tn_from_array((double[]){1, 2, 3, 5, 8, 13}, (int64_t[]){3, 2}, 2, TN_FLOAT64);
    const double mean[] = {4, 20.0 / 3}, var[] = {(9 + 1 + 16) / 3.0, 0};
    double var1 = 0;
    for (int i = 0; i < 3; i++)
        var1 += (tn_data_f64(x)[2 * i + 1] - mean[1]) * (tn_data_f64(x)[2 * i + 1] - mean[1]) / 3;
    double expected[6];
    for (int i = 0; i < 6; i++)
        expected[i] = (tn_data_f64(x)[i] - mean[i % 2]) / sqrt((i % 2 ? var1 : var[0]) + 1e-5);
    expect_values(tn_forward(layer, x), expected, 1e-12);
    expect_values(tn_named_buffer(layer, "running_mean"), (double[]){0.4, 2.0 / 3}, 1e-12);
    expect_values(tn_named_buffer(layer, "running_var"), (double[]){0.9 + 0.1 * 13, 0.9 + 0.1 * var1 * 1.5}, 1e-12);
    assert_int_equal(tn_data_i64(tn_named_buffer(layer, "num_batches_tracked"))[0], 1);
    tn_module_eval(layer);
    assert_false(tn_module_is_training(layer));
    for (int i = 0; i < 6; i++)
        expected[i] = (tn_data_f64(x)[i] - (i % 2 ? 2.0 / 3 : 0.4)) /
                      sqrt((i % 2 ? 0.9 + 0.15 * var1 : 2.2) + 1e-5);
    expect_values(tn_forward(layer, x), expected, 1e-12);
    tn_module_train(layer, true);
    assert_null(tn_forward(layer, tn_narrow(x, 0, 0, 1)));
    expect_error(TN_ERROR_SHAPE, "batch_norm1d: 1 value a feature in training, needed 2 or more for a variance");
    tn_scope_end(scope);
}

static void layer_norm(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *layer = tn_layer_norm_module((int64_t[]){3}, 1, NULL, TN_FLOAT64);
    tn_tensor *x = tn_from_array((double[]){1, 2, 6, 0, 0, 3}, (int64_t[]){2, 3}, 2, TN_FLOAT64);
    const double s0 = sqrt(14.0 / 3 + 1e-5), s1 = sqrt(2 + 1e-5);
    expect_values(tn_forward(layer, x), (double[]){-2 / s0, -1 / s0, 3 / s0, -1 / s1, -1 / s1, 2 / s1}, 1e-12);
    assert_null(tn_forward(layer, tn_t(x)));
    expect_error(TN_ERROR_SHAPE, "layer_norm: the input is [3, 2], needed the last dims [3]");
    tn_scope_end(scope);
}

static void lookups(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *table = tn_embedding_module(4, 2, NULL, TN_FLOAT64);
    for (int i = 0; i < 8; i++)
        tn_data_f64_mut(tn_parameter(table, 0))[i] = i;
    tn_tensor *x = tn_from_array((int64_t[]){3, 0, 1, 1}, (int64_t[]){2, 2}, 2, TN_INT64), *y = tn_forward(table, x);
    assert_int_equal(tn_ndim(y), 3);
    expect_values(y, (double[]){6, 7, 0, 1, 2, 3, 2, 3}, 0);
    assert_true(tn_requires_grad(y));
    tn_tensor *flat = tn_forward(tn_flatten_module(1, -1), y);
    assert_int_equal(tn_size(flat, 1), 4);
    tn_scope_end(scope);
}

/* cumulative: each batch counts alike; without running statistics eval takes the batch's. */
static void batch_norm_options(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *layer = tn_batch_norm1d_module(1, &(tn_batch_norm_options){.cumulative = true, .no_bias = true},
                                              TN_FLOAT64);
    assert_int_equal(tn_parameter_count(layer), 1);
    const double batches[][2] = {{0, 2}, {4, 8}, {-3, 0}};
    for (int i = 0; i < 3; i++)
        tn_forward(layer, tn_from_array(batches[i], (int64_t[]){2, 1}, 2, TN_FLOAT64));
    expect_values(tn_named_buffer(layer, "running_mean"), (double[]){(1 + 6 - 1.5) / 3}, 1e-12);
    expect_values(tn_named_buffer(layer, "running_var"), (double[]){(2 + 8 + 4.5) / 3}, 1e-12);
    tn_tensor *empty = tn_forward(layer, tn_zeros((int64_t[]){0, 1}, 2, TN_FLOAT64));
    assert_int_equal(tn_numel(empty), 0);
    assert_int_equal(tn_item_i64(tn_named_buffer(layer, "num_batches_tracked")), 4);
    expect_values(tn_named_buffer(layer, "running_mean"), (double[]){(1 + 6 - 1.5) / 3}, 1e-12);
    tn_module *copy = tn_module_to(layer, TN_FLOAT32);
    tn_module_to_(copy, TN_FLOAT64);
    tn_forward(copy, tn_from_array(batches[0], (int64_t[]){2, 1}, 2, TN_FLOAT64));
    expect_values(tn_named_buffer(copy, "running_mean"), (double[]){(float)(5.5 / 3) * 0.8 + 0.2}, 1e-6);

    layer = tn_batch_norm1d_module(1, &(tn_batch_norm_options){.no_running_stats = true}, TN_FLOAT64);
    assert_int_equal(tn_buffer_count(layer), 0);
    tn_module_eval(layer);
    tn_tensor *x = tn_from_array(batches[0], (int64_t[]){2, 1}, 2, TN_FLOAT64);
    const double one = 1 / sqrt(1 + 1e-5);
    expect_values(tn_forward(layer, x), (double[]){-one, one}, 1e-12);
    assert_null(tn_forward(layer, tn_to(x, TN_FLOAT32)));
    expect_error(TN_ERROR_DTYPE, "batch_norm1d: the input is float32, the module float64: needed the same");
    layer = tn_layer_norm_module((int64_t[]){1}, 1, &(tn_layer_norm_options){.no_affine = true}, TN_FLOAT64);
    assert_int_equal(tn_parameter_count(layer), 0);
    assert_null(tn_forward(layer, tn_to(x, TN_INT64)));
    expect_error(TN_ERROR_DTYPE, "layer_norm: the input is int64, needed floats");
    layer = tn_layer_norm_module((int64_t[]){1}, 1, &(tn_layer_norm_options){.no_bias = true}, TN_FLOAT64);
    assert_int_equal(tn_parameter_count(layer), 1);
    tn_scope_end(scope);
}

/* The row of padding is read and gets no gradient; long rows are shortened where they are looked up. */
static void embedding_options(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator g;
    tn_torch_manual_seed(&g, 0);
    tn_module *table = tn_embedding_module(3, 2, &(tn_embedding_options){.pad = true, .padding_idx = -2}, TN_FLOAT64);
    assert_int_equal(tn_init_torch(table, &g, true), TN_OK);
    tn_tensor *weight = tn_parameter(table, 0);
    assert_true(tn_data_f64(weight)[2] == 0 && tn_data_f64(weight)[3] == 0 && tn_data_f64(weight)[0] != 0);
    tn_data_f64_mut(weight)[2] = 5;
    tn_tensor *x = tn_from_array((int32_t[]){1, 0, 1, 0}, (int64_t[]){4}, 1, TN_INT32), *y = tn_forward(table, x);
    assert_true(tn_data_f64(y)[0] == 5);
    tn_backward(tn_sum(y, NULL, 0, false, TN_DTYPE_NONE));
    expect_values(tn_grad_of(weight), (double[]){2, 2, 0, 0, 0, 0}, 0);

    table = tn_embedding_module(3, 2, &(tn_embedding_options){.max_norm = 1}, TN_FLOAT64);
    weight = tn_parameter(table, 0);
    for (int i = 0; i < 6; i++)
        tn_data_f64_mut(weight)[i] = (double[]){3, 4, 0.3, 0.4, 6, 8}[i];
    y = tn_forward(table, x);
    const double scale = 1 / (5 + 1e-7);
    expect_values(y, (double[]){0.3, 0.4, 3 * scale, 4 * scale, 0.3, 0.4, 3 * scale, 4 * scale}, 1e-16);
    expect_values(weight, (double[]){3 * scale, 4 * scale, 0.3, 0.4, 6, 8}, 1e-16);
    assert_null(tn_forward(table, tn_from_array((int64_t[]){2, 3}, (int64_t[]){2}, 1, TN_INT64)));
    EXPECT(TN_ERROR_INDEX);
    assert_true(tn_data_f64(weight)[5] == 8); /* nothing has changed */
    assert_null(tn_embedding_module(3, 2, &(tn_embedding_options){.pad = true, .padding_idx = 3}, TN_FLOAT64));
    expect_error(TN_ERROR_INDEX, "embedding_module: padding_idx is 3, there are 3 embeddings");
    assert_null(tn_embedding_module(3, 2, &(tn_embedding_options){.max_norm = -1}, TN_FLOAT64));
    expect_error(TN_ERROR_ARGUMENT, "embedding_module: max_norm is -1.0, needed 0 or more");
    tn_module *drop = tn_dropout_module(0.5, &g);
    assert_null(tn_forward(drop, x));
    expect_error(TN_ERROR_DTYPE, "dropout: the input is int32, needed floats");
    tn_scope_end(scope);
}

static tn_tensor *residual(tn_module *self, tn_tensor *x, void *context)
{
    ++*(int *)context;
    return tn_add(x, tn_forward(tn_child(self, 0), x));
}

static tn_tensor *silent(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)x, (void)context;
    return NULL;
}

static void user_modules(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    int calls = 0;
    tn_module *block = tn_module_new(&(tn_module_kind){.name = "Residual", .forward = residual}, &calls);
    assert_int_equal(tn_register_module(block, "inner", tn_linear_module(3, 3, true, TN_FLOAT64)), TN_OK);
    tn_tensor *scale = tn_ones((int64_t[]){3}, 1, TN_FLOAT64);
    assert_int_equal(tn_register_parameter(block, "scale", scale), TN_OK);
    assert_true(tn_requires_grad(scale));
    tn_module *net = tn_sequential();
    tn_sequential_append(net, block);
    static const char *const names[] = {"0.scale", "0.inner.weight", "0.inner.bias"};
    for (int i = 0; i < 3; i++) {
        char name[40];
        tn_parameter_name(net, i, name, sizeof name);
        assert_string_equal(name, names[i]);
    }
    assert_string_equal(tn_child_name(block, 0), "inner");
    assert_string_equal(tn_module_name(block), "Residual");
    tn_tensor *y = tn_forward(net, tn_ones((int64_t[]){2, 3}, 2, TN_FLOAT64));
    expect_values(y, (double[]){1, 1, 1, 1, 1, 1}, 0);
    assert_int_equal(calls, 1);

    tn_register_parameter(block, "scale", scale);
    expect_error(TN_ERROR_NAME, "register_parameter: the module has a tensor 'scale' already");
    tn_register_buffer(block, "a.b", scale);
    expect_error(TN_ERROR_NAME, "register_buffer: the name 'a.b' is a path, needed 1 to 63 characters without a dot");
    tn_register_module(net, "x", tn_relu_module());
    expect_error(TN_ERROR_ARGUMENT, "register_module: the module is a Sequential, needed one of tn_module_new");
    tn_register_module(block, "outer", net);
    expect_error(TN_ERROR_ARGUMENT, "register_module: the child contains the Residual, or is it");
    assert_null(tn_module_to(net, TN_FLOAT32));
    expect_error(TN_ERROR_NOT_IMPLEMENTED, "module_to: Residual is a module of the user's");
    tn_module *quiet = tn_module_new(&(tn_module_kind){.name = "Quiet", .forward = silent}, NULL);
    assert_null(tn_forward(quiet, y));
    expect_error(TN_ERROR_STATE, "Quiet: forward gave no tensor and raised no error");
    tn_scope_end(scope);
}

TEST_MAIN(test(dropout), test(batch_norm), test(layer_norm), test(lookups), test(batch_norm_options),
          test(embedding_options), test(user_modules))
