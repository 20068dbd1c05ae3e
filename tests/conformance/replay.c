/* Runs the statements of a recorded program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/replay.h"

tn_tensor *replay_find(const replay *r, const char *name)
{
    for (int i = 0; name && i < r->n_names; i++)
        if (strcmp(r->names[i].name, name) == 0)
            return r->names[i].tensor;
    return NULL;
}

void replay_bind(replay *r, const char *name, tn_tensor *x)
{
    for (int i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i].name, name) == 0) {
            r->names[i].tensor = x;
            return;
        }
    if (r->n_names < NAMES) {
        r->names[r->n_names].name = name;
        r->names[r->n_names++].tensor = x;
    }
}

static const char *word_of(const json_t *statement, size_t i)
{
    const char *text = json_string_value(json_array_get(statement, i));
    return text ? text : "";
}

/* Whether the dtypes among a call's arguments are there. */
static bool are_dtypes_there(const json_t *call, bool query, char *missing, size_t size)
{
    const char *codes = "", *name = word_of(call, 0);
    query ? query_codes(name, &codes) : word_codes(name, &codes);
    for (size_t i = 1; *codes; i++, codes += 1 + (codes[1] == '?'))
        if (*codes == 'D' && is_foreign_dtype(word_of(call, i))) {
            snprintf(missing, size, "dtype %s", word_of(call, i));
            return false;
        }
    return true;
}

/* Whether all that the statements need is there. */
static bool is_there(const json_t *statements, char *missing, size_t size)
{
    for (size_t i = 0; i < json_array_size(statements); i++) {
        const json_t *s = json_array_get(statements, i), *call = json_array_get(s, json_array_size(s) > 2 ? 2 : 1);
        const char *kind = word_of(s, 0);
        bool there = true;
        if (strcmp(kind, "attempt") == 0)
            there = is_there(call, missing, size);
        else if (strcmp(kind, "observe") == 0)
            there = query_is_there(call, missing, size) && are_dtypes_there(call, true, missing, size);
        else if (json_is_array(call))
            there = word_is_there(call, missing, size) && are_dtypes_there(call, false, missing, size);
        else if (strcmp(kind, "default_dtype") == 0 && is_foreign_dtype(word_of(s, 1)))
            there = snprintf(missing, size, "dtype %s", word_of(s, 1)) < 0;
        if (!there)
            return false;
    }
    return true;
}

static void run_assign(replay *r, const json_t *s)
{
    const json_t *from = json_array_get(s, 2);
    tn_tensor *x = NULL;
    tn_list *list = NULL;
    if (json_is_string(from)) {
        x = replay_find(r, json_string_value(from));
    } else {
        word_call(r, from, &x, &list);
        if (list)
            x = tn_list_get(list, 0);
    }
    if (!tn_error_code() && x)
        replay_bind(r, word_of(s, 1), x);
}

static void run_multi(replay *r, const json_t *s)
{
    tn_tensor *one = NULL;
    tn_list *list = NULL;
    json_t *absent = json_array();
    char label[128];
    word_call(r, json_array_get(s, 2), &one, &list);
    for (int64_t i = 0; list && i < tn_list_size(list); i++) {
        tn_tensor *x = tn_list_tensors(list)[i];
        if (!x) {
            json_array_append_new(absent, json_integer(i));
            continue;
        }
        /* the program's text outlives the names; a string kept in the record of what was observed does too */
        snprintf(label, sizeof label, "%s%lld", word_of(s, 1), (long long)i);
        json_t *names = json_object_get(r->observed, "\n");
        if (!names) {
            names = json_object();
            json_object_set_new(r->observed, "\n", names);
        }
        json_t *name = json_object_get(names, label);
        if (!name) { /* it stays for good: the names keep its text */
            name = json_string(label);
            json_object_set_new(names, label, name);
        }
        replay_bind(r, json_string_value(name), x);
    }
    snprintf(label, sizeof label, "%s.count", word_of(s, 1));
    if (list)
        json_object_set_new(r->observed, label, json_integer(tn_list_size(list)));
    snprintf(label, sizeof label, "%s.absent", word_of(s, 1));
    if (json_array_size(absent) > 0)
        json_object_set(r->observed, label, absent);
    json_decref(absent);
}

static void run_print_options(const json_t *options)
{
    tn_print_options o = tn_get_print_options();
    const json_t *v;
    o.sci_mode = TN_SCI_AUTOMATIC; /* torch.set_printoptions forgets it when it is not given */
    if ((v = json_object_get(options, "precision")))
        o.precision = (int)json_integer_value(v);
    if ((v = json_object_get(options, "threshold")))
        o.threshold = json_is_integer(v) ? json_integer_value(v) : INT64_MAX;
    if ((v = json_object_get(options, "edgeitems")))
        o.edgeitems = json_integer_value(v);
    if ((v = json_object_get(options, "linewidth")))
        o.linewidth = json_integer_value(v);
    if ((v = json_object_get(options, "sci_mode")))
        o.sci_mode = json_is_true(v) ? TN_SCI_ON : json_is_false(v) ? TN_SCI_OFF : TN_SCI_AUTOMATIC;
    tn_set_print_options(&o);
}

static bool run_all(replay *r, const json_t *statements, size_t *at);

static void run_attempt(replay *r, const json_t *s)
{
    size_t at;
    json_t *result = NULL;
    if (run_all(r, json_array_get(s, 2), &at))
        result = json_string("ok");
    else
        result = error_json(tn_error_get());
    tn_error_clear();
    json_object_set_new(r->attempts, word_of(s, 1), result);
}

static void run_del(replay *r, const json_t *s)
{
    for (int i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i].name, word_of(s, 1)) == 0) {
            memmove(&r->names[i], &r->names[i + 1], (size_t)(--r->n_names - i) * sizeof *r->names);
            return;
        }
}

static void run_one(replay *r, const json_t *s)
{
    const char *kind = word_of(s, 0);
    tn_tensor *one;
    tn_list *several;
    if (tape_statement(r, s) || optim_statement(r, s)) {
        return;
    } else if (strcmp(kind, "assign") == 0) {
        run_assign(r, s);
    } else if (strcmp(kind, "multi") == 0) {
        run_multi(r, s);
    } else if (strcmp(kind, "do") == 0) {
        word_call(r, json_array_get(s, 1), &one, &several);
    } else if (strcmp(kind, "observe") == 0) {
        json_t *answer = query_answer(r, json_array_get(s, 2));
        if (answer)
            json_object_set_new(r->observed, word_of(s, 1), answer);
    } else if (strcmp(kind, "attempt") == 0) {
        run_attempt(r, s);
    } else if (strcmp(kind, "print") == 0) {
        json_object_set_new(r->printed, word_of(s, 1), json_string(tn_repr(replay_find(r, word_of(s, 2)))));
    } else if (strcmp(kind, "print_options") == 0) {
        run_print_options(json_array_get(s, 1));
    } else if (strcmp(kind, "default_dtype") == 0) {
        tn_set_default_dtype(tn_dtype_from_name(word_of(s, 1)));
    } else {
        run_del(r, s);
    }
}

/* False when a statement failed, *at; the error is pending. */
static bool run_all(replay *r, const json_t *statements, size_t *at)
{
    for (*at = 0; *at < json_array_size(statements); ++*at) {
        run_one(r, json_array_get(statements, *at));
        if (tn_error_code())
            return false;
    }
    return true;
}

void replay_run(replay *r, const json_t *program)
{
    size_t at;
    memset(r, 0, sizeof *r);
    r->program = program;
    if (!is_there(program, r->missing, sizeof r->missing))
        return;
    r->observed = json_object();
    r->attempts = json_object();
    r->printed = json_object();
    r->events = json_array();
    if (!run_all(r, program, &at)) {
        r->error = error_json(tn_error_get());
        json_object_set_new(r->error, "at", json_integer((json_int_t)at));
        tn_error_clear();
    }
    tape_end(r);
    tn_set_print_options(NULL);
    tn_set_default_dtype(TN_FLOAT32);
}

void replay_free(replay *r)
{
    for (int i = 0; i < r->n_names; i++) /* a gradient that has a history may hold its own tensor */
        tn_set_grad(r->names[i].tensor, NULL);
    json_decref(r->observed);
    json_decref(r->attempts);
    json_decref(r->printed);
    json_decref(r->events);
    json_decref(r->error);
}
