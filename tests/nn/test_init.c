/* Initialisations against recorded values of NumPy and PyTorch. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/golden.h"
#include "support/errors.h"
#include "support/test.h"

static const int64_t lesson_sizes[] = {2, 16, 16, 1};

static void lesson(void **state)
{
    (void)state;
    static const char *const sections[] = {"lesson_init_0.W0", "lesson_init_0.W1", "lesson_init_0.W2"};
    tn_scope scope = tn_scope_begin();
    for (int single = 0; single < 2; single++) {
        tn_default_rng rng;
        tn_default_rng_seed(&rng, 0);
        tn_module *net = tn_mlp(lesson_sizes, 4, single ? TN_FLOAT32 : TN_FLOAT64);
        int64_t version = tn_version(tn_parameter(net, 0));
        assert_int_equal(tn_init_normal(net, &rng), TN_OK);
        assert_true(tn_version(tn_parameter(net, 0)) > version);
        for (int layer = 0; layer < 3; layer++) {
            tn_tensor *weight = tn_parameter(net, 2 * layer), *bias = tn_parameter(net, 2 * layer + 1);
            int64_t n = tn_numel(weight);
            const double *expected = golden_values(sections[layer], "f64", n);
            if (!single)
                golden_check(sections[layer], "f64", tn_data_f64(weight), n);
            for (int64_t i = 0; single && i < n; i++)
                assert_true(tn_data_f32(weight)[i] == (float)expected[i]);
            for (int64_t i = 0; i < tn_numel(bias); i++)
                assert_true((single ? (double)tn_data_f32(bias)[i] : tn_data_f64(bias)[i]) == 0.0);
        }
    }
    tn_scope_end(scope);
}

/* golden.txt has the 337 parameters in order. */
static void torch_linear(void **state)
{
    (void)state;
    static const struct {
        const char *section, *type;
        bool fused;
    } recorded[] = {{"torch_linear_0.f32.fma", "f32", true},
                    {"torch_linear_0.f64.fma", "f64", true},
                    {"torch_linear_0.f32.nofma", "f32", false},
                    {"torch_linear_0.f64.nofma", "f64", false}};
    for (int k = 0; k < 4; k++) {
        bool single = recorded[k].type[1] == '3';
        char all[337 * sizeof(double)], *at = all;
        tn_scope scope = tn_scope_begin();
        tn_module *net = tn_mlp(lesson_sizes, 4, single ? TN_FLOAT32 : TN_FLOAT64);
        tn_torch_generator generator;
        tn_torch_manual_seed(&generator, 0);
        assert_int_equal(tn_init_torch(net, &generator, recorded[k].fused), TN_OK);
        for (int64_t i = 0; i < tn_parameter_count(net); i++) {
            tn_tensor *p = tn_parameter(net, i);
            size_t bytes = (size_t)tn_numel(p) * tn_itemsize(tn_tensor_dtype(p));
            memcpy(at, tn_data(p), bytes);
            at += bytes;
        }
        golden_check(recorded[k].section, recorded[k].type, all, 337);
        tn_scope_end(scope);
    }
}

/* Without bias its draws do not happen; other layers are left alone. */
static void shapes_of_nets(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_torch_generator one, two;
    tn_torch_manual_seed(&one, 9);
    tn_torch_manual_seed(&two, 9);
    tn_module *net = tn_sequential();
    tn_sequential_append(net, tn_relu_module());
    tn_sequential_append(net, tn_linear_module(3, 5, false, TN_FLOAT32));
    assert_int_equal(tn_init_torch(net, &one, true), TN_OK);
    float weight[15];
    tn_torch_linear_float32(&two, 3, 5, true, weight, NULL);
    golden_compare("weight without bias", "f32", weight, tn_data_f32(tn_parameter(net, 0)), 15);
    assert_memory_equal(&one.mt, &two.mt, sizeof one.mt);

    /* a net without Linear layers takes nothing */
    assert_int_equal(tn_init_torch(tn_relu_module(), &one, true), TN_OK);
    assert_memory_equal(&one.mt, &two.mt, sizeof one.mt);
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp(lesson_sizes, 4, TN_FLOAT32);
    tn_default_rng rng, unseeded = {0};
    tn_torch_generator generator = {0};
    tn_default_rng_seed(&rng, 0);
    tn_init_normal(NULL, &rng);
    expect_error(TN_ERROR_NULL, "init_normal: argument 1 (module)");
    tn_init_normal(net, NULL);
    expect_error(TN_ERROR_NULL, "init_normal: argument 2 (rng)");
    tn_init_torch(net, NULL, true);
    expect_error(TN_ERROR_NULL, "init_torch: argument 2 (generator)");
    tn_init_normal(net, &unseeded);
    expect_error(TN_ERROR_STATE, "init_normal");
    tn_init_torch(net, &generator, false);
    expect_error(TN_ERROR_STATE, "init_torch");

    /* a parameter that was resized through `out` stops it before anything is drawn */
    tn_default_rng before = rng;
    tn_tensor *last = tn_parameter(net, 4);
    tn_grad_mode mode = tn_no_grad();
    assert_int_equal(tn_neg_out(last, tn_ones((int64_t[]){3}, 1, TN_FLOAT32)), TN_OK);
    tn_grad_mode_restore(mode);
    tn_init_normal(net, &rng);
    expect_error(TN_ERROR_STATE, "resized");
    assert_memory_equal(&rng, &before, sizeof rng);
    assert_true(tn_data_f32(tn_parameter(net, 0))[0] == 0.0f);

    tn_set_default_device((tn_device){TN_META, 0});
    tn_module *shapes = tn_mlp(lesson_sizes, 4, TN_FLOAT32);
    tn_set_default_device((tn_device){TN_CPU, 0});
    assert_int_equal(tn_parameter_numel(shapes), 337);
    tn_init_normal(shapes, &rng);
    expect_error(TN_ERROR_DEVICE, "meta");
    assert_memory_equal(&rng, &before, sizeof rng);
    tn_scope_end(scope);
}

TEST_MAIN(test(lesson), test(torch_linear), test(shapes_of_nets), test(refusals))
