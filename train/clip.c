/* Clipping of gradients by their norm and by value (torch.nn.utils.clip_grad_norm_, clip_grad_value_). Norms are summed
 * in float64, in lanes that depend on nothing but the number of elements. */
#include <inttypes.h>
#include <math.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/extend.h>
#include <tenon/ops.h>
#include <tenon/optim.h>

enum { LANES = 8 };

/* One term of each norm's sum, and how terms join: sum, largest or smallest. */
typedef struct norm {
    double p;
    double (*term)(double x, double p);
    double (*join)(double sum, double term);
    double nothing;
} norm;

static double square(double x, double p)
{
    (void)p;
    return x * x;
}

static double absolute(double x, double p)
{
    (void)p;
    return fabs(x);
}

static double not_zero(double x, double p)
{
    (void)p;
    return x != 0;
}

static double power(double x, double p)
{
    return pow(fabs(x), p);
}

static double sum(double a, double b)
{
    return a + b;
}

/* NaN stays. */
static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static double smaller(double a, double b)
{
    return a < b || isnan(a) ? a : b;
}

static norm norm_of(double p)
{
    if (isinf(p))
        return p > 0 ? (norm){p, absolute, larger, 0} : (norm){p, absolute, smaller, INFINITY};
    return (norm){p, p == 2 ? square : p == 1 ? absolute : p == 0 ? not_zero : power, sum, 0};
}

static double square_f32(const float *x, int64_t n)
{
    double lanes[LANES] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < n; i++)
        rest += (double)x[i] * (double)x[i];
    for (int k = 0; k < LANES; k++)
        rest += lanes[k];
    return rest;
}

static double square_f64(const double *x, int64_t n)
{
    double lanes[LANES] = {0}, rest = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lanes[k] += x[i + k] * x[i + k];
    for (; i < n; i++)
        rest += x[i] * x[i];
    for (int k = 0; k < LANES; k++)
        rest += lanes[k];
    return rest;
}

/* What a gradient adds to the norm's sum. */
static double terms(const norm *by, tn_tensor *grad)
{
    const int64_t n = tn_numel(grad);
    tn_scope scope = tn_scope_begin();
    double total = by->nothing;
    tn_tensor *dense = tn_contiguous(grad);
    const tn_dtype dtype = dense ? tn_tensor_dtype(dense) : TN_FLOAT64;
    if (by->p == 2 && dtype == TN_FLOAT32 && tn_data_f32(dense)) {
        total = square_f32(tn_data_f32(dense), n);
    } else {
        tn_tensor *wide = tn_to(dense, TN_FLOAT64);
        const double *x = wide ? tn_data_f64(wide) : NULL;
        if (x && by->p == 2)
            total = square_f64(x, n);
        for (int64_t i = 0; x && by->p != 2 && i < n; i++)
            total = by->join(total, by->term(x[i], by->p));
    }
    tn_scope_end(scope);
    return total;
}

static double total_norm(const norm *by, tn_tensor *const *parameters, int64_t n)
{
    double total = by->nothing;
    bool any = false;
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        tn_tensor *grad = tn_grad_of(parameters[i]);
        if (!grad)
            continue;
        const double part = terms(by, grad);
        total = by->join(total, by->p == 0 ? part != 0 : part); /* as a norm of norms has it */
        any = true;
    }
    if (!any)
        return 0;
    return by->p == 2 ? sqrt(total) : isinf(by->p) || by->p == 0 || by->p == 1 ? total : pow(total, 1 / by->p);
}

static tn_status scale(tn_tensor *const *parameters, int64_t n, double factor)
{
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        tn_tensor *grad = tn_grad_of(parameters[i]);
        if (grad)
            tn_mul_scalar_(grad, tn_float(factor));
    }
    return tn_error_code();
}

static tn_status check(const char *function, const tn_list *parameters, const char *name, double limit)
{
    if (tn_error_code())
        return tn_error_code();
    if (!parameters)
        return TN_FAIL_NULL(function, 1, "parameters");
    if (limit >= 0)
        return TN_OK;
    char text[32];
    tn_format_double(text, sizeof text, limit);
    return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed 0 or more", name, text);
}

double tn_clip_grad_norm_(const tn_list *parameters, double max_norm, double norm_type, bool error_if_nonfinite)
{
    const char *function = "clip_grad_norm_";
    if (check(function, parameters, "max_norm", max_norm))
        return NAN;
    if (isnan(norm_type)) {
        TN_FAIL(TN_ERROR_ARGUMENT, function, "norm_type is nan, needed a number");
        return NAN;
    }
    const int64_t n = tn_list_size(parameters);
    tn_tensor *const *tensors = tn_list_tensors(parameters);
    const norm by = norm_of(norm_type);
    tn_grad_mode mode = tn_no_grad();
    double total = total_norm(&by, tensors, n);
    if (!tn_error_code() && error_if_nonfinite && !isfinite(total)) {
        char text[32];
        tn_format_double(text, sizeof text, total);
        TN_FAIL(TN_ERROR_STATE, function, "the norm of the gradients is %s, needed a finite one", text);
    }
    const double factor = max_norm / (total + 1e-6);
    if (!tn_error_code() && !(factor >= 1))
        scale(tensors, n, factor);
    tn_grad_mode_restore(mode);
    return tn_error_code() ? (double)NAN : total;
}

tn_status tn_clip_grad_value_(const tn_list *parameters, double clip_value)
{
    if (check("clip_grad_value_", parameters, "clip_value", clip_value))
        return tn_error_code();
    const tn_scalar low = tn_float(-clip_value), high = tn_float(clip_value);
    const int64_t n = tn_list_size(parameters);
    tn_tensor *const *tensors = tn_list_tensors(parameters);
    tn_grad_mode mode = tn_no_grad();
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        tn_tensor *grad = tn_grad_of(tensors[i]);
        if (grad)
            tn_clamp_(grad, &low, &high);
    }
    tn_grad_mode_restore(mode);
    return tn_error_code();
}
