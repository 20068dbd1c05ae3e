/* See reference.h. One function a family; the table at the end says which operator belongs where; views are in
 * reference_views.c. */
#include "support/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

typedef void (*reference)(const reference_call *call, expectation *e, int row);

const reference_argument *reference_given(const reference_call *call, int i)
{
    return i < call->n && call->arguments[i].kind != SAMPLE_NONE ? &call->arguments[i] : NULL;
}

int64_t reference_integer(const reference_call *call, int i, int64_t otherwise)
{
    const reference_argument *a = reference_given(call, i);
    return a ? a->given->number.value.i : otherwise;
}

tn_dtype reference_dtype(const reference_call *call, int i, tn_dtype otherwise)
{
    const reference_argument *a = reference_given(call, i);
    return a ? a->given->dtype : otherwise;
}

static double unit(tn_dtype dtype)
{
    return tn_finfo(dtype).eps;
}

/* The step from x to the next number of the dtype. */
double reference_ulp(double x, tn_dtype dtype)
{
    if (!dtype_is_float(dtype))
        return 0;
    int bits = -ilogb(tn_finfo(dtype).eps), least = ilogb(tn_finfo(dtype).smallest_normal);
    if (x == 0 || !isfinite(x))
        return ldexp(1, least - bits);
    int exponent = ilogb(x);
    return ldexp(1, (exponent < least ? least : exponent) - bits);
}

double *reference_bounds(expectation *e)
{
    e->bounds = calloc((size_t)e->grid.numel + 1, sizeof *e->bounds);
    return e->bounds;
}

cell reference_rounded(long double x, tn_dtype dtype)
{
    cell c = {dtype == TN_FLOAT32 ? (double)(float)x : (double)x, 0};
    return dtype_is_float(dtype) ? cell_convert(c, TN_FLOAT64, dtype) : c;
}

/* --- dtypes */

static int category(tn_dtype dtype)
{
    return dtype_is_float(dtype) ? 2 : dtype != TN_BOOL;
}

tn_dtype reference_scalar_dtype(tn_scalar s)
{
    return s.kind == TN_SCALAR_FLOAT ? tn_get_default_dtype() : s.kind == TN_SCALAR_INT ? TN_INT64 : TN_BOOL;
}

tn_dtype reference_promote(const reference_call *call, int operands)
{
    int highest = 0;
    for (int i = 0; i < operands; i++) {
        const reference_argument *a = &call->arguments[i];
        int kind = category(a->kind == SAMPLE_TENSOR ? a->grid.dtype : reference_scalar_dtype(a->given->number));
        highest = kind > highest ? kind : highest;
    }
    for (int level = 0; level < 3; level++) {
        bool found = false;
        tn_dtype best = TN_BOOL;
        for (int i = 0; i < operands; i++) {
            const reference_argument *a = &call->arguments[i];
            int own = a->kind != SAMPLE_TENSOR ? 2 : a->grid.ndim > 0 ? 0 : 1;
            tn_dtype dtype = a->kind == SAMPLE_TENSOR ? a->grid.dtype : reference_scalar_dtype(a->given->number);
            if (own != level || category(dtype) != highest)
                continue;
            best = found ? tn_promote_types(best, dtype) : dtype;
            found = true;
        }
        if (found)
            return best;
    }
    return TN_BOOL;
}

/* --- pointwise */

cell reference_operand(const reference_argument *a, const grid *result, const int64_t *index, tn_dtype dtype)
{
    if (a->kind != SAMPLE_TENSOR) {
        tn_scalar s = a->given->number;
        cell c = {s.kind == TN_SCALAR_FLOAT ? s.value.f : 0, s.kind == TN_SCALAR_FLOAT ? 0 : s.value.i};
        return cell_convert(c, s.kind == TN_SCALAR_FLOAT ? TN_FLOAT64 : TN_INT64, dtype);
    }
    int64_t own[GRID_NDIM];
    for (int d = 0; d < a->grid.ndim; d++) {
        int64_t at = index[result->ndim - a->grid.ndim + d];
        own[d] = a->grid.sizes[d] == 1 ? 0 : at;
    }
    return cell_convert(a->grid.cells[grid_linear(&a->grid, own)], a->grid.dtype, dtype);
}

void reference_broadcast(const reference_call *call, int operands, grid *shape)
{
    shape->ndim = 0;
    for (int i = 0; i < operands; i++)
        if (call->arguments[i].kind == SAMPLE_TENSOR && call->arguments[i].grid.ndim > shape->ndim)
            shape->ndim = call->arguments[i].grid.ndim;
    for (int d = 0; d < shape->ndim; d++)
        shape->sizes[d] = 1;
    for (int i = 0; i < operands; i++) {
        const grid *g = &call->arguments[i].grid;
        for (int d = 0; call->arguments[i].kind == SAMPLE_TENSOR && d < g->ndim; d++)
            if (g->sizes[d] != 1)
                shape->sizes[shape->ndim - g->ndim + d] = g->sizes[d];
    }
}

enum { EQ, NE, LT, LE, GT, GE, BOTH, EITHER, ONE };

#define COMPARE(row, a, b)                                                                                             \
    ((row) == EQ   ? (a) == (b)                                                                                        \
     : (row) == NE ? (a) != (b)                                                                                        \
     : (row) == LT ? (a) < (b)                                                                                         \
     : (row) == LE ? (a) <= (b)                                                                                        \
     : (row) == GT ? (a) > (b)                                                                                         \
     : (row) == BOTH   ? (a) != 0 && (b) != 0                                                                          \
     : (row) == EITHER ? (a) != 0 || (b) != 0                                                                          \
     : (row) == ONE    ? ((a) != 0) != ((b) != 0)                                                                      \
                   : (a) >= (b))

static void compare(const reference_call *call, expectation *e, int row)
{
    grid shape;
    int64_t index[GRID_NDIM];
    tn_dtype dtype = reference_promote(call, 2);
    reference_broadcast(call, 2, &shape);
    e->grid = grid_new(TN_BOOL, shape.sizes, shape.ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        cell a = reference_operand(&call->arguments[0], &e->grid, index, dtype);
        cell b = reference_operand(&call->arguments[1], &e->grid, index, dtype);
        e->grid.cells[i].i = dtype_is_float(dtype) ? COMPARE(row, a.f, b.f) : COMPARE(row, a.i, b.i);
    }
}

enum { NEG, ABS, RELU, SQUARE, SIGN, FLOOR, CEIL, ROUND, TRUNC, BITS, ISNAN, ISINF, NOT, EXP, LOG, SIGMOID, TANH,
       SQRT, RECIPROCAL, RSQRT, SIN, COS, LOG1P, LOG2, EXPM1, ERF };

static long double smooth(int row, long double x)
{
    switch (row) {
    case EXP:
        return expl(x);
    case LOG:
        return logl(x);
    case SQRT:
        return sqrtl(x);
    case RECIPROCAL:
        return 1 / x;
    case RSQRT:
        return 1 / sqrtl(x);
    case SIN:
        return sinl(x);
    case COS:
        return cosl(x);
    case LOG1P:
        return log1pl(x);
    case LOG2:
        return log2l(x);
    case EXPM1:
        return expm1l(x);
    case ERF:
        return erfl(x);
    case SIGMOID:
        return 1 / (1 + expl(-x));
    default:
        return tanhl(x);
    }
}

static double rounding(int row, double x)
{
    switch (row) {
    case SQUARE:
        return x * x;
    case SIGN:
        return (x > 0) - (x < 0);
    case FLOOR:
        return floor(x);
    case CEIL:
        return ceil(x);
    case ROUND:
        return rint(x);
    default:
        return trunc(x);
    }
}

static void unary(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    tn_dtype dtype = row >= EXP && !dtype_is_float(x->dtype) ? tn_get_default_dtype() : x->dtype;
    if (row == SQUARE && x->dtype == TN_BOOL)
        dtype = TN_INT64;
    bool truth = row >= ISNAN && row <= NOT;
    e->grid = grid_new(truth ? TN_BOOL : dtype, x->sizes, x->ndim);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < x->numel; i++) {
        cell c = cell_convert(x->cells[i], x->dtype, dtype), *y = &e->grid.cells[i];
        bool real = dtype_is_float(dtype), zero = real ? c.f == 0 : c.i == 0;
        if (truth) {
            y->i = row == NOT ? zero : real && (row == ISNAN ? isnan(c.f) : isinf(c.f));
            continue;
        }
        if (row >= SQUARE && row <= BITS) {
            *y = real ? reference_rounded(rounding(row, c.f), dtype) : c;
            if (row == SQUARE)
                y->i = (int64_t)((uint64_t)c.i * (uint64_t)c.i);
            if (row == SIGN)
                y->i = (c.i > 0) - (c.i < 0);
            if (row == BITS)
                y->i = dtype == TN_BOOL ? !c.i : ~c.i;
            if (!real)
                *y = cell_convert(*y, TN_INT64, dtype);
            continue;
        }
        bool negative = dtype_is_float(dtype) ? c.f < 0 : c.i < 0;
        if (row >= EXP) {
            *y = reference_rounded(smooth(row, (long double)c.f), dtype);
            bounds[i] = 4 * reference_ulp(y->f, dtype);
        } else if (row == RELU) {
            *y = negative ? (cell){0, 0} : c;
        } else if (row == NEG || (row == ABS && (negative || signbit(c.f)))) {
            *y = (cell){-c.f, (int64_t)(0 - (uint64_t)c.i)};
            if (!real)
                *y = cell_convert(*y, TN_INT64, dtype);
        } else {
            *y = c;
        }
    }
}

/* --- products */

/* out[..., i, j] of rows and columns found by index; `bias` may be NULL. */
static void dot(const grid *a, int64_t a_at, int64_t a_step, const grid *b, int64_t b_at, int64_t b_step, int64_t k,
                const cell *bias, cell *c, double *bound)
{
    long double total = bias ? (long double)bias->f : 0, size = bias ? (long double)fabs(bias->f) : 0;
    uint64_t whole = bias ? (uint64_t)bias->i : 0;
    for (int64_t l = 0; l < k; l++) {
        cell x = a->cells[a_at + l * a_step], y = b->cells[b_at + l * b_step];
        total += (long double)x.f * (long double)y.f;
        size += (long double)fabs(x.f * y.f);
        whole += (uint64_t)x.i * (uint64_t)y.i;
    }
    *c = reference_rounded(total, a->dtype);
    if (!dtype_is_float(a->dtype))
        *c = cell_convert((cell){0, (int64_t)whole}, TN_INT64, a->dtype);
    const double steps = (double)(k + 2) * (double)size;
    *bound = !dtype_is_float(a->dtype) ? 0 : steps * unit(a->dtype) + reference_ulp(c->f, a->dtype);
}

static void matmul(const reference_call *call, expectation *e, int row)
{
    const grid *a = &call->arguments[0].grid, *b = &call->arguments[1].grid;
    (void)row;
    int batch_a = a->ndim > 2 ? a->ndim - 2 : 0, batch_b = b->ndim > 2 ? b->ndim - 2 : 0;
    int n = batch_a > batch_b ? batch_a : batch_b, batch = n;
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    for (int d = 0; d < n; d++) {
        int64_t x = d >= n - batch_a ? a->sizes[d - (n - batch_a)] : 1,
                y = d >= n - batch_b ? b->sizes[d - (n - batch_b)] : 1;
        sizes[d] = x == 1 ? y : x;
    }
    int64_t k = a->sizes[a->ndim - 1], columns = b->ndim > 1 ? b->sizes[b->ndim - 1] : 1;
    if (a->ndim > 1)
        sizes[n++] = a->sizes[a->ndim - 2];
    if (b->ndim > 1)
        sizes[n++] = columns;
    e->grid = grid_new(a->dtype, sizes, n);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        for (int d = 0; d < batch_a; d++)
            own[d] = a->sizes[d] == 1 ? 0 : index[batch - batch_a + d];
        if (a->ndim > 1)
            own[a->ndim - 2] = index[batch];
        own[a->ndim - 1] = 0;
        int64_t a_at = k > 0 ? grid_linear(a, own) : 0;
        for (int d = 0; d < batch_b; d++)
            own[d] = b->sizes[d] == 1 ? 0 : index[batch - batch_b + d];
        if (b->ndim > 1)
            own[b->ndim - 2] = 0;
        own[b->ndim - 1] = b->ndim > 1 ? index[n - 1] : 0;
        int64_t b_at = k > 0 ? grid_linear(b, own) : 0;
        dot(a, a_at, 1, b, b_at, columns, k, NULL, &e->grid.cells[i], &bounds[i]);
    }
}

static void linear(const reference_call *call, expectation *e, int family)
{
    const grid *x = &call->arguments[0].grid, *w = &call->arguments[1].grid;
    const reference_argument *bias = reference_given(call, 2);
    (void)family;
    bool row = w->ndim == 1; /* weight [in]: one output, without a dim */
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    int64_t k = w->sizes[w->ndim - 1], columns = row ? 1 : w->sizes[0];
    memcpy(sizes, x->sizes, sizeof sizes);
    sizes[x->ndim - 1] = columns;
    e->grid = grid_new(x->dtype, sizes, x->ndim - row);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        const cell *add = NULL;
        if (bias) {
            const grid *b = &bias->grid;
            grid_index(&e->grid, i, index);
            for (int d = 0; d < b->ndim; d++)
                own[d] = b->sizes[d] == 1 ? 0 : index[e->grid.ndim - b->ndim + d];
            add = &b->cells[grid_linear(b, own)];
        }
        dot(x, i / columns * k, 1, w, i % columns * k, 1, k, add, &e->grid.cells[i], &bounds[i]);
    }
}

static void sigmoid_reference(const reference_call *call, expectation *e, int row)
{
    unary(call, e, row);
}

static const struct {
    const char *name;
    reference reference;
    int row;
} references[] = {
    {"logical_and", compare, BOTH},
    {"logical_or", compare, EITHER},
    {"logical_xor", compare, ONE},
    {"bitwise_not", unary, BITS},
    {"rsqrt", unary, RSQRT},
    {"sin", unary, SIN},
    {"cos", unary, COS},
    {"log1p", unary, LOG1P},
    {"log2", unary, LOG2},
    {"expm1", unary, EXPM1},
    {"erf", unary, ERF},
    {"eq", compare, EQ},
    {"ne", compare, NE},
    {"lt", compare, LT},
    {"le", compare, LE},
    {"gt", compare, GT},
    {"ge", compare, GE},
    {"neg", unary, NEG},
    {"abs", unary, ABS},
    {"relu", unary, RELU},
    {"exp", unary, EXP},
    {"log", unary, LOG},
    {"sigmoid", unary, SIGMOID},
    {"tanh", unary, TANH},
    {"sqrt", unary, SQRT},
    {"reciprocal", unary, RECIPROCAL},
    {"square", unary, SQUARE},
    {"sign", unary, SIGN},
    {"sgn", unary, SIGN},
    {"floor", unary, FLOOR},
    {"ceil", unary, CEIL},
    {"round", unary, ROUND},
    {"trunc", unary, TRUNC},
    {"isnan", unary, ISNAN},
    {"isinf", unary, ISINF},
    {"logical_not", unary, NOT},
    {"matmul", matmul, 0},
    {"linear", linear, 0},
    {"linear_reference", linear, 0},
    {"sigmoid_reference", sigmoid_reference, SIGMOID},
};

bool reference_of(const reference_call *call, expectation *e)
{
    memset(e, 0, sizeof *e);
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].name, call->name) != 0)
            continue;
        references[i].reference(call, e, references[i].row);
        return true;
    }
    return reference_of_binary(call, e) || reference_of_ternary(call, e) || reference_of_creation(call, e) ||
           reference_of_view(call, e) || reference_of_index(call, e) || reference_of_activation(call, e) ||
           reference_of_loss(call, e) || reference_of_reduction(call, e);
}

void expectation_free(expectation *e)
{
    grid_free(&e->grid);
    free(e->bounds);
    free(e->at);
}
