/* Activations as modules: one operator each, no parameters. */
#include "module.h"

#define ACTIVATION(function, operation, text)                                                                          \
    static tn_tensor *operation##_forward(tn_module *module, tn_tensor *x, const tni_place *place)                     \
    {                                                                                                                  \
        (void)module;                                                                                                  \
        (void)place;                                                                                                   \
        return tn_##operation(x);                                                                                      \
    }                                                                                                                  \
    static const tni_module_class operation##_class = {                                                                \
        .object = {.name = text, .bytes = sizeof(tn_module), .destroy = tni_module_destroy},                           \
        .forward = operation##_forward,                                                                                \
        .stateless = true,                                                                                             \
    };                                                                                                                 \
    tn_module *function(void)                                                                                          \
    {                                                                                                                  \
        return tn_error_code() ? NULL : tn_object_new(&operation##_class.object);                                      \
    }

ACTIVATION(tn_relu_module, relu, "ReLU")
ACTIVATION(tn_sigmoid_module, sigmoid, "Sigmoid")
ACTIVATION(tn_tanh_module, tanh, "Tanh")
ACTIVATION(tn_silu_module, silu, "SiLU")
