/* Parameters and buffers of a tree of modules: by number, by name ("0.weight"), all of them. A module's own come before
 * its children's, in the order they were registered. A tensor may stand in several places: it has a name in each, as in
 * PyTorch's state_dict, and is one among the parameters, as in parameters(). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>

#include "module.h"

/* Which tensors a walk is about. */
typedef enum kind { PARAMETERS, BUFFERS } kind;

static inline bool counts(const tni_parameter *p, kind which)
{
    return p->tensor && p->buffer == (which == BUFFERS);
}

/* The first place of a tensor, in a walk that ends there. */
typedef struct search {
    const tn_tensor *tensor;
    const tni_parameter *place;
} search;

static bool look_for(tn_module *module, void *context)
{
    search *it = context;
    for (int i = 0; i < module->n_parameters && !it->place; i++)
        if (counts(&module->parameters[i], PARAMETERS) && module->parameters[i].tensor == it->tensor)
            it->place = &module->parameters[i];
    return !it->place;
}

/* Whether no place before this one has the same tensor: nobody else may hold it, or else the walk tells. */
static bool is_first(tn_module *root, const tni_parameter *place)
{
    search it = {.tensor = place->tensor};
    if (tn_use_count(place->tensor) > 1)
        tni_module_each(root, look_for, &it);
    return !it.place || it.place == place;
}

typedef struct sum {
    tn_module *root;
    kind which;
    int64_t count, numel; /* numel: of distinct parameters */
} sum;

static bool add_up(tn_module *module, void *context)
{
    sum *total = context;
    for (int i = 0; i < module->n_parameters; i++)
        if (counts(&module->parameters[i], total->which)) {
            total->count++;
            if (total->which == PARAMETERS && is_first(total->root, &module->parameters[i]))
                total->numel += tn_numel(module->parameters[i].tensor);
        }
    return true;
}

static sum sum_of(const tn_module *module, kind which, const char *function)
{
    sum total = {.root = (tn_module *)module, .which = which};
    if (tni_module_ready(module, function))
        tni_module_each((tn_module *)module, add_up, &total);
    return total;
}

int64_t tn_parameter_count(const tn_module *module)
{
    return sum_of(module, PARAMETERS, "parameter_count").count;
}

int64_t tn_parameter_numel(const tn_module *module)
{
    return sum_of(module, PARAMETERS, "parameter_numel").numel;
}

int64_t tn_buffer_count(const tn_module *module)
{
    return sum_of(module, BUFFERS, "buffer_count").count;
}

typedef struct collection {
    tn_module *root;
    tn_tensor **tensors;
    int64_t n;
} collection;

static bool collect(tn_module *module, void *context)
{
    collection *all = context;
    for (int i = 0; i < module->n_parameters; i++)
        if (counts(&module->parameters[i], PARAMETERS) && is_first(all->root, &module->parameters[i]))
            all->tensors[all->n++] = module->parameters[i].tensor;
    return true;
}

tn_list *tn_parameters(const tn_module *module)
{
    int64_t n = tn_parameter_count(module);
    if (tn_error_code())
        return NULL;
    const size_t bytes = (size_t)(n > 0 ? n : 1) * sizeof(tn_tensor *);
    collection all = {.root = (tn_module *)module, .tensors = tn_allocate(bytes, "parameters")};
    if (!all.tensors)
        return NULL;
    tni_module_each((tn_module *)module, collect, &all);
    tn_list *list = tn_list_of(all.tensors, all.n);
    tn_error_rename("parameters", NULL);
    tn_deallocate(all.tensors, bytes);
    return list;
}

/* Where a name is written: cut to size, its whole length counted. */
typedef struct path {
    char *buf;
    size_t size;
    int used;
} path;

static int append(const path *at, const char *name, const char *end)
{
    size_t from = at->buf && (size_t)at->used < at->size ? (size_t)at->used : at->size;
    return snprintf(at->buf ? at->buf + from : NULL, at->buf ? at->size - from : 0, "%s%s", name, end);
}

/* Tensor number *left of module and what is below it, or NULL with *left less by their count. */
static tn_tensor *find_number(const tn_module *module, kind which, int64_t *left, path at, int *length)
{
    for (int i = 0; i < module->n_parameters; i++)
        if (counts(&module->parameters[i], which) && (*left)-- == 0) {
            *length = at.used + append(&at, module->parameters[i].name, "");
            return module->parameters[i].tensor;
        }
    for (int64_t i = 0; i < module->n_children; i++) {
        path below = at;
        below.used += append(&at, module->children[i].name, ".");
        tn_tensor *found = find_number(module->children[i].module, which, left, below, length);
        if (found)
            return found;
    }
    return NULL;
}

static tn_tensor *numbered(const tn_module *module, kind which, int64_t i, char *buf, size_t size, int *length,
                           const char *function)
{
    int64_t left = i;
    if (!tni_module_ready(module, function))
        return NULL;
    tn_tensor *found = i < 0 ? NULL : find_number(module, which, &left, (path){buf, size, 0}, length);
    if (!found)
        TN_FAIL(TN_ERROR_INDEX, function, "there is no %s %" PRId64 ": the module has %" PRId64,
                which == BUFFERS ? "buffer" : "parameter", i, sum_of(module, which, function).count);
    return found;
}

tn_tensor *tn_parameter(const tn_module *module, int64_t i)
{
    int length;
    return numbered(module, PARAMETERS, i, NULL, 0, &length, "parameter");
}

tn_tensor *tn_buffer(const tn_module *module, int64_t i)
{
    int length;
    return numbered(module, BUFFERS, i, NULL, 0, &length, "buffer");
}

static int name_of(const tn_module *module, kind which, int64_t i, char *buf, size_t size, const char *function)
{
    int length = 0;
    if (!buf)
        size = 0;
    if (!numbered(module, which, i, size ? buf : NULL, size, &length, function) && size)
        buf[0] = '\0';
    return length;
}

int tn_parameter_name(const tn_module *module, int64_t i, char *buf, size_t size)
{
    return name_of(module, PARAMETERS, i, buf, size, "parameter_name");
}

int tn_buffer_name(const tn_module *module, int64_t i, char *buf, size_t size)
{
    return name_of(module, BUFFERS, i, buf, size, "buffer_name");
}

static tn_tensor *find_name(const tn_module *module, kind which, const char *name)
{
    for (int i = 0; i < module->n_parameters; i++)
        if (counts(&module->parameters[i], which) && strcmp(name, module->parameters[i].name) == 0)
            return module->parameters[i].tensor;
    const char *dot = strchr(name, '.');
    for (int64_t i = 0; dot && i < module->n_children; i++) {
        const char *child = module->children[i].name;
        size_t length = strlen(child);
        if (length == (size_t)(dot - name) && memcmp(child, name, length) == 0)
            return find_name(module->children[i].module, which, dot + 1);
    }
    return NULL;
}

static tn_tensor *named(const tn_module *module, kind which, const char *name, const char *function)
{
    if (!tni_module_ready(module, function))
        return NULL;
    if (!name) {
        TN_FAIL_NULL(function, 2, "name");
        return NULL;
    }
    tn_tensor *found = find_name(module, which, name);
    if (!found)
        TN_FAIL(TN_ERROR_NAME, function, "%s has no %s '%.100s'", tni_module_shown_name(module),
                which == BUFFERS ? "buffer" : "parameter", name);
    return found;
}

tn_tensor *tn_named_parameter(const tn_module *module, const char *name)
{
    return named(module, PARAMETERS, name, "named_parameter");
}

tn_tensor *tn_named_buffer(const tn_module *module, const char *name)
{
    return named(module, BUFFERS, name, "named_buffer");
}
