/* What the fields of a CSV file mean: numbers of x, labels of y, names. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/formats.h>

#include "csv.h"
#include "dataset.h"
#include "decimal.h"
#include "safetensors.h"
#include "words.h"

static const char function[] = "load_csv";

typedef struct plan {
    tni_csv csv;
    const tn_csv_options *options;
    int64_t label; /* its column; -1: none */
    bool words;    /* labels are words */
    int64_t classes, features;
    int64_t *slots; /* of each column its place in x, -1: none; NULL: all but the label's are there */
    unsigned kinds; /* of TN_CSV_LABELS: those that occur */
    tni_field fraction; /* the first label that is a number and no whole one */
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

/* Of TN_CSV_LABELS: what a label is. Whole numbers are those that a double holds exactly. */
enum { LABEL_WORD = 1, LABEL_WHOLE = 2, LABEL_FRACTION = 4 };

static unsigned label_kind(tni_span label, int64_t *value)
{
    double number;
    if (tni_decimal(label.text, label.length, false, &number) != TNI_DECIMAL_OK)
        return LABEL_WORD;
    if (!isfinite(number) || number != floor(number))
        return LABEL_FRACTION;
    if (fabs(number) >= 0x1p53)
        return LABEL_WORD;
    *value = (int64_t)number;
    return LABEL_WHOLE;
}

/* A label's number in the table. Among names that are given, "1.0" is "1", too. */
static tn_status read_label(plan *p, const tni_field *f, int64_t *class)
{
    const tni_span label = {f->text, f->length};
    char text[24];
    int64_t value, known = p->table.n;
    if (p->options->class_names && tni_table_find(&p->table, label, false) < 0 &&
        label_kind(label, &value) == LABEL_WHOLE) {
        const int length = snprintf(text, sizeof text, "%" PRId64, value);
        *class = tni_table_find(&p->table, (tni_span){text, (size_t)length}, false);
        if (*class >= 0)
            return TN_OK;
    }
    if (read_word(p, f, class))
        return tn_error_code();
    if (p->table.n > known) {
        const unsigned kind = label_kind(label, &value);
        if (kind == LABEL_FRACTION && !(p->kinds & LABEL_FRACTION))
            p->fraction = *f;
        p->kinds |= kind;
    }
    return TN_OK;
}

typedef struct numbered {
    int64_t value;
    int64_t index; /* in the table */
} numbered;

static int compare_values(const void *a, const void *b, void *context)
{
    const numbered *p = a, *q = b;
    (void)context;
    return (p->value > q->value) - (p->value < q->value);
}

/* The distinct ones, in order, as names of classes; 0, 1, ... have none. */
static void name_numbers(plan *p, tn_dataset *dataset, const numbered *all)
{
    enum { DIGITS = 24 };
    const int64_t n = dataset->n_classes;
    const size_t bytes = (size_t)n * DIGITS, span_bytes = (size_t)n * sizeof(tni_span);
    char *text = tn_allocate(bytes, function);
    tni_span *spans = tn_allocate(span_bytes, function);
    for (int64_t i = 0; text && spans && i < p->table.n; i++) {
        const int64_t class = p->table.ranks[all[i].index];
        char *to = text + class * DIGITS;
        spans[class] = (tni_span){to, (size_t)snprintf(to, DIGITS, "%" PRId64, all[i].value)};
    }
    if (text && spans)
        tni_words_make(&dataset->classes, spans, n, function);
    tn_deallocate(text, bytes);
    tn_deallocate(spans, span_bytes);
}

static tn_status sort_numbers(plan *p, tn_dataset *dataset)
{
    const size_t bytes = (size_t)p->table.n * sizeof(numbered);
    numbered *all = tn_allocate(bytes, function);
    p->table.ranks = all ? tn_allocate((size_t)p->table.room * sizeof *p->table.ranks, function) : NULL;
    for (int64_t i = 0; p->table.ranks && i < p->table.n; i++) {
        all[i].index = i;
        label_kind(p->table.spans[i], &all[i].value);
    }
    if (p->table.ranks) {
        int64_t class = 0;
        tni_sort(all, p->table.n, sizeof *all, compare_values, NULL);
        for (int64_t i = 0; i < p->table.n; i++) {
            class += i > 0 && all[i].value != all[i - 1].value;
            p->table.ranks[all[i].index] = (uint32_t)class;
        }
        dataset->n_classes = class + 1;
        if (all[0].value != 0 || all[p->table.n - 1].value != class)
            name_numbers(p, dataset, all);
    }
    tn_deallocate(all, bytes);
    return tn_error_code();
}

static tn_status finish_labels(plan *p, tn_dataset *dataset)
{
    if (p->options->class_names) {
        dataset->n_classes = dataset->classes.n;
        return TN_OK;
    }
    if (p->kinds & LABEL_WORD) {
        tni_table_sort(&p->table, &dataset->classes);
        dataset->n_classes = dataset->classes.n;
        return tn_error_code();
    }
    if (p->kinds & LABEL_FRACTION)
        return tni_csv_wrong(&p->csv, &p->fraction, "is a label that is no class, needed a whole number or a word");
    return sort_numbers(p, dataset);
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
    int64_t class = 0, slot = p->slots ? p->slots[f->column] : f->column - (p->label >= 0 && f->column > p->label);
    const tn_csv_target target = p->options->target;
    bool is_label = f->column == p->label;
    if (is_label ? target == TN_CSV_SKIPPED : slot < 0)
        return TN_OK;
    if (is_label && target != TN_CSV_NUMBERS) {
        if (row == 0 && !p->x && target == TN_CSV_CLASSES)
            begin_labels(p, f);
        if ((target == TN_CSV_LABELS ? read_label : read_class)(p, f, &class))
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
        put_number(p, p->x, row * p->features + slot, value);
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

/* ": 'a', 'b'" of the header, or what it is that there is none. */
static const char *list_names(const tni_words *names, char *text, size_t size)
{
    char name[TNI_SHOWN];
    size_t used = 0;
    if (names->n == 0)
        return ", and no header";
    for (int64_t i = 0; i < names->n; i++) {
        const int more = snprintf(text + used, size - used, "%s'%s'", i ? ", " : ": ",
                                  tni_shown(name, names->word[i], strlen(names->word[i])));
        if ((size_t)more + 5 > size - used) {
            snprintf(text + used, size - used, ", ...");
            break;
        }
        used += (size_t)more;
    }
    return text;
}

/* The column of that name or number; -1 with an error. `what`: " for the labels" or "". */
static int64_t find_column(plan *p, const tni_words *names, const char *column, const char *what)
{
    char text[TNI_SHOWN], list[160];
    int64_t found = -1, number;
    for (int64_t i = 0; i < names->n; i++)
        if (strcmp(names->word[i], column) == 0) {
            if (found >= 0) {
                tni_input_fail(p->csv.input, TN_ERROR_NAME, __FILE__, __LINE__,
                               "has two columns '%s', give the number of one",
                               tni_shown(text, column, strlen(column)));
                return -1;
            }
            found = i;
        }
    if (found < 0 && tni_csv_whole_number(column, &number) && number < p->csv.columns && number >= -p->csv.columns)
        found = number < 0 ? number + p->csv.columns : number;
    if (found < 0)
        tni_input_fail(p->csv.input, TN_ERROR_NAME, __FILE__, __LINE__,
                       "has no column '%s'%s among its %" PRId64 "%s", tni_shown(text, column, strlen(column)), what,
                       p->csv.columns, list_names(names, list, sizeof list));
    return found;
}

static tn_status find_label(plan *p, tn_dataset *dataset)
{
    const tni_words *names = &dataset->columns;
    p->label = -1;
    if (!p->options->label)
        return TN_OK;
    p->label = find_column(p, names, p->options->label, " for the labels");
    if (p->label >= 0 && names->n > 0)
        tni_words_make(&dataset->label, &(tni_span){names->word[p->label], strlen(names->word[p->label])}, 1, function);
    return tn_error_code();
}

/* The places in x of the columns that are asked for. */
static tn_status find_columns(plan *p, const tni_words *names)
{
    const tn_csv_options *o = p->options;
    char text[TNI_SHOWN];
    p->features = o->usecols ? o->n_usecols : p->csv.columns - (p->label >= 0);
    if (!o->usecols)
        return TN_OK;
    p->slots = tn_allocate((size_t)p->csv.columns * sizeof *p->slots, function);
    for (int64_t i = 0; p->slots && i < p->csv.columns; i++)
        p->slots[i] = -1;
    for (int64_t i = 0; p->slots && i < o->n_usecols; i++) {
        const int64_t column = o->usecols[i] ? find_column(p, names, o->usecols[i], "") : -1;
        if (!o->usecols[i])
            return TN_FAIL_NULL(function, 2, "options.usecols[i]");
        if (column < 0)
            return tn_error_code();
        if (column == p->label || p->slots[column] >= 0)
            return tni_input_fail(p->csv.input, TN_ERROR_NAME, __FILE__, __LINE__, "is asked for column '%s' %s",
                                  tni_shown(text, o->usecols[i], strlen(o->usecols[i])),
                                  column == p->label ? "among the features, and for the labels" : "twice");
        p->slots[column] = i;
    }
    return tn_error_code();
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

/* The names of the columns of x, in its order. */
static tn_status keep_names(const plan *p, tni_words *names)
{
    if (names->n == 0 || (p->label < 0 && !p->slots))
        return TN_OK;
    const size_t bytes = (size_t)p->features * sizeof *names->word;
    char **kept = tn_allocate(bytes, function);
    for (int64_t i = 0; kept && i < names->n; i++) {
        const int64_t slot = p->slots ? p->slots[i] : i == p->label ? -1 : i - (i > p->label);
        if (slot >= 0)
            kept[slot] = names->word[i];
    }
    if (kept) {
        memcpy(names->word, kept, bytes);
        names->n = p->features;
    }
    tn_deallocate(kept, bytes);
    return tn_error_code();
}

static bool makes_classes(const plan *p)
{
    return p->options->target == TN_CSV_CLASSES || p->options->target == TN_CSV_LABELS;
}

/* The classes that labels have to be among, in their order. */
static tn_status given_classes(plan *p, tni_words *classes)
{
    const char *const *names = p->options->class_names;
    if (!names || !makes_classes(p))
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
    if (read_names(p, &dataset->columns) || find_label(p, dataset) ||
        find_columns(p, &dataset->columns) || given_classes(p, &dataset->classes))
        return tn_error_code();
    if (p->csv.columns == 1 && p->label >= 0)
        return INPUT_FAIL(p->csv.input, "line 1, column 1: the only column is the labels', needed another one");
    if (keep_names(p, &dataset->columns) || tni_csv_walk(&p->csv, take_field, p))
        return tn_error_code();
    if (p->label >= 0 && p->options->target == TN_CSV_LABELS)
        return finish_labels(p, dataset);
    if (p->words && !p->options->class_names && tni_table_sort(&p->table, &dataset->classes))
        return tn_error_code();
    if (p->label >= 0 && p->options->target == TN_CSV_CLASSES)
        dataset->n_classes = p->words ? dataset->classes.n : p->options->classes ? p->options->classes : p->classes;
    return TN_OK;
}

static tn_status fill(plan *p, tn_dataset *dataset)
{
    tn_device cpu = {TN_CPU, 0};
    int64_t rows = p->csv.rows;
    bool classes = makes_classes(p);
    tn_tensor *x = tn_empty_on((int64_t[]){rows, p->features}, 2, p->options->dtype, cpu), *y = NULL;
    dataset->x = tn_object_keep(x);
    if (p->label >= 0 && p->options->target != TN_CSV_SKIPPED) {
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
    if (o->usecols ? o->n_usecols < 1 : o->n_usecols != 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "n_usecols is %" PRId64 ", needed %s", o->n_usecols,
                       o->usecols ? "1 or more" : "0 without usecols");
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
    tn_deallocate(p.slots, p.slots ? (size_t)p.csv.columns * sizeof *p.slots : 0);
    tni_table_free(&p.table);
    tni_input_close(&input);
    if (tn_error_code())
        tn_drop(&dataset);
    return dataset;
}
