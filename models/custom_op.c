/* An operator from outside of the library: softplus_b(x) = log(1 + exp(b x)) / b, with its derivative and its tangent.
 * It is checked against differences, and a line is then fitted with it under a hinge-like loss. */
#include <stdio.h>
#include <tenon/tenon.h>

/* log(1 + exp(-|z|)) + max(z, 0): nothing overflows. */
static tn_tensor *softplus(tn_function_call *call, tn_tensor *const *inputs, int n)
{
    double beta = *(const double *)tn_function_context(call);
    tn_tensor *x = inputs[0], *z = tn_mul_scalar(x, tn_float(beta));
    tn_tensor *tail = tn_log1p(tn_exp(tn_neg(tn_abs(z))));
    (void)n;
    tn_save_for_backward(call, &x, 1);
    return tn_div_scalar(tn_add(tn_relu(z), tail), tn_float(beta));
}

/* d/dx = sigmoid(b x). Made of operators, so that it can be differentiated in turn. */
static tn_tensor *slope(tn_function_call *call)
{
    double beta = *(const double *)tn_function_context(call);
    return tn_sigmoid(tn_mul_scalar(tn_saved_tensor(call, 0), tn_float(beta)));
}

static tn_status softplus_backward(tn_function_call *call, tn_tensor *grad, tn_tensor **grads)
{
    grads[0] = tn_mul(grad, slope(call));
    return tn_error_code();
}

static tn_tensor *softplus_jvp(tn_function_call *call, tn_tensor *const *tangents)
{
    return tn_mul(tangents[0], slope(call));
}

static const tn_function smooth_relu = {
    .name = "Softplus", .forward = softplus, .backward = softplus_backward, .jvp = softplus_jvp};

static tn_tensor *apply(void *context, tn_tensor *const *inputs, int n)
{
    return tn_apply(&smooth_relu, inputs, n, context);
}

/* The mean of softplus(1 - y (w x + b)): a smooth hinge. */
static tn_tensor *loss_of(tn_tensor *w, tn_tensor *b, tn_tensor *x, tn_tensor *y, double *beta)
{
    tn_tensor *margin = tn_sub(tn_ones_like(y, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), tn_mul(y, tn_linear(x, w, b)));
    return tn_mean(tn_apply(&smooth_relu, &margin, 1, beta), NULL, 0, false, TN_DTYPE_NONE);
}

static int report(const char *what, tn_status status, const tn_gradcheck_result *r)
{
    if (status != TN_OK)
        fprintf(stderr, "%s\n", tn_error_message());
    else
        printf("%-18s ok, %lld entries, worst difference below 1e-7: %s\n", what, (long long)r->compared,
               r->difference < 1e-7 ? "yes" : "no");
    return status != TN_OK;
}

int main(void)
{
    double beta = 2;
    char name[64];
    tn_gradcheck_result r;
    tn_tensor *p = tn_from_array((double[]){-3, -0.5, 0, 0.25, 2, 30}, (int64_t[]){2, 3}, 2, TN_FLOAT64);
    tn_requires_grad_(p, true);
    int faults = report("gradcheck", tn_gradcheck(apply, &beta, &p, 1, NULL, &r), &r);
    faults += report("gradgradcheck", tn_gradgradcheck(apply, &beta, &p, 1, NULL, &r), &r);
    faults += report("gradcheck_forward", tn_gradcheck_forward(apply, &beta, &p, 1, NULL, &r), &r);
    tn_node_name(tn_grad_fn(apply(&beta, &p, 1)), name, sizeof name);
    printf("grad_fn            %s\n", name);

    tn_tensor *x = tn_from_array((double[]){-2, -1, 1, 3}, (int64_t[]){4, 1}, 2, TN_FLOAT64);
    tn_tensor *y = tn_from_array((double[]){-1, -1, 1, 1}, (int64_t[]){4, 1}, 2, TN_FLOAT64);
    tn_tensor *w = tn_zeros((int64_t[]){1, 1}, 2, TN_FLOAT64), *b = tn_zeros((int64_t[]){1}, 1, TN_FLOAT64);
    tn_requires_grad_(w, true);
    tn_requires_grad_(b, true);
    for (int step = 0; step <= 100 && tn_error_code() == TN_OK; step++) {
        tn_scope scope = tn_scope_begin();
        tn_tensor *loss = loss_of(w, b, x, y, &beta), *of[] = {w, b};
        const tn_list *grads = tn_grad(&loss, NULL, 1, of, 2, NULL);
        if (step % 50 == 0)
            printf("step %3d  loss %.4f  w %.4f  b %.4f\n", step, tn_item(loss), tn_item(w), tn_item(b));
        tn_grad_mode mode = tn_no_grad();
        for (int i = 0; i < 2 && grads; i++)
            tn_sub_alpha_(of[i], tn_list_tensors(grads)[i], tn_float(0.5));
        tn_grad_mode_restore(mode);
        tn_scope_end(scope);
    }
    if (tn_error_code() != TN_OK)
        fprintf(stderr, "%s\n", tn_error_message());
    return faults > 0 || tn_error_code() != TN_OK;
}
