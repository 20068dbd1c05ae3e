/* Calls of recorded programs as calls by name. Most words are names of the library; here stand those that are not, and
 * arguments that are written in another way. */
#include <stdio.h>
#include <string.h>

#include "conformance/replay.h"

typedef struct word {
    const char *name, *codes;
} word;

static const word words[] = {
#define WORD(name, codes) {#name, codes},
#define QUERY(name, codes)
#define LATER(name)
#include "conformance/vocabulary.def"
#undef WORD
#undef QUERY
#undef LATER
};

static const char *const later[] = {
#define WORD(name, codes)
#define QUERY(name, codes)
#define LATER(name) #name,
#include "conformance/vocabulary.def"
#undef WORD
#undef QUERY
#undef LATER
};

bool word_is_later(const char *name)
{
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (strcmp(later[i], name) == 0)
            return true;
    return false;
}

bool word_codes(const char *name, const char **codes)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0) {
            *codes = words[i].codes;
            return true;
        }
    return false;
}

enum { NESTED = 4096 };

/* Nested numbers, flat. */
typedef struct nested {
    int64_t size[TN_MAX_NDIM];
    int ndim;
    const json_t *numbers[NESTED];
    int n;
    tn_scalar_kind kind; /* the highest */
    bool ragged;
} nested;

static void flatten(nested *to, const json_t *list, int depth)
{
    if (!json_is_array(list)) {
        if (depth != to->ndim || to->n == NESTED) {
            to->ragged = true;
            return;
        }
        to->numbers[to->n++] = list;
        tn_scalar_kind kind = number_of(list).kind;
        to->kind = kind > to->kind ? kind : to->kind;
        return;
    }
    if (depth >= to->ndim || (int64_t)json_array_size(list) != to->size[depth]) {
        to->ragged = true;
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        flatten(to, json_array_get(list, i), depth + 1);
}

/* One number as an element, by the rules of a Python list: integers must fit, decimals round. */
static tn_tensor *element_of(const json_t *number, tn_dtype dtype)
{
    tn_scalar scalar = number_of(number);
    if (scalar.kind == TN_SCALAR_COMPLEX)
        return tn_to(tn_full(NULL, 0, scalar, TN_COMPLEX128), dtype);
    if (scalar.kind == TN_SCALAR_FLOAT)
        return tn_to(tn_full(NULL, 0, scalar, TN_FLOAT64), dtype);
    if (json_is_string(number) && dtype == TN_UINT64)
        return tn_to(tn_full(NULL, 0, scalar, TN_INT64), dtype);
    return tn_full(NULL, 0, scalar, dtype);
}

/* torch.tensor of nested lists. */
static tn_tensor *make_tensor(const json_t *call)
{
    static nested data;
    const json_t *list = json_array_get(call, 1), *given = json_array_get(call, 2);
    static const tn_dtype of_kind[] = {TN_BOOL, TN_INT64, TN_FLOAT32, TN_COMPLEX64};
    memset(&data, 0, sizeof data);
    for (const json_t *inner = list; json_is_array(inner); inner = json_array_get(inner, 0))
        data.size[data.ndim++] = (int64_t)json_array_size(inner);
    flatten(&data, list, 0);
    if (data.ragged) {
        TN_FAIL(TN_ERROR_SHAPE, "tensor", "the lists are ragged");
        return NULL;
    }
    tn_dtype dtype = json_is_string(given) ? tn_dtype_from_name(json_string_value(given))
                     : data.kind == TN_SCALAR_FLOAT || (data.n == 0 && data.ndim > 0)
                         ? tn_get_default_dtype()
                     : data.kind == TN_SCALAR_COMPLEX && tn_get_default_dtype() == TN_FLOAT64 ? TN_COMPLEX128
                                                                                                : of_kind[data.kind];
    static _Alignas(16) char bytes[NESTED * 16];
    size_t itemsize = tn_itemsize(dtype);
    for (int i = 0; i < data.n; i++) {
        tn_tensor *element = element_of(data.numbers[i], dtype);
        const void *at = tn_data(element);
        if (!at)
            return NULL;
        memcpy(bytes + (size_t)i * itemsize, at, itemsize);
        tn_drop(&element);
    }
    return tn_from_array(bytes, data.size, data.ndim, dtype);
}

/* Zeros with strides; filling them counts no version. */
static tn_tensor *make_empty_strided(const boxes *b)
{
    tn_dtype dtype = b->n > 2 && b->values[2].kind == TN_VALUE_DTYPE ? b->values[2].as.dtype : TN_DTYPE_NONE;
    tn_tensor *x =
        tn_empty_strided(b->values[0].as.ints.data, b->values[1].as.ints.data, b->values[0].as.ints.n, dtype);
    if (x && tn_storage_nbytes(x) > 0)
        memset((void *)tn_storage_data(x), 0, tn_storage_nbytes(x));
    return x;
}

/* arange's one or two numbers are its end, or start and end. */
static void arrange_range(boxes *b)
{
    tn_value *v = b->values;
    while (b->n < 3)
        v[b->n++] = (tn_value){.kind = TN_VALUE_NONE};
    if (v[1].kind == TN_VALUE_NONE) {
        v[1] = v[0];
        v[0] = (tn_value){.kind = TN_VALUE_SCALAR, .as.scalar = tn_int(0)};
    }
}

/* The name in the library, and its arguments in its order. A number over a tensor is, in Python, its reciprocal times
 * the number. */
static const char *arranged(const char *name, boxes *b)
{
    tn_value *v = b->values, first = v[0];
    if (strcmp(name, "arange") == 0)
        arrange_range(b);
    if ((strcmp(name, "zeros") == 0 || strcmp(name, "ones") == 0) && b->n == 3)
        b->n = 2; /* requires_grad=False */
    if (strcmp(name, "rdiv") == 0) {
        v[0].as.tensor = tn_reciprocal(v[0].as.tensor);
        return "mul";
    }
    if (strcmp(name, "rsub") != 0)
        return name;
    v[0] = v[1];
    v[1] = first;
    return "sub";
}

static const char *own_name(const char *name)
{
    return strcmp(name, "rsub") == 0 ? "sub" : strcmp(name, "rdiv") == 0 ? "mul" : name;
}

bool word_is_there(const json_t *call, char *missing, size_t size)
{
    const char *name = json_string_value(json_array_get(call, 0)), *codes;
    if (!word_codes(name, &codes)) {
        snprintf(missing, size, "operator %s", name);
        return false;
    }
    if (strcmp(name, "tensor") == 0 || strcmp(name, "empty_strided") == 0 || tape_call(name, NULL, NULL, NULL) ||
        tn_is_callable(own_name(name)))
        return true;
    snprintf(missing, size, "operator %s", name);
    return false;
}

/* Whether the call makes a tensor that requires a gradient. */
static bool asks_for_grad(const char *name, const json_t *call)
{
    return (strcmp(name, "tensor") == 0 || strcmp(name, "zeros") == 0 || strcmp(name, "ones") == 0) &&
           json_is_true(json_array_get(call, 3));
}

void word_call(const replay *r, const json_t *call, tn_tensor **one, tn_list **several)
{
    const char *name = json_string_value(json_array_get(call, 0)), *codes = "";
    boxes b = {.n = 0};
    *one = NULL;
    *several = NULL;
    word_codes(name, &codes);
    if (strcmp(name, "tensor") == 0) {
        *one = make_tensor(call);
    } else if (box_all(&b, r, call, codes)) {
        if (strcmp(name, "empty_strided") == 0) {
            *one = make_empty_strided(&b);
        } else if (!tape_call(name, &b, one, several)) {
            name = arranged(name, &b);
            *several = tn_call_list(name, b.values, b.n);
        }
    }
    if (asks_for_grad(name, call) && tn_requires_grad_(*several ? tn_list_get(*several, 0) : *one, true)) {
        *one = NULL;
        *several = NULL;
    }
    boxes_free(&b);
}
