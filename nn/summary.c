/* A table of a module's layers: output shapes and dtypes, parameters, multiply-adds, bytes.
 *
 * The layers run on META, which has shapes and no memory; a net with modules of the user's, which cannot be copied
 * there, runs on zeros instead. A Sequential is followed into its layers, other modules are one row each. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>

#include "module.h"

typedef struct row {
    char name[96], shape[96];
    const char *layer;
    tn_dtype dtype;
    int64_t parameters, multiply_adds, bytes;
} row;

typedef struct table {
    tn_text_writer write;
    void *context;
    row total;
} table;

static tn_status put(table *t, const char *text)
{
    if (t->write(t->context, text, strlen(text)) == 0)
        return TN_OK;
    return TN_FAIL(TN_ERROR_FILE, "summary", "the text was not taken");
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

/* Products and sums of a layer: out elements times inputs for a Linear; elementwise layers count none. */
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

/* Runs a layer and writes its row; a Sequential's are its layers'. */
static tn_tensor *run(table *t, tn_module *module, tn_tensor *x, const char *name)
{
    tn_tensor *y = x;
    if (tni_module_type(module) != &tni_sequential_class) {
        row r = {.layer = tni_module_shown_name(module)};
        y = tn_forward(module, x);
        if (!y)
            return NULL;
        snprintf(r.name, sizeof r.name, "%s", name);
        tn_format_shape(r.shape, sizeof r.shape, tn_sizes(y), tn_ndim(y));
        r.dtype = tn_tensor_dtype(y);
        r.parameters = tn_parameter_numel(module);
        r.multiply_adds = multiply_adds(module, y);
        r.bytes = bytes_below(module);
        t->total.multiply_adds += r.multiply_adds;
        return put_row(t, &r) == TN_OK ? y : NULL;
    }
    for (int64_t i = 0; i < module->n_children && y; i++) {
        char path[96];
        snprintf(path, sizeof path, "%s%s%s", name, *name ? "." : "", module->children[i].name);
        y = run(t, module->children[i].module, y, path);
        if (!y && tn_error_code())
            tn_error_context(path);
    }
    return y;
}

tn_status tn_summary_write(const tn_module *module, const int64_t *input_size, int ndim, tn_dtype dtype,
                           tn_text_writer write, void *context)
{
    static const char heading[] = "layer            class        output             dtype     "
                                  "parameters  multiply-adds        bytes\n";
    table t = {.write = write, .context = context, .total = {.name = "all", .layer = "", .dtype = TN_DTYPE_NONE}};
    if (!tni_module_ready(module, "summary"))
        return tn_error_code();
    if (!write)
        return TN_FAIL_NULL("summary", 5, "write");
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    const bool on_meta = tni_module_can_copy(module);
    tn_module *copy = on_meta ? tn_module_to_device(module, (tn_device){TN_META, 0}) : (tn_module *)module;
    const bool training = copy && !copy->evaluating;
    if (copy)
        tn_module_eval(copy);
    tn_tensor *x = on_meta ? tn_empty_on(input_size, ndim, dtype, (tn_device){TN_META, 0})
                           : tn_zeros(input_size, ndim, dtype);
    t.total.parameters = tn_parameter_numel(module);
    t.total.bytes = bytes_below(module);
    if (copy && x && put(&t, heading) == TN_OK && run(&t, copy, x, ""))
        put_row(&t, &t.total);
    if (copy && !on_meta)
        tn_module_train(copy, training);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return tn_error_code();
}
