/* See option_rows.h. */
#include "option_rows.h"

#include <string.h>

static const char *const header_words[] = {"auto", "yes", "no", NULL}; /* tn_csv_header's order */

const char *const delimiter_words[] = {"comma", "semicolon", "tab", NULL};

option_row row_flag(const char *name, bool *value, const char *help)
{
    return (option_row){.name = name, .help = help, .kind = &option_flag, .value = value};
}

option_row row_whole(const char *name, const char *argument, int64_t *value, int64_t low, int64_t high,
                     const char *help)
{
    return (option_row){.name = name, .argument = argument, .help = help, .kind = &option_whole,
                        .value = value, .low = low, .high = high};
}

option_row row_number(const char *name, double *value, int64_t low, int64_t high, const char *help)
{
    return (option_row){.name = name, .argument = "X", .help = help, .kind = &option_number,
                        .value = value, .low = low, .high = high};
}

option_row row_positive(const char *name, double *value, int64_t high, const char *help)
{
    option_row row = row_number(name, value, 0, high, help);
    row.above_low = true;
    return row;
}

option_row row_share(const char *name, double *value, const char *help)
{
    option_row row = row_number(name, value, 0, 1, help);
    row.below_high = true;
    return row;
}

option_row row_sizes(const char *name, const char *argument, size_list *value, int64_t low, int64_t high,
                     const char *help)
{
    return (option_row){.name = name, .argument = argument, .help = help, .kind = &option_sizes,
                        .value = value, .low = low, .high = high};
}

option_row row_text(const char *name, const char *argument, const char **value, const char *help)
{
    return (option_row){.name = name, .argument = argument, .help = help, .kind = &option_text, .value = value};
}

option_row row_choice(const char *name, const char *argument, int *value, const char *const *words, const char *help)
{
    return (option_row){.name = name, .argument = argument, .help = help, .kind = &option_choice,
                        .value = value, .words = words};
}

option_row row_json(bool *value)
{
    return row_flag("json", value, "one JSON object on one line; an error, on standard error, is one too");
}

/* The marks themselves are words for it, too. */
static bool parse_delimiter(const option_row *row, const char *text)
{
    static const char *const marks[] = {",", ";", "\t", "\\t"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, marks[i]) == 0) {
            *(int *)row->value = i < 3 ? i : 2;
            return true;
        }
    return option_choice.parse(row, text);
}

static void needed_delimiter(const option_row *row, char *buf, size_t size)
{
    option_choice.needed(row, buf, size);
}

static bool format_delimiter(const option_row *row, char *buf, size_t size)
{
    return option_choice.format(row, buf, size);
}

static const option_kind option_delimiter = {parse_delimiter, needed_delimiter, format_delimiter};

option_row row_delimiter(int *value)
{
    static const char help[] = "CSV: what stands between fields: comma, semicolon or tab (by the first row: a comma, "
                               "if it has one)";
    option_row row = row_choice("delimiter", "D", value, delimiter_words, help);
    row.kind = &option_delimiter;
    return row;
}

option_row row_header(int *value)
{
    return row_choice("header", "H", value, header_words,
                      "CSV: whether the first row has names: yes, no, auto (if none is a number)");
}

int add_csv_rows(option_row *rows, data_options *data)
{
    rows[0] = row_delimiter(&data->delimiter);
    rows[1] = row_header(&data->header);
    return 2;
}

int add_data_rows(option_row *rows, data_options *data)
{
    const option_row all[] = {
        row_whole("samples", "N", &data->samples, 1, 1000000000, "points of moons, circles, blobs (1000)"),
        row_number("noise", &data->noise, 0, 1000, "moons, circles: standard deviation of the noise (0.2)"),
        row_share("factor", &data->factor, "circles: radius of the inner one (0.5)"),
        row_whole("centers", "N", &data->centers, 2, 65536, "blobs: how many (3)"),
        row_whole("features", "N", &data->features, 1, 1000000, "blobs: numbers a point has (2)"),
        row_number("cluster-std", &data->cluster_std, 0, 1000, "blobs: standard deviation of each (1)"),
        row_whole("seed", "S", &data->seed, 0, UINT32_MAX, "of all that is drawn (0)"),
        row_text("label", "COLUMN", &data->label,
                 "CSV: the column to learn, by name, or by number from 0 or from -1 backwards (-1)"),
        row_text("labels", "FILE", &data->labels, ".npy: the file of the labels"),
        row_flag("regression", &data->regression, "the labels are numbers to come near to, not classes"),
    };
    enum { N = sizeof all / sizeof *all };
    int n = add_csv_rows(rows, data);
    for (int i = 0; i < N; i++)
        rows[n++] = all[i];
    return n;
}

int add_net_rows(option_row *rows, net_shape *shape, int *dtype)
{
    rows[0] = row_sizes("hidden", "N,N,...", &shape->hidden, 1, 1000000,
                        "widths of the hidden layers (16,16), or 'none'");
    rows[1] = row_choice("activation", "NAME", &shape->activation, activation_words,
                         "between layers: relu, leaky_relu, sigmoid, tanh, gelu, silu or softplus (relu)");
    rows[2] = row_choice("dtype", "DTYPE", dtype, dtype_words, "float32 or float64 (float32)");
    return NET_ROWS;
}
