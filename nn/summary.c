/* A table of a module's layers: output shapes and dtypes, parameters, multiply-adds, bytes.
 *
 * The net runs once, on META, which has shapes and no memory; one with modules of the user's, which cannot be copied
 * there, runs on zeros instead. An observer sees every forward on the way: each module gets a row by its dotted name,
 * in the order of the first calls, with what is its own alone, so that the columns add up; a Sequential has nothing of
 * its own and no row. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>

#include "module.h"

static const char function[] = "summary";

enum { PATH = 96, FIRST_ROOM = 32 };

typedef struct row {
    const tn_module *module;
    char name[PATH], shape[96];
    const char *layer;
    tn_dtype dtype;
    int64_t parameters, multiply_adds, bytes;
} row;

/* A module whose forward runs. */
typedef struct frame {
    const struct frame *parent;
    const tn_module *module;
    char path[PATH];
} frame;

typedef struct table {
    tni_observer observer; /* first: it is what comes back */
    tn_text_writer write;
    void *context;
    row *rows;
    int64_t n, room;
    const frame *frame; /* the innermost */
} table;

static tn_status put(table *t, const char *text)
{
    if (t->write(t->context, text, strlen(text)) == 0)
        return TN_OK;
    return TN_FAIL(TN_ERROR_FILE, function, "the text was not taken");
}

static tn_status put_row(table *t, const row *r)
{
    char line[320], count[3][32];
    snprintf(count[0], sizeof count[0], "%" PRId64, r->parameters);
    snprintf(count[1], sizeof count[1], "%" PRId64, r->multiply_adds);
    snprintf(count[2], sizeof count[2], "%" PRId64, r->bytes);
    snprintf(line, sizeof line, "%-16s %-12s %-18s %-9s %10s %14s %12s\n", r->name, r->layer, r->shape,
             r->dtype == TN_DTYPE_NONE ? "" : tn_dtype_name(r->dtype), count[0], count[1], count[2]);
    return put(t, line);
}

/* Products and sums of a layer: out elements times inputs for a Linear; others count none. */
static int64_t multiply_adds(const tn_module *module, const tn_tensor *y)
{
    if (tni_module_type(module) != &tni_linear_class)
        return 0;
    return tn_numel(y) * tn_size(module->parameters[0].tensor, 1);
}

static int64_t bytes_below(const tn_module *module)
{
    int64_t bytes = 0;
    tn_list *all = tn_parameters(module);
    for (int64_t i = 0; i < tn_list_size(all); i++) {
        const tn_tensor *p = tn_list_get(all, i);
        bytes += tn_numel(p) * (int64_t)tn_itemsize(tn_tensor_dtype(p));
    }
    tn_drop(&all);
    return bytes;
}

/* "above.name", or the one that is there; cut where it does not fit. */
static void join(char path[PATH], const char *above, const char *name)
{
    const int length = snprintf(path, PATH, "%s%s%s", above, *above && *name ? "." : "", name);
    if (length >= PATH)
        memcpy(path + PATH - 4, "...", 4);
}

/* The dotted name of a module below another one; false if it is not there. */
static bool find_below(const tn_module *top, const tn_module *sought, char path[PATH])
{
    for (int64_t i = 0; i < top->n_children; i++) {
        const tni_child *child = &top->children[i];
        char rest[PATH] = "";
        if (child->module != sought && !find_below(child->module, sought, rest))
            continue;
        join(path, child->name, rest);
        return true;
    }
    return false;
}

/* "block.inner": from the module that is being run; "?" stands for one that is not registered there. */
static void name_frame(frame *here, const tni_place *place)
{
    const frame *above = here->parent;
    char name[PATH] = "?";
    here->path[0] = '\0';
    if (!above)
        return;
    if (place)
        snprintf(name, sizeof name, "%s", place->name);
    else
        find_below(above->module, here->module, name);
    join(here->path, above->path, name);
}

static void count_own(row *r)
{
    for (int i = 0; i < r->module->n_parameters; i++) {
        const tni_parameter *p = &r->module->parameters[i];
        if (p->buffer || !p->tensor)
            continue;
        r->parameters += tn_numel(p->tensor);
        r->bytes += tn_numel(p->tensor) * (int64_t)tn_itemsize(tn_tensor_dtype(p->tensor));
    }
}

/* The number of the module's row, a new one unless it was called before under that name; -1 without memory. */
static int64_t row_of(table *t, const tn_module *module, const char *path)
{
    for (int64_t i = 0; i < t->n; i++)
        if (t->rows[i].module == module && strcmp(t->rows[i].name, path) == 0)
            return i;
    if (t->n == t->room) {
        const int64_t larger = t->room ? 2 * t->room : FIRST_ROOM;
        row *rows = tn_allocate((size_t)larger * sizeof *rows, function);
        if (!rows)
            return -1;
        if (t->n > 0)
            memcpy(rows, t->rows, (size_t)t->n * sizeof *rows);
        tn_deallocate(t->rows, (size_t)t->room * sizeof *rows);
        t->rows = rows;
        t->room = larger;
    }
    row *r = &t->rows[t->n];
    *r = (row){.module = module, .layer = tni_module_shown_name(module), .dtype = TN_DTYPE_NONE};
    snprintf(r->name, sizeof r->name, "%s", path);
    count_own(r);
    return t->n++;
}

/* Every forward of a module comes here. */
static tn_tensor *observe(tni_observer *observer, tn_module *module, tn_tensor *x, const tni_place *place)
{
    table *t = (table *)observer;
    const bool has_row = tni_module_type(module) != &tni_sequential_class;
    frame here = {.parent = t->frame, .module = module};
    name_frame(&here, place);
    const int64_t at = has_row ? row_of(t, module, here.path) : -1;
    if (tn_error_code())
        return NULL;
    t->frame = &here;
    tn_tensor *y = tni_module_type(module)->forward(module, x, place);
    t->frame = here.parent;
    if (y && has_row) {
        row *r = &t->rows[at];
        tn_format_shape(r->shape, sizeof r->shape, tn_sizes(y), tn_ndim(y));
        r->dtype = tn_tensor_dtype(y);
        r->multiply_adds += multiply_adds(module, y);
    }
    return y;
}

/* A module whose parameters are used without a call of it, or that was not called at all. */
static tn_status add_uncalled(table *t, const tn_module *module, const char *path)
{
    bool seen = module->n_parameters == 0;
    for (int64_t i = 0; i < t->n && !seen; i++)
        seen = t->rows[i].module == module;
    if (!seen && row_of(t, module, path) < 0)
        return tn_error_code();
    for (int64_t i = 0; i < module->n_children; i++) {
        char below[PATH];
        join(below, path, module->children[i].name);
        if (add_uncalled(t, module->children[i].module, below))
            return tn_error_code();
    }
    return TN_OK;
}

static tn_status write_table(table *t, const tn_module *module)
{
    static const char heading[] = "layer            class        output             dtype     "
                                  "parameters  multiply-adds        bytes\n";
    row total = {.name = "all", .layer = "", .dtype = TN_DTYPE_NONE, .parameters = tn_parameter_numel(module),
                 .bytes = bytes_below(module)};
    tn_error_rename(function, NULL);
    if (tn_error_code() || put(t, heading))
        return tn_error_code();
    for (int64_t i = 0; i < t->n; i++) {
        total.multiply_adds += t->rows[i].multiply_adds;
        if (put_row(t, &t->rows[i]))
            return tn_error_code();
    }
    return put_row(t, &total);
}

static void run(table *t, tn_module *module, tn_tensor *x)
{
    tni_observer *before = tni_observing;
    tni_observing = &t->observer;
    tn_forward(module, x);
    tni_observing = before;
    if (!tn_error_code() && !add_uncalled(t, module, ""))
        write_table(t, module);
}

/* Which modules train, in the order of a walk: saved before the net is put into eval mode, then put back. */
typedef struct modes {
    bool *training;
    int64_t n;
} modes;

static bool count_mode(tn_module *module, void *context)
{
    (void)module;
    ((modes *)context)->n++;
    return true;
}

static bool take_mode(tn_module *module, void *context)
{
    modes *m = context;
    m->training[m->n++] = !module->evaluating;
    return true;
}

static bool put_mode(tn_module *module, void *context)
{
    modes *m = context;
    module->evaluating = !m->training[m->n++];
    return true;
}

static void run_in_place(table *t, tn_module *module, const int64_t *input_size, int ndim, tn_dtype dtype)
{
    modes m = {0};
    tn_tensor *x = tn_zeros(input_size, ndim, dtype);
    tni_module_each(module, count_mode, &m);
    const size_t bytes = (size_t)m.n * sizeof *m.training;
    m.training = x ? tn_allocate(bytes, function) : NULL;
    if (!m.training) {
        tn_error_rename(function, NULL);
        return;
    }
    m.n = 0;
    tni_module_each(module, take_mode, &m);
    tn_module_eval(module);
    run(t, module, x);
    m.n = 0;
    tni_module_each(module, put_mode, &m);
    tn_deallocate(m.training, bytes);
}

static void run_on_meta(table *t, const tn_module *module, const int64_t *input_size, int ndim, tn_dtype dtype)
{
    const tn_device meta = {TN_META, 0};
    tn_module *copy = tn_module_to_device(module, meta);
    tn_tensor *x = tn_empty_on(input_size, ndim, dtype, meta);
    tn_error_rename(function, NULL);
    if (!tn_error_code() && !tn_module_eval(copy))
        run(t, copy, x);
}

tn_status tn_summary_write(const tn_module *module, const int64_t *input_size, int ndim, tn_dtype dtype,
                           tn_text_writer write, void *context)
{
    table t = {.observer = {observe}, .write = write, .context = context};
    if (!tni_module_ready(module, function))
        return tn_error_code();
    if (!write)
        return TN_FAIL_NULL(function, 5, "write");
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    if (tni_module_can_copy(module))
        run_on_meta(&t, module, input_size, ndim, dtype);
    else
        run_in_place(&t, (tn_module *)(uintptr_t)module, input_size, ndim, dtype);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_deallocate(t.rows, (size_t)t.room * sizeof *t.rows);
    return tn_error_code();
}
