/* Reads expressions by recursive descent:
 *
 *     text        statement { ";" statement } [ ";" ]
 *     statement   [ name "=" ] expression
 *     expression  product { ( "+" | "-" ) product }
 *     product     operand { ( "*" | "/" | "@" ) operand }
 *     operand     [ "-" ] ( number | [ "torch." ] function "(" arguments ")" | name | "(" expression ")" )
 *                 { method | index }
 *     method      "." name [ "(" arguments ")" ]
 *     index       "[" item { "," item } "]"
 *
 * Each call is made as soon as it is read, so what is refused is refused at its own place. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "explain_reader.h"
#include "report.h"

bool reader_fail(reader *r, int begin, int end, const char *format, ...)
{
    va_list list;
    if (r->failed)
        return false;
    r->failed = true;
    r->why->begin = begin;
    r->why->length = end > begin ? end - begin : 1;
    r->why->column = utf8_count(r->text, begin) + 1;
    va_start(list, format);
    vsnprintf(r->why->message, sizeof r->why->message, format, list);
    va_end(list);
    return false;
}

bool reader_letter(const reader *r, int at)
{
    unsigned char c = at < r->end ? (unsigned char)r->text[at] : 0;
    return isalnum(c) || c == '_' || c >= 0x80;
}

/* The library's message in the words of the expression: its own function's name in front gives way to what stands in
 * the text, and functions that it names lose their prefix. */
static void translate(const reader *r, int begin, int end, bool named, char *buf, size_t size)
{
    const char *from = tn_error_message();
    size_t prefix = strspn(from, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), used = 0;
    if (prefix && strncmp(from + prefix, ": ", 2) == 0)
        from += prefix + 2;
    while (named && begin < end && (r->text[begin] == '.' || isspace((unsigned char)r->text[begin])))
        begin++;
    while (named && begin + (int)used < end && reader_letter(r, begin + (int)used))
        used++;
    if (used)
        used = (size_t)snprintf(buf, size, "%.*s: ", (int)(used < 40 ? used : 40), r->text + begin);
    for (const char *c = from; *c && used + 1 < size; c++) {
        if (strncmp(c, "tn_", 3) == 0 && (c == from || !isalnum((unsigned char)c[-1])))
            c += 3;
        buf[used++] = *c;
    }
    buf[used] = '\0';
}

bool reader_refused(reader *r, int begin, int end, bool named)
{
    char message[sizeof r->why->message];
    translate(r, begin, end, named, message, sizeof message);
    if (tn_error_code() == TN_ERROR_MEMORY)
        reader_fail(r, begin, end, "%s: more than the %d MiB that tenon explain takes", message, EXPLAIN_MEMORY >> 20);
    else
        reader_fail(r, begin, end, "%s", message);
    r->why->by_library = true;
    tn_error_clear();
    return false;
}

char reader_peek(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)r->text[r->at]))
        r->at++;
    return r->at < r->end ? r->text[r->at] : '\0';
}

bool reader_accept(reader *r, char c)
{
    if (reader_peek(r) != c || r->at >= r->end)
        return false;
    r->at++;
    return true;
}

int reader_word(reader *r)
{
    int length = 0;
    reader_peek(r);
    if (!isdigit((unsigned char)r->text[r->at]))
        while (reader_letter(r, r->at + length))
            length++;
    return length;
}

bool reader_is(const reader *r, int begin, int length, const char *word)
{
    return strlen(word) == (size_t)length && strncmp(r->text + begin, word, (size_t)length) == 0;
}

/* Length of what is next: a word, a number, or one character. */
static int token(const reader *r)
{
    int length = 0;
    while (reader_letter(r, r->at + length))
        length++;
    return length || r->at == r->end ? length : 1;
}

bool reader_found(reader *r, int begin, int end, const char *needed)
{
    char found[SHOWN_BYTES];
    return reader_fail(r, begin, end, "found '%s', needed %s", utf8_shown(r->text + begin, end - begin, found), needed);
}

bool reader_expected(reader *r, const char *needed)
{
    reader_peek(r);
    int length = token(r);
    if (length == 0)
        return reader_fail(r, r->at, r->at, "found the end, needed %s", needed);
    return reader_found(r, r->at, r->at + length, needed);
}

bool reader_expect(reader *r, char c, const char *needed)
{
    return reader_accept(r, c) || reader_expected(r, needed);
}

bool reader_whole(reader *r, int64_t *value, const char *needed)
{
    tn_scalar number;
    reader_peek(r);
    int begin = r->at;
    if (!reader_number(r, &number, needed))
        return false;
    if (number.kind != TN_SCALAR_INT)
        return reader_found(r, begin, r->at, needed);
    *value = number.value.i;
    return true;
}

/* Without "torch." float, int and complex are Python's own types. */
static bool read_dtype(reader *r, given *argument, int length)
{
    static const char *const alias[][2] = {{"float", "float32"},    {"double", "float64"},     {"half", "float16"},
                                           {"short", "int16"},      {"int", "int32"},          {"long", "int64"},
                                           {"cfloat", "complex64"}, {"cdouble", "complex128"}, {"chalf", "complex32"}};
    static const char *const own[][2] = {{"float", "float64"}, {"int", "int64"}, {"complex", "complex128"}};
    bool torch = r->at && r->text[r->at - 1] == '.';
    char name[32];
    snprintf(name, sizeof name, "%.*s", length < 31 ? length : 31, r->text + r->at);
    for (size_t i = 0; i < sizeof own / sizeof *own && !torch; i++)
        if (strcmp(name, own[i][0]) == 0)
            snprintf(name, sizeof name, "%s", own[i][1]);
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (strcmp(name, alias[i][0]) == 0)
            snprintf(name, sizeof name, "%s", alias[i][1]);
    argument->kind = GIVEN_DTYPE;
    argument->dtype = tn_dtype_from_name(name);
    tn_error_clear();
    return argument->dtype != TN_DTYPE_NONE;
}

static bool read_format(reader *r, given *argument, int length)
{
    static const char *const name[] = {[TN_CONTIGUOUS_FORMAT] = "contiguous_format",
                                       [TN_CHANNELS_LAST] = "channels_last",
                                       [TN_CHANNELS_LAST_3D] = "channels_last_3d",
                                       [TN_PRESERVE_FORMAT] = "preserve_format"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (reader_is(r, r->at, length, name[i])) {
            argument->kind = GIVEN_FORMAT;
            argument->format = (tn_memory_format)i;
            return true;
        }
    return false;
}

bool reader_dtype(reader *r, tn_dtype *dtype)
{
    given argument = {0};
    int length = reader_word(r);
    if (!reader_is(r, r->at, length, "dtype"))
        return reader_expected(r, "')' or dtype=");
    r->at += length;
    if (!reader_expect(r, '=', "'='"))
        return false;
    length = reader_word(r);
    if (reader_is(r, r->at, length, "torch") && r->text[r->at + length] == '.')
        r->at += length + 1, length = reader_word(r);
    bool none = reader_is(r, r->at, length, "None");
    argument.dtype = TN_DTYPE_NONE;
    if (!length || !(none || read_dtype(r, &argument, length)))
        return reader_expected(r, "a dtype, such as torch.float64");
    r->at += length;
    *dtype = argument.dtype;
    return true;
}

bool reader_requires(reader *r, bool *requires)
{
    static const char needed[] = "True or False";
    tn_scalar number;
    r->at += reader_word(r);
    if (!reader_expect(r, '=', "'='"))
        return false;
    int begin = (reader_peek(r), r->at);
    if (!reader_number(r, &number, needed))
        return false;
    if (number.kind != TN_SCALAR_BOOL)
        return reader_found(r, begin, r->at, needed);
    *requires = number.value.i;
    return true;
}

/* (2, 3), [2, 3], (2,) or (): whole numbers; (3) is a number. */
static bool read_list(reader *r, given *argument, char close)
{
    argument->kind = GIVEN_LIST;
    r->at++;
    while (!reader_accept(r, close)) {
        if (argument->n && !reader_expect(r, ',', close == ')' ? "',' or ')'" : "',' or ']'"))
            return false;
        if (argument->n && reader_accept(r, close))
            return true;
        if (argument->n == GIVEN_LIMIT)
            return reader_expected(r, "a list of at most 72 numbers");
        if (!reader_whole(r, &argument->list[argument->n++], "a whole number"))
            return false;
        if (argument->n == 1 && close == ')' && reader_accept(r, close)) {
            argument->kind = GIVEN_NUMBER;
            argument->number = tn_int(argument->list[0]);
            return true;
        }
    }
    return true;
}

/* A tensor or number that operators may stand in. */
static bool read_computed(reader *r, given *argument)
{
    operand value;
    if (!reader_operand(r, &value))
        return false;
    argument->kind = value.is_number ? GIVEN_NUMBER : GIVEN_TENSOR;
    argument->number = value.number;
    argument->step = value.step;
    return true;
}

static bool read_value(reader *r, given *argument)
{
    static const char needed[] = "a number, a list of numbers, a dtype or a tensor";
    char c = reader_peek(r);
    argument->begin = r->at;
    if (c == '(' || c == '[') {
        if (!read_list(r, argument, c == '(' ? ')' : ']'))
            return false;
    } else if (c && reader_is_number(r) && reader_number_alone(r)) {
        if (!reader_number(r, &argument->number, needed))
            return false;
    } else if (c && strchr("-+.0123456789", c)) {
        if (!read_computed(r, argument))
            return false;
    } else {
        int begin = r->at, length = reader_word(r);
        if (length && reader_is(r, r->at, length, "torch") && r->text[r->at + length] == '.')
            r->at += length + 1, length = reader_word(r);
        if (length && reader_is(r, r->at, length, "None")) {
            argument->kind = GIVEN_NONE;
            r->at += length;
        } else if (length && (read_dtype(r, argument, length) || read_format(r, argument, length))) {
            r->at += length;
        } else if (length) {
            r->at = begin;
            if (!read_computed(r, argument))
                return false;
        } else {
            return reader_expected(r, needed);
        }
    }
    argument->end = r->at;
    return true;
}

bool reader_arguments(reader *r, given *arguments, int *n)
{
    *n = 0;
    if (!reader_expect(r, '(', "'('"))
        return false;
    while (!reader_accept(r, ')')) {
        if (*n && !reader_expect(r, ',', "',' or ')'"))
            return false;
        if (*n && reader_accept(r, ')'))
            return true;
        if (*n == GIVEN_LIMIT)
            return reader_expected(r, "at most 72 arguments");
        given *argument = &arguments[(*n)++];
        memset(argument, 0, sizeof *argument);
        int length = reader_word(r), begin = r->at;
        r->at += length;
        if (length && reader_accept(r, '=')) {
            argument->word = begin;
            argument->word_length = length;
        } else {
            r->at = begin;
            if (*n > 1 && arguments[*n - 2].word_length)
                return reader_expected(r, "a name and '=', as before it");
        }
        if (!read_value(r, argument))
            return false;
    }
    return true;
}

bool reader_step(reader *r, int begin, int self, tn_tensor *result, int *step)
{
    explain_expression *it = r->it;
    if (!result)
        return reader_refused(r, begin, r->at, true);
    if (it->n_steps == EXPLAIN_STEPS)
        return reader_fail(r, begin, r->at, "found more than %d calls, needed fewer", EXPLAIN_STEPS);
    explain_made made = MADE_NEW;
    if (self >= 0 && result == it->step[self].result)
        made = MADE_SAME;
    else if (self >= 0)
        made = tn_is_same_storage(result, it->step[self].result) ? MADE_VIEW : MADE_COPY;
    it->step[it->n_steps] =
        (explain_step){.begin = begin, .length = r->at - begin, .self = self, .made = made, .result = result};
    *step = it->n_steps++;
    return true;
}

/* A name that was given with =, or a function's call. */
static bool read_named(reader *r, int *step)
{
    int begin = r->at, length = reader_word(r);
    const explain_expression *it = r->it;
    for (int i = it->n_names - 1; i >= 0; i--)
        if (it->name[i].length == length &&
            strncmp(r->text + it->name[i].begin, r->text + begin, (size_t)length) == 0) {
            r->at += length;
            *step = it->name[i].step;
            return true;
        }
    if (reader_is(r, begin, length, "torch") && r->text[begin + length] == '.') {
        r->at += length + 1;
        length = reader_word(r);
        if (!length)
            return reader_expected(r, "a function of torch");
    }
    int at = r->at;
    r->at += length;
    if (explain_is_creation(r, at, length))
        return reader_creation(r, at, length, step);
    if (reader_peek(r) == '(')
        return reader_function(r, at, length, step);
    const char *near = reader_nearest(r, at, length, false);
    r->at = at;
    char found[SHOWN_BYTES];
    if (near)
        return reader_fail(r, at, at + length, "found '%s', needed a function that makes a tensor: did you mean '%s'?",
                           utf8_shown(r->text + at, length, found), near);
    return reader_expected(r, "a function that makes a tensor, such as arange(12), or a name given before with =");
}

bool reader_primary(reader *r, operand *value)
{
    *value = (operand){.step = -1};
    if (++r->depth > EXPLAIN_NESTING)
        return reader_fail(r, r->at, r->at + 1, "found more than %d brackets within each other, needed fewer",
                           EXPLAIN_NESTING);
    if (reader_accept(r, '(')) {
        if (!reader_operand(r, value) || !reader_expect(r, ')', "')'"))
            return false;
    } else if (reader_is_number(r) && !strchr("+-", reader_peek(r))) {
        value->is_number = true;
        if (!reader_term(r, false, &value->number, "a number"))
            return false;
    } else if (!reader_word(r)) {
        return reader_expected(r, "a tensor, such as arange(12)");
    } else if (!read_named(r, &value->step)) {
        return false;
    }
    for (char c; !value->is_number && ((c = reader_peek(r)) == '.' || c == '[');)
        if (!(c == '.' ? reader_method(r, &value->step) : reader_index(r, &value->step)))
            return false;
    r->depth--;
    return true;
}

static bool read_statement(reader *r)
{
    int length = reader_word(r), begin = r->at;
    explain_expression *it = r->it;
    r->at += length;
    bool named = length && reader_accept(r, '=');
    if (!named)
        r->at = begin;
    else if (it->n_names == EXPLAIN_NAMES)
        return reader_fail(r, begin, begin + length, "found more than %d names, needed fewer", EXPLAIN_NAMES);
    if (!reader_expression(r, &it->last))
        return false;
    if (named)
        it->name[it->n_names++] = (explain_name){.begin = begin, .length = length, .step = it->last};
    return true;
}

bool explain_read(const char *text, explain_expression *it, explain_trouble *why)
{
    size_t length = strlen(text);
    *it = (explain_expression){.text = text};
    *why = (explain_trouble){0};
    reader r = {.text = text, .it = it, .why = why};
    if (length > EXPLAIN_LENGTH)
        return reader_fail(&r, EXPLAIN_LENGTH, EXPLAIN_LENGTH, "found %zu bytes, needed an expression of at most %d",
                           length, EXPLAIN_LENGTH);
    r.end = (int)length;
    do {
        if (!read_statement(&r))
            return false;
    } while (reader_accept(&r, ';') && reader_peek(&r));
    if (reader_peek(&r))
        return reader_expected(&r, "'.', '[', ';' or the end");
    return true;
}
