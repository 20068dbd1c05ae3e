/* Sequential: its children one after another, and tn_mlp, which is one. */
#include <inttypes.h>
#include <stdio.h>

#include "module.h"

/* Asks for the children and their parameters all at once: the calls would wait for one after the other where the net
 * comes from memory, as one among many does. */
static void fetch_ahead(const tn_module *module)
{
    for (int64_t i = 0; i < module->n_children; i++) {
        const tn_module *child = module->children[i].module;
        for (int p = 0; p < child->n_parameters; p++)
            __builtin_prefetch(child->parameters[p].tensor);
    }
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    if (module->n_children == 0) {
        tn_tensor *again = tn_retain(x);
        if (!tn_adopt(again))
            tn_release(&again);
        return again;
    }
    fetch_ahead(module);
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = x;
    for (int64_t i = 0; y && i < module->n_children && !tn_error_code(); i++) {
        tn_tensor *before = y;
        y = tni_module_run(&module->children[i], before, place);
        if (before != x)
            tn_drop(&before);
    }
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

const tni_module_class tni_sequential_class = {
    .object = {.name = "Sequential", .bytes = sizeof(tn_module), .destroy = tni_module_destroy},
    .forward = forward,
};

tn_status tn_sequential_append(tn_module *sequential, tn_module *child)
{
    const char *function = "sequential_append";
    if (tn_error_code())
        return tn_error_code();
    if (!sequential || !child)
        return TN_FAIL_NULL(function, sequential ? 2 : 1, sequential ? "child" : "sequential");
    if (tni_module_type(sequential) != &tni_sequential_class)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "argument 1 is a %s, needed a Sequential",
                       tni_module_shown_name(sequential));
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, sequential->n_children);
    return tni_module_put_child(function, sequential, name, child);
}

tn_module *tn_sequential(void)
{
    return tn_error_code() ? NULL : tn_object_new(&tni_sequential_class.object);
}

/* Appends a module that was just made and gives up the scope's hold on it. */
static void append_new(tn_module *sequential, tn_module *child)
{
    tn_sequential_append(sequential, child);
    tn_drop(&child);
}

tn_module *tn_mlp(const int64_t *sizes, int n_sizes, tn_dtype dtype)
{
    if (tn_error_code())
        return NULL;
    if (n_sizes < 2) {
        TN_FAIL(TN_ERROR_ARGUMENT, "mlp", "n_sizes is %d, needed at least 2, those of input and output", n_sizes);
        return NULL;
    }
    if (!sizes) {
        TN_FAIL_NULL("mlp", 1, "sizes");
        return NULL;
    }
    for (int i = 0; i < n_sizes; i++)
        if (sizes[i] < 1) {
            TN_FAIL(TN_ERROR_ARGUMENT, "mlp", "size %d is %" PRId64 ", needed at least 1", i, sizes[i]);
            return NULL;
        }
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_sequential();
    for (int i = 1; net && i < n_sizes; i++) {
        append_new(net, tn_linear_module(sizes[i - 1], sizes[i], true, dtype));
        if (i + 1 < n_sizes)
            append_new(net, tn_relu_module());
    }
    net = tn_error_code() ? NULL : tn_scope_escape(scope, net);
    tn_scope_end(scope);
    tn_error_rename("mlp", NULL);
    return net;
}
