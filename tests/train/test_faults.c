/* Every allocation failing in turn over optimizers, schedules and clipping: TN_ERROR_MEMORY, all objects as they were,
 * nothing leaked, and the same call right after does what it would have done without the failure, to the bit. */
#include "faults.h"

/* Optimizers */

static bool construct(world *w)
{
    bool all = true;
    for (int kind = 0; kind < KINDS && all; kind++)
        all = make_optimizer(kind, tn_parameters(w->net)) != NULL;
    return all;
}

static bool step(world *w)
{
    return tn_step(w->optimizer) == TN_OK;
}

static bool step_closure(world *w)
{
    return tn_step_closure(w->optimizer, closure, w) > 0;
}

static bool add_group(world *w)
{
    return tn_optimizer_add_group(w->optimizer, tn_parameters(w->extra)) == TN_OK;
}

static bool zero_grad(world *w)
{
    return tn_zero_grad(w->optimizer) == TN_OK;
}

static void after_a_step(world *w)
{
    tn_scope scope = tn_scope_begin();
    tn_step(w->optimizer);
    tn_scope_end(scope);
}

static void after_a_closure_step(world *w)
{
    tn_scope scope = tn_scope_begin();
    tn_step_closure(w->optimizer, closure, w);
    tn_scope_end(scope);
}

static const piece optimizers[] = {
    {"construct", SGD, NULL, construct, false, 0},
    {"first step of sgd", SGD, NULL, step, false, 0},
    {"first step of adam", ADAM, NULL, step, false, 0},
    {"first step of adamw", ADAMW, NULL, step, false, 0},
    {"first step of rmsprop", RMSPROP, NULL, step, false, 0},
    {"first step of rmsprop, centered", CENTERED, NULL, step, false, 0},
    {"later step of sgd", SGD, after_a_step, step, false, 0},
    {"later step of adam", ADAM, after_a_step, step, false, 0},
    {"later step of adamw", ADAMW, after_a_step, step, false, 0},
    {"later step of rmsprop", CENTERED, after_a_step, step, false, 0},
    {"closure of adam", ADAM, NULL, step_closure, true, 0}, /* gradients are the closure's */
    {"first step of lbfgs", LBFGS, NULL, step_closure, true, 0},
    {"later step of lbfgs", LBFGS, after_a_closure_step, step_closure, true, 0},
    {"first step of lbfgs, wolfe", WOLFE, NULL, step_closure, true, 0},
    {"later step of lbfgs, wolfe", WOLFE, after_a_closure_step, step_closure, true, 0},
    {"add_group of sgd", SGD, after_a_step, add_group, false, 0},
    {"add_group of adam", ADAM, NULL, add_group, false, 0},
    {"zero_grad", ADAM, NULL, zero_grad, false, 0},
};

static void optimizers_without_memory(void **state)
{
    (void)state;
    every_allocation(optimizers, sizeof optimizers / sizeof *optimizers);
}

enum { WEIGHTS = 13 };

static void copy_weights(const world *w, float to[WEIGHTS])
{
    for (int64_t i = 0; i < tn_parameter_count(w->net); to += tn_numel(tn_parameter(w->net, i++)))
        memcpy(to, tn_data(tn_parameter(w->net, i)), (size_t)tn_numel(tn_parameter(w->net, i)) * sizeof *to);
}

/* L-BFGS puts the parameters back where the step began. */
static void lbfgs_goes_back(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        for (int64_t k = 0, failed = 1; failed; k++) {
            world w;
            float before[WEIGHTS], after[WEIGHTS];
            tn_scope scope = tn_scope_begin();
            begin(&w, way & 1 ? WOLFE : LBFGS, 0);
            if (way & 2)
                after_a_closure_step(&w);
            copy_weights(&w, before);
            tn_fail_allocation(k, false);
            after_a_closure_step(&w);
            failed = tn_allocation_failed();
            tn_fail_allocation(-1, false);
            tn_error_clear();
            copy_weights(&w, after);
            if (failed != (memcmp(before, after, sizeof after) == 0))
                fail_msg("lbfgs, way %d, allocation %d: %s", way, (int)k, failed ? "moved" : "did not move");
            tn_scope_end(scope);
        }
}

/* Schedules and clipping */

static bool schedule(world *w)
{
    return make_schedule(w->number, w->optimizer) != NULL;
}

static void with_schedule(world *w)
{
    w->schedule = make_schedule(w->number, w->optimizer);
    tn_schedule_step_metric(w->schedule, 1);
}

static bool step_schedule(world *w)
{
    return tn_schedule_step_metric(w->schedule, 2) == TN_OK;
}

static void large_gradients(world *w)
{
    tn_scope scope = tn_scope_begin();
    for (int64_t i = 0; i < tn_parameter_count(w->net); i++)
        tn_mul_scalar_(tn_grad_of(tn_parameter(w->net, i)), tn_float(100));
    tn_scope_end(scope);
}

static bool clip_norm(world *w)
{
    return tn_clip_grad_norm_(w->parameters, 0.5, 2, true) > 0;
}

static bool clip_other_norm(world *w)
{
    return tn_clip_grad_norm_(w->parameters, 0.5, 3, false) > 0;
}

static bool clip_value(world *w)
{
    return tn_clip_grad_value_(w->parameters, 0.5) == TN_OK;
}

static const piece between_steps[] = {
    {"step_lr", SGD, NULL, schedule, false, 0},
    {"multi_step_lr", SGD, NULL, schedule, false, 1},
    {"exponential_lr", ADAM, NULL, schedule, false, 2},
    {"cosine_annealing_lr", ADAM, NULL, schedule, false, 3},
    {"linear_lr", ADAM, NULL, schedule, true, 4}, /* the rate is the schedule's from the moment it is made */
    {"reduce_lr_on_plateau", RMSPROP, NULL, schedule, false, 5},
    {"sequential_lr", RMSPROP, NULL, schedule, true, 6}, /* made of three */
    {"step of step_lr", SGD, with_schedule, step_schedule, false, 0},
    {"step of multi_step_lr", SGD, with_schedule, step_schedule, false, 1},
    {"step of exponential_lr", SGD, with_schedule, step_schedule, false, 2},
    {"step of cosine_annealing_lr", SGD, with_schedule, step_schedule, false, 3},
    {"step of linear_lr", SGD, with_schedule, step_schedule, false, 4},
    {"step of reduce_lr_on_plateau", SGD, with_schedule, step_schedule, false, 5},
    {"step of sequential_lr", SGD, with_schedule, step_schedule, false, 6},
    {"clip_grad_norm_", SGD, large_gradients, clip_norm, false, 0},
    {"clip_grad_norm_, p = 3", SGD, large_gradients, clip_other_norm, false, 0},
    {"clip_grad_value_", SGD, large_gradients, clip_value, false, 0},
};

static void what_comes_between_steps(void **state)
{
    (void)state;
    every_allocation(between_steps, sizeof between_steps / sizeof *between_steps);
}

TEST_MAIN(fresh(optimizers_without_memory), fresh(lbfgs_goes_back), fresh(what_comes_between_steps))
