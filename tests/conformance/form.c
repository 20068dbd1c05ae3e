/* Whether a case is well formed, before any of it runs: a key, a statement or an argument that is read by nobody would
 * otherwise pass for one that is fine, and what does not fit its code could not be boxed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conformance/replay.h"

enum { NUMBERS = 4096 };

typedef struct form {
    json_t *names; /* bound so far: name to true, or to false for a prefix of several */
    char *wrong;
    size_t size;
} form;

static bool refuse(form *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(form *f, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (!f->wrong[0])
        vsnprintf(f->wrong, f->size, format, list);
    va_end(list);
    return false;
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static const char *word_at(const json_t *list, size_t i)
{
    return json_string_value(json_array_get(list, i));
}

static bool is_real(const json_t *x)
{
    const char *word = json_string_value(json_object_get(x, "f"));
    return json_is_number(x) ||
           (word && json_object_size(x) == 1 && is_among(word, (const char *const[]){"inf", "-inf", "nan", NULL}));
}

/* Text of digits alone is how read_line writes an integer beyond 64 bits. */
static bool is_wide_integer(const json_t *x)
{
    const char *text = json_string_value(x);
    if (!text || text[0] != '#')
        return false;
    text += 1 + (text[1] == '-');
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_integer(const json_t *x)
{
    return json_is_integer(x) || is_wide_integer(x);
}

static bool is_number(const json_t *x)
{
    const json_t *parts = json_object_get(x, "c");
    return json_is_boolean(x) || is_real(x) || is_wide_integer(x) ||
           (parts && json_object_size(x) == 1 && json_array_size(parts) == 2 && is_real(json_array_get(parts, 0)) &&
            is_real(json_array_get(parts, 1)));
}

static bool all(const json_t *list, bool (*is)(const json_t *))
{
    bool good = json_is_array(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        good = good && is(json_array_get(list, i));
    return good;
}

/* Adds the numbers of nested lists to *n. */
static bool is_nested(const json_t *x, int depth, int *n)
{
    if (!json_is_array(x))
        return is_number(x) && ++*n <= NUMBERS;
    bool good = depth < TN_MAX_NDIM;
    for (size_t i = 0; good && i < json_array_size(x); i++)
        good = is_nested(json_array_get(x, i), depth + 1, n);
    return good;
}

/* A name that was bound before, or one of several under a prefix: "p0". */
static bool is_name(const form *f, const json_t *x)
{
    const char *name = json_string_value(x), *prefix;
    json_t *whole;
    if (!name)
        return false;
    if (json_is_true(json_object_get(f->names, name)))
        return true;
    json_object_foreach(f->names, prefix, whole) {
        size_t n = strlen(prefix);
        if (json_is_false(whole) && strncmp(prefix, name, n) == 0 && name[n] &&
            name[n + strspn(name + n, "0123456789")] == '\0')
            return true;
    }
    return false;
}

static bool is_optional_integer(const json_t *x)
{
    return json_is_null(x) || json_is_integer(x);
}

static bool is_integer_or_bool(const json_t *x)
{
    return json_is_integer(x) || json_is_boolean(x);
}

static bool is_index_entry(const form *f, const json_t *x)
{
    const json_t *part;
    if (json_is_null(x) || json_is_boolean(x) || json_is_integer(x))
        return true;
    if (json_is_string(x))
        return strcmp(json_string_value(x), "...") == 0;
    if (json_object_size(x) != 1)
        return false;
    if ((part = json_object_get(x, "t")))
        return is_name(f, part);
    if ((part = json_object_get(x, "list")))
        return all(part, is_integer_or_bool);
    part = json_object_get(x, "slice");
    return json_array_size(part) == 3 && all(part, is_optional_integer);
}

bool is_foreign_dtype(const char *name)
{
    static const char *const names[] = {"bcomplex32", "float4_e2m1fn_x2", "int1",  "int2",  "int3",  "int4",
                                        "int5",       "int6",             "int7",  "uint1", "uint2", "uint3",
                                        "uint4",      "uint5",            "uint6", "uint7", NULL};
    return is_among(name, names);
}

static bool is_dtype(const json_t *x)
{
    tn_error error;
    if (json_is_string(x) && is_foreign_dtype(json_string_value(x)))
        return true;
    bool good = json_is_string(x) && tn_dtype_from_name(json_string_value(x)) != TN_DTYPE_NONE;
    tn_error_push(&error);
    return good;
}

static bool is_format(const json_t *x)
{
    static const char *const formats[] = {"contiguous", "channels_last", "channels_last_3d", "preserve", NULL};
    return json_is_string(x) && is_among(json_string_value(x), formats);
}

static bool fits(const form *f, char code, const json_t *x)
{
    int n = 0;
    bool good = json_is_array(x);
    switch (code) {
    case 'T':
        return is_name(f, x);
    case 'X':
        return is_name(f, x) || is_number(x);
    case 'G':
        for (size_t i = 0; i < json_array_size(x); i++)
            good = good && is_name(f, json_array_get(x, i));
        return good;
    case 'S':
        return is_number(x);
    case 'F':
        return is_real(x);
    case 'I':
        return is_integer(x);
    case 'B':
        return json_is_boolean(x);
    case 'L':
        return all(x, is_integer);
    case 'J':
        return is_integer(x) || all(x, is_integer);
    case 'D':
        return is_dtype(x);
    case 'M':
        return is_format(x);
    case 'Q':
        return json_is_string(x);
    case 'N':
        return is_nested(x, 0, &n);
    default:
        for (size_t i = 0; i < json_array_size(x); i++)
            good = good && is_index_entry(f, json_array_get(x, i));
        return good;
    }
}

/* A call or a query against the codes of its word. Words of later families have none: their arguments are not read. */
static bool is_call(form *f, const json_t *call, bool query)
{
    const char *name = word_at(call, 0), *codes = "";
    size_t n = json_array_size(call), i = 1;
    if (!name)
        return refuse(f, "a call without a name");
    if (query ? !query_codes(name, &codes) : !word_codes(name, &codes))
        return (!query && word_is_later(name)) ||
               refuse(f, "there is no %s \"%.60s\"", query ? "query" : "operator", name);
    for (; *codes; i++) {
        char code = *codes++;
        bool optional = *codes == '?';
        const json_t *x = json_array_get(call, i);
        codes += optional;
        if (optional ? x && !json_is_null(x) && !fits(f, code, x) : !x || !fits(f, code, x))
            return refuse(f, "argument %zu of %s %s %c", i, name, x ? "does not fit" : "is missing: needed", code);
    }
    return n <= i || refuse(f, "%s has %zu arguments, needed at most %zu", name, n - 1, i - 1);
}

typedef struct statement_form {
    const char *kind;
    size_t least, most;
} statement_form;

static const statement_form statements[] = {
    {"assign", 3, 3},        {"multi", 3, 3},         {"do", 2, 2},
    {"observe", 3, 3},       {"attempt", 3, 3},       {"print", 3, 3},
    {"print_options", 2, 2}, {"default_dtype", 2, 2}, {"del", 2, 2},
    {"mode", 2, 2},          {"dual", 2, 2},          {"hook", 4, 4},
    {"post_hook", 3, 3},     {"unhook", 2, 2},        {"optimizer", 4, 5},
    {"step", 2, 2},          {"zero_grad", 2, 3},     {"set_option", 4, 4},
};

static const statement_form *statement_of(const char *kind)
{
    for (size_t i = 0; kind && i < sizeof statements / sizeof *statements; i++)
        if (strcmp(statements[i].kind, kind) == 0)
            return &statements[i];
    return NULL;
}

static bool are_print_options(form *f, const json_t *options)
{
    static const char *const known[] = {"precision", "threshold", "edgeitems", "linewidth", "sci_mode", NULL};
    const char *key;
    json_t *value;
    if (!json_is_object(options))
        return refuse(f, "print_options of no object");
    json_object_foreach((json_t *)options, key, value) {
        bool good = strcmp(key, "sci_mode") == 0    ? json_is_boolean(value) || json_is_null(value)
                    : strcmp(key, "threshold") == 0 ? is_real(value)
                                                    : is_integer(value);
        if (!is_among(key, known) || !good)
            return refuse(f, "print option %.60s", key);
    }
    return true;
}

/* {"mul": number}, {"add": number}, {"replace": name}, or null. */
static bool is_action(const form *f, const json_t *x)
{
    const char *key = json_object_iter_key(json_object_iter((json_t *)x));
    const json_t *with = json_object_get(x, key ? key : "");
    if (json_is_null(x))
        return true;
    return json_object_size(x) == 1 && (strcmp(key, "replace") == 0 ? is_name(f, with)
                                        : is_among(key, (const char *const[]){"mul", "add", NULL}) && is_number(with));
}

/* Modes, levels and hooks. */
static bool is_of_tape(form *f, const json_t *s)
{
    static const char *const modes[] = {"no_grad", "enable_grad", "inference", "end", NULL};
    static const char *const levels[] = {"enter", "exit", NULL};
    const char *kind = word_at(s, 0);
    if (!word_at(s, 1) || (strchr("hp", kind[0]) && !word_at(s, 2))) /* a hook has a label */
        return refuse(f, "statement %s without a word", kind);
    if (strcmp(kind, "mode") == 0)
        return is_among(word_at(s, 1), modes) || refuse(f, "mode \"%.60s\"", word_at(s, 1));
    if (strcmp(kind, "dual") == 0)
        return is_among(word_at(s, 1), levels) || refuse(f, "dual \"%.60s\"", word_at(s, 1));
    if (strcmp(kind, "unhook") == 0)
        return true;
    if (!is_name(f, json_array_get(s, 1)))
        return refuse(f, "%s on \"%.60s\", which is not bound", kind, word_at(s, 1));
    return strcmp(kind, "post_hook") == 0 || is_action(f, json_array_get(s, 3)) || refuse(f, "a hook's action");
}

/* The statements of optimizers: a name, and what each has besides. */
static bool is_of_optimizer(form *f, const json_t *s)
{
    static const char *const kinds[] = {"SGD", "Adam", "AdamW", NULL};
    const char *kind = word_at(s, 0);
    if (!word_at(s, 1))
        return refuse(f, "%s of no name", kind);
    if (strcmp(kind, "set_option") == 0)
        return (word_at(s, 2) && is_real(json_array_get(s, 3))) || refuse(f, "set_option without option and number");
    if (strcmp(kind, "optimizer") != 0)
        return true;
    if (!word_at(s, 2) || !is_among(word_at(s, 2), kinds))
        return refuse(f, "optimizer of kind \"%.60s\"", word_at(s, 2) ? word_at(s, 2) : "");
    for (size_t i = 0; i < json_array_size(json_array_get(s, 3)); i++) {
        const json_t *group = json_array_get(json_array_get(s, 3), i);
        if (!is_name(f, group) && !json_is_array(json_object_get(group, "params")))
            return refuse(f, "optimizer's group %zu is neither a bound name nor an object with params", i);
    }
    return json_is_array(json_array_get(s, 3)) || refuse(f, "optimizer whose groups are no list");
}

static bool are_statements(form *f, const json_t *list);

static bool is_statement(form *f, const json_t *s)
{
    const char *kind = word_at(s, 0);
    const statement_form *known = statement_of(kind);
    size_t n = json_array_size(s);
    if (!known)
        return refuse(f, "there is no statement \"%.60s\"", kind ? kind : "");
    if (n < known->least || n > known->most)
        return refuse(f, "statement %s of %zu parts, needed %zu", kind, n, known->least);
    if (strcmp(kind, "do") == 0)
        return is_call(f, json_array_get(s, 1), false);
    if (is_among(kind, (const char *const[]){"mode", "dual", "hook", "post_hook", "unhook", NULL}))
        return is_of_tape(f, s);
    if (is_among(kind, (const char *const[]){"optimizer", "step", "zero_grad", "set_option", NULL}))
        return is_of_optimizer(f, s);
    if (strcmp(kind, "print_options") == 0)
        return are_print_options(f, json_array_get(s, 1));
    if (!word_at(s, 1))
        return refuse(f, "statement %s, whose second part is no word", kind);
    if (strcmp(kind, "default_dtype") == 0)
        return is_dtype(json_array_get(s, 1)) || refuse(f, "default_dtype %.60s", word_at(s, 1));
    if (strcmp(kind, "del") == 0)
        return is_name(f, json_array_get(s, 1)) || refuse(f, "del of \"%.60s\", which is not bound", word_at(s, 1));
    const json_t *last = json_array_get(s, 2);
    if (strcmp(kind, "attempt") == 0)
        return are_statements(f, last);
    if (strcmp(kind, "print") == 0 || (json_is_string(last) && strcmp(kind, "assign") == 0)) {
        if (!is_name(f, last))
            return refuse(f, "%s of a name that is not bound", kind);
    } else if (!is_call(f, last, strcmp(kind, "observe") == 0)) {
        return false;
    }
    bool several = strcmp(kind, "multi") == 0;
    if ((several || strcmp(kind, "assign") == 0) && !json_object_get(f->names, word_at(s, 1)))
        json_object_set_new(f->names, word_at(s, 1), json_boolean(!several));
    return true;
}

static bool are_statements(form *f, const json_t *list)
{
    if (!json_is_array(list))
        return refuse(f, "statements that are no list");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!is_statement(f, json_array_get(list, i)))
            return false;
    return true;
}

/* Keys that are known, in an object; `of` names the object. */
static bool has_known_keys(form *f, const json_t *object, const char *of, const char *const *known)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return refuse(f, "%.60s is no object", of);
    json_object_foreach((json_t *)object, key, value)
        if (!is_among(key, known))
            return refuse(f, "unknown key \"%.60s\" in %.60s", key, of);
    return true;
}

static const char *const error_keys[] = {"category", "detail", "exception", "at", NULL};

static bool is_tensor(form *f, const char *name, const json_t *x)
{
    static const char *const known[] = {
        "shape",   "dtype",         "values",         "checksum",         "stride",        "storage_offset",
        "storage", "is_contiguous", "channels_last",  "channels_last_3d", "version",       "storage_nbytes",
        "grad",    "requires_grad", "retains_grad",   "is_leaf",          "grad_fn",       "grad_fn_error",
        "is_view", "base",          NULL};
    static const char *const grad[] = {"shape",         "dtype",         "values",           "checksum",
                                       "stride",        "storage_offset", "is_contiguous",   "channels_last",
                                       "channels_last_3d", "requires_grad", NULL};
    const json_t *same = json_object_get(x, "same_as"), *storage = json_object_get(x, "storage");
    if (same)
        return (json_is_string(same) && json_object_size(x) == 1) || refuse(f, "%.60s: same_as stands alone", name);
    if (!has_known_keys(f, x, name, known))
        return false;
    if (!json_object_get(x, "shape"))
        return refuse(f, "%.60s: neither a shape nor same_as", name);
    if (storage && !json_is_integer(storage))
        return refuse(f, "%.60s: storage is no number", name);
    if (json_object_get(x, "base") && !json_is_string(json_object_get(x, "base")))
        return refuse(f, "%.60s: base is no name", name);
    return json_is_null(json_object_get(x, "grad")) || !json_object_get(x, "grad") ||
           has_known_keys(f, json_object_get(x, "grad"), "grad", grad);
}

static bool is_expectation(form *f, const json_t *expect)
{
    static const char *const known[] = {"tensors", "observed", "attempts", "printed", "events", "error", NULL};
    const json_t *tensors = json_object_get(expect, "tensors"), *error = json_object_get(expect, "error");
    const char *name;
    json_t *x;
    if (!has_known_keys(f, expect, "expect", known))
        return false;
    for (int i = 0; i < 4; i++)
        if (json_object_get(expect, known[i]) && !json_is_object(json_object_get(expect, known[i])))
            return refuse(f, "%s is no object", known[i]);
    if (error && !has_known_keys(f, error, "error", error_keys))
        return false;
    json_object_foreach(json_object_get(expect, "attempts"), name, x)
        if (!(json_is_string(x) && strcmp(json_string_value(x), "ok") == 0) && !has_known_keys(f, x, name, error_keys))
            return false;
    json_object_foreach((json_t *)tensors, name, x)
        if (!is_tensor(f, name, x))
            return false;
    return true;
}

static bool is_tolerance(const json_t *pair)
{
    return json_array_size(pair) == 2 && all(pair, is_real);
}

bool case_is_well_formed(const json_t *test, char *wrong, size_t size)
{
    static const char *const texts[] = {"id", "group"};
    form f = {json_object(), wrong, size};
    const char *dtype;
    json_t *pair;
    wrong[0] = '\0';
    for (int i = 0; i < 2; i++)
        if (!json_is_string(json_object_get(test, texts[i])))
            refuse(&f, "no %s", texts[i]);
    if (json_object_get(test, "keep") && !json_is_null(json_object_get(test, "keep")) &&
        !json_is_array(json_object_get(test, "keep")))
        refuse(&f, "keep is no list");
    json_object_foreach(json_object_get(test, "tol"), dtype, pair)
        if (!is_tolerance(pair))
            refuse(&f, "tol of %.60s is no pair", dtype);
    if (!json_object_get(test, "program"))
        refuse(&f, "no program");
    else
        are_statements(&f, json_object_get(test, "program"));
    if (!json_object_get(test, "expect"))
        refuse(&f, "no expect");
    else
        is_expectation(&f, json_object_get(test, "expect"));
    json_decref(f.names);
    return !wrong[0];
}
