/* What a tensor reads, and in which order: facts from its record, for all that is written about it.
 *
 * Element (i_1 ... i_k) is cell offset + sum of i_j stride_j. Two neighbouring dims, sizes of 1 left out, merge into
 * one exactly when stride[outer] = size[inner] stride[inner]; view(-1) works when all pairs do. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "report.h"

/* The pairs from the last dim on; true when all hold. For contiguity the last stride must be 1, else any will do. */
static bool pairs_hold(const explain_facts *facts, bool from_one, explain_pair *pair)
{
    int inner = -1;
    if (facts->numel == 0)
        return true;
    for (int d = facts->ndim - 1; d >= 0; d--) {
        if (facts->size[d] == 1)
            continue;
        if (inner < 0 && from_one)
            *pair = (explain_pair){d, -1, facts->stride[d], 1, 1, 1};
        else if (inner >= 0)
            *pair = (explain_pair){d,
                                   inner,
                                   facts->stride[d],
                                   facts->size[inner],
                                   facts->stride[inner],
                                   facts->size[inner] * facts->stride[inner]};
        if ((inner >= 0 || from_one) && pair->found != pair->needed)
            return false;
        inner = d;
    }
    return true;
}

/* Steps to the next index in row-major order, and *cell with it. */
static void advance(const explain_facts *facts, int64_t *at, int64_t *cell)
{
    for (int d = facts->ndim - 1; d >= 0; d--) {
        if (facts->size[d] == 1) /* its stride may be anything */
            continue;
        *cell += facts->stride[d];
        if (++at[d] < facts->size[d])
            return;
        *cell -= facts->size[d] * facts->stride[d];
        at[d] = 0;
    }
}

/* All cells, or from two before the first that is read to two after the last, as far as there is room. */
static void choose_window(explain_facts *facts)
{
    int64_t n = facts->cells;
    if (n > EXPLAIN_CELLS) {
        facts->window = facts->high < EXPLAIN_CELLS || facts->low < 2 ? 0 : facts->low - 2;
        n = facts->high + 3 - facts->window;
        n = n > 16 ? n : 16;
        n = n < facts->cells - facts->window ? n : facts->cells - facts->window;
    }
    facts->n_window = (int)(n < EXPLAIN_CELLS ? n : EXPLAIN_CELLS);
}

static void walk(explain_facts *facts, unsigned char *seen)
{
    int64_t at[TN_MAX_NDIM] = {0}, cell = facts->offset;
    int64_t n = facts->numel < EXPLAIN_WALK ? facts->numel : EXPLAIN_WALK;
    for (int64_t i = 0; i < n; i++) {
        int64_t shown = cell - facts->window;
        if (i < EXPLAIN_ORDER)
            facts->order[facts->n_order++] = cell;
        if (shown >= 0 && shown < facts->n_window && facts->times[shown]++ == 0)
            facts->first[shown] = i + 1;
        facts->distinct += !seen[cell - facts->low];
        seen[cell - facts->low] = 1;
        advance(facts, at, &cell);
    }
    facts->walked = n == facts->numel;
}

bool explain_look(tn_tensor *x, explain_facts *facts)
{
    size_t itemsize = tn_itemsize(tn_tensor_dtype(x));
    *facts = (explain_facts){.x = x,
                             .ndim = tn_ndim(x),
                             .size = tn_sizes(x),
                             .stride = tn_strides(x),
                             .numel = tn_numel(x),
                             .offset = tn_storage_offset(x),
                             .cells = (int64_t)(tn_storage_nbytes(x) / (itemsize ? itemsize : 1)),
                             .high = -1,
                             .flat_stride = 1};
    facts->contiguous = pairs_hold(facts, true, &facts->contiguous_no);
    facts->flat = pairs_hold(facts, false, &facts->flat_no);
    tn_tensor *row = facts->flat ? tn_view(x, &facts->numel, 1) : NULL;
    if (row)
        facts->flat_stride = tn_stride(row, 0);
    tn_error_clear();
    if (facts->numel) {
        facts->low = facts->high = facts->offset;
        for (int d = 0; d < facts->ndim; d++)
            facts->high += (facts->size[d] - 1) * facts->stride[d];
    }
    choose_window(facts);
    unsigned char *seen = calloc((size_t)(facts->high - facts->low + 1) + 1, 1);
    if (!seen) {
        TN_FAIL(TN_ERROR_MEMORY, "explain", "no memory for %" PRId64 " bytes", facts->high - facts->low + 1);
        return false;
    }
    walk(facts, seen);
    free(seen);
    return true;
}

const char *explain_letter(int dim, int ndim, char buf[12])
{
    if (ndim > 6)
        snprintf(buf, 12, "i%d", dim);
    else
        snprintf(buf, 12, "%c", "ijklmn"[dim]);
    return buf;
}

void explain_write_address(FILE *stream, const explain_facts *facts, const int64_t *at)
{
    fprintf(stream, "%" PRId64, facts->offset);
    for (int d = 0; d < facts->ndim; d++) {
        char letter[12];
        if (at)
            fprintf(stream, " + %" PRId64 "*%" PRId64, facts->stride[d], at[d]);
        else
            fprintf(stream, " + %" PRId64 " %s", facts->stride[d], explain_letter(d, facts->ndim, letter));
    }
}

/* The shortest text that gives the number back, as a float if it was one. */
static void number_text(tn_dtype dtype, double number, char *buf, size_t size)
{
    bool narrow = tn_itemsize(dtype) <= 4u << tn_is_complex(dtype);
    for (int digits = 1; narrow && isfinite(number) && digits < 9; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, number);
        double near = strtod(text, NULL);
        if ((float)near != (float)number)
            continue;
        number = near;
        break;
    }
    tn_format_double(buf, size, number);
}

void explain_value(tn_tensor *x, int64_t cell, char *buf, size_t size)
{
    buf[0] = '\0';
    tn_scope scope = tn_scope_begin();
    tn_tensor *one = tn_as_strided(x, NULL, NULL, 0, cell);
    tn_scalar value = tn_item_scalar(one);
    char text[80] = "", part[40];
    switch (value.kind) {
    case TN_SCALAR_BOOL:
        snprintf(text, sizeof text, "%s", value.value.i ? "True" : "False");
        break;
    case TN_SCALAR_INT:
        if (tn_tensor_dtype(x) == TN_UINT64)
            snprintf(text, sizeof text, "%" PRIu64, (uint64_t)value.value.i);
        else
            snprintf(text, sizeof text, "%" PRId64, value.value.i);
        break;
    case TN_SCALAR_FLOAT:
        number_text(tn_tensor_dtype(x), value.value.f, text, sizeof text);
        break;
    case TN_SCALAR_COMPLEX:
        number_text(tn_tensor_dtype(x), value.value.c.re, text, sizeof text);
        number_text(tn_tensor_dtype(x), fabs(value.value.c.im), part, sizeof part);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%c%sj", signbit(value.value.c.im) ? '-' : '+', part);
        break;
    }
    if (!tn_error_code())
        snprintf(buf, size, "%s", text);
    tn_error_clear();
    tn_scope_end(scope);
}

void explain_tuple(const int64_t *numbers, int n, char *buf, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < n && used < size; i++) {
        int wrote = snprintf(buf + used, size - used, "%s%" PRId64, i ? ", " : "(", numbers[i]);
        if (used + (size_t)wrote + 8 >= size) {
            snprintf(buf + used, size - used, ", ...)");
            return;
        }
        used += (size_t)wrote;
    }
    snprintf(buf + used, size - used, "%s", n == 0 ? "()" : n == 1 ? ",)" : ")");
}

void explain_pair_text(const explain_pair *pair, char *buf, size_t size)
{
    int used = snprintf(buf, size, "stride %" PRId64 " of dim %d should be ", pair->found, pair->outer);
    if (pair->inner < 0)
        snprintf(buf + used, size - (size_t)used, "1");
    else
        snprintf(buf + used, size - (size_t)used, "%" PRId64 " x %" PRId64 " = %" PRId64 " (size x stride of dim %d)",
                 pair->size, pair->stride, pair->needed, pair->inner);
}

void explain_origin(const explain_expression *it, char *buf, size_t size)
{
    const explain_step *step = &it->step[it->last], *root = step;
    bool view = false;
    while (root->made == MADE_VIEW || root->made == MADE_SAME) {
        view = view || root->made == MADE_VIEW;
        root = &it->step[root->self];
    }
    int cut = 0;
    while (utf8_count(it->text + root->begin + cut, root->length - cut) > 60)
        cut += utf8_step(it->text + root->begin, root->length, cut);
    snprintf(buf, size, "%s %s%.*s%s%s", view ? "a view of the memory that" : "memory of its own, made by",
             cut ? "..." : "", root->length - cut, it->text + root->begin + cut, view ? " made" : "",
             root->made == MADE_COPY ? ": a copy" : "");
}
