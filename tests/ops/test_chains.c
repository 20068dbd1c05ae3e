/* Random chains of views on small tensors against a map of indices that is worked out element by element; then copies,
 * sums and arithmetic over what came out, which exercises the merging of dims. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/draw.h"
#include "support/test.h"

#ifdef TENON_QUICK
enum { CHAINS = 4000 };
#else
enum { CHAINS = 20000 };
#endif
enum { CELLS = 40, MOST = 200, RANK = 6, STEPS = 6 };

/* A tensor, and for each of its elements (row-major) the cell of the storage. */
typedef struct model {
    tn_tensor *x;
    int ndim;
    int64_t sizes[RANK + 2], numel;
    int64_t cells[MOST];
    char story[512];
} model;

static uint64_t state = 20240917;

static int64_t pick(int64_t n)
{
    return draw_below(&state, n);
}

static void tell(model *m, const char *op, int64_t a, int64_t b)
{
    size_t used = strlen(m->story);
    snprintf(m->story + used, sizeof m->story - used, " %s(%lld,%lld)", op, (long long)a, (long long)b);
}

static int64_t count(const int64_t *sizes, int ndim)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= sizes[d];
    return n;
}

static void unravel(const int64_t *sizes, int ndim, int64_t linear, int64_t *index)
{
    for (int d = ndim - 1; d >= 0; d--) {
        index[d] = linear % sizes[d];
        linear /= sizes[d];
    }
}

static int64_t ravel(const int64_t *sizes, int ndim, const int64_t *index)
{
    int64_t linear = 0;
    for (int d = 0; d < ndim; d++)
        linear = linear * sizes[d] + index[d];
    return linear;
}

/* Whether one stride a dim gives these cells. */
static bool describable(const int64_t *cells, const int64_t *sizes, int ndim, int64_t numel)
{
    int64_t strides[RANK + 2], index[RANK + 2];
    for (int d = 0; d < ndim && numel > 0; d++) {
        memset(index, 0, sizeof index);
        index[d] = 1;
        strides[d] = sizes[d] > 1 ? cells[ravel(sizes, ndim, index)] - cells[0] : 0;
        if (strides[d] < 0)
            return false;
    }
    for (int64_t i = 0; i < numel; i++) {
        int64_t at = cells[0];
        unravel(sizes, ndim, i, index);
        for (int d = 0; d < ndim; d++)
            at += index[d] * strides[d];
        if (at != cells[i])
            return false;
    }
    return true;
}

static void adopt(model *m, tn_tensor *y, int ndim, const int64_t *sizes, const int64_t *cells)
{
    if (!y)
        fail_msg("%s: %s", m->story, tn_error_message());
    m->x = y;
    m->ndim = ndim;
    m->numel = count(sizes, ndim);
    memmove(m->sizes, sizes, (size_t)ndim * sizeof *sizes);
    memmove(m->cells, cells, (size_t)m->numel * sizeof *cells);
}

static void transpose(model *m)
{
    int a = (int)pick(m->ndim), b = (int)pick(m->ndim);
    int64_t sizes[RANK + 2], index[RANK + 2], cells[MOST];
    if (m->ndim == 0)
        return;
    tell(m, "transpose", a, b);
    memcpy(sizes, m->sizes, sizeof sizes);
    sizes[a] = m->sizes[b];
    sizes[b] = m->sizes[a];
    for (int64_t i = 0; i < m->numel; i++) {
        unravel(sizes, m->ndim, i, index);
        int64_t swap = index[a];
        index[a] = index[b];
        index[b] = swap;
        cells[i] = m->cells[ravel(m->sizes, m->ndim, index)];
    }
    adopt(m, tn_transpose(m->x, a, b - m->ndim), m->ndim, sizes, cells);
}

/* slice, narrow, or select (step 0). */
static void cut(model *m)
{
    int dim = (int)pick(m->ndim), n = 0;
    int64_t sizes[RANK + 2], index[RANK + 2], own[RANK + 2], cells[MOST];
    if (m->ndim == 0)
        return;
    int64_t size = m->sizes[dim], start = pick(size + 1), end = start + pick(size - start + 1), step = pick(4);
    if (step == 0 && (size == 0 || start == size))
        return;
    for (int d = 0; d < m->ndim; d++)
        if (d != dim || step != 0)
            sizes[n++] = d != dim ? m->sizes[d] : (end - start + step - 1) / step;
    int64_t numel = count(sizes, n);
    for (int64_t i = 0; i < numel; i++) {
        unravel(sizes, n, i, index);
        for (int d = 0; d < m->ndim; d++) {
            int from = step == 0 && d > dim ? d - 1 : d;
            own[d] = d == dim ? start + (step ? index[from] * step : 0) : index[from];
        }
        cells[i] = m->cells[ravel(m->sizes, m->ndim, own)];
    }
    tell(m, step == 0 ? "select" : step == 1 ? "narrow" : "slice", dim, start);
    tn_tensor *y = step == 0   ? tn_select(m->x, dim, start - (pick(2) ? size : 0))
                   : step == 1 ? tn_narrow(m->x, dim, start, end - start)
                               : tn_slice(m->x, dim, start, end, step);
    adopt(m, y, n, sizes, cells);
}

static void expand(model *m)
{
    int lead = m->ndim < RANK ? (int)pick(2) : 0, n = m->ndim + lead;
    int64_t sizes[RANK + 2], index[RANK + 2], cells[MOST];
    for (int d = 0; d < n; d++) {
        int64_t have = d < lead ? 1 : m->sizes[d - lead];
        sizes[d] = have == 1 ? 1 + pick(3) : have;
    }
    if (count(sizes, n) > MOST)
        return;
    for (int64_t i = 0; i < count(sizes, n); i++) {
        unravel(sizes, n, i, index);
        for (int d = 0; d < m->ndim; d++)
            index[d] = m->sizes[d] == 1 ? 0 : index[d + lead];
        cells[i] = m->cells[ravel(m->sizes, m->ndim, index)];
    }
    tell(m, "expand", lead, n);
    adopt(m, tn_expand(m->x, sizes, n), n, sizes, cells);
}

static void squeeze(model *m)
{
    int64_t sizes[RANK + 2];
    int n = 0;
    if (pick(3) == 0) {
        for (int d = 0; d < m->ndim; d++)
            if (m->sizes[d] != 1)
                sizes[n++] = m->sizes[d];
        tell(m, "squeeze", 0, 0);
        adopt(m, tn_squeeze(m->x), n, sizes, m->cells);
        return;
    }
    if (m->ndim >= RANK)
        return;
    int dim = (int)pick(m->ndim + 1);
    for (int d = 0; d <= m->ndim; d++)
        sizes[n++] = d == dim ? 1 : m->sizes[d < dim ? d : d - 1];
    tell(m, "unsqueeze", dim, 0);
    adopt(m, tn_unsqueeze(m->x, dim), n, sizes, m->cells);
}

/* Random sizes with the same number of elements; a view exactly when strides describe it. */
static void regrid(model *m)
{
    int64_t sizes[RANK + 2], rest = m->numel;
    int n = 0, unknown = -1;
    if (m->numel == 0)
        return;
    while (n < RANK && (rest > 1 || pick(3) == 0)) {
        int64_t factor = 1 + pick(rest < 5 ? rest : 5);
        if (rest % factor != 0)
            factor = 1;
        sizes[n] = n == RANK - 1 ? rest : factor;
        rest /= sizes[n++];
        if (n < RANK && rest > 1 && pick(4) == 0) {
            sizes[n++] = rest;
            rest = 1;
        }
    }
    if (rest != 1)
        return;
    for (int k = n - 1; k > 0; k--) { /* any order of the factors */
        int64_t j = pick(k + 1), swap = sizes[k];
        sizes[k] = sizes[j];
        sizes[j] = swap;
    }
    bool exists = describable(m->cells, sizes, n, m->numel);
    int64_t asked[RANK + 2];
    memcpy(asked, sizes, sizeof asked);
    if (n > 0 && pick(2)) {
        unknown = (int)pick(n);
        asked[unknown] = -1;
    }
    tell(m, "view", n, unknown);
    tn_tensor *y = tn_view(m->x, asked, n);
    if ((y != NULL) != exists)
        fail_msg("%s: a view %s, but %s", m->story, exists ? "exists" : "does not exist",
                 y ? "one was made" : tn_error_message());
    tn_error_clear();
    tn_tensor *copy = tn_reshape(m->x, asked, n);
    if (!copy || tn_is_same_storage(copy, m->x) != exists)
        fail_msg("%s: reshape should %s", m->story, exists ? "be a view" : "copy");
    if (exists)
        adopt(m, y, n, sizes, m->cells);
}

static void restride(model *m)
{
    int n = (int)pick(4);
    int64_t sizes[RANK + 2], strides[RANK + 2], index[RANK + 2], cells[MOST], reach = 1, offset = pick(CELLS + 1);
    for (int d = 0; d < n; d++) {
        sizes[d] = pick(5);
        strides[d] = pick(8);
        reach += sizes[d] > 0 ? (sizes[d] - 1) * strides[d] : 0;
    }
    int64_t numel = count(sizes, n);
    bool inside = numel == 0 || offset + reach <= CELLS;
    tell(m, "as_strided", n, offset);
    tn_tensor *y = tn_as_strided(m->x, sizes, strides, n, offset);
    if ((y != NULL) != inside)
        fail_msg("%s: as_strided is %s the storage: %s", m->story, inside ? "inside" : "outside", tn_error_message());
    tn_error_clear();
    if (!inside || numel > MOST)
        return;
    for (int64_t i = 0; i < numel; i++) {
        unravel(sizes, n, i, index);
        cells[i] = offset;
        for (int d = 0; d < n; d++)
            cells[i] += index[d] * strides[d];
    }
    adopt(m, y, n, sizes, cells);
}

/* Shape, and the address of every element. */
static void check(const model *m)
{
    int64_t index[RANK + 2];
    bool same = tn_ndim(m->x) == m->ndim && tn_numel(m->x) == m->numel;
    for (int d = 0; same && d < m->ndim; d++)
        same = tn_size(m->x, d) == m->sizes[d];
    if (!same)
        fail_msg("%s: another shape", m->story);
    bool contiguous = true;
    for (int64_t i = 0; i < m->numel; i++) {
        int64_t at = tn_storage_offset(m->x);
        unravel(m->sizes, m->ndim, i, index);
        for (int d = 0; d < m->ndim; d++)
            at += index[d] * tn_stride(m->x, d);
        if (at != m->cells[i])
            fail_msg("%s: element %lld is cell %lld, needed %lld", m->story, (long long)i, (long long)at,
                     (long long)m->cells[i]);
        contiguous = contiguous && at == m->cells[0] + i;
    }
    if (tn_is_contiguous(m->x) != contiguous)
        fail_msg("%s: is_contiguous is wrong", m->story);
}

/* Element i of y, which may have any strides. */
static double element(const tn_tensor *y, int64_t linear)
{
    int64_t index[RANK + 2], at = 0;
    unravel(tn_sizes(y), tn_ndim(y), linear, index);
    for (int d = 0; d < tn_ndim(y); d++)
        at += index[d] * tn_stride(y, d);
    return tn_data_f64(y)[at];
}

static void compute(const model *m)
{
    tn_tensor *first = tn_contiguous(m->x), *second = tn_clone(m->x), *both = tn_add(m->x, second),
              *narrow = tn_to(m->x, TN_FLOAT32);
    const int dim = m->ndim > 0 ? (int)pick(m->ndim) : 0;
    tn_tensor *all = tn_sum(m->x, NULL, 0, false, TN_DTYPE_NONE), *some = tn_sum(m->x, &dim, 1, false, TN_DTYPE_NONE);
    if (!first || !second || !both || !narrow || !all || !some)
        fail_msg("%s: %s", m->story, tn_error_message());
    double total = 0, sums[MOST] = {0};
    int64_t index[RANK + 2], kept[RANK + 2], kept_sizes[RANK + 2];
    for (int64_t i = 0; i < m->numel; i++) {
        double value = (double)m->cells[i] + 1;
        int n = 0;
        if (element(first, i) != value || element(second, i) != value || element(both, i) != 2 * value)
            fail_msg("%s: element %lld of contiguous, clone or add is wrong", m->story, (long long)i);
        total += value;
        unravel(m->sizes, m->ndim, i, index);
        for (int d = 0; d < m->ndim; d++) {
            if (d == dim)
                continue;
            kept_sizes[n] = m->sizes[d];
            kept[n++] = index[d];
        }
        sums[ravel(kept_sizes, n, kept)] += value;
    }
    if (tn_item(all) != total)
        fail_msg("%s: the sum is wrong", m->story);
    for (int64_t i = 0; i < tn_numel(some); i++)
        if (element(some, i) != (m->numel > 0 ? sums[i] : 0))
            fail_msg("%s: the sum over dim %d is wrong at %lld", m->story, dim, (long long)i);
    if (!tn_is_contiguous(first) || (m->numel > 0 && !tn_equal(narrow, first)))
        fail_msg("%s: contiguous or to", m->story);
}

static void chains(void **unused)
{
    static void (*const steps[])(model *) = {transpose, cut, expand, squeeze, regrid, restride, transpose, cut, regrid};
    double data[CELLS];
    (void)unused;
    for (int i = 0; i < CELLS; i++)
        data[i] = i + 1;
    for (int chain = 0; chain < CHAINS; chain++) {
        tn_scope scope = tn_scope_begin();
        const int64_t shapes[][3] = {{2, 4, 5}, {5, 8, 1}, {1, 40, 1}, {10, 2, 2}}, *shape = shapes[chain % 4];
        model m = {.x = tn_from_array(data, shape, 3, TN_FLOAT64), .ndim = 3, .numel = CELLS};
        memcpy(m.sizes, shape, 3 * sizeof *shape);
        snprintf(m.story, sizeof m.story, "chain %d:", chain);
        for (int i = 0; i < CELLS; i++)
            m.cells[i] = i;
        int64_t length = 1 + pick(STEPS);
        for (int64_t step = 0; step < length; step++) {
            steps[pick((int64_t)(sizeof steps / sizeof *steps))](&m);
            check(&m);
        }
        compute(&m);
        tn_scope_end(scope);
    }
}

TEST_MAIN(test(chains))
