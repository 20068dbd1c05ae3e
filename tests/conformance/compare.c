/* What was recorded against what came. Floats of a dtype with a tolerance: |a - b| <= atol + rtol |b|; all else
 * exactly. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/replay.h"

const char *const level_names[LEVELS] = {"core", "layout", "sharing", "version", "tape", "names"};

typedef struct tolerance {
    double rtol, atol;
} tolerance;

typedef struct judge {
    const replay *r;
    const json_t *tol;
    char (*differences)[TEXT];
} judge;

static void differ(judge *j, level at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void differ(judge *j, level at, const char *format, ...)
{
    va_list list;
    if (j->differences[at][0])
        return;
    va_start(list, format);
    vsnprintf(j->differences[at], TEXT, format, list);
    va_end(list);
}

static bool number_value(const json_t *x, double *value)
{
    const char *text = json_string_value(x);
    if (text && (strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0))
        *value = text[0] == 'n' ? NAN : text[0] == '-' ? -INFINITY : INFINITY;
    else if (json_is_number(x))
        *value = json_number_value(x);
    else
        return false;
    return true;
}

static bool same(const json_t *came, const json_t *expected, tolerance tol)
{
    double a, b;
    if (!came || !expected)
        return came == expected;
    if (json_is_array(expected)) {
        if (!json_is_array(came) || json_array_size(came) != json_array_size(expected))
            return false;
        for (size_t i = 0; i < json_array_size(expected); i++)
            if (!same(json_array_get(came, i), json_array_get(expected, i), tol))
                return false;
        return true;
    }
    if (json_is_object(expected)) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)expected, key, value)
            if (!same(json_object_get(came, key), value, tol))
                return false;
        return json_is_object(came) && json_object_size(came) == json_object_size(expected);
    }
    if (json_is_integer(expected) && json_is_integer(came))
        return json_integer_value(expected) == json_integer_value(came);
    if (number_value(expected, &b) && number_value(came, &a)) {
        if (json_is_integer(expected) != json_is_integer(came))
            return false;
        if (isnan(a) || isnan(b))
            return isnan(a) && isnan(b);
        return (a == b && (tol.rtol + tol.atol > 0 || signbit(a) == signbit(b))) ||
               (isfinite(a) && isfinite(b) && tol.rtol + tol.atol > 0 && fabs(a - b) <= tol.atol + tol.rtol * fabs(b));
    }
    return json_equal(came, expected);
}

static tolerance tolerance_of(const judge *j, const char *dtype)
{
    const json_t *pair = dtype ? json_object_get(j->tol, dtype) : NULL;
    if (!pair && !dtype) { /* of an answer whose dtype is not known: the widest */
        const char *key;
        json_t *value;
        tolerance widest = {0, 0};
        json_object_foreach((json_t *)j->tol, key, value) {
            widest.rtol = fmax(widest.rtol, json_number_value(json_array_get(value, 0)));
            widest.atol = fmax(widest.atol, json_number_value(json_array_get(value, 1)));
        }
        return widest;
    }
    return (tolerance){json_number_value(json_array_get(pair, 0)), json_number_value(json_array_get(pair, 1))};
}

static void check(judge *j, level at, const char *where, const char *key, const json_t *came, const json_t *expected,
                  tolerance tol)
{
    if (same(came, expected, tol))
        return;
    char *need = expected ? json_dumps(expected, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *have = came ? json_dumps(came, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    differ(j, at, "%s %s: expected %.300s, came %.300s", where, key, need ? need : "nothing", have ? have : "nothing");
    free(need);
    free(have);
}

static void check_error(judge *j, level at, const char *where, const json_t *came, const json_t *expected)
{
    static const char *const keys[] = {"category", "detail", "at"};
    bool equal = json_is_object(came) == json_is_object(expected);
    if (equal && json_is_object(came))
        for (int i = 0; i < 3; i++)
            equal =
                equal && (!json_object_get(expected, keys[i]) || /* that there is an error may be all that is known */
                          same(json_object_get(came, keys[i]), json_object_get(expected, keys[i]), (tolerance){0, 0}));
    if (!equal)
        check(j, at, where, "error", came ? came : json_null(), expected ? expected : json_null(),
              (tolerance){0, 0});
}

static const struct key {
    const char *name;
    level level;
} keys[] = {
    {"shape", LEVEL_CORE},           {"dtype", LEVEL_CORE},
    {"values", LEVEL_CORE},          {"checksum", LEVEL_CORE},
    {"stride", LEVEL_LAYOUT},        {"storage_offset", LEVEL_LAYOUT},
    {"is_contiguous", LEVEL_LAYOUT}, {"channels_last", LEVEL_LAYOUT},
    {"channels_last_3d", LEVEL_LAYOUT}, {"storage_nbytes", LEVEL_SHARING},
    {"version", LEVEL_VERSION},
};

/* Whether a key says something: null, false (true of is_leaf) and nothing are what a plain tensor has. */
static const json_t *told(const json_t *of, const char *key)
{
    const json_t *x = json_object_get(of, key);
    bool plain = strcmp(key, "is_leaf") == 0 ? json_is_true(x) : json_is_false(x);
    return plain || json_is_null(x) ? NULL : x;
}

/* A gradient: each key that is expected; what is absent is not so. */
static void check_grad(judge *j, const char *name, const json_t *came, const json_t *expected)
{
    const char *key;
    json_t *value;
    char where[160];
    tolerance tol = tolerance_of(j, json_string_value(json_object_get(expected, "dtype")));
    snprintf(where, sizeof where, "%.100s grad", name);
    json_object_foreach((json_t *)expected, key, value)
        check(j, LEVEL_TAPE, where, key, json_object_get(came, key), value,
              strcmp(key, "values") == 0 ? tol : (tolerance){1e-12, 0});
    if (told(came, "requires_grad") && !told(expected, "requires_grad"))
        differ(j, LEVEL_TAPE, "%s grad requires_grad: expected false, came true", name);
}

/* The name of grad_fn matters where it is printed or observed; here it is judged apart from everything else. */
static void check_tape(judge *j, const char *name, tn_tensor *x, const json_t *expected)
{
    static const char *const flags[] = {"requires_grad", "is_leaf", "retains_grad"};
    json_t *came = describe_tape(x);
    const json_t *grad = told(came, "grad"), *need = told(expected, "grad");
    for (int k = 0; k < 3; k++)
        check(j, LEVEL_TAPE, name, flags[k], told(came, flags[k]), told(expected, flags[k]), (tolerance){0, 0});
    if (grad && need)
        check_grad(j, name, grad, need);
    else
        check(j, LEVEL_TAPE, name, "grad", grad, need, (tolerance){0, 0});
    check_error(j, LEVEL_TAPE, name, told(came, "grad_fn_error"), told(expected, "grad_fn_error"));
    grad = told(came, "grad_fn");
    need = told(expected, "grad_fn");
    check(j, !grad != !need ? LEVEL_TAPE : LEVEL_NAMES, name, "grad_fn", grad, need, (tolerance){0, 0});
    json_decref(came);
}

/* What hooks saw, in order: label, shape, dtype, values. */
static void check_events(judge *j, const json_t *came, const json_t *expected)
{
    char where[32];
    size_t n = json_array_size(came) > json_array_size(expected) ? json_array_size(came) : json_array_size(expected);
    for (size_t i = 0; i < n; i++) {
        const json_t *need = json_array_get(expected, i);
        snprintf(where, sizeof where, "%zu", i);
        check(j, LEVEL_TAPE, "event", where, json_array_get(came, i), need,
              tolerance_of(j, json_string_value(json_array_get(need, 2))));
    }
}

static void check_tensor(judge *j, const char *name, const tn_tensor *x, const json_t *expected)
{
    json_t *came = describe(x);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const json_t *need = json_object_get(expected, keys[k].name);
        tolerance tol = {0, 0};
        if (!need)
            continue;
        if (strcmp(keys[k].name, "values") == 0)
            tol = tolerance_of(j, json_string_value(json_object_get(expected, "dtype")));
        if (strcmp(keys[k].name, "checksum") == 0)
            tol = (tolerance){1e-12, 0};
        check(j, keys[k].level, name, keys[k].name, json_object_get(came, keys[k].name), need, tol);
    }
    check_tape(j, name, (tn_tensor *)x, expected);
    /* of gradients, tangents and products neither version nor view is told */
    bool untold = told(expected, "grad_fn_error") ||
                  (!json_object_get(expected, "version") && !told(expected, "is_view"));
    if (tn_is_view(x) != json_is_true(json_object_get(expected, "is_view")) && !untold)
        differ(j, LEVEL_NAMES, "%s is_view: expected %s", name,
               tn_is_view(x) ? "no view, came one" : "a view, came none");
    const char *base = json_string_value(json_object_get(expected, "base"));
    const tn_tensor *of = tn_is_view(x) ? tn_base(x) : NULL;
    if (base && (!of || of != replay_find(j->r, base)))
        differ(j, LEVEL_NAMES, "%s base: expected %s, came %s", name, base, of ? "another" : "none");
    json_decref(came);
}

/* Every name that is alive at the end is described, unless the case keeps some only; temporaries never are. */
static void check_kept(judge *j, const json_t *keep, const json_t *tensors)
{
    for (int i = 0; i < j->r->n_names; i++) {
        const char *name = j->r->names[i].name;
        if (!json_is_array(keep) && name[0] != '%' && !json_object_get(tensors, name))
            differ(j, LEVEL_CORE, "%s: expected none, came a tensor", name);
    }
}

/* Storages that have the same number are the same, others are not. */
static void check_sharing(judge *j, const json_t *tensors)
{
    const char *a, *b;
    json_t *x, *y;
    json_object_foreach((json_t *)tensors, a, x)
        json_object_foreach((json_t *)tensors, b, y) {
            const json_t *p = json_object_get(x, "storage"), *q = json_object_get(y, "storage");
            tn_tensor *s = replay_find(j->r, a), *t = replay_find(j->r, b);
            if (p && q && s && t && json_equal(p, q) != tn_is_same_storage(s, t))
                differ(j, LEVEL_SHARING, "%s and %s: expected %s, came the opposite", a, b,
                       json_equal(p, q) ? "one storage" : "two storages");
        }
}

static void check_tensors(judge *j, const json_t *tensors)
{
    const char *name;
    json_t *expected;
    json_object_foreach((json_t *)tensors, name, expected) {
        tn_tensor *x = replay_find(j->r, name);
        const char *other = json_string_value(json_object_get(expected, "same_as"));
        if (!x)
            differ(j, LEVEL_CORE, "%s: expected a tensor, came nothing", name);
        else if (other && replay_find(j->r, other) != x)
            differ(j, LEVEL_CORE, "%s: expected the very tensor %s, came another", name, other);
        else if (!other)
            check_tensor(j, name, x, expected);
    }
    for (int i = 0; i < j->r->n_names; i++) {
        name = j->r->names[i].name;
        tn_tensor *x = j->r->names[i].tensor;
        if (!json_object_get(tensors, name) || json_object_get(json_object_get(tensors, name), "same_as"))
            continue;
        for (int k = 0; k < i; k++)
            if (j->r->names[k].tensor == x && json_object_get(tensors, j->r->names[k].name))
                differ(j, LEVEL_CORE, "%s: expected a tensor of its own, came %s", name, j->r->names[k].name);
    }
    check_sharing(j, tensors);
}

static void check_texts(judge *j, const char *what, const json_t *came, const json_t *expected)
{
    const char *label;
    json_t *value;
    json_object_foreach((json_t *)expected, label, value)
        check(j, LEVEL_CORE, what, label, json_object_get(came, label), value, tolerance_of(j, NULL));
    json_object_foreach((json_t *)came, label, value)
        if (label[0] != '\n' && !json_object_get(expected, label))
            differ(j, LEVEL_CORE, "%s %s: expected none, came one", what, label);
}

void compare_case(const replay *r, const json_t *test, char differences[LEVELS][TEXT])
{
    judge j = {r, json_object_get(test, "tol"), differences};
    const json_t *expect = json_object_get(test, "expect"), *attempts = json_object_get(expect, "attempts");
    const char *label;
    json_t *value;
    memset(differences, 0, sizeof(char[LEVELS][TEXT]));
    check_error(&j, LEVEL_CORE, "program", r->error, json_object_get(expect, "error"));
    json_object_foreach((json_t *)attempts, label, value) {
        const json_t *came = json_object_get(r->attempts, label);
        if (json_is_object(value) || json_is_object(came))
            check_error(&j, LEVEL_CORE, label, came, value);
        else
            check(&j, LEVEL_CORE, "attempt", label, came, value, (tolerance){0, 0});
    }
    json_object_foreach(r->attempts, label, value)
        if (!json_object_get(attempts, label))
            differ(&j, LEVEL_CORE, "attempt %s: expected none, came one", label);
    check_texts(&j, "observed", r->observed, json_object_get(expect, "observed"));
    check_texts(&j, "printed", r->printed, json_object_get(expect, "printed"));
    check_events(&j, r->events, json_object_get(expect, "events"));
    check_tensors(&j, json_object_get(expect, "tensors"));
    check_kept(&j, json_object_get(test, "keep"), json_object_get(expect, "tensors"));
}
