/* Embedding: rows of a table (torch.nn.Embedding, torch.nn.functional.embedding).
 *
 *     y[..., :] = weight[x[...], :]
 *
 * A row of padding gets no gradient. With max_norm the rows that are looked up are first scaled, where they are longer,
 * by max_norm / (norm + 1e-7). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/autograd.h>
#include <tenon/views.h>

#include "module.h"

typedef struct embedding {
    tn_module module;
    int64_t padding; /* -1: none */
    double max_norm, norm_type;
} embedding;

static const embedding *of(const tn_module *module)
{
    return (const embedding *)(const void *)module;
}

int64_t tni_embedding_padding(const tn_module *module)
{
    return of(module)->padding;
}

/* The table as it lies in memory. */
typedef struct table {
    void *data;
    bool single;
    int64_t rows, columns, row_stride, column_stride;
} table;

static double element(const table *t, int64_t i, int64_t j)
{
    const int64_t at = i * t->row_stride + j * t->column_stride;
    return t->single ? (double)((const float *)t->data)[at] : ((const double *)t->data)[at];
}

static double row_norm(const table *t, int64_t i, double p)
{
    double sum = 0;
    for (int64_t j = 0; j < t->columns; j++) {
        const double size = fabs(element(t, i, j));
        if (isinf(p))
            sum = size > sum || isnan(size) ? size : sum;
        else
            sum += p == 2 ? size * size : pow(size, p);
    }
    return isinf(p) ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static void scale_row(const table *t, int64_t i, double scale)
{
    for (int64_t j = 0; j < t->columns; j++) {
        const int64_t at = i * t->row_stride + j * t->column_stride;
        if (t->single)
            ((float *)t->data)[at] *= (float)scale;
        else
            ((double *)t->data)[at] *= scale;
    }
}

/* Scales each row of `index` once. An index out of range ends it before the first: looking it up then tells. */
static void shorten(const embedding *self, tn_tensor *index)
{
    const tn_tensor *weight = self->module.parameters[0].tensor;
    const int64_t n = tn_numel(index), rows = tn_size(weight, 0);
    tn_tensor *wide = tn_contiguous(tn_to(index, TN_INT64));
    const int64_t *at = wide && n > 0 ? tn_data_i64(wide) : NULL;
    for (int64_t k = 0; at && k < n; k++)
        if (at[k] < 0 || at[k] >= rows)
            at = NULL;
    bool *seen = at ? tn_allocate((size_t)rows, "embedding") : NULL;
    const table t = {.data = seen ? tn_data_mut(self->module.parameters[0].tensor) : NULL,
                     .single = tn_tensor_dtype(weight) == TN_FLOAT32, .rows = rows, .columns = tn_size(weight, 1),
                     .row_stride = tn_stride(weight, 0), .column_stride = tn_stride(weight, 1)};
    for (int64_t k = 0; t.data && k < n; k++) {
        const double norm = seen[at[k]] ? 0 : row_norm(&t, at[k], self->norm_type);
        seen[at[k]] = true;
        if (norm > self->max_norm)
            scale_row(&t, at[k], self->max_norm / (norm + 1e-7));
    }
    tn_deallocate(seen, (size_t)rows);
}

static tn_tensor *look_up(const embedding *self, tn_tensor *x)
{
    const tn_dtype dtype = tn_tensor_dtype(x);
    int64_t sizes[TN_MAX_NDIM], n = tn_numel(x);
    const int64_t column[] = {n, 1};
    const int ndim = tn_ndim(x);
    tn_tensor *weight = self->module.parameters[0].tensor, *index = tn_reshape(x, &n, 1);
    memcpy(sizes, tn_sizes(x), (size_t)ndim * sizeof *sizes);
    sizes[ndim] = tn_size(weight, 1);
    if (index && self->max_norm > 0 && (dtype == TN_INT64 || dtype == TN_INT32) &&
        tn_tensor_device(weight).type == TN_CPU)
        shorten(self, index);
    tn_tensor *rows = tn_index_select(weight, 0, index);
    if (rows && self->padding >= 0) {
        tn_tensor *padded = tn_view(tn_eq_scalar(index, tn_int(self->padding)), column, 2);
        rows = tn_where(padded, tn_detach(rows), rows);
    }
    return tn_view(rows, sizes, ndim + 1);
}

static tn_tensor *forward(tn_module *module, tn_tensor *x, const tni_place *place)
{
    (void)place;
    if (tn_ndim(x) + 1 > TN_MAX_NDIM) {
        TN_FAIL(TN_ERROR_DIM, "embedding", "the input has %d dims, needed fewer than %d", tn_ndim(x), TN_MAX_NDIM);
        return NULL;
    }
    tn_scope scope = tn_scope_begin();
    tn_tensor *y = look_up(of(module), x);
    y = y ? tn_scope_escape(scope, y) : NULL;
    tn_scope_end(scope);
    return y;
}

static int settings(const tn_module *module, char *buf, size_t size)
{
    const embedding *self = of(module);
    const tn_tensor *weight = module->parameters[0].tensor;
    char padding[48] = "", max_norm[64] = "", norm_type[64] = "", number[32];
    if (self->padding >= 0)
        snprintf(padding, sizeof padding, ", padding_idx=%" PRId64, self->padding);
    tn_format_double(number, sizeof number, self->max_norm);
    if (self->max_norm > 0)
        snprintf(max_norm, sizeof max_norm, ", max_norm=%s", number);
    tn_format_double(number, sizeof number, self->norm_type);
    if (self->norm_type != 2)
        snprintf(norm_type, sizeof norm_type, ", norm_type=%s", number);
    return snprintf(buf, size, "%" PRId64 ", %" PRId64 "%s%s%s", tn_size(weight, 0), tn_size(weight, 1), padding,
                    max_norm, norm_type);
}

static tn_module *bare(const tn_module *module)
{
    embedding *self = tn_object_new(tn_object_type(module));
    if (!self)
        return NULL;
    self->padding = of(module)->padding;
    self->max_norm = of(module)->max_norm;
    self->norm_type = of(module)->norm_type;
    return &self->module;
}

const tni_module_class tni_embedding_class = {
    .object = {.name = "Embedding", .bytes = sizeof(embedding), .destroy = tni_module_destroy},
    .forward = forward,
    .bare = bare,
    .settings = settings,
};

static tn_status check(int64_t rows, int64_t columns, const tn_embedding_options *o)
{
    const char *function = "embedding_module";
    char text[32];
    if (rows < 1 || columns < 1)
        return TN_FAIL(TN_ERROR_ARGUMENT, function,
                       "%" PRId64 " embeddings of %" PRId64 ", needed at least 1 each", rows, columns);
    if (o->pad && (o->padding_idx >= rows || o->padding_idx < -rows))
        return TN_FAIL(TN_ERROR_INDEX, function, "padding_idx is %" PRId64 ", there are %" PRId64 " embeddings",
                       o->padding_idx, rows);
    if (o->max_norm >= 0 && o->norm_type >= 0)
        return TN_OK;
    const bool type = o->max_norm >= 0;
    tn_format_double(text, sizeof text, type ? o->norm_type : o->max_norm);
    return TN_FAIL(TN_ERROR_ARGUMENT, function, "%s is %s, needed 0 or more", type ? "norm_type" : "max_norm", text);
}

tn_module *tn_embedding_module(int64_t num_embeddings, int64_t embedding_dim, const tn_embedding_options *options,
                               tn_dtype dtype)
{
    static const tn_embedding_options usual;
    const tn_embedding_options *o = options ? options : &usual;
    if (tn_error_code() || tni_module_check_dtype("embedding_module", dtype) ||
        check(num_embeddings, embedding_dim, o))
        return NULL;
    embedding *self = tn_object_new(&tni_embedding_class.object);
    if (!self)
        return NULL;
    self->padding = !o->pad ? -1 : o->padding_idx < 0 ? o->padding_idx + num_embeddings : o->padding_idx;
    self->max_norm = o->max_norm;
    self->norm_type = o->norm_type > 0 ? o->norm_type : 2;
    tni_module_give(&self->module, "weight", tn_zeros((int64_t[]){num_embeddings, embedding_dim}, 2, dtype), false);
    if (tn_error_code()) {
        tn_error_rename("embedding_module", NULL);
        tn_drop(&self);
    }
    return self ? &self->module : NULL;
}
