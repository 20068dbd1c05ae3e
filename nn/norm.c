/* Normalisations: BatchNorm1d over the batch, LayerNorm over the last dims.
 *
 *     y = (x - mean) / sqrt(var + eps) * weight + bias
 *
 * with the biased variance. BatchNorm1d keeps running means for eval: running = (1 - momentum) running + momentum new,
 * of the unbiased variance (torch.nn.BatchNorm1d, torch.nn.LayerNorm). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/views.h>

#include "module.h"

typedef struct norm {
    tn_module module;
    double eps, momentum;
    int64_t n;   /* BatchNorm1d: features */
    int n_dims;  /* LayerNorm: how many last dims */
    int64_t dims[TN_MAX_NDIM];
} norm;

enum { WEIGHT, BIAS, MEAN, VAR, BATCHES };

static const norm *norm_of(const tn_module *module)
{
    return (const norm *)(const void *)module;
}

/* (x - mean) / sqrt(var + eps), then weight and bias where they are there, shaped to fit. */
static tn_tensor *normalised(const tn_module *module, tn_tensor *x, tn_tensor *mean, tn_tensor *var,
                             const int64_t *shape, int ndim)
{
    tn_tensor *scale = tn_rsqrt(tn_add_scalar(var, tn_float(norm_of(module)->eps)));
    tn_tensor *y = tn_mul(tn_sub(x, mean), scale);
    tn_tensor *weight = module->parameters[WEIGHT].tensor, *bias = module->parameters[BIAS].tensor;
    if (weight)
        y = tn_mul(y, tn_view(weight, shape, ndim));
    return bias ? tn_add(y, tn_view(bias, shape, ndim)) : y;
}

/* Blends what this batch showed into the running statistics, unrecorded. */
static void blend(tn_module *module, tn_tensor *mean, tn_tensor *var, int64_t n)
{
    const double momentum = norm_of(module)->momentum;
    tn_tensor *running[] = {module->parameters[MEAN].tensor, module->parameters[VAR].tensor};
    tn_tensor *now[] = {mean, tn_mul_scalar(var, tn_float((double)n / (double)(n - 1)))};
    tn_grad_mode before = tn_no_grad();
    for (int i = 0; i < 2; i++) {
        tn_mul_scalar_(running[i], tn_float(1 - momentum));
        tn_add_alpha_(running[i], tn_view(tn_detach(now[i]), tn_sizes(running[i]), 1), tn_float(momentum));
    }
    tn_add_scalar_(module->parameters[BATCHES].tensor, tn_int(1));
    tn_grad_mode_restore(before);
}

static tn_status check_batch(const tn_module *module, const tn_tensor *x, int64_t n)
{
    const norm *self = norm_of(module);
    int ndim = tn_ndim(x);
    if (ndim != 2 && ndim != 3)
        return TN_FAIL(TN_ERROR_SHAPE, "batch_norm1d", "the input has %d dims, needed 2 ([n, features]) or 3", ndim);
    if (tn_size(x, 1) != self->n)
        return TN_FAIL(TN_ERROR_SHAPE, "batch_norm1d", "the input has %" PRId64 " features, needed %" PRId64,
                       tn_size(x, 1), self->n);
    if (!module->evaluating && n < 2)
        return TN_FAIL(TN_ERROR_SHAPE, "batch_norm1d",
                       "%" PRId64 " value a feature in training, needed 2 or more for a variance", n);
    return TN_OK;
}

static tn_tensor *batch_forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    const norm *self = norm_of(module);
    int64_t n = self->n > 0 ? tn_numel(x) / self->n : 0;
    if (check_batch(module, x, n))
        return NULL;
    const int64_t shape[] = {1, self->n, 1};
    const int ndim = tn_ndim(x), dims[] = {0, 2};
    tn_scope scope = tn_scope_begin();
    tn_tensor *mean, *var;
    if (module->evaluating) {
        mean = tn_view(module->parameters[MEAN].tensor, shape, ndim);
        var = tn_view(module->parameters[VAR].tensor, shape, ndim);
    } else {
        mean = tn_mean(x, dims, ndim - 1, true, TN_DTYPE_NONE);
        var = tn_mean(tn_square(tn_sub(x, mean)), dims, ndim - 1, true, TN_DTYPE_NONE);
    }
    tn_tensor *y = normalised(module, x, mean, var, shape, ndim);
    if (y && !module->evaluating)
        blend(module, mean, var, n);
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

static tn_tensor *layer_forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    const norm *self = norm_of(module);
    int ndim = tn_ndim(x), dims[TN_MAX_NDIM];
    bool fits = ndim >= self->n_dims;
    for (int d = 0; d < self->n_dims && fits; d++) {
        fits = tn_size(x, ndim - self->n_dims + d) == self->dims[d];
        dims[d] = ndim - self->n_dims + d;
    }
    if (!fits) {
        char have[160], need[160];
        tn_format_shape(have, sizeof have, tn_sizes(x), ndim);
        tn_format_shape(need, sizeof need, self->dims, self->n_dims);
        TN_FAIL(TN_ERROR_SHAPE, "layer_norm", "the input is %s, needed the last dims %s", have, need);
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *mean = tn_mean(x, dims, self->n_dims, true, TN_DTYPE_NONE);
    tn_tensor *var = tn_mean(tn_square(tn_sub(x, mean)), dims, self->n_dims, true, TN_DTYPE_NONE);
    tn_tensor *y = normalised(module, x, mean, var, self->dims, self->n_dims);
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

static int batch_settings(const tn_module *module, char *buf, size_t size)
{
    const norm *self = norm_of(module);
    char eps[32], momentum[32];
    tn_format_double(eps, sizeof eps, self->eps);
    tn_format_double(momentum, sizeof momentum, self->momentum);
    return snprintf(buf, size, "%" PRId64 ", eps=%s, momentum=%s, affine=%s, track_running_stats=True", self->n, eps,
                    momentum, module->parameters[WEIGHT].tensor ? "True" : "False");
}

static int layer_settings(const tn_module *module, char *buf, size_t size)
{
    const norm *self = norm_of(module);
    char eps[32], shape[160] = "";
    tn_format_double(eps, sizeof eps, self->eps);
    for (int d = 0, at = 0; d < self->n_dims && at < (int)sizeof shape - 24; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%" PRId64, d ? ", " : "", self->dims[d]);
    return snprintf(buf, size, "(%s%s), eps=%s, elementwise_affine=%s", shape, self->n_dims == 1 ? "," : "", eps,
                    module->parameters[WEIGHT].tensor ? "True" : "False");
}

static tn_module *bare(const tn_module *module)
{
    const norm *from = norm_of(module);
    norm *self = tn_object_new(tn_object_type(module));
    if (!self)
        return NULL;
    self->eps = from->eps;
    self->momentum = from->momentum;
    self->n = from->n;
    self->n_dims = from->n_dims;
    memcpy(self->dims, from->dims, sizeof self->dims);
    return &self->module;
}

static const tni_module_class batch_class = {
    .object = {.name = "BatchNorm1d", .bytes = sizeof(norm), .destroy = tni_module_destroy},
    .forward = batch_forward,
    .settings = batch_settings,
    .bare = bare,
};

static const tni_module_class layer_class = {
    .object = {.name = "LayerNorm", .bytes = sizeof(norm), .destroy = tni_module_destroy},
    .forward = layer_forward,
    .settings = layer_settings,
    .bare = bare,
};

/* weight of ones and bias of zeros. */
static void give_affine(norm *self, const int64_t *shape, int ndim, tn_dtype dtype, bool affine)
{
    tni_module_give(&self->module, "weight", affine ? tn_ones(shape, ndim, dtype) : NULL, false);
    tni_module_give(&self->module, "bias", affine ? tn_zeros(shape, ndim, dtype) : NULL, false);
}

tn_module *tn_batch_norm1d_module(int64_t num_features, const tn_batch_norm_options *options, tn_dtype dtype)
{
    static const tn_batch_norm_options usual;
    const tn_batch_norm_options *o = options ? options : &usual;
    if (tn_error_code() || tni_module_check_dtype("batch_norm1d_module", dtype))
        return NULL;
    if (num_features < 1) {
        TN_FAIL(TN_ERROR_ARGUMENT, "batch_norm1d_module", "num_features is %" PRId64 ", needed at least 1",
                num_features);
        return NULL;
    }
    norm *self = tn_object_new(&batch_class.object);
    if (!self)
        return NULL;
    self->n = num_features;
    self->eps = o->eps > 0 ? o->eps : 1e-5;
    self->momentum = o->momentum > 0 ? o->momentum : 0.1;
    give_affine(self, &num_features, 1, dtype, !o->no_affine);
    tni_module_give(&self->module, "running_mean", tn_zeros(&num_features, 1, dtype), true);
    tni_module_give(&self->module, "running_var", tn_ones(&num_features, 1, dtype), true);
    tni_module_give(&self->module, "num_batches_tracked", tn_zeros(NULL, 0, TN_INT64), true);
    if (tn_error_code())
        tn_drop(&self);
    return self ? &self->module : NULL;
}

tn_module *tn_layer_norm_module(const int64_t *normalized_shape, int ndim, double eps, bool affine, tn_dtype dtype)
{
    if (tn_error_code() || tni_module_check_dtype("layer_norm_module", dtype))
        return NULL;
    if (ndim < 1 || ndim > TN_MAX_NDIM || !normalized_shape) {
        TN_FAIL(TN_ERROR_ARGUMENT, "layer_norm_module", "%d dims, needed 1 to %d", ndim, TN_MAX_NDIM);
        return NULL;
    }
    norm *self = tn_object_new(&layer_class.object);
    if (!self)
        return NULL;
    self->n_dims = ndim;
    self->eps = eps > 0 ? eps : 1e-5;
    memcpy(self->dims, normalized_shape, (size_t)ndim * sizeof *self->dims);
    give_affine(self, normalized_shape, ndim, dtype, affine);
    if (tn_error_code())
        tn_drop(&self);
    return self ? &self->module : NULL;
}
