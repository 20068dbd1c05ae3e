/* JSON arguments to boxed ones. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/replay.h"

struct block {
    struct block *next;
    max_align_t data[];
};

static void *kept(boxes *b, size_t bytes)
{
    struct block *block = calloc(1, sizeof *block + bytes + 8);
    if (!block)
        abort();
    block->next = b->blocks;
    b->blocks = block;
    return block->data;
}

void boxes_free(boxes *b)
{
    while (b->blocks) {
        struct block *block = b->blocks;
        b->blocks = block->next;
        free(block);
    }
    b->n = 0;
}

static double real_of(const json_t *number)
{
    if (json_is_object(number)) {
        const char *word = json_string_value(json_object_get(number, "f"));
        return !word ? 0 : strcmp(word, "nan") == 0 ? NAN : word[0] == '-' ? -INFINITY : INFINITY;
    }
    return json_is_boolean(number) ? json_is_true(number) : json_number_value(number);
}

tn_scalar number_of(const json_t *number)
{
    if (json_is_boolean(number))
        return tn_bool(json_is_true(number));
    if (json_is_integer(number))
        return tn_int(json_integer_value(number));
    if (json_is_string(number)) { /* an integer beyond int64 */
        uint64_t value = 0;
        const char *digits = json_string_value(number) + 1;
        if (digits[0] == '-' || strlen(digits) > 20)
            TN_FAIL(TN_ERROR_OVERFLOW, "replay", "an integer beyond 64 bits");
        for (const char *c = digits; *c; c++)
            value = value * 10 + (uint64_t)(*c - '0');
        return tn_int((int64_t)value);
    }
    const json_t *parts = json_object_get(number, "c");
    if (parts)
        return tn_complex(real_of(json_array_get(parts, 0)), real_of(json_array_get(parts, 1)));
    return tn_float(real_of(number));
}

static void box_integers(boxes *b, tn_value *to, const json_t *list)
{
    size_t n = json_array_size(list);
    int64_t *data = kept(b, n * sizeof *data);
    for (size_t i = 0; i < n; i++)
        data[i] = number_of(json_array_get(list, i)).value.i; /* beyond 64 bits: an error is pending */
    to->kind = TN_VALUE_INTS;
    to->as.ints.data = data;
    to->as.ints.n = (int)n;
}

static tn_index index_entry(boxes *b, const replay *r, const json_t *entry)
{
    json_t *part;
    if (json_is_null(entry))
        return tn_index_new_axis();
    if (json_is_boolean(entry))
        return tn_index_bool(json_is_true(entry));
    if (json_is_integer(entry))
        return tn_index_integer(json_integer_value(entry));
    if (json_is_string(entry))
        return tn_index_ellipsis();
    if ((part = json_object_get(entry, "t")))
        return tn_index_tensor(replay_find(r, json_string_value(part)));
    if ((part = json_object_get(entry, "list"))) {
        tn_value list;
        box_integers(b, &list, part);
        return tn_index_list(list.as.ints.data, list.as.ints.n);
    }
    part = json_object_get(entry, "slice");
    const json_t *start = json_array_get(part, 0), *stop = json_array_get(part, 1), *step = json_array_get(part, 2);
    return tn_index_step(json_is_integer(start) ? json_integer_value(start) : 0,
                         json_is_integer(stop) ? json_integer_value(stop) : TN_SLICE_END,
                         json_is_integer(step) ? json_integer_value(step) : 1);
}

static bool box_tensor(tn_value *to, const replay *r, const json_t *from)
{
    to->kind = TN_VALUE_TENSOR;
    to->as.tensor = json_is_string(from) ? replay_find(r, json_string_value(from)) : NULL;
    return to->as.tensor != NULL;
}

static bool box_one(boxes *b, const replay *r, char code, const json_t *from, tn_value *to)
{
    size_t n = json_array_size(from);
    switch (code) {
    case 'T':
        return box_tensor(to, r, from);
    case 'X':
        if (json_is_string(from) && json_string_value(from)[0] != '#')
            return box_tensor(to, r, from);
        /* fall through */
    case 'S':
    case 'I':
    case 'B':
        to->kind = TN_VALUE_SCALAR;
        to->as.scalar = number_of(from);
        return true;
    case 'F':
        to->kind = TN_VALUE_SCALAR;
        to->as.scalar = tn_float(real_of(from));
        return true;
    case 'J':
    case 'L':
        if (json_is_array(from)) {
            box_integers(b, to, from);
            return true;
        }
        to->kind = TN_VALUE_SCALAR;
        to->as.scalar = number_of(from);
        return true;
    case 'D':
        to->kind = TN_VALUE_DTYPE;
        to->as.dtype = tn_dtype_from_name(json_string_value(from));
        return true;
    case 'M':
        to->kind = TN_VALUE_FORMAT;
        to->as.format = tn_memory_format_from_name(json_string_value(from));
        return true;
    case 'Q':
        to->kind = TN_VALUE_WORD;
        to->as.word = json_string_value(from);
        return true;
    case 'G': {
        tn_tensor **data = kept(b, n * sizeof *data);
        for (size_t i = 0; i < n; i++)
            data[i] = replay_find(r, json_string_value(json_array_get(from, i)));
        to->kind = TN_VALUE_TENSORS;
        to->as.tensors.data = data;
        to->as.tensors.n = (int)n;
        return true;
    }
    default: {
        tn_index *data = kept(b, n * sizeof *data);
        for (size_t i = 0; i < n; i++)
            data[i] = index_entry(b, r, json_array_get(from, i));
        to->kind = TN_VALUE_INDEX;
        to->as.index.data = data;
        to->as.index.n = (int)n;
        return true;
    }
    }
}

bool box_all(boxes *b, const replay *r, const json_t *call, const char *codes)
{
    size_t n = json_array_size(call);
    for (size_t i = 1; i < n; i++) {
        const json_t *from = json_array_get(call, i);
        tn_value *to = &b->values[b->n++];
        char code = *codes ? *codes++ : 'S';
        bool optional = *codes == '?';
        codes += optional;
        memset(to, 0, sizeof *to);
        if (json_is_null(from) && code != 'R')
            continue;
        if (code == 'N' || box_one(b, r, code, from, to))
            continue;
        TN_FAIL(TN_ERROR_NAME, "replay", "argument %zu of %s is no tensor's name", i,
                json_string_value(json_array_get(call, 0)));
        return false;
    }
    return true;
}
