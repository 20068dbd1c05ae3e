/* What softmax, the losses and their backward operators should give, in long double. */
#include <math.h>
#include <string.h>

#include "support/reference.h"
#include "support/test.h"

/* Rounded to the dtype of the result, which arithmetic in float32 or float64 reaches within `steps` roundings of
 * numbers of that size. */
static cell settle(long double x, long double size, tn_dtype dtype, double *bound)
{
    const tn_dtype compute = dtype == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
    cell c = {(double)x, 0};
    *bound = 40 * tn_finfo(compute).eps * (double)size + 2 * reference_ulp((double)x, dtype) + reference_ulp(0, dtype);
    return cell_convert(c, TN_FLOAT64, dtype);
}

/* Where element k of the row that `index` (without its dim) names is. */
static int64_t row_place(const grid *x, int64_t row, int dim, int64_t k)
{
    int64_t index[GRID_NDIM];
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (d == dim)
            continue;
        index[d] = row % x->sizes[d];
        row /= x->sizes[d];
    }
    index[dim] = k;
    return x->ndim > 0 ? grid_linear(x, index) : 0;
}

static void softmax(const reference_call *call, expectation *e, bool logarithm, bool backward)
{
    const grid *x = &call->arguments[0].grid, *y = backward ? &call->arguments[1].grid : x;
    int dim = (int)reference_integer(call, backward ? 2 : 1, 0);
    dim = dim < 0 ? dim + x->ndim : dim;
    const int64_t n = x->ndim > 0 ? x->sizes[dim] : 1;
    e->grid = grid_new(x->dtype, x->sizes, x->ndim);
    double *bounds = reference_bounds(e);
    for (int64_t row = 0; n > 0 && row < x->numel / n; row++) {
        long double most = -INFINITY, sum = 0, size = 0;
        for (int64_t k = 0; k < n; k++)
            most = fmaxl(most, (long double)x->cells[row_place(x, row, dim, k)].f);
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = row_place(x, row, dim, k);
            const long double a = (long double)x->cells[at].f, b = (long double)y->cells[at].f;
            const long double term = !backward ? expl(a - most) : logarithm ? a : a * b;
            sum += term;
            size += fabsl(term);
        }
        for (int64_t k = 0; k < n; k++) {
            const int64_t at = row_place(x, row, dim, k);
            const long double a = (long double)x->cells[at].f, b = (long double)y->cells[at].f;
            const long double factor = logarithm ? expl(b) : b;
            long double value = logarithm ? a - most - logl(sum) : expl(a - most) / sum, scale = fabsl(a) + fabsl(most);
            if (backward) {
                value = logarithm ? a - factor * sum : b * (a - sum);
                scale = logarithm ? fabsl(a) + factor * size : fabsl(b) * (fabsl(a) + size);
            }
            e->grid.cells[at] = settle(value, 1 + scale, x->dtype, &bounds[at]);
        }
    }
}

typedef enum loss { MSE, L1, SMOOTH_L1, HUBER, BCE, LOGITS, LOSSES } loss;

static long double loss_value(loss kind, long double x, long double t, long double p, long double parameter)
{
    const long double d = x - t, z = fabsl(d);
    switch (kind) {
    case MSE:
        return d * d;
    case L1:
        return z;
    case SMOOTH_L1:
        return z < parameter ? z * z / (2 * parameter) : z - parameter / 2;
    case HUBER:
        return z <= parameter ? z * z / 2 : parameter * (z - parameter / 2);
    case BCE:
        return -t * fmaxl(logl(x), -100) - (1 - t) * fmaxl(log1pl(-x), -100);
    default:
        return (1 - t) * x + (1 + (p - 1) * t) * (log1pl(expl(-fabsl(x))) + fmaxl(-x, 0));
    }
}

static long double loss_slope(loss kind, long double x, long double t, long double p, long double parameter)
{
    const long double d = x - t, sign = (d > 0) - (d < 0);
    switch (kind) {
    case MSE:
        return 2 * d;
    case L1:
        return sign;
    case SMOOTH_L1:
        return fabsl(d) < parameter ? d / parameter : sign;
    case HUBER:
        return fabsl(d) <= parameter ? d : parameter * sign;
    case BCE:
        return d / fmaxl(x * (1 - x), 1e-12L);
    default:
        return (1 + (p - 1) * t) / (1 + expl(-x)) - p * t;
    }
}

/* Where the arguments stand in a schema; 0: it has none. */
static const struct schema {
    const char *name;
    loss kind;
    bool backward;
    int reduction, parameter, weight, positive;
} schemas[] = {
    {"mse_loss", MSE, false, 2, 0, 0, 0},
    {"l1_loss", L1, false, 2, 0, 0, 0},
    {"smooth_l1_loss", SMOOTH_L1, false, 2, 3, 0, 0},
    {"huber_loss", HUBER, false, 3, 2, 0, 0},
    {"bce_loss", BCE, false, 2, 0, 3, 0},
    {"bce_with_logits", LOGITS, false, 2, 0, 4, 3},
    {"mse_loss_backward", MSE, true, 3, 0, 0, 0},
    {"l1_loss_backward", L1, true, 3, 0, 0, 0},
    {"smooth_l1_loss_backward", SMOOTH_L1, true, 3, 4, 0, 0},
    {"huber_loss_backward", HUBER, true, 3, 4, 0, 0},
    {"bce_loss_backward", BCE, true, 3, 0, 4, 0},
    {"bce_with_logits_backward", LOGITS, true, 3, 0, 5, 4},
};

static double optional(const reference_call *call, int i, const grid *shape, const int64_t *index, tn_dtype dtype)
{
    const reference_argument *a = i > 0 ? reference_given(call, i) : NULL;
    return a ? reference_operand(a, shape, index, dtype).f : 1;
}

static double number(const reference_call *call, int i)
{
    const reference_argument *a = i > 0 ? reference_given(call, i) : NULL;
    if (!a)
        return 1;
    return a->given->number.kind == TN_SCALAR_FLOAT ? a->given->number.value.f : (double)a->given->number.value.i;
}

static void losses(const reference_call *call, expectation *e, const struct schema *s)
{
    const int first = s->backward ? 1 : 0;
    const tn_dtype dtype = call->arguments[first].grid.dtype;
    const int64_t reduction = reference_integer(call, s->reduction, TN_MEAN);
    reference_call pair = *call;
    grid shape = {0};
    int64_t index[GRID_NDIM];
    pair.arguments[0] = call->arguments[first];
    pair.arguments[1] = call->arguments[first + 1];
    reference_broadcast(&pair, 2, &shape);
    shape.numel = shape_numel(shape.sizes, shape.ndim);
    const bool all = s->backward || reduction == TN_NONE;
    e->grid = grid_new(dtype, shape.sizes, all ? shape.ndim : 0);
    double *bounds = reference_bounds(e);
    long double total = 0, total_size = 0;
    for (int64_t i = 0; i < shape.numel; i++) {
        grid_index(&shape, i, index);
        const long double x = (long double)reference_operand(&pair.arguments[0], &shape, index, dtype).f;
        const long double t = (long double)reference_operand(&pair.arguments[1], &shape, index, dtype).f;
        const long double p = (long double)optional(call, s->positive, &shape, index, dtype);
        long double factor = (long double)optional(call, s->weight, &shape, index, dtype);
        if (s->backward)
            factor *= (long double)reference_operand(&call->arguments[0], &shape, index, dtype).f;
        if (s->backward && reduction == TN_MEAN)
            factor /= (long double)shape.numel;
        const long double parameter = (long double)number(call, s->parameter);
        const long double y = s->backward ? loss_slope(s->kind, x, t, p, parameter)
                                          : loss_value(s->kind, x, t, p, parameter);
        const long double size = fabsl(y) + (1 + fabsl(x) + fabsl(t)) * (1 + fabsl(x) + fabsl(t)) * (1 + fabsl(p));
        if (all)
            e->grid.cells[i] = settle(y * factor, size * fabsl(factor), dtype, &bounds[i]);
        total += y * factor;
        total_size += size * fabsl(factor);
    }
    const long double count = reduction == TN_MEAN ? (long double)shape.numel : 1;
    if (!all)
        e->grid.cells[0] = settle(total / count, count > 0 ? total_size / count : 0, dtype, &bounds[0]);
}

/* x[n, c, ...]; the target's element i stands for sample n and place `...`. */
static void nll(const reference_call *call, expectation *e, bool backward)
{
    const grid *x = &call->arguments[0].grid, *t = &call->arguments[1].grid;
    const sample_argument *size = call->arguments[2].given;
    const int first = backward ? 3 : 2, ndim = backward ? size->n : x->ndim, c = ndim > 1 ? 1 : 0;
    const int64_t reduction = reference_integer(call, first, TN_MEAN);
    const int64_t ignored = reference_integer(call, first + 1, -100);
    const reference_argument *weight = reference_given(call, first + 2);
    grid all = {.ndim = ndim};
    long double total = 0, weights = 0, sizes = 0;
    memcpy(all.sizes, backward ? size->numbers : x->sizes, (size_t)ndim * sizeof *all.sizes);
    e->grid = grid_new(x->dtype, backward ? all.sizes : t->sizes, backward ? ndim : reduction == TN_NONE ? t->ndim : 0);
    double *bounds = reference_bounds(e);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < t->numel; i++) {
            int64_t index[GRID_NDIM], class = t->cells[i].i, rest = i;
            for (int d = ndim - 1; d >= 0; d--) {
                index[d] = d == c ? class : rest % all.sizes[d];
                rest /= d == c ? 1 : all.sizes[d];
            }
            const long double w = class == ignored ? 0 : weight ? (long double)weight->grid.cells[class].f : 1;
            if (pass == 0) {
                weights += w;
                continue;
            }
            const long double scale = reduction == TN_MEAN && backward ? weights : 1;
            const int64_t at = class == ignored ? 0 : grid_linear(&all, index), place = backward ? at : i;
            const long double a = (long double)x->cells[!backward ? at : x->ndim > 0 ? i : 0].f;
            total -= class == ignored ? 0 : w * a;
            sizes += fabsl(w * a);
            if ((backward && class != ignored) || (!backward && reduction == TN_NONE))
                e->grid.cells[place] = settle(class == ignored ? 0 : -w * a / scale, fabsl(w * a / scale), x->dtype,
                                              &bounds[place]);
        }
    }
    if (!backward && reduction != TN_NONE)
        e->grid.cells[0] = settle(reduction == TN_MEAN ? total / weights : total, sizes, x->dtype, &bounds[0]);
}

static void extreme_at(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid, *index = &call->arguments[1].grid;
    const int64_t given = reference_integer(call, 2, 0);
    const int dim = (int)(given < 0 ? given + x->ndim : given);
    int64_t sizes[GRID_NDIM], at[GRID_NDIM];
    int n = 0;
    for (int d = 0; d < x->ndim; d++)
        if (d != dim || reference_integer(call, 3, 0))
            sizes[n++] = index->sizes[d];
    e->grid = grid_new(x->dtype, sizes, n);
    for (int64_t i = 0; i < index->numel; i++) {
        grid_index(index, i, at);
        at[dim] = index->cells[i].i;
        e->grid.cells[i] = x->cells[grid_linear(x, at)];
    }
}

bool reference_of_loss(const reference_call *call, expectation *e)
{
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        if (strcmp(schemas[i].name, call->name) != 0)
            continue;
        losses(call, e, &schemas[i]);
        return true;
    }
    if (strcmp(call->name, "nll_loss") == 0 || strcmp(call->name, "nll_loss_backward") == 0) {
        nll(call, e, strcmp(call->name, "nll_loss") != 0);
        return true;
    }
    if (strcmp(call->name, "max_at") == 0 || strcmp(call->name, "min_at") == 0) {
        extreme_at(call, e);
        return true;
    }
    if (strcmp(call->name, "norm") == 0) {
        const grid *x = &call->arguments[0].grid;
        long double sum = 0;
        e->grid = grid_new(x->dtype, NULL, 0);
        for (int64_t i = 0; i < x->numel; i++)
            sum += (long double)x->cells[i].f * (long double)x->cells[i].f;
        e->grid.cells[0] = settle(sqrtl(sum), sqrtl(sum), x->dtype, reference_bounds(e));
        return true;
    }
    const bool logarithm = strncmp(call->name, "log_", 4) == 0;
    const char *name = call->name + (logarithm ? 4 : 0);
    if (strcmp(name, "softmax") != 0 && strcmp(name, "softmax_backward") != 0)
        return false;
    softmax(call, e, logarithm, strcmp(name, "softmax") != 0);
    return true;
}
