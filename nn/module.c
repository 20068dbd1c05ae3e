/* What all modules share: forward, what hangs below them, train and eval, the end. */
#include "module.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>

_Thread_local tni_observer *tni_observing __attribute__((tls_model("initial-exec")));

bool tni_module_ready(const tn_module *module, const char *function)
{
    if (!tn_error_code() && !module)
        TN_FAIL_NULL(function, 1, "module");
    return !tn_error_code();
}

const char *tni_module_shown_name(const tn_module *module)
{
    const tni_module_class *type = tni_module_type(module);
    return type->name ? type->name(module) : type->object.name;
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    if (__builtin_expect(tni_observing != NULL, 0))
        return tni_observing->forward(tni_observing, module, x, place);
    return tni_module_type(module)->forward(module, x, place);
}

tn_tensor *tn_forward(tn_module *module, tn_tensor *x)
{
    if (tn_error_code())
        return NULL;
    if (!module || !x) {
        TN_FAIL_NULL("forward", module ? 2 : 1, module ? "x" : "module");
        return NULL;
    }
    return forward(module, x, NULL);
}

/* "2.0.1" of a place; cut where it does not fit. */
static size_t write_path(const tni_place *place, char *buf, size_t size)
{
    size_t used = 0;
    if (place->parent) {
        used = write_path(place->parent, buf, size);
        if (used + 1 < size)
            buf[used++] = '.';
    }
    int more = snprintf(buf + used, size - used, "%s", place->name);
    return used + (size_t)more < size ? used + (size_t)more : size - 1;
}

tn_tensor *tni_module_run(const tni_child *child, tn_tensor *x, const tni_place *place)
{
    const tni_place here = {place, child->name};
    tn_tensor *y = forward(child->module, x, &here);
    if (!y && tni_module_type(child->module) != &tni_sequential_class) { /* a Sequential has named the layer already */
        char path[256];
        write_path(&here, path, sizeof path);
        tn_error_context(path);
    }
    return y;
}

void tni_module_destroy(void *object)
{
    tn_module *module = object;
    for (int i = 0; i < module->n_parameters; i++)
        tn_release(&module->parameters[i].tensor);
    for (int64_t i = 0; i < module->n_children; i++) {
        if (module->children[i].module->parent == module)
            module->children[i].module->parent = NULL;
        tn_release(&module->children[i].module);
    }
    tn_deallocate(module->parameters, (size_t)module->parameter_capacity * sizeof *module->parameters);
    tn_deallocate(module->children, (size_t)module->child_capacity * sizeof *module->children);
}

tn_status tni_module_check_dtype(const char *function, tn_dtype dtype)
{
    if (dtype == TN_FLOAT32 || dtype == TN_FLOAT64)
        return TN_OK;
    return TN_FAIL(TN_ERROR_DTYPE, function, "dtype is %s, needed float32 or float64", tn_dtype_name(dtype));
}

bool tni_module_each(tn_module *root, tni_module_visit visit, void *context)
{
    if (!visit(root, context))
        return false;
    for (int64_t i = 0; i < root->n_children; i++)
        if (!tni_module_each(root->children[i].module, visit, context))
            return false;
    return true;
}

/* Room for one more entry of `bytes` in an array; false with an error. */
static bool make_room(const char *function, void *array, int64_t n, int64_t *capacity, size_t bytes)
{
    void *old;
    memcpy(&old, array, sizeof old);
    if (n < *capacity)
        return true;
    int64_t larger = *capacity ? 2 * *capacity : 4;
    void *block = tn_allocate((size_t)larger * bytes, function);
    if (!block)
        return false;
    if (n > 0)
        memcpy(block, old, (size_t)n * bytes);
    tn_deallocate(old, (size_t)*capacity * bytes);
    memcpy(array, &block, sizeof block);
    *capacity = larger;
    return true;
}

/* A name is what a path can hold: not empty, without a dot, new in the module. */
static tn_status check_name(const char *function, const tn_module *module, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    if (!name)
        return TN_FAIL_NULL(function, 2, "name");
    if (length == 0 || length >= TNI_NAME || strchr(name, '.'))
        return TN_FAIL(TN_ERROR_NAME, function, "the name '%.80s' is %s, needed 1 to %d characters without a dot", name,
                       length == 0 ? "empty" : length >= TNI_NAME ? "too long" : "a path", TNI_NAME - 1);
    for (int i = 0; i < module->n_parameters; i++)
        if (strcmp(module->parameters[i].name, name) == 0)
            return TN_FAIL(TN_ERROR_NAME, function, "the module has a tensor '%s' already", name);
    for (int64_t i = 0; i < module->n_children; i++)
        if (strcmp(module->children[i].name, name) == 0)
            return TN_FAIL(TN_ERROR_NAME, function, "the module has a child '%s' already", name);
    return TN_OK;
}

tn_status tni_module_put(const char *function, tn_module *module, const char *name, tn_tensor *tensor, bool buffer)
{
    int64_t capacity = module->parameter_capacity;
    if (check_name(function, module, name) ||
        !make_room(function, &module->parameters, module->n_parameters, &capacity, sizeof *module->parameters))
        return tn_error_code();
    module->parameter_capacity = (int)capacity;
    tni_parameter *parameter = &module->parameters[module->n_parameters++];
    *parameter = (tni_parameter){.buffer = buffer, .tensor = tn_retain(tensor)};
    memcpy(parameter->name, name, strlen(name) + 1);
    return TN_OK;
}

void tni_module_give(tn_module *module, const char *name, tn_tensor *tensor, bool buffer)
{
    if (tn_error_code())
        return;
    if (!buffer && tensor)
        tn_requires_grad_(tensor, true);
    tni_module_put("module", module, name, tensor, buffer);
    tn_drop(&tensor);
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
        int child = height_of(module->children[i].module);
        height = child > height ? child : height;
    }
    return height + 1;
}

tn_status tni_module_put_child(const char *function, tn_module *module, const char *name, tn_module *child)
{
    for (const tn_module *above = module; above; above = above->parent)
        if (above == child)
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "the child contains the %s, or is it",
                           tni_module_shown_name(module));
    if (child->parent)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the %s stands in another %s already, needed one without a place",
                       tni_module_shown_name(child), tni_module_shown_name(child->parent));
    int nesting = depth_of(module) + height_of(child);
    if (nesting > TNI_MODULE_NESTING)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "modules would be nested %d deep, needed at most %d", nesting,
                       TNI_MODULE_NESTING);
    if (check_name(function, module, name) ||
        !make_room(function, &module->children, module->n_children, &module->child_capacity, sizeof *module->children))
        return tn_error_code();
    tni_child *place = &module->children[module->n_children++];
    *place = (tni_child){.module = tn_retain(child)};
    memcpy(place->name, name, strlen(name) + 1);
    if (!tni_module_type(child)->stateless)
        child->parent = module;
    return TN_OK;
}

const char *tn_module_name(const tn_module *module)
{
    return tni_module_ready(module, "module_name") ? tni_module_shown_name(module) : NULL;
}

int64_t tn_child_count(const tn_module *module)
{
    return tni_module_ready(module, "child_count") ? module->n_children : 0;
}

static const tni_child *child_at(const tn_module *module, int64_t i, const char *function)
{
    if (!tni_module_ready(module, function))
        return NULL;
    if (i >= 0 && i < module->n_children)
        return &module->children[i];
    TN_FAIL(TN_ERROR_INDEX, function, "there is no child %" PRId64 ": the module has %" PRId64, i, module->n_children);
    return NULL;
}

tn_module *tn_child(const tn_module *module, int64_t i)
{
    const tni_child *child = child_at(module, i, "child");
    return child ? child->module : NULL;
}

const char *tn_child_name(const tn_module *module, int64_t i)
{
    const tni_child *child = child_at(module, i, "child_name");
    return child ? child->name : NULL;
}

static bool set_training(tn_module *module, void *context)
{
    module->evaluating = !*(const bool *)context;
    return true;
}

tn_status tn_module_train(tn_module *module, bool on)
{
    if (tni_module_ready(module, "module_train"))
        tni_module_each(module, set_training, &on);
    return tn_error_code();
}

tn_status tn_module_eval(tn_module *module)
{
    return tn_module_train(module, false);
}

bool tn_module_is_training(const tn_module *module)
{
    return tni_module_ready(module, "module_is_training") && !module->evaluating;
}

/* Children first, as torch.nn.Module.apply. */
static bool apply(tn_module *module, bool (*function)(tn_module *, void *), void *context)
{
    for (int64_t i = 0; i < module->n_children; i++)
        if (!apply(module->children[i].module, function, context))
            return false;
    return function(module, context) && !tn_error_code();
}

tn_status tn_module_apply(tn_module *module, bool (*function)(tn_module *module, void *context), void *context)
{
    if (!tni_module_ready(module, "module_apply"))
        return tn_error_code();
    if (!function)
        return TN_FAIL_NULL("module_apply", 2, "function");
    apply(module, function, context);
    return tn_error_code();
}
