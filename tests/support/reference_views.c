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

/* Whether the strides of dims larger than 1 are those of a format: row-major, or with dim 1 innermost. */
static bool in_format(const tn_tensor *x, int64_t format)
{
    int ndim = tn_ndim(x), order[GRID_NDIM], n = 0;
    int64_t step = 1;
    if (tn_numel(x) == 0)
        return true;
    if (format > 0)
        order[n++] = 1;
    for (int d = ndim - 1; d >= 0; d--)
        if (format == 0 || d != 1)
            order[n++] = d;
    for (int i = 0; i < n; i++) {
        if (tn_sizes(x)[order[i]] != 1 && tn_strides(x)[order[i]] != step)
            return false;
        step *= tn_sizes(x)[order[i]];
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
    if (row == CONTIGUOUS && in_format(call->arguments[0].tensor, reference_integer(call, 1, 0)))
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

/* The same order of elements in x's dims start .. end as one; or one dim cut into several. */
static void flatten(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM] = {1}, start = reference_integer(call, 1, 0), end = reference_integer(call, 2, -1);
    int n = 0;
    (void)row;
    start += start < 0 ? x->ndim : 0;
    end += end < 0 ? x->ndim : 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d > start && d <= end)
            sizes[n - 1] *= x->sizes[d];
        else
            sizes[n++] = x->sizes[d];
    }
    view_of(call, e, sizes, n == 0 ? 1 : n);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
    e->shares = x->ndim > 0 && start == end ? IS_SAME : describable(e) ? SHARES_STORAGE : SHARES_NOTHING;
}

static void unflatten(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    const sample_argument *size = call->arguments[2].given;
    int64_t sizes[GRID_NDIM], dim = reference_integer(call, 1, 0), known = 1;
    int n = 0;
    (void)row;
    dim += dim < 0 ? x->ndim : 0;
    for (int i = 0; i < size->n; i++)
        known *= size->numbers[i] == -1 ? 1 : size->numbers[i];
    for (int d = 0; d < x->ndim; d++)
        for (int i = 0; i < (d == dim ? size->n : 1); i++) {
            int64_t asked = d == dim ? size->numbers[i] : x->sizes[d];
            sizes[n++] = asked == -1 ? x->sizes[d] / known : asked;
        }
    view_of(call, e, sizes, n);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
}

enum { TRANSPOSE, T2, TALL, LAST_TWO, PERMUTE, MOVE };

/* Dims in the order that movedim gives: those that stay, then each moved one put in at its place, lowest first. */
static void moved_order(const reference_call *call, int ndim, int *order)
{
    const sample_argument *from = call->arguments[1].given, *to = call->arguments[2].given;
    int64_t source[GRID_NDIM], place[GRID_NDIM];
    int n = from->kind == SAMPLE_NUMBER ? 1 : from->n, filled = 0;
    for (int i = 0; i < n; i++) {
        source[i] = from->kind == SAMPLE_NUMBER ? from->number.value.i : from->numbers[i];
        place[i] = to->kind == SAMPLE_NUMBER ? to->number.value.i : to->numbers[i];
        source[i] += source[i] < 0 ? ndim : 0;
        place[i] += place[i] < 0 ? ndim : 0;
    }
    for (int d = 0; d < ndim; d++) {
        bool moves = false;
        for (int i = 0; i < n; i++)
            moves = moves || source[i] == d;
        if (!moves)
            order[filled++] = d;
    }
    for (int at = 0; at < ndim; at++)
        for (int i = 0; i < n; i++)
            if (place[i] == at) {
                memmove(order + at + 1, order + at, (size_t)(filled++ - at) * sizeof *order);
                order[at] = (int)source[i];
            }
}

static void permute(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM];
    int order[GRID_NDIM];
    if (row == MOVE && x->ndim > 0)
        moved_order(call, x->ndim, order);
    for (int d = 0; d < x->ndim && row != MOVE; d++)
        order[d] = row == TRANSPOSE || row == LAST_TWO ? d : x->ndim - 1 - d;
    for (int d = 0; d < x->ndim && row == PERMUTE; d++) {
        int64_t from = call->arguments[1].given->numbers[d];
        order[d] = (int)(from < 0 ? from + x->ndim : from);
    }
    if (row == LAST_TWO && x->ndim > 1) {
        order[x->ndim - 1] = x->ndim - 2;
        order[x->ndim - 2] = x->ndim - 1;
    }
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
    if (row == LAST_TWO && x->ndim == 0)
        e->shares = IS_SAME;
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

static void diagonal(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t offset = reference_integer(call, 1, 0), a = reference_integer(call, 2, 0),
            b = reference_integer(call, 3, 1);
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM], length = 0;
    int n = 0;
    (void)row;
    a += a < 0 ? x->ndim : 0;
    b += b < 0 ? x->ndim : 0;
    for (int64_t i = 0; i < x->sizes[a]; i++)
        for (int64_t j = 0; j < x->sizes[b]; j++)
            length += j - i == offset;
    for (int d = 0; d < x->ndim; d++)
        if (d != a && d != b)
            sizes[n++] = x->sizes[d];
    sizes[n++] = length;
    view_of(call, e, sizes, n);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        n = 0;
        for (int d = 0; d < x->ndim; d++)
            own[d] = d == a   ? index[x->ndim - 2] - (offset < 0 ? offset : 0)
                     : d == b ? index[x->ndim - 2] + (offset > 0 ? offset : 0)
                              : index[n++];
        view_element(call, e, i, grid_linear(x, own));
    }
}

static void unfold(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    int64_t dim = reference_integer(call, 1, 0), size = reference_integer(call, 2, 0),
            step = reference_integer(call, 3, 0);
    int64_t sizes[GRID_NDIM], index[GRID_NDIM], own[GRID_NDIM], windows = 0;
    (void)row;
    dim += dim < 0 ? x->ndim : 0;
    for (int64_t start = 0; x->ndim > 0 && start + size <= x->sizes[dim]; start += step)
        windows++;
    for (int d = 0; d < x->ndim; d++)
        sizes[d] = d == dim ? windows : x->sizes[d];
    sizes[x->ndim] = size;
    view_of(call, e, sizes, x->ndim + 1);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        for (int d = 0; d < x->ndim; d++)
            own[d] = d == dim ? index[d] * step + index[x->ndim] : index[d];
        view_element(call, e, i, grid_linear(x, own));
    }
}

/* Entry by entry: which places of which dims are taken, and which dims the result has. */
static void getitem(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    const sample_argument *index = call->arguments[1].given;
    int64_t sizes[GRID_NDIM], at[GRID_NDIM], own[GRID_NDIM], start[GRID_NDIM] = {0}, step[GRID_NDIM];
    int result_dim[GRID_NDIM], taken = 0, from = 0, to = 0;
    (void)row;
    for (int i = 0; i < index->n; i++)
        taken += index->index[i].kind == TN_INDEX_INTEGER || index->index[i].kind == TN_INDEX_SLICE;
    for (int i = 0; i <= index->n; i++) {
        tn_index entry = i < index->n ? index->index[i] : tn_index_ellipsis();
        int whole = i < index->n ? x->ndim - taken : x->ndim - from;
        if (entry.kind == TN_INDEX_NEW_AXIS)
            sizes[to++] = 1;
        for (; entry.kind == TN_INDEX_ELLIPSIS && whole > 0; whole--, from++) {
            if (from >= x->ndim)
                continue;
            step[from] = 1;
            result_dim[from] = to;
            sizes[to++] = x->sizes[from];
        }
        if (entry.kind == TN_INDEX_INTEGER) {
            start[from] = entry.as.integer + (entry.as.integer < 0 ? x->sizes[from] : 0);
            result_dim[from++] = -1;
        } else if (entry.kind == TN_INDEX_SLICE) {
            int64_t n = x->sizes[from], stop = entry.as.slice.stop;
            step[from] = entry.as.slice.step;
            start[from] = entry.as.slice.start + (entry.as.slice.start < 0 ? n : 0);
            stop = stop < 0 ? stop + n : stop > n ? n : stop;
            result_dim[from] = to;
            sizes[to] = 0;
            for (int64_t k = start[from]; k < stop; k += step[from])
                sizes[to]++;
            from++;
            to++;
        }
    }
    view_of(call, e, sizes, to);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, at);
        for (int d = 0; d < x->ndim; d++)
            own[d] = start[d] + (result_dim[d] < 0 ? 0 : at[result_dim[d]] * step[d]);
        view_element(call, e, i, grid_linear(x, own));
    }
}

enum { ALIAS, DETACH, REAL };

static void same_grid(const reference_call *call, expectation *e, int row)
{
    const grid *x = &call->arguments[0].grid;
    view_of(call, e, x->sizes, x->ndim);
    for (int64_t i = 0; i < e->grid.numel; i++)
        view_element(call, e, i, i);
    e->shares = row == ALIAS ? SHARES_STORAGE : row == DETACH ? SHARES_MEMORY : IS_SAME;
}

/* The bytes as elements of another dtype: side by side in the last dim. SHARES_NOTHING where that can't be. */
static void as_dtype(const reference_call *call, expectation *e, tn_dtype dtype, sharing shares)
{
    const grid *x = &call->arguments[0].grid;
    const tn_tensor *t = call->arguments[0].tensor;
    int64_t old = (int64_t)tn_itemsize(x->dtype), new = (int64_t)tn_itemsize(dtype), sizes[GRID_NDIM], index[GRID_NDIM];
    int last = x->ndim - 1;
    bool good = old == new || x->ndim > 0;
    memcpy(sizes, x->sizes, sizeof sizes);
    if (old != new && good) {
        sizes[last] = x->sizes[last] * old / new;
        good = sizes[last] * new == x->sizes[last] * old && tn_strides(t)[last] == 1 &&
               tn_storage_offset(t) * old % new == 0;
        for (int d = 0; d < last; d++)
            good = good && tn_strides(t)[d] * old % new == 0;
    }
    view_of(call, e, sizes, x->ndim);
    e->grid.dtype = dtype;
    free(e->grid.cells);
    e->grid.cells = NULL; /* the addresses say it all */
    e->shares = good ? shares : SHARES_NOTHING;
    for (int64_t i = 0; i < e->grid.numel && good; i++) {
        grid_index(&e->grid, i, index);
        int64_t at = tn_storage_offset(t) * old;
        for (int d = 0; d < x->ndim; d++)
            at += index[d] * (old != new && d == last ? new : tn_strides(t)[d] * old);
        e->at[i] = (const char *)tn_storage_data(t) + at;
    }
}

static void view_dtype(const reference_call *call, expectation *e, int row)
{
    (void)row;
    as_dtype(call, e, call->arguments[1].given->dtype, SHARES_MEMORY);
}

static void view_as_complex(const reference_call *call, expectation *e, int row)
{
    tn_dtype dtype = call->arguments[0].grid.dtype;
    (void)row;
    as_dtype(call, e, dtype == TN_FLOAT64 ? TN_COMPLEX128 : dtype == TN_FLOAT16 ? TN_COMPLEX32 : TN_COMPLEX64,
             SHARES_STORAGE);
    e->grid.ndim--;
    if (!dtype_is_float(dtype) || dtype == TN_BFLOAT16)
        e->shares = SHARES_NOTHING;
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
    {"view_as", regrid, VIEW},
    {"flatten", flatten, 0},
    {"unflatten", unflatten, 0},
    {"expand", expand, 0},
    {"expand_as", expand, 0},
    {"broadcast_to", expand, 0},
    {"as_strided", as_strided, 0},
    {"transpose", permute, TRANSPOSE},
    {"swapaxes", permute, TRANSPOSE},
    {"swapdims", permute, TRANSPOSE},
    {"mT", permute, LAST_TWO},
    {"H", permute, LAST_TWO},
    {"mH", permute, LAST_TWO},
    {"adjoint", permute, LAST_TWO},
    {"permute", permute, PERMUTE},
    {"movedim", permute, MOVE},
    {"moveaxis", permute, MOVE},
    {"t", permute, T2},
    {"T", permute, TALL},
    {"narrow", cut, NARROW},
    {"select", cut, SELECT},
    {"slice", cut, SLICE},
    {"unsqueeze", squeeze, UNSQUEEZE},
    {"squeeze", squeeze, SQUEEZE},
    {"diagonal", diagonal, 0},
    {"unfold", unfold, 0},
    {"getitem", getitem, 0},
    {"alias", same_grid, ALIAS},
    {"detach", same_grid, DETACH},
    {"data", same_grid, DETACH},
    {"real", same_grid, REAL},
    {"view_dtype", view_dtype, 0},
    {"view_as_complex", view_as_complex, 0},
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
