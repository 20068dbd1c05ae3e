/* Flatten: dims joined into one (torch.nn.Flatten). */
#include <stdio.h>
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
