/* Elements as text: read from memory, the form that those shown together share, and one of them in it. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/print.h"

static int copy(char *buf, const char *text)
{
    size_t length = strlen(text);
    memcpy(buf, text, length + 1);
    return (int)length;
}

static int integer_text(char *buf, bool negative, uint64_t magnitude)
{
    buf[0] = '-';
    return negative + tni_text_unsigned(buf + negative, TNI_ELEMENT_TEXT - 1, magnitude);
}

/* Sign and magnitude: uint64 comes in the bits of an int64. */
static uint64_t split(tn_dtype dtype, int64_t value, bool *negative)
{
    *negative = dtype != TN_UINT64 && value < 0;
    return *negative ? 0 - (uint64_t)value : (uint64_t)value;
}

/* A part of a complex number: Python's repr without ".0". */
static int part_text(char *buf, double value, bool plus)
{
    bool sign = plus && (isnan(value) || !signbit(value));
    buf[0] = '+';
    int length = sign + tni_text_double(buf + sign, TNI_ELEMENT_TEXT / 4, value);
    if (length > 2 && strcmp(buf + length - 2, ".0") == 0)
        length -= 2;
    return length;
}

static int complex_text(char *buf, double re, double im)
{
    int length = 0;
    bool imaginary = re == 0 && !signbit(re);
    if (!imaginary) {
        buf[length++] = '(';
        length += part_text(buf + length, re, false);
    }
    length += part_text(buf + length, im, !imaginary);
    return length + copy(buf + length, imaginary ? "j" : "j)");
}

int tni_number_text(tn_dtype dtype, tn_scalar number, char *buf)
{
    bool negative;
    switch (number.kind) {
    case TN_SCALAR_INT: {
        uint64_t magnitude = split(dtype, number.value.i, &negative);
        return integer_text(buf, negative, magnitude);
    }
    case TN_SCALAR_BOOL:
        return copy(buf, number.value.i ? "True" : "False");
    case TN_SCALAR_FLOAT:
        return tni_text_double(buf, TNI_ELEMENT_TEXT, number.value.f);
    default:
        return complex_text(buf, number.value.c.re, number.value.c.im);
    }
}

void tni_see_float(tni_seen *seen, double value, double zero)
{
    bool negative = signbit(value);
    double magnitude = fabs(value);
    if (!isfinite(value) || magnitude == 0 || magnitude == zero)
        return;
    if (seen->least[negative] == 0 || magnitude < seen->least[negative])
        seen->least[negative] = magnitude;
    if (magnitude > seen->most[negative])
        seen->most[negative] = magnitude;
    seen->fraction = seen->fraction || magnitude != trunc(magnitude);
}

void tni_see_integer(tni_seen *seen, tn_dtype dtype, tn_scalar number)
{
    bool negative;
    uint64_t magnitude = split(dtype, number.value.i, &negative);
    if (number.kind == TN_SCALAR_BOOL)
        seen->has[magnitude != 0] = true;
    if (magnitude > seen->integer[negative])
        seen->integer[negative] = magnitude;
}

static int float_text(const tni_format *format, double value, char *buf)
{
    if (format->scientific)
        return tni_text_scientific(buf, TNI_ELEMENT_TEXT, value, format->precision);
    int length = tni_text_fixed(buf, TNI_ELEMENT_TEXT - 1, value, format->whole ? 0 : format->precision);
    if (format->whole && isfinite(value))
        length += copy(buf + length, ".");
    return length;
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

/* Zeros and what is not finite have no say. Of a sign, the widest is the largest or, by its exponent, the smallest. */
static void decide_float(tni_format *format, const tni_seen *seen, const tn_print_options *options)
{
    char text[TNI_ELEMENT_TEXT];
    double most = fmax(seen->most[0], seen->most[1]);
    double least = most;
    for (int negative = 0; negative < 2; negative++)
        if (seen->least[negative] != 0 && seen->least[negative] < least)
            least = seen->least[negative];
    format->whole = !seen->fraction;
    if (most == 0)
        return;
    if (options->sci_mode == TN_SCI_AUTOMATIC)
        format->scientific = most / least > 1000 || most > 1e8 || least < 1e-4;
    else
        format->scientific = options->sci_mode == TN_SCI_ON;
    for (int negative = 0; negative < 2; negative++) {
        if (seen->most[negative] == 0)
            continue;
        double sign = negative ? -1 : 1;
        format->width = greater(format->width, float_text(format, sign * seen->most[negative], text));
        format->width = greater(format->width, float_text(format, sign * seen->least[negative], text));
    }
}

tni_format tni_format_of(tn_dtype dtype, const tni_seen *seen, const tn_print_options *options)
{
    char text[TNI_ELEMENT_TEXT];
    tni_format format = {.dtype = dtype, .precision = options->precision, .width = 1};
    if (dtype == TN_BOOL) {
        format.width = seen->has[false] ? 5 : seen->has[true] ? 4 : 1;
    } else if (tni_shows_floats(dtype)) {
        decide_float(&format, seen, options);
    } else {
        for (int negative = 0; negative < 2; negative++)
            if (seen->integer[negative] > 0)
                format.width = greater(format.width, integer_text(text, negative, seen->integer[negative]));
    }
    return format;
}

void tni_put_float(tni_out *out, const tni_format *format, double value, bool bare)
{
    char text[TNI_ELEMENT_TEXT];
    int length = float_text(format, value, text);
    if (!bare)
        tni_put_spaces(out, format->width - length);
    tni_put(out, text, (size_t)length);
}

void tni_put_integer(tni_out *out, const tni_format *format, tn_scalar number)
{
    char text[TNI_ELEMENT_TEXT];
    int length = tni_number_text(format->dtype, number, text);
    tni_put_spaces(out, format->width - length);
    tni_put(out, text, (size_t)length);
}
