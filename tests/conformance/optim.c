/* Optimizers in recorded programs: the statements optimizer, step, zero_grad and set_option. */
#include <string.h>

#include "conformance/replay.h"

static const char *word_of(const json_t *statement, size_t i)
{
    const char *text = json_string_value(json_array_get(statement, i));
    return text ? text : "";
}

static tn_optimizer *find_optimizer(replay *r, const char *name)
{
    for (int i = r->n_optimizers - 1; i >= 0; i--)
        if (strcmp(r->optimizers[i].name, name) == 0)
            return r->optimizers[i].optimizer;
    TN_FAIL(TN_ERROR_NAME, "replay", "there is no optimizer %.60s", name);
    return NULL;
}

/* An option of a group, or of all; betas are two. */
static double option(const json_t *group, const json_t *all, const char *name, double otherwise)
{
    const bool beta = strncmp(name, "beta", 4) == 0;
    const json_t *value = json_object_get(group, beta ? "betas" : name);
    value = value ? value : json_object_get(all, beta ? "betas" : name);
    if (beta)
        value = json_array_get(value, name[4] == '2');
    return json_is_boolean(value) ? json_is_true(value) : json_is_number(value) ? json_number_value(value) : otherwise;
}

/* The parameters of a group, which is a name or an object that lists some. */
static tn_list *parameters_of(const replay *r, const json_t *groups, size_t from, size_t n)
{
    tn_tensor *tensors[64];
    int64_t count = 0;
    for (size_t g = from; g < from + n; g++) {
        const json_t *group = json_array_get(groups, g), *names = json_object_get(group, "params");
        if (json_is_string(group))
            tensors[count++] = replay_find(r, json_string_value(group));
        for (size_t i = 0; i < json_array_size(names) && count < 64; i++)
            tensors[count++] = replay_find(r, word_of(names, i));
    }
    return tn_list_of(tensors, count);
}

static tn_optimizer *make(const char *kind, const tn_list *parameters, const json_t *group, const json_t *all)
{
    if (strcmp(kind, "SGD") == 0) {
        const tn_sgd_options o = {option(group, all, "lr", 0), option(group, all, "momentum", 0),
                                  option(group, all, "dampening", 0), option(group, all, "weight_decay", 0),
                                  option(group, all, "nesterov", 0) != 0, option(group, all, "maximize", 0) != 0};
        return tn_sgd(parameters, &o);
    }
    const tn_adam_options o = {option(group, all, "lr", 0), option(group, all, "beta1", 0),
                               option(group, all, "beta2", 0), option(group, all, "eps", 0),
                               option(group, all, "weight_decay", 0), option(group, all, "amsgrad", 0) != 0,
                               option(group, all, "maximize", 0) != 0};
    tn_optimizer *adam = strcmp(kind, "AdamW") == 0 ? tn_adamw(parameters, &o) : tn_adam(parameters, &o);
    if (adam && option(group, all, "weight_decay", -1) == 0) /* asked for by name: no default */
        tn_optimizer_set(adam, 0, "weight_decay", 0);
    return adam;
}

static void run_optimizer(replay *r, const json_t *s)
{
    const json_t *groups = json_array_get(s, 3), *all = json_array_get(s, 4), *key_value;
    const size_t n = json_array_size(groups);
    const bool plain = n == 0 || json_is_string(json_array_get(groups, 0));
    const json_t *first = plain ? NULL : json_array_get(groups, 0);
    tn_list *parameters = parameters_of(r, groups, 0, plain ? n : 1);
    tn_optimizer *made = parameters ? make(word_of(s, 2), parameters, first, all) : NULL;
    for (size_t g = 1; made && !plain && g < n; g++) {
        const char *key;
        tn_optimizer_add_group(made, parameters_of(r, groups, g, 1));
        json_object_foreach(json_array_get(groups, g), key, key_value)
            if (strcmp(key, "params") != 0)
                tn_optimizer_set(made, (int64_t)g, key, json_number_value(key_value));
    }
    if (!made || tn_error_code())
        return;
    if (r->n_optimizers == OPTIMIZERS) {
        TN_FAIL(TN_ERROR_ARGUMENT, "replay", "more than %d optimizers", OPTIMIZERS);
        return;
    }
    r->optimizers[r->n_optimizers].name = word_of(s, 1);
    r->optimizers[r->n_optimizers++].optimizer = made;
}

bool optim_statement(replay *r, const json_t *s)
{
    const char *kind = word_of(s, 0);
    if (strcmp(kind, "optimizer") == 0)
        run_optimizer(r, s);
    else if (strcmp(kind, "step") == 0)
        tn_step(find_optimizer(r, word_of(s, 1)));
    else if (strcmp(kind, "zero_grad") == 0)
        tn_zero_grad(find_optimizer(r, word_of(s, 1)));
    else if (strcmp(kind, "set_option") == 0)
        tn_optimizer_set(find_optimizer(r, word_of(s, 1)), -1, word_of(s, 2),
                         json_number_value(json_array_get(s, 3)));
    else
        return false;
    return true;
}
