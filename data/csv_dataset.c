/* What the fields of a CSV file mean: numbers of x, labels of y, names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/formats.h>

#include "csv.h"
#include "dataset.h"
#include "decimal.h"
#include "words.h"

static const char function[] = "load_csv";

typedef struct plan {
    tni_csv csv;
    const tn_csv_options *options;
    int64_t label; /* its column; -1: none */
    bool words;    /* labels are words */
    int64_t classes;
    tni_span *names; /* of the header's fields, while it is read */
    tni_table table; /* of classes that are words */
    void *x;         /* NULL while fields are checked */
    void *y;         /* int64_t, or x's dtype */
} plan;

static tn_status read_number(plan *p, const tni_field *f, double *value)
{
    bool single = p->options->dtype == TN_FLOAT32;
    tni_decimal_outcome outcome = tni_decimal(f->text, f->length, single, value);
    if (outcome == TNI_DECIMAL_TOO_LARGE)
        return tni_csv_wrong(&p->csv, f, single ? "is out of range for float32" : "is out of range for float64");
    if (outcome == TNI_DECIMAL_NONE)
        return tni_csv_wrong(&p->csv, f, f->length > 0 ? "is not a number" : "is an empty field, needed a number");
    return p->options->finite && !isfinite(*value) ? tni_csv_wrong(&p->csv, f, "is not finite") : TN_OK;
}

static void put_number(const plan *p, void *to, int64_t at, double value)
{
    if (p->options->dtype == TN_FLOAT32)
        ((float *)to)[at] = (float)value;
    else
        ((double *)to)[at] = value;
}

static tn_status read_word(plan *p, const tni_field *f, int64_t *class)
{
    if (f->length == 0)
        return tni_csv_wrong(&p->csv, f, "is an empty label");
    *class = tni_table_find(&p->table, (tni_span){f->text, f->length}, !p->x && !p->options->class_names);
    if (*class >= 0 || tn_error_code())
        return tn_error_code();
    return tni_csv_wrong(&p->csv, f,
                         p->options->class_names
                             ? "is a label that is none of the classes"
                             : "is one label too many, at most 65536 may differ: are they numbers?");
}

static tn_status read_class(plan *p, const tni_field *f, int64_t *class)
{
    double value;
    char what[96];
    if (p->words)
        return read_word(p, f, class);
    int64_t most = p->options->classes ? p->options->classes : TN_MAX_CLASSES;
    if (tni_decimal(f->text, f->length, false, &value) != TNI_DECIMAL_OK || !(value >= 0.0 && value < (double)most) ||
        value != floor(value)) {
        snprintf(what, sizeof what, "is a label that is no class, needed a whole number from 0 to %" PRId64, most - 1);
        return tni_csv_wrong(&p->csv, f, what);
    }
    *class = (int64_t)value;
    p->classes = *class >= p->classes ? *class + 1 : p->classes;
    return TN_OK;
}

/* The first label decides what labels are. */
static void begin_labels(plan *p, const tni_field *f)
{
    double value;
    p->words = p->options->class_names || tni_decimal(f->text, f->length, false, &value) == TNI_DECIMAL_NONE;
}

static tn_status take_field(void *context, int64_t row, const tni_field *f)
{
    plan *p = context;
    double value;
    int64_t class = 0, features = p->csv.columns - (p->label >= 0);
    bool is_label = f->column == p->label;
    if (is_label && p->options->target == TN_CSV_CLASSES) {
        if (row == 0 && !p->x)
            begin_labels(p, f);
        if (read_class(p, f, &class))
            return tn_error_code();
        if (p->x)
            ((int64_t *)p->y)[row] = p->table.ranks ? p->table.ranks[class] : class;
        return TN_OK;
    }
    if (read_number(p, f, &value))
        return tn_error_code();
    if (p->x && is_label)
        put_number(p, p->y, row, value);
    else if (p->x)
        put_number(p, p->x, row * features + f->column - (p->label >= 0 && f->column > p->label), value);
    return TN_OK;
}

static tn_status take_name(void *context, int64_t row, const tni_field *f)
{
    plan *p = context;
    (void)row;
    p->names[f->column] = (tni_span){f->text, f->length};
    return TN_OK;
}

bool tni_csv_whole_number(const char *text, int64_t *value)
{
    bool minus = *text == '-';
    text += minus;
    *value = 0;
    if (!*text)
        return false;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, *text - '0', value))
            return false;
    *value = minus ? -*value : *value;
    return true;
}

static tn_status find_label(plan *p, const tni_words *names)
{
    const char *label = p->options->label;
    char text[TNI_SHOWN];
    p->label = -1;
    if (!label)
        return TN_OK;
    for (int64_t i = 0; i < names->n; i++)
        if (strcmp(names->word[i], label) == 0) {
            if (p->label >= 0)
                return tni_input_fail(p->csv.input, TN_ERROR_NAME, __FILE__, __LINE__,
                                      "has two columns '%s', give the number of one",
                                      tni_shown(text, label, strlen(label)));
            p->label = i;
        }
    int64_t number;
    if (p->label < 0 && tni_csv_whole_number(label, &number) && number < p->csv.columns && number >= -p->csv.columns)
        p->label = number < 0 ? number + p->csv.columns : number;
    return p->label >= 0 ? TN_OK
                         : tni_input_fail(p->csv.input, TN_ERROR_NAME, __FILE__, __LINE__,
                                          "has no column '%s' for the labels among its %" PRId64 "%s",
                                          tni_shown(text, label, strlen(label)), p->csv.columns,
                                          p->csv.has_header ? "" : ", and no header");
}

/* The header's names: copied, and without the label's once that is known. */
static tn_status read_names(plan *p, tni_words *names)
{
    size_t bytes = (size_t)p->csv.columns * sizeof *p->names;
    if (!p->csv.has_header)
        return TN_OK;
    tni_span *spans = tn_allocate(bytes, function);
    if (!spans)
        return tn_error_code();
    p->names = spans;
    tni_csv again;
    tni_csv_begin(&again, p->csv.input, p->csv.delimiter, p->csv.comment, TN_CSV_HEADER, take_name, p);
    if (!tn_error_code())
        tni_words_make(names, spans, p->csv.columns, function);
    tn_deallocate(spans, bytes);
    p->names = NULL;
    return tn_error_code();
}

static void drop_label_name(const plan *p, tni_words *names)
{
    if (p->label < 0 || names->n == 0)
        return;
    memmove(names->word + p->label, names->word + p->label + 1,
            (size_t)(names->n - p->label - 1) * sizeof *names->word);
    names->n--;
}

/* The classes that labels have to be among, in their order. */
static tn_status given_classes(plan *p, tni_words *classes)
{
    const char *const *names = p->options->class_names;
    if (!names || p->options->target != TN_CSV_CLASSES)
        return TN_OK;
    size_t bytes = (size_t)p->options->classes * sizeof(tni_span);
    tni_span *spans = tn_allocate(bytes, function);
    if (!spans)
        return tn_error_code();
    for (int64_t i = 0; i < p->options->classes && !tn_error_code(); i++) {
        spans[i] = (tni_span){names[i] ? names[i] : "", names[i] ? strlen(names[i]) : 0};
        if (tni_table_find(&p->table, spans[i], true) != i && !tn_error_code())
            TN_FAIL(TN_ERROR_ARGUMENT, function, "class name %" PRId64 " is there twice", i);
    }
    if (!tn_error_code())
        tni_words_make(classes, spans, p->options->classes, function);
    tn_deallocate(spans, bytes);
    return tn_error_code();
}

/* Everything that may be wrong is found before x is made. */
static tn_status check_fields(plan *p, tn_dataset *dataset)
{
    if (read_names(p, &dataset->columns) || find_label(p, &dataset->columns) || given_classes(p, &dataset->classes))
        return tn_error_code();
    if (p->csv.columns == 1 && p->label >= 0)
        return INPUT_FAIL(p->csv.input, "line 1, column 1: the only column is the labels', needed another one");
    drop_label_name(p, &dataset->columns);
    if (tni_csv_walk(&p->csv, take_field, p))
        return tn_error_code();
    if (p->words && !p->options->class_names && tni_table_sort(&p->table, &dataset->classes))
        return tn_error_code();
    if (p->label >= 0 && p->options->target == TN_CSV_CLASSES)
        dataset->n_classes = p->words ? dataset->classes.n : p->options->classes ? p->options->classes : p->classes;
    return TN_OK;
}

static tn_status fill(plan *p, tn_dataset *dataset)
{
    tn_device cpu = {TN_CPU, 0};
    int64_t rows = p->csv.rows, features = p->csv.columns - (p->label >= 0);
    bool classes = p->options->target == TN_CSV_CLASSES;
    tn_tensor *x = tn_empty_on((int64_t[]){rows, features}, 2, p->options->dtype, cpu), *y = NULL;
    dataset->x = tn_object_keep(x);
    if (p->label >= 0) {
        y = tn_empty_on(&rows, 1, classes ? TN_INT64 : p->options->dtype, cpu);
        dataset->y = tn_object_keep(y);
    }
    if (tn_error_code())
        return tn_error_code();
    p->x = tn_data_mut(x);
    p->y = y ? tn_data_mut(y) : NULL;
    return tni_csv_walk(&p->csv, take_field, p);
}

/* Whether a byte may stand between fields, or begin a comment; 0, which asks for the default, may. */
static bool is_mark(char c)
{
    return c == '\0' || c == '\t' ||
           (c >= ' ' && c < 127 && !strchr("\"+-._", c) && !(c >= '0' && c <= '9') &&
            !((c | 32) >= 'a' && (c | 32) <= 'z'));
}

tn_status tni_csv_check_marks(const char *caller, const tn_csv_options *o)
{
    if (is_mark(o->delimiter) && is_mark(o->comment) &&
        (!o->comment || o->comment != (o->delimiter ? o->delimiter : ',')))
        return TN_OK;
    return TN_FAIL(TN_ERROR_ARGUMENT, caller, "the %s is byte %d, needed what no number has",
                   is_mark(o->delimiter) ? "comment" : "delimiter",
                   (unsigned char)(is_mark(o->delimiter) ? o->comment : o->delimiter));
}

static tn_status check_options(const tn_csv_options *o)
{
    if (o->dtype != TN_FLOAT32 && o->dtype != TN_FLOAT64)
        return TN_FAIL(TN_ERROR_DTYPE, function, "dtype is %s, needed float32 or float64", tn_dtype_name(o->dtype));
    if (tni_csv_check_marks(function, o))
        return tn_error_code();
    if (o->classes < 0 || o->classes > TN_MAX_CLASSES || (o->class_names && o->classes == 0))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "classes is %" PRId64 ", needed %d to %d", o->classes,
                       o->class_names != NULL, TN_MAX_CLASSES);
    return TN_OK;
}

tn_dataset *tn_load_csv(const char *path, const tn_csv_options *options)
{
    static const tn_csv_options defaults = {0};
    tni_input input;
    plan p = {.options = options ? options : &defaults, .table.function = function};
    if (tn_error_code())
        return NULL;
    if (!path) {
        TN_FAIL_NULL(function, 1, "path");
        return NULL;
    }
    if (check_options(p.options) || tni_input_open(&input, path, function))
        return NULL;
    tn_dataset *dataset = tni_dataset_new();
    if (dataset && !tni_input_slurp(&input) &&
        !tni_csv_begin(&p.csv, &input, p.options->delimiter, p.options->comment, p.options->header, NULL, NULL) &&
        !check_fields(&p, dataset))
        fill(&p, dataset);
    tni_table_free(&p.table);
    tni_input_close(&input);
    if (tn_error_code())
        tn_drop(&dataset);
    return dataset;
}
