/* gradcheck: the Jacobian of a function as the walk back gives it, row by row, beside the one of central differences,
 *
 *     J[m][c] = (f_m(x + eps e_c) - f_m(x - eps e_c)) / (2 eps),
 *
 * column by column. All numbers are taken as real ones: a complex element is two of them, and the gradient of the
 * imaginary part of a result is the walk that begins with i. In the second order the function is the walk itself: the
 * gradients of the inputs, from the inputs and the gradient of the result. Source: torch.autograd.gradcheck. */
#include "ops/gradcheck.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>

#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/scope.h"
#include "core/storage.h"

static bool is_wide(const tn_tensor *x)
{
    return x->dtype == TN_FLOAT64 || x->dtype == TN_COMPLEX128;
}

double tni_probe_value(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    double size = 0.25 + 0.75 * (double)(z >> 12) * 0x1p-52;
    return z & 1 ? size : -size;
}

static tn_status check_input(const char *name, int i, const tn_tensor *x)
{
    if (!is_wide(x))
        return TNI_FAIL(TN_ERROR_DTYPE, name,
                        "input %d is %s, whose differences say little about a derivative: needed float64 or "
                        "complex128, as tn_to gives it",
                        i, tn_dtype_name((tn_dtype)x->dtype));
    if (tni_is_meta(x))
        return TNI_FAIL(TN_ERROR_DEVICE, name, "input %d is on meta, needed data", i);
    if (x->keys & TNI_KEYS_LAZY)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name,
                        "input %d is lazily conjugated, negated or zero: needed one whose memory holds its values, as "
                        "tn_resolve_conj and tn_clone give it",
                        i);
    for (int d = 0; d < x->ndim && x->numel > 0; d++)
        if (x->sizes[d] > 1 && x->strides[d] == 0)
            return TNI_FAIL(TN_ERROR_OVERLAP, name,
                            "dim %d of input %d has stride 0, so that elements can't be moved one by one: needed "
                            "memory of its own for each, as tn_clone gives it",
                            d, i);
    return TN_OK;
}

static tn_status check_arguments(tni_gradcheck *s)
{
    if (tni_pending())
        return tni_pending();
    if (!s->function)
        return TNI_FAIL_NULL(s->name, 1, "f");
    if (s->n < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, s->name, "%d inputs, needed one at least", s->n);
    if (!s->inputs)
        return TNI_FAIL_NULL(s->name, 3, "inputs");
    for (int i = 0; i < s->n; i++) {
        if (!s->inputs[i])
            return TNI_FAIL(TN_ERROR_NULL, s->name, "input %d is NULL", i);
        if (!tni_requires_grad(s->inputs[i]))
            continue;
        if (check_input(s->name, i, s->inputs[i]))
            return tni_pending();
        s->number[s->n_moved] = i;
        s->moved[s->n_moved++] = s->inputs[i];
    }
    if (s->n_moved == 0)
        return TNI_FAIL(TN_ERROR_NO_GRAPH, s->name, "none of %d inputs requires a gradient, needed one at least", s->n);
    return TN_OK;
}

static tn_status check_output(const tni_gradcheck *s, const tn_tensor *y)
{
    if (is_wide(y))
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DTYPE, s->name, "the function's result is %s, needed float64 or complex128",
                    tn_dtype_name((tn_dtype)y->dtype));
}

tn_tensor *tni_gradcheck_call(const tni_gradcheck *s)
{
    tn_tensor *y = s->function(s->context, s->inputs, s->n);
    if (!y && !tni_pending())
        TNI_FAIL(TN_ERROR_NULL, s->name, "the function gave NULL and raised no error: needed a tensor");
    if (tni_pending() || check_output(s, y))
        return NULL;
    return y;
}

/* The results of what is differentiated: f's, or the gradients of the inputs. A gradient that is none is NULL. */
static tn_status run(const tni_gradcheck *s, tn_tensor **outputs)
{
    static const tn_grad_options recorded = {.create_graph = true, .allow_unused = true};
    tn_tensor *y = tni_gradcheck_call(s);
    if (!s->gradient) {
        outputs[0] = y;
        return tni_pending();
    }
    for (int o = 0; o < s->n_outputs; o++)
        outputs[o] = NULL;
    if (!y || !tni_requires_grad(y))
        return tni_pending();
    tn_list *grads = tn_grad(&y, &s->gradient, 1, s->moved, s->n_outputs, &recorded);
    for (int o = 0; grads && o < s->n_outputs; o++)
        outputs[o] = tn_list_tensors(grads)[o];
    return tni_pending();
}

/* The real numbers of x, row-major; zeros for NULL. */
tn_status tni_gradcheck_read(tn_tensor *x, double *to, int64_t n)
{
    if (n > 0)
        memset(to, 0, (size_t)n * sizeof *to);
    if (!x || n == 0)
        return tni_pending();
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *copy = tn_empty_on(x->sizes, x->ndim, (tn_dtype)x->dtype, (tn_device){TN_CPU, 0});
    if (copy && tn_copy_(copy, x) == TN_OK)
        memcpy(to, tni_data(copy), (size_t)n * sizeof *to);
    tn_grad_mode_restore(mode);
    return tni_pending();
}

tn_tensor *tni_gradcheck_tensor(const tn_tensor *like, const double *values)
{
    tn_tensor *x = tn_empty_on(like->sizes, like->ndim, (tn_dtype)like->dtype, (tn_device){TN_CPU, 0});
    if (x && x->numel > 0)
        memcpy(tni_data(x), values, (size_t)tni_gradcheck_count(x) * sizeof *values);
    return x;
}

/* The gradients of all inputs, from that of an output: a row of the Jacobian, or a sum of rows. */
tn_status tni_gradcheck_walk(const tni_gradcheck *s, tn_tensor *output, tn_tensor *gradient, double *row)
{
    static const tn_grad_options again = {.retain_graph = true, .allow_unused = true};
    tn_scope scope = tn_scope_begin();
    tn_list *list = tni_pending() ? NULL : tn_grad(&output, &gradient, 1, s->moved, s->n_moved, &again);
    for (int i = 0; list && i < s->n_moved; i++) {
        tn_tensor *grad = tn_list_tensors(list)[i];
        const tn_tensor *x = s->moved[i];
        if (grad && (grad->dtype != x->dtype || !tni_same_dims(grad->sizes, grad->ndim, x->sizes, x->ndim))) {
            TNI_FAIL(TN_ERROR_NOT_CLOSE, s->name, "the gradient of input %d has another shape or dtype than the input",
                     s->number[i]);
            break;
        }
        if (tni_gradcheck_read(grad, row + s->at[i], tni_gradcheck_count(x)))
            break;
    }
    tn_scope_end(scope);
    return tni_pending();
}

/* The rows of one output; m: its first. */
static tn_status fill_rows(const tni_gradcheck *s, tn_tensor *output, int64_t m, double *values)
{
    int64_t n = tni_gradcheck_count(output);
    memset(values, 0, (size_t)n * sizeof *values);
    for (int64_t k = 0; k < n && !tni_pending(); k++) {
        tn_scope scope = tn_scope_begin();
        values[k] = 1;
        tn_tensor *unit = tni_gradcheck_tensor(output, values);
        values[k] = 0;
        if (unit)
            tni_gradcheck_walk(s, output, unit, s->jacobian + (m + k) * s->columns);
        tn_scope_end(scope);
    }
    return tni_pending();
}

static tn_status fail_walk(const tni_gradcheck *s, const char *what, int64_t c, double found, double needed)
{
    char have[32], want[32];
    int i = 0;
    while (i + 1 < s->n_moved && c >= s->at[i + 1])
        i++;
    tni_text_double(have, sizeof have, found);
    tni_text_double(want, sizeof want, needed);
    return TNI_FAIL(TN_ERROR_NOT_CLOSE, s->name, "%s gives %s as the gradient of input %d, element %lld, needed %s",
                    what, have, s->number[i], (long long)((c - s->at[i]) / tni_gradcheck_parts(s->moved[i])), want);
}

static tn_status compare_rows(const tni_gradcheck *s, const char *what, const double *row, const double *with,
                              double atol, double rtol)
{
    for (int64_t c = 0; c < s->columns; c++)
        if (!(fabs(row[c] - with[c]) <= atol + rtol * fabs(with[c])))
            return fail_walk(s, what, c, row[c], with[c]);
    return TN_OK;
}

/* x with a gap behind every element, and with the strides of its mirror image. */
static tn_tensor *strided(tn_tensor *x)
{
    int64_t strides[TN_MAX_NDIM], stride = 2;
    for (int d = 0; d < x->ndim; d++) {
        strides[d] = stride;
        stride *= x->sizes[d] > 1 ? x->sizes[d] : 1;
    }
    tn_tensor *y = tn_empty_strided(x->sizes, strides, x->ndim, (tn_dtype)x->dtype);
    return y && tn_copy_(y, x) == TN_OK ? y : NULL;
}

/* What must hold of every walk from the output, whose rows begin at m: it is linear, repeatable, and any gradient goes.
 * rows: room for two. */
static tn_status check_walks(const tni_gradcheck *s, tn_tensor *output, int64_t m, double *values, double *rows)
{
    int64_t n = tni_gradcheck_count(output);
    double *row = rows, *with = rows + s->columns;
    for (int64_t k = 0; k < n; k++)
        values[k] = tni_probe_value((uint64_t)k);
    tn_tensor *some = tni_gradcheck_tensor(output, values);
    if (n == 0) /* it goes through, and the shapes are right: nothing else can be seen */
        return some ? tni_gradcheck_walk(s, output, some, row) : tni_pending();
    if (!some || tni_gradcheck_walk(s, output, some, with) || tni_gradcheck_walk(s, output, some, row) ||
        compare_rows(s, "a second walk", row, with, s->options.nondet_tol, 0))
        return tni_pending();
    tn_tensor *gaps = strided(some);
    if (!gaps || tni_gradcheck_walk(s, output, gaps, row) ||
        compare_rows(s, "a walk from a gradient with strides", row, with, 1e-10, 1e-10))
        return tni_pending();
    for (int64_t c = 0; c < s->columns; c++)
        row[c] = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t c = 0; c < s->columns; c++)
            row[c] += values[k] * s->jacobian[(m + k) * s->columns + c];
    if (compare_rows(s, "a walk that is not linear in its gradient", with, row, 1e-8, 1e-8))
        return tni_pending();
    tn_tensor *zeros = tn_zeros_like(some, TN_DTYPE_NONE, TN_CONTIGUOUS_FORMAT);
    for (int64_t c = 0; c < s->columns; c++)
        with[c] = 0;
    return !zeros || tni_gradcheck_walk(s, output, zeros, row) ||
                   compare_rows(s, "a walk from a gradient of zeros", row, with, 0, 0)
               ? tni_pending()
               : TN_OK;
}

/* The whole analytic Jacobian. It stays 0 for an output that does not depend on the inputs. */
static tn_status fill_analytic(const tni_gradcheck *s, tn_tensor **outputs)
{
    size_t n = 1, bytes;
    for (int o = 0; o < s->n_outputs; o++)
        if (outputs[o] && (size_t)tni_gradcheck_count(outputs[o]) > n)
            n = (size_t)tni_gradcheck_count(outputs[o]);
    if (!tni_add_size(n, 2 * (size_t)s->columns, &n) || !tni_mul_size(n, sizeof(double), &bytes))
        return TNI_FAIL(TN_ERROR_OVERFLOW, s->name, "the Jacobian has more bytes than size_t holds");
    double *values = tni_alloc(bytes);
    if (!values)
        return TNI_FAIL_MEMORY(s->name, bytes);
    for (int o = 0; o < s->n_outputs && !tni_pending(); o++) {
        tn_tensor *output = outputs[o];
        if (!output || !tni_requires_grad(output))
            continue;
        if (fill_rows(s, output, s->row_at[o], values) == TN_OK)
            check_walks(s, output, s->row_at[o], values, values + n - 2 * s->columns);
    }
    tni_free(values, bytes);
    return tni_pending();
}

/* Real number c of x, in memory. */
double *tni_gradcheck_place(const tn_tensor *x, int64_t c)
{
    int64_t parts = tni_gradcheck_parts(x), element = c / parts, at = 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        at += element % x->sizes[d] * x->strides[d];
        element /= x->sizes[d];
    }
    return (double *)(void *)tni_data(x) + at * parts + c % parts;
}

tn_status tni_gradcheck_evaluate(const tni_gradcheck *s, double *values)
{
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = s->gradient ? tn_enable_grad() : tn_no_grad();
    if (!tni_pending() && run(s, s->outputs) == TN_OK)
        for (int o = 0; o < s->n_outputs; o++) {
            int64_t rows = s->row_at[o + 1] - s->row_at[o];
            if (s->outputs[o] && tni_gradcheck_count(s->outputs[o]) != rows) {
                TNI_FAIL(TN_ERROR_NOT_CLOSE, s->name, "the function's result changes its shape from call to call");
                break;
            }
            if (tni_gradcheck_read(s->outputs[o], values + s->row_at[o], rows))
                break;
        }
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return tni_pending();
}

static int owner_of(const int64_t *at, int n, int64_t i)
{
    int owner = 0;
    while (owner + 1 < n && i >= at[owner + 1])
        owner++;
    return owner;
}

/* One entry against its difference. */
static tn_status judge(const tni_gradcheck *s, int64_t m, int64_t c, double numeric)
{
    tn_gradcheck_result *result = s->result;
    double analytic = s->jacobian[m * s->columns + c], difference = fabs(analytic - numeric);
    double allowed = s->options.atol + s->options.rtol * fabs(numeric), ratio = difference / allowed;
    bool passes = difference <= allowed;
    result->compared++;
    if (passes && ratio < result->ratio)
        return TN_OK;
    int i = owner_of(s->at, s->n_moved, c), o = owner_of(s->row_at, s->n_outputs, m);
    int parts = tni_gradcheck_parts(s->moved[i]), output_parts = s->parts[o];
    result->input = s->number[i];
    result->element = (c - s->at[i]) / parts;
    result->imaginary = (c - s->at[i]) % parts;
    result->output = s->gradient ? s->number[o] : 0;
    result->output_element = (m - s->row_at[o]) / output_parts;
    result->output_imaginary = (m - s->row_at[o]) % output_parts;
    result->analytic = analytic;
    result->numeric = numeric;
    result->difference = difference;
    result->ratio = ratio;
    if (passes)
        return TN_OK;
    char a[32], b[32], d[32], e[32], which[48] = "", of[64] = "";
    tni_text_double(a, sizeof a, analytic);
    tni_text_double(b, sizeof b, numeric);
    tni_text_scientific(d, sizeof d, difference, 1);
    tni_text_scientific(e, sizeof e, allowed, 1);
    if (result->input == s->n)
        memcpy(which, "the result's gradient", sizeof "the result's gradient");
    else
        snprintf(which, sizeof which, "input %d", result->input);
    if (s->gradient)
        snprintf(of, sizeof of, " of the gradient of input %d", result->output);
    return TNI_FAIL(
        TN_ERROR_NOT_CLOSE, s->name,
        "%s, element %lld%s: the derivative of element %lld%s%s is %s, differences give %s, %s apart: needed "
        "at most %s",
        which, (long long)result->element, result->imaginary ? " (imaginary)" : "", (long long)result->output_element,
        result->output_imaginary ? " (imaginary)" : "", s->gradient ? of : " of the result", a, b, d, e);
}

/* Column c by differences, and its comparison. values: room for two columns. */
static tn_status check_column(const tni_gradcheck *s, const tn_tensor *x, int64_t c, double *values)
{
    double *place = tni_gradcheck_place(x, c - s->at[owner_of(s->at, s->n_moved, c)]), was = *place,
           eps = s->options.eps;
    double *above = values, *below = values + s->rows;
    *place = was + eps;
    tni_gradcheck_evaluate(s, above);
    *place = was - eps;
    tni_gradcheck_evaluate(s, below);
    *place = was;
    for (int64_t m = 0; m < s->rows && !tni_pending(); m++)
        judge(s, m, c, (above[m] - below[m]) / (2 * eps));
    return tni_pending();
}

static tn_status check_columns(const tni_gradcheck *s)
{
    size_t bytes = 2 * (size_t)(s->rows + 1) * sizeof(double);
    double *values = tni_alloc(bytes);
    if (!values)
        return TNI_FAIL_MEMORY(s->name, bytes);
    for (int i = 0; i < s->n_moved; i++)
        for (int64_t c = s->at[i]; c < s->at[i + 1] && !tni_pending(); c++)
            check_column(s, s->moved[i], c, values);
    tni_free(values, bytes);
    return tni_pending();
}

/* Where each input's columns and each output's rows begin. */
void tni_gradcheck_lay_out(tni_gradcheck *s, tn_tensor *const *outputs)
{
    s->at[0] = s->row_at[0] = 0;
    for (int i = 0; i < s->n_moved; i++)
        s->at[i + 1] = s->at[i] + tni_gradcheck_count(s->moved[i]);
    for (int o = 0; o < s->n_outputs; o++) {
        const tn_tensor *like = s->gradient ? s->moved[o] : outputs[o];
        s->parts[o] = tni_gradcheck_parts(like);
        s->row_at[o + 1] = s->row_at[o] + tni_gradcheck_count(like);
    }
    s->columns = s->at[s->n_moved];
    s->rows = s->row_at[s->n_outputs];
}

static tn_status check_jacobian(tni_gradcheck *s)
{
    tn_tensor **outputs = s->outputs;
    size_t bytes;
    if (run(s, outputs))
        return tni_pending();
    tni_gradcheck_lay_out(s, outputs);
    if (s->options.fast_mode)
        return tni_gradcheck_fast(s);
    if (!tni_mul_size((size_t)s->rows, (size_t)s->columns, &bytes) || !tni_mul_size(bytes, sizeof(double), &bytes))
        return TNI_FAIL(TN_ERROR_OVERFLOW, s->name, "the Jacobian has more bytes than size_t holds");
    s->jacobian = tni_alloc_zeroed(bytes ? bytes : sizeof(double));
    if (!s->jacobian)
        return TNI_FAIL_MEMORY(s->name, bytes);
    if (fill_analytic(s, outputs) == TN_OK)
        check_columns(s);
    tni_free(s->jacobian, bytes ? bytes : sizeof(double));
    return tni_pending();
}

/* The gradient of the result that the second order begins with: one more input. */
static tn_status choose_gradient(tni_gradcheck *s)
{
    tn_tensor *y = tni_gradcheck_call(s);
    if (!y)
        return tni_pending();
    tn_tensor *gradient = tn_empty_on(y->sizes, y->ndim, (tn_dtype)y->dtype, (tn_device){TN_CPU, 0});
    if (!gradient)
        return tni_pending();
    double *values = (double *)(void *)tni_data(gradient);
    for (int64_t k = 0; k < tni_gradcheck_count(gradient); k++)
        values[k] = tni_probe_value((uint64_t)k + 1000);
    s->gradient = gradient;
    s->n_outputs = s->n_moved;
    s->number[s->n_moved] = s->n;
    s->moved[s->n_moved++] = gradient;
    return tn_requires_grad_(gradient, true);
}

tn_status tni_gradcheck_run(tni_gradcheck *s, const tn_gradcheck_options *options, tn_gradcheck_result *result,
                            tn_status (*check)(tni_gradcheck *s))
{
    static const tn_gradcheck_options defaults;
    tn_gradcheck_result own;
    const size_t n = s->n > 0 ? (size_t)s->n + 2 : 2;
    const size_t bytes = n * (2 * sizeof(tn_tensor *) + 2 * sizeof(int64_t) + 2 * sizeof(int));
    s->options = options ? *options : defaults;
    s->options.eps = s->options.eps != 0 ? s->options.eps : 1e-6;
    s->options.atol = s->options.atol != 0 ? s->options.atol : 1e-5;
    s->options.rtol = s->options.rtol != 0 ? s->options.rtol : 1e-3;
    s->result = result ? result : &own;
    memset(s->result, 0, sizeof *s->result);
    if (tni_pending())
        return tni_pending();
    s->moved = tni_alloc_zeroed(bytes);
    if (!s->moved)
        return TNI_FAIL_MEMORY(s->name, bytes);
    s->outputs = s->moved + n;
    s->at = (int64_t *)(void *)(s->outputs + n);
    s->row_at = s->at + n;
    s->number = (int *)(void *)(s->row_at + n);
    s->parts = s->number + n;
    s->n_outputs = 1;
    tn_grad_mode mode = tn_enable_grad();
    tn_scope scope = tn_scope_begin();
    if (check_arguments(s) == TN_OK)
        check(s);
    tn_scope_end(scope);
    tn_grad_mode_restore(mode);
    tni_free(s->moved, bytes);
    return tni_pending();
}

static tn_status check_second(tni_gradcheck *s)
{
    return choose_gradient(s) ? tni_pending() : check_jacobian(s);
}

tn_status tn_gradcheck(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                       const tn_gradcheck_options *options, tn_gradcheck_result *result)
{
    tni_gradcheck s = {.name = "gradcheck", .function = f, .context = context, .inputs = inputs, .n = n};
    return tni_gradcheck_run(&s, options, result, check_jacobian);
}

tn_status tn_gradgradcheck(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                           const tn_gradcheck_options *options, tn_gradcheck_result *result)
{
    tni_gradcheck s = {.name = "gradgradcheck", .function = f, .context = context, .inputs = inputs, .n = n};
    return tni_gradcheck_run(&s, options, result, check_second);
}
