/* Every operator of the table that can be differentiated, with its samples, in float64: the tangent against central
 * differences, against reverse mode (<w, J t> = <J' w, t>), with one input's tangent at a time, in several layouts, and
 * in place. A view's tangent is the view of the tangent. What reverse mode refuses is refused here. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "autograd/derivative.h"
#include "dispatch/op.h"
#include "support/calls.h"
#include "support/test.h"

enum { OPERANDS = SAMPLE_ARGUMENTS, RANGES = 2 };
typedef enum grip { PLAIN, TRANSPOSED, SLICED, EXPANDED, GRIPS } grip;

static int compared, refused;

/* One call with everything that it is tried with. */
typedef struct trial {
    const tni_op *op;
    const char *name;
    reference_call call;
    bool in_place;
    int n;
    int at[OPERANDS];           /* which arguments can have tangents */
    tn_tensor *x[OPERANDS], *t[OPERANDS];
    char text[256];
} trial;

static uint64_t state_of_numbers;

static double next_number(double low, double high)
{
    state_of_numbers = state_of_numbers * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(state_of_numbers >> 11) * 0x1p-53;
}

static tn_tensor *numbers(const int64_t *sizes, int ndim, double low, double high)
{
    tn_tensor *x = tn_empty(sizes, ndim, TN_FLOAT64);
    double *data = tn_data_mut(x);
    for (int64_t i = 0; i < tn_numel(x); i++)
        data[i] = next_number(low, high);
    return x;
}

/* Numbers of that shape, held in one of several ways. */
static tn_tensor *held(const int64_t *sizes, int ndim, grip how, double low, double high)
{
    int64_t other[GRID_NDIM];
    int64_t dims[GRID_NDIM];
    for (int d = 0; d < ndim; d++)
        other[d] = sizes[d];
    if (ndim == 0 || how == PLAIN)
        return numbers(sizes, ndim, low, high);
    if (how == SLICED) {
        other[ndim - 1] = 2 * sizes[ndim - 1] + 1;
        return tn_slice(numbers(other, ndim, low, high), ndim - 1, 1, 2 * sizes[ndim - 1] + 1, 2);
    }
    if (how == EXPANDED) {
        other[0] = sizes[0] > 0;
        return tn_expand(numbers(other, ndim, low, high), sizes, ndim);
    }
    for (int d = 0; d < ndim; d++) {
        other[d] = sizes[ndim - 1 - d];
        dims[d] = ndim - 1 - d;
    }
    return tn_permute(numbers(other, ndim, low, high), dims, ndim);
}

static void describe(trial *t, const sample *s, grip how, int range)
{
    static const char *const grips[] = {"plain", "transposed", "sliced", "expanded"};
    snprintf(t->text, sizeof t->text, "%s %s, %s, range %d%s", t->name, s->text, grips[how], range,
             t->in_place ? ", in place" : "");
}

static tn_tensor *run(trial *t, tn_tensor *const *x)
{
    for (int i = 0; i < t->n; i++)
        t->call.arguments[t->at[i]].tensor = x[i];
    tn_tensor *y = call_run(&t->call, t->name);
    return y;
}

/* The call on these, which stay as they are. */
static tn_tensor *run_apart(trial *t, tn_tensor *const *x)
{
    tn_tensor *mine[OPERANDS];
    for (int i = 0; i < t->n; i++)
        mine[i] = i == 0 && t->in_place ? tn_clone(x[i]) : x[i];
    return run(t, mine);
}

static bool begin_trial(trial *t, const tni_op *op, bool in_place, const sample *s, grip how, int range)
{
    const variant v = {.dtypes = {TN_FLOAT64, TN_FLOAT64, TN_FLOAT64}, .seed = 7};
    memset(t, 0, sizeof *t);
    t->op = op;
    t->in_place = in_place;
    t->name = op->name[in_place ? TNI_IN_PLACE : TNI_NEW];
    describe(t, s, how, range);
    call_prepare(&t->call, op->name[TNI_NEW] ? op->name[TNI_NEW] : op->name[TNI_IN_PLACE], s, &v);
    for (int i = 0; i < t->call.n; i++) {
        reference_argument *a = &t->call.arguments[i];
        if (a->kind != SAMPLE_TENSOR || tn_tensor_dtype(a->tensor) != TN_FLOAT64)
            continue;
        const int k = t->n++;
        t->at[k] = i;
        t->x[k] = held(a->given->numbers, a->given->n, how, range ? 1.1 : 0.15, range ? 2.4 : 0.95);
        t->t[k] = held(a->given->numbers, a->given->n, how == EXPANDED ? how : PLAIN, -1, 1);
    }
    return t->n > 0;
}

static void end_trial(trial *t)
{
    call_free(&t->call);
}

static double dot(tn_tensor *a, tn_tensor *b)
{
    double sum = 0;
    grid x = grid_read(a), y = grid_read(b);
    assert_int_equal(x.numel, y.numel);
    for (int64_t i = 0; i < x.numel; i++)
        sum += x.cells[i].f * y.cells[i].f;
    grid_free(&x);
    grid_free(&y);
    return sum;
}

/* How far sums of a result of that dtype may be off. */
static double slack(const tn_tensor *y)
{
    return tn_tensor_dtype(y) == TN_FLOAT64 ? 1e-10 : 1e-2;
}

/* The derivative of the call along the tangents of `mask`, by central differences of step h. */
static grid differences(trial *t, unsigned mask, double h)
{
    tn_tensor *far[2][OPERANDS];
    for (int i = 0; i < t->n; i++)
        for (int side = 0; side < 2; side++)
            far[side][i] = mask >> i & 1 ? tn_add_alpha(t->x[i], t->t[i], tn_float(side ? -h : h)) : t->x[i];
    tn_tensor *ahead = run_apart(t, far[0]), *behind = run_apart(t, far[1]);
    if (!ahead || !behind)
        fail_msg("%s: %s", t->text, tn_error_message());
    grid a = grid_read(ahead), b = grid_read(behind);
    for (int64_t i = 0; i < a.numel; i++)
        a.cells[i].f = (a.cells[i].f - b.cells[i].f) / (2 * h);
    grid_free(&b);
    return a;
}

static bool agree(double have, double need)
{
    return isnan(need) || isinf(need) || fabs(have - need) <= 1e-5 * (1 + fabs(need));
}

/* The tangent (NULL: zero) of y is the derivative: a short step misses the kinks that a long one meets, and sees less
 * of what is smooth. */
static void check_differences(trial *t, tn_tensor *y, tn_tensor *tangent, unsigned mask)
{
    if (tn_tensor_dtype(y) != TN_FLOAT64) /* differences of narrow numbers say nothing */
        return;
    if (!tangent)
        tangent = tn_zeros_like(tn_detach(y), TN_FLOAT64, TN_PRESERVE_FORMAT);
    grid far = differences(t, mask, 1e-6), near = differences(t, mask, 1e-8), have = grid_read(tangent);
    if (have.numel != far.numel)
        fail_msg("%s: the tangent has another shape", t->text);
    for (int64_t i = 0; i < have.numel; i++)
        if (!agree(have.cells[i].f, far.cells[i].f) && !agree(have.cells[i].f, near.cells[i].f))
            fail_msg("%s: tangent %g at %lld, differences say %g (inputs %x)", t->text, have.cells[i].f, (long long)i,
                     far.cells[i].f, mask);
    compared++;
    grid_free(&far);
    grid_free(&near);
    grid_free(&have);
}

/* Of positions that come twice reverse mode gives each value the gradient, as PyTorch does; one of them was written. */
static bool may_write_twice(const trial *t)
{
    return strncmp(t->name, "index_put", 9) == 0 || strncmp(t->name, "index_copy", 10) == 0;
}

/* <w, J t> of forward mode and <J' w, t> of reverse mode. */
static void check_reverse(trial *t, tn_tensor *tangent)
{
    tn_tensor *leaves[OPERANDS], *in[OPERANDS];
    for (int i = 0; i < t->n; i++) {
        leaves[i] = tn_detach(t->x[i]);
        tn_requires_grad_(leaves[i], true);
        in[i] = i == 0 && t->in_place ? tn_mul_scalar(leaves[i], tn_float(1)) : leaves[i];
    }
    tn_tensor *y = run(t, in);
    if (!y || !tn_requires_grad(y))
        fail_msg("%s: reverse mode: %s", t->text, y ? "not recorded" : tn_error_message());
    tn_tensor *w = held(tn_sizes(y), tn_ndim(y), PLAIN, -1, 1);
    const tn_grad_options options = {.allow_unused = true};
    tn_list *grads = tn_grad(&y, &w, 1, leaves, t->n, &options);
    if (!grads)
        fail_msg("%s: reverse mode: %s", t->text, tn_error_message());
    double reverse = 0, forward = dot(w, tangent);
    for (int i = 0; i < t->n; i++)
        if (tn_list_get(grads, i))
            reverse += dot(tn_list_get(grads, i), t->t[i]);
    if (!(fabs(forward - reverse) <= slack(y) * (1 + fabs(reverse))) && !isnan(reverse) && !isnan(forward))
        fail_msg("%s: forward %.17g, reverse %.17g", t->text, forward, reverse);
}

/* The tangent of the call on duals with the tangents of `mask`; *y is its value. */
static tn_tensor *run_dual(trial *t, unsigned mask, tn_tensor **y)
{
    tn_tensor *in[OPERANDS];
    for (int i = 0; i < t->n; i++) {
        bool written = i == 0 && t->in_place;
        tn_tensor *x = written ? tn_clone(t->x[i]) : t->x[i];
        in[i] = mask >> i & 1 ? tn_make_dual(x, written ? tn_clone(t->t[i]) : t->t[i]) : x;
    }
    *y = run(t, in);
    tn_tensor *tangent = *y ? tn_tangent(*y) : NULL;
    if (tangent && !t->in_place && tn_is_view(*y) && tn_storage_of(*y) == tn_storage_of(in[0]) &&
        tn_storage_of(tangent) != tn_storage_of(tn_tangent(in[0])))
        fail_msg("%s: the view's tangent has memory of its own", t->text);
    return tangent;
}

/* What reverse mode does with the call: 1 recorded, 0 constant, -1 refused. */
static int reverse_rule(trial *t)
{
    tn_tensor *in[OPERANDS];
    const tni_derivative *d = t->op->derivative;
    if (!d || (d->name && strcmp(d->name, "NotImplemented") == 0)) /* recorded, but walks are refused */
        return -1;
    for (int i = 0; i < t->n; i++) {
        in[i] = tn_detach(t->x[i]);
        tn_requires_grad_(in[i], true);
        in[i] = i == 0 && t->in_place ? tn_mul_scalar(in[i], tn_float(1)) : in[i];
    }
    tn_tensor *y = run(t, in);
    if (!y)
        fail_msg("%s: reverse mode: %s", t->text, tn_error_message());
    return tn_requires_grad(y);
}

static void check_trial(trial *t)
{
    tn_tensor *y;
    tn_tensor *plain = run_apart(t, t->x);
    if (!plain || !tn_is_floating_point(tn_tensor_dtype(plain))) {
        tn_error_clear(); /* a sample that only other layouts take, or one without a tangent */
        return;
    }
    const int rule = reverse_rule(t);
    const unsigned all = (1u << t->n) - 1;
    tn_tensor *tangent = run_dual(t, all, &y);
    if (rule < 0) {
        refused++;
        if ((y || tn_error_code() != TN_ERROR_NOT_IMPLEMENTED))
            fail_msg("%s: has no derivative and is not refused: %s", t->text, tn_error_message());
        tn_error_clear();
        return;
    }
    if (!y)
        fail_msg("%s: %s", t->text, tn_error_message());
    if (!rule && !t->in_place) {
        if (tangent)
            fail_msg("%s: is constant and has a tangent", t->text);
        return;
    }
    if (!tangent)
        fail_msg("%s: no tangent", t->text);
    check_differences(t, y, tangent, all);
    if (rule && !may_write_twice(t))
        check_reverse(t, tangent);
    for (int i = 0; i < t->n && t->n > 1; i++) {
        tangent = run_dual(t, 1u << i, &y);
        if (!y)
            fail_msg("%s: with a tangent of input %d alone: %s", t->text, i, tn_error_message());
        check_differences(t, y, tangent, 1u << i);
    }
}

static void check_sample(const tni_op *op, const sample *s)
{
    for (int form = 0; form < 2; form++) {
        if (!op->name[form ? TNI_IN_PLACE : TNI_NEW])
            continue;
        const bool plain = form || strcmp(op->name[TNI_NEW], "as_strided") == 0; /* it reads the layout */
        for (int how = 0; how < (plain ? 1 : GRIPS); how++) {
            for (int range = 0; range < RANGES; range++) {
                trial t;
                tn_scope scope = tn_scope_begin();
                assert_int_equal(tn_enter_dual_level(), TN_OK);
                if (begin_trial(&t, op, form == 1, s, (grip)how, range))
                    check_trial(&t);
                end_trial(&t);
                assert_int_equal(tn_exit_dual_level(), TN_OK);
                assert_int_equal(tn_scope_end(scope), TN_OK);
            }
        }
    }
}

static void test_table(void **state)
{
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *text = op->samples;
        sample s;
        state_of_numbers = (uint64_t)i + 1;
        if (op->alter || !text)
            continue;
        while (sample_next(&text, &s))
            if (!s.fails)
                check_sample(op, &s);
    }
    print_message("%d tangents compared, %d calls refused\n", compared, refused);
    assert_true(compared > 100);
}

TEST_MAIN(test(test_table))
