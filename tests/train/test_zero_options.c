/* Options for which 0 is a value of PyTorch's and stands for another default here: how 0 itself is asked for. */
#include <math.h>
#include <stdio.h>
#include <tenon/tenon.h>

#include "support/errors.h"

static tn_tensor *weight;

static tn_optimizer *make(int kind)
{
    weight = tn_from_array((float[]){1, -2, 3}, (int64_t[]){3}, 1, TN_FLOAT32);
    tn_requires_grad_(weight, true);
    tn_set_grad(weight, tn_from_array((float[]){0.5F, 1, -2}, (int64_t[]){3}, 1, TN_FLOAT32));
    tn_list *all = tn_list_of(&weight, 1);
    return kind == 0   ? tn_sgd(all, NULL)
           : kind == 1 ? tn_adam(all, NULL)
           : kind == 2 ? tn_adamw(all, NULL)
           : kind == 3 ? tn_rmsprop(all, NULL)
                       : tn_lbfgs(all, NULL);
}

static tn_tensor *closure(void *context)
{
    (void)context;
    tn_set_grad(weight, NULL);
    tn_tensor *loss = tn_mse_loss(weight, tn_zeros_like(weight, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), TN_MEAN);
    tn_backward(loss);
    return loss;
}

static void optimizers(void **state)
{
    (void)state;
    static const struct {
        int kind;
        const char *option;
    } cases[] = {{0, "lr"},    {1, "lr"},  {1, "beta1"}, {1, "beta2"},          {1, "eps"},
                 {2, "lr"},    {2, "beta1"}, {2, "beta2"}, {2, "eps"},          {2, "weight_decay"}, {3, "lr"},
                 {3, "alpha"}, {3, "eps"}, {4, "lr"},    {4, "tolerance_grad"}, {4, "tolerance_change"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_scope scope = tn_scope_begin();
        tn_optimizer *optimizer = make(cases[i].kind);
        assert_true(tn_optimizer_get(optimizer, 0, cases[i].option) > 0);
        assert_int_equal(tn_optimizer_set(optimizer, -1, cases[i].option, 0), TN_OK);
        assert_true(tn_optimizer_get(optimizer, 0, cases[i].option) == 0);
        if (cases[i].kind == 4)
            tn_step_closure(optimizer, closure, NULL);
        else
            tn_step(optimizer);
        for (int k = 0; k < 3; k++)
            if (!isfinite(tn_data_f32(weight)[k]))
                fail_msg("%s of %s at 0: element %d is not finite", cases[i].option, tn_optimizer_name(optimizer), k);
        assert_int_equal(tn_error_code(), TN_OK);
        if (cases[i].option[0] == 'l')
            assert_true(tn_data_f32(weight)[0] == 1 && tn_data_f32(weight)[1] == -2);
        tn_scope_end(scope);
    }
}

/* Without decay AdamW is Adam. */
static void no_decay(void **state)
{
    (void)state;
    float moved[2];
    for (int kind = 1; kind < 3; kind++) {
        tn_scope scope = tn_scope_begin();
        tn_optimizer *optimizer = make(kind);
        tn_optimizer_set(optimizer, -1, "weight_decay", 0);
        tn_step(optimizer);
        moved[kind - 1] = tn_data_f32(weight)[2];
        tn_scope_end(scope);
    }
    assert_true(moved[0] == moved[1]);
}

/* As PyTorch 2.15 has it: ReduceLROnPlateau(SGD(lr=1), factor=0, patience=0, threshold=0, eps=0) with metrics 1, 1. */
static void plateau(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_optimizer *optimizer = make(0);
    tn_optimizer_set(optimizer, -1, "lr", 1);
    tn_schedule *rate = tn_reduce_lr_on_plateau(optimizer, &(tn_plateau_options){.patience = -1});
    assert_true(tn_schedule_get(rate, "patience") == 0 && tn_schedule_get(rate, "factor") == 0.1);
    const char *const names[] = {"factor", "threshold", "eps", "patience"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tn_schedule_set(rate, names[i], 0), TN_OK);
        assert_true(tn_schedule_get(rate, names[i]) == 0);
    }
    tn_schedule_step_metric(rate, 1);
    assert_true(tn_optimizer_get(optimizer, 0, "lr") == 1);
    tn_schedule_step_metric(rate, 1);
    assert_true(tn_optimizer_get(optimizer, 0, "lr") == 0);
    assert_int_equal(tn_schedule_set(rate, "factor", 1), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "schedule_set: factor is 1.0, needed 0 or more and below 1");
    assert_int_equal(tn_schedule_set(rate, "facto", 1), TN_ERROR_NAME);
    expect_error(TN_ERROR_NAME, "schedule_set: the schedule has no number 'facto'");
    assert_true(isnan(tn_schedule_get(rate, NULL)));
    expect_error(TN_ERROR_NULL, "schedule_get: argument 2 (name) is NULL");
    assert_true(tn_schedule_get(rate, "factor") == 0);
    tn_schedule *parts[] = {tn_exponential_lr(optimizer, 0.5), tn_exponential_lr(optimizer, 0.25)};
    tn_schedule *two = tn_sequential_lr(parts, 2, (int64_t[]){3});
    assert_true(tn_schedule_get(two, "1.gamma") == 0.25);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
}

static void norms(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((double[]){1, 3}, (int64_t[]){2, 1}, 2, TN_FLOAT64);
    tn_module *batch = tn_batch_norm1d_module(1, &(tn_batch_norm_options){.momentum = -1}, TN_FLOAT64);
    tn_tensor *y = tn_forward(batch, x);
    assert_true(fabs(tn_data_f64(y)[0] + 1) < 1e-5 && fabs(tn_data_f64(y)[1] - 1) < 1e-5);
    assert_true(tn_data_f64(tn_named_buffer(batch, "running_mean"))[0] == 0);
    batch = tn_batch_norm1d_module(1, &(tn_batch_norm_options){.eps = -1}, TN_FLOAT64);
    REFUSED(tn_forward(batch, x), TN_ERROR_ARGUMENT);
    tn_module_eval(batch);
    y = tn_forward(batch, x);
    assert_true(tn_data_f64(y)[0] == 1 && tn_data_f64(y)[1] == 3);
    tn_module *layer = tn_layer_norm_module((int64_t[]){2}, 1, &(tn_layer_norm_options){.eps = -1}, TN_FLOAT64);
    y = tn_forward(layer, tn_from_array((double[]){1, 3}, (int64_t[]){1, 2}, 2, TN_FLOAT64));
    assert_true(tn_data_f64(y)[0] == -1 && tn_data_f64(y)[1] == 1);
    REFUSED(tn_layer_norm_module((int64_t[]){2}, 1, &(tn_layer_norm_options){.eps = -2}, TN_FLOAT64),
            TN_ERROR_ARGUMENT);
    REFUSED(tn_batch_norm1d_module(1, &(tn_batch_norm_options){.momentum = NAN}, TN_FLOAT64), TN_ERROR_ARGUMENT);
    tn_scope_end(scope);
}

TEST_MAIN(test(optimizers), test(no_decay), test(plateau), test(norms))
