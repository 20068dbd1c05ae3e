/* What the parts of the reader of expressions share: a place in the text, and values read there. */
#ifndef TENON_EXPLAIN_READER_H
#define TENON_EXPLAIN_READER_H

#include "explain.h"
#include "report.h"

typedef struct reader {
    const char *text;
    int at, end, depth;
    bool failed;
    explain_expression *it;
    explain_trouble *why;
} reader;

typedef enum given_kind { GIVEN_NUMBER, GIVEN_LIST, GIVEN_DTYPE, GIVEN_FORMAT, GIVEN_NONE, GIVEN_TENSOR } given_kind;

enum { GIVEN_LIMIT = 72 }; /* arguments of a call, numbers of a list */

/* An argument as it stands in the text. */
typedef struct given {
    given_kind kind;
    int begin, end;        /* its text */
    int word, word_length; /* the keyword before =; length 0: none */
    tn_scalar number;
    int64_t list[GIVEN_LIMIT];
    int n;
    tn_dtype dtype;
    tn_memory_format format;
    int step; /* GIVEN_TENSOR */
} given;

/* Notes why reading ends, unless something was noted before; then false. */
bool reader_fail(reader *r, int begin, int end, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Notes the library's pending error, and clears it; named: the text begins with the name of what was called. */
bool reader_refused(reader *r, int begin, int end, bool named);

/* "found 'x', needed NEEDED" about a part of the text. */
bool reader_found(reader *r, int begin, int end, const char *needed);

/* "found 'x', needed NEEDED" about what stands next. */
bool reader_expected(reader *r, const char *needed);

/* The next character that is no blank, and its place in r->at; 0 at the end. */
char reader_peek(reader *r);

/* Steps over the character if it is next. */
bool reader_accept(reader *r, char c);

/* Steps over the character, or fails. */
bool reader_expect(reader *r, char c, const char *needed);

/* Length of the identifier that is next, 0 if there is none. */
int reader_word(reader *r);

/* A letter, digit or part of a character beyond ASCII: Python's names have those too. */
bool reader_letter(const reader *r, int at);

bool reader_is(const reader *r, int begin, int length, const char *word);

/* A whole number with its sign. */
bool reader_whole(reader *r, int64_t *value, const char *needed);

/* The same as a bound of a slice: what is too large is the largest there is. */
bool reader_bound(reader *r, int64_t *value, const char *needed);

/* One number, complex ones, inf and nan among them, True or False. */
bool reader_number(reader *r, tn_scalar *value, const char *needed);

/* [+-] digits, inf, nan, torch.inf, torch.nan; clamp: a whole number may be too large. */
bool reader_term(reader *r, bool clamp, tn_scalar *value, const char *needed);

/* Whether the number that is next is no part of something computed, such as 2 * x. */
bool reader_number_alone(reader *r);

/* Whether what is next can begin one. */
bool reader_is_number(reader *r);

/* "dtype=torch.float64". */
bool reader_dtype(reader *r, tn_dtype *dtype);

/* What stands between ( and ), both included; *n of them. */
bool reader_arguments(reader *r, given *arguments, int *n);

/* What stands on a side of an operator. */
typedef struct operand {
    bool is_number;
    tn_scalar number;
    int step; /* of a tensor */
} operand;

/* An expression up to what cannot be part of it; *step is its last step. It may be a number for reader_operand. */
bool reader_expression(reader *r, int *step);
bool reader_operand(reader *r, operand *value);

/* What has no operator outside of brackets. */
bool reader_primary(reader *r, operand *value);

/* "True" or "False" after "requires_grad=". */
bool reader_requires(reader *r, bool *requires);

/* Adds a step; *step is its number. */
bool reader_step(reader *r, int begin, int self, tn_tensor *result, int *step);

/* ".name", ".name(...)" and "[...]" after step *step; *step becomes theirs. */
bool reader_method(reader *r, int *step);
bool reader_index(reader *r, int *step);

/* "name(...)" that makes a tensor, or a method written as a function. */
bool reader_creation(reader *r, int begin, int length, int *step);
bool reader_function(reader *r, int begin, int length, int *step);
bool reader_tensor(reader *r, int begin, int *step); /* tensor: what stands in its brackets */
bool explain_is_creation(const reader *r, int begin, int length);

/* Whether the library has an operator of that name which takes a tensor first, and what tenon explain can read after
 * it: then its name, and its other parameters as explain_methods.c writes them. */
bool explain_operator(const char *name, int length, char buf[32], char *parameters, size_t size);

/* The closest of all function and method names to the word in the text, or NULL. */
const char *reader_nearest(const reader *r, int begin, int length, bool after_dot);

#endif
