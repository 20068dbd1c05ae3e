/* Checks along directions: what the Jacobian J does to one direction v, seen along another, w.
 *
 * fast_mode compares <J' w, v> as one walk back gives it with the difference of <w, f> along v; the check of forward
 * mode compares it with <w, J v>, where J v is the tangent that v becomes. Both are exact but for rounding. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/forward.h>

#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "ops/gradcheck.h"

static double weight(int64_t m)
{
    return tni_probe_value((uint64_t)m);
}

/* Sizes up to 2.5: what rounds tangents is seen. */
static double direction(int64_t c)
{
    return 2.5 * tni_probe_value((uint64_t)c + 500);
}

/* other: what the derivative is compared with. input: its number, or n for all together. */
static tn_status judge(const tni_gradcheck *s, int input, double walked, double other, double allowed,
                       const char *source)
{
    tn_gradcheck_result *result = s->result;
    double difference = fabs(walked - other);
    bool passes = difference <= allowed;
    result->compared++;
    if (passes && difference / allowed < result->ratio)
        return TN_OK;
    *result = (tn_gradcheck_result){.compared = result->compared,
                                    .input = input,
                                    .element = -1,
                                    .output_element = -1,
                                    .analytic = walked,
                                    .numeric = other,
                                    .difference = difference,
                                    .ratio = difference / allowed};
    if (passes)
        return TN_OK;
    char a[32], b[32], d[32], e[32], which[40] = "of all inputs";
    tni_text_double(a, sizeof a, walked);
    tni_text_double(b, sizeof b, other);
    tni_text_scientific(d, sizeof d, difference, 1);
    tni_text_scientific(e, sizeof e, allowed, 1);
    if (input < s->n)
        snprintf(which, sizeof which, "of input %d", input);
    else if (s->gradient)
        snprintf(which, sizeof which, "of the result's gradient");
    return TNI_FAIL(TN_ERROR_NOT_CLOSE, s->name,
                    "along a direction %s the walk back gives %s, %s %s, %s apart: needed at most %s", which, a, source,
                    b, d, e);
}

/* The derivative along one direction of moved[i]; row: the gradient of the results' sum weighted by probe values.
 * room: for two columns and the values of x. */
static tn_status check_direction(const tni_gradcheck *s, int i, const double *row, double *room)
{
    const tn_tensor *x = s->moved[i];
    const int64_t first = s->at[i], n = tni_gradcheck_count(x);
    double *was = room + 2 * s->rows, analytic = 0, numeric = 0;
    for (int64_t c = 0; c < n; c++) {
        was[c] = *tni_gradcheck_place(x, c);
        analytic += row[first + c] * direction(c);
    }
    for (int side = 0; side < 2; side++) {
        double step = side == 0 ? s->options.eps : -s->options.eps;
        for (int64_t c = 0; c < n; c++)
            *tni_gradcheck_place(x, c) = was[c] + step * direction(c);
        tni_gradcheck_evaluate(s, room + side * s->rows);
    }
    for (int64_t c = 0; c < n; c++)
        *tni_gradcheck_place(x, c) = was[c];
    if (tni_pending())
        return tni_pending();
    for (int64_t m = 0; m < s->rows; m++)
        numeric += weight(m) * (room[m] - room[s->rows + m]) / (2 * s->options.eps);
    return judge(s, s->number[i], analytic, numeric, s->options.atol + s->options.rtol * fabs(numeric),
                 "differences give");
}

/* row: the gradient of the outputs' sum, weighted. more: room for one more row, then for all values. */
static tn_status walk_weighted(const tni_gradcheck *s, double *row, double *more)
{
    double *values = more + s->columns;
    for (int o = 0; o < s->n_outputs && !tni_pending(); o++) {
        tn_tensor *output = s->outputs[o];
        int64_t rows = s->row_at[o + 1] - s->row_at[o];
        if (!output || !tni_requires_grad(output))
            continue;
        for (int64_t k = 0; k < rows; k++)
            values[k] = weight(s->row_at[o] + k);
        tn_tensor *weights = tni_gradcheck_tensor(output, values);
        if (weights && tni_gradcheck_walk(s, output, weights, more) == TN_OK)
            for (int64_t c = 0; c < s->columns; c++)
                row[c] += more[c];
    }
    return tni_pending();
}

/* Room for three times rows and columns. NULL with an error. */
static double *make_room(const tni_gradcheck *s, size_t *bytes)
{
    if (!tni_mul_size(3 * (size_t)(s->rows + s->columns + 1), sizeof(double), bytes)) {
        TNI_FAIL(TN_ERROR_OVERFLOW, s->name, "the values have more bytes than size_t holds");
        return NULL;
    }
    double *room = tni_alloc_zeroed(*bytes);
    if (!room)
        TNI_FAIL_MEMORY(s->name, *bytes);
    return room;
}

tn_status tni_gradcheck_fast(const tni_gradcheck *s)
{
    size_t bytes;
    double *row = make_room(s, &bytes);
    if (!row)
        return tni_pending();
    if (walk_weighted(s, row, row + s->columns) == TN_OK)
        for (int i = 0; i < s->n_moved && !tni_pending(); i++)
            check_direction(s, i, row, row + 2 * s->columns);
    tni_free(row, bytes);
    return tni_pending();
}

/* <w, J v> for directions of moved[i], or of all that is moved (i == n_moved); sizes: of its terms. A level is open. */
static tn_status forward(const tni_gradcheck *s, int i, double *values, double *sum, double *sizes)
{
    tni_gradcheck dual = *s;
    const size_t bytes = (size_t)s->n * sizeof(tn_tensor *);
    tn_tensor **inputs = tni_alloc(bytes);
    if (!inputs)
        return TNI_FAIL_MEMORY(s->name, bytes);
    memcpy(inputs, s->inputs, bytes);
    dual.inputs = inputs;
    for (int k = 0; k < s->n_moved && !tni_pending(); k++) {
        if (i != k && i != s->n_moved)
            continue;
        int64_t n = tni_gradcheck_count(s->moved[k]);
        for (int64_t c = 0; c < n; c++)
            values[c] = direction(s->at[k] + c);
        tn_tensor *v = tni_gradcheck_tensor(s->moved[k], values);
        inputs[s->number[k]] = v ? tn_make_dual(tn_detach(s->moved[k]), v) : NULL;
    }
    tn_tensor *y = tni_pending() ? NULL : tni_gradcheck_call(&dual);
    tn_tensor *t = y ? tn_tangent(y) : NULL;
    if (!tni_pending() && tni_gradcheck_read(t, values, s->rows) == TN_OK)
        for (int64_t m = 0; m < s->rows; m++) {
            *sum += weight(m) * values[m];
            *sizes += fabs(weight(m) * values[m]);
        }
    tni_free(inputs, bytes);
    return tni_pending();
}

static tn_status check_tangent(const tni_gradcheck *s, int i, const double *row, double *values)
{
    int64_t first = i < s->n_moved ? s->at[i] : 0, last = i < s->n_moved ? s->at[i + 1] : s->columns;
    double sum = 0, sizes = 0, walked = 0;
    tn_scope scope = tn_scope_begin();
    if (!tni_pending() && tn_enter_dual_level() == TN_OK) {
        forward(s, i, values, &sum, &sizes);
        tn_exit_dual_level();
    }
    tn_scope_end(scope);
    if (tni_pending())
        return tni_pending();
    for (int64_t c = first; c < last; c++) {
        walked += row[c] * direction(c);
        sizes += fabs(row[c] * direction(c));
    }
    return judge(s, i < s->n_moved ? s->number[i] : s->n, walked, sum, 1e-10 + 1e-10 * sizes, "the tangent");
}

static tn_status check_forward(tni_gradcheck *s)
{
    size_t bytes;
    s->outputs[0] = tni_gradcheck_call(s);
    if (!s->outputs[0])
        return tni_pending();
    tni_gradcheck_lay_out(s, s->outputs);
    double *row = make_room(s, &bytes);
    if (!row)
        return tni_pending();
    if (walk_weighted(s, row, row + s->columns) == TN_OK)
        for (int i = 0; i < s->n_moved + (s->n_moved > 1) && !tni_pending(); i++)
            check_tangent(s, i, row, row + s->columns);
    tni_free(row, bytes);
    return tni_pending();
}

tn_status tn_gradcheck_forward(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                               const tn_gradcheck_options *options, tn_gradcheck_result *result)
{
    tni_gradcheck s = {.name = "gradcheck_forward", .function = f, .context = context, .inputs = inputs, .n = n};
    return tni_gradcheck_run(&s, options, result, check_forward);
}
