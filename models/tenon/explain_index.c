/* "[1, ::2, ..., None]": basic indices, each a view of one dim; and the nested numbers of "tensor([[1, 2], [3, 4]])".
 */
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

static bool read_item(reader *r, item *it)
{
    static const char needed[] = "a whole number, a slice such as 1::2, '...' or None";
    *it = (item){.kind = ITEM_SLICE, .stop = TN_SLICE_END, .step = 1};
    char c = reader_peek(r);
    it->begin = r->at;
    if (strncmp(r->text + r->at, "...", 3) == 0) {
        it->kind = ITEM_ELLIPSIS;
        r->at += 3;
    } else if (reader_is(r, r->at, reader_word(r), "None")) {
        it->kind = ITEM_NEW;
        r->at += 4;
    } else {
        bool number = c == '-' || (c >= '0' && c <= '9');
        if (c == '[' || c == '(' || reader_word(r))
            return reader_expected(r, "a whole number, a slice, '...' or None: other indices make a copy, which is not "
                                      "explained here");
        if (!number && c != ':')
            return reader_expected(r, needed);
        if (number && !reader_whole(r, &it->start, needed))
            return false;
        if (!reader_accept(r, ':')) {
            it->kind = ITEM_WHOLE;
        } else {
            c = reader_peek(r);
            if (c != ':' && c != ',' && c != ']' && !reader_whole(r, &it->stop, "a whole number, ':' or ']'"))
                return false;
            if (reader_accept(r, ':') && (c = reader_peek(r)) != ',' && c != ']') {
                int begin = r->at;
                if (!reader_whole(r, &it->step, "a whole number or ']'"))
                    return false;
                if (it->step < 1)
                    return reader_fail(r, begin, r->at,
                                       "found step %" PRId64 ", needed 1 or more: a tensor has no "
                                       "negative strides",
                                       it->step);
            }
        }
    }
    it->end = r->at;
    return true;
}

static bool read_items(reader *r, item *items, int *n, int ndim)
{
    int used = 0, ellipses = 0;
    *n = 0;
    do {
        if (*n && reader_peek(r) == ']')
            break;
        if (*n == ITEMS)
            return reader_expected(r, "at most 128 indices");
        if (!read_item(r, &items[*n]))
            return false;
        const item *it = &items[(*n)++];
        ellipses += it->kind == ITEM_ELLIPSIS;
        used += it->kind == ITEM_WHOLE || it->kind == ITEM_SLICE;
        if (ellipses > 1)
            return reader_fail(r, it->begin, it->end, "found a second '...', needed one at most");
        if (used > ndim)
            return reader_fail(r, it->begin, it->end, "found index number %d, needed at most %d: as many as dims", used,
                               ndim);
    } while (reader_accept(r, ','));
    return reader_expect(r, ']', "',' or ']'");
}

bool reader_index(reader *r, int *step)
{
    item items[ITEMS];
    int begin = r->at++, n, used = 0, dim = 0;
    tn_tensor *x = r->it->step[*step].result, *whole = x;
    int ndim = tn_ndim(x);
    if (!read_items(r, items, &n, ndim))
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
            return reader_refused(r, it->begin, it->end);
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

static bool read_numbers(reader *r, numbers *all, int depth)
{
    static const char needed[] = "a number, True, False or '['";
    if (reader_peek(r) != '[') {
        if (all->ndim < 0)
            all->ndim = depth;
        if (depth != all->ndim)
            return reader_expected(r, "'[': as many brackets around each number");
        if (all->n == NUMBERS)
            return reader_expected(r, "at most 1024 numbers");
        return reader_number(r, &all->value[all->n++], needed);
    }
    int begin = r->at++, count = 0;
    if (depth == EXPLAIN_NESTING)
        return reader_fail(r, begin, r->at, "found more than %d brackets within each other, needed fewer",
                           EXPLAIN_NESTING);
    while (!reader_accept(r, ']')) {
        if (count && !reader_expect(r, ',', "',' or ']'"))
            return false;
        if (count && reader_accept(r, ']'))
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

static tn_tensor *tensor_of(const numbers *all, tn_dtype dtype)
{
    tn_scalar_kind kind = all->n ? TN_SCALAR_BOOL : TN_SCALAR_FLOAT;
    int64_t whole[NUMBERS];
    double real[NUMBERS];
    for (int i = 0; i < all->n; i++)
        kind = all->value[i].kind > kind ? all->value[i].kind : kind;
    for (int i = 0; i < all->n; i++) {
        bool real_one = all->value[i].kind == TN_SCALAR_FLOAT;
        whole[i] = real_one ? 0 : all->value[i].value.i;
        real[i] = real_one ? all->value[i].value.f : (double)all->value[i].value.i;
    }
    tn_tensor *x = kind == TN_SCALAR_FLOAT ? tn_from_array(real, all->size, all->ndim, TN_FLOAT64)
                                           : tn_from_array(whole, all->size, all->ndim, TN_INT64);
    if (dtype == TN_DTYPE_NONE)
        dtype = kind == TN_SCALAR_FLOAT ? tn_get_default_dtype() : kind == TN_SCALAR_INT ? TN_INT64 : TN_BOOL;
    return tn_to(x, dtype);
}

bool reader_tensor(reader *r, int begin, int *step)
{
    numbers *all = malloc(sizeof *all);
    tn_dtype dtype = TN_DTYPE_NONE;
    if (!all)
        return reader_fail(r, begin, r->at, "found no memory, needed some");
    all->n = 0;
    all->ndim = -1;
    for (int i = 0; i < EXPLAIN_NESTING; i++)
        all->size[i] = -1;
    bool read = reader_expect(r, '(', "'('") && read_numbers(r, all, 0);
    if (read && reader_accept(r, ',') && reader_peek(r) != ')')
        read = reader_dtype(r, &dtype);
    read = read && reader_expect(r, ')', "',' or ')'");
    read = read && reader_step(r, begin, -1, tensor_of(all, dtype), step);
    free(all);
    return read;
}
