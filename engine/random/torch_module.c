/* What PyTorch's modules and loaders draw: permutations, the order of an epoch, the values of a new linear layer. */
#include <math.h>

#include "base/checked.h"
#include "random/check.h"
#include "random/mt19937.h"

/* From here on randperm takes two words a step. */
static const int64_t long_permutation = UINT32_MAX / 20;

static inline bool ready(const char *function, const tn_torch_generator *generator)
{
    return tni_check_mt(function, (const tn_mt19937 *)generator, "generator");
}

/* Fisher and Yates forwards; for long ones the variant that needs no filled array. */
static void randperm(tn_mt19937 *mt, int64_t *out, int64_t n)
{
    if (n >= long_permutation) {
        for (int64_t i = 0; i < n; i++) {
            int64_t j = (int64_t)(tni_mt19937_next64(mt) % (uint64_t)(i + 1));
            out[i] = i;
            out[i] = out[j];
            out[j] = i;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t i = 0; i < n - 1; i++) {
        int64_t j = i + tni_mt19937_next(mt) % (uint32_t)(n - i);
        int64_t swapped = out[i];
        out[i] = out[j];
        out[j] = swapped;
    }
}

static void skip_randperm(tn_mt19937 *mt, int64_t n)
{
    tni_mt19937_skip(mt, n >= long_permutation ? n : n - 1);
    if (n >= long_permutation)
        tni_mt19937_skip(mt, n);
}

tn_status tn_torch_randperm(tn_torch_generator *generator, int64_t *out, int64_t n)
{
    if (!ready("torch_randperm", generator) || !tni_check_array("torch_randperm", out, 2, "out", n))
        return tni_pending();
    randperm(&generator->mt, out, n);
    return TN_OK;
}

tn_status tn_torch_loader_begin_epoch(tn_torch_generator *generator, int64_t *order, int64_t n)
{
    if (!ready("torch_loader_begin_epoch", generator) ||
        !tni_check_array("torch_loader_begin_epoch", order, 2, "order", n))
        return tni_pending();
    tni_mt19937_skip(&generator->mt, 2); /* the seed of worker processes */
    randperm(&generator->mt, order, n);
    return TN_OK;
}

tn_status tn_torch_loader_end_epoch(tn_torch_generator *generator, int64_t n)
{
    if (!ready("torch_loader_end_epoch", generator))
        return tni_pending();
    if (n < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, "torch_loader_end_epoch", "n is %lld, needed 0 or more", (long long)n);
    skip_randperm(&generator->mt, n); /* the sampler asks for the n % n samples that are left */
    return TN_OK;
}

tn_status tn_torch_loader_epoch(tn_torch_generator *generator, int64_t *order, int64_t n)
{
    if (!ready("torch_loader_epoch", generator) || !tni_check_array("torch_loader_epoch", order, 2, "order", n))
        return tni_pending();
    tn_mt19937 fresh;
    tni_mt19937_skip(&generator->mt, 2); /* the seed of worker processes */
    tni_mt19937_seed(&fresh, (uint32_t)tni_mt19937_next64(&generator->mt));
    randperm(&fresh, order, n);
    return TN_OK;
}

/* The bounds of a linear layer's uniform weights and biases, as kaiming_uniform_(a = sqrt 5) computes them. */
static void linear_bounds(int64_t fan_in, double *weight, double *bias)
{
    double root = sqrt((double)fan_in), slope = sqrt(5.0);
    double gain = sqrt(2.0 / (1.0 + slope * slope));
    *weight = fan_in > 0 ? sqrt(3.0) * (gain / root) : 0.0;
    *bias = fan_in > 0 ? 1.0 / root : 0.0;
}

static bool check_linear(const char *function, const tn_torch_generator *generator, int64_t fan_in, int64_t fan_out,
                         const void *weight, int64_t *n)
{
    if (!ready(function, generator))
        return false;
    if (fan_in < 0 || fan_out < 0) {
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "fan_in is %lld and fan_out %lld, needed 0 or more", (long long)fan_in,
                 (long long)fan_out);
        return false;
    }
    if (!tni_mul_i64(fan_in, fan_out, n)) {
        TNI_FAIL(TN_ERROR_OVERFLOW, function, "%lld times %lld weights, needed at most 2^63-1", (long long)fan_in,
                 (long long)fan_out);
        return false;
    }
    return tni_check_array(function, weight, 5, "weight", *n);
}

tn_status tn_torch_linear_float32(tn_torch_generator *generator, int64_t fan_in, int64_t fan_out, bool fused,
                                  float *weight, float *bias)
{
    int64_t n;
    double weight_bound, bias_bound;
    if (!check_linear("torch_linear_float32", generator, fan_in, fan_out, weight, &n))
        return tni_pending();
    linear_bounds(fan_in, &weight_bound, &bias_bound);
    tn_status status = tn_torch_uniform_float32(generator, -weight_bound, weight_bound, fused, weight, n);
    if (status == TN_OK && bias)
        status = tn_torch_uniform_float32(generator, -bias_bound, bias_bound, fused, bias, fan_out);
    return status;
}

tn_status tn_torch_linear_float64(tn_torch_generator *generator, int64_t fan_in, int64_t fan_out, bool fused,
                                  double *weight, double *bias)
{
    int64_t n;
    double weight_bound, bias_bound;
    if (!check_linear("torch_linear_float64", generator, fan_in, fan_out, weight, &n))
        return tni_pending();
    linear_bounds(fan_in, &weight_bound, &bias_bound);
    tn_status status = tn_torch_uniform_float64(generator, -weight_bound, weight_bound, fused, weight, n);
    if (status == TN_OK && bias)
        status = tn_torch_uniform_float64(generator, -bias_bound, bias_bound, fused, bias, fan_out);
    return status;
}
