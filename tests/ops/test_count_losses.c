/* kl_div and poisson_nll_loss: formulas, both orders of derivatives, targets that are 0, calls by name, META and what
 * is refused. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/errors.h"
#include "support/test.h"

enum { N = 4 };
static const double xs[N] = {-0.5, 0.25, 1.5, 0.75}, ts[N] = {0, 0.5, 1, 3};

static tn_tensor *numbers(const double *values)
{
    const int64_t n = N;
    return tn_from_array(values, &n, 1, TN_FLOAT64);
}

/* Which of the six a context is: kl_div without and with log_target, poisson of logs or not, plain or full. */
static tn_tensor *loss_of(int which, tn_tensor *x, tn_tensor *t, tn_reduction reduction)
{
    return which < 2 ? tn_kl_div(x, t, which == 1, reduction)
                     : tn_poisson_nll_loss(which < 4 ? x : tn_exp(x), t, which < 4, which % 2, 0.1, reduction);
}

static double formula(int which, double x, double t)
{
    const double stirling = which % 2 && which > 1 && t > 1 ? t * log(t) - t + 0.5 * log(8 * atan(1) * t) : 0;
    switch (which) {
    case 0:
        return t == 0 ? 0 : t * (log(t) - x);
    case 1:
        return exp(t) * (t - x);
    case 2:
    case 3:
        return exp(x) - t * x + stirling;
    default:
        return exp(x) - t * log(exp(x) + 0.1) + stirling;
    }
}

static void formulas(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = numbers(xs), *t = numbers(ts), *y = loss_of(which, x, t, TN_NONE);
        double sum = 0;
        for (int i = 0; i < N; i++) {
            const double expected = formula(which, xs[i], ts[i]);
            if (!(fabs(tn_data_f64(y)[i] - expected) < 1e-14 * (1 + fabs(expected))))
                fail_msg("loss %d, element %d: %.17g, needed %.17g", which, i, tn_data_f64(y)[i], expected);
            sum += expected;
        }
        assert_true(fabs(tn_item(loss_of(which, x, t, TN_SUM)) - sum) < 1e-13);
        assert_true(fabs(tn_item(loss_of(which, x, t, TN_MEAN)) - sum / N) < 1e-13);
        y = loss_of(which, tn_to(x, TN_FLOAT32), tn_to(t, TN_FLOAT32), TN_MEAN);
        assert_int_equal(tn_tensor_dtype(y), TN_FLOAT32);
        const int64_t n = N;
        const tn_device meta = {TN_META, 0};
        y = loss_of(which, tn_empty_on(&n, 1, TN_FLOAT32, meta), tn_empty_on(&n, 1, TN_FLOAT32, meta), TN_NONE);
        assert_true(tn_numel(y) == N && tn_tensor_device(y).type == TN_META);
        tn_scope_end(scope);
    }
}

static tn_tensor *checked(void *context, tn_tensor *const *inputs, int n)
{
    (void)n;
    return loss_of(*(const int *)context, inputs[0], inputs[1], TN_NONE);
}

static void derivatives(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *inputs[] = {numbers(xs), numbers((double[]){0.3, 0.5, 1.25, 3})};
        tn_requires_grad_(inputs[0], true);
        tn_requires_grad_(inputs[1], true);
        if (tn_gradcheck(checked, &which, inputs, 2, NULL, NULL) ||
            tn_gradgradcheck(checked, &which, inputs, 2, NULL, NULL) ||
            tn_gradcheck_forward(checked, &which, inputs, 2, NULL, NULL))
            fail_msg("loss %d: %s", which, tn_error_message());
        /* a target of 0 leaves all gradients finite */
        tn_tensor *t = numbers(ts);
        tn_requires_grad_(t, true);
        tn_backward(loss_of(which, inputs[0], t, TN_SUM));
        for (int i = 0; i < N; i++)
            if (!isfinite(tn_data_f64(tn_grad_of(t))[i]) || !isfinite(tn_data_f64(tn_grad_of(inputs[0]))[i]))
                fail_msg("loss %d, element %d: a gradient that is not finite", which, i);
        tn_scope_end(scope);
    }
}

static void by_name(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = numbers(xs), *t = numbers(ts);
    const tn_value v[] = {{.kind = TN_VALUE_TENSOR, .as.tensor = x},
                          {.kind = TN_VALUE_TENSOR, .as.tensor = t},
                          {.kind = TN_VALUE_WORD, .as.word = "sum"},
                          {.kind = TN_VALUE_SCALAR, .as.scalar = tn_bool(true)}};
    assert_true(tn_item(tn_call("kl_div", v, 4)) == tn_item(tn_kl_div(x, t, true, TN_SUM)));
    assert_true(tn_item(tn_call("kl_div", v, 2)) == tn_item(tn_kl_div(x, t, false, TN_MEAN)));
    assert_true(tn_item(tn_call("poisson_nll_loss", v, 2)) ==
                tn_item(tn_poisson_nll_loss(x, t, true, false, 1e-8, TN_MEAN)));
    tn_scope_end(scope);
}

static void refusals(void **state)
{
    (void)state;
    tn_scope scope = tn_scope_begin();
    const int64_t three = 3;
    tn_tensor *x = numbers(xs), *t = numbers(ts);
    assert_null(tn_kl_div(NULL, t, false, TN_MEAN));
    expect_error(TN_ERROR_NULL, "kl_div: argument 1 (self) is NULL");
    assert_null(tn_poisson_nll_loss(x, NULL, true, false, 0, TN_MEAN));
    expect_error(TN_ERROR_NULL, "poisson_nll_loss: argument 2 (target) is NULL");
    assert_null(tn_kl_div(tn_to(x, TN_INT64), t, false, TN_MEAN));
    expect_error(TN_ERROR_DTYPE, "kl_div: the input is int64, needed floats");
    assert_null(tn_kl_div(x, t, false, (tn_reduction)5));
    expect_error(TN_ERROR_ARGUMENT, "kl_div: reduction is 5, needed mean, sum or none");
    assert_null(tn_poisson_nll_loss(x, t, true, false, -1, TN_MEAN));
    expect_error(TN_ERROR_ARGUMENT, "poisson_nll_loss: eps is -1.0, needed 0 or more");
    assert_null(tn_kl_div(x, tn_ones(&three, 1, TN_FLOAT64), false, TN_MEAN));
    expect_error(TN_ERROR_SHAPE, "kl_div: ");
    assert_null(tn_poisson_nll_loss(x, tn_ones(&three, 1, TN_FLOAT64), true, true, 0, TN_NONE));
    expect_error(TN_ERROR_SHAPE, "poisson_nll_loss: ");
    tn_scope_end(scope);
}

TEST_MAIN(test(formulas), test(derivatives), test(by_name), test(refusals))
