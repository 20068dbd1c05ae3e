/* Calls by name: boxed arguments become inputs and an attribute struct by the operator's params. */
#include <stdio.h>
#include <string.h>
#include <tenon/call.h>

#include "base/error.h"
#include "base/text.h"
#include "dispatch/op.h"

enum { ATTR_ROOM = 256 };

typedef struct unboxed {
    tn_tensor *in[TNI_MAX_IN];
    _Alignas(16) char attr[ATTR_ROOM];
    int64_t single[TNI_MAX_PARAMS]; /* an integer given where a list is taken */
} unboxed;

static const char *const kind_words[] = {
    [TN_VALUE_NONE] = "nothing", [TN_VALUE_TENSOR] = "a tensor", [TN_VALUE_SCALAR] = "a number",
    [TN_VALUE_INTS] = "a list of integers", [TN_VALUE_DTYPE] = "a dtype",
};

static const char *wanted_words(char code)
{
    switch (code) {
    case 'T':
        return "a tensor";
    case 'X':
        return "a tensor or a number";
    case 'S':
        return "a number";
    case 'I':
        return "an integer";
    case 'L':
        return "a list of integers";
    case 'J':
        return "an integer or a list of them";
    case 'B':
        return "a bool";
    default:
        return "a dtype";
    }
}

/* Whether the value fits the param; where it does it is put in its place. */
static bool unbox(const tni_param *param, int number, const tn_value *value, unboxed *to)
{
    char *field = to->attr + param->offset;
    bool integer = value->kind == TN_VALUE_SCALAR && value->as.scalar.kind != TN_SCALAR_FLOAT;
    uint32_t numbers;
    tni_ints ints;
    switch (param->code) {
    case 'T':
        to->in[param->input] = value->as.tensor;
        return value->kind == TN_VALUE_TENSOR;
    case 'X':
        if (value->kind == TN_VALUE_TENSOR) {
            to->in[param->input] = value->as.tensor;
            return true;
        }
        memcpy(field, &value->as.scalar, sizeof value->as.scalar);
        memcpy(&numbers, to->attr, sizeof numbers); /* the mask of numbers: Note [Attributes] */
        numbers |= 1u << param->input;
        memcpy(to->attr, &numbers, sizeof numbers);
        return value->kind == TN_VALUE_SCALAR;
    case 'S':
        memcpy(field, &value->as.scalar, sizeof value->as.scalar);
        return value->kind == TN_VALUE_SCALAR;
    case 'I':
        memcpy(field, &value->as.scalar.value.i, sizeof(int64_t));
        return integer;
    case 'L':
    case 'J':
        if (param->code == 'J' && integer) {
            to->single[number] = value->as.scalar.value.i;
            ints = (tni_ints){&to->single[number], 1};
        } else {
            ints = (tni_ints){value->as.ints.data, value->as.ints.n};
        }
        memcpy(field, &ints, sizeof ints);
        return value->kind == TN_VALUE_INTS || (param->code == 'J' && integer);
    case 'B': {
        bool on = value->as.scalar.value.i != 0;
        memcpy(field, &on, sizeof on);
        return integer && value->as.scalar.kind == TN_SCALAR_BOOL;
    }
    default:
        memcpy(field, &value->as.dtype, sizeof value->as.dtype);
        return value->kind == TN_VALUE_DTYPE;
    }
}

static tn_status unbox_all(const tni_op *op, const char *name, const tn_value *arguments, int n, unboxed *to)
{
    if (op->attr_default)
        memcpy(to->attr, op->attr_default, op->attr_bytes);
    for (int p = 0; p < op->n_params; p++) {
        const tni_param *param = &op->params[p];
        const tn_value *value = p < n ? &arguments[p] : NULL;
        if (!value || value->kind == TN_VALUE_NONE) {
            if (param->optional)
                continue;
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "argument %d (%s) is left off, needed %s", p + 1, param->name,
                            wanted_words(param->code));
        }
        if ((unsigned)value->kind > TN_VALUE_DTYPE || !unbox(param, p, value, to))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "argument %d (%s) is %s, needed %s", p + 1, param->name,
                            (unsigned)value->kind > TN_VALUE_DTYPE ? "of no known kind"
                            : value->kind == TN_VALUE_SCALAR && value->as.scalar.kind == TN_SCALAR_FLOAT
                                ? "a decimal"
                                : kind_words[value->kind],
                            wanted_words(param->code));
    }
    return TN_OK;
}

static const tni_op *find(const char *name, tni_form *form)
{
    for (int i = 0; i < tni_operator_count; i++)
        for (*form = TNI_NEW; *form < TNI_FORMS; (*form)++)
            if (tni_operators[i]->name[*form] && strcmp(tni_operators[i]->name[*form], name) == 0)
                return tni_operators[i];
    return NULL;
}

tn_tensor *tn_call(const char *name, const tn_value *arguments, int n_arguments)
{
    tni_form form;
    if (tni_pending())
        return NULL;
    if (!name || (n_arguments > 0 && !arguments)) {
        TNI_FAIL_NULL("call", name ? 2 : 1, name ? "arguments" : "name");
        return NULL;
    }
    const tni_op *op = find(name, &form);
    if (!op) {
        TNI_FAIL(TN_ERROR_NAME, "call", "there is no operator \"%.60s\"", name);
        return NULL;
    }
    const char *own_name = op->name[form]; /* outlives the caller's string */
    int taken = op->n_params + (form == TNI_OUT);
    if (n_arguments < 0 || n_arguments > taken) {
        TNI_FAIL(TN_ERROR_ARGUMENT, own_name, "%d arguments, needed at most %d", n_arguments, taken);
        return NULL;
    }
    tn_tensor *out = NULL;
    unboxed values = {.in = {NULL}};
    int n = n_arguments;
    if (form == TNI_OUT) { /* the last argument, whatever optional ones are left off before it */
        const tn_value *last = n > 0 ? &arguments[--n] : NULL;
        if (!last || last->kind != TN_VALUE_TENSOR) {
            TNI_FAIL(TN_ERROR_ARGUMENT, own_name, "the last argument (out) is no tensor");
            return NULL;
        }
        out = last->as.tensor;
    }
    if (unbox_all(op, own_name, arguments, n, &values))
        return NULL;
    switch (form) {
    case TNI_NEW:
        return tni_call_new(op, values.in, values.attr);
    case TNI_IN_PLACE:
        return tni_call_in_place(op, values.in, values.attr) == TN_OK ? values.in[0] : NULL;
    default:
        return tni_call_out(op, out, values.in, values.attr) == TN_OK ? out : NULL;
    }
}

int tn_operator_count(void)
{
    return tni_operator_count;
}

const char *tn_operator_name(int i)
{
    if (i < 0 || i >= tni_operator_count)
        return NULL;
    const char *const *names = tni_operators[i]->name;
    return names[TNI_NEW] ? names[TNI_NEW] : names[TNI_IN_PLACE];
}

int tn_operator_schema(int i, char *buf, size_t size)
{
    if (size > 0)
        buf[0] = '\0';
    if (i < 0 || i >= tni_operator_count)
        return 0;
    const tni_op *op = tni_operators[i];
    size_t used = 0;
    for (int p = 0; p < op->n_params; p++) {
        int n = snprintf(used < size ? buf + used : NULL, used < size ? size - used : 0, "%s%s:%c%s", p ? " " : "",
                         op->params[p].name, op->params[p].code, op->params[p].optional ? "?" : "");
        used += n > 0 ? (size_t)n : 0;
    }
    return (int)used;
}
