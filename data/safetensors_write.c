/* Writes a safetensors file, laid out as the reference writer does: dtypes in its order, then names by their bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/create.h>
#include <tenon/views.h>

#include "crc32.h"
#include "safetensors.h"

enum { LONGEST_HEADER = 100000000 };

static const char function[] = "save_safetensors";

typedef struct part {
    const char *name;
    tn_tensor *tensor; /* contiguous */
    int rank;
    size_t bytes;
} part;

/* A text that counts when data is NULL, and else is written. */
typedef struct text {
    char *data;
    size_t used;
    size_t sum_at; /* of the sum's digits */
} text;

static void put_bytes(text *t, const char *bytes, size_t count)
{
    if (t->data)
        memcpy(t->data + t->used, bytes, count);
    t->used += count;
}

static void put(text *t, const char *string)
{
    put_bytes(t, string, strlen(string));
}

static void put_integer(text *t, int64_t value)
{
    char digits[24];
    put_bytes(t, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

/* A JSON string. */
static void put_string(text *t, const char *string)
{
    static const char specials[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    put(t, "\"");
    for (; *string; string++) {
        const char *special = strchr(specials, *string);
        char escape[8];
        if (special) {
            put_bytes(t, (char[]){'\\', letters[special - specials]}, 2);
        } else if ((unsigned char)*string < ' ') {
            put_bytes(t, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*string));
        } else {
            put_bytes(t, string, 1);
        }
    }
    put(t, "\"");
}

static void put_metadata(text *t, const tn_safetensors_options *options)
{
    if (options->n_metadata == 0 && !options->sum)
        return;
    put(t, "\"__metadata__\":{");
    for (int64_t i = 0; i < options->n_metadata; i++) {
        put(t, i ? "," : "");
        put_string(t, options->metadata[i].key);
        put(t, ":");
        put_string(t, options->metadata[i].value);
    }
    if (options->sum) {
        put(t, options->n_metadata ? ",\"sum\":\"" : "\"sum\":\"");
        t->sum_at = t->used;
        put(t, "00000000\"");
    }
    put(t, "}");
}

static void put_header(text *t, const part *parts, int64_t n, const tn_safetensors_options *options)
{
    int64_t begin = 0;
    put_bytes(t, "\0\0\0\0\0\0\0\0{", 9);
    put_metadata(t, options);
    for (int64_t i = 0; i < n; i++) {
        int rank;
        put(t, t->used > 9 ? "," : "");
        put_string(t, parts[i].name);
        put(t, ":{\"dtype\":\"");
        put(t, tni_safetensors_dtype(tn_tensor_dtype(parts[i].tensor), &rank));
        put(t, "\",\"shape\":[");
        for (int dim = 0; dim < tn_ndim(parts[i].tensor); dim++) {
            put(t, dim ? "," : "");
            put_integer(t, tn_size(parts[i].tensor, dim));
        }
        put(t, "],\"data_offsets\":[");
        put_integer(t, begin);
        put(t, ",");
        put_integer(t, begin += (int64_t)parts[i].bytes);
        put(t, "]}");
    }
    put(t, "}");
    while (t->used % 8)
        put(t, " ");
    for (int i = 0; i < 8 && t->data; i++)
        t->data[i] = (char)((uint64_t)(t->used - 8) >> (8 * i) & 0xff);
}

static tn_status check_text(const char *what, int64_t i, const char *string)
{
    size_t bad;
    if (!string)
        return TN_FAIL(TN_ERROR_NULL, function, "the %s of number %" PRId64 " is NULL", what, i);
    if (!tni_is_utf8((const unsigned char *)string, strlen(string), &bad))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the %s of number %" PRId64 " is not UTF-8, from byte %zu on", what,
                       i, bad);
    return TN_OK;
}

static int compare_strings(const void *a, const void *b, void *context)
{
    (void)context;
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts n strings and finds one that stands there twice. */
static tn_status check_unique(const char **strings, int64_t n, const char *what)
{
    char shown[TNI_SHOWN];
    tni_sort(strings, n, sizeof *strings, compare_strings, NULL);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(strings[i - 1], strings[i]) == 0)
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "two %s are '%s', needed unique ones", what,
                           tni_shown(shown, strings[i], strlen(strings[i])));
    return TN_OK;
}

static tn_status check_metadata(const tn_safetensors_options *options)
{
    int64_t n = options->n_metadata;
    for (int64_t i = 0; i < n; i++)
        if (check_text("metadata key", i, options->metadata[i].key) ||
            check_text("metadata value", i, options->metadata[i].value))
            return tn_error_code();
    for (int64_t i = 0; i < n && options->sum; i++)
        if (strcmp(options->metadata[i].key, "sum") == 0)
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "a metadata key is 'sum', which the checksum takes");
    const char **keys = n > 0 ? tn_allocate((size_t)n * sizeof *keys, function) : NULL;
    for (int64_t i = 0; i < n && keys; i++)
        keys[i] = options->metadata[i].key;
    if (keys)
        check_unique(keys, n, "metadata keys");
    tn_deallocate(keys, (size_t)n * sizeof *keys);
    return tn_error_code();
}

static tn_status fill_part(part *p, const tn_named_tensor *named, int64_t i)
{
    char shown[TNI_SHOWN];
    if (check_text("name", i, named->name))
        return tn_error_code();
    if (!named->tensor)
        return TN_FAIL(TN_ERROR_NULL, function, "tensor number %" PRId64 " is NULL", i);
    if (strcmp(named->name, "__metadata__") == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "tensor number %" PRId64 " is named '__metadata__'", i);
    tni_shown(shown, named->name, strlen(named->name));
    if (!tni_safetensors_dtype(tn_tensor_dtype(named->tensor), &p->rank))
        return TN_FAIL(TN_ERROR_DTYPE, function, "tensor '%s' is %s, which is not written, convert it first", shown,
                       tn_dtype_name(tn_tensor_dtype(named->tensor)));
    if (tn_tensor_device(named->tensor).type != TN_CPU)
        return TN_FAIL(TN_ERROR_DEVICE, function, "tensor '%s' is on %s, needed data", shown,
                       tn_device_type_name(tn_tensor_device(named->tensor).type));
    p->name = named->name;
    p->tensor = tn_contiguous(named->tensor);
    if (!p->tensor)
        return tn_error_code();
    p->bytes = (size_t)tn_numel(p->tensor) * tn_itemsize(tn_tensor_dtype(p->tensor));
    return TN_OK;
}

static int compare_parts(const void *a, const void *b, void *context)
{
    (void)context;
    const part *p = a, *q = b;
    return p->rank != q->rank ? p->rank - q->rank : strcmp(p->name, q->name);
}

/* A tensor's elements in the file's byte order: as they are, or swapped in place of a copy. */
static const void *elements(part *p)
{
    if (!tni_is_big_endian() || p->bytes == 0)
        return tn_data(p->tensor);
    tn_tensor *copy = tn_clone(p->tensor);
    size_t itemsize = tn_itemsize(tn_tensor_dtype(p->tensor));
    if (copy)
        tni_swap_bytes(tn_data_mut(copy), itemsize, (int64_t)(p->bytes / itemsize));
    return tn_data(copy);
}

static tn_status put_sum(const text *header, part *parts, int64_t n)
{
    char digits[TNI_SUM_DIGITS + 1];
    tni_crc32 *crc = tn_allocate(sizeof *crc, function);
    if (!crc)
        return tn_error_code();
    tni_crc32_begin(crc);
    tni_crc32_add(crc, header->data, header->used);
    for (int64_t i = 0; i < n; i++)
        tni_crc32_add(crc, elements(&parts[i]), parts[i].bytes);
    snprintf(digits, sizeof digits, "%08" PRIx32, tni_crc32_value(crc));
    memcpy(header->data + header->sum_at, digits, TNI_SUM_DIGITS);
    tn_deallocate(crc, sizeof *crc);
    return tn_error_code();
}

static tn_status write_file(const char *path, const text *header, part *parts, int64_t n)
{
    tn_file file;
    if (tn_file_create(&file, path, function))
        return tn_error_code();
    tn_file_write(&file, header->data, header->used);
    for (int64_t i = 0; i < n && !tn_error_code(); i++)
        tn_file_write(&file, elements(&parts[i]), parts[i].bytes);
    return tn_file_commit(&file);
}

static tn_status save(const char *path, part *parts, int64_t n, const tn_safetensors_options *options)
{
    text header = {0};
    tni_sort(parts, n, sizeof *parts, compare_parts, NULL);
    put_header(&header, parts, n, options);
    size_t bytes = header.used;
    if (bytes - 8 > LONGEST_HEADER)
        return TN_FAIL(TN_ERROR_OVERFLOW, function, "the header has %zu bytes, the limit is %d", bytes - 8,
                       LONGEST_HEADER);
    header = (text){.data = tn_allocate(bytes, function)};
    if (!header.data)
        return tn_error_code();
    put_header(&header, parts, n, options);
    if (!options->sum || !put_sum(&header, parts, n))
        write_file(path, &header, parts, n);
    tn_deallocate(header.data, bytes);
    return tn_error_code();
}

static tn_status check(const char *path, const tn_named_tensor *tensors, int64_t n,
                       const tn_safetensors_options *options)
{
    if (!path || (!tensors && n > 0))
        return TN_FAIL_NULL(function, path ? 2 : 1, path ? "tensors" : "path");
    if (!options->metadata && options->n_metadata > 0)
        return TN_FAIL(TN_ERROR_NULL, function, "options.metadata is NULL");
    if (n < 0 || options->n_metadata < 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %" PRId64 ", needed 0 or more",
                       n < 0 ? "n" : "options.n_metadata", n < 0 ? n : options->n_metadata);
    return check_metadata(options);
}

tn_status tn_save_safetensors(const char *path, const tn_named_tensor *tensors, int64_t n,
                              const tn_safetensors_options *options)
{
    static const tn_safetensors_options defaults = {0};
    options = options ? options : &defaults;
    if (tn_error_code() || check(path, tensors, n, options))
        return tn_error_code();
    size_t bytes, name_bytes;
    if (__builtin_mul_overflow((size_t)n, sizeof(part), &bytes))
        return TN_FAIL(TN_ERROR_OVERFLOW, function, "n is %" PRId64 ", more than memory holds", n);
    name_bytes = (size_t)n * sizeof(char *);
    part *parts = bytes ? tn_allocate(bytes, function) : NULL;
    const char **names = bytes ? tn_allocate(name_bytes, function) : NULL;
    tn_scope scope = tn_scope_begin();
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        fill_part(&parts[i], &tensors[i], i);
        names[i] = tensors[i].name;
    }
    if (!tn_error_code() && !check_unique(names, n, "names"))
        save(path, parts, n, options);
    tn_scope_end(scope);
    tn_deallocate(names, name_bytes);
    tn_deallocate(parts, bytes);
    return tn_error_code();
}
