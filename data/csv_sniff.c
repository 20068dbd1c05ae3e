/* How a CSV file is to be read: the delimiter by the first row, whether that is a header, how many columns it has. */
#include <string.h>
#include <tenon/formats.h>

#include "csv.h"

static const char function[] = "csv_sniff";

/* Behind the BOM, blank lines and comments. */
static const char *first_row(const tni_input *input, char comment)
{
    const char *at = (const char *)input->memory;
    at += input->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (const char *begin = at;; begin = at) {
        at += strspn(at, " \t");
        if (comment && *at == comment)
            at += strcspn(at, "\r\n");
        else if (*at != '\r' && *at != '\n')
            return begin;
        at += *at != '\0';
    }
}

static char find_delimiter(const char *row)
{
    bool quoted = false, semicolon = false, tab = false;
    for (; *row && (quoted || (*row != '\r' && *row != '\n')); row++) {
        if (*row == ',' && !quoted)
            return ',';
        quoted ^= *row == '"';
        semicolon = semicolon || (*row == ';' && !quoted);
        tab = tab || (*row == '\t' && !quoted);
    }
    return semicolon ? ';' : tab ? '\t' : ',';
}

tn_status tn_csv_sniff(const char *path, const tn_csv_options *options, tn_csv_form *form)
{
    static const tn_csv_options defaults = {0};
    tni_input input;
    tni_csv csv;
    options = options ? options : &defaults;
    if (tn_error_code())
        return tn_error_code();
    if (!path || !form)
        return TN_FAIL_NULL(function, path ? 3 : 1, path ? "form" : "path");
    if (tni_csv_check_marks(function, options) || tni_input_open(&input, path, function))
        return tn_error_code();
    if (!tni_input_slurp(&input)) {
        const char delimiter =
            options->delimiter ? options->delimiter : find_delimiter(first_row(&input, options->comment));
        if (!tni_csv_begin(&csv, &input, delimiter, options->comment, options->header, NULL, NULL))
            *form = (tn_csv_form){delimiter, csv.has_header, csv.columns};
    }
    tni_input_close(&input);
    return tn_error_code();
}
