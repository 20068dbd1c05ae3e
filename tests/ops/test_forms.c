/* In-place and out= forms of every operator: the values of the functional form, one version more, and what is refused
 * changes nothing. */
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

#include "dispatch/op.h"
#include "support/calls.h"
#include "support/errors.h"
#include "support/test.h"

static const tn_dtype four[] = {TN_FLOAT32, TN_FLOAT64, TN_INT64, TN_BOOL};

/* Both operands at hand and what the functional form should give. */
typedef struct scene {
    reference_call call;
    expectation e;
    snapshots before;
    tn_scope scope;
} scene;

static void begin(scene *c, const tni_op *op, const sample *s, const variant *v)
{
    c->scope = tn_scope_begin();
    call_prepare(&c->call, op->name[TNI_NEW], s, v);
    call_snapshots(&c->call, &c->before);
    if (!reference_of(&c->call, &c->e))
        fail_msg("no reference for %s", op->name[TNI_NEW]);
}

static void end(scene *c)
{
    expectation_free(&c->e);
    call_free(&c->call);
    assert_int_equal(tn_scope_end(c->scope), TN_OK);
}

static bool same_shape(const grid *g, const tn_tensor *x)
{
    bool same = tn_ndim(x) == g->ndim;
    for (int d = 0; same && d < g->ndim; d++)
        same = tn_sizes(x)[d] == g->sizes[d];
    return same;
}

static bool repeats(const tn_tensor *x)
{
    for (int d = 0; d < tn_ndim(x) && tn_numel(x) > 0; d++)
        if (tn_sizes(x)[d] > 1 && tn_strides(x)[d] == 0)
            return true;
    return false;
}

static bool claimed(const tni_op *op, tn_dtype dtype)
{
    return op->dtypes & TNI_DTYPE_BIT(dtype);
}

static int tensor_operands(const sample *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += s->arguments[i].kind == SAMPLE_TENSOR;
    return n;
}

/* Where the dtype stands among the arguments of an operator that takes it from out; 0: of others. */
static int dtype_place(const tni_op *op)
{
    static const char *const names[] = {"sum", "mean", "prod"};
    for (int i = 0; i < 3; i++)
        if (strcmp(op->name[TNI_NEW], names[i]) == 0)
            return 3;
    return strncmp(op->name[TNI_NEW], "cum", 3) == 0 ? 2 : 0;
}

static void in_place_case(const tni_op *op, const sample *s, const variant *v)
{
    const char *name = op->name[TNI_IN_PLACE];
    scene c;
    begin(&c, op, s, v);
    tn_tensor *self = c.call.arguments[0].tensor;
    bool compares =
        op->dtypes && c.e.grid.dtype == TN_BOOL && strchr("enlg", name[0]) && strlen(name) == 3; /* eq_ ... ge_ */
    const int place = dtype_place(op);
    bool given = place > 0 && s->n > place; /* a dtype, which must be self's */
    bool casts = compares || (given ? c.e.grid.dtype == tn_tensor_dtype(self)
                                    : tn_can_cast(c.e.grid.dtype, tn_tensor_dtype(self)));
    bool good = same_shape(&c.e.grid, self) && casts && !repeats(self);
    int64_t version = tn_version(self);
    if (op->overlap_allowed && repeats(self)) { /* allowed, and the last write wins */
        check_snapshots(&c.call, name, &c.before, NULL);
        end(&c);
        return;
    }
    tn_tensor *y = call_run(&c.call, name);
    if (good) {
        if (y != self)
            fail_msg("%s\n  %s", call_text(&c.call, name), tn_error_message());
        if (tn_version(self) != version + 1)
            fail_msg("%s\n  counted %lld versions", call_text(&c.call, name), (long long)(tn_version(self) - version));
        check_values(&c.call, name, &c.e, self);
    } else {
        if (y)
            fail_msg("%s\n  should be refused", call_text(&c.call, name));
        check_error(call_text(&c.call, name), name);
    }
    check_snapshots(&c.call, name, &c.before, good ? self : NULL);
    end(&c);
}

static void in_place(void **state)
{
    int cases = 0;
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *text = op->samples;
        sample s;
        while (op->name[TNI_NEW] && op->name[TNI_IN_PLACE] && sample_next(&text, &s)) {
            if (s.fails || s.arguments[0].kind != SAMPLE_TENSOR)
                continue;
            bool number_given = s.n > 2; /* alpha: a dtype of its own would be refused */
            for (int pair = 0; pair < 16; pair++) {
                tn_dtype a = four[pair / 4], b = four[pair % 4];
                if (!claimed(op, a) || !claimed(op, b) || (number_given && a != b) ||
                    (tensor_operands(&s) == 1 && a != b))
                    continue;
                for (int how = 0; how < LAYOUTS * 2; how++) {
                    const variant v = {{a, b, b},
                                       {(layout)(how % LAYOUTS), (layout)((how * 2 + 1) % LAYOUTS), LAYOUT_PLAIN},
                                       (grid_values)(how / LAYOUTS),
                                       (uint64_t)(how + pair)};
                    in_place_case(op, &s, &v);
                    cases++;
                }
            }
        }
    }
    assert_true(cases > 3000);
}

/* What stands in for `out`. */
enum { OUT_FRESH, OUT_EMPTY, OUT_OTHER_SHAPE, OUT_SLICED, OUT_TRANSPOSED, OUT_EXPANDED, OUT_RANK_7, OUTS };

static tn_tensor *make_out(int kind, const grid *g, tn_dtype dtype)
{
    const int64_t zero = 0, seven = 7, rank_7[] = {1, 2, 1, 2, 1, 1, 2};
    grid as = grid_new(dtype, g->sizes, g->ndim);
    grid_fill(&as, GRID_SMALL, 5);
    tn_tensor *out = kind == OUT_EMPTY         ? tn_zeros(&zero, 1, dtype)
                     : kind == OUT_OTHER_SHAPE ? tn_ones(&seven, 1, dtype)
                     : kind == OUT_RANK_7      ? tn_ones(rank_7, 7, dtype)
                     : kind == OUT_SLICED      ? layout_tensor(&as, LAYOUT_SLICED)
                     : kind == OUT_TRANSPOSED  ? layout_tensor(&as, LAYOUT_TRANSPOSED)
                     : kind == OUT_EXPANDED    ? layout_tensor(&as, LAYOUT_EXPANDED)
                                               : layout_tensor(&as, LAYOUT_INSIDE);
    grid_free(&as);
    return out;
}

/* Whether the result may go into an out of that dtype: operators that take theirs from out must compute in it. */
static bool out_fits(const tni_op *op, const scene *c, tn_dtype dtype)
{
    const char *name = op->name[TNI_NEW];
    const int place = dtype_place(op);
    bool given = c->call.n > place && c->call.arguments[place].kind == SAMPLE_DTYPE;
    if (strcmp(name, "mean") == 0 && !given)
        return dtype_is_float(dtype);
    if (place == 2 && !given)
        return dtype != TN_BOOL;
    if (place > 0 && !given)
        return true;
    return op->exact_out_dtype ? dtype == c->e.grid.dtype : tn_can_cast(c->e.grid.dtype, dtype);
}

static void out_case(const tni_op *op, const sample *s, const variant *v, int kind, tn_dtype dtype)
{
    const char *name = op->name[TNI_OUT];
    sample with = *s;
    scene c;
    const int place = dtype_place(op);
    if (place > 0 && s->n <= place) { /* the functional form with that dtype */
        while (with.n < place)
            with.arguments[with.n++].kind = SAMPLE_NONE;
        with.arguments[with.n].kind = SAMPLE_DTYPE;
        with.arguments[with.n++].dtype = dtype;
        if (strcmp(name, "mean_out") == 0 && !dtype_is_float(dtype))
            return;
    }
    begin(&c, op, &with, v);
    if (place > 0)
        c.call.n = s->n;
    tn_tensor *out = make_out(kind, &c.e.grid, dtype), *same = call_run(&c.call, op->name[TNI_NEW]);
    bool shaped = same_shape(&c.e.grid, out);
    bool good = out_fits(op, &c, dtype) && !(shaped && repeats(out));
    snapshot held = snapshot_take(out);
    tn_tensor *y = call_run_out(&c.call, name, out);
    if (good) {
        if (y != out)
            fail_msg("%s\n  out of kind %d: %s", call_text(&c.call, name), kind, tn_error_message());
        if (!same_shape(&c.e.grid, out) || tn_tensor_dtype(out) != dtype || tn_version(out) != held.version + 1)
            fail_msg("%s\n  out of kind %d has another shape, dtype or version", call_text(&c.call, name), kind);
        check_values(&c.call, name, &c.e, out);
        for (int d = 0; !shaped && same && d < tn_ndim(out); d++)
            if (tn_strides(out)[d] != tn_strides(same)[d])
                fail_msg("%s\n  a resized out has other strides than a new result", call_text(&c.call, name));
        const char *changed = shaped ? snapshot_check(&held, out) : NULL;
        if (changed)
            fail_msg("%s\n  out of kind %d: %s", call_text(&c.call, name), kind, changed);
    } else {
        if (y)
            fail_msg("%s\n  out of kind %d, %s, should be refused", call_text(&c.call, name), kind,
                     tn_dtype_name(dtype));
        check_error(call_text(&c.call, name), name);
        const char *changed = snapshot_check(&held, NULL);
        if (changed)
            fail_msg("%s\n  a refused out changed: %s", call_text(&c.call, name), changed);
    }
    snapshot_free(&held);
    check_snapshots(&c.call, name, &c.before, NULL);
    end(&c);
}

static void out_forms(void **state)
{
    int cases = 0;
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        const char *text = op->samples;
        sample s;
        while (op->name[TNI_OUT] && sample_next(&text, &s)) {
            for (int pair = 0; pair < 16 && !s.fails; pair++) {
                tn_dtype of = four[pair / 4], into = four[pair % 4];
                if (!claimed(op, of))
                    continue;
                for (int kind = 0; kind < OUTS; kind++, cases++) {
                    const variant v = {{of, of, of},
                                       {(layout)((kind + pair) % 4), (layout)(pair % 4), LAYOUT_PLAIN},
                                       GRID_SMALL,
                                       (uint64_t)kind};
                    out_case(op, &s, &v, kind, into);
                }
            }
        }
    }
    assert_true(cases > 5000);
}

/* Every dtype that there is, as operands and as out: an error, or a right result; never a foreign byte. */
static void foreign_dtypes(void **state)
{
    const int64_t sizes[] = {3, 4};
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        if (op->n_in == 0 || !op->dtypes)
            continue;
        for (int pair = 0; pair < TN_DTYPE_COUNT * TN_DTYPE_COUNT * (TNI_FORMS + 1); pair++) {
            tn_dtype a = (tn_dtype)(pair % TN_DTYPE_COUNT), b = (tn_dtype)(pair / TN_DTYPE_COUNT % TN_DTYPE_COUNT);
            int form = pair / TN_DTYPE_COUNT / TN_DTYPE_COUNT;
            bool with_number = form == TNI_FORMS;
            const char *name = op->name[with_number ? TNI_NEW : form];
            if (!name)
                continue;
            tn_value values[5];
            tn_scope scope = tn_scope_begin();
            int n = 0;
            memset(values, 0, sizeof values);
            for (; n < op->n_in; n++) {
                values[n].kind = TN_VALUE_TENSOR;
                values[n].as.tensor =
                    tn_empty(op->params[n].code == 'T' && n == 2 ? sizes : sizes, n == 2 ? 1 : 2, n == 0 ? a : b);
                assert_non_null(values[n].as.tensor);
                memset(tn_data_mut(values[n].as.tensor), 0,
                       (size_t)tn_numel(values[n].as.tensor) * tn_itemsize(n == 0 ? a : b));
            }
            if (with_number && n == 2 && op->params[1].code == 'X') {
                values[1].kind = TN_VALUE_SCALAR;
                values[1].as.scalar = tn_float(2.5);
            }
            if (op->n_params > n && (!op->params[n].optional || strcmp(name, "to") == 0)) {
                values[n].kind = op->params[n].code == 'D' ? TN_VALUE_DTYPE : TN_VALUE_SCALAR;
                values[n].as.scalar = tn_int(1);
                if (op->params[n].code == 'D')
                    values[n].as.dtype = b;
                n++;
            }
            if (form == TNI_OUT) {
                values[n].kind = TN_VALUE_TENSOR;
                values[n++].as.tensor = tn_empty(sizes, 2, b);
            }
            tn_tensor *y = tn_call(name, values, n);
            bool known_a = a < TN_QINT8, known_b = b < TN_QINT8; /* those beyond are stored alone */
            bool bits_alone = strstr("clone empty_like zeros_like new_zeros zero_", name) != NULL ||
                              ((strcmp(name, "to") == 0 || strcmp(name, "copy_") == 0) && a == b);
            bool uses_b = op->n_in > 1 || form == TNI_OUT || strcmp(name, "to") == 0;
            if (!y)
                check_error(name, name);
            else if (!bits_alone && (!known_a || (uses_b && !known_b && !(with_number && op->params[1].code == 'X'))))
                fail_msg("%s works on %s and %s", name, tn_dtype_name(a), tn_dtype_name(b));
            tn_scope_end(scope);
        }
    }
}

/* x[1:] <- x[:-1] is refused, the same region is not, and what is not dense is not judged. */
static void overlap(void **state)
{
    (void)state;
    for (int i = 0; i < tni_operator_count; i++) {
        const tni_op *op = tni_operators[i];
        for (int form = TNI_IN_PLACE; form <= TNI_OUT; form++) {
            const char *name = op->name[form];
            bool pairs = op->n_in == 2 && op->dtypes && !op->workspace && !op->reads_first;
            if (!name || !(pairs || (op->n_in == 1 && op->n_params == 1 && form == TNI_OUT)))
                continue;
            tn_scope scope = tn_scope_begin();
            tn_tensor *base =
                tn_arange(tn_int(0), tn_int(13), tn_int(1), claimed(op, TN_FLOAT32) ? TN_FLOAT32 : TN_INT64);
            tn_tensor *high = tn_narrow(base, 0, 1, 12), *low = tn_narrow(base, 0, 0, 12);
            tn_value values[3];
            memset(values, 0, sizeof values);
            for (int k = 0; k < 3; k++)
                values[k].kind = TN_VALUE_TENSOR;
            int n = op->n_in + (form == TNI_OUT);
            values[0].as.tensor = values[1].as.tensor = low;
            values[form == TNI_OUT ? n - 1 : 0].as.tensor = high;
            snapshot held = snapshot_take(high);
            if (tn_call(name, values, n) || tn_error_code() != TN_ERROR_OVERLAP)
                fail_msg("%s: a partial overlap: %s", name, tn_error_message());
            check_error(name, name);
            assert_null(snapshot_check(&held, NULL));
            snapshot_free(&held);
            values[form == TNI_OUT ? n - 1 : 0].as.tensor = low;
            if (!tn_call(name, values, n))
                fail_msg("%s: the same region: %s", name, tn_error_message());
            tn_scope_end(scope);
        }
    }
    /* products read while they write: no sharing at all */
    tn_scope scope = tn_scope_begin();
    const int64_t square[] = {3, 3}, zero = 0;
    tn_tensor *x = tn_ones(square, 2, TN_FLOAT32), *w = tn_ones(square, 2, TN_FLOAT32),
              *shared = tn_view(x, (int64_t[]){9}, 1);
    assert_int_equal(tn_matmul_out(x, x, w), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_matmul_out(x, w, x), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_matmul_out(tn_narrow(shared, 0, 0, 0), x, w), TN_ERROR_OVERLAP); /* it would grow over x */
    tn_error_clear();
    assert_int_equal(tn_linear_out(x, w, x, NULL), TN_ERROR_OVERLAP);
    tn_error_clear();
    /* an out that is to be resized and is read as well */
    tn_tensor *row = tn_ones((int64_t[]){3}, 1, TN_FLOAT32);
    assert_int_equal(tn_add_out(row, row, x), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_add_out(tn_view(row, (int64_t[]){3}, 1), x, row), TN_ERROR_OVERLAP);
    tn_error_clear();
    assert_int_equal(tn_ndim(row), 1);
    assert_int_equal(tn_version(x), 0);
    tn_tensor *empty = tn_zeros(&zero, 1, TN_FLOAT32);
    assert_int_equal(tn_matmul_out(empty, x, w), TN_OK);
    assert_true(tn_data_f32(empty)[4] == 3);
    tn_scope_end(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {fresh(in_place), fresh(out_forms), fresh(overlap), fresh(foreign_dtypes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
