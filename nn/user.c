/* Modules that users define: a name, a forward, and what was registered on them. */
#include <string.h>
#include <tenon/autograd.h>

#include "module.h"

typedef struct user_module {
    tn_module module;
    tn_module_kind kind;
    void *context;
} user_module;

static const user_module *of(const tn_module *module)
{
    return (const user_module *)(const void *)module;
}

/* What the user's function gave, out of its scope. */
static tn_tensor *result(const user_module *self, tn_scope scope, tn_tensor *y, const tn_tensor *x,
                         const tn_tensor *target)
{
    if (!y && !tn_error_code())
        TN_FAIL(TN_ERROR_STATE, self->kind.name, "forward gave no tensor and raised no error");
    if (tn_error_code())
        y = NULL;
    else if (y == x || y == target)
        tn_adopt(tn_retain(y));
    if (y)
        y = tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    const user_module *self = of(module);
    if (!self->kind.forward)
        return tni_loss_forward(module, x, place);
    tn_scope scope = tn_scope_begin();
    return result(self, scope, self->kind.forward(module, x, self->context), x, NULL);
}

static tn_tensor *loss(tn_module *module, tn_tensor *input, tn_tensor *target)
{
    const user_module *self = of(module);
    if (!self->kind.forward_loss) {
        TN_FAIL(TN_ERROR_ARGUMENT, "forward_loss", "%s is no loss, needed one, or tn_forward", self->kind.name);
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    return result(self, scope, self->kind.forward_loss(module, input, target, self->context), input, target);
}

static void destroy(void *object)
{
    user_module *self = object;
    if (self->kind.destroy)
        self->kind.destroy(self->context);
    tni_module_destroy(object);
}

static const char *name(const tn_module *module)
{
    return of(module)->kind.name;
}

static tn_module *bare(const tn_module *module)
{
    TN_FAIL(TN_ERROR_NOT_IMPLEMENTED, "module_to", "%s is a module of the user's, which is not copied: needed "
            "tn_module_to_ and its kin, which move it where it stands", name(module));
    return NULL;
}

static const tni_module_class user_class = {
    .object = {.name = "Module", .bytes = sizeof(user_module), .destroy = destroy},
    .forward = forward,
    .loss = loss,
    .bare = bare,
    .name = name,
};

bool tni_module_copies(const tn_module *module)
{
    return tni_module_type(module) != &user_class;
}

tn_module *tn_module_new(const tn_module_kind *kind, void *context)
{
    const char *missing = !kind                                    ? "kind"
                          : !kind->name                            ? "kind.name"
                          : !kind->forward && !kind->forward_loss ? "kind.forward"
                                                                   : NULL;
    if (tn_error_code())
        return NULL;
    if (missing) {
        TN_FAIL_NULL("module_new", 1, missing);
        return NULL;
    }
    user_module *self = tn_object_new(&user_class.object);
    if (!self)
        return NULL;
    self->kind = *kind;
    self->context = context;
    return &self->module;
}

void *tn_module_context(const tn_module *module)
{
    if (!tni_module_ready(module, "module_context"))
        return NULL;
    return tni_module_type(module) == &user_class ? of(module)->context : NULL;
}

/* Only these take registrations: the others know what they have. */
static tn_status check_registration(const char *function, const tn_module *module, const void *what, const char *word)
{
    if (!tni_module_ready(module, function))
        return tn_error_code();
    if (!what)
        return TN_FAIL_NULL(function, 3, word);
    if (tni_module_type(module) != &user_class)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the module is a %s, needed one of tn_module_new",
                       tni_module_shown_name(module));
    return TN_OK;
}

tn_status tn_register_parameter(tn_module *module, const char *parameter_name, tn_tensor *tensor)
{
    const char *function = "register_parameter";
    if (check_registration(function, module, tensor, "tensor"))
        return tn_error_code();
    if (!tn_is_leaf(tensor))
        return TN_FAIL(TN_ERROR_NOT_LEAF, function, "'%.60s' is a recorded result, needed a leaf", parameter_name);
    if (tn_requires_grad_(tensor, true))
        return tn_error_code();
    return tni_module_put(function, module, parameter_name, tensor, false);
}

tn_status tn_register_buffer(tn_module *module, const char *buffer_name, tn_tensor *tensor)
{
    if (check_registration("register_buffer", module, tensor, "tensor"))
        return tn_error_code();
    return tni_module_put("register_buffer", module, buffer_name, tensor, true);
}

tn_status tn_register_module(tn_module *module, const char *child_name, tn_module *child)
{
    if (check_registration("register_module", module, child, "child"))
        return tn_error_code();
    return tni_module_put_child("register_module", module, child_name, child);
}
