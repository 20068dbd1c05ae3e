/* Runs the lines of a manifest of files. */
#include "files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>
#include <time.h>

#include "sha256.h"

enum { TENSORS = 64, DIMS = 64 };

/* What a file holds. */
typedef struct content {
    tn_named_tensor tensors[TENSORS];
    int64_t count;
    const tn_safetensors *safetensors;
    bool changed; /* a net that was refused its weights */
} content;

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void load_npy(const char *path, const json_t *test, content *c)
{
    (void)test;
    c->tensors[c->count++].tensor = tn_load_npy(path);
}

static void load_safetensors(const char *path, const json_t *test, content *c)
{
    (void)test;
    tn_safetensors *file = tn_load_safetensors(path, NULL);
    c->safetensors = file;
    for (int64_t i = 0; i < tn_safetensors_count(file) && i < TENSORS; i++)
        c->tensors[c->count++] = tn_safetensors_at(file, i);
}

/* What the line's net has, "Linear(2,4) ReLU Linear(4,1)": the only one that there is. */
static tn_module *net_of_line(void)
{
    return tn_mlp((int64_t[]){2, 4, 1}, 3, TN_FLOAT32);
}

/* Checked for damage; where the line names a net, its weights are read too, all or nothing. */
static void load_checkpoint(const char *path, const json_t *test, content *c)
{
    tn_safetensors *file = tn_load_safetensors(path, &(tn_safetensors_options){.sum = true});
    c->safetensors = file;
    for (int64_t i = 0; i < tn_safetensors_count(file) && i < TENSORS; i++)
        c->tensors[c->count++] = tn_safetensors_at(file, i);
    if (!json_object_get(test, "model"))
        return;
    tn_module *net = net_of_line();
    if (!tn_load(net, path))
        return;
    for (int64_t i = 0; i < 4; i++) /* it began with zeros, and is as it was */
        for (int64_t k = 0; k < tn_numel(tn_parameter(net, i)); k++)
            c->changed = c->changed || ((const float *)tn_storage_data(tn_parameter(net, i)))[k] != 0;
}

/* Numbers in float64, or float32 if the line says so; with a column of labels, its classes are checked too. */
static void load_csv(const char *path, const json_t *test, content *c)
{
    const json_t *options = json_object_get(test, "options"), *label = json_object_get(test, "label_column");
    char column[24];
    const char *type = text_of(test, text_of(test, "target")[0] == 'f' ? "target" : "dtype");
    snprintf(column, sizeof column, "%d", (int)json_integer_value(label));
    tn_csv_options how = {.dtype = strcmp(type, "f32") == 0 || strcmp(type, "float32") == 0 ? TN_FLOAT32 : TN_FLOAT64,
                          .delimiter = text_of(options, "delimiter")[0],
                          .comment = text_of(options, "comment")[0],
                          .header =
                              json_integer_value(json_object_get(options, "header")) ? TN_CSV_HEADER : TN_CSV_NO_HEADER,
                          .label = label ? column : NULL,
                          .classes = json_integer_value(json_object_get(test, "classes")),
                          .target = strcmp(text_of(test, "target"), "number") == 0 ? TN_CSV_NUMBERS : TN_CSV_CLASSES};
    c->tensors[c->count++].tensor = tn_dataset_x(tn_load_csv(path, &how));
}

static const struct {
    const char *name;
    void (*load)(const char *, const json_t *, content *);
} formats[] = {
    {"npy", load_npy}, {"safetensors", load_safetensors}, {"csv", load_csv}, {"checkpoint", load_checkpoint}};

bool file_format_is_read(const char *format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, format) == 0)
            return true;
    return false;
}

static tn_dtype dtype_of(const char *word)
{
    static const struct {
        const char *word;
        tn_dtype dtype;
    } words[] = {{"f16", TN_FLOAT16}, {"bf16", TN_BFLOAT16}, {"f32", TN_FLOAT32}, {"f64", TN_FLOAT64},
                 {"i8", TN_INT8},     {"i16", TN_INT16},     {"i32", TN_INT32},   {"i64", TN_INT64},
                 {"u8", TN_UINT8},    {"u16", TN_UINT16},    {"u32", TN_UINT32},  {"u64", TN_UINT64},
                 {"bool", TN_BOOL}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].dtype;
    return TN_DTYPE_NONE;
}

/* Compares with the list where there is no hash. */
static bool holds_values(tn_tensor *x, const json_t *values)
{
    tn_tensor *wide = tn_to(x, TN_FLOAT64);
    const double *data = tn_numel(wide) ? tn_data_f64(wide) : NULL;
    if (!json_is_array(values) || (int64_t)json_array_size(values) != tn_numel(x))
        return false;
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        const char *word = json_string_value(value);
        double needed = word ? strtod(word, NULL) : json_number_value(value);
        if (!(data[i] == needed ? signbit(data[i]) == signbit(needed) : isnan(data[i]) && isnan(needed)))
            return false;
    }
    return true;
}

static void compare(tn_tensor *x, const json_t *needed, const char *name, char why[WHY])
{
    const json_t *shape = json_object_get(needed, "shape");
    const char *hash = text_of(needed, "sha256");
    char found[65];
    if (tn_tensor_dtype(x) != dtype_of(text_of(needed, "dtype"))) {
        snprintf(why, WHY, "%s is %s, needed %s", name, tn_dtype_name(tn_tensor_dtype(x)), text_of(needed, "dtype"));
        return;
    }
    bool same = (int)json_array_size(shape) == tn_ndim(x);
    for (int i = 0; same && i < tn_ndim(x); i++)
        same = json_integer_value(json_array_get(shape, (size_t)i)) == tn_size(x, i);
    tn_tensor *rows = tn_contiguous(x);
    sha256(tn_data(rows), (size_t)tn_numel(rows) * tn_itemsize(tn_tensor_dtype(rows)), found);
    if (!same)
        snprintf(why, WHY, "%s has another shape", name);
    else if (hash[0] ? strcmp(hash, found) != 0 : !holds_values(rows, json_object_get(needed, "values")))
        snprintf(why, WHY, "%s has other elements (sha256 %s)", name, found);
}

static void compare_all(const content *c, const json_t *test, char why[WHY])
{
    json_t *tensors = json_object_get(test, "tensors");
    const char *key;
    json_t *value;
    if (!tensors) {
        compare(c->tensors[0].tensor, test, "the array", why);
        return;
    }
    if ((int64_t)json_object_size(tensors) != c->count)
        snprintf(why, WHY, "%d tensors, needed %d", (int)c->count, (int)json_object_size(tensors));
    json_object_foreach(tensors, key, value)
    {
        tn_tensor *x = tn_safetensors_find(c->safetensors, key);
        if (x)
            compare(x, value, key, why);
        else
            snprintf(why, WHY, "there is no tensor %.80s", key);
    }
    json_object_foreach(json_object_get(test, "metadata"), key, value)
    {
        const char *found = tn_safetensors_metadata_find(c->safetensors, key);
        if (!found || strcmp(found, json_string_value(value)) != 0)
            snprintf(why, WHY, "the metadata of %.80s differs", key);
    }
}

/* The message names the file, and the line and column where the manifest does. */
static void check_message(const json_t *test, const char *message, char why[WHY])
{
    char part[64];
    const char *path = text_of(test, "file"), *slash = strrchr(path, '/');
    const json_t *line = json_object_get(test, "line"), *column = json_object_get(test, "column");
    if (!strstr(message, slash ? slash + 1 : path) && strlen(slash ? slash + 1 : path) < 36)
        snprintf(why, WHY, "the message does not name the file: %s", message);
    snprintf(part, sizeof part, "line %d,", (int)json_integer_value(line));
    if (line && !strstr(message, part))
        snprintf(why, WHY, "needed %s in: %s", part, message);
    snprintf(part, sizeof part, "column %d:", (int)json_integer_value(column));
    if (column && !strstr(message, part))
        snprintf(why, WHY, "needed %s in: %s", part, message);
}

/* Loads once and judges; the error that came is gone afterwards. */
static void try_once(const json_t *test, const char *path, content *c, tn_error *error)
{
    *c = (content){0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, text_of(test, "format")) == 0)
            formats[i].load(path, test, c);
    tn_error_push(error);
}

static void judge(const json_t *test, const char *path, const char *how, char why[WHY])
{
    content c;
    tn_error error;
    char problem[WHY] = "";
    bool ok = strcmp(text_of(test, "expect"), "ok") == 0;
    tn_scope scope = tn_scope_begin();
    try_once(test, path, &c, &error);
    if (ok && error.code)
        snprintf(problem, WHY, "expected to load, came %s", error.message);
    else if (!ok && !error.code)
        snprintf(problem, WHY, "expected an error, it loaded");
    else if (ok)
        compare_all(&c, test, problem);
    else
        check_message(test, error.message, problem);
    if (c.changed)
        snprintf(problem, WHY, "the net changed");
    if (!ok && error.code == TN_ERROR_MEMORY)
        snprintf(problem, WHY, "it took more than 4 times its size and 1 MB: %s", error.message);
    if (problem[0] && !why[0])
        snprintf(why, WHY, "%s%.500s", how, problem);
    tn_scope_end(scope);
    tn_error_clear();
}

/* Reads that give little, a regular file that looks like a pipe, an operation that fails. */
static struct {
    tn_file_operations real;
    bool brief, pipe;
    int fail_at, calls; /* -1: never */
} faults;

static bool struck(void)
{
    return faults.calls++ == faults.fail_at;
}

static int fault_open(void *context, const char *path, int flags, uint32_t mode)
{
    (void)context;
    return struck() ? -EIO : faults.real.open(faults.real.context, path, flags, mode);
}

static int64_t fault_read(void *context, int file, void *buffer, size_t bytes)
{
    (void)context;
    return struck() ? -EIO : faults.real.read(faults.real.context, file, buffer, faults.brief && bytes > 3 ? 3 : bytes);
}

static int64_t fault_pread(void *context, int file, void *buffer, size_t bytes, int64_t offset)
{
    (void)context;
    bytes = faults.brief && bytes > 3 ? 3 : bytes;
    return struck() ? -EIO : faults.real.pread(faults.real.context, file, buffer, bytes, offset);
}

static int fault_fstat(void *context, int file, tn_file_info *info)
{
    (void)context;
    int result = struck() ? -EIO : faults.real.fstat(faults.real.context, file, info);
    if (faults.pipe)
        info->mode = 0; /* not a regular file */
    return result;
}

static void judge_with_faults(const json_t *test, const char *path, char why[WHY])
{
    faults.real = tn_get_file_operations();
    tn_file_operations table = faults.real;
    table.open = fault_open;
    table.read = fault_read;
    table.pread = fault_pread;
    table.fstat = fault_fstat;
    tn_set_file_operations(&table);
    faults.fail_at = -1;
    faults.brief = true;
    judge(test, path, "with short reads: ", why);
    faults.pipe = true;
    judge(test, path, "from a pipe: ", why);
    faults.brief = false;
    for (int pipe = 0; pipe < 2; pipe++)
        for (int at = 0, past = 0; !past; at++) {
            content c;
            tn_error error;
            faults.pipe = pipe;
            faults.fail_at = at;
            faults.calls = 0;
            tn_scope scope = tn_scope_begin();
            try_once(test, path, &c, &error);
            past = faults.calls <= at;
            tn_scope_end(scope);
            if (!past && !error.code && !why[0])
                snprintf(why, WHY, "file operation %d failed, and nothing was said", at);
        }
    faults.pipe = false;
    tn_set_file_operations(&faults.real);
}

static void judge_without_memory(const json_t *test, const char *path, char why[WHY])
{
    for (int64_t at = 0; at < 2000; at++) {
        content c;
        tn_error error;
        int64_t before = tn_get_memory_stats().live_blocks;
        tn_scope scope = tn_scope_begin();
        tn_fail_allocation(at, false);
        try_once(test, path, &c, &error);
        bool hit = tn_allocation_failed();
        tn_fail_allocation(-1, false);
        tn_scope_end(scope);
        if (!hit)
            return;
        if (!error.code && !why[0])
            snprintf(why, WHY, "allocation %d failed, and nothing was said", (int)at);
        if (tn_get_memory_stats().live_blocks != before && !why[0])
            snprintf(why, WHY, "allocation %d failed, and memory leaked", (int)at);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void run_file(const json_t *test, const char *folder, char why[WHY])
{
    char path[1024];
    struct stat info = {0};
    const json_t *most = json_object_get(test, "max_ms");
    snprintf(path, sizeof path, "%s/%s", folder, text_of(test, "file"));
    if (stat(path, &info) != 0) {
        snprintf(why, WHY, "the file is not there");
        return;
    }
    bool ok = strcmp(text_of(test, "expect"), "ok") == 0;
    tn_trim_memory();
    int64_t before = tn_get_memory_stats().live_blocks;
    if (!ok)
        tn_set_memory_limit((size_t)tn_get_memory_stats().reserved_bytes + 4 * (size_t)info.st_size + (1u << 20));
    double began = seconds();
    judge(test, path, "", why);
    double took = seconds() - began, allowed = most ? json_number_value(most) / 1000.0 : 1.0;
    tn_set_memory_limit(SIZE_MAX);
    if (took > allowed && !why[0])
        snprintf(why, WHY, "it took %.3f s, %.3f are allowed", took, allowed);
    judge_with_faults(test, path, why);
    judge_without_memory(test, path, why);
    if (tn_get_memory_stats().live_blocks != before && !why[0])
        snprintf(why, WHY, "memory leaked");
}
