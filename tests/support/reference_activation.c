/* What softplus, leaky_relu, gelu and silu must give, by their formulas in long double. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"

static long double number(const reference_call *call, int i, double otherwise)
{
    const reference_argument *a = reference_given(call, i);
    if (!a)
        return otherwise;
    return a->given->number.kind == TN_SCALAR_FLOAT ? a->given->number.value.f : (double)a->given->number.value.i;
}

static long double softplus(const reference_call *call, long double x)
{
    long double beta = number(call, 1, 1), z = beta * x;
    return z > number(call, 2, 20) ? x : log1pl(expl(z)) / beta;
}

static long double leaky_relu(const reference_call *call, long double x)
{
    return x > 0 ? x : x * number(call, 1, 0.01);
}

static long double gelu(const reference_call *call, long double x)
{
    const reference_argument *by_tanh = reference_given(call, 1);
    if (by_tanh && by_tanh->given->number.value.i)
        return x / 2 * (1 + tanhl(0.797884560802865355879892L * (x + 0.044715L * x * x * x)));
    return x / 2 * (1 + erfl(x * 0.707106781186547524400844L));
}

static long double silu(const reference_call *call, long double x)
{
    (void)call;
    return x / (1 + expl(-x));
}

static const struct {
    const char *name;
    long double (*function)(const reference_call *call, long double x);
} functions[] = {{"softplus", softplus}, {"leaky_relu", leaky_relu}, {"gelu", gelu}, {"silu", silu}};

bool reference_of_activation(const reference_call *call, expectation *e)
{
    size_t row = 0;
    while (row < sizeof functions / sizeof *functions && strcmp(functions[row].name, call->name) != 0)
        row++;
    if (row == sizeof functions / sizeof *functions)
        return false;
    const grid *x = &call->arguments[0].grid;
    e->grid = grid_new(x->dtype, x->sizes, x->ndim);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < x->numel; i++) {
        const double value = x->cells[i].f;
        e->grid.cells[i] = reference_rounded(functions[row].function(call, value), x->dtype);
        /* where a sum of 1 and nearly -1 is left, its error counts as that of x */
        bounds[i] = isfinite(value) && isfinite(e->grid.cells[i].f)
                        ? 4 * reference_ulp(e->grid.cells[i].f, x->dtype) + fabs(value) * tn_finfo(x->dtype).eps
                        : 0;
    }
    return true;
}
