/* How tenon inspect shows a file: a row for each tensor or column. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect.h"
#include "report.h"
#include "value_range.h"

/* A row: a tensor of a file, or a column of a table. */
typedef struct row {
    const char *name;
    tn_tensor *x;
} row;

static int64_t row_count(const inspection *found)
{
    if (found->array)
        return 1;
    if (found->table) /* a table of one column is of rank 2, too */
        return tn_size(tn_dataset_x(found->table), 1);
    return tn_safetensors_count(found->file);
}

static row row_at(const inspection *found, int64_t i, char number[32])
{
    if (found->array)
        return (row){"", found->array};
    if (found->table) {
        const char *name = tn_dataset_column_name(found->table, i);
        snprintf(number, 32, "%" PRId64, i);
        return (row){name ? name : number, tn_select(tn_dataset_x(found->table), 1, i)};
    }
    tn_named_tensor at = tn_safetensors_at(found->file, i);
    return (row){at.name, at.tensor};
}

static int64_t elements_of(const inspection *found)
{
    int64_t sum = found->array ? tn_numel(found->array) : 0;
    for (int64_t i = 0; found->file && i < tn_safetensors_count(found->file); i++)
        sum += tn_numel(tn_safetensors_at(found->file, i).tensor);
    return sum;
}

static void write_heading(const inspection *found)
{
    char shown[SHOWN_BYTES];
    const char *slash = strrchr(found->name, '/'), *name = slash ? slash + 1 : found->name;
    static const char *const sums[] = {"", ", checksum right", ", checksum WRONG"};
    printf("%s: %s, %" PRId64 " bytes", utf8_shown(name, (int)strlen(name), shown), file_kind_words[found->kind],
           found->bytes);
    if (found->table)
        printf(", %" PRId64 " rows, %" PRId64 " columns of numbers%s\n", tn_dataset_size(found->table),
               row_count(found), tn_dataset_y(found->table) ? " and one of labels" : "");
    else
        printf(", %" PRId64 " tensor%s, %" PRId64 " elements%s\n", row_count(found), row_count(found) == 1 ? "" : "s",
               elements_of(found), sums[found->sum]);
}

static void write_metadata(const inspection *found)
{
    char key[SHOWN_BYTES], value[SHOWN_BYTES];
    for (int64_t i = 0; found->file && i < tn_safetensors_metadata_count(found->file); i++) {
        tn_metadata at = tn_safetensors_metadata_at(found->file, i);
        if (i == 0)
            puts("\nmetadata");
        printf("  %-24s %s\n", utf8_shown(at.key, (int)strlen(at.key), key),
               utf8_shown(at.value, (int)strlen(at.value), value));
    }
}

static void write_row(const row *r, bool table)
{
    value_range range = value_range_of(r->x);
    char name[SHOWN_BYTES], shape[64] = "", mean[32] = "-";
    if (!table)
        tn_format_shape(shape, sizeof shape, tn_sizes(r->x), tn_ndim(r->x));
    if (isfinite(range.mean))
        snprintf(mean, sizeof mean, "%.6g", range.mean);
    printf("%-24s %-9s %-14s %14s %14s %12s %6" PRId64 " %6" PRId64 "\n",
           *r->name ? utf8_shown(r->name, (int)strlen(r->name), name) : "(array)",
           table ? "number" : tn_dtype_name(tn_tensor_dtype(r->x)), shape, range.low[0] ? range.low : "-",
           range.high[0] ? range.high : "-", mean, range.nan, range.inf);
}

/* How often each class stands there. */
static int64_t count_of(tn_tensor *labels, int64_t class)
{
    const int64_t *y = tn_data_i64(labels);
    int64_t n = 0;
    for (int64_t i = 0; y && i < tn_numel(labels); i++)
        n += y[i] == class;
    return n;
}

static void class_text(const tn_dataset *table, int64_t class, char *buf, size_t size)
{
    const char *name = tn_dataset_class_name(table, class);
    if (name)
        snprintf(buf, size, "%s", name);
    else
        snprintf(buf, size, "%" PRId64, class);
}

static void write_classes(const inspection *found)
{
    enum { SHOWN_CLASSES = 20 };
    tn_tensor *y = tn_dataset_y(found->table);
    int64_t n = tn_dataset_class_count(found->table);
    printf("\nlabels, column %s: %" PRId64 " classes\n", found->label, n);
    for (int64_t i = 0; i < n && i < SHOWN_CLASSES; i++) {
        char name[256], shown[SHOWN_BYTES];
        class_text(found->table, i, name, sizeof name);
        printf("  %-22s %9" PRId64 "\n", utf8_shown(name, (int)strlen(name), shown), count_of(y, i));
    }
    if (n > SHOWN_CLASSES)
        printf("  ... and %" PRId64 " more\n", n - SHOWN_CLASSES);
}

void inspect_write_text(const inspection *found)
{
    write_heading(found);
    write_metadata(found);
    int64_t n = row_count(found);
    if (n)
        printf("\n%-24s %-9s %-14s %14s %14s %12s %6s %6s\n", found->table ? "column" : "name", "dtype",
               found->table ? "" : "shape", "min", "max", "mean", "nan", "inf");
    for (int64_t i = 0; i < n && !tn_error_code(); i++) {
        char number[32];
        row r = row_at(found, i, number);
        write_row(&r, found->table != NULL);
    }
    if (found->table && tn_dataset_y(found->table))
        write_classes(found);
}

static void write_string(const char *name, const char *text)
{
    printf("\"%s\":", name);
    write_json_string(stdout, text, (int)strlen(text));
}

static void write_json_row(const row *r)
{
    value_range range = value_range_of(r->x);
    char mean[32] = "null";
    write_string("name", r->name);
    printf(",\"dtype\":\"%s\",\"shape\":[", tn_dtype_name(tn_tensor_dtype(r->x)));
    for (int d = 0; d < tn_ndim(r->x); d++)
        printf("%s%" PRId64, d ? "," : "", tn_size(r->x, d));
    if (isfinite(range.mean))
        tn_format_double(mean, sizeof mean, range.mean);
    printf("],\"min\":%s,\"max\":%s,\"mean\":%s,\"nan\":%" PRId64 ",\"inf\":%" PRId64 "}",
           range.low[0] ? range.low : "null", range.high[0] ? range.high : "null", mean, range.nan, range.inf);
}

static void write_json_labels(const inspection *found)
{
    printf(",\"labels\":{");
    write_string("column", found->label);
    printf(",\"classes\":[");
    for (int64_t i = 0; i < tn_dataset_class_count(found->table); i++) {
        char name[256];
        class_text(found->table, i, name, sizeof name);
        fputs(i ? ",{" : "{", stdout);
        write_string("name", name);
        printf(",\"count\":%" PRId64 "}", count_of(tn_dataset_y(found->table), i));
    }
    printf("]}");
}

void inspect_write_json(const inspection *found)
{
    static const char *const sums[] = {"null", "\"right\"", "\"wrong\""};
    putchar('{');
    write_string("file", found->name);
    printf(",\"format\":\"%s\",\"bytes\":%" PRId64 ",\"checksum\":%s,\"metadata\":{", file_kind_words[found->kind],
           found->bytes, sums[found->sum]);
    for (int64_t i = 0; found->file && i < tn_safetensors_metadata_count(found->file); i++) {
        tn_metadata at = tn_safetensors_metadata_at(found->file, i);
        if (i)
            putchar(',');
        write_json_string(stdout, at.key, (int)strlen(at.key));
        putchar(':');
        write_json_string(stdout, at.value, (int)strlen(at.value));
    }
    printf("},\"%s\":[", found->table ? "columns" : "tensors");
    for (int64_t i = 0, n = row_count(found); i < n && !tn_error_code(); i++) {
        char number[32];
        row r = row_at(found, i, number);
        fputs(i ? ",{" : "{", stdout);
        write_json_row(&r);
    }
    putchar(']');
    if (found->table && tn_dataset_y(found->table))
        write_json_labels(found);
    puts("}");
}
