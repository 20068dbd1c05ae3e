/* A module as text: what PyTorch's print(module) shows.
 *
 *     Sequential(
 *       (0): Linear(in_features=2, out_features=16, bias=True)
 *       (1): ReLU()
 *     ) */
#include <stdio.h>
#include <string.h>

#include "module.h"

typedef struct printing {
    tn_text_writer write;
    void *context;
} printing;

static bool put(const printing *to, const char *text)
{
    if (to->write(to->context, text, strlen(text)) == 0)
        return true;
    TN_FAIL(TN_ERROR_FILE, "module_write", "the text was not taken");
    return false;
}

static bool indent(const printing *to, int depth)
{
    for (int i = 0; i < depth; i++)
        if (!put(to, "  "))
            return false;
    return true;
}

/* "Class(settings)", or a line for each child. */
static bool write_module(const printing *to, const tn_module *module, int depth)
{
    const tni_module_class *type = tni_module_type(module);
    char settings[320] = "";
    if (type->settings)
        type->settings(module, settings, sizeof settings);
    if (!put(to, tni_module_shown_name(module)) || !put(to, "(") || !put(to, settings))
        return false;
    for (int64_t i = 0; i < module->n_children; i++) {
        const tni_child *child = &module->children[i];
        if (!put(to, i == 0 ? "\n" : "") || !indent(to, depth + 1) || !put(to, "(") || !put(to, child->name) ||
            !put(to, "): ") || !write_module(to, child->module, depth + 1) || !put(to, "\n"))
            return false;
    }
    return (module->n_children == 0 || indent(to, depth)) && put(to, ")");
}

tn_status tn_module_write(const tn_module *module, tn_text_writer write, void *context)
{
    const printing to = {write, context};
    if (!tni_module_ready(module, "module_write"))
        return tn_error_code();
    if (!write)
        return TN_FAIL_NULL("module_write", 2, "write");
    write_module(&to, module, 0);
    return tn_error_code();
}
