/* Linear: y = x W^T + b (torch.nn.Linear). */
#include <inttypes.h>

#include "module.h"

enum { WEIGHT, BIAS, PARAMETERS };

typedef struct linear {
    tn_module module;
    tni_parameter parameters[PARAMETERS];
} linear;

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    return tn_linear(x, module->parameters[WEIGHT].tensor, module->parameters[BIAS].tensor);
}

/* A Linear without tensors yet. */
static linear *make(void)
{
    linear *self = tn_object_new(&tni_linear_class.object);
    if (!self)
        return NULL;
    self->parameters[WEIGHT].name = "weight";
    self->parameters[BIAS].name = "bias";
    self->module.parameters = self->parameters;
    self->module.n_parameters = PARAMETERS;
    return self;
}

static tn_module *copy(const tn_module *module, tn_dtype dtype)
{
    linear *self = make();
    for (int i = 0; self && i < PARAMETERS; i++) {
        tn_tensor *from = module->parameters[i].tensor;
        if (!from)
            continue;
        /* tn_to gives back the same tensor when it has the dtype already; the copy needs its own. */
        tn_tensor *to = tn_tensor_dtype(from) == dtype ? tn_clone(from) : tn_to(from, dtype);
        if (!to)
            return NULL;
        self->parameters[i].tensor = tn_object_keep(to);
    }
    return self ? &self->module : NULL;
}

const tni_module_class tni_linear_class = {
    .object = {.name = "Linear", .bytes = sizeof(linear), .destroy = tni_module_destroy},
    .forward = forward,
    .copy = copy,
};

tn_module *tn_linear_module(int64_t in_features, int64_t out_features, bool bias, tn_dtype dtype)
{
    if (tn_error_code())
        return NULL;
    if (in_features < 1 || out_features < 1) {
        TN_FAIL(TN_ERROR_ARGUMENT, "linear_module", "%s is %" PRId64 ", needed at least 1",
                in_features < 1 ? "in_features" : "out_features", in_features < 1 ? in_features : out_features);
        return NULL;
    }
    if (tni_module_check_dtype("linear_module", dtype))
        return NULL;
    linear *self = make();
    if (!self)
        return NULL;
    self->parameters[WEIGHT].tensor = tn_object_keep(tn_zeros((int64_t[]){out_features, in_features}, 2, dtype));
    if (bias)
        self->parameters[BIAS].tensor = tn_object_keep(tn_zeros(&out_features, 1, dtype));
    if (tn_error_code()) {
        tn_error_context("linear_module");
        tn_drop(&self);
    }
    return self ? &self->module : NULL;
}
