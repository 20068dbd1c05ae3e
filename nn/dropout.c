/* Dropout (torch.nn.Dropout): in training each element is zero with probability p, others are divided by 1 - p; in
 * eval y is x. The mask comes from a generator of PyTorch's stream that the caller owns. */
#include <stdio.h>
#include <string.h>

#include "module.h"

typedef struct dropout {
    tn_module module;
    double p;
    tn_torch_generator *generator;
} dropout;

/* 0 or 1 / (1 - p) of each element of x, as torch.bernoulli draws it: one number below 1 - p keeps. */
static tn_tensor *draw_mask(const dropout *self, tn_tensor *x)
{
    tn_tensor *u = tn_empty_on(tn_sizes(x), tn_ndim(x), TN_FLOAT64, tn_tensor_device(x));
    double *values = u ? tn_data_mut(u) : NULL;
    int64_t n = tn_numel(x);
    double keep = 1 / (1 - self->p);
    if (!values || tn_torch_uniform_float64(self->generator, 0, 1, false, values, n))
        return NULL;
    for (int64_t i = 0; i < n; i++)
        values[i] = values[i] < 1 - self->p ? keep : 0;
    return tn_to(u, tn_tensor_dtype(x));
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    const dropout *self = (const dropout *)(const void *)module;
    if (module->evaluating || self->p == 0)
        return tn_adopt(tn_retain(x));
    if (self->p == 1 || tn_tensor_device(x).type == TN_META)
        return tn_mul_scalar(x, tn_int(0));
    if (!tn_is_floating_point(tn_tensor_dtype(x))) {
        TN_FAIL(TN_ERROR_DTYPE, "dropout", "the input is %s, needed floats", tn_dtype_name(tn_tensor_dtype(x)));
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *mask = draw_mask(self, x), *y = mask ? tn_mul(x, mask) : NULL;
    y = y ? tn_scope_escape(scope, y) : NULL;
    tn_scope_end(scope);
    return y;
}

static int settings(const tn_module *module, char *buf, size_t size)
{
    char p[32];
    tn_format_double(p, sizeof p, ((const dropout *)(const void *)module)->p);
    return snprintf(buf, size, "p=%s, inplace=False", p);
}

static tn_module *bare(const tn_module *module);

static const tni_module_class dropout_class = {
    .object = {.name = "Dropout", .bytes = sizeof(dropout), .destroy = tni_module_destroy},
    .forward = forward,
    .settings = settings,
    .bare = bare,
};

static tn_module *bare(const tn_module *module)
{
    const dropout *from = (const dropout *)(const void *)module;
    return tn_dropout_module(from->p, from->generator);
}

tn_module *tn_dropout_module(double p, tn_torch_generator *generator)
{
    if (tn_error_code())
        return NULL;
    if (!(p >= 0 && p <= 1)) {
        char text[32];
        tn_format_double(text, sizeof text, p);
        TN_FAIL(TN_ERROR_ARGUMENT, "dropout_module", "p is %s, needed 0 to 1", text);
        return NULL;
    }
    if (!generator) {
        TN_FAIL_NULL("dropout_module", 2, "generator");
        return NULL;
    }
    dropout *self = tn_object_new(&dropout_class.object);
    if (self) {
        self->p = p;
        self->generator = generator;
    }
    return self ? &self->module : NULL;
}
