/* The JSON of a safetensors header, by a grammar of this one shape: an object of entries, each an object of three known
 * fields; other fields are stepped over. Strings are unescaped in place, which never makes them longer. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "safetensors.h"

enum { DEEPEST = 4 }; /* nesting of an unknown field's value */
enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4 };

typedef struct reader {
    tni_manifest *m;
    size_t at;
    bool has_metadata;
} reader;

/* In the order in which the reference writer puts tensors of different dtypes. */
static const struct {
    const char *name;
    tn_dtype dtype;
} dtypes[] = {
    {"U64", TN_UINT64}, {"I64", TN_INT64},     {"F64", TN_FLOAT64}, {"F32", TN_FLOAT32}, {"U32", TN_UINT32},
    {"I32", TN_INT32},  {"BF16", TN_BFLOAT16}, {"F16", TN_FLOAT16}, {"U16", TN_UINT16},  {"I16", TN_INT16},
    {"I8", TN_INT8},    {"U8", TN_UINT8},      {"BOOL", TN_BOOL},
};

const char *tni_safetensors_dtype(tn_dtype dtype, int *rank)
{
    for (*rank = 0; *rank < (int)(sizeof dtypes / sizeof *dtypes); ++*rank)
        if (dtypes[*rank].dtype == dtype)
            return dtypes[*rank].name;
    return NULL;
}

tn_dtype tni_safetensors_dtype_from(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return dtypes[i].dtype;
    return TN_DTYPE_NONE;
}

static char next(const reader *r)
{
    return r->m->text[r->at]; /* the zero byte at the end is no token */
}

static tn_status wrong(const reader *r, const char *needed)
{
    char text[TNI_SHOWN];
    return INPUT_FAIL(r->m->input, "has a malformed header at byte %zu: found '%s', needed %s", r->at + 8,
                      tni_shown(text, r->m->text + r->at, r->m->bytes - r->at), needed);
}

static void skip_spaces(reader *r)
{
    while (next(r) == ' ' || next(r) == '\n' || next(r) == '\r' || next(r) == '\t')
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_spaces(r);
    if (next(r) != c)
        return false;
    r->at++;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The four digits of a \u escape, or -1. */
static int32_t read_hex(reader *r)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(next(r));
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
        r->at++;
    }
    return value;
}

static size_t put_utf8(char *to, uint32_t point)
{
    int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(leads[more] | point >> (6 * more));
    for (int i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (point >> (6 * (more - i)) & 0x3f));
    return (size_t)more + 1;
}

/* What stands behind \u: one code point, of two escapes if it begins with a high surrogate. */
static tn_status read_unicode(reader *r, uint32_t *point)
{
    size_t begin = r->at;
    int32_t high = read_hex(r), low = 0;
    bool pair = high >= 0xd800 && high < 0xdc00;
    if (pair && next(r) == '\\' && r->m->text[r->at + 1] == 'u') {
        r->at += 2;
        low = read_hex(r);
    }
    if (high < 0 || (high >= 0xdc00 && high < 0xe000) || (pair && (low < 0xdc00 || low >= 0xe000))) {
        r->at = begin;
        return wrong(r, "four hex digits, surrogates in pairs");
    }
    *point = pair ? 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00) : (uint32_t)high;
    return *point ? TN_OK : wrong(r, "text without a zero byte");
}

static tn_status read_escape(reader *r, char *to, size_t *length)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char c = next(r);
    const char *name = c ? strchr(names, c) : NULL;
    uint32_t point = 0;
    if (c != 'u' && !name)
        return wrong(r, "an escape of JSON");
    r->at++;
    if (name) {
        *to = bytes[name - names];
        *length = 1;
        return TN_OK;
    }
    if (read_unicode(r, &point))
        return tn_error_code();
    *length = put_utf8(to, point);
    return TN_OK;
}

/* A string, in place; *string is where it begins in the text. */
static tn_status read_string(reader *r, uint32_t *string)
{
    char *text = r->m->text;
    if (!take(r, '"'))
        return wrong(r, "a string");
    size_t to = r->at, length = 0;
    *string = (uint32_t)r->at;
    while (next(r) != '"') {
        if ((unsigned char)next(r) < ' ')
            return wrong(r, "the rest of a string");
        if (next(r) != '\\') {
            text[to++] = text[r->at++];
            continue;
        }
        r->at++;
        if (read_escape(r, text + to, &length))
            return tn_error_code();
        to += length;
    }
    text[to] = '\0';
    r->at++;
    return TN_OK;
}

/* A whole number below 2^63, in plain decimal. */
static tn_status read_integer(reader *r, int64_t *value)
{
    skip_spaces(r);
    size_t begin = r->at;
    *value = 0;
    for (; next(r) >= '0' && next(r) <= '9'; r->at++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, next(r) - '0', value))
            return INPUT_FAIL(r->m->input, "has a number that 63 bits cannot hold, at byte %zu: overflow", begin + 8);
    if (r->at == begin || (r->m->text[begin] == '0' && r->at > begin + 1)) {
        r->at = begin;
        return wrong(r, "a whole number in plain digits");
    }
    return TN_OK;
}

static tn_status skip_number(reader *r)
{
    size_t begin;
    r->at += next(r) == '-';
    begin = r->at;
    while (next(r) >= '0' && next(r) <= '9')
        r->at++;
    if (r->at == begin || (r->m->text[begin] == '0' && r->at > begin + 1))
        return wrong(r, "a value");
    for (int part = 0; part < 2; part++) {
        if (part == 0 ? next(r) != '.' : (next(r) | 32) != 'e')
            continue;
        r->at++;
        r->at += part == 1 && (next(r) == '+' || next(r) == '-');
        begin = r->at;
        while (next(r) >= '0' && next(r) <= '9')
            r->at++;
        if (r->at == begin)
            return wrong(r, "a digit");
    }
    return TN_OK;
}

static tn_status skip_value(reader *r, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    uint32_t string;
    skip_spaces(r);
    for (int i = 0; i < 3; i++)
        if (strncmp(r->m->text + r->at, words[i], strlen(words[i])) == 0) {
            r->at += strlen(words[i]);
            return TN_OK;
        }
    char open = next(r), close = open == '{' ? '}' : ']';
    if (open == '"')
        return read_string(r, &string);
    if (open != '{' && open != '[')
        return skip_number(r);
    if (depth == DEEPEST)
        return wrong(r, "less nesting");
    r->at++;
    if (take(r, close))
        return TN_OK;
    do {
        if (open == '{' && (read_string(r, &string) || !take(r, ':')))
            return tn_error_code() ? tn_error_code() : wrong(r, "a colon");
        if (skip_value(r, depth + 1))
            return tn_error_code();
    } while (take(r, ','));
    return take(r, close) ? TN_OK : wrong(r, "a comma or the end");
}

static tn_status read_dtype(reader *r, tni_entry *entry)
{
    uint32_t string;
    char text[TNI_SHOWN];
    if (read_string(r, &string))
        return tn_error_code();
    const char *name = r->m->text + string;
    entry->dtype = tni_safetensors_dtype_from(name);
    if (entry->dtype == TN_DTYPE_NONE)
        return INPUT_FAIL(r->m->input, "has a tensor of the unsupported dtype '%s'",
                          tni_shown(text, name, strlen(name)));
    return TN_OK;
}

/* [integers]; *n is how many. */
static tn_status read_integers(reader *r, int64_t *values, int most, int *n)
{
    if (!take(r, '['))
        return wrong(r, "an array of whole numbers");
    *n = 0;
    if (take(r, ']'))
        return TN_OK;
    do {
        if (*n == most)
            return wrong(r, most == 2 ? "two offsets" : "at most 64 sizes");
        if (read_integer(r, &values[*n]))
            return tn_error_code();
        ++*n;
    } while (take(r, ','));
    return take(r, ']') ? TN_OK : wrong(r, "a comma or ]");
}

static tn_status read_shape(reader *r, tni_entry *entry)
{
    int64_t size[TN_MAX_NDIM];
    int n;
    skip_spaces(r);
    entry->shape = (uint32_t)r->at;
    if (read_integers(r, size, TN_MAX_NDIM, &n))
        return tn_error_code();
    entry->ndim = n;
    return TN_OK;
}

static tn_status read_offsets(reader *r, tni_entry *entry)
{
    int64_t offsets[2];
    int n;
    if (read_integers(r, offsets, 2, &n))
        return tn_error_code();
    if (n != 2 || offsets[0] > offsets[1])
        return wrong(r, "two offsets before this, the second not below the first");
    entry->begin = offsets[0];
    entry->end = offsets[1];
    return TN_OK;
}

void tni_entry_sizes(const tni_manifest *m, const tni_entry *entry, int64_t *size)
{
    reader r = {.m = (tni_manifest *)m, .at = entry->shape};
    int n;
    read_integers(&r, size, TN_MAX_NDIM, &n);
}

static tn_status check_entry(const reader *r, const tni_entry *entry, int found)
{
    int64_t size[TN_MAX_NDIM], bytes;
    char text[TNI_SHOWN];
    const char *name = r->m->text + entry->name;
    tni_shown(text, name, strlen(name));
    if (found != (DTYPE | SHAPE | OFFSETS))
        return INPUT_FAIL(r->m->input, "has a malformed header: %s of tensor '%s' is missing",
                          found & DTYPE ? found & SHAPE ? "data_offsets" : "shape" : "dtype", text);
    tni_entry_sizes(r->m, entry, size);
    if (!tni_array_bytes(size, entry->ndim, tn_itemsize(entry->dtype), &bytes))
        return INPUT_FAIL(r->m->input, "has a tensor '%s' with sizes whose product is an overflow", text);
    if (bytes != entry->end - entry->begin)
        return INPUT_FAIL(r->m->input,
                          "has a mismatch: the shape of tensor '%s' needs %" PRId64 " bytes, its offsets give %" PRId64,
                          text, bytes, entry->end - entry->begin);
    return TN_OK;
}

static tn_status read_entry(reader *r, tni_entry *entry)
{
    static const struct {
        const char *name;
        int bit;
        tn_status (*read)(reader *, tni_entry *);
    } fields[] = {{"dtype", DTYPE, read_dtype}, {"shape", SHAPE, read_shape}, {"data_offsets", OFFSETS, read_offsets}};
    int found = 0;
    if (!take(r, '{'))
        return wrong(r, "an object with dtype, shape and data_offsets");
    if (take(r, '}'))
        return check_entry(r, entry, found);
    do {
        uint32_t key;
        if (read_string(r, &key))
            return tn_error_code();
        if (!take(r, ':'))
            return wrong(r, "a colon");
        int field = 0;
        while (field < 3 && strcmp(fields[field].name, r->m->text + key) != 0)
            field++;
        if (field < 3 && found & fields[field].bit)
            return wrong(r, "each field once");
        if (field < 3 ? fields[field].read(r, entry) : skip_value(r, 0))
            return tn_error_code();
        found |= field < 3 ? fields[field].bit : 0;
    } while (take(r, ','));
    return take(r, '}') ? check_entry(r, entry, found) : wrong(r, "a comma or }");
}

static tn_status read_metadata(reader *r)
{
    tni_manifest *m = r->m;
    if (r->has_metadata)
        return wrong(r, "one __metadata__");
    r->has_metadata = true;
    if (!take(r, '{'))
        return wrong(r, "an object of strings");
    if (take(r, '}'))
        return TN_OK;
    do {
        tni_pair pair;
        if (read_string(r, &pair.key))
            return tn_error_code();
        if (!take(r, ':'))
            return wrong(r, "a colon");
        if (read_string(r, &pair.value))
            return tn_error_code();
        if (strcmp(m->text + pair.key, "sum") == 0 && r->at == pair.value + TNI_SUM_DIGITS + 1 &&
            strlen(m->text + pair.value) == TNI_SUM_DIGITS)
            m->sum_at = pair.value;
        if (m->n_pairs == m->room_pairs)
            return wrong(r, "fewer strings");
        m->pairs[m->n_pairs++] = pair;
    } while (take(r, ','));
    return take(r, '}') ? TN_OK : wrong(r, "a comma or }");
}

static tn_status read_object(reader *r)
{
    tni_manifest *m = r->m;
    if (next(r) != '{')
        return wrong(r, "'{' as the first byte");
    r->at++;
    if (take(r, '}'))
        return TN_OK;
    do {
        tni_entry entry = {0};
        if (read_string(r, &entry.name))
            return tn_error_code();
        if (!take(r, ':'))
            return wrong(r, "a colon");
        if (strcmp(m->text + entry.name, "__metadata__") == 0) {
            if (read_metadata(r))
                return tn_error_code();
            continue;
        }
        if (m->n_entries == m->room_entries)
            return wrong(r, "fewer tensors");
        if (read_entry(r, &entry))
            return tn_error_code();
        m->entries[m->n_entries++] = entry;
    } while (take(r, ','));
    return take(r, '}') ? TN_OK : wrong(r, "a comma or }");
}

static int compare_names(const void *a, const void *b, void *context)
{
    const tni_manifest *m = context;
    return strcmp(m->text + ((const tni_entry *)a)->name, m->text + ((const tni_entry *)b)->name);
}

static int compare_keys(const void *a, const void *b, void *context)
{
    const tni_manifest *m = context;
    return strcmp(m->text + ((const tni_pair *)a)->key, m->text + ((const tni_pair *)b)->key);
}

static tn_status check_unique(tni_manifest *m)
{
    char text[TNI_SHOWN];
    const char *twice = NULL;
    tni_sort(m->entries, m->n_entries, sizeof *m->entries, compare_names, m);
    tni_sort(m->pairs, m->n_pairs, sizeof *m->pairs, compare_keys, m);
    for (int64_t i = 1; i < m->n_entries && !twice; i++)
        if (compare_names(&m->entries[i - 1], &m->entries[i], m) == 0)
            twice = m->text + m->entries[i].name;
    for (int64_t i = 1; i < m->n_pairs && !twice; i++)
        if (compare_keys(&m->pairs[i - 1], &m->pairs[i], m) == 0)
            twice = m->text + m->pairs[i].key;
    return !twice ? TN_OK
                  : INPUT_FAIL(m->input, "has a malformed header: '%s' stands in it twice",
                               tni_shown(text, twice, strlen(twice)));
}

tn_status tni_manifest_read(tni_manifest *m)
{
    reader r = {.m = m};
    if (!tni_is_utf8((const unsigned char *)m->text, m->bytes, &r.at))
        return wrong(&r, "UTF-8");
    r.at = 0;
    if (read_object(&r))
        return tn_error_code();
    skip_spaces(&r);
    return r.at < m->bytes ? wrong(&r, "nothing but spaces after the object") : check_unique(m);
}

/* Heap sort. */
static void sift(char *items, size_t itemsize, int64_t root, int64_t n,
                 int (*compare)(const void *, const void *, void *), void *context)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        char *a = items + (size_t)root * itemsize, *b = items + (size_t)child * itemsize;
        if (child + 1 < n && compare(b, b + itemsize, context) < 0) {
            b += itemsize;
            child++;
        }
        if (compare(a, b, context) >= 0)
            return;
        for (size_t i = 0; i < itemsize; i++) {
            char byte = a[i];
            a[i] = b[i];
            b[i] = byte;
        }
    }
}

void tni_sort(void *items, int64_t n, size_t itemsize, int (*compare)(const void *, const void *, void *),
              void *context)
{
    char *first = items;
    for (int64_t root = n / 2 - 1; root >= 0; root--)
        sift(first, itemsize, root, n, compare, context);
    for (int64_t last = n - 1; last > 0; last--) {
        for (size_t i = 0; i < itemsize; i++) {
            char byte = first[i];
            first[i] = first[(size_t)last * itemsize + i];
            first[(size_t)last * itemsize + i] = byte;
        }
        sift(first, itemsize, 0, last, compare, context);
    }
}
