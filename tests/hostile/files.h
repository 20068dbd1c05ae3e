/* The files of the hostile corpus: loaded, compared, and loaded again under every failure. */
#ifndef TENON_TESTS_HOSTILE_FILES_H
#define TENON_TESTS_HOSTILE_FILES_H

#include <jansson.h>
#include <stdbool.h>

enum { WHY = 640 };

bool file_format_is_read(const char *format);

/* Runs one line of a manifest: why says what went wrong, or stays "".
 *  1  it loads with the shapes, dtypes and bytes of the line, or fails with a message that names the file (and the line
 *     and column, where the manifest does), within 4 times its size and 1 MB, and the time allowed
 *  2  the same with reads of three bytes, and from a pipe
 *  3  each file operation fails in turn, and each allocation: an error, and nothing stays behind */
void run_file(const json_t *test, const char *folder, char why[WHY]);

#endif
