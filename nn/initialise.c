/* Initialisers of single tensors: torch.nn.init's, by PyTorch's random stream, so that a generator with PyTorch's seed
 * gives PyTorch's values.
 *
 *     gain           1, or by the nonlinearity that follows: tn_gain
 *     xavier         std = gain sqrt(2 / (fan_in + fan_out))
 *     kaiming        std = gain / sqrt(fan_in or fan_out)
 *     uniform        within sqrt(3) std
 *     trunc_normal   normal between two bounds, by drawing again what falls outside
 *
 * Glorot and Bengio 2010; He et al. 2015, arXiv:1502.01852. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tenon/autograd.h>

#include "module.h"

/* A tensor that values can be drawn into: floating, contiguous, with a generator. */
static tn_status check(const char *function, tn_tensor *x, tn_torch_generator *generator)
{
    if (tn_error_code())
        return tn_error_code();
    if (!x)
        return TN_FAIL_NULL(function, 1, "tensor");
    if (tni_module_check_dtype(function, tn_tensor_dtype(x)))
        return tn_error_code();
    if (!tn_is_contiguous(x))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "the tensor is not contiguous, needed one that is");
    if (tn_torch_uniform_float32(generator, 0, 1, true, NULL, 0))
        tn_error_rename(function, NULL);
    return tn_error_code();
}

static bool is_single(const tn_tensor *x)
{
    return tn_tensor_dtype(x) == TN_FLOAT32;
}

/* The tensor's memory: the version counts, and nothing is recorded. */
static void *to_fill(tn_tensor *x)
{
    return tn_data_mut(x);
}

static tn_status uniform(const char *function, tn_tensor *x, double low, double high, tn_torch_generator *generator)
{
    if (check(function, x, generator))
        return tn_error_code();
    int64_t n = tn_numel(x);
    if (n > 0 && is_single(x))
        tn_torch_uniform_float32(generator, low, high, true, to_fill(x), n);
    else if (n > 0)
        tn_torch_uniform_float64(generator, low, high, true, to_fill(x), n);
    if (tn_error_code())
        tn_error_rename(function, NULL);
    return tn_error_code();
}

static tn_status normal(const char *function, tn_tensor *x, double mean, double std, tn_torch_generator *generator)
{
    if (check(function, x, generator))
        return tn_error_code();
    int64_t n = tn_numel(x);
    if (n > 0 && is_single(x))
        tn_torch_normal_float32(generator, mean, std, to_fill(x), n);
    else if (n > 0)
        tn_torch_normal_float64(generator, mean, std, to_fill(x), n);
    if (tn_error_code())
        tn_error_rename(function, NULL);
    return tn_error_code();
}

tn_status tn_init_uniform_(tn_tensor *x, double low, double high, tn_torch_generator *generator)
{
    return uniform("init_uniform_", x, low, high, generator);
}

tn_status tn_init_normal_(tn_tensor *x, double mean, double std, tn_torch_generator *generator)
{
    return normal("init_normal_", x, mean, std, generator);
}

double tn_gain(tn_nonlinearity nonlinearity, double negative_slope)
{
    switch (nonlinearity) {
    case TN_NONLINEARITY_TANH:
        return 5.0 / 3;
    case TN_NONLINEARITY_RELU:
        return sqrt(2.0);
    case TN_NONLINEARITY_LEAKY_RELU:
        return sqrt(2.0 / (1 + negative_slope * negative_slope));
    case TN_NONLINEARITY_SELU:
        return 3.0 / 4;
    default:
        return 1;
    }
}

/* Inputs and outputs of a weight [out, in, ...]: what follows the first two dims counts for both. */
static tn_status fans(const char *function, const tn_tensor *x, double *in, double *out)
{
    if (!tn_error_code() && !x)
        return TN_FAIL_NULL(function, 1, "tensor");
    if (tn_error_code())
        return tn_error_code();
    if (tn_ndim(x) < 2)
        return TN_FAIL(TN_ERROR_DIM, function, "the tensor has %d dims, needed 2 or more: [out, in, ...]", tn_ndim(x));
    *in = (double)tn_size(x, 1);
    *out = (double)tn_size(x, 0);
    for (int d = 2; d < tn_ndim(x); d++) {
        *in *= (double)tn_size(x, d);
        *out *= (double)tn_size(x, d);
    }
    return TN_OK;
}

tn_status tn_init_xavier_uniform_(tn_tensor *x, double gain, tn_torch_generator *generator)
{
    double in = 0, out = 0;
    if (fans("init_xavier_uniform_", x, &in, &out))
        return tn_error_code();
    double bound = sqrt(3.0) * (gain * sqrt(2.0 / (in + out)));
    return uniform("init_xavier_uniform_", x, -bound, bound, generator);
}

tn_status tn_init_xavier_normal_(tn_tensor *x, double gain, tn_torch_generator *generator)
{
    double in = 0, out = 0;
    if (fans("init_xavier_normal_", x, &in, &out))
        return tn_error_code();
    return normal("init_xavier_normal_", x, 0, gain * sqrt(2.0 / (in + out)), generator);
}

static tn_status kaiming_std(const char *function, const tn_tensor *x, double gain, bool fan_out, double *std)
{
    double in = 0, out = 0;
    if (fans(function, x, &in, &out))
        return tn_error_code();
    *std = gain / sqrt(fan_out ? out : in);
    return TN_OK;
}

tn_status tn_init_kaiming_uniform_(tn_tensor *x, double gain, bool fan_out, tn_torch_generator *generator)
{
    double std = 0;
    if (kaiming_std("init_kaiming_uniform_", x, gain, fan_out, &std))
        return tn_error_code();
    return uniform("init_kaiming_uniform_", x, -sqrt(3.0) * std, sqrt(3.0) * std, generator);
}

tn_status tn_init_kaiming_normal_(tn_tensor *x, double gain, bool fan_out, tn_torch_generator *generator)
{
    double std = 0;
    if (kaiming_std("init_kaiming_normal_", x, gain, fan_out, &std))
        return tn_error_code();
    return normal("init_kaiming_normal_", x, 0, std, generator);
}

static double distribution(double x)
{
    return (1 + erf(x / sqrt(2.0))) / 2;
}

/* A drawing of the truncated normal: values, a second array for what is drawn anew, and the bounds. T is the dtype.
 *
 * Where more than 0.3 of the normal lies within the bounds, values outside are replaced by those at their place in
 * further drawings of the whole array; else uniform candidates are accepted with the density's probability. */
typedef struct truncated {
    double mean, std, low, high;
    bool by_normal;
    double log_peak; /* of the density at its highest within the bounds */
} truncated;

#define TRUNCATED(name, T, draw_uniform, draw_normal, LOG)                                                             \
    static void name##_by_normal(const truncated *t, T *x, T *again, int64_t n, tn_torch_generator *generator)         \
    {                                                                                                                  \
        const T low = (T)t->low, high = (T)t->high;                                                                    \
        draw_normal(generator, t->mean, t->std, x, n);                                                                 \
        for (bool outside = true; outside && !tn_error_code();) {                                                      \
            outside = false;                                                                                           \
            for (int64_t i = 0; i < n && !outside; i++)                                                                \
                outside = x[i] < low || x[i] > high;                                                                   \
            if (outside)                                                                                               \
                draw_normal(generator, t->mean, t->std, again, n);                                                     \
            for (int64_t i = 0; i < n && outside; i++)                                                                 \
                x[i] = x[i] < low || x[i] > high ? again[i] : x[i];                                                    \
        }                                                                                                              \
    }                                                                                                                  \
    /* Whether a candidate is refused: its log density, less the peak's, is below the log of a uniform number. */      \
    static inline bool name##_refused(const truncated *t, T candidate, T u)                                            \
    {                                                                                                                  \
        T z = (candidate - (T)t->mean) / (T)t->std;                                                                    \
        return LOG(u) > z * z * (T)-0.5 - (T)t->log_peak;                                                              \
    }                                                                                                                  \
    static void name##_by_density(const truncated *t, T *x, T *u, T *again, bool *pending, int64_t n,                  \
                                  tn_torch_generator *generator)                                                       \
    {                                                                                                                  \
        bool any = false;                                                                                              \
        draw_uniform(generator, t->low, t->high, true, x, n);                                                          \
        draw_uniform(generator, 0, 1, true, u, n);                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                                \
            any |= pending[i] = name##_refused(t, x[i], u[i]);                                                         \
        while (any && !tn_error_code()) {                                                                              \
            any = false;                                                                                               \
            draw_uniform(generator, t->low, t->high, true, again, n);                                                  \
            draw_uniform(generator, 0, 1, true, u, n);                                                                 \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                x[i] = pending[i] ? again[i] : x[i];                                                                   \
                any |= pending[i] = pending[i] && name##_refused(t, again[i], u[i]);                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void name(const truncated *t, T *x, T *room, bool *pending, int64_t n, tn_torch_generator *generator)       \
    {                                                                                                                  \
        if (t->by_normal)                                                                                              \
            name##_by_normal(t, x, room, n, generator);                                                                \
        else                                                                                                           \
            name##_by_density(t, x, room, room + n, pending, n, generator);                                            \
    }
TRUNCATED(truncated_float, float, tn_torch_uniform_float32, tn_torch_normal_float32, logf)
TRUNCATED(truncated_double, double, tn_torch_uniform_float64, tn_torch_normal_float64, log)

tn_status tn_init_trunc_normal_(tn_tensor *x, double mean, double std, double low, double high,
                                tn_torch_generator *generator)
{
    const char *function = "init_trunc_normal_";
    if (check(function, x, generator))
        return tn_error_code();
    if (!(low < high && std > 0 && isfinite(low) && isfinite(high) && isfinite(mean) && isfinite(std)))
        return TN_FAIL(TN_ERROR_ARGUMENT, function, "needed finite low < high and std > 0");
    const double within = distribution((high - mean) / std) - distribution((low - mean) / std);
    const double mode = mean < low ? low : mean > high ? high : mean;
    const truncated t = {mean, std, low, high, within > 0.3, -0.5 * ((mode - mean) / std) * ((mode - mean) / std)};
    const int64_t n = tn_numel(x), twice = 2 * n;
    if (n == 0)
        return TN_OK;
    tn_scope scope = tn_scope_begin();
    tn_tensor *room = tn_empty(&twice, 1, tn_tensor_dtype(x)), *pending = tn_empty(&n, 1, TN_BOOL);
    if (room && pending && is_single(x))
        truncated_float(&t, to_fill(x), tn_data_mut(room), tn_data_mut(pending), n, generator);
    else if (room && pending)
        truncated_double(&t, to_fill(x), tn_data_mut(room), tn_data_mut(pending), n, generator);
    tn_scope_end(scope);
    return tn_error_code();
}
