/* How layers begin: Linear by the lesson's normal weights or PyTorch's uniform ones, Embedding by PyTorch's.
 *
 * All layers are looked at before the first value is drawn, so a refusal leaves parameters and generator as they were.
 */
#include <math.h>
#include <string.h>

#include "module.h"

typedef struct filling {
    const char *function;
    tn_default_rng *normal; /* one of the two */
    tn_torch_generator *torch;
    bool fused;
} filling;

static bool check_table(const filling *fill, const tn_tensor *weight)
{
    if (tn_ndim(weight) != 2 || !tn_is_contiguous(weight))
        TN_FAIL(TN_ERROR_STATE, fill->function, "an Embedding's weight was resized, needed 2 dims, contiguous");
    return tn_data(weight) && !tn_error_code();
}

static bool check_layer(tn_module *module, void *context)
{
    const filling *fill = context;
    if (tni_module_type(module) == &tni_embedding_class && fill->torch)
        return check_table(fill, module->parameters[0].tensor);
    if (tni_module_type(module) != &tni_linear_class)
        return true;
    const tn_tensor *weight = module->parameters[0].tensor, *bias = module->parameters[1].tensor;
    bool fits = tn_ndim(weight) == 2 && tn_is_contiguous(weight);
    if (fits && bias)
        fits = tn_ndim(bias) == 1 && tn_size(bias, 0) == tn_size(weight, 0) && tn_is_contiguous(bias);
    if (!fits)
        TN_FAIL(TN_ERROR_STATE, fill->function,
                "a Linear's parameters were resized, needed weight [out, in] and bias [out], contiguous");
    return tn_data(weight) && (!bias || tn_data(bias)) && !tn_error_code();
}

/* weight_ij = z / sqrt(in), rounded to the dtype. */
static void fill_normal(tn_default_rng *rng, tn_tensor *weight, tn_tensor *bias)
{
    int64_t n = tn_numel(weight);
    double scale = 1.0 / sqrt((double)tn_size(weight, 1));
    bool single = tn_tensor_dtype(weight) == TN_FLOAT32;
    void *data = tn_data_mut(weight);
    for (int64_t i = 0; i < n; i++) {
        double value = 0.0 + scale * tn_default_rng_next_normal(rng);
        if (single)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
    if (bias)
        memset(tn_data_mut(bias), 0, (size_t)tn_numel(bias) * tn_itemsize(tn_tensor_dtype(bias)));
}

static void fill_torch(const filling *fill, tn_tensor *weight, tn_tensor *bias)
{
    int64_t out = tn_size(weight, 0), in = tn_size(weight, 1);
    if (tn_tensor_dtype(weight) == TN_FLOAT32)
        tn_torch_linear_float32(fill->torch, in, out, fill->fused, tn_data_mut(weight),
                                bias ? tn_data_mut(bias) : NULL);
    else
        tn_torch_linear_float64(fill->torch, in, out, fill->fused, tn_data_mut(weight),
                                bias ? tn_data_mut(bias) : NULL);
}

/* Normal deviates, and zeros in the row of padding. */
static void fill_table(const filling *fill, const tn_module *module)
{
    tn_tensor *weight = module->parameters[0].tensor;
    const int64_t padding = tni_embedding_padding(module);
    const size_t row = (size_t)tn_size(weight, 1) * tn_itemsize(tn_tensor_dtype(weight));
    tn_init_normal_(weight, 0, 1, fill->torch);
    if (padding >= 0)
        memset((char *)tn_data_mut(weight) + (size_t)padding * row, 0, row);
}

static bool fill_layer(tn_module *module, void *context)
{
    const filling *fill = context;
    if (tni_module_type(module) == &tni_embedding_class && fill->torch)
        fill_table(fill, module);
    if (tni_module_type(module) != &tni_linear_class)
        return true;
    if (fill->normal)
        fill_normal(fill->normal, module->parameters[0].tensor, module->parameters[1].tensor);
    else
        fill_torch(fill, module->parameters[0].tensor, module->parameters[1].tensor);
    return true;
}

static tn_status fill_module(tn_module *module, filling *fill)
{
    if (tn_error_code())
        return tn_error_code();
    if (!module)
        return TN_FAIL_NULL(fill->function, 1, "module");
    /* Drawing nothing asks whether the generator is there and seeded. */
    tn_status status = fill->normal ? tn_default_rng_normal(fill->normal, 0.0, 1.0, NULL, 0)
                                    : tn_torch_uniform_float32(fill->torch, 0.0, 1.0, false, NULL, 0);
    if (status) {
        tn_error_rename(fill->function, NULL);
        return status;
    }
    if (tni_module_each(module, check_layer, fill))
        tni_module_each(module, fill_layer, fill);
    return tn_error_code();
}

tn_status tn_init_normal(tn_module *module, tn_default_rng *rng)
{
    filling fill = {.function = "init_normal", .normal = rng};
    if (!tn_error_code() && module && !rng)
        return TN_FAIL_NULL(fill.function, 2, "rng");
    return fill_module(module, &fill);
}

tn_status tn_init_torch(tn_module *module, tn_torch_generator *generator, bool fused)
{
    filling fill = {.function = "init_torch", .torch = generator, .fused = fused};
    if (!tn_error_code() && module && !generator)
        return TN_FAIL_NULL(fill.function, 2, "generator");
    return fill_module(module, &fill);
}
