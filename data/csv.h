/* The form of a CSV file: records, fields, lines and columns; what the fields mean is for csv_dataset.c. */
#ifndef TNI_DATA_CSV_H
#define TNI_DATA_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/formats.h>

#include "input.h"

/* One field without the spaces or the quotes around it. */
typedef struct tni_field {
    const char *text;
    size_t length;
    int64_t line;   /* from 1: where it begins */
    int64_t column; /* from 0 */
    bool quote;     /* a stray quote is in it */
} tni_field;

typedef struct tni_csv {
    const tni_input *input;
    const char *text; /* a zero byte follows */
    size_t bytes, begin, at;
    int64_t line;
    char delimiter, comment; /* comment 0: none */
    bool goes_on;            /* the record has another field */
    bool has_header;
    size_t data_at; /* where the rows begin, and */
    int64_t data_line;
    int64_t columns, rows;
} tni_csv;

/* Reads the first record: how many columns there are, and whether it is a header; its fields then go to `name`. */
tn_status tni_csv_begin(tni_csv *c, const tni_input *input, char delimiter, char comment, tn_csv_header header,
                        tn_status (*name)(void *context, int64_t row, const tni_field *f), void *context);

/* Gives each field of each row to `field`. */
tn_status tni_csv_walk(tni_csv *c, tn_status (*field)(void *context, int64_t row, const tni_field *f), void *context);

/* "line 2, column 3: 'text' what" */
tn_status tni_csv_wrong(const tni_csv *c, const tni_field *f, const char *what);

/* The delimiter and the comment of options: what a number may have is refused. */
tn_status tni_csv_check_marks(const char *caller, const tn_csv_options *options);

/* Whether the text is a whole number, with a minus or without, and which. */
bool tni_csv_whole_number(const char *text, int64_t *value);

#endif
