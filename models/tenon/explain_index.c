/* "[1, ::2, ..., None]": basic indices, each a view of one dim; and the nested numbers of "tensor([[1, 2], [3, 4]])".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain_reader.h"

enum item_kind { ITEM_WHOLE, ITEM_SLICE, ITEM_ELLIPSIS, ITEM_NEW };

typedef struct item {
    enum item_kind kind;
    int begin, end;
    int64_t start, stop, step; /* ITEM_WHOLE: start */
} item;

enum { ITEMS = 2 * TN_MAX_NDIM };

/* A bound of a slice, or None: as if it were left off. */
static bool read_bound(reader *r, int64_t *bound, const char *needed)
{
    if (!reader_is(r, r->at, reader_word(r), "None"))
        return reader_bound(r, bound, needed);
    r->at += 4;
    return true;
}

/* What stands behind the first ":". */
static bool read_slice(reader *r, item *it)
{
    char c = reader_peek(r);
    if (c != ':' && c != ',' && c != ']' && c != ')' && !read_bound(r, &it->stop, "a whole number, ':' or ']'"))
        return false;
    if (!reader_accept(r, ':') || (c = reader_peek(r)) == ',' || c == ']' || c == ')')
        return true;
    int begin = r->at;
    if (!read_bound(r, &it->step, "a whole number or ']'"))
        return false;
    return it->step >= 1 ||
           reader_fail(r, begin, r->at, "found step %" PRId64 ", needed 1 or more: a tensor has no negative strides",
                       it->step);
}

static bool read_item(reader *r, item *it)
{
    static const char needed[] = "a whole number, a slice such as 1::2, '...' or None";
    *it = (item){.kind = ITEM_SLICE, .stop = TN_SLICE_END, .step = 1};
    char c = reader_peek(r);
    it->begin = r->at;
    bool none = reader_is(r, r->at, reader_word(r), "None");
    if (strncmp(r->text + r->at, "...", 3) == 0) {
        it->kind = ITEM_ELLIPSIS;
        r->at += 3;
    } else {
        bool number = c == '-' || c == '+' || isdigit((unsigned char)c);
        if (c == '[' || c == '(' || (reader_word(r) && !none))
            return reader_expected(r, "a whole number, a slice, '...' or None: other indices make a copy, which is not "
                                      "explained here");
        if (!number && !none && c != ':')
            return reader_expected(r, needed);
        if ((number || none) && !read_bound(r, &it->start, needed))
            return false;
        if (!reader_accept(r, ':'))
            it->kind = none ? ITEM_NEW : ITEM_WHOLE;
        else if (!read_slice(r, it))
            return false;
    }
    it->end = r->at;
    return true;
}

/* Items up to `close`. A second "..." stands for as many dims as the first, as in PyTorch. */
static bool read_items(reader *r, item *items, int *n, int ndim, char close)
{
    int used = 0;
    while (*n == 0 || reader_accept(r, ',')) {
        if (reader_peek(r) == close && (*n || close == ')'))
            break;
        if (*n == ITEMS)
            return reader_expected(r, "at most 128 indices");
        if (!read_item(r, &items[*n]))
            return false;
        const item *it = &items[(*n)++];
        used += it->kind == ITEM_WHOLE || it->kind == ITEM_SLICE;
        if (used > ndim)
            return reader_fail(r, it->begin, it->end, "found index number %d, needed at most %d: as many as dims", used,
                               ndim);
    }
    return reader_expect(r, close, close == ']' ? "',' or ']'" : "',' or ')'");
}

bool reader_index(reader *r, int *step)
{
    item items[ITEMS];
    int begin = r->at++, n = 0, used = 0, dim = 0;
    tn_tensor *x = r->it->step[*step].result, *whole = x;
    int ndim = tn_ndim(x);
    bool tuple = reader_accept(r, '(');
    if (!read_items(r, items, &n, ndim, tuple ? ')' : ']') || (tuple && !reader_expect(r, ']', "']'")))
        return false;
    for (int i = 0; i < n; i++)
        used += items[i].kind == ITEM_WHOLE || items[i].kind == ITEM_SLICE;
    for (int i = 0; i < n && x; i++) {
        const item *it = &items[i];
        switch (it->kind) {
        case ITEM_WHOLE:
            x = tn_select(x, dim, it->start);
            break;
        case ITEM_SLICE:
            x = tn_slice(x, dim++, it->start, it->stop, it->step);
            break;
        case ITEM_ELLIPSIS:
            dim += ndim - used;
            break;
        case ITEM_NEW:
            x = tn_unsqueeze(x, dim++);
            break;
        }
        if (!x)
            return reader_refused(r, it->begin, it->end, false);
    }
    if (x == whole) /* "[...]" is another tensor too */
        x = tn_as_strided(x, tn_sizes(x), tn_strides(x), ndim, tn_storage_offset(x));
    return reader_step(r, begin, *step, x, step);
}

enum { NUMBERS = 1024 };

/* The numbers of a tensor, and what is known of its sizes: size[d] is -1 until the first list of that depth ends. */
typedef struct numbers {
    tn_scalar value[NUMBERS];
    int n, ndim;
    int64_t size[EXPLAIN_NESTING];
} numbers;

/* Whether the "(" that is next begins a tuple: a comma stands between it and its ")", or nothing. */
static bool is_tuple(const reader *r)
{
    int depth = 0, at = r->at;
    bool empty = true;
    do {
        char c = r->text[at++];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth == 1 && c == ',')
            return true;
        empty = empty && (c == '(' || c == ')' || isspace((unsigned char)c)) && depth < 2;
    } while (depth > 0 && at < r->end);
    return empty;
}

static bool read_numbers(reader *r, numbers *all, int depth);

/* A list or tuple of numbers, or of lists. */
static bool read_row(reader *r, numbers *all, int depth)
{
    int begin = r->at, count = 0;
    bool tuple = reader_accept(r, '(');
    char close = tuple ? ')' : ']';
    r->at = begin + 1;
    if (depth == EXPLAIN_NESTING)
        return reader_fail(r, begin, r->at, "found more than %d brackets within each other, needed fewer",
                           EXPLAIN_NESTING);
    while (!reader_accept(r, close)) {
        if (count && !reader_expect(r, ',', tuple ? "',' or ')'" : "',' or ']'"))
            return false;
        if (count && reader_accept(r, close))
            break;
        if (!read_numbers(r, all, depth + 1))
            return false;
        count++;
    }
    if (count == 0 && all->ndim < 0)
        all->ndim = depth + 1;
    if (all->size[depth] < 0)
        all->size[depth] = count;
    if (all->size[depth] != count || depth >= all->ndim)
        return reader_fail(r, begin, r->at, "found a list of %d, needed one of %" PRId64 ", as before it", count,
                           all->size[depth]);
    return true;
}

static bool read_numbers(reader *r, numbers *all, int depth)
{
    static const char needed[] = "a number, True, False or '['";
    char c = reader_peek(r);
    if (c == '[' || (c == '(' && is_tuple(r)))
        return read_row(r, all, depth);
    if (all->ndim < 0)
        all->ndim = depth;
    if (depth != all->ndim)
        return reader_expected(r, "'[': as many brackets around each number");
    if (all->n == NUMBERS)
        return reader_expected(r, "at most 1024 numbers");
    int brackets = 0;
    for (; reader_accept(r, '('); brackets++)
        ;
    if (!reader_number(r, &all->value[all->n++], needed))
        return false;
    for (; brackets; brackets--)
        if (!reader_expect(r, ')', "')'"))
            return false;
    return true;
}

/* Numbers that a whole dtype cannot hold are refused as by full, which is asked. */
static bool fits(const numbers *all, tn_scalar_kind kind, tn_dtype dtype)
{
    if (kind == TN_SCALAR_COMPLEX && !tn_is_complex(dtype) && dtype != TN_BOOL)
        TN_FAIL(TN_ERROR_DTYPE, "tensor", "a complex number for %s, needed a complex dtype", tn_dtype_name(dtype));
    bool whole = !tn_is_floating_point(dtype) && !tn_is_complex(dtype) && dtype != TN_BOOL;
    for (int i = 0; i < all->n && whole && !tn_error_code(); i++) {
        tn_scope scope = tn_scope_begin();
        tn_full(NULL, 0, all->value[i], dtype);
        tn_scope_end(scope);
    }
    return !tn_error_code();
}

static tn_tensor *tensor_of(const numbers *all, tn_dtype dtype)
{
    static const tn_dtype dtypes[] = {[TN_SCALAR_BOOL] = TN_INT64,
                                      [TN_SCALAR_INT] = TN_INT64,
                                      [TN_SCALAR_FLOAT] = TN_FLOAT64,
                                      [TN_SCALAR_COMPLEX] = TN_COMPLEX128};
    tn_scalar_kind kind = all->n ? TN_SCALAR_BOOL : TN_SCALAR_FLOAT;
    int64_t whole[NUMBERS];
    double real[NUMBERS];
    tn_complex_value both[NUMBERS];
    const void *data[] = {whole, whole, real, both};
    for (int i = 0; i < all->n; i++)
        kind = all->value[i].kind > kind ? all->value[i].kind : kind;
    for (int i = 0; i < all->n; i++) {
        const tn_scalar *from = &all->value[i];
        whole[i] = from->kind < TN_SCALAR_FLOAT ? from->value.i : 0;
        real[i] = from->kind == TN_SCALAR_FLOAT ? from->value.f : (double)whole[i];
        both[i] = from->kind == TN_SCALAR_COMPLEX ? from->value.c : (tn_complex_value){real[i], 0};
    }
    if (dtype == TN_DTYPE_NONE) {
        tn_dtype by_default = tn_get_default_dtype();
        const tn_dtype natural[] = {TN_BOOL, TN_INT64, by_default,
                                    by_default == TN_FLOAT64 ? TN_COMPLEX128 : TN_COMPLEX64};
        dtype = natural[kind];
    }
    if (!fits(all, kind, dtype))
        return NULL;
    return tn_to(tn_from_array(data[kind], all->size, all->ndim, dtypes[kind]), dtype);
}

/* "data=" before the numbers. */
static bool skip_keyword(reader *r)
{
    int length = reader_word(r);
    if (!reader_is(r, r->at, length, "data"))
        return true;
    r->at += length;
    return reader_expect(r, '=', "'='");
}

bool reader_tensor(reader *r, int begin, int *step)
{
    numbers *all = malloc(sizeof *all);
    tn_dtype dtype = TN_DTYPE_NONE;
    bool requires = false;
    if (!all)
        return reader_fail(r, begin, r->at, "found no memory, needed some");
    all->n = 0;
    all->ndim = -1;
    for (int i = 0; i < EXPLAIN_NESTING; i++)
        all->size[i] = -1;
    bool read = reader_expect(r, '(', "'('") && skip_keyword(r) && read_numbers(r, all, 0);
    while (read && reader_accept(r, ',') && reader_peek(r) != ')') {
        int length = reader_word(r);
        read = reader_is(r, r->at, length, "requires_grad") ? reader_requires(r, &requires) : reader_dtype(r, &dtype);
    }
    read = read && reader_expect(r, ')', "',' or ')'");
    tn_tensor *made = read ? tensor_of(all, dtype) : NULL;
    if (made && requires)
        tn_requires_grad_(made, true);
    read = read && reader_step(r, begin, -1, tn_error_code() ? NULL : made, step);
    free(all);
    return read;
}
