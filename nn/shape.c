/* Modules about positions: Flatten, and Embedding, which looks rows up. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/views.h>

#include "module.h"

typedef struct flatten {
    tn_module module;
    int start, end;
} flatten;

static tn_tensor *flatten_forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    const flatten *self = (const flatten *)(const void *)module;
    return tn_flatten(x, self->start, self->end);
}

static int flatten_settings(const tn_module *module, char *buf, size_t size)
{
    const flatten *self = (const flatten *)(const void *)module;
    return snprintf(buf, size, "start_dim=%d, end_dim=%d", self->start, self->end);
}

static tn_module *flatten_bare(const tn_module *module)
{
    const flatten *self = (const flatten *)(const void *)module;
    return tn_flatten_module(self->start, self->end);
}

static const tni_module_class flatten_class = {
    .object = {.name = "Flatten", .bytes = sizeof(flatten), .destroy = tni_module_destroy},
    .forward = flatten_forward,
    .settings = flatten_settings,
    .bare = flatten_bare,
};

tn_module *tn_flatten_module(int start_dim, int end_dim)
{
    flatten *self = tn_error_code() ? NULL : tn_object_new(&flatten_class.object);
    if (self) {
        self->start = start_dim;
        self->end = end_dim;
    }
    return self ? &self->module : NULL;
}

/* y[..., :] = weight[x[...], :] */
static tn_tensor *embedding_forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    tn_tensor *weight = module->parameters[0].tensor;
    int64_t sizes[TN_MAX_NDIM], n = tn_numel(x);
    int ndim = tn_ndim(x);
    if (ndim + 1 > TN_MAX_NDIM) {
        TN_FAIL(TN_ERROR_DIM, "embedding", "the input has %d dims, needed fewer than %d", ndim, TN_MAX_NDIM);
        return NULL;
    }
    memcpy(sizes, tn_sizes(x), (size_t)ndim * sizeof *sizes);
    sizes[ndim] = tn_size(weight, 1);
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = tn_view(tn_index_select(weight, 0, tn_reshape(x, &n, 1)), sizes, ndim + 1);
    y = y ? tn_scope_escape(scope, y) : NULL;
    tn_scope_end(scope);
    return y;
}

static int embedding_settings(const tn_module *module, char *buf, size_t size)
{
    const tn_tensor *weight = module->parameters[0].tensor;
    return snprintf(buf, size, "%" PRId64 ", %" PRId64, tn_size(weight, 0), tn_size(weight, 1));
}

static const tni_module_class embedding_class = {
    .object = {.name = "Embedding", .bytes = sizeof(tn_module), .destroy = tni_module_destroy},
    .forward = embedding_forward,
    .settings = embedding_settings,
};

tn_module *tn_embedding_module(int64_t num_embeddings, int64_t embedding_dim, tn_dtype dtype)
{
    if (tn_error_code() || tni_module_check_dtype("embedding_module", dtype))
        return NULL;
    if (num_embeddings < 1 || embedding_dim < 1) {
        TN_FAIL(TN_ERROR_ARGUMENT, "embedding_module", "%" PRId64 " embeddings of %" PRId64 ", needed at least 1 each",
                num_embeddings, embedding_dim);
        return NULL;
    }
    tn_module *self = tn_object_new(&embedding_class.object);
    if (!self)
        return NULL;
    tni_module_give(self, "weight", tn_zeros((int64_t[]){num_embeddings, embedding_dim}, 2, dtype), false);
    if (tn_error_code())
        tn_drop(&self);
    return self;
}
