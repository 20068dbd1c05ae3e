/* Sequential: its children one after another, and tn_mlp, which is one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "module.h"

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place);
static tn_module *copy(const tn_module *module, tn_dtype dtype);

static const tni_module_class sequential_class = {
    .object = {.name = "Sequential", .bytes = sizeof(tn_module), .destroy = tni_module_destroy},
    .forward = forward,
    .copy = copy,
};

static bool is_sequential(const tn_module *module)
{
    return tni_module_type(module) == &sequential_class;
}

/* "2.0.1" of a place; enough for the deepest nesting with short numbers, cut beyond that. */
static size_t write_path(const tni_place *place, char *buf, size_t size)
{
    size_t used = 0;
    if (place->parent) {
        used = write_path(place->parent, buf, size);
        if (used + 1 < size)
            buf[used++] = '.';
    }
    int more = snprintf(buf + used, size - used, "%" PRId64, place->index);
    return used + (size_t)more < size ? used + (size_t)more : size - 1;
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    if (module->n_children == 0) {
        tn_tensor *again = tn_retain(x);
        if (!tn_adopt(again))
            tn_release(&again);
        return again;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = x;
    for (int64_t i = 0; y && i < module->n_children && !tn_error_code(); i++) {
        tn_module *child = module->children[i];
        tni_place here = {place, i};
        tn_tensor *before = y;
        y = tni_module_type(child)->forward(child, before, &here);
        if (before != x)
            tn_drop(&before);
        /* A Sequential inside has named the layer already. */
        if (!y && !is_sequential(child)) {
            char path[256];
            write_path(&here, path, sizeof path);
            tn_error_context(path);
        }
    }
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

/* Places from the outermost module down to this one, itself included. */
static int depth_of(const tn_module *module)
{
    int depth = 1;
    while ((module = module->parent) != NULL)
        depth++;
    return depth;
}

static int height_of(const tn_module *module)
{
    int height = 0;
    for (int64_t i = 0; i < module->n_children; i++) {
        int child = height_of(module->children[i]);
        height = child > height ? child : height;
    }
    return height + 1;
}

static tn_status check_append(const tn_module *sequential, const tn_module *child)
{
    const char *name = "sequential_append";
    if (tn_error_code())
        return tn_error_code();
    if (!sequential || !child)
        return TN_FAIL_NULL(name, sequential ? 2 : 1, sequential ? "child" : "sequential");
    if (!is_sequential(sequential))
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "argument 1 is a %s, needed a Sequential",
                       tni_module_type(sequential)->object.name);
    for (const tn_module *above = sequential; above; above = above->parent)
        if (above == child)
            return TN_FAIL(TN_ERROR_ARGUMENT, name, "the child contains the Sequential, or is it");
    if (child->parent)
        return TN_FAIL(TN_ERROR_ARGUMENT, name,
                       "the %s stands in another Sequential already, needed one without a place",
                       tni_module_type(child)->object.name);
    int nesting = depth_of(sequential) + height_of(child);
    if (nesting > TNI_MODULE_NESTING)
        return TN_FAIL(TN_ERROR_ARGUMENT, name, "modules would be nested %d deep, needed at most %d", nesting,
                       TNI_MODULE_NESTING);
    return TN_OK;
}

tn_status tn_sequential_append(tn_module *sequential, tn_module *child)
{
    tn_status status = check_append(sequential, child);
    if (status)
        return status;
    if (sequential->n_children == sequential->capacity) {
        size_t bytes = (size_t)sequential->capacity * sizeof *sequential->children;
        tn_module **larger = tn_allocate(bytes ? 2 * bytes : 8 * sizeof *larger, "sequential_append");
        if (!larger)
            return tn_error_code();
        if (bytes)
            memcpy(larger, sequential->children, bytes);
        tn_deallocate(sequential->children, bytes);
        sequential->children = larger;
        sequential->capacity = bytes ? 2 * sequential->capacity : 8;
    }
    sequential->children[sequential->n_children++] = tn_retain(child);
    if (!tni_module_type(child)->stateless)
        child->parent = sequential;
    return TN_OK;
}

tn_module *tn_sequential(void)
{
    return tn_error_code() ? NULL : tn_object_new(&sequential_class.object);
}

/* Appends a module that was just made and gives up the scope's hold on it. */
static void append_new(tn_module *sequential, tn_module *child)
{
    tn_sequential_append(sequential, child);
    tn_drop(&child);
}

static tn_module *copy(const tn_module *module, tn_dtype dtype)
{
    tn_module *self = tn_sequential();
    for (int64_t i = 0; self && i < module->n_children; i++)
        append_new(self, tni_module_copy(module->children[i], dtype));
    return tn_error_code() ? NULL : self;
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
    return net;
}
