/* The functions and methods that tenon explain knows: their parameters, how what stands in the text is matched with
 * them, and the call, by name. */
#include <inttypes.h>
#include <string.h>

#include "explain_pieces.h"
#include "explain_reader.h"
#include "options.h"

/* parameters: "name:kind" with a blank between. I a whole number, L whole numbers, V whole numbers that may stand
 * without brackets around them, J one or more whole numbers, S number or bool, B bool, D dtype, O dtype or a tensor
 * that has it, M memory format, T tensor, X tensor or number; ? may be left off. */
typedef struct method {
    const char *name, *parameters;
    const char *call;                             /* the operator where it has another name */
    enum { BOTH, METHOD_ONLY, FUNCTION_ONLY } as; /* x.f(...), f(x, ...) */
    bool attribute;                               /* no brackets after it */
    bool cast;
    tn_dtype dtype;         /* of a cast */
    const explain_cut *cut; /* it gives several tensors */
} method;

static const method methods[] = {
    {.name = "view", .as = METHOD_ONLY, .parameters = "size:V"}, /* or a dtype: view_dtype below */
    {.name = "view_as", .as = METHOD_ONLY, .parameters = "other:T"},
    {.name = "reshape", .parameters = "shape:V"},
    {.name = "reshape_as", .as = METHOD_ONLY, .parameters = "other:T"},
    {.name = "flatten", .parameters = "start_dim:I? end_dim:I?"},
    {.name = "unflatten", .parameters = "dim:I sizes:L"},
    {.name = "ravel", .parameters = ""},
    {.name = "transpose", .parameters = "dim0:I dim1:I"},
    {.name = "swapaxes", .parameters = "axis0:I axis1:I"},
    {.name = "swapdims", .parameters = "dim0:I dim1:I"},
    {.name = "t", .parameters = ""},
    {.name = "T", .as = METHOD_ONLY, .parameters = "", .attribute = true},
    {.name = "mT", .as = METHOD_ONLY, .parameters = "", .attribute = true},
    {.name = "H", .as = METHOD_ONLY, .parameters = "", .attribute = true},
    {.name = "mH", .as = METHOD_ONLY, .parameters = "", .attribute = true},
    {.name = "adjoint", .parameters = ""},
    {.name = "permute", .parameters = "dims:V"},
    {.name = "movedim", .parameters = "source:J destination:J"},
    {.name = "moveaxis", .parameters = "source:J destination:J"},
    {.name = "squeeze", .parameters = "dim:J?"},
    {.name = "unsqueeze", .parameters = "dim:I"},
    {.name = "expand", .as = METHOD_ONLY, .parameters = "size:V"},
    {.name = "expand_as", .as = METHOD_ONLY, .parameters = "other:T"},
    {.name = "broadcast_to", .parameters = "size:V"},
    {.name = "narrow", .parameters = "dim:I start:I length:I"},
    {.name = "select", .parameters = "dim:I index:I"},
    {.name = "diagonal", .parameters = "offset:I? dim1:I? dim2:I?"},
    {.name = "unfold", .as = METHOD_ONLY, .parameters = "dimension:I size:I step:I"},
    {.name = "as_strided", .parameters = "size:L stride:L storage_offset:I?"},
    {.name = "view_as_real", .as = FUNCTION_ONLY, .parameters = ""},
    {.name = "view_as_complex", .as = FUNCTION_ONLY, .parameters = ""},
    {.name = "detach", .parameters = ""},
    {.name = "alias", .as = FUNCTION_ONLY, .parameters = ""},
    {.name = "real", .parameters = "", .attribute = true},
    {.name = "imag", .parameters = "", .attribute = true},
    {.name = "conj", .parameters = ""},
    {.name = "contiguous", .as = METHOD_ONLY, .parameters = "memory_format:M?"},
    {.name = "clone", .parameters = "memory_format:M?"},
    {.name = "to", .as = METHOD_ONLY, .parameters = "dtype:O? non_blocking:B? copy:B? memory_format:M?"},
    {.name = "resolve_conj", .parameters = ""},
    {.name = "zeros_like", .as = FUNCTION_ONLY, .parameters = "dtype:D? memory_format:M?"},
    {.name = "ones_like", .as = FUNCTION_ONLY, .parameters = "dtype:D? memory_format:M?"},
    {.name = "empty_like", .as = FUNCTION_ONLY, .parameters = "dtype:D? memory_format:M?", .call = "zeros_like"},
    {.name = "type", .as = METHOD_ONLY, .parameters = "dtype:D", .call = "to"},
    {.name = "cpu", .as = METHOD_ONLY, .parameters = "", .call = "to"},
    {.name = "data", .as = METHOD_ONLY, .parameters = "", .attribute = true, .call = "detach"},
    {.name = "float", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_FLOAT32},
    {.name = "double", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_FLOAT64},
    {.name = "half", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_FLOAT16},
    {.name = "bfloat16", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_BFLOAT16},
    {.name = "int", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_INT32},
    {.name = "long", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_INT64},
    {.name = "short", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_INT16},
    {.name = "char", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_INT8},
    {.name = "byte", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_UINT8},
    {.name = "bool", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_BOOL},
    {.name = "cfloat", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_COMPLEX64},
    {.name = "cdouble", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_COMPLEX128},
    {.name = "chalf", .as = METHOD_ONLY, .parameters = "", .call = "to", .cast = true, .dtype = TN_COMPLEX32},
    {.name = "chunk", .parameters = "chunks:I dim:I?", .cut = &cut_chunk},
    {.name = "split", .parameters = "split_size:J dim:I?", .cut = &cut_split},
    {.name = "tensor_split", .parameters = "indices_or_sections:J dim:I?", .cut = &cut_tensor_split},
    {.name = "hsplit", .parameters = "indices_or_sections:J", .cut = &cut_hsplit},
    {.name = "vsplit", .parameters = "indices_or_sections:J", .cut = &cut_vsplit},
    {.name = "dsplit", .parameters = "indices_or_sections:J", .cut = &cut_dsplit},
    {.name = "unbind", .parameters = "dim:I?", .cut = &cut_unbind},
    {.name = "requires_grad_", .as = METHOD_ONLY, .parameters = "requires_grad:B?"},
    {.name = "backward", .as = METHOD_ONLY, .parameters = "retain_graph:B?"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static const method view_dtype = {.name = "view", .parameters = "dtype:D", .call = "view_dtype"};

static const method creations[] = {
    {.name = "arange", .parameters = "start:S? end:S? step:S? dtype:D? requires_grad:B?"},
    {.name = "zeros", .parameters = "size:V dtype:D? requires_grad:B?"},
    {.name = "ones", .parameters = "size:V dtype:D? requires_grad:B?"},
    {.name = "full", .parameters = "size:L fill_value:S dtype:D? requires_grad:B?"},
    {.name = "empty", .parameters = "size:V dtype:D? requires_grad:B?"},
    {.name = "empty_strided", .parameters = "size:L stride:L dtype:D? requires_grad:B?"},
    {.name = "eye", .parameters = "n:I m:I? dtype:D? requires_grad:B?"},
    {.name = "linspace", .parameters = "start:S end:S steps:I dtype:D? requires_grad:B?"},
    {.name = "tensor", .parameters = ""},
};
enum { CREATIONS = sizeof creations / sizeof *creations };

enum { PARAMETERS = 6 };

/* Arguments matched with parameters; values as tn_call takes them. */
typedef struct bound {
    const given *from[PARAMETERS];
    tn_value value[PARAMETERS];
    int64_t list[GIVEN_LIMIT]; /* of V */
    int n;                     /* up to the last that is given */
} bound;

typedef struct parameter {
    const char *name;
    int length;
    char kind;
    bool optional;
} parameter;

static int parameters_of(const method *m, parameter *list)
{
    int n = 0;
    for (const char *at = m->parameters; *at; n++) {
        int length = (int)strcspn(at, ":");
        list[n] = (parameter){.name = at, .length = length, .kind = at[length + 1], .optional = at[length + 2] == '?'};
        at += length + 2 + list[n].optional;
        at += *at == ' ';
    }
    return n;
}

/* "transpose(dim0, dim1)" */
static const char *usage_of(const method *m, char buf[128])
{
    parameter list[PARAMETERS];
    int n = parameters_of(m, list), used = snprintf(buf, 128, "%s(", m->name);
    for (int i = 0; i < n; i++)
        used += snprintf(buf + used, 128 - (size_t)used, "%s%s%.*s%s", i ? ", " : "", list[i].kind == 'V' ? "*" : "",
                         list[i].length, list[i].name, list[i].optional ? "?" : "");
    snprintf(buf + used, 128 - (size_t)used, ")");
    return buf;
}

static const char *needed_of(char kind)
{
    switch (kind) {
    case 'I':
        return "a whole number";
    case 'L':
        return "a list of whole numbers, such as (3, 4)";
    case 'V':
        return "whole numbers, such as 3, 4";
    case 'J':
        return "a whole number or a list of them";
    case 'S':
        return "a number";
    case 'B':
        return "True or False";
    case 'M':
        return "a memory format, such as torch.channels_last";
    case 'D':
    case 'O':
        return "a dtype, such as torch.float64";
    case 'X':
        return "a tensor or a number";
    default:
        return "a tensor";
    }
}

/* A tn_value of the parameter's kind; false: what is given is of another. */
static bool box(const reader *r, const given *from, const parameter *to, tn_value *value)
{
    bool whole = from->kind == GIVEN_NUMBER && from->number.kind == TN_SCALAR_INT;
    bool list = to->kind == 'L' || to->kind == 'V' || to->kind == 'J';
    if (from->kind == GIVEN_NONE && to->optional) {
        value->kind = TN_VALUE_NONE;
        return true;
    }
    if (((to->kind == 'S' || to->kind == 'X') && from->kind == GIVEN_NUMBER) ||
        ((to->kind == 'I' || to->kind == 'J') && whole)) {
        value->kind = TN_VALUE_SCALAR;
        value->as.scalar = from->number;
    } else if (to->kind == 'B' && from->kind == GIVEN_NUMBER && from->number.kind == TN_SCALAR_BOOL) {
        value->kind = TN_VALUE_SCALAR;
        value->as.scalar = from->number;
    } else if (to->kind == 'M' && from->kind == GIVEN_FORMAT) {
        value->kind = TN_VALUE_FORMAT;
        value->as.format = from->format;
    } else if (list && from->kind == GIVEN_LIST) {
        value->kind = TN_VALUE_INTS;
        value->as.ints.data = from->list;
        value->as.ints.n = from->n;
    } else if ((to->kind == 'D' || to->kind == 'O') && from->kind == GIVEN_DTYPE) {
        value->kind = TN_VALUE_DTYPE;
        value->as.dtype = from->dtype;
    } else if (to->kind == 'O' && from->kind == GIVEN_TENSOR) {
        value->kind = TN_VALUE_DTYPE;
        value->as.dtype = tn_tensor_dtype(r->it->step[from->step].result);
    } else if ((to->kind == 'T' || to->kind == 'X') && from->kind == GIVEN_TENSOR) {
        value->kind = TN_VALUE_TENSOR;
        value->as.tensor = r->it->step[from->step].result;
    } else {
        return false;
    }
    return true;
}

static bool complain_kind(reader *r, const method *m, const parameter *to, const given *from)
{
    char found[SHOWN_BYTES];
    utf8_shown(r->text + from->begin, from->end - from->begin, found);
    return reader_fail(r, from->begin, from->end, "%s: %.*s: found '%s', needed %s", m->name, to->length, to->name,
                       found, needed_of(to->kind));
}

/* Whether the keyword is the parameter's name, or one of the two that "_or_" joins. */
static bool names(const parameter *to, const char *word, int length)
{
    const char *end = to->name + to->length;
    for (const char *from = to->name; from < end; from++) {
        const char *joint = strstr(from, "_or_"), *last = joint && joint < end ? joint : end;
        if (last - from == length && strncmp(word, from, (size_t)length) == 0)
            return true;
        if (last == end)
            break;
        from = last + 3;
    }
    return false;
}

/* The number of the parameter that the keyword names; -1: none does, which is noted. */
static int find_keyword(reader *r, const method *m, const parameter *list, int n, const given *from)
{
    char usage[128];
    for (int i = 0; i < n; i++)
        if (names(&list[i], r->text + from->word, from->word_length))
            return i;
    char found[SHOWN_BYTES];
    utf8_shown(r->text + from->word, from->word_length, found);
    reader_fail(r, from->word, from->word + from->word_length, "found '%s=', needed an argument of %s", found,
                usage_of(m, usage));
    return -1;
}

/* Numbers that stand without brackets, from arguments[0] on, as one list; how many they are. */
static int gather(const given *arguments, int n, bound *it)
{
    int count = 0;
    while (count < n && !arguments[count].word_length && arguments[count].kind == GIVEN_NUMBER &&
           arguments[count].number.kind == TN_SCALAR_INT) {
        it->list[count] = arguments[count].number.value.i;
        count++;
    }
    it->value[0].kind = TN_VALUE_INTS;
    it->value[0].as.ints.data = it->list;
    it->value[0].as.ints.n = count;
    return count;
}

static bool bind(reader *r, const method *m, const given *arguments, int n, int begin, bound *it)
{
    parameter list[PARAMETERS];
    int known = parameters_of(m, list), next = 0, i = 0;
    char usage[128];
    memset(it, 0, sizeof *it);
    if (known && list[0].kind == 'V' && n && arguments[0].kind == GIVEN_NUMBER && !arguments[0].word_length &&
        arguments[0].number.kind == TN_SCALAR_INT) {
        i = gather(arguments, n, it);
        it->from[0] = arguments;
        it->n = next = 1;
    }
    for (; i < n; i++) {
        int to = arguments[i].word_length ? find_keyword(r, m, list, known, &arguments[i]) : next++;
        if (to < 0)
            return false;
        if (to >= known)
            return reader_fail(r, arguments[i].begin, arguments[i].end, "found one argument too many, needed %s",
                               usage_of(m, usage));
        if (to < it->n && it->from[to])
            return reader_fail(r, arguments[i].begin, arguments[i].end, "%s: found %.*s twice, needed it once", m->name,
                               list[to].length, list[to].name);
        if (!box(r, &arguments[i], &list[to], &it->value[to]))
            return complain_kind(r, m, &list[to], &arguments[i]);
        it->from[to] = &arguments[i];
        it->n = to < it->n ? it->n : to + 1;
    }
    for (int k = 0; k < known; k++)
        if (!list[k].optional && (k >= it->n || (!it->from[k] && it->value[k].kind == TN_VALUE_NONE)))
            return reader_fail(r, begin, r->at, "%s: found no %.*s, needed %s", m->name, list[k].length, list[k].name,
                               usage_of(m, usage));
    return true;
}

static const method *find(const reader *r, int begin, int length, const method *list, int n)
{
    for (int i = 0; i < n; i++)
        if (reader_is(r, begin, length, list[i].name))
            return &list[i];
    return NULL;
}

const char *reader_nearest(const reader *r, int begin, int length, bool after_dot)
{
    const char *names[METHODS + CREATIONS];
    char word[32];
    int n = 0;
    snprintf(word, sizeof word, "%.*s", length < 31 ? length : 31, r->text + begin);
    for (int i = 0; i < CREATIONS && !after_dot; i++)
        names[n++] = creations[i].name;
    for (int i = 0; i < METHODS && after_dot; i++)
        names[n++] = methods[i].name;
    return nearest_name(word, names, n);
}

/* A method of the table, or else an operator of the library that takes the tensor first. */
typedef struct derived {
    method method;
    char name[32], parameters[160];
} derived;

static const method *find_method(const reader *r, int begin, int length, derived *room)
{
    const method *m = find(r, begin, length, methods, METHODS);
    if (m || !explain_operator(r->text + begin, length, room->name, room->parameters, sizeof room->parameters))
        return m;
    room->method = (method){.name = room->name, .parameters = room->parameters};
    return &room->method;
}

/* What changes how a tensor is recorded, and returns it. */
static tn_tensor *call_for_gradient(const method *m, tn_tensor *self, const bound *with)
{
    const bool told = with->n > 0 && with->value[0].kind == TN_VALUE_SCALAR;
    const bool on = told && with->value[0].as.scalar.value.i;
    if (*m->name == 'r')
        tn_requires_grad_(self, on || !told);
    else
        tn_backward_with(self, NULL, &(tn_backward_options){.retain_graph = on});
    return tn_error_code() ? NULL : self;
}

static tn_tensor *call_method(const method *m, tn_tensor *self, const bound *with)
{
    tn_value values[PARAMETERS + 1] = {{.kind = TN_VALUE_TENSOR, .as.tensor = self}};
    int n = 1 + with->n;
    memcpy(values + 1, with->value, sizeof with->value);
    if (m->cast) {
        values[1].kind = TN_VALUE_DTYPE;
        values[1].as.dtype = m->dtype;
        n = 2;
    }
    if (strcmp(m->name, "to") == 0 && n > 2) { /* non_blocking means nothing here */
        memmove(values + 2, values + 3, 2 * sizeof *values);
        n--;
    }
    if (strcmp(m->name, "requires_grad_") == 0 || strcmp(m->name, "backward") == 0)
        return call_for_gradient(m, self, with);
    if (strcmp(m->name, "reshape_as") == 0)
        return tn_reshape(self, tn_sizes(values[1].as.tensor), tn_ndim(values[1].as.tensor));
    if (values[1].kind == TN_VALUE_FORMAT && strcmp(m->name, "contiguous") == 0)
        return tn_contiguous_format(self, values[1].as.format);
    return tn_call(m->call ? m->call : m->name, values, n);
}

/* All pieces that m makes of x. */
static tn_list *cut(const method *m, tn_tensor *x, const bound *with)
{
    const explain_cut *by = m->cut;
    const tn_value *first = &with->value[0], *dim_value = &with->value[by->by_dim ? 0 : 1];
    int64_t dim = dim_value->kind == TN_VALUE_SCALAR ? dim_value->as.scalar.value.i : 0;
    if (dim < -TN_MAX_NDIM || dim > TN_MAX_NDIM)
        dim = TN_MAX_NDIM; /* out of range as well, in an int */
    if (by->by_dim)
        return by->by_dim(x, (int)dim);
    if (first->kind == TN_VALUE_INTS)
        return by->by_list(x, first->as.ints.data, first->as.ints.n, (int)dim);
    return by->by_number(x, first->as.scalar.value.i, (int)dim);
}

/* ".chunk(3)" has been read: the piece that "[i]" after it asks for. */
static bool read_piece(reader *r, const method *m, const bound *with, int begin, int *step)
{
    tn_list *list = cut(m, r->it->step[*step].result, with);
    int64_t index;
    if (!list)
        return reader_refused(r, begin, r->at, true);
    if (!reader_expect(r, '[', "'[' and the number of a piece, as there are several"))
        return false;
    reader_peek(r);
    int number = r->at;
    if (!reader_whole(r, &index, "a whole number"))
        return false;
    tn_tensor *piece = tn_list_get(list, index);
    if (!piece)
        return reader_refused(r, number, r->at, false);
    return reader_expect(r, ']', "']'") && reader_step(r, begin, *step, piece, step);
}

/* Calls m with what stands in brackets at r->at. arguments[skip ...] are its own. */
static bool call(reader *r, const method *m, const given *arguments, int n, int begin, int *step)
{
    bound with;
    if (strcmp(m->name, "view") == 0 && n == 1 && arguments[0].kind == GIVEN_DTYPE)
        m = &view_dtype;
    if (!bind(r, m, arguments, n, begin, &with))
        return false;
    if (m->cut)
        return read_piece(r, m, &with, begin, step);
    return reader_step(r, begin, *step, call_method(m, r->it->step[*step].result, &with), step);
}

bool reader_method(reader *r, int *step)
{
    int begin = r->at++, length = reader_word(r), at = r->at, n = 0;
    given arguments[GIVEN_LIMIT];
    derived room;
    if (!length)
        return reader_expected(r, "a method, such as view(3, 4) or T");
    const method *m = find_method(r, at, length, &room);
    if (!m || m->as == FUNCTION_ONLY) {
        const char *near = m ? NULL : reader_nearest(r, at, length, true);
        char found[SHOWN_BYTES];
        utf8_shown(r->text + at, length, found);
        return reader_fail(r, at, at + length, "found '%s', needed a method that tenon explain knows%s%s%s%s", found,
                           m ? ": this is the function torch." : "", near ? ": did you mean '" : "",
                           m      ? m->name
                           : near ? near
                                  : "",
                           near ? "'?" : "");
    }
    r->at += length;
    if (m->attribute && reader_peek(r) == '(')
        return reader_fail(r, r->at, r->at + 1, "found '(', needed %s without brackets", m->name);
    if (!m->attribute && !reader_arguments(r, arguments, &n))
        return false;
    return call(r, m, arguments, n, begin, step);
}

bool reader_function(reader *r, int begin, int length, int *step)
{
    derived room;
    const method *m = find_method(r, begin, length, &room);
    given arguments[GIVEN_LIMIT];
    int n;
    if (!m || m->as == METHOD_ONLY) {
        const char *near = m ? NULL : reader_nearest(r, begin, length, false);
        char found[SHOWN_BYTES];
        utf8_shown(r->text + begin, length, found);
        return reader_fail(r, begin, begin + length, "found '%s', needed a function that makes a tensor%s%s%s", found,
                           m      ? ": this is a method, x."
                           : near ? ": did you mean '"
                                  : ", such as arange(12)",
                           m      ? m->name
                           : near ? near
                                  : "",
                           near ? "'?" : "");
    }
    if (!reader_arguments(r, arguments, &n))
        return false;
    if (n && arguments[0].word_length && !reader_is(r, arguments[0].word, arguments[0].word_length, "input"))
        return reader_fail(r, arguments[0].word, arguments[0].word + arguments[0].word_length,
                           "%s: found another keyword first, needed the tensor or input=", m->name);
    if (n == 0 || arguments[0].kind != GIVEN_TENSOR)
        return reader_fail(r, begin, r->at, "%s: found no tensor, needed one as first argument", m->name);
    *step = arguments[0].step;
    return call(r, m, arguments + 1, n - 1, begin, step);
}

bool explain_is_creation(const reader *r, int begin, int length)
{
    return find(r, begin, length, creations, CREATIONS) != NULL;
}

/* arange(end) counts from 0; empty and empty_strided are filled with zeros, as what they hold would differ from run to
 * run. */
static tn_tensor *create(const method *m, const bound *with)
{
    tn_value values[PARAMETERS];
    int n = with->n;
    memcpy(values, with->value, sizeof values);
    if (strcmp(m->name, "arange") == 0 && (n == 1 || values[1].kind == TN_VALUE_NONE)) {
        values[1] = values[0];
        values[0].kind = TN_VALUE_NONE;
        n = n < 2 ? 2 : n;
    }
    if (strcmp(m->name, "arange") == 0 && values[0].kind == TN_VALUE_NONE) {
        values[0].kind = TN_VALUE_SCALAR;
        values[0].as.scalar = tn_int(0);
    }
    if (strncmp(m->name, "empty", 5) != 0)
        return tn_call(m->name, values, n);
    bool strided = m->name[5] == '_';
    const tn_value *dtype_value = &values[strided ? 2 : 1];
    tn_dtype dtype = dtype_value->kind == TN_VALUE_DTYPE ? dtype_value->as.dtype : TN_DTYPE_NONE;
    if (strided && values[0].as.ints.n != values[1].as.ints.n) {
        TN_FAIL(TN_ERROR_ARGUMENT, "empty_strided", "size has %d numbers, stride %d: needed as many",
                values[0].as.ints.n, values[1].as.ints.n);
        return NULL;
    }
    tn_tensor *x = strided
                       ? tn_empty_strided(values[0].as.ints.data, values[1].as.ints.data, values[0].as.ints.n, dtype)
                       : tn_empty(values[0].as.ints.data, values[0].as.ints.n, dtype);
    void *bytes = x && tn_storage_nbytes(x) ? tn_storage_bytes_mut(tn_storage_of(x)) : NULL;
    if (bytes)
        memset(bytes, 0, tn_storage_nbytes(x));
    return tn_error_code() ? NULL : x;
}

bool reader_creation(reader *r, int begin, int length, int *step)
{
    const method *m = find(r, begin, length, creations, CREATIONS);
    given arguments[GIVEN_LIMIT];
    bound with;
    int n;
    if (strcmp(m->name, "tensor") == 0)
        return reader_tensor(r, begin, step);
    if (!reader_arguments(r, arguments, &n) || !bind(r, m, arguments, n, begin, &with))
        return false;
    bool end = with.n > 1 && with.value[1].kind != TN_VALUE_NONE, start = with.from[0] && !with.from[0]->word_length;
    if (strcmp(m->name, "arange") == 0 && !end && !start)
        return reader_fail(r, begin, r->at, "arange: found no end, needed arange(end) or arange(start, end, step?)");
    parameter list[PARAMETERS];
    const int last = parameters_of(m, list) - 1; /* requires_grad, which is no operator's */
    bool requires = with.n > last && with.value[last].kind == TN_VALUE_SCALAR && with.value[last].as.scalar.value.i;
    with.n = with.n > last ? last : with.n;
    tn_tensor *made = create(m, &with);
    if (made && requires)
        tn_requires_grad_(made, true);
    return reader_step(r, begin, -1, tn_error_code() ? NULL : made, step);
}
