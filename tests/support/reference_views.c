/* The views of reference.h: which element of the argument each element of the result is, and whether they share memory.
 */
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"
#include "support/test.h"

static void view_of(const reference_call *call, expectation *e, const int64_t *sizes, int ndim)
{
    e->grid = grid_new(call->arguments[0].grid.dtype, sizes, ndim);
    e->at = calloc((size_t)e->grid.numel + 1, sizeof *e->at);
    e->shares = SHARES_STORAGE;
}

static void view_element(const reference_call *call, expectation *e, int64_t to, int64_t from)
{
    e->grid.cells[to] = call->arguments[0].grid.cells[from];
    e->at[to] = element_address(call->arguments[0].tensor, from);
}

/* Whether one step a dim leads to every address: then a view exists. */
static bool describable(const expectation *e)
{
    int64_t index[GRID_NDIM], steps[GRID_NDIM] = {0};
    for (int64_t i = 0; i < e->grid.numel; i++) {
        int64_t place = 0, moved = 0, at = -1;
        grid_index(&e->grid, i, index);
        for (int d = 0; d < e->grid.ndim; d++) {
            place += index[d] * steps[d];
            moved += index[d] != 0;
            at = index[d] == 1 ? d : at;
        }
        if (moved == 1 && at >= 0)
            steps[at] = e->at[i] - e->at[0];
        else if (e->at[i] - e->at[0] != place)
            return false;
    }
    return true;
}

enum { VIEW, RESHAPE, CONTIGUOUS };

/* Row-major order stays; the size may hold a -1. */
static void regrid(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM], known = 1;
    int ndim = row == CONTIGUOUS ? x->ndim : call->arguments[1].given->n;
    memcpy(sizes, row == CONTIGUOUS ? x->sizes : call->arguments[1].given->numbers, sizeof sizes);
    for (int d = 0; d < ndim; d++)
        known *= sizes[d] == -1 ? 1 : sizes[d];
    for (int d = 0; d < ndim; d++)
        sizes[d] = sizes[d] == -1 ? x->numel / known : sizes[d];
    view_of(call, e, sizes, ndim);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
    if (row == CONTIGUOUS && tn_is_contiguous(call->arguments[0].tensor))
        e->shares = IS_SAME;
    else if (row == CONTIGUOUS || !describable(e))
        e->shares = SHARES_NOTHING;
}

/* What gives back its argument: conj of a real tensor. */
static void same(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    (void)row;
    view_of(call, e, x->sizes, x->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
    e->shares = IS_SAME;
}

static void expand(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    const sample_argument *size = call->arguments[1].given;
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    int lead = size->n - x->ndim;
    (void)row;
    for (int d = 0; d < size->n; d++)
        sizes[d] = size->numbers[d] == -1 ? x->sizes[d - lead] : size->numbers[d];
    view_of(call, e, sizes, size->n);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        for (int d = 0; d < x->ndim; d++)
            own[d] = x->sizes[d] == 1 ? 0 : index[d + lead];
        view_element(call, e, i, grid_linear(x, own));
    }
}

static void as_strided(const reference_call *call, expectation *e, int row)
{
    const tn_tensor *x = call->arguments[0].tensor;
    const sample_argument *size = call->arguments[1].given, *stride = call->arguments[2].given;
    int64_t offset = reference_integer(call, 3, tn_storage_offset(x)), index[GRID_NDIM];
    int64_t itemsize = (int64_t)tn_itemsize(call->arguments[0].grid.dtype);
    (void)row;
    view_of(call, e, size->numbers, size->n);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        int64_t at = offset;
        grid_index(&e->grid, i, index);
        for (int d = 0; d < size->n; d++)
            at += index[d] * stride->numbers[d];
        e->at[i] = (const char *)tn_storage_data(x) + at * itemsize;
    }
    free(e->grid.cells);
    e->grid.cells = NULL; /* the addresses say it all: the storage holds guards too */
}

enum { TRANSPOSE, T2, TALL };

static void permute(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    int order[GRID_NDIM];
    for (int d = 0; d < x->ndim; d++)
        order[d] = row == TRANSPOSE ? d : x->ndim - 1 - d;
    if (row == TRANSPOSE && x->ndim > 0) {
        int64_t a = reference_integer(call, 1, 0), b = reference_integer(call, 2, 0);
        a += a < 0 ? x->ndim : 0;
        b += b < 0 ? x->ndim : 0;
        order[a] = (int)b;
        order[b] = (int)a;
    }
    for (int d = 0; d < x->ndim; d++)
        sizes[d] = x->sizes[order[d]];
    view_of(call, e, sizes, x->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        for (int d = 0; d < x->ndim; d++)
            own[order[d]] = index[d];
        view_element(call, e, i, grid_linear(x, own));
    }
}

enum { NARROW, SELECT, SLICE };

static void cut(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    int64_t dim = reference_integer(call, 1, 0), start = reference_integer(call, 2, 0), step = 1, n = 1;
    dim += dim < 0 ? x->ndim : 0;
    int64_t size = x->sizes[dim];
    start += start < 0 ? size : 0;
    if (row == NARROW)
        n = reference_integer(call, 3, 0);
    if (row == SLICE) {
        int64_t end = reference_integer(call, 3, INT64_MAX);
        step = reference_integer(call, 4, 1);
        end += end < 0 ? size : 0;
        start = start < 0 ? 0 : start > size ? size : start;
        end = end < start ? start : end > size ? size : end;
        n = (end - start + step - 1) / step;
    }
    int kept = 0;
    for (int d = 0; d < x->ndim; d++)
        if (d != dim || row != SELECT)
            sizes[kept++] = d == dim ? n : x->sizes[d];
    view_of(call, e, sizes, kept);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        for (int d = 0; d < x->ndim; d++) {
            int from = row == SELECT && d > dim ? d - 1 : d;
            own[d] = d == dim ? (row == SELECT ? start : start + index[from] * step) : index[from];
        }
        view_element(call, e, i, grid_linear(x, own));
    }
}

enum { UNSQUEEZE, SQUEEZE };

static void squeeze(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM];
    int kept = 0;
    if (row == UNSQUEEZE) {
        int64_t dim = reference_integer(call, 1, 0);
        dim += dim < 0 ? x->ndim + 1 : 0;
        for (int d = 0; d <= x->ndim; d++)
            sizes[kept++] = d == dim ? 1 : x->sizes[d < dim ? d : d - 1];
    } else {
        uint64_t mask = reference_dims(call, 1, x->ndim);
        for (int d = 0; d < x->ndim; d++)
            if (x->sizes[d] != 1 || !(mask & (UINT64_C(1) << d)))
                sizes[kept++] = x->sizes[d];
    }
    view_of(call, e, sizes, kept);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
}

static const struct {
    const char *name;
    void (*reference)(const reference_call *call, expectation *e, int row);
    int row;
} views[] = {
    {"conj", same, 0},
    {"resolve_conj", same, 0},
    {"resolve_neg", same, 0},
    {"view", regrid, VIEW},
    {"reshape", regrid, RESHAPE},
    {"contiguous", regrid, CONTIGUOUS},
    {"expand", expand, 0},
    {"as_strided", as_strided, 0},
    {"transpose", permute, TRANSPOSE},
    {"t", permute, T2},
    {"T", permute, TALL},
    {"narrow", cut, NARROW},
    {"select", cut, SELECT},
    {"slice", cut, SLICE},
    {"unsqueeze", squeeze, UNSQUEEZE},
    {"squeeze", squeeze, SQUEEZE},
};

bool reference_of_view(const reference_call *call, expectation *e)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (strcmp(views[i].name, call->name) == 0) {
            views[i].reference(call, e, views[i].row);
            return true;
        }
    return false;
}
