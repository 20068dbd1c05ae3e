/* The references of creation, copies and masks: see reference.h. */
#include <math.h>
#include <string.h>

#include "support/reference.h"

typedef void (*reference)(const reference_call *call, expectation *e, int row);

enum { ZEROS, ONES, FULL };

static void create(const reference_call *call, expectation *e, int row)
{
    const sample_argument *size = call->arguments[0].given;
    tn_scalar value = row == FULL ? call->arguments[1].given->number : tn_int(row == ONES);
    tn_dtype dtype = reference_dtype(call, row == FULL ? 2 : 1,
                                     row == FULL ? reference_scalar_dtype(value) : tn_get_default_dtype());
    cell c = {value.kind == TN_SCALAR_FLOAT ? value.value.f : 0, value.kind == TN_SCALAR_FLOAT ? 0 : value.value.i};
    e->grid = grid_new(dtype, size->numbers, size->n);
    for (int64_t i = 0; i < e->grid.numel; i++)
        e->grid.cells[i] = cell_convert(c, value.kind == TN_SCALAR_FLOAT ? TN_FLOAT64 : TN_INT64, dtype);
}

static void arange(const reference_call *call, expectation *e, int row)
{
    const tn_scalar one = {TN_SCALAR_INT, {1}};
    tn_scalar parts[3] = {call->arguments[0].given->number, call->arguments[1].given->number, one};
    double real[3];
    bool whole = true;
    (void)row;
    if (reference_given(call, 2))
        parts[2] = reference_given(call, 2)->given->number;
    for (int i = 0; i < 3; i++) {
        whole = whole && parts[i].kind != TN_SCALAR_FLOAT;
        real[i] = parts[i].kind == TN_SCALAR_FLOAT ? parts[i].value.f : (double)parts[i].value.i;
    }
    tn_dtype dtype = reference_dtype(call, 3, whole ? TN_INT64 : tn_get_default_dtype());
    int64_t n = (int64_t)ceil((real[1] - real[0]) / real[2]);
    e->grid = grid_new(dtype, &n, 1);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < n; i++) {
        cell c = {real[0] + (double)i * real[2], 0};
        e->grid.cells[i] = cell_convert(c, TN_FLOAT64, dtype);
        bounds[i] = whole ? 0 : reference_ulp(c.f, dtype);
    }
}

static void converted(const grid *x, tn_dtype dtype, expectation *e)
{
    e->grid = grid_new(dtype, x->sizes, x->ndim);
    for (int64_t i = 0; i < x->numel; i++)
        e->grid.cells[i] = cell_convert(x->cells[i], x->dtype, dtype);
}

static void clone(const reference_call *call, expectation *e, int row)
{
    (void)row;
    converted(&call->arguments[0].grid, call->arguments[0].grid.dtype, e);
}

static void to(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    (void)row;
    converted(x, reference_dtype(call, 1, x->dtype), e);
    bool copies = reference_integer(call, 2, 0) != 0 || reference_given(call, 3);
    if (x->dtype == e->grid.dtype && !copies)
        e->shares = IS_SAME;
}

static void copy(const reference_call *call, expectation *e, int row)
{
    const grid *self = &call->arguments[0].grid;
    int64_t index[GRID_NDIM];
    (void)row;
    e->grid = grid_new(self->dtype, self->sizes, self->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        e->grid.cells[i] = reference_operand(&call->arguments[1], &e->grid, index, self->dtype);
    }
}

static void fill(const reference_call *call, expectation *e, int row)
{
    const grid *self = &call->arguments[0].grid;
    const reference_argument *value = reference_given(call, 1);
    tn_scalar s = value ? value->given->number : tn_int(0);
    cell c = {s.kind == TN_SCALAR_FLOAT ? s.value.f : 0, s.kind == TN_SCALAR_FLOAT ? 0 : s.value.i};
    (void)row;
    e->grid = grid_new(self->dtype, self->sizes, self->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++)
        e->grid.cells[i] = cell_convert(c, s.kind == TN_SCALAR_FLOAT ? TN_FLOAT64 : TN_INT64, self->dtype);
}

static cell value_cell(tn_scalar s, tn_dtype dtype)
{
    cell c = {s.kind == TN_SCALAR_FLOAT ? s.value.f : 0, s.kind == TN_SCALAR_FLOAT ? 0 : s.value.i};
    return cell_convert(c, s.kind == TN_SCALAR_FLOAT ? TN_FLOAT64 : TN_INT64, dtype);
}

static void fill_grid(expectation *e, tn_scalar value)
{
    for (int64_t i = 0; i < e->grid.numel; i++)
        e->grid.cells[i] = value_cell(value, e->grid.dtype);
}

enum { EMPTY = -1 };

/* empty_like and its kin: x, (value,) dtype, format. */
static void like(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    e->grid = grid_new(reference_dtype(call, row == FULL ? 2 : 1, x->dtype), x->sizes, x->ndim);
    if (row == EMPTY)
        grid_free(&e->grid); /* any value will do */
    else
        fill_grid(e, row == FULL ? call->arguments[1].given->number : tn_int(row));
}

static void new_like(const reference_call *call, expectation *e, int row)
{
    const sample_argument *size = call->arguments[1].given;
    e->grid = grid_new(call->arguments[0].grid.dtype, size->numbers, size->n);
    fill_grid(e, row == FULL ? call->arguments[2].given->number : tn_int(row));
}

static void zeros_fmt(const reference_call *call, expectation *e, int row)
{
    const sample_argument *size = call->arguments[0].given;
    (void)row;
    e->grid = grid_new(reference_dtype(call, 2, tn_get_default_dtype()), size->numbers, size->n);
}

static void eye(const reference_call *call, expectation *e, int row)
{
    int64_t n = reference_integer(call, 0, 0), sizes[2] = {n, reference_integer(call, 1, n)};
    (void)row;
    e->grid = grid_new(reference_dtype(call, 2, tn_get_default_dtype()), sizes, 2);
    for (int64_t i = 0; i < n && i < sizes[1]; i++)
        e->grid.cells[i * sizes[1] + i] = value_cell(tn_int(1), e->grid.dtype);
}

static void linspace(const reference_call *call, expectation *e, int row)
{
    double a = (double)reference_integer(call, 0, 0), b = (double)reference_integer(call, 1, 0);
    int64_t n = reference_integer(call, 2, 0);
    (void)row;
    e->grid = grid_new(reference_dtype(call, 3, tn_get_default_dtype()), &n, 1);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < n; i++) {
        cell c = {n == 1      ? a
                  : i < n / 2 ? a + (b - a) / (double)(n - 1) * (double)i
                              : b - (b - a) / (double)(n - 1) * (double)(n - 1 - i),
                  0};
        e->grid.cells[i] = cell_convert(c, TN_FLOAT64, e->grid.dtype);
        bounds[i] = 4 * reference_ulp(fabs(a) + fabs(b), e->grid.dtype);
    }
}

/* Operand i of an element-by-element choice, at the index of the result. */
static void choose(const reference_call *call, expectation *e, int mask, int if_true, int if_false)
{
    int64_t index[GRID_NDIM];
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        cell on = reference_operand(&call->arguments[mask], &e->grid, index, TN_BOOL);
        e->grid.cells[i] =
            reference_operand(&call->arguments[on.i ? if_true : if_false], &e->grid, index, e->grid.dtype);
    }
}

static void where(const reference_call *call, expectation *e, int row)
{
    grid shape;
    reference_call two = *call;
    (void)row;
    two.arguments[0] = call->arguments[1];
    two.arguments[1] = call->arguments[2];
    reference_broadcast(call, 3, &shape);
    e->grid = grid_new(reference_promote(&two, 2), shape.sizes, shape.ndim);
    choose(call, e, 0, 1, 2);
}

static void masked_fill(const reference_call *call, expectation *e, int row)
{
    grid shape;
    (void)row;
    reference_broadcast(call, 2, &shape);
    e->grid = grid_new(call->arguments[0].grid.dtype, shape.sizes, shape.ndim);
    choose(call, e, 1, 2, 0);
}

/* Bounds are whole numbers in the samples. */
static void clamp(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    (void)row;
    converted(x, x->dtype == TN_BOOL ? TN_INT64 : x->dtype, e);
    for (int64_t i = 0; i < x->numel; i++) {
        cell *c = &e->grid.cells[i];
        for (int k = 1; k <= 2; k++) {
            int64_t bound = reference_integer(call, k, 0);
            bool real = dtype_is_float(e->grid.dtype);
            double at = real ? c->f : (double)c->i;
            if (reference_given(call, k) && (k == 1 ? at < (double)bound : at > (double)bound))
                *c = real ? (cell){(double)bound, 0} : (cell){0, bound};
        }
    }
}

enum { LOWER, UPPER };

static void triangle(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t index[GRID_NDIM], k = reference_integer(call, 1, 0);
    converted(x, x->dtype, e);
    for (int64_t i = 0; i < x->numel; i++) {
        grid_index(x, i, index);
        int64_t place = index[x->ndim - 1] - index[x->ndim - 2];
        if (row == LOWER ? place > k : place < k)
            e->grid.cells[i] = (cell){0, 0};
    }
}

static const struct {
    const char *name;
    reference reference;
    int row;
} references[] = {
    {"zeros", create, ZEROS},
    {"ones", create, ONES},
    {"full", create, FULL},
    {"arange", arange, 0},
    {"where", where, 0},
    {"masked_fill", masked_fill, 0},
    {"clamp", clamp, 0},
    {"eye", eye, 0},
    {"linspace", linspace, 0},
    {"zeros_fmt", zeros_fmt, 0},
    {"empty_like", like, EMPTY},
    {"zeros_like", like, ZEROS},
    {"ones_like", like, ONES},
    {"full_like", like, FULL},
    {"new_zeros", new_like, ZEROS},
    {"new_ones", new_like, ONES},
    {"new_full", new_like, FULL},
    {"tril", triangle, LOWER},
    {"triu", triangle, UPPER},
    {"clone", clone, 0},
    {"to", to, 0},
    {"copy_", copy, 0},
    {"fill_", fill, 0},
    {"zero_", fill, 0},
};

bool reference_of_creation(const reference_call *call, expectation *e)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].name, call->name) != 0)
            continue;
        references[i].reference(call, e, references[i].row);
        return true;
    }
    return false;
}
