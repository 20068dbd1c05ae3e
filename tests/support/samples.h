/* The notation of tni_op.samples: arguments for the tests, in the order of the operator's params.
 *
 *     "[3,4] [4] -3 | [] 2.5 | (2,3) none float64 | ! [3] [4]"
 *
 * Samples are separated by '|'. One that begins with '!' must fail. Tokens:
 *     [3,4]     a tensor of that shape, [] a 0-dim one      (2,-1)       a list of integers, () an empty one
 *     2, -3     an integer                                  2.5, 1e3, inf, nan    a float
 *     true      a bool                                      none         an optional argument left off
 *     float64   a dtype's name
 *     <2,3:4>   an int64 tensor of shape [2,3] of numbers 0 .. 3; <2,3:-4> of numbers -4 .. 3
 *     @<3:4>;_  a list of such tensors, _ for none; @[3];[2] of tensors of numbers
 *     {1,:,::2,...,^}   an index: integers, slices start:stop:step, an ellipsis, ^ a new dim
 * Trailing optional arguments may be absent. */
#ifndef TENON_TESTS_SUPPORT_SAMPLES_H
#define TENON_TESTS_SUPPORT_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/dtype.h>
#include <tenon/views.h>

enum { SAMPLE_ARGUMENTS = 14, SAMPLE_NUMBERS = 8, SAMPLE_LIST = 4 };

typedef enum sample_kind {
    SAMPLE_NONE,
    SAMPLE_TENSOR,
    SAMPLE_INTS,
    SAMPLE_NUMBER,
    SAMPLE_DTYPE,
    SAMPLE_INDEX,
    SAMPLE_LIST_OF
} sample_kind;

/* Shape and range of a tensor of positions; range 0: of numbers, or none. */
typedef struct sample_positions {
    int n;
    int64_t sizes[SAMPLE_NUMBERS], range;
    bool numbers;
} sample_positions;

typedef struct sample_argument {
    sample_kind kind;
    int n;         /* numbers of a shape or list */
    int64_t range; /* of a tensor of positions; 0: of numbers */
    int64_t numbers[SAMPLE_NUMBERS];
    sample_positions list[SAMPLE_LIST]; /* n of them */
    tn_index index[SAMPLE_NUMBERS]; /* n of them */
    tn_scalar number;
    tn_dtype dtype;
} sample_argument;

typedef struct sample {
    bool fails;
    int n;
    sample_argument arguments[SAMPLE_ARGUMENTS];
    char text[160]; /* as it was written, for messages */
} sample;

/* Reads the sample at *text and moves on behind it; false at the end. Fails the test at a token that is none. */
bool sample_next(const char **text, sample *s);

#endif
