/* Decimal text to binary, rounded correctly, in three ways that agree where they overlap:
 *
 *     exact   up to 2^53 (2^24) times or over 10^0 ... 10^22 (10^10): one rounding of exact operands
 *     double  up to 19 digits: a quotient or product in two doubles, when its error cannot reach the point of rounding
 *     long    any digits: a number in base 10^9, whole and fraction, shifted until its whole part has the bits
 *
 * Source: Clinger 1990, "How to read floating point numbers accurately", for the first. */
#include "decimal.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { WHOLE = 40, FRACTION = 208, LIMBS = WHOLE + FRACTION, DIGITS = 800, BASE = 1000000000, SHIFT = 29 };

/* Digits d_0 d_1 ... and the power of ten of the last one. Zeros at both ends are left out. */
typedef struct number {
    char digits[DIGITS];
    int count;
    bool more;         /* nonzero digits follow that are left out */
    int64_t exponent;  /* value = digits * 10^exponent */
    uint64_t mantissa; /* the digits, if there are at most 19 */
} number;

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_word(const char *text, size_t length, const char *word)
{
    if (length != strlen(word))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((text[i] | 32) != word[i])
            return false;
    return true;
}

/* Takes one digit: zeros wait until another digit shows that they are not the last ones. */
static void take_digit(number *n, char digit, int64_t *zeros)
{
    if (digit == '0') {
        *zeros += n->count > 0;
        return;
    }
    for (; *zeros > 0 && n->count < DIGITS; --*zeros)
        n->digits[n->count++] = 0;
    n->exponent += *zeros;
    *zeros = 0;
    if (n->count < DIGITS) {
        n->digits[n->count++] = (char)(digit - '0');
    } else {
        n->more = true;
        n->exponent++;
    }
}

/* The digits with at most one point; returns where they end, or 0 if there is none. */
static size_t read_digits(const char *text, size_t length, number *n)
{
    int64_t zeros = 0, behind = 0;
    bool any = false, point = false;
    size_t i = 0;
    for (; i < length; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9')
            break;
        any = true;
        behind += point;
        take_digit(n, text[i], &zeros);
    }
    n->exponent += zeros - behind;
    return any ? i : 0;
}

/* What stands behind the e, cut at a million. */
static bool read_exponent(const char *text, size_t length, int64_t *exponent)
{
    bool minus = length > 0 && text[0] == '-';
    size_t i = length > 0 && (text[0] == '-' || text[0] == '+');
    int64_t value = 0;
    if (i == length)
        return false;
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value < 100000000 ? value * 10 + (text[i] - '0') : value;
    }
    *exponent = minus ? -value : value;
    return true;
}

static bool exactly(const number *n, bool single, double *value)
{
    int64_t e = n->exponent, most = single ? 10 : 22;
    if (n->mantissa > (single ? UINT64_C(1) << 24 : UINT64_C(1) << 53) || e > most || e < -most)
        return false;
    if (single) {
        float m = (float)n->mantissa, power = (float)powers[e < 0 ? -e : e];
        *value = (double)(e < 0 ? m / power : m * power);
    } else {
        *value = e < 0 ? (double)n->mantissa / powers[-e] : (double)n->mantissa * powers[e];
    }
    return true;
}

/* high + low is the value to a relative 2^-100, say; true if every number that near rounds alike. */
static bool in_two_doubles(const number *n, bool single, double *value)
{
    if (n->exponent < -22 || n->exponent > 22)
        return false;
    double m = (double)(n->mantissa >> 11) * 2048.0, rest = (double)(n->mantissa & 2047), high, low;
    if (n->exponent < 0) {
        double power = powers[-n->exponent];
        high = m / power;
        low = (fma(-high, power, m) + rest) / power;
    } else {
        double power = powers[n->exponent];
        high = m * power;
        low = fma(m, power, -high) + rest * power;
    }
    double sum = high + low, left = low - (sum - high), slack = sum * 0x1p-98;
    if (!single) {
        *value = sum;
        return sum + (left - slack) == sum && sum + (left + slack) == sum;
    }
    /* below the halfway point between two floats, above it, or too near to say */
    float near = (float)sum;
    double half = 0.5 * ((double)nextafterf(near, INFINITY) - (double)near), off = sum - (double)near;
    *value = (double)near;
    return near < 0x1.fffffep+126f && near > 0x1p-120f && fabs(fabs(off) - half) > fabs(left) + slack &&
           fabs(off) < 0.9 * half;
}

/* limbs[0 .. WHOLE) is the whole part, highest first, the others the fraction. */
typedef struct long_number {
    uint32_t limbs[LIMBS];
    int first, last; /* the limbs from first to before last may be other than 0 */
} long_number;

static void place_digits(long_number *x, const number *n)
{
    memset(x, 0, sizeof *x);
    int64_t position = n->exponent + n->count; /* of the first digit: that of 10^(position - 1) */
    static const uint32_t tens[] = {100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
    x->first = LIMBS;
    for (int i = 0; i < n->count; i++) {
        int64_t at = (int64_t)WHOLE * 9 - position + i; /* digits from the left end */
        int limb = (int)(at / 9);
        x->limbs[limb] += (uint32_t)n->digits[i] * tens[at % 9];
        x->first = limb < x->first ? limb : x->first;
        x->last = limb + 1;
    }
}

/* x / 2^bits; the limbs have room for all digits. */
static void shift_right(long_number *x, int bits)
{
    uint64_t carry = 0;
    for (int i = x->first; i < x->last || (carry && i < LIMBS); i++) {
        uint64_t limb = carry * BASE + x->limbs[i];
        x->limbs[i] = (uint32_t)(limb >> bits);
        carry = limb & ((UINT64_C(1) << bits) - 1);
        x->last = i + 1 > x->last ? i + 1 : x->last;
    }
    while (x->first < x->last && x->limbs[x->first] == 0)
        x->first++;
}

static void shift_left(long_number *x, int bits)
{
    uint64_t carry = 0;
    for (int i = x->last - 1; i >= x->first || (carry && i >= 0); i--) {
        uint64_t limb = ((uint64_t)x->limbs[i] << bits) + carry;
        x->limbs[i] = (uint32_t)(limb % BASE);
        carry = limb / BASE;
        x->first = i < x->first ? i : x->first;
    }
}

/* The whole part, if it is below 2^62; else 2^62. */
static uint64_t whole_part(const long_number *x)
{
    if (x->first < WHOLE - 3)
        return UINT64_C(1) << 62;
    uint64_t top = x->limbs[WHOLE - 3], rest = (uint64_t)x->limbs[WHOLE - 2] * BASE + x->limbs[WHOLE - 1];
    uint64_t whole = top * UINT64_C(1000000000000000000) + rest;
    return top > 4 || whole >> 62 ? UINT64_C(1) << 62 : whole;
}

static int bits_of(uint64_t m)
{
    return m ? 64 - __builtin_clzll(m) : 0;
}

static double in_long(const number *n, bool single)
{
    long_number x;
    int exponent = 0, precision = single ? 24 : 53, smallest = single ? -149 : -1074;
    place_digits(&x, n);
    for (; whole_part(&x) >> 62; exponent += SHIFT)
        shift_right(&x, SHIFT);
    uint64_t whole;
    while (bits_of(whole = whole_part(&x)) < 55) {
        int bits = bits_of(whole) < 55 - SHIFT ? SHIFT : 55 - bits_of(whole);
        shift_left(&x, bits);
        exponent -= bits;
    }
    bool sticky = n->more;
    for (int i = WHOLE; i < x.last && !sticky; i++)
        sticky = x.limbs[i] != 0;
    int drop = bits_of(whole) - precision;
    drop = drop < smallest - exponent ? smallest - exponent : drop;
    if (drop > 63)
        return 0.0;
    uint64_t half = UINT64_C(1) << (drop - 1), rest = whole & (2 * half - 1);
    whole = drop == 63 ? whole >> 62 >> 1 : whole >> drop;
    whole += rest > half || (rest == half && (sticky || whole & 1));
    return ldexp((double)whole, exponent + drop);
}

tni_decimal_outcome tni_decimal(const char *text, size_t length, bool single, double *value)
{
    number n;
    bool minus = length > 0 && text[0] == '-';
    if (minus || (length > 0 && text[0] == '+')) {
        text++;
        length--;
    }
    if (is_word(text, length, "nan") || is_word(text, length, "inf") || is_word(text, length, "infinity")) {
        *value = (text[0] | 32) == 'n' ? NAN : INFINITY;
        *value = minus ? -*value : *value;
        return TNI_DECIMAL_OK;
    }
    n.count = 0;
    n.exponent = 0;
    n.more = false;
    int64_t exponent = 0;
    size_t end = read_digits(text, length, &n);
    if (end == 0 ||
        (end < length && ((text[end] | 32) != 'e' || !read_exponent(text + end + 1, length - end - 1, &exponent))))
        return TNI_DECIMAL_NONE;
    n.exponent += exponent;
    int64_t position = n.exponent + n.count;
    if (n.count == 0 || position < -400) {
        *value = minus ? -0.0 : 0.0;
        return TNI_DECIMAL_OK;
    }
    if (position > 310)
        return TNI_DECIMAL_TOO_LARGE;
    n.mantissa = 0;
    for (int i = 0; i < n.count && n.count <= 19; i++)
        n.mantissa = n.mantissa * 10 + (uint64_t)n.digits[i];
    bool brief = n.count <= 19 && !n.more;
    if (!brief || (!exactly(&n, single, value) && !in_two_doubles(&n, single, value)))
        *value = in_long(&n, single);
    if (*value > (single ? 0x1.fffffep+127 : 0x1.fffffffffffffp+1023))
        return TNI_DECIMAL_TOO_LARGE;
    *value = minus ? -*value : *value;
    return TNI_DECIMAL_OK;
}
