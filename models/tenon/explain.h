/* tenon explain: an expression such as "arange(12).view(3, 4)[:, 1::2]" read, its tensor looked at, and what was seen
 * written as text, SVG or JSON. */
#ifndef TENON_EXPLAIN_H
#define TENON_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/tenon.h>

enum {
    EXPLAIN_LENGTH = 4096,   /* bytes of an expression */
    EXPLAIN_STEPS = 256,     /* calls and indices in it */
    EXPLAIN_NAMES = 16,      /* names given with = */
    EXPLAIN_NESTING = 16,    /* brackets within brackets */
    EXPLAIN_MEMORY = 1 << 24 /* bytes that all its tensors may have, as tn_set_memory_limit counts */
};

/* Where a step's elements are. */
typedef enum explain_made { MADE_NEW, MADE_VIEW, MADE_COPY, MADE_SAME } explain_made;

/* One creation, call or index of the expression. */
typedef struct explain_step {
    int begin, length; /* its text, in bytes */
    int self;          /* the step whose tensor it was called on, -1 for a creation */
    explain_made made;
    tn_tensor *result;
} explain_step;

typedef struct explain_name {
    int begin, length, step;
} explain_name;

/* Why an expression is refused. */
typedef struct explain_trouble {
    int begin, length; /* the part that is meant, in bytes; at the end of the text for what is missing */
    int column;        /* of begin: 1 and up, in characters */
    bool by_library;   /* it could be read, and the library has refused to do it */
    char message[512]; /* "found ..., needed ..." */
} explain_trouble;

typedef struct explain_expression {
    const char *text;
    explain_step step[EXPLAIN_STEPS];
    int n_steps, last; /* last: the step that is explained */
    explain_name name[EXPLAIN_NAMES];
    int n_names;
} explain_expression;

/* Reads the text and does what it says; the tensors belong to the innermost scope. False: *why says why, and no error
 * is pending. Any text will do, of any length. The caller sets the memory limit. */
bool explain_read(const char *text, explain_expression *it, explain_trouble *why);

/* Writes "tenon explain: column 8: ..." and the expression with a caret below the part that is meant. */
void explain_write_trouble(FILE *stream, const char *text, const explain_trouble *why, bool colour);

enum { EXPLAIN_CELLS = 64, EXPLAIN_ORDER = 64, EXPLAIN_WALK = 1 << 20, EXPLAIN_VALUE = 64 };

/* A condition on two neighbouring dims (sizes 1 left out) that does not hold: stride `found` of dim `outer` should be
 * size x stride of dim `inner` = needed. inner is -1 for the last dim of a contiguous tensor: stride 1 is needed. */
typedef struct explain_pair {
    int outer, inner;
    int64_t found, size, stride, needed;
} explain_pair;

/* What the tensor reads, and in which order. Cells are elements of the storage in the tensor's dtype. */
typedef struct explain_facts {
    tn_tensor *x;
    int ndim;
    const int64_t *size, *stride;
    int64_t numel, offset, cells;        /* cells: whole ones in the storage */
    bool contiguous, flat;               /* flat: view(-1) works */
    int64_t flat_stride;                 /* of its result */
    explain_pair contiguous_no, flat_no; /* where contiguous and flat are false */
    int64_t low, high;                   /* first and last cell that is read; 0 and -1 without elements */
    bool walked;                         /* all elements were walked: the counts below are whole */
    int64_t distinct;                    /* cells read, each counted once */
    int64_t order[EXPLAIN_ORDER];        /* cells in the order in which they are read */
    int n_order;
    int64_t window;               /* first cell of those shown */
    int n_window;                 /* how many are shown: all, or up to EXPLAIN_CELLS around those that are read */
    int64_t first[EXPLAIN_CELLS]; /* of a shown cell: the position, from 1, that reads it first; 0: it is not read */
    int64_t times[EXPLAIN_CELLS]; /* how often it is read */
} explain_facts;

/* Looks at x. False: out of memory, and the error is pending. */
bool explain_look(tn_tensor *x, explain_facts *facts);

/* "1 + 4 i + 2 j", or with `at` (an index for each dim) "1 + 4*2 + 2*1". */
void explain_write_address(FILE *stream, const explain_facts *facts, const int64_t *at);

/* The letter of an index: "i", "j" ...; "i7" and so on beyond six dims. */
const char *explain_letter(int dim, int ndim, char buf[12]);

/* Python's text of the cell's value ("7", "0.5", "True"), at most 53 characters; "" for a dtype whose elements tn_item
 * does not give. */
void explain_value(tn_tensor *x, int64_t cell, char *buf, size_t size);

/* "(3, 4)", "(12,)", "()". */
void explain_tuple(const int64_t *numbers, int n, char *buf, size_t size);

/* "stride 1 of dim 0 should be 3 x 4 = 12". */
void explain_pair_text(const explain_pair *pair, char *buf, size_t size);

/* The tensor of another kind than its dtype and shape: whose memory it reads, in words. */
void explain_origin(const explain_expression *it, char *buf, size_t size);

/* The graph that was recorded for the result. False: there is none, or it could not be written, and the error is
 * pending. */
bool explain_write_graph(FILE *stream, const explain_expression *it, tn_graph_format format, bool colour);

void explain_write_text(FILE *stream, const explain_expression *it, const explain_facts *facts, bool colour);
void explain_write_svg(FILE *stream, const explain_expression *it, const explain_facts *facts);
void explain_write_json(FILE *stream, const explain_expression *it, const explain_facts *facts);

#endif
