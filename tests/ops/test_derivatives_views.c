/* Gradients through views, copies and indices against index arithmetic: a chain of them moves elements, so that the
 * gradient of sum(w y) puts each weight where its element came from. A second tensor of positions, without a tape, goes
 * through the same chain and tells. Twice: the gradient with respect to w of that gradient takes elements again. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "support/draw.h"
#include "support/grid.h"
#include "support/test.h"

#ifdef TENON_QUICK
enum { CHAINS = 300 };
#else
enum { CHAINS = 1500 };
#endif
enum { STEPS = 5, MOST = 200 };

static uint64_t state;

static int64_t pick(int64_t n)
{
    return draw_below(&state, n);
}

static int64_t between(int64_t low, int64_t high)
{
    return low + pick(high - low + 1);
}

typedef struct step {
    int op;
    int64_t a, b, c;
    int64_t list[GRID_NDIM], more[GRID_NDIM];
    int n;
} step;

/* What a step may be: draws its numbers for a tensor of x's shape (false: it does not fit) and makes it. */
typedef struct move {
    const char *name;
    bool (*draw)(step *s, const tn_tensor *x);
    tn_tensor *(*make)(const step *s, tn_tensor *x);
} move;

static bool any(step *s, const tn_tensor *x)
{
    (void)s;
    (void)x;
    return true;
}

static bool one_dim(step *s, const tn_tensor *x)
{
    s->a = tn_ndim(x) > 0 ? between(-tn_ndim(x), tn_ndim(x) - 1) : 0;
    return tn_ndim(x) > 0;
}

static int64_t size_of(const step *s, const tn_tensor *x)
{
    return tn_size(x, (int)s->a);
}

static bool two_dims(step *s, const tn_tensor *x)
{
    s->b = tn_ndim(x) > 0 ? pick(tn_ndim(x)) : 0;
    return one_dim(s, x);
}

static bool new_dim(step *s, const tn_tensor *x)
{
    s->a = between(-tn_ndim(x) - 1, tn_ndim(x));
    return tn_ndim(x) < 5;
}

static bool cut(step *s, const tn_tensor *x)
{
    if (!one_dim(s, x))
        return false;
    s->b = pick(size_of(s, x) + 1);
    s->c = pick(size_of(s, x) - s->b + 1);
    return true;
}

static bool stepped(step *s, const tn_tensor *x)
{
    if (!one_dim(s, x))
        return false;
    s->b = between(-size_of(s, x) - 1, size_of(s, x));
    s->c = between(1, 3);
    return true;
}

static bool position(step *s, const tn_tensor *x)
{
    if (!one_dim(s, x) || size_of(s, x) == 0)
        return false;
    s->b = between(-size_of(s, x), size_of(s, x) - 1);
    return true;
}

static bool window(step *s, const tn_tensor *x)
{
    if (!one_dim(s, x) || tn_ndim(x) > 4)
        return false;
    s->b = pick((size_of(s, x) < 3 ? size_of(s, x) : 3) + 1);
    s->c = between(1, 3);
    return true;
}

static bool order(step *s, const tn_tensor *x)
{
    s->n = tn_ndim(x);
    for (int d = 0; d < s->n; d++) {
        int64_t to = pick(d + 1);
        s->list[d] = s->list[to];
        s->list[to] = d;
    }
    if (s->n > 0 && pick(2))
        s->list[0] -= s->n;
    return true;
}

static bool moved(step *s, const tn_tensor *x)
{
    step other = {0};
    order(s, x);
    order(&other, x);
    memcpy(s->more, other.list, sizeof s->more);
    s->n = (int)pick(s->n + 1);
    return true;
}

/* Another shape of the same number of elements. */
static bool shape(step *s, const tn_tensor *x)
{
    int64_t left = tn_numel(x);
    if (left == 0)
        return false;
    for (s->n = 0; s->n < 4 && left > 1; s->n++) {
        int64_t by = between(1, 4);
        s->list[s->n] = left % by == 0 ? by : 1;
        left /= s->list[s->n];
    }
    s->list[s->n++] = left;
    if (left > 1 && pick(2))
        s->list[s->n - 1] = -1;
    return true;
}

static bool wider(step *s, const tn_tensor *x)
{
    if (tn_ndim(x) > 4 || tn_numel(x) > MOST / 3)
        return false;
    s->list[0] = between(1, 3);
    s->n = tn_ndim(x) + 1;
    for (int d = 0; d < tn_ndim(x); d++)
        s->list[d + 1] = tn_size(x, d) == 1 && pick(2) && s->list[0] < 2 ? 3 : tn_size(x, d);
    return true;
}

static bool diagonal_dims(step *s, const tn_tensor *x)
{
    if (tn_ndim(x) < 2)
        return false;
    s->b = pick(tn_ndim(x));
    s->c = (s->b + 1 + pick(tn_ndim(x) - 1)) % tn_ndim(x);
    s->a = between(-2, 2);
    return true;
}

static bool matrices(step *s, const tn_tensor *x)
{
    (void)s;
    return tn_ndim(x) != 1;
}

static bool small_matrix(step *s, const tn_tensor *x)
{
    (void)s;
    return tn_ndim(x) <= 2;
}

static bool real_matrices(step *s, const tn_tensor *x)
{
    (void)s;
    return tn_ndim(x) >= 2;
}

/* Elements of a dense tensor, some of them several times. */
static bool strides(step *s, const tn_tensor *x)
{
    int64_t reach = 0;
    if (!tn_is_contiguous(x) || tn_numel(x) == 0)
        return false;
    s->a = pick(tn_numel(x));
    for (s->n = 0; s->n < 3; s->n++) {
        s->list[s->n] = between(1, 3);
        s->more[s->n] = pick(4);
        if (s->a + reach + (s->list[s->n] - 1) * s->more[s->n] >= tn_numel(x))
            break;
        reach += (s->list[s->n] - 1) * s->more[s->n];
    }
    return true;
}

#define MAKE(name, call)                                     \
    static tn_tensor *make_##name(const step *s, tn_tensor *x) \
    {                                                        \
        (void)s;                                             \
        return call;                                         \
    }
MAKE(view, tn_view(tn_contiguous(x), s->list, s->n))
MAKE(reshape, tn_reshape(x, s->list, s->n))
MAKE(flatten, tn_flatten(x, 0, -1))
MAKE(expand, tn_expand(x, s->list, s->n))
MAKE(broadcast_to, tn_broadcast_to(x, s->list, s->n))
MAKE(transpose, tn_transpose(x, (int)s->a, (int)s->b))
MAKE(t, tn_t(x))
MAKE(T, tn_T(x))
MAKE(mT, tn_mT(x))
MAKE(adjoint, tn_adjoint(x))
MAKE(permute, tn_permute(x, s->list, s->n))
MAKE(movedim, tn_movedim(x, s->list, s->more, s->n))
MAKE(squeeze, tn_squeeze(x))
MAKE(squeeze_dim, tn_squeeze_dim(x, (int)s->a))
MAKE(unsqueeze, tn_unsqueeze(x, (int)s->a))
MAKE(narrow, tn_narrow(x, (int)s->a, s->b, s->c))
MAKE(select, tn_select(x, (int)s->a, s->b))
MAKE(slice, tn_slice(x, (int)s->a, s->b, TN_SLICE_END, s->c))
MAKE(diagonal, tn_diagonal(x, s->a, (int)s->b, (int)s->c))
MAKE(unfold, tn_unfold(x, (int)s->a, s->b, s->c))
MAKE(alias, tn_alias(x))
MAKE(clone, tn_clone(x))
MAKE(contiguous, tn_contiguous(x))
MAKE(as_strided, tn_as_strided(x, s->list, s->more, s->n, tn_storage_offset(x) + s->a))
MAKE(tril, tn_tril(x, 0))
MAKE(triu, tn_triu(x, 1))

static bool entries(step *s, const tn_tensor *x)
{
    (void)s;
    return tn_ndim(x) > 1 && tn_size(x, 0) > 1;
}
MAKE(getitem, tn_getitem(x, ((tn_index[]){tn_index_integer(-1), tn_index_new_axis(), tn_index_ellipsis(),
                                          tn_index_step(0, 2, 2)}),
                         4))

/* Positions along dim a: 3 of them, in `list`. */
static bool drawn_positions(step *s, const tn_tensor *x)
{
    if (!position(s, x))
        return false;
    s->n = 3;
    for (int i = 0; i < s->n; i++)
        s->list[i] = pick(size_of(s, x));
    return tn_numel(x) <= MOST / 3;
}

static bool first_dim(step *s, const tn_tensor *x)
{
    s->a = 0;
    if (tn_ndim(x) == 0 || tn_size(x, 0) == 0 || tn_numel(x) > MOST / 3)
        return false;
    s->n = 3;
    for (int i = 0; i < s->n; i++)
        s->list[i] = between(-tn_size(x, 0), tn_size(x, 0) - 1);
    return true;
}

static tn_tensor *drawn_index(const step *s)
{
    return tn_from_array(s->list, (int64_t[]){s->n}, 1, TN_INT64);
}

/* The positions for every element along the other dims. */
static tn_tensor *drawn_grid(const step *s, tn_tensor *x)
{
    const int dim = (int)(s->a < 0 ? s->a + tn_ndim(x) : s->a);
    int64_t sizes[GRID_NDIM], ones[GRID_NDIM];
    for (int d = 0; d < tn_ndim(x); d++) {
        sizes[d] = d == dim ? s->n : tn_size(x, d);
        ones[d] = d == dim ? s->n : 1;
    }
    return tn_expand(tn_view(drawn_index(s), ones, tn_ndim(x)), sizes, tn_ndim(x));
}

/* A copy whose first row is overwritten by the last one. */
static tn_tensor *make_write(const step *s, tn_tensor *x)
{
    tn_tensor *y = tn_clone(x);
    (void)s;
    return tn_copy_(tn_select(y, 0, 0), tn_select(x, 0, -1)) == TN_OK ? y : NULL;
}

static tn_tensor *make_zero_part(const step *s, tn_tensor *x)
{
    tn_tensor *y = tn_clone(x);
    return tn_zero_(tn_narrow(y, (int)s->a, s->b, s->c)) == TN_OK ? y : NULL;
}

static tn_tensor *make_fill_part(const step *s, tn_tensor *x)
{
    tn_tensor *y = tn_clone(x), *part = tn_t(tn_select(tn_unsqueeze(y, 0), 0, 0));
    (void)s;
    return tn_fill_(part, tn_int(0)) == TN_OK ? tn_alias(y) : NULL;
}

static tn_tensor *make_setitem(const step *s, tn_tensor *x)
{
    tn_tensor *y = tn_clone(x);
    const tn_index index[] = {tn_index_list(s->list, 1)};
    return tn_setitem(y, index, 1, tn_select(x, 0, s->list[1])) == TN_OK ? y : NULL;
}

static tn_tensor *make_index_put(const step *s, tn_tensor *x)
{
    tn_tensor *at = tn_from_array(s->list, (int64_t[]){1}, 1, TN_INT64);
    return tn_index_put(x, &at, 1, tn_select(x, 0, s->list[2]), false);
}

/* Geometry in place of a copy, then a write. */
static tn_tensor *make_in_place(const step *s, tn_tensor *x)
{
    tn_tensor *y = tn_clone(x);
    tn_transpose_(y, (int)s->a, (int)s->b);
    tn_unsqueeze_(y, 0);
    tn_squeeze_dim_(y, 0);
    return tn_tril_(tn_unsqueeze(y, 0), 0) == TN_OK ? y : NULL;
}

MAKE(cat, tn_cat((tn_tensor *[]){x, tn_narrow(x, (int)s->a, 0, 1), x}, 3, (int)s->a))
MAKE(stack, tn_stack((tn_tensor *[]){x, tn_alias(x)}, 2, (int)s->a))
MAKE(many, tn_cat((tn_tensor *[]){x, x, x, x, x, x, x, x, x, x, x, x}, 12, -1))
MAKE(index, tn_getitem(x, ((tn_index[]){tn_index_new_axis(), tn_index_tensor(drawn_index(s))}), 2))
MAKE(index_select, tn_index_select(x, (int)s->a, drawn_index(s)))
MAKE(gather, tn_gather(x, (int)s->a, drawn_grid(s, x)))

static tn_tensor *make_repeat(const step *s, tn_tensor *x)
{
    int64_t repeats[GRID_NDIM + 1];
    for (int d = 0; d <= tn_ndim(x); d++)
        repeats[d] = d == 0 ? 2 : d == 1 ? s->list[0] % 2 + 1 : 1;
    return tn_repeat(x, repeats, tn_ndim(x) + 1);
}

MAKE(flip, tn_flip(x, (const int64_t[]){s->a}, 1))
MAKE(roll, tn_roll(x, (const int64_t[]){s->b, 2}, 2, (const int64_t[]){s->a, 0}, 2))
MAKE(roll_all, tn_roll(x, (const int64_t[]){-3}, 1, NULL, 0))

static bool repeats(step *s, const tn_tensor *x)
{
    s->list[0] = pick(2);
    return tn_ndim(x) < 5 && tn_numel(x) <= MOST / 4;
}

static bool cat_dim(step *s, const tn_tensor *x)
{
    return position(s, x) && tn_numel(x) <= MOST / 3;
}

static bool stack_dim(step *s, const tn_tensor *x)
{
    return new_dim(s, x) && tn_numel(x) <= MOST / 2;
}

static bool a_few(step *s, const tn_tensor *x)
{
    return position(s, x) && tn_numel(x) <= MOST / 12;
}

static const move moves[] = {
    {"view", shape, make_view}, {"reshape", shape, make_reshape}, {"flatten", any, make_flatten},
    {"expand", wider, make_expand}, {"broadcast_to", wider, make_broadcast_to}, {"transpose", two_dims, make_transpose},
    {"t", small_matrix, make_t}, {"T", any, make_T}, {"mT", matrices, make_mT}, {"adjoint", matrices, make_adjoint},
    {"permute", order, make_permute}, {"movedim", moved, make_movedim}, {"squeeze", any, make_squeeze},
    {"squeeze_dim", one_dim, make_squeeze_dim}, {"unsqueeze", new_dim, make_unsqueeze}, {"narrow", cut, make_narrow},
    {"select", position, make_select}, {"slice", stepped, make_slice}, {"diagonal", diagonal_dims, make_diagonal},
    {"unfold", window, make_unfold}, {"alias", any, make_alias}, {"clone", any, make_clone},
    {"contiguous", any, make_contiguous}, {"as_strided", strides, make_as_strided},
    {"tril", real_matrices, make_tril}, {"triu", real_matrices, make_triu}, {"getitem", entries, make_getitem},
    {"cat", cat_dim, make_cat}, {"stack", stack_dim, make_stack}, {"cat of 12", a_few, make_many},
    {"index", first_dim, make_index}, {"index_select", drawn_positions, make_index_select},
    {"gather", drawn_positions, make_gather}, {"write", first_dim, make_write}, {"zero_", cut, make_zero_part},
    {"fill_", small_matrix, make_fill_part}, {"setitem", first_dim, make_setitem},
    {"index_put", first_dim, make_index_put}, {"in place", two_dims, make_in_place}, {"repeat", repeats, make_repeat},
    {"flip", one_dim, make_flip}, {"roll", position, make_roll}, {"roll all", any, make_roll_all},
};
enum { MOVES = sizeof moves / sizeof *moves };

static char story[400];

static void need(bool holds, const char *what)
{
    if (!holds)
        fail_msg("%s: %s\n  %s", story, what, tn_error_message());
}

/* Positions 1 .. numel in x's shape and layout; 0 stands for none. */
static tn_tensor *positions(const tn_tensor *x, layout how)
{
    grid g = grid_new(TN_INT64, tn_sizes(x), tn_ndim(x));
    for (int64_t i = 0; i < g.numel; i++)
        g.cells[i].i = i + 1;
    tn_tensor *from = layout_tensor(&g, how == LAYOUT_EXPANDED ? LAYOUT_PLAIN : how);
    grid_free(&g);
    return from;
}

static tn_tensor *total(tn_tensor *x)
{
    return tn_sum(x, NULL, 0, false, TN_DTYPE_NONE);
}

static tn_tensor *random_tensor(const tn_tensor *like, uint64_t seed)
{
    grid g = grid_new(TN_FLOAT64, tn_sizes(like), tn_ndim(like));
    grid_fill(&g, GRID_SMALL, seed);
    tn_tensor *x = layout_tensor(&g, LAYOUT_PLAIN);
    grid_free(&g);
    return x;
}

/* The gradient of sum(w y) that positions tell, and that of sum(u grad) with respect to w. */
static void check_gradients(tn_tensor *x, tn_tensor *y, const tn_tensor *from, uint64_t seed)
{
    tn_tensor *w = random_tensor(y, seed), *u = random_tensor(x, seed + 1);
    need(w && tn_requires_grad_(w, true) == TN_OK, "weights");
    tn_tensor *loss = total(tn_mul(w, y));
    tn_list *first = tn_grad(&loss, NULL, 1, &x, 1, &(tn_grad_options){.create_graph = true});
    need(first, "the first gradient");
    tn_tensor *grad = tn_list_get(first, 0), *second_loss = total(tn_mul(u, grad));
    grid weights = grid_read(w), at = grid_read(from), have = grid_read(grad);
    double sums[4 * MOST] = {0};
    for (int64_t i = 0; i < at.numel; i++)
        if (at.cells[i].i > 0)
            sums[at.cells[i].i - 1] += weights.cells[i].f;
    for (int64_t i = 0; i < have.numel; i++)
        if (have.cells[i].f - sums[i] > 1e-9 || sums[i] - have.cells[i].f > 1e-9)
            fail_msg("%s: gradient %g of element %d, needed %g", story, have.cells[i].f, (int)i, sums[i]);
    tn_list *second = tn_grad(&second_loss, NULL, 1, &w, 1, NULL);
    need(second, "the second gradient");
    grid again = grid_read(tn_list_get(second, 0)), given = grid_read(u);
    for (int64_t i = 0; i < at.numel; i++) {
        double needed = at.cells[i].i > 0 ? given.cells[at.cells[i].i - 1].f : 0;
        if (again.cells[i].f != needed)
            fail_msg("%s: second gradient %g of weight %d, needed %g", story, again.cells[i].f, (int)i, needed);
    }
    grid_free(&weights);
    grid_free(&at);
    grid_free(&have);
    grid_free(&again);
    grid_free(&given);
}

/* One more step on y and on its positions; false when nothing was drawn that fits. */
static bool take_step(tn_tensor **y, tn_tensor **from)
{
    step s = {.op = (int)pick(MOVES)};
    const move *m = &moves[s.op];
    size_t used = strlen(story);
    if (!m->draw(&s, *y))
        return false;
    snprintf(story + used, sizeof story - used, " %s(%d,%d,%d)", m->name, (int)s.a, (int)s.b, (int)s.c);
    tn_tensor *next = m->make(&s, *y), *place = m->make(&s, *from);
    need(next && place, "a step");
    if (tn_numel(next) > MOST)
        return false;
    *y = next;
    *from = place;
    return true;
}

static void chains(void **unused)
{
    static const int64_t shapes[][4] = {{2, 3, 4}, {6}, {4, 5}, {1, 3}, {2, 0, 3}, {5, 1, 2, 2}, {0}};
    static const int ndims[] = {3, 1, 2, 2, 3, 4, 0};
    (void)unused;
    for (int c = 0; c < CHAINS; c++) {
        tn_scope scope = tn_scope_begin();
        const int k = c % (int)(sizeof ndims / sizeof *ndims);
        const layout how = (layout)(c / 7 % LAYOUTS);
        state = 88172645463325252u + (uint64_t)c * 7919;
        snprintf(story, sizeof story, "chain %d, shape %d, %s:", c, k, layout_name(how));
        grid g = grid_new(TN_FLOAT64, shapes[k], ndims[k]);
        grid_fill(&g, GRID_SMALL, state);
        tn_tensor *x = layout_tensor(&g, how);
        grid_free(&g);
        need(x && tn_requires_grad_(x, true) == TN_OK, "the leaf");
        const bool copies = how == LAYOUT_EXPANDED || pick(2);
        tn_tensor *from = positions(x, how), *y = copies ? tn_clone(x) : x;
        from = copies ? tn_clone(from) : from;
        for (int i = 0, taken = 0; i < 4 * STEPS && taken < STEPS; i++)
            taken += take_step(&y, &from);
        check_gradients(x, y, from, state);
        tn_scope_end(scope);
    }
}

TEST_MAIN(test(chains))
