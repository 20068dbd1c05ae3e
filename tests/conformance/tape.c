/* What recorded programs say about the tape: statements (mode, hook, dual), calls without a name in the library, and
 * queries. */
#include <stdio.h>
#include <string.h>

#include "conformance/replay.h"

static const char *word_of(const json_t *statement, size_t i)
{
    const char *text = json_string_value(json_array_get(statement, i));
    return text ? text : "";
}

static void run_mode(replay *r, const char *mode)
{
    if (strcmp(mode, "end") == 0) {
        if (r->n_modes > 0)
            tn_grad_mode_restore(r->modes[--r->n_modes]);
        return;
    }
    if (r->n_modes == MODES) {
        TN_FAIL(TN_ERROR_ARGUMENT, "replay", "more than %d modes inside one another", MODES);
        return;
    }
    r->modes[r->n_modes++] = strcmp(mode, "no_grad") == 0       ? tn_no_grad()
                             : strcmp(mode, "enable_grad") == 0 ? tn_enable_grad()
                                                                : tn_inference_mode();
}

void tape_end(replay *r)
{
    if (r->n_modes > 0)
        tn_grad_mode_restore(r->modes[0]);
    r->n_modes = 0;
    if (tn_in_dual_level())
        tn_exit_dual_level();
}

static tn_tensor *with_number(const char *name, tn_tensor *grad, const json_t *number)
{
    const tn_value values[] = {{.kind = TN_VALUE_TENSOR, .as.tensor = grad},
                               {.kind = TN_VALUE_SCALAR, .as.scalar = number_of(number)}};
    tn_list *list = tn_call_list(name, values, 2);
    return list ? tn_list_get(list, 0) : NULL;
}

/* Logs the gradient, and gives what the action makes of it. */
static tn_tensor *on_gradient(void *context, tn_tensor *grad)
{
    replay_hook *hook = context;
    json_t *event = json_pack("[s]", hook->label), *d = describe(grad);
    json_array_append(event, json_object_get(d, "shape"));
    json_array_append(event, json_object_get(d, "dtype"));
    json_array_append(event, json_object_get(d, "values"));
    json_decref(d);
    json_array_append_new(hook->replay->events, event);
    const json_t *with;
    if ((with = json_object_get(hook->action, "mul")))
        return with_number("mul", grad, with);
    if ((with = json_object_get(hook->action, "add")))
        return with_number("add", grad, with);
    with = json_object_get(hook->action, "replace");
    return with ? replay_find(hook->replay, json_string_value(with)) : NULL;
}

static void run_hook(replay *r, const json_t *s, bool after)
{
    tn_tensor *x = replay_find(r, word_of(s, 1));
    if (r->n_hooks == HOOKS) {
        TN_FAIL(TN_ERROR_ARGUMENT, "replay", "more than %d hooks", HOOKS);
        return;
    }
    replay_hook *hook = &r->hooks[r->n_hooks];
    *hook = (replay_hook){r, word_of(s, 2), after ? NULL : json_array_get(s, 3), x, 0};
    hook->handle = after ? tn_register_post_accumulate_grad_hook(x, on_gradient, hook)
                         : tn_register_hook(x, on_gradient, hook);
    if (hook->handle)
        r->n_hooks++;
}

static void run_unhook(replay *r, const char *label)
{
    for (int i = 0; i < r->n_hooks; i++)
        if (strcmp(r->hooks[i].label, label) == 0)
            tn_hook_remove(r->hooks[i].tensor, r->hooks[i].handle);
}

bool tape_statement(replay *r, const json_t *s)
{
    const char *kind = word_of(s, 0);
    if (strcmp(kind, "mode") == 0)
        run_mode(r, word_of(s, 1));
    else if (strcmp(kind, "dual") == 0)
        (void)(strcmp(word_of(s, 1), "enter") == 0 ? tn_enter_dual_level() : tn_exit_dual_level());
    else if (strcmp(kind, "hook") == 0 || strcmp(kind, "post_hook") == 0)
        run_hook(r, s, kind[0] == 'p');
    else if (strcmp(kind, "unhook") == 0)
        run_unhook(r, word_of(s, 1));
    else
        return false;
    return true;
}

static bool flag_at(const boxes *b, int i)
{
    return b->n > i && b->values[i].kind == TN_VALUE_SCALAR && b->values[i].as.scalar.value.i != 0;
}

static tn_tensor *tensor_at(const boxes *b, int i)
{
    return b->n > i && b->values[i].kind == TN_VALUE_TENSOR ? b->values[i].as.tensor : NULL;
}

static tn_tensor *const *tensors_at(const boxes *b, int i, int *n)
{
    bool given = b->n > i && b->values[i].kind == TN_VALUE_TENSORS;
    *n = given ? b->values[i].as.tensors.n : 0;
    return given ? b->values[i].as.tensors.data : NULL;
}

static tn_tensor *call_requires_grad(const boxes *b, tn_list **several)
{
    (void)several;
    tn_tensor *x = tensor_at(b, 0);
    return tn_requires_grad_(x, b->n < 2 || b->values[1].kind == TN_VALUE_NONE || flag_at(b, 1)) ? NULL : x;
}

/* The setter of the property, unlike the method, takes leaves alone. */
static tn_tensor *call_set_requires_grad(const boxes *b, tn_list **several)
{
    return tn_requires_grad_(tensor_at(b, 0), false) ? NULL : call_requires_grad(b, several);
}

static tn_tensor *call_backward(const boxes *b, tn_list **several)
{
    (void)several;
    tn_backward_with(tensor_at(b, 0), tensor_at(b, 1),
                     &(tn_backward_options){.retain_graph = flag_at(b, 2), .create_graph = flag_at(b, 3)});
    return NULL;
}

static tn_tensor *call_backward_inputs(const boxes *b, tn_list **several)
{
    (void)several;
    tn_backward_options options = {0};
    options.inputs = tensors_at(b, 1, &options.n_inputs);
    tn_backward_with(tensor_at(b, 0), NULL, &options);
    return NULL;
}

static tn_tensor *call_backward_many(const boxes *b, tn_list **several)
{
    (void)several;
    int n, n_gradients;
    tn_tensor *const *outputs = tensors_at(b, 0, &n);
    tn_backward_many(outputs, tensors_at(b, 1, &n_gradients), n, NULL);
    return NULL;
}

static tn_tensor *call_grad(const boxes *b, tn_list **several)
{
    int n_outputs, n_inputs, n_gradients;
    tn_tensor *const *outputs = tensors_at(b, 0, &n_outputs), *const *inputs = tensors_at(b, 1, &n_inputs);
    tn_tensor *const *gradients = tensors_at(b, 2, &n_gradients);
    const tn_grad_options options = {flag_at(b, 3), flag_at(b, 4), flag_at(b, 5)};
    *several = tn_grad(outputs, gradients, n_outputs, inputs, n_inputs, &options);
    return NULL;
}

static tn_tensor *call_retain_grad(const boxes *b, tn_list **several)
{
    (void)several;
    tn_retain_grad(tensor_at(b, 0));
    return NULL;
}

static tn_tensor *call_grad_of(const boxes *b, tn_list **several)
{
    (void)several;
    tn_tensor *grad = tn_grad_of(tensor_at(b, 0));
    return grad ? tn_adopt(tn_retain(grad)) : NULL; /* it may be replaced */
}

static tn_tensor *call_set_grad(const boxes *b, tn_list **several)
{
    (void)several;
    tn_set_grad(tensor_at(b, 0), tensor_at(b, 1));
    return NULL;
}

static tn_tensor *call_make_dual(const boxes *b, tn_list **several)
{
    (void)several;
    return tn_make_dual(tensor_at(b, 0), tensor_at(b, 1));
}

static tn_tensor *call_tangent(const boxes *b, tn_list **several)
{
    (void)several;
    return tn_tangent(tensor_at(b, 0));
}

static tn_tensor *call_primal(const boxes *b, tn_list **several)
{
    (void)several;
    return tn_primal(tensor_at(b, 0));
}

static const struct tape_call {
    const char *name;
    tn_tensor *(*run)(const boxes *b, tn_list **several);
} calls[] = {
    {"requires_grad_", call_requires_grad},
    {"set_requires_grad", call_set_requires_grad},
    {"backward", call_backward},
    {"backward_inputs", call_backward_inputs},
    {"backward_many", call_backward_many},
    {"grad", call_grad},
    {"retain_grad", call_retain_grad},
    {"grad_of", call_grad_of},
    {"set_grad", call_set_grad},
    {"make_dual", call_make_dual},
    {"tangent", call_tangent},
    {"primal", call_primal},
};

bool tape_call(const char *name, const boxes *b, tn_tensor **one, tn_list **several)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0) {
            if (b)
                *one = calls[i].run(b, several);
            return true;
        }
    return false;
}

static json_t *name_json(tn_tensor *x)
{
    char name[96];
    const tn_node *node = tn_grad_fn(x);
    if (!node)
        return json_null();
    tn_node_name(node, name, sizeof name);
    return json_string(name);
}

json_t *tape_answer(const char *name, tn_tensor *x)
{
    if (strcmp(name, "requires_grad") == 0)
        return json_boolean(tn_requires_grad(x));
    if (strcmp(name, "is_leaf") == 0)
        return json_boolean(tn_is_leaf(x));
    if (strcmp(name, "grad_fn") == 0)
        return name_json(x);
    if (strcmp(name, "has_grad") == 0)
        return json_boolean(tn_grad_of(x) != NULL);
    if (strcmp(name, "grad_values") == 0)
        return tn_grad_of(x) ? nested_values(tn_grad_of(x)) : json_null();
    if (strcmp(name, "is_inference") == 0)
        return json_boolean(tn_is_inference(x));
    if (strcmp(name, "output_nr") == 0)
        return json_integer(tn_output_nr(x));
    if (strcmp(name, "grad_enabled") == 0)
        return json_boolean(tn_is_grad_enabled());
    return NULL;
}

/* A gradient as it is described, and whether it is on the tape itself. */
static json_t *describe_grad(const tn_tensor *grad)
{
    json_t *d = describe(grad);
    static const char *const not_told[] = {"storage_nbytes", "version", "is_view"};
    for (int i = 0; i < 3; i++)
        json_object_del(d, not_told[i]);
    if (tn_requires_grad(grad))
        json_object_set_new(d, "requires_grad", json_true());
    return d;
}

json_t *describe_tape(tn_tensor *x)
{
    json_t *d = json_object();
    if (tn_requires_grad(x))
        json_object_set_new(d, "requires_grad", json_true());
    if (tn_retains_grad(x))
        json_object_set_new(d, "retains_grad", json_true());
    if (tn_grad_of(x))
        json_object_set_new(d, "grad", describe_grad(tn_grad_of(x)));
    json_t *name = name_json(x);
    if (tn_error_code()) {
        json_object_set_new(d, "grad_fn_error", error_json(tn_error_get()));
        tn_error_clear();
    } else if (!json_is_null(name)) {
        json_object_set(d, "grad_fn", name);
        json_object_set_new(d, "is_leaf", json_false());
    }
    json_decref(name);
    return d;
}
