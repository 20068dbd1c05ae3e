/* Numbers of an expression as Python reads them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explain_reader.h"

/* The digits of a whole number, of which those of a slice may be too large: *value is then the largest. */
static bool whole_of(reader *r, int begin, bool negative, bool clamp, tn_scalar *value)
{
    uint64_t most = (uint64_t)INT64_MAX + negative, sum = 0;
    bool over = false;
    for (int i = begin; i < r->at; i++) {
        uint64_t digit = (uint64_t)(r->text[i] - '0');
        over = over || sum > (most - digit) / 10;
        sum = sum * 10 + digit;
    }
    if (over && !clamp)
        return reader_found(r, begin, r->at, "a number of at most 63 bits");
    sum = over ? most : sum;
    *value = tn_int(!negative ? (int64_t)sum : sum > INT64_MAX ? INT64_MIN : -(int64_t)sum);
    return true;
}

/* Digits with an unsigned number's point, exponent and j; underscores no. strtod is not asked about hexadecimal
 * numbers, inf and nan. */
static bool read_digits(reader *r, bool negative, bool clamp, tn_scalar *value, const char *needed)
{
    char digits[64], *end;
    int length = 0, begin = r->at, ends;
    bool whole = true;
    for (; r->at < r->end; r->at++) {
        char c = r->text[r->at];
        bool sign = (c == '+' || c == '-') && r->at > begin && strchr("eE", r->text[r->at - 1]);
        if (!isdigit((unsigned char)c) && c != '.' && c != 'e' && c != 'E' && !sign)
            break;
        whole = whole && isdigit((unsigned char)c);
        if (length < (int)sizeof digits - 1)
            digits[length++] = c;
    }
    digits[length] = '\0';
    ends = r->at;
    bool imaginary = ends < r->end && strchr("jJ", r->text[ends]);
    r->at += imaginary;
    bool cut = reader_letter(r, r->at);
    while (reader_letter(r, r->at))
        r->at++;
    double number = strtod(digits, &end);
    if (cut || *end || (!whole && ends - begin > length))
        return reader_found(r, begin, r->at, needed);
    if (whole && !imaginary)
        return whole_of(r, begin, negative, clamp, value);
    number = negative ? -number : number;
    *value = imaginary ? tn_complex(negative ? -0.0 : 0.0, number) : tn_float(number);
    return true;
}

bool reader_term(reader *r, bool clamp, tn_scalar *value, const char *needed)
{
    bool negative = false;
    char c;
    for (; (c = reader_peek(r)) == '-' || c == '+'; r->at++)
        negative = negative != (c == '-');
    int length = reader_word(r), begin = r->at;
    if (reader_is(r, r->at, length, "torch") && r->text[r->at + length] == '.') {
        r->at += length + 1;
        length = reader_word(r);
    }
    bool infinite = reader_is(r, r->at, length, "inf"), not_a_number = reader_is(r, r->at, length, "nan");
    if (infinite || not_a_number) {
        double number = infinite ? INFINITY : NAN;
        *value = tn_float(negative ? -number : number);
        r->at += length;
        return true;
    }
    r->at = begin;
    if (!isdigit((unsigned char)c) && !(c == '.' && isdigit((unsigned char)r->text[r->at + 1])))
        return reader_expected(r, needed);
    return read_digits(r, negative, clamp, value, needed);
}

bool reader_bound(reader *r, int64_t *value, const char *needed)
{
    tn_scalar number;
    reader_peek(r);
    int begin = r->at;
    if (reader_word(r))
        return reader_expected(r, needed);
    if (!reader_term(r, true, &number, needed))
        return false;
    if (number.kind != TN_SCALAR_INT)
        return reader_found(r, begin, r->at, needed);
    *value = number.value.i;
    return true;
}

/* "+2j" after a real number. */
static bool read_imaginary(reader *r, tn_scalar *value)
{
    int begin = r->at, at;
    char c = reader_peek(r);
    if (c != '+' && c != '-')
        return true;
    for (at = r->at + 1; at < r->end && (isalnum((unsigned char)r->text[at]) || strchr(" .", r->text[at]) ||
                                         (strchr("+-", r->text[at]) && strchr("eE", r->text[at - 1])));)
        at++;
    while (r->text[at - 1] == ' ')
        at--;
    if (!strchr("jJ", r->text[at - 1])) {
        r->at = begin;
        return true;
    }
    tn_scalar part;
    if (!reader_term(r, false, &part, "an imaginary number, such as 2j"))
        return false;
    double re = value->kind == TN_SCALAR_FLOAT ? value->value.f : (double)value->value.i;
    if (part.kind == TN_SCALAR_COMPLEX)
        *value = tn_complex(re, part.value.c.im);
    return true;
}

bool reader_number(reader *r, tn_scalar *value, const char *needed)
{
    int length = reader_word(r);
    bool yes = reader_is(r, r->at, length, "True"), no = reader_is(r, r->at, length, "False");
    if (yes || no) {
        *value = tn_bool(yes);
        r->at += length;
        return true;
    }
    return reader_term(r, false, value, needed) && (value->kind == TN_SCALAR_COMPLEX || read_imaginary(r, value));
}

bool reader_is_number(reader *r)
{
    char c = reader_peek(r);
    int length = reader_word(r), at = r->at;
    if (reader_is(r, at, length, "torch") && r->text[at + length] == '.') {
        at += length + 1;
        for (length = 0; reader_letter(r, at + length);)
            length++;
    }
    return isdigit((unsigned char)c) || strchr("+-", c) || c == '.' || reader_is(r, at, length, "inf") ||
           reader_is(r, at, length, "nan") || reader_is(r, at, length, "True") || reader_is(r, at, length, "False");
}
