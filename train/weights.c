/* Parameters and buffers of a module, to a file and back. What a file gives is planned in full, every pointer that will
 * be written is asked for, and only then it is copied. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/checkpoint.h>

#include "state_file.h"

typedef struct tni_weight {
    char *name; /* with the prefix; owned */
    tn_tensor *to, *from;
    char *data; /* of `to` */
} weight;

/* Number i among parameters, then buffers. */
static tn_tensor *tensor_at(const tn_module *module, int64_t parameters, int64_t i)
{
    return i < parameters ? tn_parameter(module, i) : tn_buffer(module, i - parameters);
}

/* Its name behind the prefix, as a block of its own; NULL with an error. */
static char *name_at(const char *function, const tn_module *module, int64_t parameters, int64_t i, const char *prefix)
{
    int (*write)(const tn_module *, int64_t, char *, size_t) = i < parameters ? tn_parameter_name : tn_buffer_name;
    int64_t number = i < parameters ? i : i - parameters;
    size_t before = strlen(prefix), length = (size_t)write(module, number, NULL, 0);
    char *name = tn_error_code() ? NULL : tn_allocate(before + length + 1, function);
    if (!name)
        return NULL;
    memcpy(name, prefix, before);
    write(module, number, name + before, length + 1);
    return name;
}

tn_status tni_weights_add(tni_saving *saving, const tn_module *module, const char *prefix)
{
    int64_t parameters = tn_parameter_count(module), all = parameters + tn_buffer_count(module);
    for (int64_t i = 0; i < all && !tn_error_code(); i++) {
        char *name = name_at(saving->function, module, parameters, i, prefix);
        if (!name)
            return tn_error_code();
        tni_saving_add(saving, tensor_at(module, parameters, i), "%s", name);
        tn_deallocate(name, strlen(name) + 1);
    }
    return tn_error_code();
}

static tn_status fail_one_too_many(const tni_weights_plan *plan, const tni_reading *reading, const char *prefix)
{
    char shown[TNI_SHOWN_NAME];
    for (int64_t k = 0; k < tn_safetensors_count(reading->file); k++) {
        const char *name = tn_safetensors_at(reading->file, k).name;
        bool known = strncmp(name, prefix, strlen(prefix)) != 0;
        for (int64_t i = 0; i < plan->n && !known; i++)
            known = strcmp(plan->weights[i].name, name) == 0;
        if (!known)
            return READING_FAIL(reading, TN_ERROR_NAME, "has tensor '%s', which the module does not have",
                                tni_shown_name(shown, name));
    }
    return tn_error_code();
}

static tn_status fill(weight *w, const tni_reading *reading, tn_tensor *to)
{
    w->to = to;
    if (tn_tensor_device(to).type != TN_CPU)
        return TN_FAIL(TN_ERROR_DEVICE, reading->function, "'%s' of the module is on %s, needed data", w->name,
                       tn_device_type_name(tn_tensor_device(to).type));
    w->from = tni_reading_take(reading, w->name, tn_sizes(to), tn_ndim(to), tn_tensor_dtype(to));
    return tn_error_code();
}

tn_status tni_weights_check(tni_weights_plan *plan, const tni_reading *reading, tn_module *module,
                            const char *prefix)
{
    int64_t parameters = tn_parameter_count(module), all = parameters + tn_buffer_count(module), found = 0;
    *plan = (tni_weights_plan){0};
    plan->weights = all > 0 ? tn_allocate((size_t)all * sizeof *plan->weights, reading->function) : NULL;
    if (all > 0 && !plan->weights)
        return tn_error_code();
    plan->room = all;
    for (; plan->n < all; plan->n++) {
        weight *w = &plan->weights[plan->n];
        w->name = name_at(reading->function, module, parameters, plan->n, prefix);
        if (!w->name)
            return tn_error_code();
        if (fill(w, reading, tensor_at(module, parameters, plan->n))) {
            plan->n++;
            return tn_error_code();
        }
    }
    for (int64_t k = 0; k < tn_safetensors_count(reading->file); k++)
        found += strncmp(tn_safetensors_at(reading->file, k).name, prefix, strlen(prefix)) == 0;
    if (found != all)
        return fail_one_too_many(plan, reading, prefix);
    for (int64_t i = 0; i < all && !tn_error_code(); i++)
        plan->weights[i].data = tn_numel(plan->weights[i].to) > 0 ? tn_data_mut(plan->weights[i].to) : NULL;
    return tn_error_code();
}

static void copy(const weight *w)
{
    const char *from = tn_data(w->from);
    const int ndim = tn_ndim(w->to);
    const size_t itemsize = tn_itemsize(tn_tensor_dtype(w->to));
    int64_t at[TN_MAX_NDIM] = {0}, place = 0;
    if (tn_is_contiguous(w->to)) {
        memcpy(w->data, from, (size_t)tn_numel(w->to) * itemsize);
        return;
    }
    for (int64_t i = 0; i < tn_numel(w->to); i++) {
        memcpy(w->data + (size_t)place * itemsize, from + (size_t)i * itemsize, itemsize);
        for (int dim = ndim - 1; dim >= 0; dim--) {
            place += tn_stride(w->to, dim);
            if (++at[dim] < tn_size(w->to, dim))
                break;
            place -= at[dim] * tn_stride(w->to, dim);
            at[dim] = 0;
        }
    }
}

void tni_weights_put(const tni_weights_plan *plan)
{
    for (int64_t i = 0; i < plan->n; i++)
        if (plan->weights[i].data)
            copy(&plan->weights[i]);
}

void tni_weights_free(tni_weights_plan *plan)
{
    for (int64_t i = 0; i < plan->n; i++)
        tn_deallocate(plan->weights[i].name, plan->weights[i].name ? strlen(plan->weights[i].name) + 1 : 0);
    tn_deallocate(plan->weights, (size_t)plan->room * sizeof *plan->weights);
}

bool tni_is_checkpoint(const tn_safetensors *file)
{
    const char *format = tn_safetensors_metadata_find(file, "format");
    return format && strcmp(format, "checkpoint") == 0;
}

tn_status tn_save(const tn_module *module, const char *path)
{
    static const tn_metadata metadata = {"format", "pt"};
    if (tn_error_code())
        return tn_error_code();
    if (!module || !path)
        return TN_FAIL_NULL("save", module ? 2 : 1, module ? "path" : "module");
    tni_saving saving = {.function = "save"};
    tn_grad_mode mode = tn_no_grad();
    if (!tni_weights_add(&saving, module, "") &&
        tn_save_safetensors(path, saving.tensors, saving.n,
                            &(tn_safetensors_options){.metadata = &metadata, .n_metadata = 1, .sum = true}))
        tn_error_rename("save", NULL);
    tn_grad_mode_restore(mode);
    tni_saving_free(&saving);
    return tn_error_code();
}

tn_status tn_load(tn_module *module, const char *path)
{
    if (tn_error_code())
        return tn_error_code();
    if (!module || !path)
        return TN_FAIL_NULL("load", module ? 2 : 1, module ? "path" : "module");
    tni_weights_plan plan = {0};
    tn_scope scope = tn_scope_begin();
    tn_safetensors *file = tn_load_safetensors(path, &(tn_safetensors_options){.verify = true});
    bool checkpoint = file && tni_is_checkpoint(file);
    if (checkpoint && !tn_safetensors_metadata_find(file, "sum")) { /* which is then the error */
        tn_drop(&file);
        file = tn_load_safetensors(path, &(tn_safetensors_options){.sum = true});
    }
    tni_reading reading = {.function = "load", .path = path, .file = file};
    if (!file)
        tn_error_rename("load", NULL);
    else if (!tni_weights_check(&plan, &reading, module, checkpoint ? TNI_MODEL_PREFIX : ""))
        tni_weights_put(&plan);
    tni_weights_free(&plan);
    tn_scope_end(scope);
    return tn_error_code();
}
