/* Normalisations: BatchNorm1d over the batch, LayerNorm over the last dims.
 *
 *     y = (x - mean) / sqrt(var + eps) * weight + bias
 *
 * with the biased variance. BatchNorm1d keeps running means for eval: running = (1 - momentum) running + momentum new,
 * of the unbiased variance; cumulative: momentum is 1 / batches so far, so that all of them count alike
 * (torch.nn.BatchNorm1d, torch.nn.LayerNorm). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/views.h>

#include "module.h"

typedef struct norm {
    tn_module module;
    double eps, momentum;
    bool cumulative;
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

/* The share of what is new in the running statistics, when this batch counts. */
static double share(const tn_module *module)
{
    const tn_tensor *batches = module->parameters[BATCHES].tensor;
    if (!norm_of(module)->cumulative)
        return norm_of(module)->momentum;
    return tn_tensor_device(batches).type == TN_META ? 1 : 1 / ((double)tn_item_i64(batches) + 1);
}

/* Blends what this batch showed into the running statistics, unrecorded; a batch without values counts alone. All is
 * computed before the first of them is written. */
static void blend(tn_module *module, tn_tensor *mean, tn_tensor *var, int64_t n)
{
    const double momentum = share(module);
    tn_tensor *running[] = {module->parameters[MEAN].tensor, module->parameters[VAR].tensor}, *next[2] = {NULL};
    tn_grad_mode before = tn_no_grad();
    if (n > 0) {
        tn_tensor *now[] = {mean, tn_mul_scalar(var, tn_float((double)n / (double)(n - 1)))};
        for (int i = 0; i < 2; i++) {
            tn_tensor *flat = tn_view(tn_detach(now[i]), tn_sizes(running[i]), 1);
            next[i] = tn_add_alpha(tn_mul_scalar(running[i], tn_float(1 - momentum)), flat, tn_float(momentum));
        }
        for (int i = 0; i < 2; i++)
            tn_copy_(running[i], next[i]);
    }
    tn_add_scalar_(module->parameters[BATCHES].tensor, tn_int(1));
    tn_grad_mode_restore(before);
}

/* Whether x has the dtype of the module's tensors, of which there may be none. */
static tn_status check_dtype(const char *function, const tn_module *module, const tn_tensor *x)
{
    const tn_dtype dtype = tn_tensor_dtype(x);
    for (int i = 0; i < module->n_parameters && i < BATCHES; i++) {
        const tn_tensor *own = module->parameters[i].tensor;
        if (own && tn_tensor_dtype(own) != dtype)
            return TN_FAIL(TN_ERROR_DTYPE, function, "the input is %s, the module %s: needed the same",
                           tn_dtype_name(dtype), tn_dtype_name(tn_tensor_dtype(own)));
    }
    return tn_is_floating_point(dtype) ? TN_OK
                                       : TN_FAIL(TN_ERROR_DTYPE, function, "the input is %s, needed floats",
                                                 tn_dtype_name(dtype));
}

static bool uses_batch(const tn_module *module)
{
    return !module->evaluating || !module->parameters[MEAN].tensor;
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
    if (uses_batch(module) && n == 1)
        return TN_FAIL(TN_ERROR_SHAPE, "batch_norm1d",
                       "1 value a feature in training, needed 2 or more for a variance");
    if (uses_batch(module) && self->eps == 0)
        return TN_FAIL(TN_ERROR_ARGUMENT, "batch_norm1d", "eps is 0 in training, needed more");
    return check_dtype("batch_norm1d", module, x);
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
    if (!uses_batch(module)) {
        mean = tn_view(module->parameters[MEAN].tensor, shape, ndim);
        var = tn_view(module->parameters[VAR].tensor, shape, ndim);
    } else {
        mean = tn_mean(x, dims, ndim - 1, true, TN_DTYPE_NONE);
        var = tn_mean(tn_square(tn_sub(x, mean)), dims, ndim - 1, true, TN_DTYPE_NONE);
    }
    tn_tensor *y = normalised(module, x, mean, var, shape, ndim);
    if (y && !module->evaluating && module->parameters[MEAN].tensor)
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
    if (check_dtype("layer_norm", module, x))
        return NULL;
    tn_scope scope = tn_scope_begin();
    tn_tensor *mean = tn_mean(x, dims, self->n_dims, true, TN_DTYPE_NONE);
    tn_tensor *var = tn_mean(tn_square(tn_sub(x, mean)), dims, self->n_dims, true, TN_DTYPE_NONE);
    tn_tensor *y = normalised(module, x, mean, var, self->dims, self->n_dims);
    y = tn_error_code() ? NULL : tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

static const char *yes(const void *there)
{
    return there ? "True" : "False";
}

static int batch_settings(const tn_module *module, char *buf, size_t size)
{
    const norm *self = norm_of(module);
    const tni_parameter *p = module->parameters;
    char eps[32], momentum[32];
    tn_format_double(eps, sizeof eps, self->eps);
    tn_format_double(momentum, sizeof momentum, self->momentum);
    return snprintf(buf, size, "%" PRId64 ", eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s", self->n,
                    eps, self->cumulative ? "None" : momentum, yes(p[WEIGHT].tensor), yes(p[BIAS].tensor),
                    yes(p[MEAN].tensor));
}

static int layer_settings(const tn_module *module, char *buf, size_t size)
{
    const norm *self = norm_of(module);
    char eps[32], shape[160] = "";
    tn_format_double(eps, sizeof eps, self->eps);
    for (int d = 0, at = 0; d < self->n_dims && at < (int)sizeof shape - 24; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%" PRId64, d ? ", " : "", self->dims[d]);
    return snprintf(buf, size, "(%s%s), eps=%s, elementwise_affine=%s, bias=%s", shape, self->n_dims == 1 ? "," : "",
                    eps, yes(module->parameters[WEIGHT].tensor), yes(module->parameters[BIAS].tensor));
}

static tn_module *bare(const tn_module *module)
{
    const norm *from = norm_of(module);
    norm *self = tn_object_new(tn_object_type(module));
    if (!self)
        return NULL;
    self->eps = from->eps;
    self->momentum = from->momentum;
    self->cumulative = from->cumulative;
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

/* weight of ones and bias of zeros, or places without. */
static void give_affine(norm *self, const int64_t *shape, int ndim, tn_dtype dtype, bool weight, bool bias)
{
    tni_module_give(&self->module, "weight", weight ? tn_ones(shape, ndim, dtype) : NULL, false);
    tni_module_give(&self->module, "bias", weight && bias ? tn_zeros(shape, ndim, dtype) : NULL, false);
}

/* Of an option 0 stands for the usual value and -1 for 0. */
static double given(double value, double usual)
{
    return value == -1 ? 0 : value != 0 ? value : usual;
}

static tn_status check_given(const char *function, const char *name, double value)
{
    char text[32];
    if (value == -1 || (value >= 0 && isfinite(value)))
        return TN_OK;
    tn_format_double(text, sizeof text, value);
    return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed a finite number, 0 or more, or -1 for none", name,
                   text);
}

tn_module *tn_batch_norm1d_module(int64_t num_features, const tn_batch_norm_options *options, tn_dtype dtype)
{
    static const tn_batch_norm_options usual;
    const tn_batch_norm_options *o = options ? options : &usual;
    if (tn_error_code() || tni_module_check_dtype("batch_norm1d_module", dtype) ||
        check_given("batch_norm1d_module", "eps", o->eps) ||
        check_given("batch_norm1d_module", "momentum", o->momentum))
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
    self->eps = given(o->eps, 1e-5);
    self->momentum = given(o->momentum, 0.1);
    self->cumulative = o->cumulative;
    const bool tracks = !o->no_running_stats;
    give_affine(self, &num_features, 1, dtype, !o->no_affine, !o->no_bias);
    tni_module_give(&self->module, "running_mean", tracks ? tn_zeros(&num_features, 1, dtype) : NULL, true);
    tni_module_give(&self->module, "running_var", tracks ? tn_ones(&num_features, 1, dtype) : NULL, true);
    tni_module_give(&self->module, "num_batches_tracked", tracks ? tn_zeros(NULL, 0, TN_INT64) : NULL, true);
    if (tn_error_code()) {
        tn_error_rename("batch_norm1d_module", NULL);
        tn_drop(&self);
    }
    return self ? &self->module : NULL;
}

tn_module *tn_layer_norm_module(const int64_t *normalized_shape, int ndim, const tn_layer_norm_options *options,
                                tn_dtype dtype)
{
    static const tn_layer_norm_options usual;
    const tn_layer_norm_options *o = options ? options : &usual;
    if (tn_error_code() || tni_module_check_dtype("layer_norm_module", dtype) ||
        check_given("layer_norm_module", "eps", o->eps))
        return NULL;
    if (ndim < 1 || ndim > TN_MAX_NDIM || !normalized_shape) {
        TN_FAIL(TN_ERROR_ARGUMENT, "layer_norm_module", "%d dims, needed 1 to %d", ndim, TN_MAX_NDIM);
        return NULL;
    }
    norm *self = tn_object_new(&layer_class.object);
    if (!self)
        return NULL;
    self->n_dims = ndim;
    self->eps = given(o->eps, 1e-5);
    memcpy(self->dims, normalized_shape, (size_t)ndim * sizeof *self->dims);
    give_affine(self, normalized_shape, ndim, dtype, !o->no_affine, !o->no_bias);
    if (tn_error_code()) {
        tn_error_rename("layer_norm_module", NULL);
        tn_drop(&self);
    }
    return self ? &self->module : NULL;
}
