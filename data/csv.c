/* CSV: rows of numbers, with a header or without, and a column of labels or without.
 *
 * The file is walked three times: for its form (quotes, fields a row, header), to check every field, and, once there is
 * nothing left that could be wrong, to fill the tensors. Every message has a line and a column, both from 1; the column
 * counts fields. Source: RFC 4180; and spaces around fields, lines that end in CR, LF or both, blank lines, a BOM. */
#include "csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/formats.h>

#include "decimal.h"

tn_status tni_csv_wrong(const tni_csv *c, const tni_field *f, const char *what)
{
    char text[TNI_SHOWN];
    return INPUT_FAIL(c->input, "line %" PRId64 ", column %" PRId64 ": '%s' %s", f->line, f->column + 1,
                      tni_shown(text, f->text, f->length), what);
}

static bool is_space(const tni_csv *c, size_t at)
{
    return (c->text[at] == ' ' || c->text[at] == '\t') && c->text[at] != c->delimiter;
}

static bool is_line_end(const tni_csv *c, size_t at)
{
    return c->text[at] == '\n' || c->text[at] == '\r';
}

/* At a line's end (or the file's): goes behind it. */
static void take_line_end(tni_csv *c)
{
    if (c->at == c->bytes)
        return;
    c->at += c->text[c->at] == '\r' && c->at + 1 < c->bytes && c->text[c->at + 1] == '\n' ? 2 : 1;
    c->line++;
}

static void skip_spaces(tni_csv *c)
{
    while (c->at < c->bytes && is_space(c, c->at))
        c->at++;
}

/* Goes to the next line that is not blank and no comment; false at the end of the file. */
static bool skip_blank_lines(tni_csv *c)
{
    while (c->at < c->bytes) {
        size_t begin = c->at;
        skip_spaces(c);
        if (c->comment && c->at < c->bytes && c->text[c->at] == c->comment)
            while (c->at < c->bytes && !is_line_end(c, c->at))
                c->at++;
        if (c->at < c->bytes && !is_line_end(c, c->at)) {
            c->at = begin;
            return true;
        }
        take_line_end(c);
    }
    return false;
}

/* What stands in quotes; a doubled quote is one, which the text still has doubled. */
static tn_status read_quoted(tni_csv *c, tni_field *f)
{
    int64_t line = c->line;
    size_t begin = ++c->at;
    for (; c->at < c->bytes; c->at++) {
        if (c->text[c->at] == '"') {
            if (c->at + 1 == c->bytes || c->text[c->at + 1] != '"')
                break;
            c->at++;
        }
        line += c->text[c->at] == '\n' || (c->text[c->at] == '\r' && c->text[c->at + 1] != '\n');
    }
    f->text = c->text + begin;
    f->length = c->at - begin;
    if (c->at == c->bytes)
        return tni_csv_wrong(c, f, "begins with a quote that is not closed");
    c->at++;
    c->line = line;
    skip_spaces(c);
    if (c->at < c->bytes && !is_line_end(c, c->at) && c->text[c->at] != c->delimiter)
        return tni_csv_wrong(c, f, "is in quotes with text behind them");
    return TN_OK;
}

static tn_status read_plain(tni_csv *c, tni_field *f)
{
    size_t begin = c->at, end;
    for (; c->at < c->bytes && !is_line_end(c, c->at) && c->text[c->at] != c->delimiter; c->at++)
        f->quote = f->quote || c->text[c->at] == '"';
    for (end = c->at; end > begin && is_space(c, end - 1); end--)
        continue;
    f->text = c->text + begin;
    f->length = end - begin;
    return f->quote ? tni_csv_wrong(c, f, "has a quote in it, needed none or quotes around all of it") : TN_OK;
}

/* The next field of the record; c->goes_on says whether another follows. */
static tn_status read_field(tni_csv *c, int64_t column, tni_field *f)
{
    skip_spaces(c);
    *f = (tni_field){.line = c->line, .column = column};
    bool quoted = c->at < c->bytes && c->text[c->at] == '"';
    if (quoted ? read_quoted(c, f) : read_plain(c, f))
        return tn_error_code();
    c->goes_on = c->at < c->bytes && c->text[c->at] == c->delimiter;
    if (c->goes_on)
        c->at++;
    else
        take_line_end(c);
    return TN_OK;
}

tn_status tni_csv_walk(tni_csv *c, tn_status (*field)(void *context, int64_t row, const tni_field *f), void *context)
{
    c->at = c->data_at;
    c->line = c->data_line;
    for (int64_t row = 0; skip_blank_lines(c); row++) {
        tni_field f;
        c->goes_on = true;
        for (int64_t column = 0; c->goes_on; column++) {
            if (read_field(c, column, &f))
                return tn_error_code();
            if (column == c->columns)
                return tni_csv_wrong(c, &f, "is one field too many, needed as many as in the first row");
            if (field(context, row, &f))
                return tn_error_code();
        }
        if (f.column + 1 < c->columns)
            return INPUT_FAIL(c->input,
                              "line %" PRId64 ", column %" PRId64 ": the row ends after %" PRId64
                              " fields, needed %" PRId64 " as in the first row",
                              f.line, f.column + 1, f.column + 1, c->columns);
        c->rows = row + 1;
    }
    return TN_OK;
}

/* The first record: its fields, and whether any is a number. */
static tn_status read_first(tni_csv *c, tn_status (*field)(void *, int64_t, const tni_field *), void *context,
                            bool *has_number)
{
    *has_number = false;
    c->at = c->begin;
    c->line = 1;
    if (!skip_blank_lines(c))
        return INPUT_FAIL(c->input, "line %" PRId64 ", column 1: the file is empty, needed rows of numbers", c->line);
    c->goes_on = true;
    c->columns = 0;
    for (int64_t column = 0; c->goes_on; column++, c->columns++) {
        tni_field f;
        double value;
        if (read_field(c, column, &f) || (field && field(context, 0, &f)))
            return tn_error_code();
        *has_number = *has_number || tni_decimal(f.text, f.length, false, &value) != TNI_DECIMAL_NONE;
    }
    return TN_OK;
}

static int64_t line_at(const tni_csv *c, size_t at)
{
    int64_t line = 1;
    for (size_t i = c->begin; i < at; i++)
        line += c->text[i] == '\n' || (c->text[i] == '\r' && c->text[i + 1] != '\n');
    return line;
}

/* Text at all: no other format, no zero bytes, UTF-8. */
static tn_status check_text(tni_csv *c)
{
    const char *kind = tni_looks_like(c->input);
    if (kind[0])
        return INPUT_FAIL(c->input, "line 1, column 1: it is not a CSV file%s", kind);
    if (c->bytes >= 3 && memcmp(c->text, "\xef\xbb\xbf", 3) == 0)
        c->begin = 3;
    size_t bad;
    const char *zero = c->bytes > 0 ? memchr(c->text, 0, c->bytes) : NULL;
    bool valid = tni_is_utf8((const unsigned char *)c->text, zero ? (size_t)(zero - c->text) : c->bytes, &bad);
    if (valid && !zero)
        return TN_OK;
    size_t at = valid ? (size_t)(zero - c->text) : bad, begin = at;
    while (begin > c->begin && !is_line_end(c, begin - 1))
        begin--;
    return INPUT_FAIL(c->input, "line %" PRId64 ", byte %zu of it: found \\x%02x, needed text in UTF-8", line_at(c, at),
                      at - begin + 1, (unsigned)(unsigned char)c->text[at]);
}

tn_status tni_csv_begin(tni_csv *c, const tni_input *input, char delimiter, char comment, tn_csv_header header,
                        tn_status (*name)(void *context, int64_t row, const tni_field *f), void *context)
{
    bool has_number;
    *c = (tni_csv){.input = input,
                   .text = (const char *)input->memory,
                   .bytes = (size_t)input->size,
                   .delimiter = delimiter ? delimiter : ',',
                   .comment = comment};
    if (check_text(c) || read_first(c, NULL, NULL, &has_number))
        return tn_error_code();
    c->has_header = header == TN_CSV_HEADER || (header == TN_CSV_HEADER_AUTO && !has_number);
    if (c->has_header) {
        if (read_first(c, name, context, &has_number))
            return tn_error_code();
        c->data_at = c->at;
        c->data_line = c->line;
        if (!skip_blank_lines(c))
            return INPUT_FAIL(c->input,
                              "line %" PRId64 ", column 1: there is a header and no row below it, needed rows of "
                              "numbers",
                              c->line);
        return TN_OK;
    }
    c->data_at = c->begin;
    c->data_line = 1;
    return TN_OK;
}
