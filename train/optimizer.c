/* Optimizers: groups of parameters, their options by name, and their state. What a step does to one parameter is an
 * operator of the engine (tenon/step.h). */
#include "optimizer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/extend.h>
#include <tenon/step.h>
#include <tenon/train.h>

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

/* Options by name. */
static const struct {
    const char *name;
    tni_option option;
    unsigned kinds; /* bit k: optimizers of kind k have it */
} names[] = {
    {"lr", TNI_LR, 7},         {"momentum", TNI_MOMENTUM, 1}, {"dampening", TNI_DAMPENING, 1},
    {"nesterov", TNI_NESTEROV, 1}, {"beta1", TNI_BETA1, 6},   {"beta2", TNI_BETA2, 6},
    {"eps", TNI_EPS, 6},       {"amsgrad", TNI_AMSGRAD, 6},   {"weight_decay", TNI_WEIGHT_DECAY, 7},
    {"maximize", TNI_MAXIMIZE, 7},
};

static int find_option(const tn_optimizer *self, const char *function, const char *name)
{
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0 && names[i].kinds >> self->kind & 1)
            return (int)names[i].option;
    if (!name)
        TN_FAIL_NULL(function, 3, "option");
    else
        TN_FAIL(TN_ERROR_NAME, function, "the optimizer has no option '%.60s'", name);
    return -1;
}

static tn_status fail_option(const char *function, const char *name, double value, const char *needed)
{
    char text[32];
    tn_format_double(text, sizeof text, value);
    return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed %s", name, text, needed);
}

static tn_status check_options(const char *function, int kind, const double *o)
{
    static const tni_option from_zero[] = {TNI_LR, TNI_MOMENTUM, TNI_WEIGHT_DECAY, TNI_EPS};
    static const char *const their_names[] = {"lr", "momentum", "weight_decay", "eps"};
    for (int i = 0; i < 4; i++)
        if (!(o[from_zero[i]] >= 0) || isinf(o[from_zero[i]]))
            return fail_option(function, their_names[i], o[from_zero[i]], "a finite number, 0 or more");
    if (kind != TNI_SGD && !(o[TNI_BETA1] >= 0 && o[TNI_BETA1] < 1))
        return fail_option(function, "beta1", o[TNI_BETA1], "0 or more and below 1");
    if (kind != TNI_SGD && !(o[TNI_BETA2] >= 0 && o[TNI_BETA2] < 1))
        return fail_option(function, "beta2", o[TNI_BETA2], "0 or more and below 1");
    if (o[TNI_NESTEROV] != 0 && (o[TNI_MOMENTUM] <= 0 || o[TNI_DAMPENING] != 0))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "nesterov needs momentum, and no dampening");
    return TN_OK;
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
    if (check_parameters(self, function, parameters) || check_options(function, self->kind, options))
        return tn_error_code();
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

static tn_optimizer *make(const char *function, int kind, const tn_list *parameters, const double *options)
{
    tn_optimizer *self = tn_error_code() ? NULL : tn_object_new(&optimizer_class);
    if (!self)
        return NULL;
    self->kind = kind;
    if (add_group(self, function, parameters, options))
        tn_drop(&self);
    return self;
}

static double given(double value, double otherwise)
{
    return value != 0 ? value : otherwise;
}

tn_optimizer *tn_sgd(const tn_list *parameters, const tn_sgd_options *options)
{
    static const tn_sgd_options none;
    const tn_sgd_options *o = options ? options : &none;
    const double all[TNI_OPTIONS] = {[TNI_LR] = given(o->lr, 1e-3), [TNI_MOMENTUM] = o->momentum,
                                     [TNI_DAMPENING] = o->dampening, [TNI_WEIGHT_DECAY] = o->weight_decay,
                                     [TNI_NESTEROV] = o->nesterov, [TNI_MAXIMIZE] = o->maximize};
    return make("sgd", TNI_SGD, parameters, all);
}

static tn_optimizer *make_adam(const char *function, int kind, const tn_list *parameters,
                               const tn_adam_options *options)
{
    static const tn_adam_options none;
    const tn_adam_options *o = options ? options : &none;
    const double all[TNI_OPTIONS] = {
        [TNI_LR] = given(o->lr, 1e-3),         [TNI_BETA1] = given(o->beta1, 0.9),
        [TNI_BETA2] = given(o->beta2, 0.999),  [TNI_EPS] = given(o->eps, 1e-8),
        [TNI_AMSGRAD] = o->amsgrad,            [TNI_MAXIMIZE] = o->maximize,
        [TNI_WEIGHT_DECAY] = given(o->weight_decay, kind == TNI_ADAMW ? 1e-2 : 0)};
    return make(function, kind, parameters, all);
}

tn_optimizer *tn_adam(const tn_list *parameters, const tn_adam_options *options)
{
    return make_adam("adam", TNI_ADAM, parameters, options);
}

tn_optimizer *tn_adamw(const tn_list *parameters, const tn_adam_options *options)
{
    return make_adam("adamw", TNI_ADAMW, parameters, options);
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
        options[which] = value;
        if (check_options(function, self->kind, options))
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
    for (int64_t i = 0; i < self->n_slots; i++)
        if (tn_set_grad(self->slots[i].parameter, NULL))
            return tn_error_code();
    return TN_OK;
}

/* State number `which` of a parameter, zeros of its shape at first. */
static tn_tensor *state_of(tni_slot *slot, int which)
{
    if (!slot->state[which])
        slot->state[which] = tn_object_keep(tn_zeros_like(slot->parameter, TN_DTYPE_NONE, TN_PRESERVE_FORMAT));
    return slot->state[which];
}

static tn_status step_sgd(tni_slot *slot, tn_tensor *grad, const double *o)
{
    const bool momentum = o[TNI_MOMENTUM] != 0, first = !slot->state[0];
    tn_tensor *buffer = momentum ? state_of(slot, 0) : NULL;
    if (momentum && !buffer)
        return tn_error_code();
    const tn_sgd_step_options options = {.lr = o[TNI_LR], .momentum = o[TNI_MOMENTUM], .dampening = o[TNI_DAMPENING],
                                         .weight_decay = o[TNI_WEIGHT_DECAY], .nesterov = o[TNI_NESTEROV] != 0,
                                         .maximize = o[TNI_MAXIMIZE] != 0, .first = first};
    if (tn_sgd_step_(slot->parameter, grad, buffer, &options) && first)
        tn_release(&slot->state[0]); /* it has no value yet */
    return tn_error_code();
}

static tn_status step_adam(tni_slot *slot, tn_tensor *grad, const double *o, bool decoupled)
{
    tn_tensor *average = state_of(slot, 0), *square = average ? state_of(slot, 1) : NULL;
    tn_tensor *largest = square && o[TNI_AMSGRAD] != 0 ? state_of(slot, 2) : NULL;
    if (tn_error_code())
        return tn_error_code();
    const tn_adam_step_options options = {.step = slot->step + 1, .lr = o[TNI_LR], .beta1 = o[TNI_BETA1],
                                          .beta2 = o[TNI_BETA2], .eps = o[TNI_EPS],
                                          .weight_decay = o[TNI_WEIGHT_DECAY], .decoupled = decoupled,
                                          .maximize = o[TNI_MAXIMIZE] != 0};
    return tn_adam_step_(slot->parameter, grad, average, square, largest, &options);
}

tn_status tn_step(tn_optimizer *self)
{
    if (!is_there(self, "step"))
        return tn_error_code();
    tn_grad_mode mode = tn_no_grad();
    for (int64_t i = 0; i < self->n_slots && !tn_error_code(); i++) {
        tni_slot *slot = &self->slots[i];
        tn_tensor *grad = tn_grad_of(slot->parameter);
        const double *options = self->groups[slot->group].option;
        if (!grad)
            continue;
        if (self->kind == TNI_SGD)
            step_sgd(slot, grad, options);
        else
            step_adam(slot, grad, options, self->kind == TNI_ADAMW);
        slot->step += !tn_error_code();
    }
    tn_grad_mode_restore(mode);
    return tn_error_code();
}
