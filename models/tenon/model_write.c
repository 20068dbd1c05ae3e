/* Writing a trained net: tensors by PyTorch's names, all else as strings among the metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_file.h"
#include "number_text.h"
#include "options.h"

enum { FIXED = 16, KEY_SIZE = 32 };

typedef struct strings {
    tn_metadata *list;
    int64_t n;
    char (*keys)[KEY_SIZE]; /* of columns and classes */
    char *numbers[4];
} strings;

static void put(strings *s, const char *key, const char *value)
{
    s->list[s->n++] = (tn_metadata){key, value};
}

static void put_names(strings *s, const char *what, const char **names, int64_t n)
{
    for (int64_t i = 0; names && i < n; i++) {
        char *key = s->keys[s->n];
        snprintf(key, KEY_SIZE, "tenon.%s.%" PRId64, what, i);
        put(s, key, names[i]);
    }
}

/* The elements of a tensor with blanks between. */
static void put_numbers(strings *s, int slot, const char *key, tn_tensor *x)
{
    int64_t n = x ? tn_numel(x) : 0;
    char *text = x ? malloc((size_t)n * (NUMBER_SIZE + 1) + 1) : NULL, *at = text;
    tn_tensor *wide = x ? tn_contiguous(tn_to(x, TN_FLOAT64)) : NULL;
    const double *value = wide ? tn_data_f64(wide) : NULL;
    s->numbers[slot] = text;
    if (!x || !value || !text) {
        if (x && !tn_error_code())
            TN_FAIL(TN_ERROR_MEMORY, "save_model", "no memory for the metadata");
        return;
    }
    *at = '\0';
    for (int64_t i = 0; i < n; i++) {
        char number[NUMBER_SIZE];
        at += sprintf(at, "%s%s", i ? " " : "", number_text(number, value[i], tn_tensor_dtype(x) == TN_FLOAT32));
    }
    put(s, key, text);
}

enum { NAME_SIZE = 64 };

/* Parameters, then buffers: all of PyTorch's state_dict. */
static void list_tensors(const model *it, tn_named_tensor *list, char (*names)[NAME_SIZE])
{
    const int64_t n = tn_parameter_count(it->net), buffers = tn_buffer_count(it->net);
    for (int64_t i = 0; i < n; i++) {
        tn_parameter_name(it->net, i, names[i], NAME_SIZE);
        list[i] = (tn_named_tensor){names[i], tn_parameter(it->net, i)};
    }
    for (int64_t i = 0; i < buffers; i++) {
        tn_buffer_name(it->net, i, names[n + i], NAME_SIZE);
        list[n + i] = (tn_named_tensor){names[n + i], tn_buffer(it->net, i)};
    }
}

static void write_file(const model *it, const char *path, strings *s)
{
    const int64_t n = tn_parameter_count(it->net) + tn_buffer_count(it->net);
    char (*names)[NAME_SIZE] = malloc((size_t)n * sizeof *names + 1);
    tn_named_tensor *tensors = malloc((size_t)n * sizeof *tensors + 1);
    if (names && tensors) {
        list_tensors(it, tensors, names);
        const tn_safetensors_options options = {.metadata = s->list, .n_metadata = s->n, .sum = true};
        tn_save_safetensors(path, tensors, n, &options);
    } else {
        TN_FAIL(TN_ERROR_MEMORY, "save_model", "no memory for %" PRId64 " names", n);
    }
    free(tensors);
    free(names);
}

void model_save(const model *it, const char *path)
{
    size_t room = (size_t)(FIXED + (it->columns ? it->shape.inputs : 0) + (it->class_names ? it->classes : 0));
    char inputs[24], outputs[24], classes[24], hidden[24 * SIZES_LIMIT];
    strings s = {malloc(room * sizeof *s.list), 0, malloc(room * sizeof *s.keys), {NULL}};
    if (s.list && s.keys) {
        snprintf(inputs, sizeof inputs, "%" PRId64, it->shape.inputs);
        snprintf(outputs, sizeof outputs, "%" PRId64, it->shape.outputs);
        snprintf(classes, sizeof classes, "%" PRId64, it->classes);
        option_row row = {.kind = &option_sizes, .value = (void *)&it->shape.hidden};
        row.kind->format(&row, hidden, sizeof hidden);
        put(&s, "format", "pt");
        put(&s, "tenon.inputs", inputs);
        put(&s, "tenon.hidden", hidden);
        put(&s, "tenon.outputs", outputs);
        put(&s, "tenon.activation", activation_words[it->shape.activation]);
        put(&s, "tenon.task", task_words[it->task]);
        put(&s, "tenon.classes", classes);
        if (it->label)
            put(&s, "tenon.label", it->label);
        if (it->label_name)
            put(&s, "tenon.label_name", it->label_name);
        put_numbers(&s, 0, "tenon.mean", it->mean);
        put_numbers(&s, 1, "tenon.scale", it->scale);
        put_numbers(&s, 2, "tenon.target_mean", it->y_mean);
        put_numbers(&s, 3, "tenon.target_scale", it->y_scale);
        put_names(&s, "column", it->columns, it->shape.inputs);
        put_names(&s, "class", it->class_names, it->classes);
        write_file(it, path, &s);
    } else {
        TN_FAIL(TN_ERROR_MEMORY, "save_model", "no memory for the metadata");
    }
    for (int i = 0; i < 4; i++)
        free(s.numbers[i]);
    free(s.keys);
    free(s.list);
}
