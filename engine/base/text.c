/* Numbers as text, by exact decimal arithmetic.
 *
 * A finite double is m 2^e. For e >= 0 that is a whole number; for e < 0 it is the whole number m 5^-e, read with the
 * point moved -e places. Either way all its digits (767 at most) are found in base 10^9, and rounding is a matter of
 * looking at them. The fewest digits that read back are those of the shortest decimal between the midpoints to the
 * neighbouring floats, as in Steele and White, "How to print floating-point numbers accurately" (PLDI 1990). */
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum {
    WORDS = 88, /* of nine digits: (2^56) 5^1076 < 10^770 */
    MOST_DIGITS = WORDS * 9,
    DOUBLE_DIGITS = 17, /* always read back */
    EXPONENT_FROM = 16, /* Python's repr has exponents from 1e16 on */
    EXPONENT_BELOW = -4,
};

/* 0.d1 d2 d3 ... times 10^point; digits beyond `count` are zeros, no digits are the number zero. */
typedef struct decimal {
    int count, point;
    char digits[MOST_DIGITS];
} decimal;

/* A positive number mantissa 2^exponent, and whether the float below is only half as far as the one above. */
typedef struct binary {
    uint64_t mantissa;
    int exponent;
    bool power_of_two;
} binary;

/* `used` characters stand in buf, of the `whole` that were put. */
typedef struct sink {
    char *buf;
    size_t size, used, whole;
} sink;

static void put(sink *out, char c)
{
    if (out->used + 1 < out->size)
        out->buf[out->used++] = c;
    out->whole++;
}

static void put_text(sink *out, const char *text)
{
    while (*text)
        put(out, *text++);
}

static int finish(sink *out)
{
    if (out->size > 0)
        out->buf[out->used] = '\0';
    return out->whole < INT_MAX ? (int)out->whole : INT_MAX;
}

static void multiply(uint32_t *words, int *count, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < *count; i++) {
        carry += (uint64_t)words[i] * factor;
        words[i] = (uint32_t)(carry % 1000000000u);
        carry /= 1000000000u;
    }
    for (; carry; carry /= 1000000000u)
        words[(*count)++] = (uint32_t)(carry % 1000000000u);
}

/* mantissa 2^exponent, all digits of it; mantissa < 2^56, nonzero. */
static void expand(decimal *d, uint64_t mantissa, int exponent)
{
    enum { FIVE_12 = 244140625 };
    uint32_t words[WORDS];
    int count = 0, zeros = __builtin_ctzll(mantissa);
    if (exponent < 0 && zeros > 0) {
        int shift = zeros < -exponent ? zeros : -exponent;
        mantissa >>= shift;
        exponent += shift;
    }
    for (; mantissa; mantissa /= 1000000000u)
        words[count++] = (uint32_t)(mantissa % 1000000000u);
    for (int left = exponent; left > 0; left -= 29)
        multiply(words, &count, (uint32_t)1 << (left < 29 ? left : 29));
    int fives = exponent < 0 ? -exponent : 0;
    for (; fives >= 12; fives -= 12)
        multiply(words, &count, FIVE_12);
    for (; fives > 0; fives--)
        multiply(words, &count, 5);

    char all[MOST_DIGITS];
    for (int i = 0; i < count; i++)
        for (int k = 9; k-- > 0; words[count - 1 - i] /= 10)
            all[9 * i + k] = (char)('0' + words[count - 1 - i] % 10);
    int first = 0, end = 9 * count;
    while (all[first] == '0')
        first++;
    d->point = end - first + (exponent < 0 ? exponent : 0);
    while (all[end - 1] == '0')
        end--;
    d->count = end - first;
    memcpy(d->digits, all + first, (size_t)d->count);
}

/* Adds one to the last digit kept; digits must have been cut to `count`. */
static void increment(decimal *d)
{
    while (d->count > 0 && d->digits[d->count - 1] == '9')
        d->count--;
    if (d->count > 0) {
        d->digits[d->count - 1]++;
        return;
    }
    d->digits[d->count++] = '1';
    d->point++;
}

/* To `keep` digits, ties to even; keep may be negative or more than there are. */
static void round_to(decimal *d, int keep)
{
    if (keep >= d->count)
        return;
    if (keep < 0) {
        d->count = 0;
        return;
    }
    bool odd = keep > 0 && (d->digits[keep - 1] - '0') % 2 != 0, more = d->count > keep + 1;
    char next = d->digits[keep];
    d->count = keep;
    if (next > '5' || (next == '5' && (more || odd)))
        increment(d);
    while (d->count > 0 && d->digits[d->count - 1] == '0')
        d->count--;
}

static int compare(const decimal *a, const decimal *b)
{
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    int common = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->digits, b->digits, (size_t)common);
    if (order != 0 || a->count == b->count)
        return order;
    const decimal *longer = a->count > b->count ? a : b;
    for (int i = common; i < longer->count; i++)
        if (longer->digits[i] != '0')
            return longer == a ? 1 : -1;
    return 0;
}

static void cut(decimal *to, const decimal *from, int count)
{
    to->count = count;
    to->point = from->point;
    memcpy(to->digits, from->digits, (size_t)count);
}

/* The fewest digits strictly between the midpoints, or on one when the mantissa is even, since ties read as even. Near
 * a power of two the nearest decimal of some length may miss the narrow side while the next one up hits the wide one.
 */
static void shortest(decimal *found, binary b)
{
    decimal exact, low, high, up;
    int even = b.mantissa % 2 == 0;
    expand(&exact, b.mantissa, b.exponent);
    expand(&high, 2 * b.mantissa + 1, b.exponent - 1);
    if (b.power_of_two)
        expand(&low, 4 * b.mantissa - 1, b.exponent - 2);
    else
        expand(&low, 2 * b.mantissa - 1, b.exponent - 1);
    for (int keep = 1; keep < exact.count && keep <= DOUBLE_DIGITS; keep++) {
        cut(found, &exact, keep);
        cut(&up, &exact, keep);
        increment(&up);
        bool down_reads = compare(&low, found) < even, up_reads = compare(&up, &high) < even;
        if (!down_reads && !up_reads)
            continue;
        if (down_reads && up_reads) {
            cut(found, &exact, exact.count);
            round_to(found, keep);
        } else if (up_reads) {
            cut(found, &up, up.count);
        }
        return;
    }
    cut(found, &exact, exact.count);
}

static binary split_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
    int biased = (int)(bits >> 52 & 0x7ff);
    if (biased == 0)
        return (binary){fraction, -1074, false};
    return (binary){fraction | (uint64_t)1 << 52, biased - 1075, fraction == 0 && biased > 1};
}

/* Writes the sign and what has no digits; true when that was all. */
static bool put_special(sink *out, double value)
{
    if (__builtin_isnan(value)) {
        put_text(out, "nan");
        return true;
    }
    if (__builtin_signbit(value))
        put(out, '-');
    if (__builtin_isinf(value)) {
        put_text(out, "inf");
        return true;
    }
    return false;
}

static char digit(const decimal *d, int i)
{
    return i >= 0 && i < d->count ? d->digits[i] : '0';
}

/* Puts the digits first .. first + places - 1; those that do not fit are counted alone, as the caller may ask for
 * billions. */
static void put_digits(sink *out, const decimal *d, int first, int places)
{
    int fitting = (size_t)places < out->size ? places : (int)out->size;
    for (int i = 0; i < fitting; i++)
        put(out, digit(d, first + i));
    out->whole += (size_t)(places - fitting);
}

static void put_fixed(sink *out, const decimal *d, int places)
{
    int point = d->count > 0 ? d->point : 0;
    if (point <= 0)
        put(out, '0');
    for (int i = 0; i < point; i++)
        put(out, digit(d, i));
    if (places > 0)
        put(out, '.');
    put_digits(out, d, point, places);
}

static void put_scientific(sink *out, const decimal *d, int places)
{
    int exponent = d->count > 0 ? d->point - 1 : 0, size = exponent < 0 ? -exponent : exponent;
    put(out, digit(d, 0));
    if (places > 0)
        put(out, '.');
    put_digits(out, d, 1, places);
    put(out, 'e');
    put(out, exponent < 0 ? '-' : '+');
    if (size >= 100)
        put(out, (char)('0' + size / 100));
    put(out, (char)('0' + size / 10 % 10));
    put(out, (char)('0' + size % 10));
}

static binary split_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t fraction = bits & (((uint32_t)1 << 23) - 1);
    int biased = (int)(bits >> 23 & 0xff);
    if (biased == 0)
        return (binary){fraction, -149, false};
    return (binary){fraction | (uint32_t)1 << 23, biased - 150, fraction == 0 && biased > 1};
}

/* The number that b is, whose sign, or being none, is value's. */
static int put_shortest(char *buf, size_t size, double value, binary b)
{
    sink out = {.buf = buf, .size = size};
    decimal d = {.count = 0, .point = 1};
    if (put_special(&out, value))
        return finish(&out);
    if (b.mantissa != 0)
        shortest(&d, b);
    int places = d.count > d.point ? d.count - d.point : 1;
    if (d.point - 1 < EXPONENT_BELOW || d.point - 1 >= EXPONENT_FROM) /* Python's choice between the two forms */
        put_scientific(&out, &d, d.count - 1);
    else
        put_fixed(&out, &d, places);
    return finish(&out);
}

int tni_text_double(char *buf, size_t size, double value)
{
    return put_shortest(buf, size, value, split_double(value));
}

int tni_text_float(char *buf, size_t size, float value)
{
    return put_shortest(buf, size, (double)value, split_float(value));
}

static void expand_double(decimal *d, double value)
{
    binary b = split_double(value);
    d->count = 0;
    d->point = 1;
    if (b.mantissa != 0)
        expand(d, b.mantissa, b.exponent);
}

int tni_text_fixed(char *buf, size_t size, double value, int digits)
{
    sink out = {.buf = buf, .size = size};
    decimal d;
    if (put_special(&out, value))
        return finish(&out);
    expand_double(&d, value);
    digits = digits > 0 ? digits : 0;
    round_to(&d, digits < MOST_DIGITS * 2 ? d.point + digits : d.count);
    put_fixed(&out, &d, digits);
    return finish(&out);
}

int tni_text_scientific(char *buf, size_t size, double value, int digits)
{
    sink out = {.buf = buf, .size = size};
    decimal d;
    if (put_special(&out, value))
        return finish(&out);
    expand_double(&d, value);
    digits = digits > 0 ? digits : 0;
    round_to(&d, digits < MOST_DIGITS ? 1 + digits : d.count);
    put_scientific(&out, &d, digits);
    return finish(&out);
}

static size_t integer_text(char text[24], uint64_t magnitude, bool negative)
{
    char reversed[24];
    size_t used = 0, length = 0;
    do
        reversed[used++] = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) > 0);
    if (negative)
        text[length++] = '-';
    while (used > 0)
        text[length++] = reversed[--used];
    text[length] = '\0';
    return length;
}

static size_t size_text(char text[24], int64_t value)
{
    return integer_text(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

int tni_text_unsigned(char *buf, size_t size, uint64_t value)
{
    sink out = {.buf = buf, .size = size};
    char text[24];
    integer_text(text, value, false);
    put_text(&out, text);
    return finish(&out);
}

int tni_text_shape(char *buf, size_t size, const int64_t *sizes, int ndim)
{
    sink out = {.buf = buf, .size = size};
    char text[24];
    size_t whole = strlen("[]");
    for (int i = 0; i < ndim; i++)
        whole += size_text(text, sizes[i]) + (i > 0 ? 2 : 0);
    put(&out, '[');
    for (int i = 0; i < ndim; i++) {
        size_t length = size_text(text, sizes[i]) + (i > 0 ? 2 : 0);
        if (whole >= size && out.used + length + sizeof ", ...]" > size) {
            put_text(&out, i > 0 ? ", ..." : "...");
            break;
        }
        if (i > 0)
            put_text(&out, ", ");
        put_text(&out, text);
    }
    put(&out, ']');
    out.whole = whole;
    return finish(&out);
}
