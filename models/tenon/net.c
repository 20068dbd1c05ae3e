/* See net.h. Layers are numbered as PyTorch's Sequential numbers them: "0.weight", "2.weight", ... */
#include "net.h"

#include <tenon/activations.h>

const char *const dtype_words[] = {"float32", "float64", NULL};

tn_dtype dtype_of_word(int word)
{
    return word ? TN_FLOAT64 : TN_FLOAT32;
}

static tn_tensor *leaky_relu(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)context;
    return tn_leaky_relu(x, 0.01);
}

static tn_tensor *gelu(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)context;
    return tn_gelu(x, false);
}

static tn_tensor *softplus(tn_module *self, tn_tensor *x, void *context)
{
    (void)self, (void)context;
    return tn_softplus(x);
}

static tn_module *leaky_relu_module(void)
{
    static const tn_module_kind kind = {.name = "LeakyReLU", .forward = leaky_relu};
    return tn_module_new(&kind, NULL);
}

static tn_module *gelu_module(void)
{
    static const tn_module_kind kind = {.name = "GELU", .forward = gelu};
    return tn_module_new(&kind, NULL);
}

static tn_module *softplus_module(void)
{
    static const tn_module_kind kind = {.name = "Softplus", .forward = softplus};
    return tn_module_new(&kind, NULL);
}

const char *const activation_words[] = {"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "silu", "softplus", NULL};

static tn_module *(*const activations[])(void) = {
    tn_relu_module, leaky_relu_module, tn_sigmoid_module, tn_tanh_module, gelu_module, tn_silu_module, softplus_module,
};

tn_module *net_build(const net_shape *shape, tn_dtype dtype)
{
    tn_module *net = tn_sequential();
    int64_t in = shape->inputs;
    for (int i = 0; i < shape->hidden.count; i++) {
        tn_sequential_append(net, tn_linear_module(in, shape->hidden.size[i], true, dtype));
        tn_sequential_append(net, activations[shape->activation]());
        in = shape->hidden.size[i];
    }
    tn_sequential_append(net, tn_linear_module(in, shape->outputs, true, dtype));
    return net;
}
