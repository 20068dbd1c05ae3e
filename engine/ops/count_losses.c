/* Losses of distributions and of counts, made of operators as torch.nn.functional.kl_div and poisson_nll_loss are.
 *
 * A logarithm that counts for nothing (of t at t = 0, of Stirling's t up to 1) is taken of 1 instead: neither the value
 * nor a gradient then meets 0 times infinity. */
#include <math.h>
#include <tenon/create.h>
#include <tenon/extend.h>
#include <tenon/losses.h>
#include <tenon/ops.h>
#include <tenon/reductions.h>

#include "base/error.h"
#include "base/text.h"
#include "core/tensor.h"

static tn_status check(const char *name, const tn_tensor *x, const tn_tensor *target, tn_reduction reduction)
{
    if (tni_pending())
        return tni_pending();
    if (!x || !target)
        return TNI_FAIL_NULL(name, x ? 2 : 1, x ? "target" : "self");
    if (!tn_is_floating_point((tn_dtype)x->dtype))
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the input is %s, needed floats", tn_dtype_name((tn_dtype)x->dtype));
    if (reduction != TN_MEAN && reduction != TN_SUM && reduction != TN_NONE)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "reduction is %d, needed mean, sum or none", (int)reduction);
    return TN_OK;
}

/* The losses reduced, out of the scope that they were made in. */
static tn_tensor *finish(const char *name, tn_scope scope, tn_tensor *losses, tn_reduction reduction)
{
    tn_tensor *y = reduction == TN_NONE  ? losses
                   : reduction == TN_SUM ? tn_sum(losses, NULL, 0, false, TN_DTYPE_NONE)
                                         : tn_mean(losses, NULL, 0, false, TN_DTYPE_NONE);
    if (tni_pending())
        tn_error_context(name);
    y = y ? tn_scope_escape(scope, y) : NULL;
    tn_scope_end(scope);
    return y;
}

/* log t, and 0 where the condition says so. */
static tn_tensor *log_unless(tn_tensor *nothing, tn_tensor *t)
{
    return tn_log(tn_where(nothing, tn_ones_like(t, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), t));
}

tn_tensor *tn_kl_div(tn_tensor *x, tn_tensor *target, bool log_target, tn_reduction reduction)
{
    const char *name = "kl_div";
    if (check(name, x, target, reduction))
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *losses;
    if (log_target)
        losses = tn_mul(tn_exp(target), tn_sub(target, x));
    else
        losses = tn_sub(tn_mul(target, log_unless(tn_eq_scalar(target, tn_int(0)), target)), tn_mul(target, x));
    return finish(name, scope, losses, reduction);
}

tn_tensor *tn_poisson_nll_loss(tn_tensor *x, tn_tensor *target, bool log_input, bool full, double eps,
                               tn_reduction reduction)
{
    static const double two_pi = 6.283185307179586476925286766559;
    const char *name = "poisson_nll_loss";
    char text[32];
    if (check(name, x, target, reduction))
        return NULL;
    if (!(eps >= 0)) {
        tni_text_double(text, sizeof text, eps);
        TNI_FAIL(TN_ERROR_ARGUMENT, name, "eps is %s, needed 0 or more", text);
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *losses = log_input ? tn_sub(tn_exp(x), tn_mul(target, x))
                                  : tn_sub(x, tn_mul(target, tn_log(tn_add_scalar(x, tn_float(eps)))));
    if (full) {
        tn_tensor *few = tn_le_scalar(target, tn_int(1)), *logs = log_unless(few, target);
        tn_tensor *half = tn_mul_scalar(tn_add_scalar(logs, tn_float(log(two_pi))), tn_float(0.5));
        tn_tensor *stirling = tn_add(tn_sub(tn_mul(target, logs), target), half);
        losses = tn_add(losses, tn_where(few, tn_zeros_like(stirling, TN_DTYPE_NONE, TN_PRESERVE_FORMAT), stirling));
    }
    return finish(name, scope, losses, reduction);
}
