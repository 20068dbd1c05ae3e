/* Derivatives of the operators of the table, each sample in several layouts.
 *
 * The values of a call are all different and stay 0.05 away from multiples of 0.5, so that no difference straddles a
 * kink: relu at 0, a tie of two maxima, floor at a whole number. An operator that takes fewer numbers says so
 * (tni_derivative.domain). What an operator refuses in some layout is left out, but for the plain one. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/call.h>
#include <tenon/create.h>
#include <tenon/gradcheck.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "autograd/derivative.h"
#include "base/error.h"
#include "core/geometry.h"
#include "ops/gradcheck.h"
#include "ops/operators.h"
#include "ops/sample.h"

typedef enum layout { PLAIN, TRANSPOSED, SLICED, EXPANDED, LAYOUTS } layout;

static const char *const layout_names[LAYOUTS] = {"contiguous", "transposed", "sliced", "expanded"};

enum { OPERANDS = TNI_SAMPLE_ARGUMENTS + TNI_SAMPLE_LIST };

/* Where an operand stands: an argument, or a tensor of one that is a list. */
typedef struct place {
    const tni_sample_tensor *shape;
    int argument, listed; /* listed: -1 for an argument itself */
} place;

/* One call of the operator: a sample with operands. */
typedef struct trial {
    const tni_op *op;
    const tni_sample *sample;
    tni_form form;
    tn_dtype dtype;
    layout layouts[OPERANDS]; /* of operand i */
    int alone;                /* the operand that requires a gradient; -1: all do */
    bool through_view;        /* in place: what is written is a view, and the whole is looked at */
    tn_tensor *operands[OPERANDS];
    place places[OPERANDS];
    int n; /* operands: tensors of numbers */
    tn_value values[TNI_SAMPLE_ARGUMENTS];
    tn_tensor *lists[TNI_SAMPLE_ARGUMENTS][TNI_SAMPLE_LIST];
    uint64_t next, total; /* values given out, of all */
} trial;

static const tni_domain anywhere = {-2, 2};

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* The next value: a permutation of evenly spaced ones. */
static double next_value(trial *t)
{
    const tni_derivative *d = t->op->derivative;
    const tni_domain *domain = d && d->domain ? d->domain : &anywhere;
    uint64_t step = t->total * 5 / 8 + 1;
    while (gcd(step, t->total) != 1)
        step++;
    double cells = 2 * (domain->high - domain->low), whole;
    double rest = modf(((double)(t->next++ * step % t->total) + 0.4) / (double)t->total * cells, &whole);
    return domain->low + 0.5 * (whole + 0.1 + 0.8 * rest);
}

static bool is_mask(const trial *t, int argument)
{
    const char *name = argument < t->op->n_params ? t->op->params[argument].name : "";
    return strcmp(name, "condition") == 0 || strcmp(name, "mask") == 0;
}

static bool is_number_tensor(const tni_sample_tensor *x)
{
    return x->range == 0 && !x->absent;
}

/* Finds the operands. */
static void place_operands(trial *t)
{
    for (int i = 0; i < t->sample->n; i++) {
        const tni_sample_argument *a = &t->sample->arguments[i];
        if (a->kind == TN_VALUE_TENSOR && is_number_tensor(&a->as.tensor) && !is_mask(t, i))
            t->places[t->n++] = (place){&a->as.tensor, i, -1};
        for (int k = 0; a->kind == TN_VALUE_TENSORS && k < a->n; k++)
            if (is_number_tensor(&a->as.list[k]))
                t->places[t->n++] = (place){&a->as.list[k], i, k};
    }
}

static int64_t numel_of(const tni_sample_tensor *x)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim; d++)
        n *= x->sizes[d];
    return n;
}

static tn_tensor *positions(const tni_sample_tensor *x)
{
    int64_t range = x->range < 0 ? -x->range : x->range;
    tn_tensor *y = x->absent ? NULL : tn_empty_on(x->sizes, x->ndim, TN_INT64, (tn_device){TN_CPU, 0});
    int64_t *to = y ? (int64_t *)(void *)tni_data(y) : NULL;
    for (int64_t k = 0; y && k < y->numel; k++)
        to[k] = k % range - (x->range < 0 && k % 2 ? range : 0);
    return y;
}

static tn_tensor *mask(const tni_sample_tensor *x)
{
    tn_tensor *y = tn_empty_on(x->sizes, x->ndim, TN_BOOL, (tn_device){TN_CPU, 0});
    for (int64_t k = 0; y && k < y->numel; k++)
        tni_data(y)[k] = k % 3 != 1;
    return y;
}

/* A leaf of that shape; an expanded one has size 1 where it will repeat. */
static tn_tensor *operand(trial *t, const tni_sample_tensor *x, layout how)
{
    int64_t sizes[TNI_SAMPLE_NUMBERS], strides[TNI_SAMPLE_NUMBERS], stride = how == SLICED ? 2 : 1;
    memcpy(sizes, x->sizes, sizeof sizes);
    for (int d = 0; how == EXPANDED && d < x->ndim; d++)
        if (sizes[d] > 1) {
            sizes[d] = 1;
            break;
        }
    for (int k = 0; k < x->ndim; k++) {
        int d = how == TRANSPOSED ? k : x->ndim - 1 - k;
        strides[d] = stride;
        stride *= sizes[d] > 1 ? sizes[d] : 1;
    }
    int64_t room = stride + 1;
    tn_tensor *all = tn_zeros(&room, 1, t->dtype);
    tn_tensor *y = all ? tn_detach(tn_as_strided(all, sizes, strides, x->ndim, how == SLICED)) : NULL;
    for (int64_t c = 0; y && c < tni_gradcheck_count(y); c++)
        *tni_gradcheck_place(y, c) = next_value(t);
    return y;
}

/* Makes the operands. */
static tn_status fill(trial *t)
{
    t->next = t->total = 0;
    for (int i = 0; i < t->n; i++)
        t->total += (uint64_t)numel_of(t->places[i].shape) * (t->dtype == TN_COMPLEX128 ? 2 : 1);
    for (int i = 0; i < t->n; i++)
        t->operands[i] = operand(t, t->places[i].shape, t->layouts[i]);
    return tni_pending();
}

static void box(trial *t, int i, tn_value *value)
{
    const tni_sample_argument *a = &t->sample->arguments[i];
    memset(value, 0, sizeof *value);
    value->kind = a->kind;
    switch (a->kind) {
    case TN_VALUE_TENSOR:
        value->as.tensor = is_mask(t, i) ? mask(&a->as.tensor) : a->as.tensor.range ? positions(&a->as.tensor) : NULL;
        return;
    case TN_VALUE_TENSORS:
        for (int k = 0; k < a->n; k++)
            t->lists[i][k] = a->as.list[k].range ? positions(&a->as.list[k]) : NULL;
        value->as.tensors.data = t->lists[i];
        value->as.tensors.n = a->n;
        return;
    case TN_VALUE_INTS:
        value->as.ints.data = a->as.numbers;
        value->as.ints.n = a->n;
        return;
    case TN_VALUE_INDEX:
        value->as.index.data = a->as.index;
        value->as.index.n = a->n;
        return;
    case TN_VALUE_SCALAR:
        value->as.scalar = a->as.scalar;
        return;
    case TN_VALUE_DTYPE:
        value->as.dtype = a->as.dtype;
        return;
    default:
        return;
    }
}

/* The operands, and the other arguments boxed. */
static tn_status prepare(trial *t)
{
    for (int i = 0; i < t->sample->n && !tni_pending(); i++)
        box(t, i, &t->values[i]);
    return tni_pending() ? tni_pending() : fill(t);
}

/* A tensor with x twice in it: the second one is a strided view, to be written. */
static tn_tensor *twice(tn_tensor *x)
{
    tn_tensor *pair[] = {x, x};
    return x ? tn_stack(pair, 2, x->ndim) : NULL;
}

/* The operator on the operands: what is differentiated. */
static tn_tensor *apply(void *context, tn_tensor *const *inputs, int n)
{
    trial *t = context;
    tn_tensor *whole = NULL;
    for (int i = 0; i < n; i++) {
        const place *at = &t->places[i];
        tn_tensor *x = inputs[i];
        if (t->layouts[i] == EXPANDED)
            x = tn_expand(x, at->shape->sizes, at->shape->ndim);
        if (i == 0 && t->through_view)
            x = (whole = twice(x)) ? tn_select(whole, -1, 1) : NULL;
        else if (i == 0 && t->form == TNI_IN_PLACE)
            x = tn_clone(x);
        if (at->listed < 0)
            t->values[at->argument].as.tensor = x;
        else
            t->lists[at->argument][at->listed] = x;
    }
    tn_tensor *y = tn_call(t->op->name[t->form], t->values, t->sample->n);
    return y && whole ? whole : y;
}

static bool is_finite(const tn_tensor *y)
{
    const tn_tensor *copy = tn_contiguous(tn_resolve_neg(tn_resolve_conj((tn_tensor *)(uintptr_t)y)));
    const double *values = copy ? (const double *)(const void *)tni_data(copy) : NULL;
    bool finite = copy;
    for (int64_t k = 0; finite && k < tni_gradcheck_count(copy); k++)
        finite = isfinite(values[k]);
    return finite;
}

/* Whether the call works and gives finite numbers in double precision. Sets *rows to how many. */
static bool applies(trial *t, tn_status *refused, int64_t *rows)
{
    tn_error before;
    tn_error_push(&before);
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    const tn_tensor *y = apply(t, t->operands, t->n);
    bool fits = y && (y->dtype == TN_FLOAT64 || y->dtype == TN_COMPLEX128) && is_finite(y);
    *rows = y ? tni_gradcheck_count(y) : 0;
    *refused = tni_pending();
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_error_pop(&before);
    return fits;
}

static void note_fault(const trial *t, tn_operator_check *check, const tn_gradcheck_result *at)
{
    int used = 0;
    if (tni_pending() == TN_ERROR_NOT_IMPLEMENTED && strcmp(tn_error_get()->function, "backward") == 0) {
        check->verdict = TN_OPERATOR_NO_DERIVATIVE; /* what PyTorch refuses in the walk alone: set_ */
        return;
    }
    check->verdict = TN_OPERATOR_FAULT;
    check->at = *at;
    snprintf(check->sample, sizeof check->sample, "%s", t->sample->text + (t->sample->fails ? 2 : 0)); /* "! " */
    for (int i = 0; i < t->n && used >= 0 && used < (int)sizeof check->layout; i++)
        used += snprintf(check->layout + used, sizeof check->layout - (size_t)used, "%s%s", i ? ", " : "",
                         layout_names[t->layouts[i]]);
    if (used >= 0 && used < (int)sizeof check->layout)
        snprintf(check->layout + used, sizeof check->layout - (size_t)used, "%s%s", tn_dtype_name(t->dtype) ? " " : "",
                 tn_dtype_name(t->dtype));
    check->form = t->op->name[t->form];
    snprintf(check->message, sizeof check->message, "%s", tn_error_message());
}

/* An error beside the size of what it is an error of. */
static void note_worst(double *worst, const tn_gradcheck_result *r)
{
    double error = r->difference / (fabs(r->numeric) > 1 ? fabs(r->numeric) : 1);
    if (!(error <= *worst))
        *worst = error;
}

typedef tn_status (*check_function)(tn_gradcheck_function, void *, tn_tensor *const *, int,
                                    const tn_gradcheck_options *, tn_gradcheck_result *);

static void run_checks(trial *t, const tn_gradcheck_options *options, tn_operator_check *check)
{
    static const check_function checks[] = {tn_gradcheck, tn_gradgradcheck, tn_gradcheck_forward};
    double *const worst[] = {&check->first, &check->second, &check->forward};
    tn_error before;
    tn_error_push(&before);
    for (int i = 0; i < 3 && check->verdict == TN_OPERATOR_OK; i++) {
        tn_gradcheck_result r;
        tn_status status = checks[i](apply, t, t->operands, t->n, options, &r);
        if (status)
            note_fault(t, check, &r);
        else
            note_worst(worst[i], &r);
        check->compared += r.compared;
        tn_error_clear();
    }
    tn_error_pop(&before);
}

static bool has_room_to(const tni_sample_tensor *x, layout how)
{
    int larger = 0;
    for (int d = 0; d < x->ndim; d++)
        larger += x->sizes[d] > 1;
    return how == PLAIN || how == SLICED || (how == TRANSPOSED ? larger > 1 : larger > 0);
}

/* Whether a layout changes any operand. */
static bool differs(const trial *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->layouts[i] != PLAIN && has_room_to(t->places[i].shape, t->layouts[i]))
            return true;
    return false;
}

enum { LARGE = 10000 }; /* entries of a Jacobian, here of the second order, that are not looked at one by one */

static void run_trial(trial *t, const tn_gradcheck_options *options, tn_operator_check *check)
{
    tn_gradcheck_options fast = options ? *options : (tn_gradcheck_options){.eps = 0};
    tn_status refused = TN_OK;
    int64_t rows = 0;
    tn_scope scope = tn_scope_begin();
    if (prepare(t) == TN_OK && t->n > 0) {
        bool works = applies(t, &refused, &rows);
        if (works && !t->op->derivative)
            check->verdict = TN_OPERATOR_NO_DERIVATIVE;
        for (int i = 0; works && i < t->n; i++)
            if (t->alone < 0 || t->alone == i)
                tn_requires_grad_(t->operands[i], true);
        if ((double)(rows + (int64_t)t->total) * (double)t->total > LARGE)
            fast.fast_mode = true;
        if (works && t->op->derivative && !tni_pending()) {
            check->cases++;
            run_checks(t, &fast, check);
        }
    }
    tn_scope_end(scope);
}

static bool goes_on(const tn_operator_check *check)
{
    return check->verdict == TN_OPERATOR_OK && !tni_pending();
}

/* A sample in one dtype: all operands in each layout, each operand alone in each, each alone with a gradient, in
 * place, in place through a view. */
static void run_sample(const tni_op *op, const tni_sample *s, tn_dtype dtype, const tn_gradcheck_options *options,
                       tn_operator_check *check)
{
    trial t = {.op = op, .sample = s, .dtype = dtype, .alone = -1};
    const tni_form form = op->name[TNI_NEW] ? TNI_NEW : TNI_IN_PLACE;
    t.form = form;
    place_operands(&t);
    const int n = t.n;
    for (int how = PLAIN; how < LAYOUTS; how++)
        for (int one = -1; one < (n > 1 ? n : 0) && goes_on(check); one++) {
            for (int i = 0; i < n; i++)
                t.layouts[i] = one < 0 || one == i ? (layout)how : PLAIN;
            t.alone = how == PLAIN ? one : -1;
            if (how == PLAIN || differs(&t))
                run_trial(&t, options, check);
        }
    memset(t.layouts, 0, sizeof t.layouts);
    t.alone = -1;
    t.form = TNI_IN_PLACE;
    if (form == TNI_NEW && op->name[TNI_IN_PLACE] && goes_on(check))
        run_trial(&t, options, check);
    t.through_view = true;
    if (op->name[TNI_IN_PLACE] && op->run && goes_on(check))
        run_trial(&t, options, check);
}

tn_status tn_gradcheck_operator(int number, const tn_gradcheck_options *options, tn_operator_check *check)
{
    static const tn_dtype dtypes[] = {TN_FLOAT64, TN_COMPLEX128};
    if (tni_pending())
        return tni_pending();
    if (!check)
        return TNI_FAIL_NULL("gradcheck_operator", 3, "check");
    memset(check, 0, sizeof *check);
    if (number < 0 || number >= tni_operator_count)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "gradcheck_operator", "there is no operator %d, needed 0 to %d", number,
                        tni_operator_count - 1);
    const tni_op *op = tni_operators[number];
    check->name = tn_operator_name(number);
    if (op->derivative && !op->derivative->vjp) {
        check->verdict = TN_OPERATOR_CONSTANT;
        return TN_OK;
    }
    const char *text = op->samples ? op->samples : "";
    tni_sample s;
    while (goes_on(check) && tni_sample_next(&text, &s)) {
        int before = check->cases;
        if (s.n < 0)
            return TNI_FAIL(TN_ERROR_STATE, check->name, "its sample \"%s\" can't be read", s.text);
        for (int i = 0; i < 2 && goes_on(check); i++)
            if (i == 1 || !s.fails) /* what is refused for real numbers may be made for complex ones */
                run_sample(op, &s, dtypes[i], options, check);
        check->samples += check->cases > before;
    }
    if (check->verdict == TN_OPERATOR_OK && check->cases == 0)
        check->verdict = op->derivative || op->n_in == 0 ? TN_OPERATOR_CONSTANT : TN_OPERATOR_NO_DERIVATIVE;
    if (check->verdict == TN_OPERATOR_NO_DERIVATIVE)
        check->samples = check->cases = 0;
    return tni_pending();
}
