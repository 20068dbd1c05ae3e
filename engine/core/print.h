/* Text of tensors: where it goes, how elements are shown, and what autograd adds to it.
 *
 * The rules are PyTorch's (torch/_tensor_str.py of 2.15). Showing takes two walks over the elements that are shown: the
 * first finds what decides the form and the width that all share, the second writes. Nothing is allocated. */
#ifndef TNI_CORE_PRINT_H
#define TNI_CORE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/print.h>

#include "core/convert.h"
#include "core/tensor.h"

/* The most that precision may be, since doubles have at most 1074 places; and room for any element then. */
enum { TNI_MOST_PRECISION = 1100, TNI_ELEMENT_TEXT = 1536 };

/* Where text goes. With `write`, buf gathers text before it is called; without, what does not fit is counted alone. */
typedef struct tni_out {
    char *buf;
    size_t size, used;
    size_t whole; /* characters put */
    size_t line;  /* of these, those before the last line */
    tn_text_writer write;
    void *context;
    bool refused; /* write did not return 0: nothing more is to be put */
} tni_out;

/* Into buf, terminated; tni_out_end gives snprintf's result. */
tni_out tni_out_buffer(char *buf, size_t size);
int tni_out_end(tni_out *out);

void tni_put(tni_out *out, const char *text, size_t bytes);
void tni_put_text(tni_out *out, const char *text);
void tni_put_spaces(tni_out *out, int64_t n);
void tni_put_newlines(tni_out *out, int n);
void tni_flush(tni_out *out);

/* An element of dtype as Python shows the number: "0.1", "(1+2j)", "True". buf holds TNI_ELEMENT_TEXT. Returns the
 * length. */
int tni_number_text(tn_dtype dtype, tn_scalar number, char *buf);

/* What the elements have in common that one format shows: all, or the real or the imaginary parts. Indexed by
 * sign: [0] positive, [1] negative. */
typedef struct tni_seen {
    double least[2], most[2]; /* magnitudes of floats that are finite and not 0; 0: there are none */
    uint64_t integer[2];      /* largest magnitude */
    bool fraction;            /* not all are whole */
    bool has[2];              /* of bool: false, true */
} tni_seen;

/* A float of magnitude `zero` counts as 0. */
void tni_see_float(tni_seen *seen, double value, double zero);
void tni_see_integer(tni_seen *seen, tn_dtype dtype, tn_scalar number);

typedef struct tni_format {
    tn_dtype dtype;
    int precision;
    int width; /* a shorter text is filled with spaces on the left */
    bool whole, scientific;
} tni_format;

tni_format tni_format_of(tn_dtype dtype, const tni_seen *seen, const tn_print_options *options);

/* A float, or a part of a complex number, padded unless `bare`; a bool or an integer, padded. */
void tni_put_float(tni_out *out, const tni_format *format, double value, bool bare);
void tni_put_integer(tni_out *out, const tni_format *format, tn_scalar number);

/* Whether elements are floats or pairs of them. */
static inline bool tni_shows_floats(tn_dtype dtype)
{
    return tni_is_float(dtype) || tni_dtype_kind(dtype) == TNI_COMPLEX;
}

/* The whole text of x, "tensor(...)". */
void tni_put_tensor(tni_out *out, const tn_tensor *x);

#endif
