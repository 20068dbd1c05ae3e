/* Metrics: how far two results are apart, and how often a classifier is right. All arithmetic is in float64. */
#include <math.h>
#include <tenon/extend.h>
#include <tenon/ops.h>
#include <tenon/train.h>

#include "shapes.h"

/* The grid of a binary floating-point type: digits of the significand, and exponent of the smallest normal number (as
 * frexp counts). */
typedef struct grid {
    tn_dtype dtype;
    int digits, min_exponent;
} grid;

static const grid grids[] = {
    {TN_FLOAT32, 24, -125},
    {TN_FLOAT64, 53, -1021},
};

static const grid *find_grid(tn_dtype dtype)
{
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (grids[i].dtype == dtype)
            return &grids[i];
    return NULL;
}

/* The unit in the last place of x, which is a value of the grid; infinite for one that is not finite. */
static double ulp_of(double x, const grid *type)
{
    int exponent;
    if (!isfinite(x))
        return INFINITY;
    frexp(x, &exponent);
    if (x == 0.0 || exponent < type->min_exponent)
        exponent = type->min_exponent;
    return ldexp(1.0, exponent - type->digits);
}

/* |a - b|: 0 for equal infinities and for NaN against NaN, infinite for NaN against a number. */
static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0.0;
    return isnan(a) || isnan(b) ? INFINITY : fabs(a - b);
}

static void keep_largest(double value, int64_t i, double *largest, int64_t *index)
{
    if (value > *largest) {
        *largest = value;
        *index = i;
    }
}

static tn_gap measure(const double *a, const double *b, const double *rounded, int64_t n, const grid *type)
{
    tn_gap gap = {0};
    for (int64_t i = 0; i < n; i++) {
        double apart = distance(a[i], b[i]);
        if (apart == 0.0)
            continue;
        gap.different++;
        double ulp = ulp_of(rounded[i], type), rel = isinf(apart) ? INFINITY : apart / fabs(b[i]);
        keep_largest(apart, i, &gap.abs, &gap.index);
        keep_largest(rel, i, &gap.rel, &gap.rel_index);
        keep_largest(isinf(ulp) ? INFINITY : apart / ulp, i, &gap.ulp, &gap.ulp_index);
    }
    return gap;
}

/* x in float64, row-major, in the innermost scope. */
static tn_tensor *as_float64(tn_tensor *x)
{
    return tn_contiguous(tn_to(x, TN_FLOAT64));
}

static tn_status check_pair(tn_tensor *a, tn_tensor *b, const tn_gap *gap)
{
    const char *name = "measure_gap";
    if (tn_error_code())
        return tn_error_code();
    if (!a || !b)
        return TN_FAIL_NULL(name, a ? 2 : 1, a ? "b" : "a");
    if (!gap)
        return TN_FAIL_NULL(name, 3, "gap");
    if (!find_grid(tn_tensor_dtype(a)) || !find_grid(tn_tensor_dtype(b)))
        return TN_FAIL(TN_ERROR_DTYPE, name, "a is %s, b is %s, needed float32 or float64",
                       tn_dtype_name(tn_tensor_dtype(a)), tn_dtype_name(tn_tensor_dtype(b)));
    if (!tni_same_shape(a, b)) {
        char found[2][100];
        tn_format_shape(found[0], sizeof found[0], tn_sizes(a), tn_ndim(a));
        tn_format_shape(found[1], sizeof found[1], tn_sizes(b), tn_ndim(b));
        return TN_FAIL(TN_ERROR_SHAPE, name, "a has shape %s, b has %s, needed the same", found[0], found[1]);
    }
    if (tn_numel(a) == 0)
        return TN_FAIL(TN_ERROR_EMPTY, name, "the tensors have no elements, needed at least one");
    return TN_OK;
}

tn_status tn_measure_gap(tn_tensor *a, tn_tensor *b, tn_gap *gap)
{
    tn_status status = check_pair(a, b, gap);
    if (status)
        return status;
    tn_scope scope = tn_scope_begin();
    tn_tensor *wide_a = as_float64(a), *wide_b = as_float64(b), *rounded = as_float64(tn_to(b, tn_tensor_dtype(a)));
    const double *values_a = tn_data_f64(wide_a), *values_b = tn_data_f64(wide_b), *values = tn_data_f64(rounded);
    status = tn_error_code();
    if (status == TN_OK)
        *gap = measure(values_a, values_b, values, tn_numel(a), find_grid(tn_tensor_dtype(a)));
    else
        tn_error_rename("measure_gap", NULL);
    tn_scope_end(scope);
    return status;
}

static tn_status check_classes(tn_tensor *logits, tn_tensor *classes)
{
    const char *name = "binary_accuracy";
    if (tn_error_code())
        return tn_error_code();
    if (!logits || !classes)
        return TN_FAIL_NULL(name, logits ? 2 : 1, logits ? "classes" : "logits");
    if (!tn_is_floating_point(tn_tensor_dtype(logits)))
        return TN_FAIL(TN_ERROR_DTYPE, name, "logits are %s, needed a floating dtype",
                       tn_dtype_name(tn_tensor_dtype(logits)));
    if (!tni_is_column(logits) || !tni_is_column(classes) || tn_numel(logits) != tn_numel(classes)) {
        char found[2][100];
        tn_format_shape(found[0], sizeof found[0], tn_sizes(logits), tn_ndim(logits));
        tn_format_shape(found[1], sizeof found[1], tn_sizes(classes), tn_ndim(classes));
        return TN_FAIL(TN_ERROR_SHAPE, name, "logits have shape %s, classes %s, needed [n] or [n, 1] for both",
                       found[0], found[1]);
    }
    if (tn_numel(logits) == 0)
        return TN_FAIL(TN_ERROR_EMPTY, name, "there are no samples, needed at least one");
    return TN_OK;
}

double tn_binary_accuracy(tn_tensor *logits, tn_tensor *classes)
{
    if (check_classes(logits, classes))
        return NAN;
    tn_scope scope = tn_scope_begin();
    tn_tensor *wide_z = as_float64(logits), *wide_y = as_float64(classes);
    const double *z = tn_data_f64(wide_z), *y = tn_data_f64(wide_y);
    int64_t n = tn_error_code() ? 0 : tn_numel(wide_z), right = 0;
    for (int64_t i = 0; i < n; i++) {
        if (y[i] != 0.0 && y[i] != 1.0) {
            char text[32];
            tn_format_double(text, sizeof text, y[i]);
            TN_FAIL(TN_ERROR_ARGUMENT, "binary_accuracy", "class %s of a sample, needed 0 or 1", text);
            break;
        }
        right += (z[i] > 0.0) == (y[i] == 1.0);
    }
    double share = tn_error_code() ? NAN : (double)right / (double)n;
    tn_scope_end(scope);
    tn_error_rename("binary_accuracy", NULL);
    return share;
}
