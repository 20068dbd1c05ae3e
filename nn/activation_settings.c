/* Activations with settings as modules: one operator each, no parameters. */
#include <stdio.h>
#include <tenon/activations.h>
#include <tenon/losses.h>

#include "module.h"

typedef struct activation {
    tn_module module;
    double a, b;
} activation;

static const activation *of(const tn_module *module)
{
    return (const activation *)(const void *)module;
}

static tn_module *make(const tni_module_class *type, double a, double b)
{
    activation *self = tn_error_code() ? NULL : tn_object_new(&type->object);
    if (!self)
        return NULL;
    self->a = a;
    self->b = b;
    return &self->module;
}

static tn_module *bare(const tn_module *module)
{
    return make(tni_module_type(module), of(module)->a, of(module)->b);
}

#define ACTIVATION(operation, text, call, format, ...)                                                                 \
    static tn_tensor *operation##_forward(tn_module *module, tn_tensor *x, const tni_place *place)                     \
    {                                                                                                                  \
        (void)place;                                                                                                   \
        return call;                                                                                                   \
    }                                                                                                                  \
    static int operation##_settings(const tn_module *module, char *buf, size_t size)                                   \
    {                                                                                                                  \
        char a[32], b[32];                                                                                             \
        tn_format_double(a, sizeof a, of(module)->a);                                                                  \
        tn_format_double(b, sizeof b, of(module)->b);                                                                  \
        return snprintf(buf, size, format, __VA_ARGS__);                                                               \
    }                                                                                                                  \
    static const tni_module_class operation##_class = {                                                                \
        .object = {.name = text, .bytes = sizeof(activation), .destroy = tni_module_destroy},                          \
        .forward = operation##_forward,                                                                                \
        .bare = bare,                                                                                                  \
        .settings = operation##_settings,                                                                              \
        .stateless = true,                                                                                             \
    }

ACTIVATION(leaky_relu, "LeakyReLU", tn_leaky_relu(x, of(module)->a), "negative_slope=%s%.0s", a, b);
ACTIVATION(gelu, "GELU", tn_gelu(x, of(module)->a != 0), "approximate='%s'%.0s%.0s",
           of(module)->a != 0 ? "tanh" : "none", a, b);
ACTIVATION(softplus, "Softplus", tn_softplus_beta(x, of(module)->a, of(module)->b), "beta=%s, threshold=%s", a, b);
ACTIVATION(softmax, "Softmax", tn_softmax(x, (int)of(module)->a), "dim=%d%.0s%.0s", (int)of(module)->a, a, b);
ACTIVATION(log_softmax, "LogSoftmax", tn_log_softmax(x, (int)of(module)->a), "dim=%d%.0s%.0s", (int)of(module)->a, a,
           b);

tn_module *tn_leaky_relu_module(double negative_slope)
{
    return make(&leaky_relu_class, negative_slope, 0);
}

tn_module *tn_gelu_module(bool by_tanh)
{
    return make(&gelu_class, by_tanh, 0);
}

tn_module *tn_softplus_module(double beta, double threshold)
{
    return make(&softplus_class, beta, threshold);
}

tn_module *tn_softmax_module(int dim)
{
    return make(&softmax_class, dim, 0);
}

tn_module *tn_log_softmax_module(int dim)
{
    return make(&log_softmax_class, dim, 0);
}
