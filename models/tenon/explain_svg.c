/* The explanation as a picture: the strip of memory with the cells that are read, their order and a bracket for each
 * stride; the walk with its jumps; the grid; the address worked out. The last element is yellow wherever it stands.
 *
 * All text is set in a monospaced face of which a character is 0.61 of the size wide: what fits can be computed.
 * Brackets have a level each and their labels stand left of where all of them begin: nothing crosses a label. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "report.h"

enum {
    LEFT = 116,
    EDGE = 28,
    LEAST = 860,
    MOST = 1810,
    CELL_HEIGHT = 34,
    LEVEL = 22,
    LEVELS = 6,
    GRID_ROWS = 8,
    GRID_COLUMNS = 12
};

static const char blue[] = "#2f6fab", pale[] = "#eef1f5", grey[] = "#8a94a0", ink[] = "#1d2733",
                  vermillion[] = "#d55e00", yellow[] = "#f4d03f", red[] = "#c0142c", line[] = "#c3cad3";

typedef struct picture {
    FILE *stream; /* the body; the frame is written when the height is known */
    const explain_expression *it;
    const explain_facts *facts;
    int width, y;
    int shown;         /* cells of the strip */
    double cell_width; /* theirs */
    bool differ;       /* what the cells hold says more than their numbers */
    char values[EXPLAIN_CELLS][EXPLAIN_VALUE];
} picture;

static double wide(int characters, double size)
{
    return 0.61 * size * characters;
}

/* Text with its baseline at y; anchor "start", "middle" or "end". What has more characters than `room` is cut. */
static void put(picture *p, double x, double y, double size, const char *anchor, const char *fill, bool bold, int room,
                const char *text)
{
    int bytes = (int)strlen(text), length = utf8_count(text, bytes), n = 0;
    fprintf(p->stream, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\"%s>", x, y, size,
            anchor, fill, bold ? " font-weight=\"bold\"" : "");
    for (int at = 0; at < bytes && !(length > room && n >= room - 3); at += utf8_step(text, bytes, at), n++) {
        unsigned char byte = (unsigned char)text[at];
        int whole = utf8_length(text + at, bytes - at);
        if (byte == '&' || byte == '<' || byte == '>' || byte == '"')
            fprintf(p->stream, "&#%d;", byte);
        else if (whole)
            fwrite(text + at, 1, (size_t)whole, p->stream);
        else
            fputc(iscntrl(byte) ? ' ' : '?', p->stream);
    }
    fprintf(p->stream, "%s</text>\n", length > room ? "..." : "");
}

static void put_number(picture *p, double x, double y, double size, const char *fill, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    put(p, x, y, size, "middle", fill, false, 24, text);
}

static void box(picture *p, double x, double y, double width, double height, const char *fill)
{
    fprintf(p->stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y,
            width, height, fill, line);
}

/* A line of text over the whole width. */
static void put_line(picture *p, double size, const char *fill, bool bold, const char *text)
{
    p->y += (int)(size * 1.55);
    put(p, EDGE, p->y, size, "start", fill, bold, (int)((p->width - 2 * EDGE) / wide(1, size)), text);
}

static void put_label(picture *p, double y, const char *text)
{
    put(p, EDGE, y, 12, "start", grey, false, 12, text);
}

static const char *cell_fill(const picture *p, int64_t cell, bool read)
{
    return !read ? pale : cell == p->facts->high ? yellow : blue;
}

static const char *cell_ink(const picture *p, int64_t cell, bool read)
{
    return !read ? grey : cell == p->facts->high ? ink : "#ffffff";
}

static void write_heading(picture *p)
{
    const explain_facts *facts = p->facts;
    char shape[200], stride[200], text[640];
    p->y = 12;
    put_line(p, 18, ink, true, p->it->text);
    explain_tuple(facts->size, facts->ndim, shape, sizeof shape);
    explain_tuple(facts->stride, facts->ndim, stride, sizeof stride);
    snprintf(text, sizeof text, "shape %s   stride %s   offset %" PRId64 "   %s   %s", shape, stride, facts->offset,
             tn_dtype_name(tn_tensor_dtype(facts->x)), facts->contiguous ? "contiguous" : "not contiguous");
    put_line(p, 13, ink, false, text);
    explain_origin(p->it, text, sizeof text);
    put_line(p, 12, grey, false, text);
    p->y += 18;
}

/* The dims that step, by stride, widest last; at most LEVELS, those of the last dims. */
static int stepping(const explain_facts *facts, int dims[LEVELS])
{
    int n = 0;
    for (int d = facts->ndim - 1; d >= 0 && n < LEVELS; d--) {
        int at = n;
        if (facts->size[d] < 2)
            continue;
        for (; at > 0 && facts->stride[dims[at - 1]] > facts->stride[d]; at--)
            dims[at] = dims[at - 1];
        dims[at] = d;
        n++;
    }
    return n;
}

static void write_brackets(picture *p)
{
    const explain_facts *facts = p->facts;
    int dims[LEVELS], n = facts->numel ? stepping(facts, dims) : 0;
    double left = LEFT, bottom = p->y + n * LEVEL, right = left + p->shown * p->cell_width;
    double from = left + ((double)(facts->offset - facts->window) + 0.5) * p->cell_width;
    for (int k = 0; k < n; k++) {
        char text[48], letter[12];
        double y = bottom - k * LEVEL - 8, begin = from - k * 2.0,
               end = from + (double)facts->stride[dims[k]] * p->cell_width;
        snprintf(text, sizeof text, "next %s: +%" PRId64, explain_letter(dims[k], facts->ndim, letter),
                 facts->stride[dims[k]]);
        put(p, begin - 6, y + 4, 12, "end", vermillion, true, 20, text);
        bool outside = end > right;
        if (facts->stride[dims[k]] == 0)
            fprintf(p->stream, "<path d=\"M%.1f %.1fv%.1f\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
                    begin, y, bottom - y, vermillion);
        else if (outside)
            fprintf(p->stream,
                    "<path d=\"M%.1f %.1fV%.1fH%.1fm-6 -4l6 4l-6 4\" fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"1.5\"/>\n",
                    begin, bottom, y, right + 12, vermillion);
        else
            fprintf(p->stream,
                    "<path d=\"M%.1f %.1fV%.1fH%.1fV%.1fm-4 -6l4 6l4 -6\" fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"1.5\"/>\n",
                    begin, bottom, y, end, bottom, vermillion);
    }
    p->y = (int)bottom + 2;
}

static int digits(int64_t number)
{
    return snprintf(NULL, 0, "%" PRId64, number);
}

/* How wide the cells are and how many there is room for: all their numbers must fit. */
static void plan_strip(picture *p)
{
    const explain_facts *facts = p->facts;
    int n = facts->n_window, widest = digits(facts->window + n), largest = 1, times = 1, longest = 0;
    for (int i = 0; i < n; i++) {
        char cell[24];
        snprintf(cell, sizeof cell, "%" PRId64, facts->window + i);
        explain_value(facts->x, facts->window + i, p->values[i], sizeof p->values[i]);
        p->differ = p->differ || (*p->values[i] && strcmp(p->values[i], cell) != 0);
        longest = (int)strlen(p->values[i]) > longest ? (int)strlen(p->values[i]) : longest;
        largest = digits(facts->first[i]) > largest ? digits(facts->first[i]) : largest;
        times = digits(facts->times[i]) > times ? digits(facts->times[i]) : times;
    }
    double needed[] = {26, wide(widest, 11) + 5, wide(largest, 11) + 5, wide(times + 1, 10) + 5};
    p->cell_width = n ? 720.0 / n : 52;
    p->cell_width = p->cell_width > 52 ? 52 : p->cell_width;
    double whole = wide(longest, 10.5) + 5; /* values are seen whole where all have room */
    if (p->differ && whole > p->cell_width && n * whole <= LEAST - LEFT - EDGE)
        p->cell_width = whole;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        p->cell_width = needed[i] > p->cell_width ? needed[i] : p->cell_width;
    p->shown = n * p->cell_width > MOST - LEFT - EDGE ? (int)((MOST - LEFT - EDGE) / p->cell_width) : n;
    int strip = LEFT + (int)(p->shown * p->cell_width) + EDGE;
    p->width = strip > LEAST ? strip : LEAST;
}

/* The cell, and what it holds in it. */
static void write_cell(picture *p, int i)
{
    int64_t cell = p->facts->window + i;
    bool read = p->facts->times[i] > 0;
    double x = LEFT + i * p->cell_width, y = p->y + CELL_HEIGHT / 2 + 5,
           size = wide(digits(cell), 14) + 6 > p->cell_width ? 11 : 14;
    box(p, x, p->y, p->cell_width, CELL_HEIGHT, cell_fill(p, cell, read));
    if (!p->differ) {
        put_number(p, x + p->cell_width / 2, y, size, cell_ink(p, cell, read), cell);
        return;
    }
    if (wide((int)strlen(p->values[i]), size) > p->cell_width - 3)
        size *= 0.75;
    put(p, x + p->cell_width / 2, y, size, "middle", cell_ink(p, cell, read), false,
        (int)((p->cell_width - 2) / wide(1, size)), p->values[i]);
}

/* Numbers below the cells: what they are called where they do not say so themselves, and as what they are read. */
static void write_rows(picture *p)
{
    const explain_facts *facts = p->facts;
    bool twice = false;
    int y = p->y + CELL_HEIGHT + 14, rows[] = {y, y + 14 * p->differ, y + 14 * p->differ + 13};
    for (int i = 0; i < p->shown; i++) {
        double middle = LEFT + (i + 0.5) * p->cell_width;
        char text[24];
        if (p->differ)
            put_number(p, middle, rows[0], 11, grey, facts->window + i);
        if (facts->times[i])
            put_number(p, middle, rows[1], 11, vermillion, facts->first[i]);
        if (facts->times[i] < 2)
            continue;
        snprintf(text, sizeof text, "x%" PRId64, facts->times[i]);
        put(p, middle, rows[2], 10, "middle", vermillion, true, 24, text);
        twice = true;
    }
    if (p->differ)
        put_label(p, rows[0], "cell");
    if (facts->numel)
        put_label(p, rows[1], "read as");
    if (twice)
        put_label(p, rows[2], "times");
    p->y = rows[twice ? 2 : 1] + 6;
}

static void write_strip(picture *p)
{
    const explain_facts *facts = p->facts;
    char text[160];
    write_brackets(p);
    put_label(p, p->y + CELL_HEIGHT / 2 + 4, "memory");
    if (p->shown == 0)
        put(p, LEFT, p->y + CELL_HEIGHT / 2 + 4, 12, "start", grey, false, 40, "no cells");
    for (int i = 0; i < p->shown; i++)
        write_cell(p, i);
    write_rows(p);
    if (p->shown < facts->cells) {
        snprintf(text, sizeof text, "cells %" PRId64 " to %" PRId64 " of %" PRId64 "; the others are not drawn",
                 facts->window, facts->window + p->shown - 1, facts->cells);
        put(p, LEFT, p->y + 12, 12, "start", grey, false, 100, text);
        p->y += 16;
    }
    p->y += 22;
}

/* The cells in the order in which they are read, the jumps between them; those unlike the first one are bold. */
static void write_walk(picture *p)
{
    const explain_facts *facts = p->facts;
    double box_width = wide(digits(facts->high), 13) + 14, gap = 40;
    char text[80];
    if (facts->n_order < 2)
        return;
    for (int i = 1; i < facts->n_order; i++) {
        double needed = wide(digits(facts->order[i] - facts->order[i - 1]) + 1, 12) + 12;
        gap = needed > gap ? needed : gap;
    }
    int line_length = (int)((p->width - LEFT - EDGE + gap) / (box_width + gap));
    if (facts->n_order > line_length)
        line_length = (int)((p->width - LEFT - EDGE) / (box_width + gap));
    int64_t row = facts->size[facts->ndim - 1];
    if (line_length > row && row > 1)
        line_length -= (int)(line_length % row);
    double indent = facts->n_order > line_length ? gap : 0;
    put_label(p, p->y + 20, "order");
    for (int i = 0; i < facts->n_order; i++) {
        int column = i % line_length;
        double x = LEFT + indent + column * (box_width + gap), y = p->y + i / line_length * 40;
        box(p, x, y, box_width, 28, cell_fill(p, facts->order[i], true));
        put_number(p, x + box_width / 2, y + 19, 13, cell_ink(p, facts->order[i], true), facts->order[i]);
        if (i == 0)
            continue;
        int64_t jump = facts->order[i] - facts->order[i - 1];
        bool same = jump == facts->order[1] - facts->order[0];
        snprintf(text, sizeof text, "%+" PRId64, jump);
        put(p, x - gap / 2, y + 11, 12, "middle", same ? grey : red, !same, 24, text);
        fprintf(p->stream, "<path d=\"M%.1f %.1fh%.1fm-5 -4l5 4l-5 4\" fill=\"none\" stroke=\"%s\"/>\n", x - gap + 5,
                y + 18, gap - 10, same ? grey : red);
    }
    p->y += ((facts->n_order - 1) / line_length + 1) * 40;
    if (facts->n_order < facts->numel) {
        snprintf(text, sizeof text, "the first %d of %" PRId64 " elements", facts->n_order, facts->numel);
        put(p, LEFT, p->y + 6, 12, "start", grey, false, 100, text);
        p->y += 16;
    }
    p->y += 18;
}

/* One matrix of the last two dims, that begins at cell `begin`. */
static void write_matrix(picture *p, double x, int64_t begin, int rows, int columns, double cell_width)
{
    const explain_facts *facts = p->facts;
    int last = facts->ndim - 1;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            int64_t cell = begin + i * facts->stride[last - 1] + j * facts->stride[last];
            box(p, x + j * cell_width, p->y + i * 28, cell_width, 28, cell_fill(p, cell, true));
            put_number(p, x + (j + 0.5) * cell_width, p->y + i * 28 + 19, 13, cell_ink(p, cell, true), cell);
        }
}

/* The grid, matrix by matrix side by side, as many as there is room for. */
static void write_grid(picture *p)
{
    const explain_facts *facts = p->facts;
    int last = facts->ndim - 1;
    if (facts->ndim < 2 || facts->numel == 0)
        return;
    int rows = (int)(facts->size[last - 1] < GRID_ROWS ? facts->size[last - 1] : GRID_ROWS);
    int columns = (int)(facts->size[last] < GRID_COLUMNS ? facts->size[last] : GRID_COLUMNS), shown = 0;
    double cell_width = wide(digits(facts->high), 13) + 14, x = LEFT;
    int64_t matrices = facts->numel / (facts->size[last - 1] * facts->size[last]), at[TN_MAX_NDIM] = {0};
    char text[200];
    put_label(p, p->y + 19, "grid");
    for (; shown < matrices; shown++) {
        int64_t begin = facts->offset;
        int used = snprintf(text, sizeof text, "[");
        if (shown && x + columns * cell_width > p->width - EDGE)
            break;
        for (int d = 0; d < last - 1; d++) {
            begin += at[d] * facts->stride[d];
            if (used < 100)
                used += snprintf(text + used, sizeof text - (size_t)used, "%" PRId64 ", ", at[d]);
        }
        write_matrix(p, x, begin, rows, columns, cell_width);
        snprintf(text + used, sizeof text - (size_t)used, ":, :]");
        double caption = matrices > 1 ? wide((int)strlen(text), 12) : 0;
        if (matrices > 1 && x + caption <= p->width - EDGE)
            put(p, x, p->y + rows * 28 + 15, 12, "start", grey, false, 100, text);
        x += (columns * cell_width > caption ? columns * cell_width : caption) + 28;
        for (int d = last - 2; d >= 0; d--) {
            if (++at[d] < facts->size[d])
                break;
            at[d] = 0;
        }
    }
    p->y += rows * 28 + (matrices > 1 ? 20 : 4);
    if (shown < matrices || rows < facts->size[last - 1] || columns < facts->size[last]) {
        snprintf(text, sizeof text, "%d of %" PRId64 " matrices, %d of %" PRId64 " rows, %d of %" PRId64 " columns",
                 shown, matrices, rows, facts->size[last - 1], columns, facts->size[last]);
        put(p, LEFT, p->y + 12, 12, "start", grey, false, 100, text);
        p->y += 16;
    }
    p->y += 8;
}

static void write_words(picture *p)
{
    const explain_facts *facts = p->facts;
    char *text = NULL, pair[200];
    size_t size = 0;
    int64_t at[TN_MAX_NDIM];
    char letter[12];
    FILE *words = open_memstream(&text, &size);
    if (!words)
        return;
    fputs("element [", words);
    for (int d = 0; d < facts->ndim; d++)
        fprintf(words, "%s%s", d ? ", " : "", explain_letter(d, facts->ndim, letter));
    fputs("] is cell ", words);
    explain_write_address(words, facts, NULL);
    if (facts->numel && facts->ndim) {
        fputs("\nthe last, [", words);
        for (int d = 0; d < facts->ndim; d++) {
            at[d] = facts->size[d] - 1;
            fprintf(words, "%s%" PRId64, d ? ", " : "", at[d]);
        }
        fputs("], is cell ", words);
        explain_write_address(words, facts, at);
        fprintf(words, " = %" PRId64, facts->high);
    }
    if (facts->flat) {
        fprintf(words, "\nview(-1) works: one dim of %" PRId64 " with stride %" PRId64, facts->numel,
                facts->flat_stride);
    } else {
        explain_pair_text(&facts->flat_no, pair, sizeof pair);
        fprintf(words, "\nview(-1) fails: %s; reshape(-1) copies", pair);
    }
    fclose(words);
    for (char *part = text; part;) {
        char *end = strchr(part, '\n');
        if (end)
            *end++ = '\0';
        put_line(p, 13, strncmp(part, "view(-1) fails", 14) == 0 ? red : ink, false, part);
        part = end;
    }
    free(text);
}

void explain_write_svg(FILE *stream, const explain_expression *it, const explain_facts *facts)
{
    char *body = NULL;
    size_t size = 0;
    picture p = {.it = it, .facts = facts, .stream = open_memstream(&body, &size)};
    if (!p.stream)
        return;
    plan_strip(&p);
    write_heading(&p);
    write_strip(&p);
    write_walk(&p);
    write_grid(&p);
    write_words(&p);
    fclose(p.stream);
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "xml:space=\"preserve\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n%s</svg>\n",
            p.width, p.y + 24, p.width, p.y + 24, body);
    free(body);
}
