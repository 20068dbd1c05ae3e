/* What tenon inspect found in a file, and how it is shown. */
#ifndef TENON_INSPECT_H
#define TENON_INSPECT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/tenon.h>

#include "input_file.h"

typedef struct inspect_settings {
    const char *path, *label;
    int delimiter, header; /* below 0: not given */
    bool json;
} inspect_settings;

enum inspected_sum { SUM_NONE, SUM_RIGHT, SUM_WRONG };

typedef struct inspection {
    const char *name, *label;
    enum file_kind kind;
    int64_t bytes;
    enum inspected_sum sum;
    tn_tensor *array;     /* of .npy */
    tn_safetensors *file; /* of safetensors */
    tn_dataset *table;    /* of CSV */
} inspection;

/* On stdout. An error is pending afterwards if there was no memory. */
void inspect_write_text(const inspection *found);
void inspect_write_json(const inspection *found);

#endif
