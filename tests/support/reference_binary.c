/* What operators of two operands must give: arithmetic, bits, and the gradients through relu, sigmoid and tanh. Plain
 * definitions in double or int64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"

enum { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, AND, OR, XOR, LEFT, RIGHT, RELU_BACK, SIGMOID_BACK, TANH_BACK, POWER,
       FLOOR_DIVIDE, TRUNC_DIVIDE, REMAINDER, FMOD };

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a < b ? b : a;
}

/* All but float64 compute in float32. */
static double in_lane(double x, tn_dtype dtype)
{
    return dtype == TN_FLOAT64 ? x : (double)(float)x;
}

/* Python's floor division, every step rounded in the dtype of the arithmetic. */
static double floor_ratio(double a, double b, tn_dtype dtype)
{
    if (b == 0)
        return a / b;
    double left = fmod(a, b), ratio = in_lane(in_lane(a - left, dtype) / b, dtype);
    if (left != 0 && (left < 0) != (b < 0))
        ratio = in_lane(ratio - 1, dtype);
    if (ratio == 0)
        return copysign(0, a / b);
    return ratio - floor(ratio) > 0.5 ? floor(ratio) + 1 : floor(ratio);
}

static cell arithmetic_floats(int row, double a, double b, double alpha, tn_dtype dtype, double *bound)
{
    double c = 0;
    *bound = 0;
    switch (row) {
    case ADD:
    case SUB:
        c = row == ADD ? a + alpha * b : a - alpha * b;
        *bound = alpha == 1 ? 0 : tn_finfo(dtype).eps * (fabs(a) + 2 * fabs(alpha * b)) + reference_ulp(0, dtype);
        break;
    case MUL:
        c = a * b;
        break;
    case DIV:
        c = a / b;
        break;
    case RELU_BACK:
        c = b <= 0 ? 0 : a;
        break;
    case SIGMOID_BACK:
        c = a * (1 - b) * b;
        *bound = tn_finfo(dtype).eps * 4 * fabs(a * b) * (1 + fabs(b)) + (2 + fabs(b)) * reference_ulp(0, dtype);
        break;
    case TANH_BACK: /* no result of tanh is larger than 1; the square of another may overflow */
        c = a * (1 - reference_rounded(b * b, dtype).f);
        *bound = isfinite(c) ? tn_finfo(dtype).eps * 4 * fabs(a) * (1 + b * b) + reference_ulp(0, dtype) : 0;
        break;
    case POWER:
        c = alpha != 0 && b == 0.5 ? sqrt(a) : pow(a, b); /* the number 1/2 is a root */
        *bound = isfinite(c) ? 4 * reference_ulp(reference_rounded(c, dtype).f, dtype) : 0;
        break;
    case FMOD:
        c = fmod(a, b);
        break;
    case REMAINDER:
        c = fmod(a, b);
        c = c != 0 && (c < 0) != (b < 0) ? in_lane(c + b, dtype) : c;
        break;
    case TRUNC_DIVIDE:
        c = trunc(in_lane(a / b, dtype));
        break;
    case FLOOR_DIVIDE:
        c = floor_ratio(a, b, dtype);
        break;
    default:
        c = row == MINIMUM ? -larger(-a, -b) : larger(a, b);
    }
    return reference_rounded(c, dtype);
}

/* a^b = (a^(b/2))^2 a^(b%2); a negative power of a whole number is one, minus one or 0. */
static int64_t whole_power(int64_t a, int64_t b)
{
    if (b < 0)
        return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    if (b == 0)
        return 1;
    uint64_t half = (uint64_t)whole_power(a, b / 2);
    return (int64_t)(half * half * (b % 2 ? (uint64_t)a : 1));
}

static cell arithmetic_integers(int row, int64_t a, int64_t b, int64_t alpha)
{
    if (row == POWER)
        return (cell){0, whole_power(a, b)};
    if (row >= FLOOR_DIVIDE) {
        int64_t left = b == -1 ? 0 : a % b, ratio = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
        bool apart = left != 0 && (left < 0) != (b < 0);
        return (cell){0, row == FMOD           ? left
                         : row == REMAINDER    ? left + (apart ? b : 0)
                         : row == TRUNC_DIVIDE ? ratio
                                               : ratio - apart};
    }
    uint64_t x = (uint64_t)a, y = (uint64_t)b, s = (uint64_t)alpha;
    cell c = {0, row == ADD   ? (int64_t)(x + s * y)
                 : row == SUB ? (int64_t)(x - s * y)
                 : row == MUL ? (int64_t)(x * y)
                 : row == AND ? (int64_t)(x & y)
                 : row == OR  ? (int64_t)(x | y)
                 : row == XOR ? (int64_t)(x ^ y)
                 : row == LEFT ? (b < 0 || b > 63 ? 0 : (int64_t)(x << b))
                 : row == RIGHT ? a >> (b < 0 || b > 63 ? 63 : b)
                 : row == MINIMUM ? (a < b ? a : b)
                 : a > b      ? a
                              : b};
    return c;
}

static void arithmetic(const reference_call *call, expectation *e, int row)
{
    grid shape;
    int64_t index[GRID_NDIM];
    tn_dtype dtype = reference_promote(call, 2);
    if (row == DIV && !dtype_is_float(dtype))
        dtype = tn_get_default_dtype();
    reference_broadcast(call, 2, &shape);
    e->grid = grid_new(dtype, shape.sizes, shape.ndim);
    double *bounds = reference_bounds(e);
    const reference_argument *alpha = row == ADD || row == SUB ? reference_given(call, 2) : NULL;
    tn_scalar one = tn_int(1), scale = alpha ? alpha->given->number : one;
    double factor = scale.kind == TN_SCALAR_FLOAT ? scale.value.f : (double)scale.value.i;
    if (row == POWER)
        factor = call->arguments[1].kind == SAMPLE_NUMBER;
    for (int64_t i = 0; i < e->grid.numel; i++) {
        grid_index(&e->grid, i, index);
        cell a = reference_operand(&call->arguments[0], &e->grid, index, dtype);
        cell b = reference_operand(&call->arguments[1], &e->grid, index, dtype);
        cell *c = &e->grid.cells[i];
        if (dtype_is_float(dtype))
            *c = arithmetic_floats(row, a.f, b.f, factor, dtype, &bounds[i]);
        else if (dtype == TN_BOOL) /* alpha is a bool then */
            *c = cell_convert(arithmetic_integers(row, a.i, b.i, scale.value.i != 0), TN_INT64, TN_BOOL);
        else
            *c = cell_convert(arithmetic_integers(row, a.i, b.i, scale.value.i), TN_INT64, dtype);
    }
}

static const struct {
    const char *name;
    int row;
} rows[] = {
    {"add", ADD},
    {"sub", SUB},
    {"mul", MUL},
    {"div", DIV},
    {"maximum", MAXIMUM},
    {"relu_backward", RELU_BACK},
    {"sigmoid_backward", SIGMOID_BACK},
    {"tanh_backward", TANH_BACK},
    {"minimum", MINIMUM},
    {"pow", POWER},
    {"floor_divide", FLOOR_DIVIDE},
    {"trunc_divide", TRUNC_DIVIDE},
    {"remainder", REMAINDER},
    {"fmod", FMOD},
    {"bitwise_and", AND},
    {"bitwise_or", OR},
    {"bitwise_xor", XOR},
    {"bitwise_left_shift", LEFT},
    {"bitwise_right_shift", RIGHT},
};

bool reference_of_binary(const reference_call *call, expectation *e)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, call->name) == 0) {
            arithmetic(call, e, rows[i].row);
            return true;
        }
    return false;
}
