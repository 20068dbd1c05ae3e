/* The lesson's forward pass from data to verdict, through the public headers: agreement with NumPy, the float32 gap,
 * and the bits of PyTorch 2.15's wheel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/golden.h"
#include "support/test.h"

static tn_module *lesson_net(tn_dtype dtype)
{
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 0);
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, dtype);
    assert_int_equal(tn_init_normal(net, &rng), TN_OK);
    return net;
}

static tn_tensor *lesson_points(tn_dtype dtype)
{
    return tn_dataset_x(tn_make_moons(200, 0.2, 0, dtype));
}

static tn_tensor *recorded_outputs(void)
{
    return tn_from_array(golden_values("lesson_forward_f64.approx_1e-15", "f64", 200), (int64_t[]){200, 1}, 2,
                         TN_FLOAT64);
}

static void float64_agrees_with_numpy(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_gap gap;
    tn_tensor *out = tn_sigmoid(tn_forward(lesson_net(TN_FLOAT64), lesson_points(TN_FLOAT64)));
    assert_int_equal(tn_measure_gap(out, recorded_outputs(), &gap), TN_OK);
    if (!(gap.abs <= 1e-15))
        fail_msg("largest difference %a at %d", gap.abs, (int)gap.index);
    assert_int_equal(tn_assert_close(out, recorded_outputs(), NULL), TN_OK);
    tn_scope_end(scope);
}

static void float32_gap(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_gap gap;
    tn_tensor *out = tn_sigmoid(tn_forward(lesson_net(TN_FLOAT32), lesson_points(TN_FLOAT32)));
    assert_int_equal(tn_measure_gap(out, recorded_outputs(), &gap), TN_OK);
    if (!(gap.abs >= 4e-8 && gap.abs <= 7e-8))
        fail_msg("largest gap %.17g at %d", gap.abs, (int)gap.index);
    tn_scope_end(scope);
}

/* 200 logits and 200 outputs, behind a comment. */
static void read_recorded(float values[400])
{
    char line[256];
    int n = 0;
    FILE *file = fopen(TENON_TEST_DATA "/lesson_torch_2.15.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        char *at = line, *end;
        for (float value = strtof(at, &end); end != at && n < 400; value = strtof(at, &end)) {
            values[n++] = value;
            at = end;
        }
    }
    fclose(file);
    assert_int_equal(n, 400);
}

static void float32_like_torch(void **state)
{
    (void)state;
    float recorded[400];
    read_recorded(recorded);
    tn_scope scope = tn_scope_begin();
    tn_module *net = lesson_net(TN_FLOAT32);
    tn_tensor *x = lesson_points(TN_FLOAT32);
    for (int i = 0; i < 3; i++) {
        x = tn_linear_reference(x, tn_parameter(net, 2 * i), tn_parameter(net, 2 * i + 1), TN_ORDER_MKL);
        if (i < 2)
            x = tn_relu(x);
    }
    tn_tensor *out = tn_sigmoid_reference(x, TN_ORDER_MKL);
    assert_string_equal(tn_error_message(), "");
    golden_compare("logits like torch", "f32", recorded, tn_data_f32(x), 200);
    golden_compare("outputs like torch", "f32", recorded + 200, tn_data_f32(out), 200);
    tn_gap gap;
    assert_int_equal(tn_measure_gap(out, recorded_outputs(), &gap), TN_OK);
    assert_int_equal(gap.index, 80);
    assert_true(gap.abs > 5.85e-8 && gap.abs < 5.95e-8);
    tn_scope_end(scope);
}

/* What the lesson prints about comparing across dtypes. */
static void assert_close_on_dtypes(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *single = tn_sigmoid(tn_forward(lesson_net(TN_FLOAT32), lesson_points(TN_FLOAT32)));
    assert_int_equal(tn_assert_close(single, recorded_outputs(), NULL), TN_ERROR_NOT_CLOSE);
    assert_non_null(
        strstr(tn_error_message(), "The values for attribute 'dtype' do not match: torch.float32 != torch.float64."));
    tn_error_clear();
    assert_int_equal(tn_assert_close(single, recorded_outputs(), &(tn_assert_close_options){.ignore_dtype = true}),
                     TN_OK);
    tn_scope_end(scope);
}

/* The moons in batches give the outputs of the whole. */
static void batches_give_the_same(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(200, 0.2, 0, TN_FLOAT64);
    tn_module *net = lesson_net(TN_FLOAT64);
    tn_tensor *whole = tn_sigmoid(tn_forward(net, tn_dataset_x(moons)));
    tn_loader *loader = tn_loader_new(moons, &(tn_loader_options){.batch_size = 32});
    int64_t seen = 0;
    for (tn_batch b; tn_loader_next(loader, &b);) {
        int64_t rows = tn_size(b.x, 0);
        assert_true(tn_allclose(tn_sigmoid(tn_forward(net, b.x)), tn_narrow(whole, 0, seen, rows), 0.0, 1e-15, false));
        seen += rows;
    }
    assert_int_equal(seen, 200);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

TEST_MAIN(test(float64_agrees_with_numpy), test(float32_gap), test(float32_like_torch), test(assert_close_on_dtypes),
          test(batches_give_the_same))
