/* The explanation as text for a terminal of 80 columns, and the complaint about what cannot be read. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "report.h"

enum { LABEL = 13, ROWS = 24, COLUMNS = 16, LINE = 80 };

static const char plain[] = "\033[0m", bold[] = "\033[1m", faded[] = "\033[2m", filled[] = "\033[1;97;44m",
                  vermillion[] = "\033[38;5;166m", wrong[] = "\033[1;31m", right[] = "\033[32m";

typedef struct sheet {
    FILE *stream;
    const explain_expression *it;
    const explain_facts *facts;
    bool colour;
} sheet;

static const char *ink(const sheet *s, const char *code)
{
    return s->colour ? code : "";
}

static void label(const sheet *s, const char *name)
{
    fprintf(s->stream, "  %s%-*s%s", ink(s, faded), LABEL, name, ink(s, plain));
}

static int digits(int64_t number)
{
    return snprintf(NULL, 0, "%" PRId64, number);
}

static const char *const made_words[] = {"new memory", "view", "copy", "the same tensor"};

/* The step's text on one line: blanks and control characters as one blank, cut in the middle of what is too long. */
static void step_text(const explain_expression *it, const explain_step *step, char *buf, int room)
{
    const char *text = it->text + step->begin;
    int n = 0, characters = 0, kept = 0; /* kept: bytes that leave room for "..." */
    for (int i = 0; i < step->length && characters < room; i += utf8_step(text, step->length, i)) {
        int whole = utf8_length(text + i, step->length - i);
        if (!whole && !iscntrl((unsigned char)text[i]))
            buf[n++] = '?';
        else if (whole && text[i] != ' ')
            memcpy(buf + n, text + i, (size_t)whole), n += whole;
        else if (n && buf[n - 1] == ' ')
            continue;
        else
            buf[n++] = ' ';
        characters++;
        kept = characters == room - 3 ? n : kept;
    }
    if (characters == room)
        n = kept + snprintf(buf + kept, 4, "...");
    buf[n] = '\0';
}

static void write_steps(const sheet *s)
{
    enum { ROOM = 40, TEXT = 96 };
    const explain_expression *it = s->it;
    char text[4 * ROOM + 4], shape[TEXT], stride[TEXT];
    int width[4] = {4, 5, 6, 6}, first = it->n_steps > 24 ? it->n_steps - 24 : 0;
    for (int i = first; i < it->n_steps; i++) {
        tn_tensor *x = it->step[i].result;
        step_text(it, &it->step[i], text, ROOM);
        explain_tuple(tn_sizes(x), tn_ndim(x), shape, 48);
        explain_tuple(tn_strides(x), tn_ndim(x), stride, 48);
        int lengths[] = {utf8_count(text, (int)strlen(text)), (int)strlen(shape), (int)strlen(stride),
                         digits(tn_storage_offset(x))};
        for (int k = 0; k < 4; k++)
            width[k] = lengths[k] > width[k] ? lengths[k] : width[k];
    }
    fprintf(s->stream, "  %s%-*s  %-*s  %-*s  %-*s  %s%s\n", ink(s, faded), width[0], "step", width[1], "shape",
            width[2], "stride", width[3], "offset", "made", ink(s, plain));
    if (first)
        fprintf(s->stream, "  ... %d steps before\n", first);
    for (int i = first; i < it->n_steps; i++) {
        const explain_step *step = &it->step[i];
        step_text(it, step, text, ROOM);
        explain_tuple(tn_sizes(step->result), tn_ndim(step->result), shape, 48);
        explain_tuple(tn_strides(step->result), tn_ndim(step->result), stride, 48);
        fprintf(s->stream, "  %s%*s  %-*s  %-*s  %-*" PRId64 "  %s\n", text,
                width[0] - utf8_count(text, (int)strlen(text)), "", width[1], shape, width[2], stride, width[3],
                tn_storage_offset(step->result), made_words[step->made]);
    }
    fputc('\n', s->stream);
}

static void write_record(const sheet *s)
{
    const explain_facts *facts = s->facts;
    char text[400];
    tn_dtype dtype = tn_tensor_dtype(facts->x);
    explain_tuple(facts->size, facts->ndim, text, sizeof text);
    label(s, "shape");
    fprintf(s->stream, "%s, %" PRId64 " element%s\n", text, facts->numel, facts->numel == 1 ? "" : "s");
    explain_tuple(facts->stride, facts->ndim, text, sizeof text);
    label(s, "stride");
    fprintf(s->stream, "%s\n", text);
    label(s, "offset");
    fprintf(s->stream, "%" PRId64 "\n", facts->offset);
    label(s, "dtype");
    fprintf(s->stream, "%s, %zu byte%s a cell\n", tn_dtype_name(dtype), tn_itemsize(dtype),
            tn_itemsize(dtype) == 1 ? "" : "s");
    label(s, "device");
    fprintf(s->stream, "%s\n", tn_device_type_name(tn_tensor_device(facts->x).type));
    if (tn_is_conj(facts->x) || tn_is_neg(facts->x)) {
        label(s, "bits");
        fprintf(s->stream, "%s%s%s: elements are changed as they are read, and shown so below\n",
                tn_is_conj(facts->x) ? "conj" : "", tn_is_conj(facts->x) && tn_is_neg(facts->x) ? ", " : "",
                tn_is_neg(facts->x) ? "neg" : "");
    }
    label(s, "storage");
    explain_origin(s->it, text, sizeof text);
    fprintf(s->stream, "%" PRId64 " cell%s, %zu bytes: %s\n", facts->cells, facts->cells == 1 ? "" : "s",
            tn_storage_nbytes(facts->x), text);
}

static void write_verdicts(const sheet *s)
{
    const explain_facts *facts = s->facts;
    char text[200];
    label(s, "contiguous");
    if (facts->contiguous) {
        fprintf(s->stream, "%syes%s\n", ink(s, right), ink(s, plain));
    } else {
        explain_pair_text(&facts->contiguous_no, text, sizeof text);
        fprintf(s->stream, "%sno%s: %s\n", ink(s, wrong), ink(s, plain), text);
    }
    tn_memory_format last = facts->ndim == 5 ? TN_CHANNELS_LAST_3D : TN_CHANNELS_LAST;
    if (!facts->contiguous && (facts->ndim == 4 || facts->ndim == 5) && tn_is_contiguous_in(facts->x, last))
        fprintf(s->stream, "  %-*sin %s it is\n", LABEL, "", tn_memory_format_name(last));
    label(s, "view(-1)");
    if (facts->flat) {
        fprintf(s->stream, "%sworks%s: shape (%" PRId64 ",), stride (%" PRId64 ",)\n", ink(s, right), ink(s, plain),
                facts->numel, facts->flat_stride);
    } else {
        explain_pair_text(&facts->flat_no, text, sizeof text);
        fprintf(s->stream, "%sfails%s: %s;\n", ink(s, wrong), ink(s, plain), text);
        fprintf(s->stream, "  %-*sreshape(-1) copies instead\n", LABEL, "");
    }
}

static void write_address(const sheet *s)
{
    const explain_facts *facts = s->facts;
    int64_t at[TN_MAX_NDIM];
    char value[EXPLAIN_VALUE], letter[12];
    label(s, "address");
    fputs("element [", s->stream);
    for (int d = 0; d < facts->ndim; d++)
        fprintf(s->stream, "%s%s", d ? ", " : "", explain_letter(d, facts->ndim, letter));
    fputs("] is cell ", s->stream);
    explain_write_address(s->stream, facts, NULL);
    fputc('\n', s->stream);
    if (facts->numel == 0 || facts->ndim == 0)
        return;
    fprintf(s->stream, "  %-*sthe last, [", LABEL, "");
    for (int d = 0; d < facts->ndim; d++) {
        at[d] = facts->size[d] - 1;
        fprintf(s->stream, "%s%" PRId64, d ? ", " : "", at[d]);
    }
    fputs("], is cell ", s->stream);
    explain_write_address(s->stream, facts, at);
    fprintf(s->stream, " = %s%" PRId64 "%s", ink(s, bold), facts->high, ink(s, plain));
    explain_value(facts->x, facts->high, value, sizeof value);
    if (*value)
        fprintf(s->stream, ", which holds %s", value);
    fputc('\n', s->stream);
}

/* A line of the strip: what each cell holds, is called, or is read as. */
typedef enum strip_row { ROW_CELL, ROW_HOLDS, ROW_READ, ROW_TIMES } strip_row;

static void write_strip_row(const sheet *s, strip_row row, char values[][EXPLAIN_VALUE], int begin, int end, int width)
{
    static const char *const names[] = {"cell", "holds", "read as", "times"};
    const explain_facts *facts = s->facts;
    char text[EXPLAIN_VALUE];
    while (row > ROW_HOLDS && end > begin && facts->times[end - 1] == 0)
        end--;
    if (end == begin)
        return;
    label(s, names[row]);
    for (int i = begin; i < end; i++) {
        bool read = facts->times[i] > 0;
        text[0] = '\0';
        if (row == ROW_CELL)
            snprintf(text, sizeof text, "%" PRId64, facts->window + i);
        else if (row == ROW_HOLDS)
            snprintf(text, sizeof text, "%s", values[i]);
        else if (read)
            snprintf(text, sizeof text, "%" PRId64, row == ROW_READ ? facts->first[i] : facts->times[i]);
        const char *code = row > ROW_HOLDS ? vermillion : read ? filled : faded;
        if (row == ROW_CELL && !s->colour && read)
            fprintf(s->stream, "%*s[%s]", width - (int)strlen(text), "", text);
        else if (!s->colour)
            fprintf(s->stream, "%*s%s%s", width + 1 - (int)strlen(text), "", text, i + 1 < end ? " " : "");
        else
            fprintf(s->stream, " %s%*s%s%s", *text ? code : "", width, text, *text ? plain : "", " ");
    }
    fputc('\n', s->stream);
}

static void write_strip(const sheet *s)
{
    const explain_facts *facts = s->facts;
    char values[EXPLAIN_CELLS][EXPLAIN_VALUE];
    bool holds = false, times = false;
    int width = digits(facts->window + facts->n_window - 1);
    for (int i = 0; i < facts->n_window; i++) {
        char cell[24];
        snprintf(cell, sizeof cell, "%" PRId64, facts->window + i);
        explain_value(facts->x, facts->window + i, values[i], sizeof values[i]);
        holds = holds || (*values[i] && strcmp(values[i], cell) != 0);
        times = times || facts->times[i] > 1;
    }
    for (int i = 0; i < facts->n_window; i++) {
        int each[] = {holds ? (int)strlen(values[i]) : 0, digits(facts->first[i]), times ? digits(facts->times[i]) : 0};
        for (int k = 0; k < 3; k++)
            width = each[k] > width ? each[k] : width;
    }
    int room = (LINE - LABEL - 2) / (width + 2), line = room > 16 ? 16 : room < 1 ? 1 : room;
    if (facts->window)
        fprintf(s->stream, "  %-*s... %" PRId64 " cells before\n", LABEL, "", facts->window);
    for (int i = 0; i < facts->n_window; i += line) {
        int end = i + line < facts->n_window ? i + line : facts->n_window;
        write_strip_row(s, ROW_CELL, values, i, end, width);
        if (holds)
            write_strip_row(s, ROW_HOLDS, values, i, end, width);
        write_strip_row(s, ROW_READ, values, i, end, width);
        if (times)
            write_strip_row(s, ROW_TIMES, values, i, end, width);
        if (end < facts->n_window)
            fputc('\n', s->stream);
    }
    int64_t after = facts->cells - facts->window - facts->n_window;
    if (after)
        fprintf(s->stream, "  %-*s... %" PRId64 " cells after\n", LABEL, "", after);
}

/* The cells in reading order, one row of the last dim a line. */
static void write_order(const sheet *s)
{
    const explain_facts *facts = s->facts;
    int64_t row = facts->ndim ? facts->size[facts->ndim - 1] : 1;
    int width = digits(facts->high), position = 0, columns = (LINE - LABEL - 2) / (width + 2);
    columns = columns > COLUMNS ? COLUMNS : columns;
    label(s, "order");
    for (int lines = 0; position < facts->n_order && lines < ROWS; lines++) {
        if (lines)
            fprintf(s->stream, "  %-*s", LABEL, "");
        do {
            if (position % row % columns)
                fputc(' ', s->stream);
            fprintf(s->stream, "%*" PRId64 "%s", width, facts->order[position], position + 1 < facts->numel ? "," : "");
            position++;
        } while (position < facts->n_order && position % row && position % row % columns);
        fputc('\n', s->stream);
    }
    if (position < facts->numel)
        fprintf(s->stream, "  %-*s... %" PRId64 " more\n", LABEL, "", facts->numel - position);
    if (facts->n_order < 2)
        return;
    label(s, "jumps");
    int n = facts->n_order - 1 < 12 ? facts->n_order - 1 : 12;
    int64_t common = facts->order[1] - facts->order[0];
    for (int i = 0; i < n; i++) {
        int64_t jump = facts->order[i + 1] - facts->order[i];
        fprintf(s->stream, "%s%s%+" PRId64 "%s", i ? ", " : "", jump == common ? "" : ink(s, wrong), jump,
                jump == common ? "" : ink(s, plain));
    }
    fprintf(s->stream, "%s\n", facts->numel - 1 > n ? ", ..." : "");
}

void explain_write_text(FILE *stream, const explain_expression *it, const explain_facts *facts, bool colour)
{
    const sheet s = {stream, it, facts, colour};
    write_steps(&s);
    write_record(&s);
    write_verdicts(&s);
    write_address(&s);
    fputc('\n', stream);
    if (facts->numel == 0) {
        label(&s, "memory");
        fputs("no cell is read: there are no elements\n", stream);
        return;
    }
    label(&s, "memory");
    if (facts->walked)
        fprintf(stream, "%" PRId64 " of %" PRId64 " cells are read%s\n", facts->distinct, facts->cells,
                facts->numel > facts->distinct ? ", some more than once: writing in place is refused" : "");
    else
        fprintf(stream, "%" PRId64 " cells; the first %d reads are counted below\n", facts->cells, EXPLAIN_WALK);
    write_strip(&s);
    fputc('\n', stream);
    write_order(&s);
}

/* One line of at most 72 characters around the place that is meant, and a caret below it. */
void explain_write_trouble(FILE *stream, const char *text, const explain_trouble *why, bool colour)
{
    enum { BEFORE = 56, ROOM = 72 };
    int bytes = (int)strnlen(text, EXPLAIN_LENGTH + ROOM), begin = 0, column = 0, marked = 0, i, n = 0;
    for (int skip = why->column - 1 - BEFORE; skip > 0; skip--)
        begin += utf8_step(text, bytes, begin);
    fprintf(stream, "tenon explain: column %d: %s\n  %s", why->column, why->message, begin ? "..." : "");
    for (i = begin; i < bytes && n < ROOM; i += utf8_step(text, bytes, i), n++) {
        int whole = utf8_length(text + i, bytes - i);
        column += i < why->begin;
        marked += i >= why->begin && i < why->begin + why->length;
        if (whole)
            fwrite(text + i, 1, (size_t)whole, stream);
        else
            fputc(iscntrl((unsigned char)text[i]) ? ' ' : '?', stream);
    }
    fprintf(stream, "%s\n  %*s%s^", i < bytes ? "..." : "", column + (begin ? 3 : 0), "", colour ? wrong : "");
    for (n = 1; n < marked; n++)
        fputc('~', stream);
    fprintf(stream, "%s\n", colour ? plain : "");
}
