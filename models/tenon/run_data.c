/* See run_data.h. */
#include "run_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char function[] = "data";

static tn_dataset *moons(const data_options *d, tn_dtype dtype)
{
    return tn_make_moons(d->samples, d->noise, (uint64_t)d->seed, dtype);
}

static tn_dataset *circles(const data_options *d, tn_dtype dtype)
{
    return tn_make_circles(d->samples, d->noise, d->factor, (uint64_t)d->seed, dtype);
}

static tn_dataset *blobs(const data_options *d, tn_dtype dtype)
{
    const tn_blobs_options options = {.n_features = d->features, .centers = d->centers, .cluster_std = d->cluster_std};
    return tn_make_blobs(d->samples, &options, (uint64_t)d->seed, dtype);
}

static tn_dataset *(*const makers[])(const data_options *d, tn_dtype dtype) = {
    [DATA_MOONS] = moons, [DATA_CIRCLES] = circles, [DATA_BLOBS] = blobs};

int64_t data_classes(tn_dataset *dataset)
{
    const int64_t *y = tn_data_i64(tn_dataset_y(dataset));
    int64_t most = tn_dataset_class_count(dataset) - 1;
    for (int64_t i = 0; y && i < tn_dataset_size(dataset); i++)
        most = y[i] > most ? y[i] : most;
    return most + 1;
}

/* Each step can be undone, so that two contents that differ in eight bytes alone never have one sum. */
static uint64_t add_to_sum(uint64_t sum, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        uint64_t word = 0;
        const size_t n = bytes < sizeof word ? bytes : sizeof word;
        memcpy(&word, from, n);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
        from += n;
        bytes -= n;
    }
    return sum;
}

uint64_t data_sum(tn_tensor *x, const char *const *names, int64_t n)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *dense = tn_contiguous(x);
    const size_t bytes = dense ? (size_t)tn_numel(dense) * tn_itemsize(tn_tensor_dtype(dense)) : 0;
    uint64_t sum = add_to_sum(1, &bytes, sizeof bytes);
    if (bytes > 0 && tn_data(dense))
        sum = add_to_sum(sum, tn_data(dense), bytes);
    for (int64_t i = 0; names && i < n; i++)
        sum = add_to_sum(sum, names[i], strlen(names[i]) + 1);
    tn_scope_end(scope);
    return tn_error_code() ? 0 : sum;
}

/* The first element that is nan or infinite is an error. */
static void check_finite(tn_tensor *x, const char *path, const char *what)
{
    tn_scope scope = tn_scope_begin();
    tn_tensor *dense = tn_contiguous(tn_to(x, TN_FLOAT64));
    const double *value = tn_data_f64(dense);
    int64_t n = tn_numel(x), i = 0;
    while (value && i < n && isfinite(value[i]))
        i++;
    if (value && i < n) {
        int64_t place[64];
        char text[32], at[64];
        int ndim = tn_ndim(x);
        for (int64_t d = ndim - 1, rest = i; d >= 0; d--) {
            place[d] = rest % tn_size(x, (int)d);
            rest /= tn_size(x, (int)d);
        }
        tn_format_double(text, sizeof text, value[i]);
        tn_format_shape(at, sizeof at, place, ndim);
        TN_FAIL(TN_ERROR_DATA, function, "'%s': %s%s is %s, needed finite numbers", path, what, at, text);
    }
    tn_scope_end(scope);
}

/* x as rows of features. */
static tn_tensor *inputs_of(tn_tensor *x, const char *path, tn_dtype dtype)
{
    if (!x)
        return NULL;
    if (tn_ndim(x) < 2 || tn_numel(x) == 0) {
        char shape[64];
        tn_format_shape(shape, sizeof shape, tn_sizes(x), tn_ndim(x));
        TN_FAIL(TN_ERROR_SHAPE, function, "'%s': x is %s, needed rows of features, [n, features]", path, shape);
        return NULL;
    }
    check_finite(x, path, "x");
    tn_tensor *rows = tn_flatten(tn_contiguous(tn_to(x, dtype)), 1, -1);
    check_finite(rows, path, "x in float32"); /* 1e300 is finite in float64 alone */
    return rows;
}

/* y as classes or as numbers. */
static tn_tensor *labels_of(tn_tensor *y, const char *path, const data_options *asked, tn_dtype dtype)
{
    if (!y)
        return NULL;
    if (tn_ndim(y) == 2 && tn_size(y, 1) == 1)
        y = tn_squeeze_dim(y, 1);
    if (tn_ndim(y) != 1) {
        char shape[64];
        tn_format_shape(shape, sizeof shape, tn_sizes(y), tn_ndim(y));
        TN_FAIL(TN_ERROR_SHAPE, function, "'%s': y is %s, needed one label a row, [n]", path, shape);
        return NULL;
    }
    if (asked->regression) {
        check_finite(y, path, "y");
        return tn_to(y, dtype);
    }
    tn_tensor *wide = tn_contiguous(tn_to(y, TN_FLOAT64));
    const double *value = tn_data_f64(wide);
    for (int64_t i = 0; value && i < tn_numel(wide); i++)
        if (!(value[i] >= 0 && value[i] < TN_MAX_CLASSES && value[i] == floor(value[i]))) {
            char text[32];
            tn_format_double(text, sizeof text, value[i]);
            TN_FAIL(TN_ERROR_DATA, function,
                    "'%s': y[%" PRId64 "] is %s, needed a class, 0 to %d, or --regression for numbers", path, i, text,
                    TN_MAX_CLASSES - 1);
            return NULL;
        }
    return tn_contiguous(tn_to(y, TN_INT64));
}

enum { DIGITS = 8 }; /* of a label below TN_MAX_CLASSES, and a zero */

typedef struct class_list {
    int64_t n, class_of[TN_MAX_CLASSES]; /* by label; -1: none */
    char text[TN_MAX_CLASSES][DIGITS];
    const char *name[TN_MAX_CLASSES];
} class_list;

/* Each label that occurs is a class. */
static void list_classes(class_list *list, const int64_t *label, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        list->class_of[label[i]] = 0;
    for (int64_t i = 0; i < TN_MAX_CLASSES; i++)
        if (list->class_of[i] == 0) {
            snprintf(list->text[list->n], DIGITS, "%d", (int)i);
            list->name[list->n] = list->text[list->n];
            list->class_of[i] = list->n++;
        }
}

/* The classes of a net that have numbers as names. */
static void list_known(class_list *list, const model *known)
{
    for (int64_t i = 0; i < known->classes; i++) {
        char *end;
        const long label = strtol(known->class_names[i], &end, 10);
        if (!*end && label >= 0 && label < TN_MAX_CLASSES)
            list->class_of[label] = i;
    }
}

/* Arrays with labels, whose classes have the labels as names, unless these are 0, 1, ... themselves. */
static tn_dataset *array_dataset(tn_tensor *x, tn_tensor *y, const char *path, const data_options *asked,
                                 tn_dtype dtype, const model *known)
{
    y = labels_of(y, path, asked, dtype);
    if (!y || asked->regression || (known && !known->class_names))
        return tn_tensor_dataset(x, y);
    tn_tensor *numbers = tn_clone(y);
    int64_t *label = tn_data_i64_mut(numbers), n = tn_numel(y), most = 0;
    class_list *list = label ? malloc(sizeof *list) : NULL;
    if (!list) {
        TN_FAIL(TN_ERROR_MEMORY, function, "no memory for classes");
        return NULL;
    }
    list->n = 0;
    memset(list->class_of, -1, sizeof list->class_of);
    if (known)
        list_known(list, known);
    else
        list_classes(list, label, n);
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        most = label[i] > most ? label[i] : most;
        if (list->class_of[label[i]] < 0)
            TN_FAIL(TN_ERROR_DATA, function, "'%s': y[%" PRId64 "] is %" PRId64 ", which is none of the net's classes",
                    path, i, label[i]);
        else
            label[i] = list->class_of[label[i]];
    }
    tn_dataset *found = tn_tensor_dataset(x, numbers);
    if (found && !known && most != list->n - 1)
        tn_dataset_name_classes(found, list->name, list->n);
    free(list);
    return found;
}

static tn_dataset *load_npy(const input_file *file, const data_options *asked, tn_dtype dtype, const model *known)
{
    const char *path = input_file_path(file);
    if (!asked->labels) {
        TN_FAIL(TN_ERROR_ARGUMENT, function, "'%s' has no labels, needed --labels FILE.npy with them", path);
        return NULL;
    }
    tn_tensor *x = inputs_of(tn_load_npy(path), path, dtype);
    return array_dataset(x, tn_load_npy(asked->labels), asked->labels, asked, dtype, known);
}

static tn_safetensors *load_tensors(const char *path)
{
    return tn_load_safetensors(path, &(tn_safetensors_options){.verify = true});
}

static tn_dataset *load_safetensors(const input_file *file, const data_options *asked, tn_dtype dtype,
                                    const model *known)
{
    const char *path = input_file_path(file);
    tn_safetensors *all = load_tensors(path);
    tn_tensor *x = tn_safetensors_find(all, "x"), *y = tn_safetensors_find(all, "y");
    if (!x || !y) {
        if (!tn_error_code())
            TN_FAIL(TN_ERROR_NAME, function, "'%s' has no tensor '%s', needed 'x' and 'y'", path, x ? "y" : "x");
        return NULL;
    }
    x = inputs_of(x, path, dtype);
    return array_dataset(x, y, path, asked, dtype, known);
}

/* The same error, with more behind it. */
static void add_to_error(const char *more)
{
    tn_error pending;
    tn_error_push(&pending);
    const size_t length = strlen(pending.message);
    snprintf(pending.message + length, sizeof pending.message - length, "%s", more);
    tn_error_pop(&pending);
}

/* Whether the error is in a first row that could be a header. */
static bool is_of_first_row(const char *path, const tn_csv_options *options)
{
    tn_error first, second;
    tn_csv_options other = *options;
    other.header = TN_CSV_HEADER;
    tn_error_push(&first);
    tn_load_csv(path, &other);
    tn_error_push(&second);
    tn_error_pop(&first);
    return strcmp(first.message, second.message) != 0;
}

static void suggest_options(const char *path, const tn_csv_options *options, const data_options *asked)
{
    const char *said = tn_error_message();
    if (tn_error_code() != TN_ERROR_DATA)
        return;
    if (strstr(said, "is a label that is no class") && options->target == TN_CSV_LABELS)
        add_to_error(", or --regression for numbers");
    else if (strstr(said, "is not a number") && asked->header <= 0 && options->header == TN_CSV_NO_HEADER &&
             is_of_first_row(path, options))
        add_to_error(": if the row is a header, --header yes says so");
}

static bool are_unique(const char **names, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return false;
    return true;
}

/* The column of the labels where the file has one: by its name in the header, else by its number. */
static const char *label_of(const model *known, bool header)
{
    return header && known->label_name ? known->label_name : known->label ? known->label : "-1";
}

static void choose_label(tn_csv_options *options, const data_options *asked, const model *known)
{
    options->label = asked->label ? asked->label : known ? label_of(known, options->header == TN_CSV_HEADER) : "-1";
    options->target = asked->regression ? TN_CSV_NUMBERS : TN_CSV_LABELS;
    if (known && known->task != TASK_REGRESSION) {
        options->classes = known->classes;
        options->class_names = (const char *const *)known->class_names;
        options->target = known->class_names ? TN_CSV_LABELS : TN_CSV_CLASSES;
    }
}

/* For a net that says the rest. Where names do not say which columns it takes, one too many may be that of labels. */
static void leave_label_out(tn_csv_options *options, const data_options *asked, const model *known, int64_t columns)
{
    options->target = TN_CSV_SKIPPED;
    options->label = asked->label;
    if (asked->label || options->usecols || columns != known->shape.inputs + 1)
        return;
    options->label = label_of(known, options->header == TN_CSV_HEADER);
    if (options->header != TN_CSV_HEADER && options->label[strspn(options->label, "-0123456789")])
        TN_FAIL(TN_ERROR_NAME, function,
                "there are %" PRId64 " columns and no header, the net needs %" PRId64
                ": --label NUMBER says which is left out",
                columns, known->shape.inputs);
}

/* The columns that the net knows by name where the file has a header, else by number. */
static tn_dataset *load_csv(const input_file *file, const data_options *asked, tn_dtype dtype, const model *known,
                            bool labels)
{
    const char *path = input_file_path(file);
    tn_csv_options options = {.dtype = dtype,
                              .delimiter = asked->delimiter < 0 ? '\0' : ",;\t"[asked->delimiter],
                              .finite = true,
                              .header = asked->header < 0 ? TN_CSV_HEADER_AUTO : (tn_csv_header)asked->header};
    tn_csv_form form = {.columns = 0};
    if (tn_csv_sniff(path, &options, &form))
        return NULL;
    options.delimiter = form.delimiter;
    options.header = form.header ? TN_CSV_HEADER : TN_CSV_NO_HEADER;
    if (known && known->columns && form.header && are_unique(known->columns, known->shape.inputs)) {
        options.usecols = (const char *const *)known->columns;
        options.n_usecols = known->shape.inputs;
    }
    if (labels)
        choose_label(&options, asked, known);
    else
        leave_label_out(&options, asked, known, form.columns);
    tn_dataset *found = tn_load_csv(path, &options);
    suggest_options(path, &options, asked);
    return found;
}

/* Options of files of another kind. */
static void check_options(input_file *file, const data_options *asked)
{
    enum { CSV = 1 << FILE_CSV, NPY = 1 << FILE_NPY };
    const struct {
        const char *option;
        bool given;
        int kinds;
    } all[] = {{"--labels", asked->labels != NULL, NPY},
               {"--label", asked->label != NULL, CSV},
               {"--delimiter", asked->delimiter >= 0, CSV},
               {"--header", asked->header >= 0, CSV}};
    for (size_t i = 0; i < sizeof all / sizeof *all && !tn_error_code(); i++)
        if (all[i].given && !(all[i].kinds >> file->kind & 1)) {
            TN_FAIL(TN_ERROR_ARGUMENT, all[i].option, "found it beside '%s', a file of the kind %s, which has none",
                    file->name, file_kind_words[file->kind]);
            file->misused = true;
        }
}

/* A net of as many outputs as there are samples is no classifier: such labels are numbers, or names of the rows. */
static void check_classes(tn_dataset *found, const char *path)
{
    enum { FEW = 20 };
    const int64_t n = tn_dataset_size(found), classes = data_classes(found);
    if (classes > FEW && classes > n / 2)
        TN_FAIL(TN_ERROR_DATA, function,
                "'%s' has labels of %" PRId64 " classes in %" PRId64
                " rows: needed fewer, --label with another column, or --regression for numbers",
                path, classes, n);
}

/* Columns by number, and by name where both have names. */
static void check_fit(tn_dataset *found, const char *path, const model *known)
{
    int64_t n = tn_size(tn_dataset_x(found), 1);
    if (n != known->shape.inputs) {
        TN_FAIL(TN_ERROR_SHAPE, function, "'%s' has %" PRId64 " columns of features, the net needs %" PRId64, path, n,
                known->shape.inputs);
        return;
    }
    for (int64_t i = 0; known->columns && i < n; i++) {
        const char *name = tn_dataset_column_name(found, i);
        if (name && strcmp(name, known->columns[i]) != 0) {
            TN_FAIL(TN_ERROR_NAME, function, "'%s' has as feature %" PRId64 " '%.60s', the net needs '%.60s'", path, i,
                    name, known->columns[i]);
            return;
        }
    }
}

/* A file that is not there, by a name close to those of made data. */
static void suggest_made(const char *name)
{
    const char *close = tn_error_code() == TN_ERROR_FILE ? nearest_name(name, data_words, DATA_FILE) : NULL;
    if (!close)
        return;
    tn_error_clear();
    TN_FAIL(TN_ERROR_FILE, function, "there is no file '%s': did you mean '%s'?", name, close);
}

tn_dataset *data_load(const data_options *asked, tn_dtype dtype, const model *known, input_file *file)
{
    tn_dataset *found = NULL;
    enum data_kind kind = data_kind(asked);
    *file = (input_file){.name = asked->name, .copy = -1};
    if (kind != DATA_FILE) {
        found = makers[kind](asked, dtype);
    } else {
        input_file_open(file, asked->name, function);
        suggest_made(asked->name);
        check_options(file, asked);
        found = file->kind == FILE_NPY           ? load_npy(file, asked, dtype, known)
                : file->kind == FILE_SAFETENSORS ? load_safetensors(file, asked, dtype, known)
                                                 : load_csv(file, asked, dtype, known, true);
    }
    if (found && known)
        check_fit(found, input_file_path(file), known);
    if (found && !known && kind == DATA_FILE && !asked->regression)
        check_classes(found, input_file_path(file));
    int64_t classes = found && known && known->task != TASK_REGRESSION ? data_classes(found) : 0;
    if (classes > (known ? known->classes : 0))
        TN_FAIL(TN_ERROR_INDEX, function, "'%s' has the label %" PRId64 ", the net has %" PRId64 " classes",
                input_file_path(file), classes - 1, known->classes);
    return tn_error_code() ? NULL : found;
}

tn_tensor *data_load_inputs(input_file *file, const data_options *asked, const model *known)
{
    const char *path = input_file_path(file);
    tn_dataset *found = NULL;
    check_options(file, asked);
    if (file->kind == FILE_CSV) {
        found = load_csv(file, asked, known->dtype, known, false);
    } else {
        tn_safetensors *all = file->kind == FILE_SAFETENSORS ? load_tensors(path) : NULL;
        tn_tensor *x = all ? tn_safetensors_find(all, "x") : tn_error_code() ? NULL : tn_load_npy(path);
        if (all && !x)
            TN_FAIL(TN_ERROR_NAME, function, "'%s' has no tensor 'x'", path);
        found = tn_feature_dataset(inputs_of(x, path, known->dtype));
    }
    if (found)
        check_fit(found, path, known);
    return tn_error_code() ? NULL : tn_dataset_x(found);
}
