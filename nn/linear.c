/* Linear: y = x W^T + b (torch.nn.Linear). */
#include <inttypes.h>
#include <stdio.h>

#include "module.h"

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    return tn_linear(x, module->parameters[0].tensor, module->parameters[1].tensor);
}

static int settings(const tn_module *module, char *buf, size_t size)
{
    const tn_tensor *weight = module->parameters[0].tensor;
    return snprintf(buf, size, "in_features=%" PRId64 ", out_features=%" PRId64 ", bias=%s", tn_size(weight, 1),
                    tn_size(weight, 0), module->parameters[1].tensor ? "True" : "False");
}

const tni_module_class tni_linear_class = {
    .object = {.name = "Linear", .bytes = sizeof(tn_module), .destroy = tni_module_destroy},
    .forward = forward,
    .settings = settings,
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
    tn_module *self = tn_object_new(&tni_linear_class.object);
    if (!self)
        return NULL;
    tni_module_give(self, "weight", tn_zeros((int64_t[]){out_features, in_features}, 2, dtype), false);
    tni_module_give(self, "bias", bias ? tn_zeros(&out_features, 1, dtype) : NULL, false);
    if (tn_error_code()) {
        tn_error_rename("linear_module", NULL);
        tn_drop(&self);
    }
    return self;
}
