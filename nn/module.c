/* What all modules share: forward, parameters and their names, children, copies in another dtype, the end. */
#include "module.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tn_tensor *tn_forward(tn_module *module, tn_tensor *x)
{
    if (tn_error_code())
        return NULL;
    if (!module || !x) {
        TN_FAIL_NULL("forward", module ? 2 : 1, module ? "x" : "module");
        return NULL;
    }
    return tni_module_type(module)->forward(module, x, NULL);
}

void tni_module_destroy(void *object)
{
    tn_module *module = object;
    for (int i = 0; i < module->n_parameters; i++)
        tn_release(&module->parameters[i].tensor);
    for (int64_t i = 0; i < module->n_children; i++) {
        if (module->children[i]->parent == module)
            module->children[i]->parent = NULL;
        tn_release(&module->children[i]);
    }
    tn_deallocate(module->children, (size_t)module->capacity * sizeof *module->children);
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
        if (!tni_module_each(root->children[i], visit, context))
            return false;
    return true;
}

/* True when a query may go on: no error is pending and the module is there. */
static bool ready(const tn_module *module, const char *function)
{
    if (!tn_error_code() && !module)
        TN_FAIL_NULL(function, 1, "module");
    return !tn_error_code();
}

typedef struct parameter_sum {
    int64_t count, numel;
} parameter_sum;

static bool add_parameters(tn_module *module, void *context)
{
    parameter_sum *sum = context;
    for (int i = 0; i < module->n_parameters; i++)
        if (module->parameters[i].tensor) {
            sum->count++;
            sum->numel += tn_numel(module->parameters[i].tensor);
        }
    return true;
}

int64_t tn_parameter_count(const tn_module *module)
{
    parameter_sum sum = {0};
    if (ready(module, "parameter_count"))
        tni_module_each((tn_module *)module, add_parameters, &sum);
    return sum.count;
}

int64_t tn_parameter_numel(const tn_module *module)
{
    parameter_sum sum = {0};
    if (ready(module, "parameter_numel"))
        tni_module_each((tn_module *)module, add_parameters, &sum);
    return sum.numel;
}

/* Parameter number *left of module and what is below it, or NULL with *left less by their count. When found, its name
 * is in buf[0 .. size), cut to fit, behind the `used` characters of the path so far; *length is the whole name's. */
static tn_tensor *find_number(const tn_module *module, int64_t *left, char *buf, size_t size, int used, int *length)
{
    size_t at = (size_t)used < size ? (size_t)used : size;
    for (int i = 0; i < module->n_parameters; i++)
        if (module->parameters[i].tensor && (*left)-- == 0) {
            *length = used + snprintf(buf ? buf + at : NULL, buf ? size - at : 0, "%s", module->parameters[i].name);
            return module->parameters[i].tensor;
        }
    for (int64_t i = 0; i < module->n_children; i++) {
        int more = snprintf(buf ? buf + at : NULL, buf ? size - at : 0, "%" PRId64 ".", i);
        tn_tensor *found = find_number(module->children[i], left, buf, size, used + more, length);
        if (found)
            return found;
    }
    return NULL;
}

static tn_tensor *numbered(const tn_module *module, int64_t i, char *buf, size_t size, int *length,
                           const char *function)
{
    int64_t left = i;
    if (!ready(module, function))
        return NULL;
    tn_tensor *found = i < 0 ? NULL : find_number(module, &left, buf, size, 0, length);
    if (!found)
        TN_FAIL(TN_ERROR_INDEX, function, "there is no parameter %" PRId64 ": the module has %" PRId64, i,
                tn_parameter_count(module));
    return found;
}

tn_tensor *tn_parameter(const tn_module *module, int64_t i)
{
    int length;
    return numbered(module, i, NULL, 0, &length, "parameter");
}

int tn_parameter_name(const tn_module *module, int64_t i, char *buf, size_t size)
{
    int length = 0;
    if (!buf)
        size = 0;
    if (!numbered(module, i, size ? buf : NULL, size, &length, "parameter_name") && size)
        buf[0] = '\0';
    return length;
}

static tn_tensor *find_name(const tn_module *module, const char *name)
{
    for (int i = 0; i < module->n_parameters; i++)
        if (module->parameters[i].tensor && strcmp(name, module->parameters[i].name) == 0)
            return module->parameters[i].tensor;
    const char *dot = strchr(name, '.');
    for (int64_t i = 0; dot && i < module->n_children; i++) {
        char child[24];
        size_t length = (size_t)snprintf(child, sizeof child, "%" PRId64, i);
        if (length == (size_t)(dot - name) && memcmp(child, name, length) == 0)
            return find_name(module->children[i], dot + 1);
    }
    return NULL;
}

tn_tensor *tn_named_parameter(const tn_module *module, const char *name)
{
    if (!ready(module, "named_parameter"))
        return NULL;
    if (!name) {
        TN_FAIL_NULL("named_parameter", 2, "name");
        return NULL;
    }
    tn_tensor *found = find_name(module, name);
    if (!found)
        TN_FAIL(TN_ERROR_NAME, "named_parameter", "%s has no parameter '%.100s'", tni_module_type(module)->object.name,
                name);
    return found;
}

const char *tn_module_name(const tn_module *module)
{
    return ready(module, "module_name") ? tni_module_type(module)->object.name : NULL;
}

int64_t tn_child_count(const tn_module *module)
{
    return ready(module, "child_count") ? module->n_children : 0;
}

tn_module *tn_child(const tn_module *module, int64_t i)
{
    if (!ready(module, "child"))
        return NULL;
    if (i < 0 || i >= module->n_children) {
        TN_FAIL(TN_ERROR_INDEX, "child", "there is no child %" PRId64 ": the module has %" PRId64, i,
                module->n_children);
        return NULL;
    }
    return module->children[i];
}

tn_module *tni_module_copy(const tn_module *module, tn_dtype dtype)
{
    const tni_module_class *type = tni_module_type(module);
    return type->stateless ? tn_object_new(&type->object) : type->copy(module, dtype);
}

tn_module *tn_module_to(const tn_module *module, tn_dtype dtype)
{
    if (!ready(module, "module_to") || tni_module_check_dtype("module_to", dtype))
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_module *copy = tni_module_copy(module, dtype);
    if (copy)
        copy = tn_scope_escape(scope, copy);
    else
        tn_error_context("module_to");
    tn_scope_end(scope);
    return copy;
}
