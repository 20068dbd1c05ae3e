/* Reading a trained net back. The file may be hostile: sizes are held against its tensors before any are made. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model_file.h"
#include "options.h"

static const char function[] = "load_model";

typedef struct source {
    const tn_safetensors *file;
    const char *path;
} source;

static const char *text_of(const source *from, const char *key, bool needed)
{
    const char *text = tn_safetensors_metadata_find(from->file, key);
    if (!text && needed)
        TN_FAIL(TN_ERROR_DATA, function,
                "'%s' has no '%s' among its metadata, needed a net that 'tenon train' saved", from->path, key);
    return text;
}

/* A value of the metadata as an option reads it. */
static void read_value(const source *from, const char *key, const option_row *row)
{
    const char *text = text_of(from, key, true);
    char needed[160];
    if (!text || row->kind->parse(row, text))
        return;
    row->kind->needed(row, needed, sizeof needed);
    TN_FAIL(TN_ERROR_DATA, function, "'%s' has the metadata '%s': '%.60s', needed %s", from->path, key, text, needed);
}

static void read_whole(const source *from, const char *key, int64_t low, int64_t *value)
{
    read_value(from, key, &(option_row){.kind = &option_whole, .value = value, .low = low, .high = 1000000000});
}

static void read_choice(const source *from, const char *key, const char *const *words, int *value)
{
    read_value(from, key, &(option_row){.kind = &option_choice, .value = value, .words = words});
}

/* n numbers with blanks between, or NULL if the key is not there. */
static tn_tensor *read_numbers(const source *from, const char *key, int64_t n, int ndim, tn_dtype dtype)
{
    const char *text = text_of(from, key, false);
    if (!text)
        return NULL;
    tn_tensor *wide = tn_empty(&n, ndim, TN_FLOAT64);
    double *value = tn_data_f64_mut(wide);
    for (int64_t i = 0; value && i < n; i++) {
        char *end;
        value[i] = strtod(text, &end);
        if (end == text || (*end && *end != ' ')) {
            TN_FAIL(TN_ERROR_DATA, function, "'%s' has under '%s' among its metadata no %" PRId64 " numbers",
                    from->path, key, n);
            return NULL;
        }
        text = end;
    }
    return tn_to(wide, dtype);
}

static const char **read_names(const source *from, const char *what, int64_t n)
{
    char key[40];
    snprintf(key, sizeof key, "tenon.%s.0", what);
    if (n < 1 || n > tn_safetensors_metadata_count(from->file) || !text_of(from, key, false))
        return NULL;
    const char **names = malloc((size_t)n * sizeof *names);
    for (int64_t i = 0; names && i < n; i++) {
        snprintf(key, sizeof key, "tenon.%s.%" PRId64, what, i);
        names[i] = text_of(from, key, true);
    }
    if (!names)
        TN_FAIL(TN_ERROR_MEMORY, function, "no memory for %" PRId64 " names", n);
    return names;
}

/* Whether the file's tensors are of the sizes that the metadata say. */
static void check_sizes(const source *from, model *it)
{
    int64_t in = it->shape.inputs;
    for (int i = 0; i <= it->shape.hidden.count && !tn_error_code(); i++) {
        int64_t out = i < it->shape.hidden.count ? it->shape.hidden.size[i] : it->shape.outputs;
        char name[32], shape[64];
        snprintf(name, sizeof name, "%d.weight", 2 * i);
        tn_tensor *weight = tn_safetensors_find(from->file, name);
        if (!weight) {
            TN_FAIL(TN_ERROR_NAME, function, "'%s' has no tensor '%s'", from->path, name);
        } else if (tn_ndim(weight) != 2 || tn_size(weight, 0) != out || tn_size(weight, 1) != in) {
            tn_format_shape(shape, sizeof shape, tn_sizes(weight), tn_ndim(weight));
            TN_FAIL(TN_ERROR_SHAPE, function, "'%s': '%s' is %s, needed [%" PRId64 ", %" PRId64 "]", from->path, name,
                    shape, out, in);
        }
        if (weight)
            it->dtype = tn_tensor_dtype(weight);
        in = out;
    }
}

static bool is_checkpoint(const source *from)
{
    const char *format = text_of(from, "format", false);
    if (!format || strcmp(format, "checkpoint") != 0)
        return false;
    TN_FAIL(TN_ERROR_DATA, function,
            "'%s' is a checkpoint, needed the net: model.safetensors beside it, or the folder of the run", from->path);
    return true;
}

void model_load(model *it, const char *path)
{
    source from = {tn_load_safetensors(path, &(tn_safetensors_options){.verify = true}), path};
    *it = (model){.classes = 0};
    if (!from.file || is_checkpoint(&from))
        return;
    read_whole(&from, "tenon.inputs", 1, &it->shape.inputs);
    read_value(&from, "tenon.hidden",
               &(option_row){.kind = &option_sizes, .value = &it->shape.hidden, .low = 1, .high = 1000000000});
    read_whole(&from, "tenon.outputs", 1, &it->shape.outputs);
    read_choice(&from, "tenon.activation", activation_words, &it->shape.activation);
    read_choice(&from, "tenon.task", task_words, &it->task);
    read_whole(&from, "tenon.classes", 0, &it->classes);
    check_sizes(&from, it);
    if (tn_error_code())
        return;
    it->label = text_of(&from, "tenon.label", false);
    it->label_name = text_of(&from, "tenon.label_name", false);
    it->mean = read_numbers(&from, "tenon.mean", it->shape.inputs, 1, it->dtype);
    it->scale = read_numbers(&from, "tenon.scale", it->shape.inputs, 1, it->dtype);
    it->y_mean = read_numbers(&from, "tenon.target_mean", 1, 0, it->dtype);
    it->y_scale = read_numbers(&from, "tenon.target_scale", 1, 0, it->dtype);
    it->columns = read_names(&from, "column", it->shape.inputs);
    it->class_names = read_names(&from, "class", it->classes);
    if (it->shape.outputs != (it->task == TASK_CLASSES ? it->classes : 1))
        TN_FAIL(TN_ERROR_DATA, function, "'%s' has %" PRId64 " outputs, which its task does not have", path,
                it->shape.outputs);
    if (!it->mean != !it->scale || !it->y_mean != !it->y_scale)
        TN_FAIL(TN_ERROR_DATA, function, "'%s' has a mean without a scale among its metadata, or one without the other",
                path);
    it->net = net_build(&it->shape, it->dtype);
    tn_load(it->net, path);
    if (tn_error_code())
        model_free(it);
}

void model_load_from(model *it, const char *operand)
{
    struct stat info;
    char path[4096];
    if (stat(operand, &info) == 0 && S_ISDIR(info.st_mode)) {
        if (snprintf(path, sizeof path, "%s/model.safetensors", operand) >= (int)sizeof path)
            TN_FAIL(TN_ERROR_FILE, function, "the path of the folder is too long");
        else
            model_load(it, path);
    } else {
        model_load(it, operand);
    }
}
