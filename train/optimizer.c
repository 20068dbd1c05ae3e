/* Optimizers: groups of parameters, their options by name, and the loop of a step over all parameters. */
#include "optimizer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>

static void destroy(void *object)
{
    tn_optimizer *self = object;
    for (int64_t i = 0; i < self->n_slots; i++) {
        tn_release(&self->slots[i].parameter);
        for (int s = 0; s < TNI_STATES; s++)
            tn_release(&self->slots[i].state[s]);
    }
    tn_deallocate(self->slots, (size_t)self->slot_capacity * sizeof *self->slots);
    tn_deallocate(self->groups, (size_t)self->group_capacity * sizeof *self->groups);
}

static const tn_object_class optimizer_class = {
    .name = "optimizer", .bytes = sizeof(tn_optimizer), .destroy = destroy};

static int find_option(const tn_optimizer *self, const char *function, const char *name)
{
    const tni_optimizer_kind *kind = self->kind;
    for (int i = 0; name && i < kind->n_options; i++)
        if (strcmp(kind->options[i].name, name) == 0)
            return i;
    if (!name)
        TN_FAIL_NULL(function, 3, "option");
    else
        TN_FAIL(TN_ERROR_NAME, function, "the optimizer has no option '%.60s'", name);
    return -1;
}

static tn_status check_parameters(const tn_optimizer *self, const char *function, const tn_list *parameters)
{
    if (tn_error_code())
        return tn_error_code();
    if (!parameters)
        return TN_FAIL_NULL(function, 1, "parameters");
    int64_t n = tn_list_size(parameters);
    tn_tensor *const *tensors = tn_list_tensors(parameters);
    if (n == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "no parameters, needed at least one");
    for (int64_t i = 0; i < n; i++) {
        if (!tn_is_leaf(tensors[i]))
            return tn_error_code() ? tn_error_code()
                                   : TN_FAIL(TN_ERROR_NOT_LEAF, function,
                                             "parameter %" PRId64 " is a recorded result, needed a leaf", i);
        for (int64_t j = 0; j < i; j++)
            if (tensors[j] == tensors[i])
                return TN_FAIL(TN_ERROR_ARGUMENT, function,
                               "parameters %" PRId64 " and %" PRId64 " are the same tensor, needed each once", j, i);
        for (int64_t j = 0; j < self->n_slots; j++)
            if (self->slots[j].parameter == tensors[i])
                return TN_FAIL(TN_ERROR_ARGUMENT, function, "parameter %" PRId64 " is in another group already", i);
    }
    return TN_OK;
}

/* An array with room for `more`; the old one when it has it, NULL with an error. */
static void *with_room(const char *function, void *old, int64_t n, int64_t *capacity, int64_t more, size_t bytes)
{
    if (n + more <= *capacity)
        return old;
    int64_t larger = 2 * *capacity > n + more ? 2 * *capacity : n + more;
    void *block = tn_allocate((size_t)larger * bytes, function);
    if (!block)
        return NULL;
    if (n > 0)
        memcpy(block, old, (size_t)n * bytes);
    tn_deallocate(old, (size_t)*capacity * bytes);
    *capacity = larger;
    return block;
}

static tn_status add_group(tn_optimizer *self, const char *function, const tn_list *parameters, const double *options)
{
    if (check_parameters(self, function, parameters) || tni_optimizer_check_options(function, self->kind, options))
        return tn_error_code();
    if (self->kind->minimise && self->n_groups > 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s has one group for all its parameters", self->kind->name);
    int64_t n = tn_list_size(parameters);
    tni_slot *slots = with_room(function, self->slots, self->n_slots, &self->slot_capacity, n, sizeof *slots);
    if (!slots)
        return tn_error_code();
    self->slots = slots;
    tni_group *groups = with_room(function, self->groups, self->n_groups, &self->group_capacity, 1, sizeof *groups);
    if (!groups)
        return tn_error_code();
    self->groups = groups;
    for (int64_t i = 0; i < n; i++)
        self->slots[self->n_slots + i] = (tni_slot){.parameter = tn_retain(tn_list_get(parameters, i)),
                                                    .group = self->n_groups};
    self->n_slots += n;
    memcpy(self->groups[self->n_groups++].option, options, sizeof self->groups->option);
    return TN_OK;
}

tn_optimizer *tni_optimizer_make(const tni_optimizer_kind *kind, const tn_list *parameters, const double *options)
{
    tn_optimizer *self = tn_error_code() ? NULL : tn_object_new(&optimizer_class);
    tn_error_rename(kind->name, NULL);
    if (!self)
        return NULL;
    self->kind = kind;
    if (add_group(self, kind->name, parameters, options))
        tn_drop(&self);
    return self;
}

double tni_option_given(const tni_optimizer_kind *kind, int option, double value)
{
    return value != 0 ? value : kind->options[option].otherwise;
}

static bool is_there(const tn_optimizer *self, const char *function)
{
    if (!tn_error_code() && !self)
        TN_FAIL_NULL(function, 1, "optimizer");
    return !tn_error_code();
}

tn_status tn_optimizer_add_group(tn_optimizer *self, const tn_list *parameters)
{
    if (!is_there(self, "optimizer_add_group"))
        return tn_error_code();
    double options[TNI_OPTIONS];
    memcpy(options, self->groups[0].option, sizeof options);
    return add_group(self, "optimizer_add_group", parameters, options);
}

const char *tn_optimizer_name(const tn_optimizer *self)
{
    return is_there(self, "optimizer_name") ? self->kind->name : NULL;
}

int64_t tn_optimizer_group_count(const tn_optimizer *self)
{
    return is_there(self, "optimizer_group_count") ? self->n_groups : 0;
}

static bool has_group(const tn_optimizer *self, const char *function, int64_t group)
{
    if (group >= -1 && group < self->n_groups)
        return true;
    TN_FAIL(TN_ERROR_INDEX, function, "there is no group %" PRId64 ": the optimizer has %" PRId64, group,
            self->n_groups);
    return false;
}

tn_status tn_optimizer_set(tn_optimizer *self, int64_t group, const char *option, double value)
{
    const char *function = "optimizer_set";
    if (!is_there(self, function) || !has_group(self, function, group))
        return tn_error_code();
    int which = find_option(self, function, option);
    if (which < 0)
        return tn_error_code();
    for (int64_t g = 0; g < self->n_groups; g++) {
        double options[TNI_OPTIONS];
        if (group >= 0 && g != group)
            continue;
        memcpy(options, self->groups[g].option, sizeof options);
        options[TNI_LR] = fabs(options[TNI_LR]); /* a schedule may have brought it below 0 */
        options[which] = value;
        if (tni_optimizer_check_options(function, self->kind, options))
            return tn_error_code();
    }
    for (int64_t g = 0; g < self->n_groups; g++)
        if (group < 0 || g == group)
            self->groups[g].option[which] = value;
    return TN_OK;
}

double tn_optimizer_get(const tn_optimizer *self, int64_t group, const char *option)
{
    const char *function = "optimizer_get";
    if (!is_there(self, function) || !has_group(self, function, group))
        return (double)NAN;
    int which = find_option(self, function, option);
    return which < 0 ? (double)NAN : self->groups[group < 0 ? 0 : group].option[which];
}

tn_status tn_zero_grad(tn_optimizer *self)
{
    if (!is_there(self, "zero_grad"))
        return tn_error_code();
    for (int64_t i = 0; i < self->n_slots; i++) /* all at once: a net among many comes from memory */
        __builtin_prefetch(tn_grad_of(self->slots[i].parameter));
    for (int64_t i = 0; i < self->n_slots; i++)
        if (tn_set_grad(self->slots[i].parameter, NULL))
            return tn_error_code();
    return TN_OK;
}

/* Of the states that a step needs those that no step has made yet. */
static unsigned missing_states(const tni_slot *slot, unsigned needs)
{
    unsigned missing = 0;
    for (int s = 0; needs >> s; s++)
        if (needs >> s & 1 && !slot->state[s])
            missing |= 1u << s;
    return missing;
}

static tn_status make_states(tni_slot *slot, unsigned missing)
{
    for (int s = 0; missing >> s && !tn_error_code(); s++) {
        if (!(missing >> s & 1))
            continue;
        slot->state[s] = tn_object_keep(tn_zeros_like(slot->parameter, TN_DTYPE_NONE, TN_PRESERVE_FORMAT));
        slot->fresh |= 1u << s;
    }
    tn_error_rename("step", NULL);
    return tn_error_code();
}

/* After an error: what was made for this step goes. */
static tn_status forget_fresh_states(tn_optimizer *self)
{
    for (int64_t i = 0; i < self->n_slots; i++) {
        tni_slot *slot = &self->slots[i];
        for (int s = 0; slot->fresh >> s; s++)
            if (slot->fresh >> s & 1)
                tn_release(&slot->state[s]);
        slot->fresh = 0;
    }
    return tn_error_code();
}

/* Takes all the memory that the step needs before it moves the first parameter: without it none moves. */
static tn_status prepare(tn_optimizer *self)
{
    for (int64_t i = 0; i < self->n_slots; i++) {
        tni_slot *slot = &self->slots[i];
        const unsigned missing = missing_states(slot, self->kind->needs(self->groups[slot->group].option));
        if (missing && tn_grad_of(slot->parameter) && make_states(slot, missing))
            return forget_fresh_states(self);
    }
    return TN_OK;
}

static tn_status step_all(tn_optimizer *self)
{
    const tni_optimizer_kind *kind = self->kind;
    if (prepare(self))
        return tn_error_code();
    for (int64_t i = 0; i < self->n_slots; i++) {
        tni_slot *slot = &self->slots[i];
        tn_tensor *grad = tn_grad_of(slot->parameter);
        if (!grad)
            continue;
        if (kind->step(slot, grad, self->groups[slot->group].option))
            return forget_fresh_states(self);
        slot->step += kind->counts_steps;
        slot->fresh = 0;
    }
    return tn_error_code();
}

tn_status tn_step(tn_optimizer *self)
{
    if (!is_there(self, "step"))
        return tn_error_code();
    if (!self->kind->step)
        return TN_FAIL(TN_ERROR_ARGUMENT, "step", "%s asks for the loss itself, needed step_closure", self->kind->name);
    tn_grad_mode mode = tn_no_grad();
    tn_status status = step_all(self);
    tn_grad_mode_restore(mode);
    return status;
}

double tni_closure_call(const tni_closure *closure)
{
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_enable_grad();
    tn_tensor *loss = closure->function(closure->context);
    tn_grad_mode_restore(mode);
    if (!loss && !tn_error_code())
        TN_FAIL(TN_ERROR_NULL, "step_closure", "the closure returned NULL, needed the loss");
    const double value = tn_error_code() ? (double)NAN : tn_item(loss);
    tn_scope_end(scope);
    return value;
}

double tn_step_closure(tn_optimizer *self, tn_tensor *(*closure)(void *context), void *context)
{
    if (!is_there(self, "step_closure"))
        return (double)NAN;
    if (!closure) {
        TN_FAIL_NULL("step_closure", 2, "closure");
        return (double)NAN;
    }
    const tni_closure call = {closure, context};
    tn_grad_mode mode = tn_no_grad();
    double loss = self->kind->minimise ? self->kind->minimise(self, &call) : tni_closure_call(&call);
    if (!self->kind->minimise && !tn_error_code())
        step_all(self);
    tn_grad_mode_restore(mode);
    return tn_error_code() ? (double)NAN : loss;
}
