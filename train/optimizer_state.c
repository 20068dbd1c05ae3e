/* Options and state of an optimizer from outside: what a checkpoint checks and puts back. */
#include <inttypes.h>
#include <math.h>

#include "optimizer.h"

static bool is_whole(double x, double from)
{
    return x >= from && x <= 0x1p53 && x == floor(x);
}

static bool is_in(tni_range range, double x)
{
    switch (range) {
    case TNI_FROM_ZERO:
        return x >= 0;
    case TNI_BELOW_ONE:
        return x >= 0 && x < 1;
    case TNI_SHARE:
        return x >= 0 && x <= 1;
    case TNI_SHARE_ABOVE_ZERO:
        return x > 0 && x <= 1;
    case TNI_FLAG:
        return x == 0 || x == 1;
    case TNI_COUNT:
        return is_whole(x, 1);
    case TNI_WHOLE:
        return is_whole(x, 0);
    case TNI_EPOCH:
        return is_whole(x, -1);
    default:
        return true;
    }
}

tn_status tni_option_check(const char *function, const char *name, tni_range range, double value)
{
    static const char *const needed[] = {[TNI_ANY] = "a finite number",
                                         [TNI_FROM_ZERO] = "a finite number, 0 or more",
                                         [TNI_BELOW_ONE] = "0 or more and below 1",
                                         [TNI_SHARE] = "0 to 1",
                                         [TNI_SHARE_ABOVE_ZERO] = "above 0, at most 1",
                                         [TNI_FLAG] = "0 or 1",
                                         [TNI_COUNT] = "a whole number, 1 or more",
                                         [TNI_WHOLE] = "a whole number, 0 or more",
                                         [TNI_EPOCH] = "a whole number, -1 or more"};
    if (range == TNI_EVEN_INFINITE || (isfinite(value) && is_in(range, value)))
        return TN_OK;
    char text[32];
    tn_format_double(text, sizeof text, value);
    return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed %s", name, text, needed[range]);
}

tn_status tni_optimizer_check_options(const char *function, const tni_optimizer_kind *kind, const double *options)
{
    for (int i = 0; i < kind->n_options; i++)
        if (tni_option_check(function, kind->options[i].name, kind->options[i].range, options[i]))
            return tn_error_code();
    return kind->check ? kind->check(function, options) : TN_OK;
}

static bool is_like(const tn_tensor *x, const tn_tensor *parameter)
{
    if (tn_tensor_dtype(x) != tn_tensor_dtype(parameter) || tn_ndim(x) != tn_ndim(parameter))
        return false;
    for (int i = 0; i < tn_ndim(x); i++)
        if (tn_size(x, i) != tn_size(parameter, i))
            return false;
    return true;
}

tn_status tni_optimizer_check_state(const char *function, const tn_optimizer *self, int64_t slot, int which,
                                    const tn_tensor *value)
{
    const tn_tensor *parameter = self->slots[slot].parameter;
    if (!value || (self->kind->fits ? self->kind->fits(self, slot, which, value) : is_like(value, parameter)))
        return TN_OK;
    char found[100], has[100];
    tn_format_shape(found, sizeof found, tn_sizes(value), tn_ndim(value));
    tn_format_shape(has, sizeof has, tn_sizes(parameter), tn_ndim(parameter));
    return TN_FAIL(TN_ERROR_SHAPE, function,
                   "%s of parameter %" PRId64 " is %s %s, which does not fit the parameter, %s %s",
                   self->kind->states[which], slot, tn_dtype_name(tn_tensor_dtype(value)), found,
                   tn_dtype_name(tn_tensor_dtype(parameter)), has);
}

void tni_optimizer_put_options(tn_optimizer *self, int64_t group, const double *options)
{
    for (int i = 0; i < self->kind->n_options; i++)
        self->groups[group].option[i] = options[i];
}

void tni_optimizer_put_state(tn_optimizer *self, int64_t slot, int which, tn_tensor *value)
{
    tn_tensor **state = &self->slots[slot].state[which];
    if (value)
        value = tn_retain(value);
    tn_release(state);
    *state = value;
}
