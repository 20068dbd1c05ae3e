/* See net.h. Layers are numbered as PyTorch's Sequential numbers them: "0.weight", "2.weight", ... */
#include "net.h"

const char *const dtype_words[] = {"float32", "float64", NULL};

tn_dtype dtype_of_word(int word)
{
    return word ? TN_FLOAT64 : TN_FLOAT32;
}

static tn_module *leaky_relu(void)
{
    return tn_leaky_relu_module(0.01);
}

static tn_module *gelu(void)
{
    return tn_gelu_module(false);
}

static tn_module *softplus(void)
{
    return tn_softplus_module(1, 20);
}

const char *const activation_words[] = {"relu", "leaky_relu", "sigmoid", "tanh", "gelu", "silu", "softplus", NULL};

static tn_module *(*const activations[])(void) = {
    tn_relu_module, leaky_relu, tn_sigmoid_module, tn_tanh_module, gelu, tn_silu_module, softplus,
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
