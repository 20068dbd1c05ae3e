/* Rows of option tables in one line each, and those that several commands share. */
#ifndef TENON_OPTION_ROWS_H
#define TENON_OPTION_ROWS_H

#include "net.h"
#include "options.h"

option_row row_flag(const char *name, bool *value, const char *help);
option_row row_whole(const char *name, const char *argument, int64_t *value, int64_t low, int64_t high,
                     const char *help);
option_row row_number(const char *name, double *value, int64_t low, int64_t high, const char *help);
option_row row_positive(const char *name, double *value, int64_t high, const char *help); /* above 0, up to high */
option_row row_share(const char *name, double *value, const char *help);                  /* from 0 to below 1 */
option_row row_sizes(const char *name, const char *argument, size_list *value, int64_t low, int64_t high,
                     const char *help);
option_row row_text(const char *name, const char *argument, const char **value, const char *help);
option_row row_choice(const char *name, const char *argument, int *value, const char *const *words, const char *help);

/* What a net is trained on or judged by; see data_options.h. */
typedef struct data_options {
    const char *name; /* "moons", "circles", "blobs", or a file's */
    int64_t samples, seed, centers, features;
    double noise, factor, cluster_std;
    const char *label, *labels; /* NULL: not given */
    int delimiter, header; /* below 0: not given */
    bool regression;
} data_options;

enum { DATA_ROWS = 12, NET_ROWS = 3 };

option_row row_delimiter(int *value);
option_row row_header(int *value);
int add_csv_rows(option_row *rows, data_options *data); /* how CSV is read */
int add_data_rows(option_row *rows, data_options *data);
int add_net_rows(option_row *rows, net_shape *shape, int *dtype);

extern const char *const delimiter_words[];

option_row row_json(bool *value);

#endif
