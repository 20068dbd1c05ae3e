/* Schedules: their state by name, put back bit for bit; refusals. And what clipping and L-BFGS refuse or undo. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/scratch.h"
#include "support/test.h"

static tn_optimizer *make_optimizer(tn_tensor **w)
{
    const int64_t n = 3;
    *w = tn_ones(&n, 1, TN_FLOAT64);
    tn_requires_grad_(*w, true);
    return tn_sgd(tn_list_of(w, 1), &(tn_sgd_options){.lr = 0.5});
}

static tn_schedule *make(tn_optimizer *o, int kind)
{
    tn_schedule *parts[2];
    switch (kind) {
    case 0:
        return tn_step_lr(o, 2, 0.5);
    case 1:
        return tn_multi_step_lr(o, (int64_t[]){2, 5}, 2, 0.5);
    case 2:
        return tn_exponential_lr(o, 0.9);
    case 3:
        return tn_cosine_annealing_lr(o, 7, 0.01);
    case 4:
        return tn_linear_lr(o, 0.1, 1, 6);
    case 5:
        parts[0] = tn_linear_lr(o, 0.1, 1, 4);
        parts[1] = tn_cosine_annealing_lr(o, 9, 0);
        return tn_sequential_lr(parts, 2, (int64_t[]){4});
    default:
        return tn_reduce_lr_on_plateau(o, &(tn_plateau_options){.patience = 1, .cooldown = 1});
    }
}

/* A schedule that takes another's state at any step goes on as that one. */
static void state_goes_over(void **state)
{
    static const char *const names[] = {"step",   "multi_step", "exponential", "cosine_annealing",
                                        "linear", "sequential", "plateau"};
    (void)state;
    for (int kind = 0; kind < 7; kind++)
        for (int at = 0; at < 12; at++) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *w[2];
            tn_optimizer *a = make_optimizer(&w[0]), *b = make_optimizer(&w[1]);
            tn_schedule *from = make(a, kind), *to = make(b, kind);
            assert_string_equal(tn_schedule_name(from), names[kind]);
            double numbers[64];
            for (int i = 0; i < at; i++)
                tn_schedule_step_metric(from, 1 + 0.1 * i);
            assert_int_equal(tn_schedule_get_state(from, numbers), TN_OK);
            assert_int_equal(tn_schedule_set_state(to, numbers, tn_schedule_state_size(to)), TN_OK);
            tn_optimizer_set(b, 0, "lr", tn_optimizer_get(a, 0, "lr"));
            for (int i = at; i < 20; i++) {
                tn_schedule_step_metric(from, 1 + 0.1 * i);
                tn_schedule_step_metric(to, 1 + 0.1 * i);
                assert_true(tn_optimizer_get(a, 0, "lr") == tn_optimizer_get(b, 0, "lr"));
            }
            assert_int_equal(tn_scope_end(scope), TN_OK);
        }
}

static void names_and_refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *w;
    char name[32];
    double numbers[16];
    tn_optimizer *o = make_optimizer(&w);
    tn_schedule *steps = tn_step_lr(o, 2, 0.5);
    assert_int_equal(tn_schedule_state_size(steps), 4);
    tn_schedule_state_name(steps, 3, name, sizeof name);
    assert_string_equal(name, "base_lr.0");
    tn_schedule_get_state(steps, numbers);
    numbers[1] = 0.5;
    assert_int_equal(tn_schedule_set_state(steps, numbers, 4), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "schedule_set_state: step_size is 0.5, needed a whole number, 1 or more");
    assert_int_equal(tn_schedule_set_state(steps, numbers, 3), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "schedule_set_state: 3 numbers, needed 4");
    assert_null(tn_step_lr(o, 0, 0.5));
    expect_error(TN_ERROR_ARGUMENT, "step_lr: step_size is 0.0, needed a whole number, 1 or more");
    assert_null(tn_linear_lr(o, 0, 1, 5));
    expect_error(TN_ERROR_ARGUMENT, "linear_lr: start_factor is 0.0, needed above 0, at most 1");
    assert_null(tn_exponential_lr(NULL, 0.5));
    expect_error(TN_ERROR_NULL, "exponential_lr: argument 1 (optimizer) is NULL");
    tn_schedule *plateau = tn_reduce_lr_on_plateau(o, NULL);
    assert_int_equal(tn_schedule_step(plateau), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "schedule_step: a plateau needs its metric: schedule_step_metric");
    assert_null(tn_sequential_lr(&plateau, 1, NULL));
    expect_error(TN_ERROR_ARGUMENT, "sequential_lr: schedule 0 is plateau, which can't be part of a sequence");
    assert_true(tn_optimizer_get(o, 0, "lr") == 0.5);
    assert_true(isnan(tn_clip_grad_norm_(tn_list_of(&w, 1), -1, 2, false)));
    expect_error(TN_ERROR_ARGUMENT, "clip_grad_norm_: max_norm is -1.0, needed 0 or more");
    const int64_t n = 3;
    tn_set_grad(w, tn_full(&n, 1, tn_float(INFINITY), TN_FLOAT64));
    assert_true(isnan(tn_clip_grad_norm_(tn_list_of(&w, 1), 1, 2, true)));
    expect_error(TN_ERROR_STATE, "clip_grad_norm_: the norm of the gradients is inf, needed a finite one");
    assert_int_equal(tn_step(tn_lbfgs(tn_list_of(&w, 1), NULL)), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "step: lbfgs asks for the loss itself, needed step_closure");
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

/* PyTorch's recursion from the rate down to 0 ends an ulp below: such a rate steps, is saved and loaded. */
static void below_zero(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *w, *v;
    tn_optimizer *o = make_optimizer(&w), *other = make_optimizer(&v);
    tn_optimizer_set(o, -1, "lr", 0.0023253136409422913);
    tn_schedule *linear = tn_linear_lr(o, 0.8035583172793405, 0, 18);
    for (int t = 0; t < 18; t++)
        tn_schedule_step(linear);
    const double rate = tn_optimizer_get(o, 0, "lr");
    assert_true(rate < 0 && rate > -1e-15);
    const int64_t n = 3;
    tn_set_grad(w, tn_full(&n, 1, tn_int(1), TN_FLOAT64));
    assert_int_equal(tn_step(o), TN_OK);
    assert_int_equal(tn_optimizer_set(o, 0, "momentum", 0.25), TN_OK);
    assert_int_equal(tn_checkpoint_save(scratch_path, &(tn_checkpoint){.optimizer = o}), TN_OK);
    assert_int_equal(tn_checkpoint_load(scratch_path, &(tn_checkpoint){.optimizer = other}), TN_OK);
    assert_true(tn_optimizer_get(other, 0, "lr") == rate && tn_optimizer_get(other, 0, "momentum") == 0.25);
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

typedef struct job {
    tn_tensor *w;
    int calls, fails_at;
} job;

static tn_tensor *closure(void *context)
{
    job *j = context;
    if (++j->calls == j->fails_at) {
        TN_FAIL(TN_ERROR_DATA, "closure", "no more");
        return NULL;
    }
    tn_set_grad(j->w, NULL);
    tn_tensor *loss = tn_sum(tn_exp(tn_mul(j->w, j->w)), NULL, 0, false, TN_DTYPE_NONE);
    tn_backward(loss);
    return loss;
}

/* A closure that fails at any call leaves the parameters where the step began. */
static void lbfgs_is_undone(void **state)
{
    (void)state;
    for (int wolfe = 0; wolfe < 2; wolfe++)
        for (int fails_at = 1; fails_at < 6; fails_at++) {
            tn_scope scope = tn_scope_begin();
            job j = {.fails_at = fails_at};
            make_optimizer(&j.w);
            tn_optimizer *o = tn_lbfgs(tn_list_of(&j.w, 1), &(tn_lbfgs_options){.lr = 0.1, .strong_wolfe = wolfe != 0});
            const double loss = tn_step_closure(o, closure, &j);
            if (j.calls >= fails_at) {
                assert_true(isnan(loss));
                expect_error(TN_ERROR_DATA, "closure: no more");
                assert_true(tn_data_f64(j.w)[0] == 1);
            }
            j.fails_at = 0;
            assert_true(tn_step_closure(o, closure, &j) <= 3 * exp(1) * (1 + 1e-12));
            assert_true(tn_data_f64(j.w)[0] < 1);
            assert_int_equal(tn_scope_end(scope), TN_OK);
        }
}

/* The modules of activations are their operators, in copies too. */
static void activation_modules(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_array((const double[]){-2, -0.5, 0.25, 3}, (int64_t[]){2, 2}, 2, TN_FLOAT64);
    tn_module *modules[] = {tn_leaky_relu_module(0.3), tn_gelu_module(true), tn_softplus_module(2, 1.5),
                            tn_softmax_module(-1), tn_log_softmax_module(0)};
    tn_tensor *wanted[] = {tn_leaky_relu(x, 0.3), tn_gelu(x, true), tn_softplus_beta(x, 2, 1.5), tn_softmax(x, -1),
                           tn_log_softmax(x, 0)};
    static const char *const names[] = {"LeakyReLU", "GELU", "Softplus", "Softmax", "LogSoftmax"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(tn_module_name(modules[i]), names[i]);
        assert_true(tn_equal(tn_forward(modules[i], x), wanted[i]));
        assert_true(tn_equal(tn_forward(tn_module_to(modules[i], TN_FLOAT32), x), wanted[i]));
    }
    assert_int_equal(tn_scope_end(scope), TN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test(state_goes_over), test(names_and_refusals), test(below_zero),
                                       test(lbfgs_is_undone), test(activation_modules)};
    return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
