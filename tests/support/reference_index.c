/* What operators that read and write at positions should give: index, index_put, index_select, gather, scatter_add,
 * index_add; and cat and stack. */
#include <string.h>

#include "support/reference.h"
#include "support/test.h"

static bool flag(const reference_call *call, int i)
{
    return reference_integer(call, i, 0) != 0;
}

/* a + b in the dtype; `exact`: floats of 16 bits stay float32 meanwhile. */
static cell sum_of(cell a, cell b, tn_dtype dtype, bool exact)
{
    cell c = {a.f + b.f, (int64_t)((uint64_t)a.i + (uint64_t)b.i)};
    if (dtype == TN_BOOL)
        return (cell){0, a.i | b.i};
    if (!dtype_is_float(dtype))
        return cell_convert(c, TN_INT64, dtype);
    if (dtype == TN_FLOAT32 || exact)
        c.f = dtype == TN_FLOAT64 ? c.f : (double)(float)c.f;
    return exact ? c : cell_convert(c, TN_FLOAT64, dtype);
}

static void write_cell(cell *to, cell value, tn_dtype dtype, bool accumulate)
{
    *to = accumulate ? sum_of(*to, value, dtype, false) : value;
}

/* Where the indices' common shape stands in the result, and what it is. */
typedef struct places {
    int first, ndim, result_ndim;
    int64_t shape[GRID_NDIM], result[GRID_NDIM];
    bool indexed[GRID_NDIM];
} places;

static places places_of(const grid *x, const reference_argument *list)
{
    places p = {.first = -1};
    int last = -1, count = 0;
    for (int d = 0; d < list->given->n; d++) {
        const grid *at = &list->list[d];
        if (!list->tensors[d])
            continue;
        p.indexed[d] = true;
        p.first = p.first < 0 ? d : p.first;
        last = d;
        count++;
        p.ndim = at->ndim > p.ndim ? at->ndim : p.ndim;
    }
    for (int d = 0; d < p.ndim; d++) {
        p.shape[d] = 1;
        for (int k = 0; k < list->given->n; k++) {
            int own = d - (p.ndim - list->list[k].ndim);
            if (p.indexed[k] && own >= 0 && list->list[k].sizes[own] != 1)
                p.shape[d] = list->list[k].sizes[own];
        }
    }
    if (last - p.first + 1 != count)
        p.first = 0;
    for (int d = 0; d <= x->ndim; d++) {
        for (int k = 0; d == p.first && k < p.ndim; k++)
            p.result[p.result_ndim++] = p.shape[k];
        if (d < x->ndim && !p.indexed[d])
            p.result[p.result_ndim++] = x->sizes[d];
    }
    return p;
}

/* The element of x that the result's element at `index` stands for. */
static int64_t place_of(const places *p, const grid *x, const reference_argument *list, const int64_t *index)
{
    int64_t at[GRID_NDIM], own[GRID_NDIM];
    int rest = p->first == 0 ? p->ndim : 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!p->indexed[d]) {
            rest = rest == p->first && p->first > 0 ? rest + p->ndim : rest;
            at[d] = index[rest++];
            continue;
        }
        const grid *positions = &list->list[d];
        for (int k = 0; k < positions->ndim; k++)
            own[k] = positions->sizes[k] == 1 ? 0 : index[p->first + p->ndim - positions->ndim + k];
        at[d] = positions->cells[grid_linear(positions, own)].i;
        at[d] += at[d] < 0 ? x->sizes[d] : 0;
    }
    return grid_linear(x, at);
}

static void index(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid;
    const reference_argument *list = &call->arguments[1];
    places p = places_of(x, list);
    int64_t at[GRID_NDIM];
    e->grid = grid_new(x->dtype, p.result, p.result_ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, at);
        e->grid.cells[i] = x->cells[place_of(&p, x, list, at)];
    }
}

static void copy_of(const grid *x, expectation *e)
{
    e->grid = grid_new(x->dtype, x->sizes, x->ndim);
    memcpy(e->grid.cells, x->cells, (size_t)x->numel * sizeof *x->cells);
}

static void index_put(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid;
    const reference_argument *list = &call->arguments[1], *values = &call->arguments[2];
    places p = places_of(x, list);
    int64_t at[GRID_NDIM];
    copy_of(x, e);
    grid shape = grid_new(x->dtype, p.result, p.result_ndim);
    for (int64_t i = 0; i < shape.numel; i++) {
        grid_index(&shape, i, at);
        write_cell(&e->grid.cells[place_of(&p, x, list, at)], reference_operand(values, &shape, at, x->dtype), x->dtype,
                   flag(call, 3));
    }
    grid_free(&shape);
}

static int dim_of(const reference_call *call, const grid *x)
{
    int64_t dim = reference_integer(call, 1, 0);
    return (int)(dim < 0 ? dim + (x->ndim > 0 ? x->ndim : 1) : dim);
}

static void index_select(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid, *positions = &call->arguments[2].grid;
    int dim = dim_of(call, x);
    int64_t sizes[GRID_NDIM], at[GRID_NDIM];
    memcpy(sizes, x->sizes, sizeof sizes);
    if (x->ndim > 0)
        sizes[dim] = positions->numel;
    e->grid = grid_new(x->dtype, sizes, x->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, at);
        if (x->ndim > 0)
            at[dim] = positions->cells[at[dim]].i;
        e->grid.cells[i] = x->cells[grid_linear(x, at)];
    }
}

static void gather(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid, *positions = &call->arguments[2].grid;
    int64_t at[GRID_NDIM] = {0};
    e->grid = grid_new(x->dtype, positions->sizes, positions->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(positions, i, at);
        at[dim_of(call, x)] = positions->cells[i].i;
        e->grid.cells[i] = x->cells[x->ndim > 0 ? grid_linear(x, at) : 0];
    }
}

static void round_all(grid *g)
{
    for (int64_t i = 0; i < g->numel && dtype_is_float(g->dtype); i++)
        g->cells[i] = cell_convert(g->cells[i], TN_FLOAT64, g->dtype);
}

static void scatter_add(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid, *positions = &call->arguments[2].grid, *from = &call->arguments[3].grid;
    int64_t at[GRID_NDIM] = {0}; /* positions may have no dims where src has one */
    copy_of(x, e);
    for (int64_t i = 0; i < positions->numel; i++) {
        grid_index(positions, i, at);
        cell value = from->cells[from->ndim > 0 ? grid_linear(from, at) : 0];
        at[dim_of(call, x)] = positions->cells[i].i;
        cell *to = &e->grid.cells[x->ndim > 0 ? grid_linear(x, at) : 0];
        *to = sum_of(*to, value, x->dtype, true);
    }
    round_all(&e->grid);
}

static void index_add(const reference_call *call, expectation *e)
{
    const grid *x = &call->arguments[0].grid, *positions = &call->arguments[2].grid, *from = &call->arguments[3].grid;
    const reference_argument *alpha = reference_given(call, 4);
    int64_t at[GRID_NDIM], times = alpha ? alpha->given->number.value.i : 1;
    copy_of(x, e);
    for (int64_t i = 0; i < from->numel; i++) {
        grid_index(from, i, at);
        if (x->ndim > 0)
            at[dim_of(call, x)] = positions->cells[at[dim_of(call, x)]].i;
        cell value = {from->cells[i].f * (double)times, (int64_t)((uint64_t)from->cells[i].i * (uint64_t)times)};
        cell *to = &e->grid.cells[x->ndim > 0 ? grid_linear(x, at) : 0];
        *to = sum_of(*to, value, x->dtype, x->ndim == 2 && times == 1);
    }
    round_all(&e->grid);
}

/* How much of the result's dim tensor k takes. */
static int64_t length_of(const reference_argument *list, int k, int64_t dim, bool stacks)
{
    return stacks ? 1 : list->list[k].ndim > dim ? list->list[k].sizes[dim] : 0;
}

/* cat, or stack: element `index` of the result is that of the tensor which `index` along dim falls into. */
static void join(const reference_call *call, expectation *e)
{
    const reference_argument *list = &call->arguments[0];
    const bool stacks = strcmp(call->name, "stack") == 0;
    const grid *shaped = &list->list[0];
    int64_t sizes[GRID_NDIM], at[GRID_NDIM], dim = reference_integer(call, 1, 0);
    for (int k = 0; k < list->given->n; k++)
        if (!stacks && shaped->ndim == 1 && shaped->numel == 0)
            shaped = &list->list[k];
    const int ndim = shaped->ndim + stacks;
    dim += dim < 0 ? ndim : 0;
    for (int d = 0, from = 0; d < ndim; d++)
        sizes[d] = d == dim ? 0 : shaped->sizes[stacks ? from++ : d];
    for (int k = 0; k < list->given->n; k++)
        sizes[dim] += length_of(list, k, dim, stacks);
    e->grid = grid_new(list->list[0].dtype, sizes, ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        int k = 0;
        grid_index(&e->grid, i, at);
        while (at[dim] >= length_of(list, k, dim, stacks))
            at[dim] -= length_of(list, k++, dim, stacks);
        if (stacks)
            memmove(at + dim, at + dim + 1, (size_t)(ndim - 1 - dim) * sizeof *at);
        e->grid.cells[i] = list->list[k].cells[grid_linear(&list->list[k], at)];
    }
}

bool reference_of_index(const reference_call *call, expectation *e)
{
    static const struct {
        const char *name;
        void (*reference)(const reference_call *call, expectation *e);
    } references[] = {{"index", index},   {"index_put", index_put},     {"index_select", index_select},
                      {"gather", gather}, {"scatter_add", scatter_add}, {"index_add", index_add},
                      {"cat", join},      {"stack", join}};
    for (size_t i = 0; i < sizeof references / sizeof *references; i++) {
        if (strcmp(references[i].name, call->name) != 0)
            continue;
        references[i].reference(call, e);
        return true;
    }
    return false;
}
