/* A dataset as CSV, for tn_load_csv to read back: numbers in the fewest digits that give them again, classes by their
 * names. Source: RFC 4180; beyond what it asks, fields that are empty or have blanks at an end stand in quotes, since
 * the reader takes those away. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/create.h>
#include <tenon/extend.h>
#include <tenon/file.h>
#include <tenon/formats.h>
#include <tenon/views.h>

#include "csv.h"
#include "dataset.h"

static const char function[] = "save_csv";

enum { BUFFER = 1 << 16, NUMBER = 40 };

/* One tensor's elements, row-major: of float64, of float32, or whole numbers. */
typedef struct numbers {
    const double *wide;
    const float *narrow;
    const int64_t *whole;
} numbers;

typedef struct writing {
    const tn_dataset *dataset;
    const tn_csv_options *options;
    tn_file file;
    char *buffer;
    size_t used;
    char delimiter;
    int64_t rows, features;
    int64_t label; /* its column; -1: none */
    numbers x, y;
} writing;

static void put(writing *w, const char *text, size_t bytes)
{
    if (w->used + bytes > BUFFER) {
        tn_file_write(&w->file, w->buffer, w->used);
        w->used = 0;
    }
    if (bytes > BUFFER) {
        tn_file_write(&w->file, text, bytes);
        return;
    }
    memcpy(w->buffer + w->used, text, bytes);
    w->used += bytes;
}

static void put_char(writing *w, char c)
{
    put(w, &c, 1);
}

static void put_word(writing *w, const char *text)
{
    const char special[] = {w->delimiter, '"', '\r', '\n', w->options->comment, '\0'};
    const size_t length = strlen(text);
    const bool plain = length > 0 && !text[strcspn(text, special)] && !strchr(" \t", text[0]) &&
                       !strchr(" \t", text[length - 1]);
    if (plain) {
        put(w, text, length);
        return;
    }
    put_char(w, '"');
    for (; *text; text++) {
        if (*text == '"')
            put_char(w, '"');
        put_char(w, *text);
    }
    put_char(w, '"');
}

static void put_number(writing *w, const numbers *from, int64_t i)
{
    char text[NUMBER];
    int length;
    if (from->whole)
        length = snprintf(text, sizeof text, "%" PRId64, from->whole[i]);
    else if (from->narrow)
        length = tn_format_float(text, sizeof text, from->narrow[i]);
    else
        length = tn_format_double(text, sizeof text, from->wide[i]);
    put(w, text, (size_t)length);
}

static tn_status put_label(writing *w, int64_t row)
{
    const tni_words *names = &w->dataset->classes;
    if (!w->y.whole || names->n == 0) {
        put_number(w, &w->y, row);
        return TN_OK;
    }
    int64_t class = w->y.whole[row];
    if (class < 0 || class >= names->n)
        return TN_FAIL(TN_ERROR_INDEX, function, "sample %" PRId64 " is of class %" PRId64 ", there are %" PRId64, row,
                       class, names->n);
    put_word(w, names->word[class]);
    return TN_OK;
}

static void put_column_name(writing *w, int64_t column)
{
    char text[NUMBER];
    snprintf(text, sizeof text, "x%" PRId64, column);
    put_word(w, column < w->dataset->columns.n ? w->dataset->columns.word[column] : text);
}

static void put_header(writing *w, const char *label)
{
    const int64_t columns = w->features + (w->label >= 0);
    for (int64_t i = 0; i < columns; i++) {
        if (i > 0)
            put_char(w, w->delimiter);
        if (i == w->label)
            put_word(w, label);
        else
            put_column_name(w, i - (w->label >= 0 && i > w->label));
    }
    put_char(w, '\n');
}

static void put_row(writing *w, int64_t row)
{
    const int64_t columns = w->features + (w->label >= 0);
    int64_t at = row * w->features;
    for (int64_t i = 0; i < columns && !tn_error_code(); i++) {
        if (i > 0)
            put_char(w, w->delimiter);
        if (i == w->label)
            put_label(w, row);
        else
            put_number(w, &w->x, at++);
    }
    put_char(w, '\n');
}

/* The tensor's elements in one of three dtypes, in the innermost scope. */
static tn_status take(const char *name, tn_tensor *x, numbers *to)
{
    const tn_dtype from = tn_tensor_dtype(x);
    const bool floating = tn_is_floating_point(from);
    if (from > TN_BOOL || from == TN_UINT64)
        return TN_FAIL(TN_ERROR_DTYPE, function, "%s is %s, needed floats or integers", name, tn_dtype_name(from));
    const tn_dtype dtype = !floating ? TN_INT64 : from == TN_FLOAT64 ? TN_FLOAT64 : TN_FLOAT32;
    tn_tensor *dense = tn_contiguous(tn_to(tn_detach(x), dtype));
    const void *data = dense ? tn_data(dense) : NULL;
    to->whole = floating ? NULL : data;
    to->narrow = dtype == TN_FLOAT32 ? data : NULL;
    to->wide = dtype == TN_FLOAT64 ? data : NULL;
    return tn_error_code();
}

static tn_status check_finite(const char *name, const numbers *values, int64_t n)
{
    for (int64_t i = 0; i < n && !values->whole; i++) {
        const double value = values->narrow ? (double)values->narrow[i] : values->wide[i];
        char text[NUMBER];
        tn_format_double(text, sizeof text, value);
        if (!isfinite(value))
            return TN_FAIL(TN_ERROR_ARGUMENT, function, "element %" PRId64 " of %s is %s, needed finite ones", i, name,
                           text);
    }
    return TN_OK;
}

/* The label's column: the one that the options number, else the last. */
static tn_status place_label(writing *w)
{
    int64_t number = -1;
    w->label = -1;
    if (!w->dataset->y)
        return TN_OK;
    if (w->options->label && !tni_csv_whole_number(w->options->label, &number))
        number = -1;
    if (number > w->features || number < -w->features - 1)
        return TN_FAIL(TN_ERROR_NAME, function, "the labels are to be column %s of %" PRId64, w->options->label,
                       w->features + 1);
    w->label = number < 0 ? number + w->features + 1 : number;
    return TN_OK;
}

static tn_status check_dataset(writing *w)
{
    const tn_tensor *x = w->dataset->x, *y = w->dataset->y;
    if (!x)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the dataset is a function, needed one of tensors");
    if (tn_ndim(x) != 2 || tn_size(x, 1) == 0)
        return TN_FAIL(TN_ERROR_SHAPE, function, "x has %d dims, needed [samples, features]", tn_ndim(x));
    if (y && tn_numel(y) != tn_size(x, 0))
        return TN_FAIL(TN_ERROR_SHAPE, function, "y has %" PRId64 " elements, needed one a sample: %" PRId64,
                       tn_numel(y), tn_size(x, 0));
    if (tn_size(x, 0) == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the dataset has no samples, needed at least one");
    w->rows = tn_size(x, 0);
    w->features = tn_size(x, 1);
    return place_label(w);
}

static tn_status take_all(writing *w)
{
    tn_tensor *y = w->dataset->y;
    if (take("x", w->dataset->x, &w->x) || (y && take("y", y, &w->y)))
        return tn_error_code();
    if (w->options->finite && (check_finite("x", &w->x, w->rows * w->features) ||
                               (y && check_finite("y", &w->y, w->rows))))
        return tn_error_code();
    return TN_OK;
}

static void write_all(writing *w, const char *path)
{
    const tn_csv_header header = w->options->header;
    const char *label = w->options->label;
    int64_t number;
    if (tn_file_create(&w->file, path, function))
        return;
    if (header == TN_CSV_HEADER || (header == TN_CSV_HEADER_AUTO && w->dataset->columns.n > 0))
        put_header(w, label && !tni_csv_whole_number(label, &number) ? label : "label");
    for (int64_t row = 0; row < w->rows && !tn_error_code(); row++)
        put_row(w, row);
    if (!tn_error_code())
        tn_file_write(&w->file, w->buffer, w->used);
    tn_file_commit(&w->file);
}

tn_status tn_save_csv(const char *path, tn_dataset *dataset, const tn_csv_options *options)
{
    static const tn_csv_options defaults = {0};
    writing w = {.dataset = dataset, .options = options ? options : &defaults};
    if (tn_error_code())
        return tn_error_code();
    if (!path || !dataset)
        return TN_FAIL_NULL(function, path ? 2 : 1, path ? "dataset" : "path");
    if (tni_csv_check_marks(function, w.options) || check_dataset(&w))
        return tn_error_code();
    w.delimiter = w.options->delimiter ? w.options->delimiter : ',';
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    w.buffer = tn_allocate(BUFFER, function);
    if (w.buffer && !take_all(&w))
        write_all(&w, path);
    tn_deallocate(w.buffer, BUFFER);
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return tn_error_code();
}
