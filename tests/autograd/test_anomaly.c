/* Anomaly mode names the operator that made the first NaN or infinity, forward and backward, and nobody who was given
 * one; the audit says which parameters have no usable gradient. */
#include <math.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/test.h"

static tn_tensor *vector(double a, double b, bool tracked)
{
    const double data[] = {a, b};
    tn_tensor *x = tn_from_array(data, (int64_t[]){2}, 1, TN_FLOAT64);
    if (tracked)
        assert_int_equal(tn_requires_grad_(x, true), TN_OK);
    return x;
}

static tn_tensor *sum(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static void check_anomaly(const char *message)
{
    if (tn_error_code() != TN_ERROR_ANOMALY || strcmp(tn_error_message(), message) != 0)
        fail_msg("expected \"%s\", came \"%s\"", message, tn_error_message());
    tn_error_clear();
}

static void forward(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(1, 0, false);
    assert_int_equal(tn_anomaly_mode(TN_ANOMALY_NOT_FINITE), TN_ANOMALY_OFF);
    assert_int_equal(tn_anomaly_mode_now(), TN_ANOMALY_NOT_FINITE);
    assert_null(tn_log(x));
    check_anomaly("log: made -inf at [1] of its result, float64 [2], from float64 [2] without one");
    assert_null(tn_div(x, x));
    check_anomaly("div: made nan at [1] of its result, float64 [2], from float64 [2], float64 [2] without one");
    assert_null(tn_sqrt(tn_sub_scalar(x, tn_float(1))));
    check_anomaly("sqrt: made nan at [1] of its result, float64 [2], from float64 [2] without one");
    assert_int_equal(tn_log_(tn_clone(x)), TN_ERROR_ANOMALY);
    check_anomaly("log_: made -inf at [1] of its result, float64 [2], from float64 [2] without one");
    tn_tensor *wide = tn_full((int64_t[]){2, 300}, 2, tn_float(1), TN_FLOAT32);
    tn_tensor *turned = tn_transpose(wide, 0, 1);
    assert_int_equal(tn_fill_(tn_select(tn_select(turned, 0, 270), 0, 1), tn_float(0)), TN_OK);
    assert_null(tn_log(turned));
    check_anomaly("log: made -inf at [270, 1] of its result, float32 [300, 2], from float32 [300, 2] without one");
    assert_int_equal(tn_anomaly_mode(TN_ANOMALY_OFF), TN_ANOMALY_NOT_FINITE);
    assert_non_null(tn_log(x));
    tn_scope_end(scope);
}

/* What was given is nobody's: infinities and NaN in arguments, as numbers, in lists, memory as it was found. */
static void given(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *bad = vector(INFINITY, 1, false), *nan = vector(NAN, 1, false), *x = vector(1, 2, false);
    tn_anomaly_mode(TN_ANOMALY_NOT_FINITE);
    assert_non_null(tn_mul(bad, x));
    assert_non_null(tn_add(nan, bad));
    assert_non_null(tn_masked_fill(x, tn_gt_scalar(x, tn_float(1)), tn_float(-INFINITY)));
    assert_non_null(tn_full((int64_t[]){2}, 1, tn_float(INFINITY), TN_FLOAT32));
    assert_non_null(tn_empty((int64_t[]){200}, 1, TN_FLOAT32));
    assert_non_null(tn_cat((tn_tensor *[]){bad, nan}, 2, 0));
    assert_non_null(tn_unsqueeze(bad, 0));
    assert_int_equal(tn_copy_(x, bad), TN_OK);
    assert_int_equal(tn_add_(bad, bad), TN_OK);
    assert_null(tn_sub(bad, bad)); /* inf - inf: nobody gave a NaN */
    check_anomaly("sub: made nan at [0] of its result, float64 [2], from float64 [2], float64 [2] without one");
    tn_anomaly_mode(TN_ANOMALY_NAN);
    assert_int_equal(tn_anomaly_mode_now(), TN_ANOMALY_NAN);
    assert_non_null(tn_log(tn_zeros((int64_t[]){2}, 1, TN_FLOAT32)));
    assert_null(tn_sqrt(vector(1, -1, false)));
    check_anomaly("sqrt: made nan at [1] of its result, float64 [2], from float64 [2] without one");
    assert_int_equal(tn_anomaly_mode((tn_anomaly)99), TN_ANOMALY_NAN);
    assert_int_equal(tn_anomaly_mode_now(), TN_ANOMALY_OFF);
    tn_scope_end(scope);
}

static void backward(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    tn_tensor *x = vector(4, 0, true);
    tn_anomaly_mode(TN_ANOMALY_NOT_FINITE);
    tn_anomaly_where("layer 2");
    tn_tensor *y = sum(tn_sqrt(x));
    tn_anomaly_where(NULL);
    assert_int_equal(tn_backward(y), TN_ERROR_ANOMALY);
    check_anomaly("backward: the derivative of \"sqrt\" (SqrtBackward0) made inf at [1] of the gradient of input 0, "
                  "float64 [2], from that of the result, float64 [2], without one; recorded at layer 2");
    assert_null(tn_grad_of(x));
    tn_tensor *z = sum(tn_mul(tn_sqrt(x), vector(1, 0, false))); /* 0 * inf */
    assert_int_equal(tn_backward(z), TN_ERROR_ANOMALY);
    check_anomaly("backward: the derivative of \"sqrt\" (SqrtBackward0) made nan at [1] of the gradient of input 0, "
                  "float64 [2], from that of the result, float64 [2], without one");
    tn_tensor *w = tn_sqrt(x); /* what the caller hands in is his */
    assert_int_equal(tn_backward_with(w, vector(1, INFINITY, false), NULL), TN_OK);
    tn_anomaly_mode(TN_ANOMALY_OFF);
    assert_int_equal(tn_backward(sum(tn_sqrt(x))), TN_OK);
    assert_true(strstr(TN_HERE, "test_anomaly.c:") != NULL);
    tn_scope_end(scope);
}

/* With create_graph, and through hooks and views, a walk without anomalies gives the same as with the mode off. */
static void same_gradients(void **state)
{
    double result[2];
    (void)state;
    for (int on = 0; on < 2; on++) {
        tn_scope scope = tn_scope_begin();
        tn_anomaly_mode(on ? TN_ANOMALY_NOT_FINITE : TN_ANOMALY_OFF);
        tn_anomaly_where(on ? TN_HERE : NULL);
        tn_tensor *x = vector(2, 3, true), *y = tn_mul(tn_exp(x), x);
        tn_tensor *out[] = {sum(tn_mul(tn_select(y, 0, 1), y))};
        tn_list *first = tn_grad(out, NULL, 1, &x, 1, &(tn_grad_options){.create_graph = true});
        assert_non_null(first);
        assert_int_equal(tn_backward(sum(tn_list_get(first, 0))), TN_OK);
        const double *data = tn_data(tn_grad_of(x));
        if (on)
            assert_true(data[0] == result[0] && data[1] == result[1]);
        memcpy(result, data, sizeof result);
        tn_scope_end(scope);
    }
    tn_anomaly_where(NULL);
    tn_anomaly_mode(TN_ANOMALY_OFF);
}

static void out_of_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (int64_t k = 0; failed; k++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *x = vector(2, 3, true);
        tn_anomaly_mode(TN_ANOMALY_NOT_FINITE);
        tn_anomaly_where(TN_HERE);
        tn_fail_allocation(k, false);
        tn_tensor *y = sum(tn_mul(tn_exp(x), x));
        tn_status status = y ? tn_backward(y) : tn_error_code();
        failed = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (status != (failed ? TN_ERROR_MEMORY : TN_OK))
            fail_msg("allocation %d: %s", (int)k, tn_error_message());
        tn_error_clear();
        tn_anomaly_where(NULL);
        tn_anomaly_mode(TN_ANOMALY_OFF);
        tn_scope_end(scope);
        assert_true(k < 1000);
    }
}

typedef struct text {
    char bytes[2048];
    size_t n;
} text;

static int take(void *context, const char *bytes, size_t n)
{
    text *to = context;
    assert_true(to->n + n < sizeof to->bytes);
    memcpy(to->bytes + to->n, bytes, n);
    to->bytes[to->n += n] = '\0';
    return 0;
}

static int refuse(void *context, const char *bytes, size_t n)
{
    (void)context, (void)bytes, (void)n;
    return 1;
}

static void audit(void **state)
{
    tn_scope scope = tn_scope_begin();
    (void)state;
    text written = {.n = 0};
    tn_gradient_finding found[5];
    tn_tensor *good = vector(1, 2, true), *none = vector(1, 2, true), *zero = vector(1, 2, true);
    tn_tensor *bad = vector(4, 0, true), *off = vector(1, 2, false);
    tn_tensor *const all[] = {good, none, zero, bad, off};
    const char *const names[] = {"0.weight", "0.bias", NULL, "2.weight", "2.bias"};
    tn_tensor *y = tn_add(tn_mul(good, off), tn_add(tn_mul_scalar(zero, tn_float(0)), tn_sqrt(bad)));
    assert_int_equal(tn_backward(sum(y)), TN_OK);
    assert_int_equal(tn_audit_gradients(all, 5, found), 4);
    assert_int_equal(found[0].state, TN_GRADIENT_GOOD);
    assert_true(found[0].largest == 2 && found[0].numel == 2 && found[0].zeros == 0);
    assert_int_equal(found[1].state, TN_GRADIENT_NONE);
    assert_int_equal(found[2].state, TN_GRADIENT_ZERO);
    assert_int_equal(found[3].state, TN_GRADIENT_NOT_FINITE);
    assert_true(found[3].infinities == 1 && found[3].nans == 0 && found[3].largest == 0.25);
    assert_int_equal(found[4].state, TN_GRADIENT_NOT_REQUIRED);
    assert_int_equal(tn_audit_write(all, names, 5, take, &written), TN_OK);
    assert_string_equal(written.bytes,
                        "5 parameters: 1 with a good gradient, 4 without\n"
                        "  0.bias       float64 [2]         no gradient: nothing that was walked depends on it\n"
                        "  parameter 2  float64 [2]         every element of the gradient is 0\n"
                        "  2.weight     float64 [2]         not finite: 0 nan and 1 infinite of 2\n"
                        "  2.bias       float64 [2]         requires_grad is off\n");
    written.n = 0;
    assert_int_equal(tn_audit_write(all, names, 1, take, &written), TN_OK);
    assert_string_equal(written.bytes, "1 parameter: 1 with a good gradient, 0 without\n");
    assert_int_equal(tn_audit_gradients(all, -1, NULL), -1);
    assert_int_equal(tn_error_code(), TN_ERROR_ARGUMENT);
    tn_error_clear();
    assert_int_equal(tn_audit_gradients(NULL, 1, NULL), -1);
    assert_int_equal(tn_error_code(), TN_ERROR_NULL);
    tn_error_clear();
    assert_int_equal(tn_audit_write(all, names, 5, refuse, NULL), TN_ERROR_FILE);
    tn_error_clear();
    tn_scope_end(scope);
}

TEST_MAIN(test(forward), test(given), test(backward), test(same_gradients), test(out_of_memory), test(audit))
