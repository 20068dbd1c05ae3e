/* Running programs as a shell does, in a folder of their own, and looking at what they say. */
#ifndef TENON_TESTS_SUPPORT_SHELL_H
#define TENON_TESTS_SUPPORT_SHELL_H

#include <stddef.h>

enum { SHELL_TEXT = 1 << 16 };

typedef struct shell_outcome {
    int code;                              /* the exit code, 128 + the number of a signal that ended it */
    char out[SHELL_TEXT], err[SHELL_TEXT]; /* cut at the end */
} shell_outcome;

/* What the last call left. */
extern shell_outcome shell_last;

/* Runs the line with `tenon` in it meaning the built command (a function; "$TENON" is the program itself, to be sent
 * signals) and $DATA the tests' data, in a scratch folder that is made at first and removed at exit. */
void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and fails unless the exit code is that and all of `said`, separated by '|', stand on stdout (code 0) or
 * stderr in that order. */
void shell_expect(int code, const char *said, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A file in the scratch folder: its path (valid until the next but three calls), its content to be freed. */
const char *shell_path(const char *name);
char *shell_content(const char *name, size_t *bytes);
void shell_write(const char *name, const char *text);

#endif
