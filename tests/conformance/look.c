/* What a tensor is, as JSON, and the answers to queries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/replay.h"

enum { SHOWN = 600 }; /* more elements than this: a checksum */

static json_t *real_json(double value)
{
    return isnan(value)   ? json_string("nan")
           : isinf(value) ? json_string(value > 0 ? "inf" : "-inf")
                          : json_real(value);
}

static json_t *unsigned_json(uint64_t value)
{
    char text[32];
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "#%llu", (unsigned long long)value);
    return json_string(text);
}

json_t *scalar_json(tn_scalar value, tn_dtype dtype)
{
    switch (value.kind) {
    case TN_SCALAR_BOOL:
        return json_boolean(value.value.i != 0);
    case TN_SCALAR_INT:
        return dtype == TN_UINT64 ? unsigned_json((uint64_t)value.value.i) : json_integer(value.value.i);
    case TN_SCALAR_FLOAT:
        return real_json(value.value.f);
    default:
        return json_pack("[oo]", real_json(value.value.c.re), real_json(value.value.c.im));
    }
}

static tn_tensor *flat_of(const tn_tensor *x)
{
    const int64_t all = -1;
    return tn_reshape((tn_tensor *)x, tn_numel(x) ? &all : (const int64_t[]){0}, 1);
}

typedef json_t *(*element_json)(const tn_tensor *flat, int64_t i);

static json_t *value_at(const tn_tensor *flat, int64_t i)
{
    tn_tensor *element = tn_select((tn_tensor *)flat, 0, i);
    json_t *value = scalar_json(tn_item_scalar(element), tn_tensor_dtype(flat));
    tn_drop(&element);
    return value;
}

static json_t *bits_at(const tn_tensor *flat, int64_t i)
{
    size_t size = tn_itemsize(tn_tensor_dtype(flat));
    uint64_t bits = 0;
    memcpy(&bits, (const char *)tn_data(flat) + (size_t)i * size, size <= 8 ? size : 8);
    return unsigned_json(bits);
}

static json_t *nest(const tn_tensor *x, const tn_tensor *flat, int dim, int64_t *i, element_json element)
{
    if (dim == tn_ndim(x))
        return element(flat, (*i)++);
    json_t *list = json_array();
    for (int64_t k = 0; k < tn_sizes(x)[dim]; k++)
        json_array_append_new(list, nest(x, flat, dim + 1, i, element));
    return list;
}

static json_t *nested(const tn_tensor *x, element_json element)
{
    int64_t i = 0;
    tn_tensor *flat = flat_of(x);
    return flat ? nest(x, flat, 0, &i, element) : NULL;
}

json_t *nested_values(const tn_tensor *x)
{
    return nested(x, value_at);
}

static json_t *checksum(const tn_tensor *x)
{
    double sum = 0, weighted = 0;
    tn_tensor *flat = flat_of(x);
    for (int64_t i = 0; flat && i < tn_numel(x); i++) {
        tn_tensor *element = tn_select(flat, 0, i);
        double value = tn_item(element);
        sum += value;
        weighted += value * (double)(i % 97 + 1);
        tn_drop(&element);
    }
    return json_pack("[ff]", sum, weighted);
}

static json_t *integers_json(const int64_t *list, int n)
{
    json_t *array = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(array, json_integer(list[i]));
    return array;
}

json_t *describe(const tn_tensor *x)
{
    tn_grad_mode mode = tn_no_grad();
    tn_scope scope = tn_scope_begin();
    int n = tn_ndim(x);
    json_t *version = tn_is_inference(x) ? json_null() : json_integer((json_int_t)tn_version(x));
    json_t *d = json_pack("{so so sI ss sb sI so}", "shape", integers_json(tn_sizes(x), n), "stride",
                          integers_json(tn_strides(x), n), "storage_offset", (json_int_t)tn_storage_offset(x), "dtype",
                          tn_dtype_name(tn_tensor_dtype(x)), "is_contiguous", tn_is_contiguous(x), "storage_nbytes",
                          (json_int_t)tn_storage_nbytes(x), "version", version);
    if (n == 4)
        json_object_set_new(d, "channels_last", json_boolean(tn_is_contiguous_in(x, TN_CHANNELS_LAST)));
    if (n == 5)
        json_object_set_new(d, "channels_last_3d", json_boolean(tn_is_contiguous_in(x, TN_CHANNELS_LAST_3D)));
    if (tn_is_view(x))
        json_object_set_new(d, "is_view", json_true());
    if (tn_numel(x) <= SHOWN)
        json_object_set_new(d, "values", nested_values(x));
    else if (tn_numel(x) < 1 << 20)
        json_object_set_new(d, "checksum", checksum(x));
    tn_scope_end(scope);
    tn_grad_mode_restore(mode);
    return d;
}

/* The numbers of PyTorch's report on values that are not close; its other reports are known by their first words. */
static json_t *report_json(const char *report)
{
    json_t *answer = json_pack("{sb}", "ok", 0);
    const char *kind = strstr(report, "shape") && !strstr(report, "Mismatched")   ? "shape"
                       : strstr(report, "dtype") && !strstr(report, "Mismatched") ? "dtype"
                                                                                  : "values";
    json_object_set_new(answer, "kind", json_string(kind));
    const char *at = strstr(report, "Mismatched elements: ");
    if (at) {
        char *end;
        json_object_set_new(answer, "mismatched",
                            json_integer(strtoll(at + strlen("Mismatched elements: "), &end, 10)));
        json_object_set_new(answer, "of", json_integer(strtoll(end + 3, NULL, 10)));
    }
    static const struct {
        const char *text, *value, *index;
    } parts[] = {{"Greatest absolute difference: ", "greatest_abs", "at_abs"},
                 {"Greatest relative difference: ", "greatest_rel", "at_rel"}};
    for (int i = 0; i < 2; i++) {
        if (!(at = strstr(report, parts[i].text)))
            continue;
        char *end;
        double value = strtod(at + strlen(parts[i].text), &end);
        json_object_set_new(answer, parts[i].value, real_json(value));
        json_t *index = json_array();
        if (strncmp(end, " at index (", 11) == 0)
            for (end += 10; *end && *end != ')';) {
                char *next;
                long long k = strtoll(++end, &next, 10);
                if (next != end)
                    json_array_append_new(index, json_integer(k));
                end = next;
                while (*end && *end != ',' && *end != ')')
                    end++;
            }
        json_object_set_new(answer, parts[i].index, index);
    }
    static const char *const of_numbers[][2] = {{"Absolute difference: ", "abs"}, {"Relative difference: ", "rel"}};
    for (int i = 0; i < 2; i++)
        if ((at = strstr(report, of_numbers[i][0])))
            json_object_set_new(answer, of_numbers[i][1], real_json(strtod(at + strlen(of_numbers[i][0]), NULL)));
    return answer;
}

static bool flag_of(const boxes *b, int i, bool otherwise)
{
    return b->n > i && b->values[i].kind == TN_VALUE_SCALAR ? b->values[i].as.scalar.value.i != 0 : otherwise;
}

static double real_of(const boxes *b, int i, double otherwise)
{
    return b->n > i && b->values[i].kind == TN_VALUE_SCALAR ? b->values[i].as.scalar.value.f : otherwise;
}

static json_t *ask_assert_close(const boxes *b)
{
    bool rtol = b->n > 2 && b->values[2].kind, atol = b->n > 3 && b->values[3].kind;
    if (rtol != atol) {
        TN_FAIL(TN_ERROR_ARGUMENT, "assert_close", "one tolerance is given, needed both or none");
        return NULL;
    }
    const tn_assert_close_options options = {
        .tolerances_given = rtol, .rtol = real_of(b, 2, 0), .atol = real_of(b, 3, 0), .equal_nan = flag_of(b, 4, false),
        .ignore_dtype = !flag_of(b, 5, true), .check_stride = flag_of(b, 6, false)};
    tn_status status = tn_assert_close(b->values[0].as.tensor, b->values[1].as.tensor, &options);
    if (status == TN_OK)
        return json_pack("{sb}", "ok", 1);
    if (status != TN_ERROR_NOT_CLOSE)
        return NULL;
    json_t *answer = report_json(tn_error_message());
    tn_error_clear();
    return answer;
}

static json_t *ask_result_type(const boxes *b)
{
    tn_tensor *tensors[2];
    tn_scalar numbers[2];
    int n_tensors = 0, n_numbers = 0;
    for (int i = 0; i < 2; i++)
        if (b->values[i].kind == TN_VALUE_TENSOR)
            tensors[n_tensors++] = b->values[i].as.tensor;
        else
            numbers[n_numbers++] = b->values[i].as.scalar;
    return json_string(tn_dtype_name(tn_result_type(tensors, n_tensors, numbers, n_numbers)));
}

static json_t *ask_broadcast_shapes(const boxes *b)
{
    const int64_t *sizes[2];
    int64_t out[TN_MAX_NDIM];
    int ndims[2];
    for (int i = 0; i < 2; i++) {
        bool one = b->values[i].kind == TN_VALUE_SCALAR;
        sizes[i] = one ? &b->values[i].as.scalar.value.i : b->values[i].as.ints.data;
        ndims[i] = one ? 1 : b->values[i].as.ints.n;
    }
    int n = tn_broadcast_shapes(sizes, ndims, 2, out);
    return tn_error_code() ? NULL : integers_json(out, n);
}

static json_t *ask_finfo(tn_dtype dtype)
{
    tn_float_facts f = tn_finfo(dtype);
    return json_pack("{si sf sf sf sf sf}", "bits", f.bits, "eps", f.eps, "max", f.max, "min", f.min, "smallest_normal",
                     f.smallest_normal, "resolution", f.resolution);
}

static json_t *ask_iinfo(tn_dtype dtype)
{
    tn_integer_facts f = tn_iinfo(dtype);
    return json_pack("{si sI so}", "bits", f.bits, "min", (json_int_t)f.min, "max", unsigned_json(f.max));
}

static json_t *ask_dtype_info(tn_dtype dtype)
{
    const char *name = tn_dtype_name(dtype); /* of storage types PyTorch does not say whether they are signed */
    bool stored = name[0] == 'q' || strncmp(name, "bits", 4) == 0;
    return json_pack("{si sb sb so}", "itemsize", (int)tn_itemsize(dtype), "is_floating_point",
                     tn_is_floating_point(dtype), "is_complex", tn_is_complex(dtype), "is_signed",
                     stored ? json_null() : json_boolean(tn_is_signed(dtype)));
}

static json_t *ask_is_set_to(const tn_tensor *x, const tn_tensor *y)
{
    bool same = tn_is_same_storage(x, y) && tn_storage_offset(x) == tn_storage_offset(y) && tn_ndim(x) == tn_ndim(y);
    for (int d = 0; same && d < tn_ndim(x); d++)
        same = tn_sizes(x)[d] == tn_sizes(y)[d] && tn_strides(x)[d] == tn_strides(y)[d];
    return json_boolean(same);
}

static const struct query {
    const char *name, *codes;
} queries[] = {
#define WORD(name, codes)
#define QUERY(name, codes) {#name, codes},
#define LATER(name)
#include "conformance/vocabulary.def"
#undef WORD
#undef QUERY
#undef LATER
};

bool query_codes(const char *name, const char **codes)
{
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
        if (strcmp(queries[i].name, name) == 0) {
            *codes = queries[i].codes;
            return true;
        }
    return false;
}

bool query_is_there(const json_t *query, char *missing, size_t size)
{
    static const char *const absent[] = {"internal_overlap", "int", "float"};
    const char *name = json_string_value(json_array_get(query, 0)), *codes;
    bool there = query_codes(name, &codes);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        there = there && strcmp(absent[i], name) != 0;
    if (!there)
        snprintf(missing, size, "query %s", name);
    return there;
}

static json_t *answer_of(const char *name, const boxes *b)
{
#define IS(word) (strcmp(name, word) == 0)
    tn_tensor *x = b->values[0].as.tensor, *y = b->values[1].as.tensor;
    tn_dtype dtype = b->values[0].as.dtype;
    json_t *of_tape = tape_answer(name, x);
    if (of_tape)
        return of_tape;
    int dim = b->n > 1 && b->values[1].kind == TN_VALUE_SCALAR ? (int)b->values[1].as.scalar.value.i : 0;
    if (IS("item"))
        return scalar_json(tn_item_scalar(x), tn_tensor_dtype(x));
    if (IS("bool"))
        return json_boolean(tn_item(x) != 0);
    if (IS("numel"))
        return json_integer(tn_numel(x));
    if (IS("dim"))
        return json_integer(tn_ndim(x));
    if (IS("len"))
        return json_integer(tn_size(x, 0));
    if (IS("size"))
        return json_integer(tn_size(x, dim));
    if (IS("stride"))
        return json_integer(tn_stride(x, dim));
    if (IS("shape"))
        return integers_json(tn_sizes(x), tn_ndim(x));
    if (IS("strides"))
        return integers_json(tn_strides(x), tn_ndim(x));
    if (IS("offset"))
        return json_integer(tn_storage_offset(x));
    if (IS("byte_offset"))
        return json_integer(tn_storage_offset(x) * (int64_t)tn_itemsize(tn_tensor_dtype(x)));
    if (IS("values"))
        return nested_values(x);
    if (IS("bits"))
        return nested(tn_clone_format(tn_resolve_neg(tn_resolve_conj(x)), TN_CONTIGUOUS_FORMAT), bits_at);
    if (IS("is_contiguous"))
        return json_boolean(b->n > 1 && b->values[1].kind ? tn_is_contiguous_in(x, b->values[1].as.format)
                                                          : tn_is_contiguous(x));
    if (IS("same_storage"))
        return json_boolean(tn_is_same_storage(x, y));
    if (IS("same_tensor"))
        return json_boolean(x == y);
    if (IS("same_data_ptr"))
        return json_boolean(tn_data(x) == tn_data(y));
    if (IS("is_set_to"))
        return ask_is_set_to(x, y);
    if (IS("element_size"))
        return json_integer((json_int_t)tn_itemsize(tn_tensor_dtype(x)));
    if (IS("storage_nbytes"))
        return json_integer((json_int_t)tn_storage_nbytes(x));
    if (IS("version"))
        return json_integer(tn_version(x));
    if (IS("is_view"))
        return json_boolean(tn_is_view(x));
    if (IS("is_base"))
        return json_boolean(tn_is_view(x) && tn_base(x) == y);
    if (IS("is_conj"))
        return json_boolean(tn_is_conj(x));
    if (IS("default_dtype"))
        return json_string(tn_dtype_name(tn_get_default_dtype()));
    if (IS("dtype"))
        return json_string(tn_dtype_name(tn_tensor_dtype(x)));
    if (IS("result_type"))
        return ask_result_type(b);
    if (IS("promote_types"))
        return json_string(tn_dtype_name(tn_promote_types(dtype, b->values[1].as.dtype)));
    if (IS("can_cast"))
        return json_boolean(tn_can_cast(dtype, b->values[1].as.dtype));
    if (IS("finfo"))
        return ask_finfo(dtype);
    if (IS("iinfo"))
        return ask_iinfo(dtype);
    if (IS("dtype_info"))
        return ask_dtype_info(dtype);
    if (IS("broadcast_shapes"))
        return ask_broadcast_shapes(b);
    if (IS("equal"))
        return json_boolean(tn_equal(x, y));
    if (IS("allclose"))
        return json_boolean(tn_allclose(x, y, real_of(b, 2, 1e-5), real_of(b, 3, 1e-8), flag_of(b, 4, false)));
    return ask_assert_close(b);
#undef IS
}

json_t *query_answer(const replay *r, const json_t *query)
{
    const char *name = json_string_value(json_array_get(query, 0)), *codes = "";
    boxes b = {.n = 0};
    json_t *answer = NULL;
    bool of_mode = strcmp(name, "grad_enabled") == 0;
    tn_grad_mode mode = {0};
    if (!of_mode) /* looking at elements makes views */
        mode = tn_no_grad();
    tn_scope scope = tn_scope_begin();
    query_codes(name, &codes);
    if (box_all(&b, r, query, codes))
        answer = answer_of(name, &b);
    if (tn_error_code() && answer) {
        json_decref(answer);
        answer = NULL;
    }
    boxes_free(&b);
    tn_scope_end(scope);
    if (!of_mode)
        tn_grad_mode_restore(mode);
    return answer;
}
