/* Calls by name: boxed arguments become inputs and an attribute struct by the operator's params. */
#include <stdio.h>
#include <string.h>
#include <tenon/call.h>
#include <tenon/losses.h>

#include "base/error.h"
#include "base/text.h"
#include "core/list.h"
#include "core/scope.h"
#include "dispatch/op.h"
#include "ops/composite.h"
#include "ops/index.h"
#include "ops/operators.h"

enum { ATTR_ROOM = 256 };

typedef struct unboxed {
    tn_tensor *in[TNI_MAX_IN];
    _Alignas(16) char attr[ATTR_ROOM];
    int64_t single[TNI_MAX_PARAMS]; /* an integer given where a list is taken */
    tni_tensors listed;             /* the inputs of an operator that takes a list */
} unboxed;

static const char *const kind_words[] = {
    [TN_VALUE_NONE] = "nothing", [TN_VALUE_TENSOR] = "a tensor", [TN_VALUE_SCALAR] = "a number",
    [TN_VALUE_INTS] = "a list of integers", [TN_VALUE_DTYPE] = "a dtype", [TN_VALUE_TENSORS] = "a list of tensors",
    [TN_VALUE_INDEX] = "an index", [TN_VALUE_WORD] = "a word", [TN_VALUE_FORMAT] = "a memory format",
};
enum { KINDS = sizeof kind_words / sizeof *kind_words };

/* What each code of a param takes. J also takes one integer, X a number, M the number of a format. */
static const struct wanted {
    const char *words;
    tn_value_kind kind;
} wanted_of[] = {
    ['T'] = {"a tensor", TN_VALUE_TENSOR},
    ['X'] = {"a tensor or a number", TN_VALUE_TENSOR},
    ['S'] = {"a number", TN_VALUE_SCALAR},
    ['I'] = {"an integer", TN_VALUE_SCALAR},
    ['L'] = {"a list of integers", TN_VALUE_INTS},
    ['J'] = {"an integer or a list of them", TN_VALUE_INTS},
    ['B'] = {"a bool", TN_VALUE_SCALAR},
    ['D'] = {"a dtype", TN_VALUE_DTYPE},
    ['G'] = {"a list of tensors", TN_VALUE_TENSORS},
    ['R'] = {"an index", TN_VALUE_INDEX},
    ['Q'] = {"a word", TN_VALUE_WORD},
    ['M'] = {"a memory format", TN_VALUE_FORMAT},
};

static bool fits(char code, const tn_value *value)
{
    bool number = value->kind == TN_VALUE_SCALAR;
    bool whole = number && (value->as.scalar.kind == TN_SCALAR_INT || value->as.scalar.kind == TN_SCALAR_BOOL);
    switch (code) {
    case 'X':
        return number || value->kind == TN_VALUE_TENSOR;
    case 'I':
        return whole;
    case 'B':
        return whole && value->as.scalar.kind == TN_SCALAR_BOOL;
    case 'J':
        return whole || value->kind == TN_VALUE_INTS;
    case 'Q':
        return whole || value->kind == TN_VALUE_WORD;
    case 'M':
        return value->kind == TN_VALUE_FORMAT ||
               (whole && value->as.scalar.value.i >= 0 && value->as.scalar.value.i <= TN_PRESERVE_FORMAT);
    default:
        return value->kind == wanted_of[(unsigned char)code].kind;
    }
}

int64_t tni_reduction_of(const tn_value *value)
{
    static const char *const words[] = {[TN_MEAN] = "mean", [TN_SUM] = "sum", [TN_NONE] = "none"};
    const char *word = value->as.word;
    if (value->kind != TN_VALUE_WORD)
        return value->as.scalar.value.i;
    for (int64_t i = 0; i < (int64_t)(sizeof words / sizeof *words); i++)
        if (word && strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Puts a value that fits the param in its place. */
static void unbox(const tni_param *param, int number, const tn_value *value, unboxed *to)
{
    char *field = to->attr + param->offset;
    const tn_scalar *scalar = &value->as.scalar;
    tni_ints ints = {value->as.ints.data, value->as.ints.n};
    uint32_t numbers;
    switch (param->code) {
    case 'X':
        if (value->kind == TN_VALUE_SCALAR) {
            memcpy(field, scalar, sizeof *scalar);
            memcpy(&numbers, to->attr, sizeof numbers); /* the mask of numbers: Note [Attributes] */
            numbers |= 1u << param->input;
            memcpy(to->attr, &numbers, sizeof numbers);
            return;
        }
        to->in[param->input] = value->as.tensor;
        return;
    case 'T':
        to->in[param->input] = value->as.tensor;
        return;
    case 'S':
        memcpy(field, scalar, sizeof *scalar);
        return;
    case 'I':
        memcpy(field, &scalar->value.i, sizeof scalar->value.i);
        return;
    case 'L':
    case 'J':
        if (value->kind == TN_VALUE_SCALAR) {
            to->single[number] = scalar->value.i;
            ints = (tni_ints){&to->single[number], 1};
        }
        memcpy(field, &ints, sizeof ints);
        return;
    case 'B':
        memcpy(field, &(bool){scalar->value.i != 0}, sizeof(bool));
        return;
    case 'Q': {
        int64_t reduction = tni_reduction_of(value);
        memcpy(field, &reduction, sizeof reduction);
        return;
    }
    case 'R':
        memcpy(field, &(tni_index_list){value->as.index.data, value->as.index.n}, sizeof(tni_index_list));
        return;
    case 'G':
        memcpy(field, &(tni_tensors){value->as.tensors.data, value->as.tensors.n}, sizeof(tni_tensors));
        return;
    case 'M': {
        tn_memory_format format =
            value->kind == TN_VALUE_FORMAT ? value->as.format : (tn_memory_format)scalar->value.i;
        memcpy(field, &format, sizeof format);
        return;
    }
    default:
        memcpy(field, &value->as.dtype, sizeof value->as.dtype);
    }
}

/* Whether each value fits its param, those left off may be. */
static tn_status check(const char *name, const tni_param *params, int n_params, const tn_value *arguments, int n)
{
    for (int p = 0; p < n_params; p++) {
        const tni_param *param = &params[p];
        const tn_value *value = p < n ? &arguments[p] : NULL;
        const char *words = wanted_of[(unsigned char)param->code].words;
        if (!value || value->kind == TN_VALUE_NONE) {
            if (param->optional)
                continue;
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "argument %d (%s) is left off, needed %s", p + 1, param->name,
                            words);
        }
        bool known = (unsigned)value->kind < KINDS;
        if (!known || !fits(param->code, value))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "argument %d (%s) is %s, needed %s", p + 1, param->name,
                            !known ? "of no known kind"
                            : value->kind == TN_VALUE_SCALAR && value->as.scalar.kind == TN_SCALAR_FLOAT
                                ? "a decimal"
                                : kind_words[value->kind],
                            words);
    }
    return TN_OK;
}

static tn_status unbox_all(const tni_op *op, const char *name, const tn_value *arguments, int n, unboxed *to)
{
    if (check(name, op->params, op->n_params, arguments, n))
        return tni_pending();
    if (op->attr_default)
        memcpy(to->attr, op->attr_default, op->attr_bytes);
    for (int p = 0; p < op->n_params && p < n; p++)
        if (p == 0 && op->takes_list)
            to->listed = (tni_tensors){arguments[p].as.tensors.data, arguments[p].as.tensors.n};
        else if (arguments[p].kind != TN_VALUE_NONE)
            unbox(&op->params[p], p, &arguments[p], to);
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

static const tni_composite *find_composite(const char *name)
{
    for (int i = 0; i < tni_composite_count; i++)
        if (strcmp(tni_composites[i].name, name) == 0)
            return &tni_composites[i];
    return NULL;
}

/* What a function made of operators gives: one tensor, or several in a list. */
static tni_composite_result call_composite(const tni_composite *f, const tn_value *arguments, int n)
{
    static const tni_composite_result nothing = {NULL, NULL};
    tn_value all[TNI_MAX_PARAMS] = {{.kind = TN_VALUE_NONE}};
    if (n < 0 || n > f->n_params) {
        TNI_FAIL(TN_ERROR_ARGUMENT, f->name, "%d arguments, needed at most %d", n, f->n_params);
        return nothing;
    }
    if (check(f->name, f->params, f->n_params, arguments, n))
        return nothing;
    for (int i = 0; i < n; i++)
        all[i] = arguments[i];
    return f->call(all);
}

static tn_tensor *call_listed(const tni_op *op, const unboxed *values)
{
    const tni_tensors *listed = &values->listed;
    if (listed->n > 0 && !listed->data) {
        TNI_FAIL_NULL(op->name[TNI_NEW], 1, op->params[0].name);
        return NULL;
    }
    return tni_call_list(op, listed->data, listed->n, values->attr);
}

static tn_tensor *call_operator(const tni_op *op, tni_form form, const tn_value *arguments, int n_arguments)
{
    const char *name = op->name[form]; /* outlives the caller's string */
    int taken = op->n_params + (form == TNI_OUT);
    if (n_arguments < 0 || n_arguments > taken) {
        TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d arguments, needed at most %d", n_arguments, taken);
        return NULL;
    }
    tn_tensor *out = NULL;
    unboxed values = {.in = {NULL}};
    int n = n_arguments;
    if (form == TNI_OUT) { /* the last argument, whatever optional ones are left off before it */
        const tn_value *last = n > 0 ? &arguments[--n] : NULL;
        if (!last || last->kind != TN_VALUE_TENSOR) {
            TNI_FAIL(TN_ERROR_ARGUMENT, name, "the last argument (out) is no tensor");
            return NULL;
        }
        out = last->as.tensor;
    }
    if (unbox_all(op, name, arguments, n, &values))
        return NULL;
    if (op == &tni_op_index || op == &tni_op_index_put) { /* their front makes one index a dim of masks */
        tni_put_attr attr;
        memcpy(&attr, values.attr, sizeof attr);
        return tni_index_by_name(op, form, values.in, &attr);
    }
    switch (form) {
    case TNI_NEW:
        if (op->takes_list)
            return call_listed(op, &values);
        if (op == &tni_op_getitem) /* its front knows the entries that copy, too */
            return tn_getitem(values.in[0], arguments[1].as.index.data, arguments[1].as.index.n);
        return tni_call_new(op, values.in, values.attr);
    case TNI_IN_PLACE:
        return tni_call_in_place(op, values.in, values.attr) == TN_OK ? values.in[0] : NULL;
    default:
        return tni_call_out(op, out, values.in, values.attr) == TN_OK ? out : NULL;
    }
}

/* What a name stands for: an operator in a form, or a composite. Neither: an error. */
typedef struct callee {
    const tni_op *op;
    tni_form form;
    const tni_composite *composite;
} callee;

static bool resolve(const char *name, const tn_value *arguments, int n, callee *to)
{
    if (tni_pending())
        return false;
    if (!name || (n > 0 && !arguments)) {
        TNI_FAIL_NULL("call", name ? 2 : 1, name ? "arguments" : "name");
        return false;
    }
    to->op = find(name, &to->form);
    to->composite = to->op ? NULL : find_composite(name);
    if (!to->op && !to->composite)
        TNI_FAIL(TN_ERROR_NAME, "call", "there is no operator \"%.60s\"", name);
    return to->op || to->composite;
}

tn_tensor *tn_call(const char *name, const tn_value *arguments, int n_arguments)
{
    callee f;
    if (!resolve(name, arguments, n_arguments, &f))
        return NULL;
    if (f.op)
        return call_operator(f.op, f.form, arguments, n_arguments);
    if (f.composite->several) {
        TNI_FAIL(TN_ERROR_ARGUMENT, f.composite->name, "it has several results, needed tn_call_list");
        return NULL;
    }
    return call_composite(f.composite, arguments, n_arguments).one;
}

tn_list *tn_call_list(const char *name, const tn_value *arguments, int n_arguments)
{
    callee f;
    if (!resolve(name, arguments, n_arguments, &f))
        return NULL;
    if (f.composite && f.composite->several)
        return call_composite(f.composite, arguments, n_arguments).several;
    tn_list *list = tni_list_new(name, 1);
    if (!list)
        return NULL;
    tn_tensor *one = f.op ? call_operator(f.op, f.form, arguments, n_arguments)
                          : call_composite(f.composite, arguments, n_arguments).one;
    /* a written argument stays where it is held: the list gets a hold of its own */
    if (one && (f.op ? f.form != TNI_NEW : f.composite->in_place) && !tn_adopt(tn_retain(one))) {
        tn_release(&one);
        one = NULL;
    }
    if (one)
        tni_list_add(list, one);
    else
        tn_drop(&list);
    return list;
}

bool tn_is_callable(const char *name)
{
    tni_form form;
    return name && (find(name, &form) || find_composite(name));
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

static int schema_text(const tni_param *params, int n_params, char *buf, size_t size)
{
    size_t used = 0;
    if (size > 0)
        buf[0] = '\0';
    for (int p = 0; p < n_params; p++) {
        int n = snprintf(used < size ? buf + used : NULL, used < size ? size - used : 0, "%s%s:%c%s", p ? " " : "",
                         params[p].name, params[p].code, params[p].optional ? "?" : "");
        used += n > 0 ? (size_t)n : 0;
    }
    return (int)used;
}

int tn_operator_schema(int i, char *buf, size_t size)
{
    bool there = i >= 0 && i < tni_operator_count;
    return schema_text(there ? tni_operators[i]->params : NULL, there ? tni_operators[i]->n_params : 0, buf, size);
}

int tn_composite_count(void)
{
    return tni_composite_count;
}

const char *tn_composite_name(int i)
{
    return i >= 0 && i < tni_composite_count ? tni_composites[i].name : NULL;
}

int tn_composite_schema(int i, char *buf, size_t size)
{
    bool there = i >= 0 && i < tni_composite_count;
    return schema_text(there ? tni_composites[i].params : NULL, there ? tni_composites[i].n_params : 0, buf, size);
}
