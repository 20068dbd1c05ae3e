/* Whether a tensor is finite: x * 0 is 0 for a finite x and NaN for any other, and a sum keeps a NaN. */
#include <tenon/autograd.h>
#include <tenon/extend.h>
#include <tenon/ops.h>

#include "evaluate.h"

enum { LANES = 16 };

static bool finite_f32(const float *x, int64_t n)
{
    float lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += x[i + j] * 0.0f;
    for (; i < n; i++)
        sum += x[i] * 0.0f;
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum == 0;
}

static bool finite_f64(const double *x, int64_t n)
{
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += x[i + j] * 0.0;
    for (; i < n; i++)
        sum += x[i] * 0.0;
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum == 0;
}

bool tni_is_finite(tn_tensor *x)
{
    const tn_dtype dtype = tn_tensor_dtype(x);
    if (!tn_is_floating_point(dtype) || tn_numel(x) == 0)
        return true;
    if (tn_is_contiguous(x) && dtype == TN_FLOAT32)
        return finite_f32(tn_data_f32(x), tn_numel(x));
    if (tn_is_contiguous(x) && dtype == TN_FLOAT64)
        return finite_f64(tn_data_f64(x), tn_numel(x));
    tn_scope scope = tn_scope_begin();
    tn_grad_mode mode = tn_no_grad();
    tn_tensor *wide = tn_contiguous(tn_to(x, TN_FLOAT64));
    const double *data = tn_data_f64(wide);
    const bool finite = data && finite_f64(data, tn_numel(wide));
    tn_grad_mode_restore(mode);
    tn_scope_end(scope);
    return finite;
}
