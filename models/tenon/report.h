/* How the command complains, as a line or with --json as an object, and text of unknown origin made fit to be shown. */
#ifndef TENON_REPORT_H
#define TENON_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* From here on complaints are JSON. */
void report_as_json(bool yes);
bool report_is_json(void);

/* On stderr "tenon COMMAND: MESSAGE", without COMMAND if it is NULL; or {"error":{"message":MESSAGE,"column":null}}. */
void report(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The object with a column, 1 and up; 0: null. */
void report_json(const char *message, int column);

/* "Try 'tenon COMMAND --help'." below a complaint; not among JSON. */
void report_hint(const char *command);

/* Bytes of the UTF-8 character at text, of which `length` bytes are there: 1 to 4; 0 if it is none or a control
 * character, which takes one byte and is shown as "?". */
int utf8_length(const char *text, int length);

/* Characters in the first `length` bytes; a byte that belongs to none counts as one. */
int utf8_count(const char *text, int length);

/* Bytes from `at` to the next character. */
int utf8_step(const char *text, int length, int at);

enum { SHOWN_CHARACTERS = 40, SHOWN_BYTES = 4 * SHOWN_CHARACTERS + 4 };

/* Up to 40 characters of text, "..." behind what is cut. */
const char *utf8_shown(const char *text, int length, char buf[SHOWN_BYTES]);

/* A JSON string. */
void write_json_string(FILE *stream, const char *text, int length);

#endif
