/* A file that a command is given: which format it is of, by what stands at its beginning, else by its name; and
 * standard input, "-", or a pipe, which are copied first so that they can be looked into and read twice. */
#ifndef TENON_INPUT_FILE_H
#define TENON_INPUT_FILE_H

#include <stdbool.h>

enum file_kind { FILE_CSV, FILE_NPY, FILE_SAFETENSORS };

extern const char *const file_kind_words[]; /* "csv", ...; ends in NULL */

typedef struct input_file {
    const char *name; /* for messages */
    char path[64];    /* of the copy; "" without one */
    int copy;         /* its descriptor, -1 without one */
    enum file_kind kind;
    bool misused; /* an option does not belong to its kind: the error that is pending */
} input_file;

/* Looks into the file. An error, such as a file that is not there, is pending afterwards; `function` is named in it. */
void input_file_open(input_file *file, const char *operand, const char *function);

/* What to give to a reader. */
const char *input_file_path(const input_file *file);

/* A pending error that names the copy names the file afterwards. */
void input_file_close(input_file *file);

#endif
