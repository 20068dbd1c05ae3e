/* Modules in another dtype or on another device: copied, or moved where they stand.
 *
 * A change of dtype gives a tensor other data, so whoever holds it (an optimizer, a second place) sees it changed. A
 * device needs other tensors: each is made once, so that places that shared one share the new one. Whatever is needed
 * is made before the first change; a move that fails has changed nothing (torch.nn.Module.to, to_empty). */
#include <tenon/autograd.h>

#include "module.h"

typedef enum kind { DTYPE, DEVICE, EMPTY } kind;

typedef struct target {
    const char *function;
    kind kind;
    tn_dtype dtype;
    tn_device device;
} target;

/* What becomes of one tensor; all in the innermost scope. */
typedef struct change {
    tni_parameter *place;
    tn_tensor *fresh;
    tn_tensor *gradient;           /* its new one; NULL: none */
    tn_tensor *data, *old_gradient; /* DTYPE: as it was */
} change;

typedef struct move {
    target to;
    change *changes;
    int64_t n;
} move;

/* x's values there, or x itself where nothing is to be done. Not recorded. */
static tn_tensor *moved(tn_tensor *x, const target *to)
{
    const tn_dtype dtype = tn_tensor_dtype(x);
    tn_tensor *values = tn_detach(x);
    switch (to->kind) {
    case DTYPE:
        return !tn_is_floating_point(dtype) || dtype == to->dtype ? x : tn_to(values, to->dtype);
    case DEVICE:
        return tn_tensor_device(x).type == to->device.type ? x : tn_to_device(values, to->device);
    default:
        return tn_empty_on(tn_sizes(x), tn_ndim(x), dtype, to->device);
    }
}

/* The change of that tensor in an earlier place, or NULL. */
static const change *earlier(const move *all, const tn_tensor *x)
{
    for (int64_t i = 0; tn_use_count(x) > 1 && i < all->n; i++)
        if (all->changes[i].place->tensor == x)
            return &all->changes[i];
    return NULL;
}

static bool plan_tensor(move *all, tni_parameter *place)
{
    tn_tensor *x = place->tensor, *gradient = tn_grad_of(x);
    const change *same = earlier(all, x);
    change c = {.place = place, .data = tn_detach(x), .old_gradient = gradient ? tn_adopt(tn_retain(gradient)) : NULL};
    if (same) {
        c = *same;
        c.place = place;
        if (all->to.kind == DTYPE)
            return true;
    } else {
        c.fresh = moved(x, &all->to);
        if (c.fresh == x && !tn_error_code())
            return true;
        if (gradient && all->to.kind != EMPTY)
            c.gradient = moved(gradient, &all->to);
        if (all->to.kind != DTYPE && tn_requires_grad(x) && !tn_requires_grad_(c.fresh, true) && c.gradient)
            tn_set_grad(c.fresh, c.gradient);
    }
    if (tn_error_code()) {
        tn_error_rename(all->to.function, place->name);
        return false;
    }
    all->changes[all->n++] = c;
    return true;
}

static bool plan(tn_module *module, void *context)
{
    for (int i = 0; i < module->n_parameters; i++)
        if (module->parameters[i].tensor && !plan_tensor(context, &module->parameters[i]))
            return false;
    return true;
}

/* Puts data and gradients back that were given before an error. */
static void undo(const move *all, int64_t n)
{
    tn_error pending;
    tn_error_push(&pending);
    for (int64_t i = 0; i < n; i++) {
        const change *c = &all->changes[i];
        tn_set_data(c->place->tensor, c->data);
        tn_set_grad(c->place->tensor, c->old_gradient);
    }
    tn_error_pop(&pending);
}

static void commit(const move *all)
{
    for (int64_t i = 0; i < all->n; i++) {
        const change *c = &all->changes[i];
        if (all->to.kind != DTYPE) {
            tn_release(&c->place->tensor);
            c->place->tensor = tn_retain(c->fresh);
        } else if (tn_set_data(c->place->tensor, c->fresh) ||
                   (c->gradient && tn_set_grad(c->place->tensor, c->gradient))) {
            undo(all, i + 1);
            return;
        }
    }
}

static tn_status move_module(tn_module *module, const target *to)
{
    if (!tni_module_ready(module, to->function))
        return tn_error_code();
    const int64_t n = tn_parameter_count(module) + tn_buffer_count(module);
    const size_t bytes = (size_t)(n > 0 ? n : 1) * sizeof(change);
    move all = {.to = *to, .changes = tn_allocate(bytes, to->function)};
    if (!all.changes)
        return tn_error_code();
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    if (tni_module_each(module, plan, &all))
        commit(&all);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    tn_deallocate(all.changes, bytes);
    if (tn_error_code())
        tn_error_rename(to->function, NULL);
    return tn_error_code();
}

tn_status tn_module_to_(tn_module *module, tn_dtype dtype)
{
    const char *function = "module_to_";
    if (tn_error_code() || (module && tni_module_check_dtype(function, dtype)))
        return tn_error_code();
    return move_module(module, &(target){.function = function, .kind = DTYPE, .dtype = dtype});
}

/* Whether the device is there, and for a move of data whether it can be reached. */
static tn_status check_device(const char *function, const tn_module *module, tn_device device)
{
    tn_scope scope = tn_scope_begin();
    if (tni_module_ready(module, function) && !tn_empty_on(NULL, 0, TN_FLOAT32, device))
        tn_error_rename(function, NULL);
    tn_scope_end(scope);
    return tn_error_code();
}

tn_status tn_module_to_device_(tn_module *module, tn_device device)
{
    const target to = {.function = "module_to_device_", .kind = DEVICE, .device = device};
    return check_device(to.function, module, device) ? tn_error_code() : move_module(module, &to);
}

tn_status tn_module_to_empty_(tn_module *module, tn_device device)
{
    const target to = {.function = "module_to_empty_", .kind = EMPTY, .device = device};
    return check_device(to.function, module, device) ? tn_error_code() : move_module(module, &to);
}

/* The same kind of leaf in memory of its own. */
static tn_tensor *copied(tn_tensor *from, const target *to)
{
    tn_tensor *copy = moved(from, to);
    if (copy == from)
        copy = tn_clone(tn_detach(from));
    if (copy && tn_requires_grad(from))
        tn_requires_grad_(copy, true);
    return copy;
}

static tn_module *copy_module(const tn_module *module, const target *to)
{
    const tni_module_class *type = tni_module_type(module);
    tn_module *copy = type->bare ? type->bare(module) : tn_object_new(&type->object);
    if (!copy)
        return NULL;
    copy->evaluating = module->evaluating;
    for (int i = 0; i < module->n_parameters && !tn_error_code(); i++) {
        const tni_parameter *p = &module->parameters[i];
        tn_tensor *tensor = p->tensor ? copied(p->tensor, to) : NULL;
        if (!tn_error_code())
            tni_module_put(to->function, copy, p->name, tensor, p->buffer);
    }
    for (int64_t i = 0; i < module->n_children && !tn_error_code(); i++) {
        tn_module *child = copy_module(module->children[i].module, to);
        if (child)
            tni_module_put_child(to->function, copy, module->children[i].name, child);
    }
    return tn_error_code() ? NULL : copy;
}

static tn_module *copy_to(const tn_module *module, const target *to)
{
    tn_scope scope = tn_scope_begin();
    tn_module *copy = copy_module(module, to);
    if (copy)
        copy = tn_scope_escape(scope, copy);
    else
        tn_error_rename(to->function, NULL);
    tn_scope_end(scope);
    return copy;
}

tn_module *tn_module_to(const tn_module *module, tn_dtype dtype)
{
    const target to = {.function = "module_to", .kind = DTYPE, .dtype = dtype};
    if (!tni_module_ready(module, to.function) || tni_module_check_dtype(to.function, dtype))
        return NULL;
    return copy_to(module, &to);
}

tn_module *tn_module_to_device(const tn_module *module, tn_device device)
{
    const target to = {.function = "module_to_device", .kind = DEVICE, .device = device};
    return check_device(to.function, module, device) ? NULL : copy_to(module, &to);
}

static bool copies(tn_module *module, void *context)
{
    (void)context;
    return tni_module_copies(module);
}

bool tni_module_can_copy(const tn_module *module)
{
    return tni_module_each((tn_module *)module, copies, NULL);
}
