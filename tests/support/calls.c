/* See calls.h. */
#include "support/calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static void prepare_list(reference_argument *a, const variant *v, uint64_t seed, layout how)
{
    for (int k = 0; k < a->given->n; k++) {
        const sample_positions *positions = &a->given->list[k];
        if (positions->range == 0 && !positions->numbers)
            continue;
        a->list[k] = grid_new(positions->numbers ? v->dtypes[k & 1] : TN_INT64, positions->sizes, positions->n);
        if (positions->numbers)
            grid_fill(&a->list[k], v->values, seed + 13 * (uint64_t)k);
        else
            grid_fill_positions(&a->list[k], positions->range, seed + 13 * (uint64_t)k);
        a->tensors[k] = layout_tensor(&a->list[k], how);
    }
}

/* Whether a whole divisor of 0 is refused. */
static bool divides(const char *name)
{
    return strncmp(name, "floor_divide", 12) == 0 || strncmp(name, "trunc_divide", 12) == 0 ||
           strncmp(name, "remainder", 9) == 0 || strncmp(name, "fmod", 4) == 0;
}

static void without_zeros(grid *x)
{
    for (int64_t i = 0; i < x->numel; i++)
        if (!dtype_is_float(x->dtype) && x->cells[i].i == 0)
            x->cells[i].i = 1;
}

/* The part behind the point, of what is finite. */
static void make_probabilities(grid *g)
{
    for (int64_t i = 0; i < g->numel; i++)
        g->cells[i].f = isfinite(g->cells[i].f) ? fabs(g->cells[i].f - trunc(g->cells[i].f)) : 0.5;
}

void call_prepare(reference_call *call, const char *name, const sample *s, const variant *v)
{
    int operand = 0;
    memset(call, 0, sizeof *call);
    call->name = name;
    call->n = s->n;
    for (int i = 0; i < s->n; i++) {
        reference_argument *a = &call->arguments[i];
        a->given = &s->arguments[i];
        a->kind = a->given->kind;
        if (a->kind == SAMPLE_LIST_OF)
            prepare_list(a, v, v->seed + 977 * (uint64_t)i, v->layouts[operand]);
        if (a->kind != SAMPLE_TENSOR)
            continue;
        if (a->given->range != 0) {
            a->grid = grid_new(TN_INT64, a->given->numbers, a->given->n);
            grid_fill_positions(&a->grid, a->given->range, v->seed + 977 * (uint64_t)i);
            a->tensor = layout_tensor(&a->grid, v->layouts[operand]);
            continue;
        }
        bool mask = (i == 0 && strcmp(name, "where") == 0) || (i == 1 && strncmp(name, "masked_fill", 11) == 0);
        a->grid = grid_new(mask ? TN_BOOL : v->dtypes[operand], a->given->numbers, a->given->n);
        grid_fill(&a->grid, v->values, v->seed + 977 * (uint64_t)i);
        if (i == 1 && divides(name))
            without_zeros(&a->grid);
        if (strcmp(name, "bce_loss") == 0 ? i == 0 : i == 1 && strcmp(name, "bce_loss_backward") == 0)
            make_probabilities(&a->grid);
        a->tensor = layout_tensor(&a->grid, v->layouts[operand]);
        operand += operand < 2 && !mask;
    }
}

void call_free(reference_call *call)
{
    for (int i = 0; i < call->n; i++) {
        reference_argument *a = &call->arguments[i];
        if (a->kind == SAMPLE_TENSOR)
            grid_free(&a->grid);
        for (int k = 0; k < SAMPLE_LIST && a->kind == SAMPLE_LIST_OF; k++)
            grid_free(&a->list[k]);
    }
}

int call_box(const reference_call *call, tn_value *values)
{
    for (int i = 0; i < call->n; i++) {
        const reference_argument *a = &call->arguments[i];
        memset(&values[i], 0, sizeof values[i]);
        switch (a->kind) {
        case SAMPLE_TENSOR:
            values[i].kind = TN_VALUE_TENSOR;
            values[i].as.tensor = a->tensor;
            break;
        case SAMPLE_LIST_OF:
            values[i].kind = TN_VALUE_TENSORS;
            values[i].as.tensors.data = a->tensors;
            values[i].as.tensors.n = a->given->n;
            break;
        case SAMPLE_INTS:
            values[i].kind = TN_VALUE_INTS;
            values[i].as.ints.data = a->given->numbers;
            values[i].as.ints.n = a->given->n;
            break;
        case SAMPLE_INDEX:
            values[i].kind = TN_VALUE_INDEX;
            values[i].as.index.data = a->given->index;
            values[i].as.index.n = a->given->n;
            break;
        case SAMPLE_NUMBER:
            values[i].kind = TN_VALUE_SCALAR;
            values[i].as.scalar = a->given->number;
            break;
        case SAMPLE_DTYPE:
            values[i].kind = TN_VALUE_DTYPE;
            values[i].as.dtype = a->given->dtype;
            break;
        default:
            values[i].kind = TN_VALUE_NONE;
        }
    }
    return call->n;
}

tn_tensor *call_run(const reference_call *call, const char *name)
{
    tn_value values[SAMPLE_ARGUMENTS + 1];
    int n = call_box(call, values);
    return tn_call(name, values, n);
}

tn_tensor *call_run_out(const reference_call *call, const char *name, tn_tensor *out)
{
    tn_value values[SAMPLE_ARGUMENTS + 1];
    int n = call_box(call, values);
    memset(&values[n], 0, sizeof values[n]);
    values[n].kind = TN_VALUE_TENSOR;
    values[n].as.tensor = out;
    return tn_call(name, values, n + 1);
}

tn_tensor *call_run_meta(const reference_call *call, const char *name)
{
    const tn_device meta = {TN_META, 0}, before = tn_get_default_device();
    tn_value values[SAMPLE_ARGUMENTS + 1];
    tn_tensor *twins[SAMPLE_LIST] = {NULL};
    int n = call_box(call, values);
    for (int i = 0; i < n; i++) {
        if (values[i].kind == TN_VALUE_TENSOR)
            values[i].as.tensor = meta_twin(values[i].as.tensor);
        if (values[i].kind != TN_VALUE_TENSORS)
            continue;
        for (int k = 0; k < values[i].as.tensors.n; k++)
            twins[k] = values[i].as.tensors.data[k] ? meta_twin(values[i].as.tensors.data[k]) : NULL;
        values[i].as.tensors.data = twins;
    }
    tn_set_default_device(meta);
    tn_tensor *y = tn_call(name, values, n);
    tn_error raised; /* while it is pending the device can't be set back */
    tn_error_push(&raised);
    tn_set_default_device(before);
    tn_error_pop(&raised);
    return y;
}

static int shape_text(char *to, size_t size, const int64_t *numbers, int n, const char *brackets)
{
    int used = snprintf(to, size, "%c", brackets[0]);
    for (int d = 0; d < n; d++)
        used += snprintf(to + used, size - (size_t)used, "%s%lld", d ? "," : "", (long long)numbers[d]);
    used += snprintf(to + used, size - (size_t)used, "%c", brackets[1]);
    return used;
}

const char *call_text(const reference_call *call, const char *name)
{
    static char text[1024];
    int used = snprintf(text, sizeof text, "%s:", name);
    for (int i = 0; i < call->n; i++) {
        const reference_argument *a = &call->arguments[i];
        used += snprintf(text + used, sizeof text - (size_t)used, " ");
        char *to = text + used;
        size_t room = sizeof text - (size_t)used;
        if (a->kind == SAMPLE_TENSOR) {
            used += shape_text(to, room, a->grid.sizes, a->grid.ndim, "[]");
            used += snprintf(text + used, sizeof text - (size_t)used, "%s strides ", tn_dtype_name(a->grid.dtype));
            used += shape_text(text + used, sizeof text - (size_t)used, tn_strides(a->tensor), a->grid.ndim, "()");
        } else if (a->kind == SAMPLE_INTS) {
            used += shape_text(to, room, a->given->numbers, a->given->n, "()");
        } else if (a->kind == SAMPLE_LIST_OF) {
            used += snprintf(to, room, "@");
            for (int k = 0; k < a->given->n; k++)
                used += shape_text(text + used, sizeof text - (size_t)used, a->list[k].sizes, a->list[k].ndim, "<>");
        } else if (a->kind == SAMPLE_INDEX) {
            used += snprintf(to, room, "{%d entries}", a->given->n);
        } else if (a->kind == SAMPLE_NUMBER) {
            bool real = a->given->number.kind == TN_SCALAR_FLOAT;
            used += real ? snprintf(to, room, "%g", a->given->number.value.f)
                         : snprintf(to, room, "%lld", (long long)a->given->number.value.i);
        } else {
            used += snprintf(to, room, "%s", a->kind == SAMPLE_DTYPE ? tn_dtype_name(a->given->dtype) : "none");
        }
    }
    return text;
}

static bool within(cell a, cell b, double bound)
{
    if (isnan(a.f) || isnan(b.f))
        return isnan(a.f) && isnan(b.f);
    if (isinf(a.f) || isinf(b.f))
        return a.f == b.f || (bound > 0 && (fabs(a.f) > 3e38 && fabs(b.f) > 3e38 && signbit(a.f) == signbit(b.f)));
    return fabs(a.f - b.f) <= bound;
}

void check_values(const reference_call *call, const char *name, const expectation *e, const tn_tensor *y)
{
    if (!e->grid.cells)
        return;
    grid got = grid_read(y);
    for (int64_t i = 0; i < got.numel; i++) {
        cell wanted = cell_convert(e->grid.cells[i], e->grid.dtype, got.dtype);
        double bound = e->bounds && dtype_is_float(got.dtype) ? e->bounds[i] : 0;
        bool good = bound > 0 ? within(got.cells[i], wanted, bound) : cell_same(got.cells[i], wanted, got.dtype);
        if (!good)
            fail_msg("%s\n  element %lld is %.17g (%lld), needed %.17g (%lld) within %g", call_text(call, name),
                     (long long)i, got.cells[i].f, (long long)got.cells[i].i, wanted.f, (long long)wanted.i, bound);
    }
    grid_free(&got);
}

static const tn_tensor *first_tensor(const reference_call *call)
{
    for (int i = 0; i < call->n; i++)
        if (call->arguments[i].kind == SAMPLE_TENSOR)
            return call->arguments[i].tensor;
    return NULL;
}

void check_result(const reference_call *call, const char *name, const expectation *e, const tn_tensor *y)
{
    const tn_tensor *x = first_tensor(call);
    if (!y)
        fail_msg("%s\n  %s", call_text(call, name), tn_error_message());
    bool same = tn_ndim(y) == e->grid.ndim && tn_numel(y) == e->grid.numel;
    for (int d = 0; same && d < e->grid.ndim; d++)
        same = tn_sizes(y)[d] == e->grid.sizes[d];
    if (!same)
        fail_msg("%s\n  the result has another shape", call_text(call, name));
    if (tn_tensor_dtype(y) != e->grid.dtype)
        fail_msg("%s\n  the result is %s, needed %s", call_text(call, name), tn_dtype_name(tn_tensor_dtype(y)),
                 tn_dtype_name(e->grid.dtype));
    if (e->shares == IS_SAME && y != x)
        fail_msg("%s\n  the result should be the argument itself", call_text(call, name));
    if (e->shares == SHARES_STORAGE &&
        (y == x || !tn_is_same_storage(x, y) || !tn_is_view(y) || tn_base(y) != (tn_is_view(x) ? tn_base(x) : x)))
        fail_msg("%s\n  the result should be a view", call_text(call, name));
    if (e->shares == SHARES_MEMORY && (y == x || !tn_is_same_storage(x, y) || tn_is_view(y)))
        fail_msg("%s\n  the result should share memory and be no view", call_text(call, name));
    if (e->shares == SHARES_NOTHING && x && y != x && (tn_is_same_storage(x, y) || tn_is_view(y) || tn_version(y) != 0))
        fail_msg("%s\n  the result should have a storage of its own", call_text(call, name));
    for (int64_t i = 0; e->at && e->shares != SHARES_NOTHING && e->shares != IS_SAME && i < e->grid.numel; i++)
        if (element_address(y, i) != e->at[i])
            fail_msg("%s\n  element %lld is at another place", call_text(call, name), (long long)i);
    check_values(call, name, e, y);
}

void call_snapshots(const reference_call *call, snapshots *all)
{
    all->n = 0;
    for (int i = 0; i < call->n; i++) {
        const reference_argument *a = &call->arguments[i];
        if (a->kind == SAMPLE_TENSOR)
            all->each[all->n++] = snapshot_take(a->tensor);
        for (int k = 0; a->kind == SAMPLE_LIST_OF && k < a->given->n; k++)
            if (a->tensors[k])
                all->each[all->n++] = snapshot_take(a->tensors[k]);
    }
}

void check_snapshots(const reference_call *call, const char *name, snapshots *all, const tn_tensor *written)
{
    for (int i = 0; i < all->n; i++) {
        const char *changed = snapshot_check(&all->each[i], written);
        if (changed)
            fail_msg("%s\n  tensor %d of the arguments changed: %s", call_text(call, name), i, changed);
        snapshot_free(&all->each[i]);
    }
}

void drop_snapshots(snapshots *all)
{
    for (int i = 0; i < all->n; i++)
        snapshot_free(&all->each[i]);
}

void check_error(const char *what, const char *name)
{
    const tn_error *error = tn_error_get();
    size_t length = strlen(name);
    if (error->code == TN_OK)
        fail_msg("%s\n  no error was raised", what);
    if (strncmp(error->message, name, length) != 0 || strncmp(error->message + length, ": ", 2) != 0)
        fail_msg("%s\n  the message does not begin with the operator's name: %s", what, error->message);
    if (strchr(error->message, '\n') || !error->file || !error->function || error->line <= 0 ||
        strcmp(error->function, name) != 0)
        fail_msg("%s\n  a message of several lines, or without a place: %s", what, error->message);
    tn_error_clear();
}
