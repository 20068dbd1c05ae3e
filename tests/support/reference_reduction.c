/* What reductions, running sums and products of all but one should give. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"
#include "support/test.h"

static bool flag(const reference_call *call, int i)
{
    return reference_integer(call, i, 0) != 0;
}

enum { SUM, MEAN, AMAX, ARGMAX, AMIN, ARGMIN };

uint64_t reference_dims(const reference_call *call, int i, int ndim)
{
    const reference_argument *a = reference_given(call, i);
    if (!a || (a->kind == SAMPLE_INTS && a->given->n == 0))
        return ~UINT64_C(0);
    int64_t single = a->given->number.value.i;
    const int64_t *dims = a->kind == SAMPLE_INTS ? a->given->numbers : &single;
    uint64_t mask = 0;
    for (int k = 0; k < (a->kind == SAMPLE_INTS ? a->given->n : 1); k++)
        mask |= UINT64_C(1) << (dims[k] < 0 ? dims[k] + (ndim > 0 ? ndim : 1) : dims[k]);
    return mask;
}

/* The element of `result` that element `linear` of x falls into, and x's place within the reduced dims (row-major). */
static int64_t reduced_place(const grid *x, const grid *result, uint64_t mask, bool keepdim, int64_t linear,
                             int64_t *inside)
{
    int64_t index[GRID_NDIM], kept[GRID_NDIM], at = 0;
    int n = 0;
    grid_index(x, linear, index);
    for (int d = 0; d < x->ndim; d++) {
        if (mask & (UINT64_C(1) << d)) {
            at = at * x->sizes[d] + index[d];
            if (keepdim)
                kept[n++] = 0;
        } else {
            kept[n++] = index[d];
        }
    }
    *inside = at;
    return grid_linear(result, kept);
}

static void reduced_shape(const reference_call *call, const grid *x, uint64_t mask, tn_dtype dtype, expectation *e)
{
    int64_t sizes[GRID_NDIM];
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!(mask & (UINT64_C(1) << d)))
            sizes[n++] = x->sizes[d];
        else if (flag(call, 2))
            sizes[n++] = 1;
    }
    e->grid = grid_new(dtype, sizes, n);
}

static void sum(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    uint64_t mask = reference_dims(call, 1, x->ndim);
    tn_dtype dtype = reference_dtype(call, 3, dtype_is_float(x->dtype) ? x->dtype : TN_INT64);
    reduced_shape(call, x, mask, dtype, e);
    double *bounds = reference_bounds(e);
    int64_t results = e->grid.numel, inside, count = results > 0 ? x->numel / results : 0;
    long double *sums = calloc((size_t)results + 1, sizeof *sums), *sizes = calloc((size_t)results + 1, sizeof *sizes);
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t at = reduced_place(x, &e->grid, mask, flag(call, 2), i, &inside);
        cell c = cell_convert(x->cells[i], x->dtype, dtype);
        sums[at] += (long double)c.f;
        sizes[at] += (long double)fabs(c.f);
        e->grid.cells[at].i =
            dtype == TN_BOOL ? e->grid.cells[at].i | c.i : (int64_t)((uint64_t)e->grid.cells[at].i + (uint64_t)c.i);
    }
    for (int64_t i = 0; i < results && dtype_is_float(dtype); i++) {
        long double scale = row == MEAN ? (long double)count : 1;
        e->grid.cells[i] = reference_rounded(row == MEAN ? sums[i] / scale : sums[i], dtype);
        /* (PIECE / 32 + log2 n) eps of the sum of sizes for float64, one rounding for float32: ops/reduce.c */
        bounds[i] = (double)(sizes[i] / (scale > 0 ? scale : 1)) * (128 + 20) * DBL_EPSILON / 2 +
                    reference_ulp(e->grid.cells[i].f, dtype);
    }
    free(sums);
    free(sizes);
}

/* Products in long double; each float may be off by a rounding of float64 for every factor, and one of the dtype. */
static void product(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    uint64_t mask = reference_dims(call, 1, x->ndim);
    tn_dtype dtype = reference_dtype(call, 3, dtype_is_float(x->dtype) ? x->dtype : TN_INT64);
    reduced_shape(call, x, mask, dtype, e);
    double *bounds = reference_bounds(e);
    int64_t inside, results = e->grid.numel;
    long double *products = calloc((size_t)results + 1, sizeof *products);
    (void)row;
    for (int64_t i = 0; i < results; i++) {
        products[i] = 1;
        e->grid.cells[i].i = 1;
    }
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t at = reduced_place(x, &e->grid, mask, flag(call, 2), i, &inside);
        cell c = cell_convert(x->cells[i], x->dtype, dtype);
        products[at] *= (long double)c.f;
        e->grid.cells[at].i = (int64_t)((uint64_t)e->grid.cells[at].i * (uint64_t)c.i);
    }
    for (int64_t i = 0; i < results && dtype_is_float(dtype); i++) {
        e->grid.cells[i] = reference_rounded(products[i], dtype);
        bounds[i] =
            fabs(e->grid.cells[i].f) * (double)(x->numel + 4) * DBL_EPSILON + reference_ulp(e->grid.cells[i].f, dtype);
    }
    free(products);
}

enum { VAR, STD, LOGSUMEXP };

/* In long double after the mean or the largest. */
static void statistic(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    uint64_t mask = reference_dims(call, 1, x->ndim);
    bool keepdim = flag(call, row == LOGSUMEXP ? 2 : 3);
    int64_t sizes[GRID_NDIM], inside;
    int n = 0;
    for (int d = 0; d < x->ndim; d++)
        if (!(mask >> d & 1) || keepdim)
            sizes[n++] = mask >> d & 1 ? 1 : x->sizes[d];
    e->grid = grid_new(dtype_is_float(x->dtype) ? x->dtype : tn_get_default_dtype(), sizes, n);
    double *bounds = reference_bounds(e);
    const int64_t results = e->grid.numel, count = results > 0 ? x->numel / results : 0;
    long double *from = calloc((size_t)results + 1, sizeof *from), *sums = calloc((size_t)results + 1, sizeof *sums);
    for (int64_t i = 0; i < results; i++)
        from[i] = row == LOGSUMEXP && count > 0 ? -INFINITY : 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; pass == 1 && row == LOGSUMEXP && i < results; i++)
            from[i] = isinf(from[i]) ? 0 : from[i];
        for (int64_t i = 0; i < x->numel; i++) {
            int64_t at = reduced_place(x, &e->grid, mask, keepdim, i, &inside);
            long double c = (long double)cell_convert(x->cells[i], x->dtype, e->grid.dtype).f;
            if (pass == 0)
                from[at] = row != LOGSUMEXP ? from[at] + c / (long double)count : c > from[at] ? c : from[at];
            else
                sums[at] += row == LOGSUMEXP ? expl(c - from[at]) : (c - from[at]) * (c - from[at]);
        }
    }
    for (int64_t i = 0; i < results; i++) {
        const long double y = row == LOGSUMEXP ? logl(sums[i]) + from[i]
                                               : sums[i] / (long double)(count - (reference_integer(call, 2, 1) != 0));
        e->grid.cells[i] = reference_rounded(row == STD ? sqrtl(y) : y, e->grid.dtype);
        bounds[i] = (fabs(e->grid.cells[i].f) + 1) * (double)(count + 8) * DBL_EPSILON +
                    reference_ulp(e->grid.cells[i].f, e->grid.dtype);
    }
    free(from);
    free(sums);
}

enum { RUNNING_SUM, RUNNING_PRODUCT };

static void running(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    tn_dtype dtype = reference_dtype(call, 2, dtype_is_float(x->dtype) ? x->dtype : TN_INT64);
    int dim = (int)reference_integer(call, 1, 0);
    int64_t inner = 1;
    e->grid = grid_new(dtype, x->sizes, x->ndim);
    double *bounds = reference_bounds(e);
    dim += dim < 0 ? x->ndim : 0;
    for (int d = dim + 1; d < x->ndim; d++)
        inner *= x->sizes[d];
    for (int64_t i = 0; i < x->numel; i++) {
        const int64_t own = x->ndim > 0 ? i / inner % x->sizes[dim] : 0;
        long double total = row == RUNNING_SUM ? 0 : 1, size = 0;
        uint64_t whole = row == RUNNING_SUM ? 0 : 1;
        for (int64_t k = 0; k <= own; k++) {
            cell c = cell_convert(x->cells[i - k * inner], x->dtype, dtype);
            total = row == RUNNING_SUM ? total + (long double)c.f : total * (long double)c.f;
            size += (long double)fabs(c.f);
            whole = row == RUNNING_SUM ? whole + (uint64_t)c.i : whole * (uint64_t)c.i;
        }
        if (dtype_is_float(dtype))
            e->grid.cells[i] = reference_rounded(total, dtype);
        else
            e->grid.cells[i].i = (int64_t)whole;
        size = row == RUNNING_SUM ? size : fabsl(total);
        bounds[i] = (double)size * (double)(own + 1) * DBL_EPSILON + reference_ulp((double)total, dtype);
    }
}

static void product_of_others(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int dim = (int)reference_integer(call, 1, 0);
    int64_t inner = 1, n = 1;
    (void)row;
    e->grid = grid_new(x->dtype, x->sizes, x->ndim);
    double *bounds = reference_bounds(e);
    dim += dim < 0 ? x->ndim : 0;
    for (int d = dim + 1; d < x->ndim; d++)
        inner *= x->sizes[d];
    if (x->ndim > 0)
        n = x->sizes[dim];
    for (int64_t i = 0; i < x->numel; i++) {
        const int64_t own = i / inner % n;
        long double y = 1;
        for (int64_t k = 0; k < n; k++)
            y *= k == own ? 1 : (long double)x->cells[i + (k - own) * inner].f;
        e->grid.cells[i] = reference_rounded(y, x->dtype);
        bounds[i] =
            fabs(e->grid.cells[i].f) * (double)(n + 4) * DBL_EPSILON + reference_ulp(e->grid.cells[i].f, x->dtype);
    }
}

static void largest(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    uint64_t mask = reference_dims(call, 1, x->ndim);
    bool index = row == ARGMAX || row == ARGMIN, least = row >= AMIN;
    reduced_shape(call, x, mask, index ? TN_INT64 : x->dtype, e);
    bool *seen = calloc((size_t)e->grid.numel + 1, sizeof *seen);
    cell *best = calloc((size_t)e->grid.numel + 1, sizeof *best);
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t inside, at = reduced_place(x, &e->grid, mask, flag(call, 2), i, &inside);
        cell c = x->cells[i], b = best[at];
        bool float_takes = !isnan(b.f) && ((least ? c.f < b.f : c.f > b.f) || isnan(c.f));
        bool take = !seen[at] || (dtype_is_float(x->dtype) ? float_takes : least ? c.i < b.i : c.i > b.i);
        if (!take)
            continue;
        seen[at] = true;
        best[at] = c;
        e->grid.cells[at] = index ? (cell){0, inside} : c;
    }
    free(seen);
    free(best);
}

bool reference_of_reduction(const reference_call *call, expectation *e)
{
    static const struct {
        const char *name;
        void (*reference)(const reference_call *call, expectation *e, int row);
        int row;
    } references[] = {
        {"var", statistic, VAR},
        {"std", statistic, STD},
        {"logsumexp", statistic, LOGSUMEXP},
        {"sum", sum, SUM},
        {"mean", sum, MEAN},
        {"prod", product, 0},
        {"amax", largest, AMAX},
        {"max", largest, AMAX},
        {"argmax", largest, ARGMAX},
        {"amin", largest, AMIN},
        {"min", largest, AMIN},
        {"argmin", largest, ARGMIN},
        {"cumsum", running, RUNNING_SUM},
        {"cumprod", running, RUNNING_PRODUCT},
        {"prod_others", product_of_others, 0},
    };
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].name, call->name) != 0)
            continue;
        references[i].reference(call, e, references[i].row);
        return true;
    }
    return false;
}
