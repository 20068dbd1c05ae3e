/* Option tables: a row says what an option is called, what it takes and where the value goes; parsing, complaints and
 * the help text follow from it. Built on getopt_long, so long names may be shortened and operands may stand anywhere.
 */
#ifndef TENON_OPTIONS_H
#define TENON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct option_row option_row;

/* How a value is read. */
typedef struct option_kind {
    bool (*parse)(const option_row *row, const char *text);        /* stores the value; false: not one */
    void (*needed)(const option_row *row, char *buf, size_t size); /* "a whole number from 1 to 9" */
    bool (*format)(const option_row *row, char *buf, size_t size); /* the value as text; false: it is not set */
} option_kind;

extern const option_kind option_flag;   /* bool */
extern const option_kind option_whole;  /* int64_t, low .. high */
extern const option_kind option_number; /* double, low .. high, finite; not set while below low */
extern const option_kind option_sizes;  /* size_list, each low .. high: "16,16", or "none" */
extern const option_kind option_text;   /* const char *, not empty */
extern const option_kind option_choice; /* int, number of the word in `words`; not set while below 0 */

struct option_row {
    const char *name;     /* without the dashes */
    const char *argument; /* what it is called in the help; NULL for a flag */
    const char *help;
    const option_kind *kind;
    void *value;
    int64_t low, high;
    bool above_low, below_high; /* option_number: these themselves are outside */
    const char *const *words; /* option_choice: ends in NULL */
};

enum { SIZES_LIMIT = 32 };

typedef struct size_list {
    int64_t size[SIZES_LIMIT];
    int count;
} size_list;

/* What a command says of itself. Its help is usage, a line for each option, examples. */
typedef struct command_text {
    const char *name, *usage, *examples;
} command_text;

enum { OPTIONS_GO_ON = -1 };

/* Reads the options of a command into the rows' values; operands are wrong. Returns OPTIONS_GO_ON, or the exit code:
 * --help and -h, which every command knows, have been answered, mistakes have been told of. */
int options_read(const command_text *text, const option_row *rows, int n, int argc, char **argv);

/* The same for a command that takes one operand: what it is, for messages, such as "a file's name". */
int options_read_operand(const command_text *text, const option_row *rows, int n, int argc, char **argv,
                         const char **operand, const char *what);

/* The same for a command that takes any number of operands: argv[*first] and those behind it are they. */
int options_read_operands(const command_text *text, const option_row *rows, int n, int argc, char **argv, int *first);

/* Appends what the rows hold to words, "--samples", "1000" ...: options_read reads the same values back. Returns
 * the number of words, all of them in *text, which is one block to be freed; -1 if there is no memory. */
enum { OPTION_WORDS = 160 };
int options_write_words(const option_row *rows, int n, const char *words[OPTION_WORDS], char **text);

/* The name that one or two slips would turn `word` into, or NULL. */
const char *nearest_name(const char *word, const char *const *names, int n);

#endif
