/* Optimizers against the formulas of torch.optim written out in double; options by name; what is refused. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

enum { STEPS = 25, N = 3 };

static const double start[N] = {1.0, -2.0, 0.5};

/* A gradient that changes from step to step. */
static double gradient(int i, double w, int step)
{
    return 0.5 * w + sin(i + 0.7 * step);
}

typedef struct reference {
    double w[N], m[N], v[N], top[N];
    int step;
} reference;

static void sgd_reference(reference *r, const tn_sgd_options *o)
{
    r->step++;
    for (int i = 0; i < N; i++) {
        double g = gradient(i, r->w[i], r->step);
        g = (o->maximize ? -g : g) + o->weight_decay * r->w[i];
        if (o->momentum != 0) {
            r->m[i] = r->step == 1 ? g : o->momentum * r->m[i] + (1 - o->dampening) * g;
            g = o->nesterov ? g + o->momentum * r->m[i] : r->m[i];
        }
        r->w[i] -= o->lr * g;
    }
}

static void adam_reference(reference *r, const tn_adam_options *o, bool decoupled, double decay)
{
    const double beta1 = o->beta1 != 0 ? o->beta1 : 0.9, beta2 = o->beta2 != 0 ? o->beta2 : 0.999;
    r->step++;
    for (int i = 0; i < N; i++) {
        double g = gradient(i, r->w[i], r->step);
        g = o->maximize ? -g : g;
        if (decoupled)
            r->w[i] *= 1 - o->lr * decay;
        else
            g += decay * r->w[i];
        r->m[i] = beta1 * r->m[i] + (1 - beta1) * g;
        r->v[i] = beta2 * r->v[i] + (1 - beta2) * g * g;
        r->top[i] = fmax(r->top[i], r->v[i]);
        double root = sqrt(o->amsgrad ? r->top[i] : r->v[i]) / sqrt(1 - pow(beta2, r->step)) + 1e-8;
        r->w[i] -= o->lr / (1 - pow(beta1, r->step)) * r->m[i] / root;
    }
}

/* Runs the optimizer beside the reference. */
static void compare(tn_optimizer *optimizer, tn_tensor *w, reference *r, void (*advance)(reference *, const void *),
                    const void *options)
{
    for (int step = 1; step <= STEPS; step++) {
        double g[N];
        for (int i = 0; i < N; i++)
            g[i] = gradient(i, tn_data_f64(w)[i], step);
        tn_scope scope = tn_scope_begin();
        assert_int_equal(tn_set_grad(w, tn_from_array(g, (int64_t[]){N}, 1, TN_FLOAT64)), TN_OK);
        assert_int_equal(tn_step(optimizer), TN_OK);
        tn_scope_end(scope);
        advance(r, options);
        for (int i = 0; i < N; i++)
            if (!(fabs(tn_data_f64(w)[i] - r->w[i]) <= 1e-12 * (1 + fabs(r->w[i]))))
                fail_msg("step %d, element %d: %.17g, needed %.17g", step, i, tn_data_f64(w)[i], r->w[i]);
    }
    assert_int_equal(tn_zero_grad(optimizer), TN_OK);
    assert_null(tn_grad_of(w));
}

static tn_tensor *weights(reference *r)
{
    memset(r, 0, sizeof *r);
    memcpy(r->w, start, sizeof start);
    tn_tensor *w = tn_from_array(start, (int64_t[]){N}, 1, TN_FLOAT64);
    tn_requires_grad_(w, true);
    return w;
}

static void advance_sgd(reference *r, const void *options)
{
    sgd_reference(r, options);
}

static void advance_adam(reference *r, const void *options)
{
    const tn_adam_options *o = options;
    adam_reference(r, o, false, o->weight_decay);
}

static void advance_adamw(reference *r, const void *options)
{
    const tn_adam_options *o = options;
    adam_reference(r, o, true, o->weight_decay != 0 ? o->weight_decay : 1e-2);
}

static void formulas(void **state)
{
    (void)state;
    static const tn_sgd_options sgd[] = {
        {.lr = 0.1}, {.lr = 0.1, .momentum = 0.9}, {.lr = 0.05, .momentum = 0.8, .weight_decay = 0.1},
        {.lr = 0.1, .momentum = 0.9, .dampening = 0.5}, {.lr = 0.05, .momentum = 0.8, .nesterov = true},
        {.lr = 0.01, .maximize = true}};
    static const tn_adam_options adam[] = {
        {.lr = 0.1}, {.lr = 0.3, .amsgrad = true}, {.lr = 0.1, .weight_decay = 0.5}, {.lr = 0.1, .beta1 = 0.5},
        {.lr = 0.02, .maximize = true}};
    reference r;
    tn_scope scope = tn_scope_begin();
    for (size_t i = 0; i < sizeof sgd / sizeof *sgd; i++) {
        tn_tensor *w = weights(&r);
        compare(tn_sgd(tn_list_of(&w, 1), &sgd[i]), w, &r, advance_sgd, &sgd[i]);
    }
    for (size_t i = 0; i < sizeof adam / sizeof *adam; i++) {
        tn_tensor *w = weights(&r);
        compare(tn_adam(tn_list_of(&w, 1), &adam[i]), w, &r, advance_adam, &adam[i]);
        w = weights(&r);
        compare(tn_adamw(tn_list_of(&w, 1), &adam[i]), w, &r, advance_adamw, &adam[i]);
    }
    tn_scope_end(scope);
}

static void options_and_groups(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    reference r;
    tn_tensor *a = weights(&r), *b = weights(&r);
    tn_optimizer *sgd = tn_sgd(tn_list_of(&a, 1), &(tn_sgd_options){.lr = 0.5});
    assert_int_equal(tn_optimizer_add_group(sgd, tn_list_of(&b, 1)), TN_OK);
    assert_int_equal(tn_optimizer_group_count(sgd), 2);
    assert_int_equal(tn_optimizer_set(sgd, 1, "lr", 0), TN_OK);
    assert_true(tn_optimizer_get(sgd, 0, "lr") == 0.5 && tn_optimizer_get(sgd, 1, "lr") == 0);
    tn_tensor *ones = tn_ones((int64_t[]){N}, 1, TN_FLOAT64);
    tn_set_grad(a, ones);
    tn_set_grad(b, ones);
    assert_int_equal(tn_step(sgd), TN_OK);
    assert_true(tn_data_f64(a)[0] == 0.5 && tn_data_f64(b)[0] == 1);

    tn_optimizer_set(sgd, 0, "betas", 1);
    expect_error(TN_ERROR_NAME, "optimizer_set: the optimizer has no option 'betas'");
    tn_optimizer_set(sgd, 2, "lr", 1);
    expect_error(TN_ERROR_INDEX, "optimizer_set: there is no group 2: the optimizer has 2");
    tn_optimizer_set(sgd, -1, "lr", -1);
    expect_error(TN_ERROR_ARGUMENT, "optimizer_set: lr is -1.0, needed a finite number, 0 or more");
    assert_true(tn_optimizer_get(sgd, 0, "lr") == 0.5);
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    reference r;
    tn_tensor *w = weights(&r), *twice[] = {w, w}, *result = tn_mul(w, w);
    assert_null(tn_sgd(NULL, NULL));
    expect_error(TN_ERROR_NULL, "sgd: argument 1 (parameters) is NULL");
    assert_null(tn_sgd(tn_list_of(NULL, 0), NULL));
    expect_error(TN_ERROR_ARGUMENT, "sgd: no parameters, needed at least one");
    assert_null(tn_adam(tn_list_of(twice, 2), NULL));
    expect_error(TN_ERROR_ARGUMENT, "adam: parameters 0 and 1 are the same tensor, needed each once");
    assert_null(tn_adam(tn_list_of(&result, 1), NULL));
    expect_error(TN_ERROR_NOT_LEAF, "adam: parameter 0 is a recorded result, needed a leaf");
    assert_null(tn_sgd(tn_list_of(&w, 1), &(tn_sgd_options){.nesterov = true}));
    expect_error(TN_ERROR_ARGUMENT, "sgd: nesterov needs momentum, and no dampening");
    assert_null(tn_adam(tn_list_of(&w, 1), &(tn_adam_options){.beta1 = 1}));
    expect_error(TN_ERROR_ARGUMENT, "adam: beta1 is 1.0, needed 0 or more and below 1");
    tn_optimizer *sgd = tn_sgd(tn_list_of(&w, 1), NULL);
    tn_set_grad(w, tn_ones((int64_t[]){N}, 1, TN_FLOAT64));
    tn_matmul(NULL, w); /* a pending error: nothing moves */
    assert_int_equal(tn_step(sgd), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "matmul");
    assert_true(tn_data_f64(w)[0] == 1);
    tn_scope_end(scope);
}

/* x^4 */
static tn_tensor *fourth_power(void *context)
{
    tn_tensor *x = context, *y = tn_mul(tn_mul(x, x), tn_mul(x, x));
    tn_set_grad(x, NULL);
    tn_backward(y);
    return y;
}

/* Where x is after one iteration from 1 with that tolerance_change. */
static double after_search(double tolerance_change)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_full(NULL, 0, tn_float(1), TN_FLOAT64);
    tn_requires_grad_(x, true);
    const tn_lbfgs_options options = {
        .lr = 10, .max_iter = 1, .max_eval = 30, .strong_wolfe = true, .tolerance_change = tolerance_change};
    tn_optimizer *lbfgs = tn_lbfgs(tn_list_of(&x, 1), &options);
    tn_step_closure(lbfgs, fourth_power, x);
    const double place = tn_item(x);
    assert_int_equal(tn_error_code(), TN_OK);
    tn_scope_end(scope);
    return place;
}

/* tolerance_change ends the iterations of a step, not the search along the line: that has a tolerance of its own. */
static void search_has_its_own_tolerance(void **state)
{
    (void)state;
    const double place = after_search(1e-9);
    assert_true(fabs(place + 0.8238734123093181) < 1e-14); /* by PyTorch 2.15 */
    assert_true(after_search(12) == place);
}

TEST_MAIN(test(formulas), test(options_and_groups), test(refusals), test(search_has_its_own_tolerance))
