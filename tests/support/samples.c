/* Reading samples. */
#include "support/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t';
}

static void read_numbers(const char *token, sample_argument *a)
{
    const char *at = token + 1;
    while (*at && *at != ']' && *at != ')') {
        char *end;
        if (a->n == SAMPLE_NUMBERS)
            fail_msg("too many numbers in \"%s\"", token);
        a->numbers[a->n++] = strtoll(at, &end, 10);
        if (end == at || (*end != ',' && *end != ']' && *end != ')'))
            fail_msg("a list that is none: \"%s\"", token);
        at = *end == ',' ? end + 1 : end;
    }
    if (*at == '\0' || at[1] != '\0')
        fail_msg("a list that does not end: \"%s\"", token);
}

static void read_number(const char *token, sample_argument *a)
{
    char *end;
    a->kind = SAMPLE_NUMBER;
    if (strpbrk(token, ".en")) /* a point, an exponent, inf or nan */
        a->number = tn_float(strtod(token, &end));
    else
        a->number = tn_int(strtoll(token, &end, 10));
    if (*end != '\0' || end == token)
        fail_msg("a number that is none: \"%s\"", token);
}

/* A bound of a slice, which may be left out. */
static int64_t read_bound(const char **at, int64_t otherwise)
{
    char *end;
    int64_t bound = strtoll(*at, &end, 10);
    if (end == *at)
        return otherwise;
    *at = end;
    return bound;
}

static void read_index(const char *token, sample_argument *a)
{
    const char *at = token + 1;
    a->kind = SAMPLE_INDEX;
    while (*at && *at != '}') {
        if (a->n == SAMPLE_NUMBERS)
            fail_msg("too many entries in \"%s\"", token);
        tn_index *entry = &a->index[a->n++];
        if (strncmp(at, "...", 3) == 0) {
            *entry = tn_index_ellipsis();
            at += 3;
        } else if (*at == '^') {
            *entry = tn_index_new_axis();
            at++;
        } else {
            int64_t start = read_bound(&at, 0), stop, step = 1;
            *entry = tn_index_integer(start);
            if (*at == ':') {
                at++;
                stop = read_bound(&at, TN_SLICE_END);
                if (*at == ':') {
                    at++;
                    step = read_bound(&at, 1);
                }
                *entry = tn_index_step(start, stop, step);
            }
        }
        if (*at != ',' && *at != '}')
            fail_msg("an index that is none: \"%s\"", token);
        at += *at == ',';
    }
}

/* "<2,3:4>", up to its end. */
static const char *read_positions(const char *at, sample_positions *to)
{
    const char *token = at++;
    char *end;
    const char close = *token == '[' ? ']' : '>';
    while (*at && *at != ':' && *at != close) {
        to->sizes[to->n++] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
        if (to->n == SAMPLE_NUMBERS || (*end != ',' && *end != ':' && *end != close))
            fail_msg("positions that are none: \"%s\"", token);
    }
    if (close == ']') {
        if (*at != close)
            fail_msg("a shape that is none: \"%s\"", token);
        to->numbers = true;
        return at + 1;
    }
    to->range = strtoll(at + 1, &end, 10);
    if (*at != ':' || *end != '>' || to->range == 0)
        fail_msg("positions without a range: \"%s\"", token);
    return end + 1;
}

static void read_list(const char *token, sample_argument *a)
{
    const char *at = token + 1;
    a->kind = SAMPLE_LIST_OF;
    for (; *at; at += *at == ';') {
        if (a->n == SAMPLE_LIST || (*at != '<' && *at != '[' && *at != '_'))
            fail_msg("a list that is none: \"%s\"", token);
        at = *at == '_' ? at + 1 : read_positions(at, &a->list[a->n]);
        a->n++;
    }
}

static void read_argument(const char *token, sample_argument *a)
{
    memset(a, 0, sizeof *a);
    if (token[0] == '[' || token[0] == '(') {
        a->kind = token[0] == '[' ? SAMPLE_TENSOR : SAMPLE_INTS;
        read_numbers(token, a);
    } else if (token[0] == '<') {
        sample_positions positions = {.n = 0};
        read_positions(token, &positions);
        a->kind = SAMPLE_TENSOR;
        a->n = positions.n;
        a->range = positions.range;
        memcpy(a->numbers, positions.sizes, sizeof a->numbers);
    } else if (token[0] == '@') {
        read_list(token, a);
    } else if (token[0] == '{') {
        read_index(token, a);
    } else if (strcmp(token, "none") == 0) {
        a->kind = SAMPLE_NONE;
    } else if (strcmp(token, "true") == 0 || strcmp(token, "false") == 0) {
        a->kind = SAMPLE_NUMBER;
        a->number = tn_bool(token[0] == 't');
    } else if (strchr("-0123456789", token[0]) || strcmp(token, "inf") == 0 || strcmp(token, "nan") == 0) {
        read_number(token, a);
    } else {
        a->kind = SAMPLE_DTYPE;
        a->dtype = tn_dtype_from_name(token);
        if (a->dtype == TN_DTYPE_NONE)
            fail_msg("a token that is none: \"%s\"", token);
    }
}

bool sample_next(const char **text, sample *s)
{
    const char *at = *text;
    memset(s, 0, sizeof *s);
    while (is_space(*at))
        at++;
    if (*at == '\0')
        return false;
    const char *end = strchr(at, '|');
    size_t length = end ? (size_t)(end - at) : strlen(at);
    while (length > 0 && is_space(at[length - 1]))
        length--;
    snprintf(s->text, sizeof s->text, "%.*s", (int)length, at);
    *text = end ? end + 1 : at + strlen(at);
    const char *last = at + length;
    if (at < last && *at == '!') {
        s->fails = true;
        at++;
    }
    while (at < last) {
        char token[64];
        int n = 0;
        while (at < last && is_space(*at))
            at++;
        while (at < last && !is_space(*at) && n < (int)sizeof token - 1)
            token[n++] = *at++;
        token[n] = '\0';
        if (n == 0)
            break;
        if (s->n == SAMPLE_ARGUMENTS)
            fail_msg("too many arguments in \"%s\"", s->text);
        read_argument(token, &s->arguments[s->n++]);
    }
    return true;
}
