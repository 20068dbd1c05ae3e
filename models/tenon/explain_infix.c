/* The operators + - * / @ and the sign, with Python's precedence, between tensors and numbers. Two numbers are computed
 * here; everything else is a call of the operator's function. */
#include <string.h>

#include "explain_reader.h"

/* "2 *" and "-x" are parts of something that is computed; "2" and "1+2j" are not. */
bool reader_number_alone(reader *r)
{
    reader ahead = *r;
    explain_trouble why;
    tn_scalar number;
    ahead.why = &why;
    while (reader_accept(&ahead, '-') || reader_accept(&ahead, '+'))
        ;
    if (reader_word(&ahead) && !reader_is_number(&ahead))
        return false;
    ahead.at = r->at;
    if (!reader_number(&ahead, &number, "a number"))
        return true; /* and is refused as one */
    char next = reader_peek(&ahead);
    return !next || !strchr("+-*/@", next);
}

static double real_of(tn_scalar number)
{
    return number.kind == TN_SCALAR_FLOAT ? number.value.f : (double)number.value.i;
}

/* Whole numbers stay whole where they fit; division gives a float, as in Python. */
static bool compute(reader *r, char sign, operand *a, tn_scalar b, int begin)
{
    int64_t whole = 0;
    if (a->number.kind == TN_SCALAR_COMPLEX || b.kind == TN_SCALAR_COMPLEX || sign == '@')
        return reader_found(r, begin, r->at, "a tensor on one side");
    double x = real_of(a->number), y = real_of(b);
    if (sign == '/' && y == 0)
        return reader_found(r, begin, r->at, "a divisor that is not 0");
    bool floats = a->number.kind == TN_SCALAR_FLOAT || b.kind == TN_SCALAR_FLOAT || sign == '/';
    bool over = !floats && (sign == '+'   ? __builtin_add_overflow(a->number.value.i, b.value.i, &whole)
                            : sign == '-' ? __builtin_sub_overflow(a->number.value.i, b.value.i, &whole)
                                          : __builtin_mul_overflow(a->number.value.i, b.value.i, &whole));
    if (over)
        return reader_found(r, begin, r->at, "a number of at most 63 bits");
    a->number = floats ? tn_float(sign == '+' ? x + y : sign == '-' ? x - y : sign == '*' ? x * y : x / y)
                       : tn_int(whole);
    return true;
}

static tn_value value_of(const reader *r, const operand *from)
{
    tn_value value = {.kind = from->is_number ? TN_VALUE_SCALAR : TN_VALUE_TENSOR};
    if (from->is_number)
        value.as.scalar = from->number;
    else
        value.as.tensor = r->it->step[from->step].result;
    return value;
}

/* *a becomes the result. */
static bool apply(reader *r, char sign, operand *a, const operand *b, int begin)
{
    static const struct {
        char sign;
        const char *function;
    } functions[] = {{'+', "add"}, {'-', "sub"}, {'*', "mul"}, {'/', "div"}, {'@', "matmul"}};
    if (a->is_number && b->is_number)
        return compute(r, sign, a, b->number, begin);
    const tn_value values[] = {value_of(r, a), value_of(r, b)};
    int self = a->is_number ? b->step : a->step, i = 0;
    while (functions[i].sign != sign)
        i++;
    tn_tensor *result = tn_call(functions[i].function, values, 2);
    if (!result)
        return reader_refused(r, begin, r->at, false);
    a->is_number = false;
    return reader_step(r, begin, self, result, &a->step);
}

static bool negate(reader *r, operand *a, int begin)
{
    const operand none = {.is_number = true, .number = tn_int(0)};
    if (a->is_number && a->number.kind == TN_SCALAR_COMPLEX) {
        a->number = tn_complex(-a->number.value.c.re, -a->number.value.c.im);
        return true;
    }
    if (a->is_number && a->number.kind == TN_SCALAR_FLOAT) {
        a->number.value.f = -a->number.value.f;
        return true;
    }
    if (a->is_number) {
        const tn_scalar number = a->number;
        *a = none;
        return compute(r, '-', a, number, begin);
    }
    const tn_value value = value_of(r, a);
    tn_tensor *result = tn_call("neg", &value, 1);
    return result ? reader_step(r, begin, a->step, result, &a->step) : reader_refused(r, begin, r->at, false);
}

static bool read_signed(reader *r, operand *value)
{
    int begin = (reader_peek(r), r->at);
    bool negative = false, any = false;
    for (char c; (c = reader_peek(r)) == '-' || c == '+'; r->at++) {
        negative = negative != (c == '-');
        any = true;
    }
    if (!reader_primary(r, value))
        return false;
    return !any || !negative || negate(r, value, begin);
}

/* Operands with the signs of one level between them. */
static bool read_level(reader *r, const char *signs, bool (*read)(reader *r, operand *value), operand *value)
{
    int begin = (reader_peek(r), r->at);
    if (!read(r, value))
        return false;
    for (char sign; (sign = reader_peek(r)) && strchr(signs, sign);) {
        operand right;
        r->at++;
        if (!read(r, &right) || !apply(r, sign, value, &right, begin))
            return false;
    }
    return true;
}

static bool read_product(reader *r, operand *value)
{
    return read_level(r, "*/@", read_signed, value);
}

bool reader_operand(reader *r, operand *value)
{
    return read_level(r, "+-", read_product, value);
}

bool reader_expression(reader *r, int *step)
{
    operand value;
    int begin = (reader_peek(r), r->at);
    if (!reader_operand(r, &value))
        return false;
    if (value.is_number)
        return reader_found(r, begin, r->at, "a tensor, such as arange(12)");
    *step = value.step;
    return true;
}
