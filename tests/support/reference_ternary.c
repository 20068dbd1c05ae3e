/* What addcmul, addcdiv and lerp must give: plain definitions in double or int64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"

enum { ADDCMUL, ADDCDIV, LERP };

/* The dtype of the arithmetic: all but float64 compute in float32, where overflow comes early. */
static double in_lane(double x, tn_dtype dtype)
{
    return dtype == TN_FLOAT64 ? x : (double)(float)x;
}

static double formula(int row, double x, double a, double b, double value, tn_dtype dtype, double *bound)
{
    const double scaled = in_lane(value * a, dtype);
    const double added = in_lane(row == ADDCMUL ? scaled * b : scaled / b, dtype);
    const double apart = in_lane(row == LERP ? a - x : 0, dtype);
    const double c = row != LERP      ? x + added
                     : fabs(b) < 0.5 ? x + in_lane(b * apart, dtype)
                                      : a - in_lane(apart * in_lane(1 - b, dtype), dtype);
    const double sizes = row == LERP ? (1 + fabs(b)) * (fabs(x) + fabs(a)) : fabs(x) + 2 * fabs(added);
    *bound = isfinite(c) ? 4 * tn_finfo(dtype).eps * sizes + reference_ulp(0, dtype) : 0;
    return c;
}

static void ternary(const reference_call *call, expectation *e, int row)
{
    grid shape;
    int64_t index[GRID_NDIM];
    const tn_dtype dtype = row == LERP ? call->arguments[0].grid.dtype : reference_promote(call, 3);
    const reference_argument *value = row == LERP ? NULL : reference_given(call, 3);
    const int64_t factor = value ? value->given->number.value.i : 1; /* the samples have whole ones */
    reference_broadcast(call, 3, &shape);
    e->grid = grid_new(dtype, shape.sizes, shape.ndim);
    double *bounds = reference_bounds(e);
    for (int64_t i = 0; i < e->grid.numel; i++) {
        cell c[3];
        grid_index(&e->grid, i, index);
        for (int k = 0; k < 3; k++)
            c[k] = reference_operand(&call->arguments[k], &e->grid, index, dtype);
        if (dtype_is_float(dtype))
            e->grid.cells[i] = reference_rounded(
                formula(row, c[0].f, c[1].f, c[2].f, (double)factor, dtype, &bounds[i]), dtype);
        else
            e->grid.cells[i] = cell_convert(
                (cell){0, (int64_t)((uint64_t)c[0].i + (uint64_t)factor * (uint64_t)c[1].i * (uint64_t)c[2].i)},
                TN_INT64, dtype);
    }
}

bool reference_of_ternary(const reference_call *call, expectation *e)
{
    static const char *const names[] = {[ADDCMUL] = "addcmul", [ADDCDIV] = "addcdiv", [LERP] = "lerp"};
    for (int row = 0; row <= LERP; row++)
        if (strcmp(names[row], call->name) == 0) {
            ternary(call, e, row);
            return true;
        }
    return false;
}
