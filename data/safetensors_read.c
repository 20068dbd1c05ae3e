/* Reads a safetensors file: the header into tables, all checks, then the tensors in the order of their bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crc32.h"
#include "safetensors.h"

enum { LONGEST_HEADER = 100000000, CHUNK = 4096 };
enum { SHORTEST_ENTRY = 48, SHORTEST_PAIR = 5 }; /* bytes of JSON */

struct tn_safetensors {
    tn_object object;
    tni_manifest manifest;
};

static void destroy(void *object)
{
    tni_manifest *m = &((tn_safetensors *)object)->manifest;
    for (int64_t i = 0; i < m->n_entries; i++)
        tn_release(&m->entries[i].tensor);
    tn_deallocate(m->entries, (size_t)m->room_entries * sizeof *m->entries);
    tn_deallocate(m->pairs, (size_t)m->room_pairs * sizeof *m->pairs);
    tn_deallocate(m->text, m->bytes + 1);
}

static const tn_object_class safetensors_class = {
    .name = "safetensors", .bytes = sizeof(tn_safetensors), .destroy = destroy};

static tn_status read_length(tni_input *input, size_t *length)
{
    unsigned char start[9] = {0};
    uint64_t value = 0;
    if (tni_input_read(input, start, input->size < 9 ? (size_t)input->size : 9, 0))
        return tn_error_code();
    if (input->size < 8)
        return INPUT_FAIL(input, "is truncated: it has %" PRId64 " bytes, needed 8 for the length of the header%s",
                          input->size, tni_looks_like(input));
    for (int i = 7; i >= 0; i--)
        value = value << 8 | start[i];
    if (value > LONGEST_HEADER)
        return INPUT_FAIL(input, "has a header of %" PRIu64 " bytes, the limit is %d%s", value, LONGEST_HEADER,
                          tni_looks_like(input));
    if (value > (uint64_t)input->size - 8)
        return INPUT_FAIL(input, "is truncated: it has %" PRId64 " bytes, its header alone %" PRIu64 "%s", input->size,
                          value, tni_looks_like(input));
    if (value < 2 || start[8] != '{')
        return INPUT_FAIL(input, "has a malformed header: it does not begin with '{'%s", tni_looks_like(input));
    *length = (size_t)value;
    return TN_OK;
}

/* By the place of the bytes; what is empty comes first where several begin. */
static int compare_places(const void *a, const void *b, void *context)
{
    (void)context;
    const tni_entry *p = a, *q = b;
    return p->begin != q->begin ? (p->begin > q->begin) - (p->begin < q->begin) : (p->end > q->end) - (p->end < q->end);
}

static int compare_names(const void *a, const void *b, void *context)
{
    const tni_manifest *m = context;
    return strcmp(m->text + ((const tni_entry *)a)->name, m->text + ((const tni_entry *)b)->name);
}

/* The tensors tile the data. Leaves the entries in the order of their places. */
static tn_status check_tiles(tni_manifest *m, int64_t bytes)
{
    char text[TNI_SHOWN];
    int64_t end = 0;
    tni_sort(m->entries, m->n_entries, sizeof *m->entries, compare_places, NULL);
    for (int64_t i = 0; i < m->n_entries; i++) {
        const tni_entry *entry = &m->entries[i];
        const char *name = m->text + entry->name;
        if (entry->begin != end)
            return INPUT_FAIL(m->input,
                              "is malformed: tensor '%s' begins at byte %" PRId64
                              " of the data, the one before it ends "
                              "at byte %" PRId64 ": there may be no hole and no overlap",
                              tni_shown(text, name, strlen(name)), entry->begin, end);
        end = entry->end;
    }
    if (end > bytes)
        return INPUT_FAIL(m->input,
                          "is truncated or malformed: %" PRId64 " bytes follow the header, its tensors need "
                          "%" PRId64,
                          bytes, end);
    return end == bytes
               ? TN_OK
               : INPUT_FAIL(m->input, "is malformed: %" PRId64 " bytes follow the header, its tensors have %" PRId64,
                            bytes, end);
}

/* Adds the header as it is in the file (the text was unescaped since), with zeros for the sum. digits: the sum's. */
static tn_status sum_header(tni_input *input, const tni_manifest *m, tni_crc32 *crc, char *digits)
{
    char chunk[CHUNK];
    size_t total = m->bytes + 8, sum = m->sum_at + 8;
    for (size_t at = 0; at < total;) {
        size_t bytes = total - at < CHUNK ? total - at : CHUNK;
        if (tni_input_read(input, chunk, bytes, (int64_t)at))
            return tn_error_code();
        for (size_t i = 0; i < TNI_SUM_DIGITS; i++)
            if (sum + i >= at && sum + i < at + bytes) {
                digits[i] = chunk[sum + i - at];
                chunk[sum + i - at] = '0';
            }
        tni_crc32_add(crc, chunk, bytes);
        at += bytes;
    }
    return TN_OK;
}

/* One tensor; what its bytes are goes into the sum. */
static tn_tensor *read_tensor(tni_input *input, const tni_manifest *m, const tni_entry *entry, tni_crc32 *crc)
{
    int64_t size[TN_MAX_NDIM];
    size_t bytes = (size_t)(entry->end - entry->begin), itemsize = tn_itemsize(entry->dtype);
    tni_entry_sizes(m, entry, size);
    tn_tensor *x = tn_empty_on(size, entry->ndim, entry->dtype, (tn_device){TN_CPU, 0});
    void *data = x && bytes > 0 ? tn_data_mut(x) : NULL;
    if (!data)
        return x;
    if (tni_input_read(input, data, bytes, (int64_t)m->bytes + 8 + entry->begin)) {
        tn_drop(&x);
        return NULL;
    }
    if (crc)
        tni_crc32_add(crc, data, bytes);
    if (tni_is_big_endian())
        tni_swap_bytes(data, itemsize, (int64_t)(bytes / itemsize));
    if (entry->dtype == TN_BOOL)
        tni_normalise_bools(data, (int64_t)bytes);
    return x;
}

static tn_status read_tensors(tni_input *input, tni_manifest *m, tni_crc32 *crc)
{
    for (int64_t i = 0; i < m->n_entries; i++) {
        tn_tensor *x = read_tensor(input, m, &m->entries[i], crc);
        if (!x)
            return tn_error_code();
        m->entries[i].tensor = tn_object_keep(x);
    }
    tni_sort(m->entries, m->n_entries, sizeof *m->entries, compare_names, m);
    return TN_OK;
}

static tn_status read_with_sum(tni_input *input, tni_manifest *m)
{
    char found[TNI_SUM_DIGITS + 1] = "", needed[TNI_SUM_DIGITS + 1], text[TNI_SHOWN];
    if (!m->sum_at)
        return INPUT_FAIL(input, "has no checksum: __metadata__.sum with eight hex digits is missing");
    tni_crc32 *crc = tn_allocate(sizeof *crc, input->file.function);
    if (!crc)
        return tn_error_code();
    tni_crc32_begin(crc);
    if (!sum_header(input, m, crc, found) && !read_tensors(input, m, crc)) {
        snprintf(needed, sizeof needed, "%08" PRIx32, tni_crc32_value(crc));
        if (memcmp(found, needed, TNI_SUM_DIGITS) != 0)
            INPUT_FAIL(input, "is damaged: its checksum is %s, its content gives %s",
                       tni_shown(text, found, TNI_SUM_DIGITS), needed);
    }
    tn_deallocate(crc, sizeof *crc);
    return tn_error_code();
}

/* The index of the word among n sorted ones, or -1; `at` gives the i-th one's position in the text. */
static int64_t find(const tni_manifest *m, const char *word, int64_t n, uint32_t (*at)(const tni_manifest *, int64_t))
{
    for (int64_t low = 0, high = n; low < high;) {
        int64_t middle = low + (high - low) / 2;
        int order = strcmp(m->text + at(m, middle), word);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static uint32_t name_at(const tni_manifest *m, int64_t i)
{
    return m->entries[i].name;
}

static uint32_t key_at(const tni_manifest *m, int64_t i)
{
    return m->pairs[i].key;
}

static tn_status load(tn_safetensors *file, tni_input *input, const tn_safetensors_options *options)
{
    tni_manifest *m = &file->manifest;
    size_t bytes = 0;
    if (read_length(input, &bytes))
        return tn_error_code();
    m->input = input;
    m->text = tn_allocate(bytes + 1, input->file.function);
    if (!m->text)
        return tn_error_code();
    m->bytes = bytes;
    m->room_entries = (int64_t)(bytes / SHORTEST_ENTRY + 1);
    m->room_pairs = (int64_t)(bytes / SHORTEST_PAIR + 1);
    m->entries = tn_allocate((size_t)m->room_entries * sizeof *m->entries, input->file.function);
    m->pairs = tn_allocate((size_t)m->room_pairs * sizeof *m->pairs, input->file.function);
    if (!m->entries || !m->pairs || tni_input_read(input, m->text, bytes, 8) || tni_manifest_read(m) ||
        check_tiles(m, input->size - 8 - (int64_t)bytes))
        return tn_error_code();
    const bool sum = options && (options->sum || (options->verify && find(m, "sum", m->n_pairs, key_at) >= 0));
    return sum ? read_with_sum(input, m) : read_tensors(input, m, NULL);
}

tn_safetensors *tn_load_safetensors(const char *path, const tn_safetensors_options *options)
{
    tni_input input;
    if (tn_error_code())
        return NULL;
    if (!path) {
        TN_FAIL_NULL("load_safetensors", 1, "path");
        return NULL;
    }
    tn_safetensors *file = tn_object_new(&safetensors_class);
    if (!file || tni_input_open(&input, path, "load_safetensors")) {
        tn_drop(&file);
        return NULL;
    }
    bool failed = load(file, &input, options) != TN_OK;
    tni_input_close(&input);
    file->manifest.input = NULL;
    if (failed)
        tn_drop(&file);
    return file;
}

static bool ready(const tn_safetensors *file, const char *function)
{
    if (!tn_error_code() && !file)
        TN_FAIL_NULL(function, 1, "file");
    return !tn_error_code();
}

int64_t tn_safetensors_count(const tn_safetensors *file)
{
    return ready(file, "safetensors_count") ? file->manifest.n_entries : 0;
}

int64_t tn_safetensors_metadata_count(const tn_safetensors *file)
{
    return ready(file, "safetensors_metadata_count") ? file->manifest.n_pairs : 0;
}

static bool within(const char *function, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return true;
    TN_FAIL(TN_ERROR_INDEX, function, "i is %" PRId64 ", needed 0 to %" PRId64, i, n - 1);
    return false;
}

tn_named_tensor tn_safetensors_at(const tn_safetensors *file, int64_t i)
{
    const char *name = "safetensors_at";
    if (!ready(file, name) || !within(name, i, file->manifest.n_entries))
        return (tn_named_tensor){0};
    const tni_entry *entry = &file->manifest.entries[i];
    return (tn_named_tensor){file->manifest.text + entry->name, entry->tensor};
}

tn_metadata tn_safetensors_metadata_at(const tn_safetensors *file, int64_t i)
{
    const char *name = "safetensors_metadata_at";
    if (!ready(file, name) || !within(name, i, file->manifest.n_pairs))
        return (tn_metadata){0};
    const tni_pair *pair = &file->manifest.pairs[i];
    return (tn_metadata){file->manifest.text + pair->key, file->manifest.text + pair->value};
}

tn_tensor *tn_safetensors_find(const tn_safetensors *file, const char *name)
{
    if (ready(file, "safetensors_find") && !name)
        TN_FAIL_NULL("safetensors_find", 2, "name");
    int64_t i = tn_error_code() ? -1 : find(&file->manifest, name, file->manifest.n_entries, name_at);
    return i < 0 ? NULL : file->manifest.entries[i].tensor;
}

const char *tn_safetensors_metadata_find(const tn_safetensors *file, const char *key)
{
    if (ready(file, "safetensors_metadata_find") && !key)
        TN_FAIL_NULL("safetensors_metadata_find", 2, "key");
    int64_t i = tn_error_code() ? -1 : find(&file->manifest, key, file->manifest.n_pairs, key_at);
    return i < 0 ? NULL : file->manifest.text + file->manifest.pairs[i].value;
}
