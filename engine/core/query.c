/* What a tensor answers: its record, its data, its one element. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/tensor.h"

static bool missing(const char *function, const tn_tensor *x)
{
    if (TNI_LIKELY(x != NULL))
        return false;
    if (!tni_pending())
        TNI_FAIL_NULL(function, 1, "x");
    return true;
}

int tn_ndim(const tn_tensor *x)
{
    return missing("ndim", x) ? 0 : x->ndim;
}

/* Whether x has such a dim; then *dim counts from the front. */
static bool has_dim(const char *function, const tn_tensor *x, int *dim)
{
    if (missing(function, x))
        return false;
    if (x->ndim == 0) {
        TNI_FAIL(TN_ERROR_DIM, function, "dim %d of a tensor that has no dims", *dim);
        return false;
    }
    if (*dim < -x->ndim || *dim >= x->ndim) {
        TNI_FAIL(TN_ERROR_DIM, function, "dim %d of a %d-dim tensor, needed %d .. %d", *dim, x->ndim, -x->ndim,
                 x->ndim - 1);
        return false;
    }
    *dim += *dim < 0 ? x->ndim : 0;
    return true;
}

int64_t tn_size(const tn_tensor *x, int dim)
{
    return has_dim("size", x, &dim) ? x->sizes[dim] : 0;
}

int64_t tn_stride(const tn_tensor *x, int dim)
{
    return has_dim("stride", x, &dim) ? x->strides[dim] : 0;
}

const int64_t *tn_sizes(const tn_tensor *x)
{
    return missing("sizes", x) ? NULL : x->sizes;
}

const int64_t *tn_strides(const tn_tensor *x)
{
    return missing("strides", x) ? NULL : x->strides;
}

int64_t tn_storage_offset(const tn_tensor *x)
{
    return missing("storage_offset", x) ? 0 : x->offset;
}

int64_t tn_numel(const tn_tensor *x)
{
    return missing("numel", x) ? 0 : x->numel;
}

tn_dtype tn_tensor_dtype(const tn_tensor *x)
{
    return missing("tensor_dtype", x) ? TN_DTYPE_NONE : (tn_dtype)x->dtype;
}

tn_device tn_tensor_device(const tn_tensor *x)
{
    tn_device device = {TN_CPU, 0};
    if (!missing("tensor_device", x))
        device.type = (tn_device_type)x->device;
    return device;
}

bool tn_is_contiguous(const tn_tensor *x)
{
    return !missing("is_contiguous", x) && tni_contiguous(x);
}

bool tn_is_view(const tn_tensor *x)
{
    return !missing("is_view", x) && x->base;
}

tn_tensor *tn_base(const tn_tensor *x)
{
    return missing("base", x) ? NULL : x->base;
}

bool tn_is_same_storage(const tn_tensor *a, const tn_tensor *b)
{
    return !missing("is_same_storage", a) && !missing("is_same_storage", b) && a->storage == b->storage;
}

size_t tn_storage_nbytes(const tn_tensor *x)
{
    return missing("storage_nbytes", x) ? 0 : x->storage->nbytes;
}

const void *tn_storage_data(const tn_tensor *x)
{
    return missing("storage_data", x) || x->storage->nbytes == 0 ? NULL : x->storage->data;
}

int64_t tn_version(const tn_tensor *x)
{
    if (missing("version", x))
        return 0;
    if (x->keys & TNI_KEY_INFERENCE) {
        TNI_FAIL(TN_ERROR_INFERENCE, "version",
                 "the tensor was made in inference mode, where versions are not counted");
        return 0;
    }
    return __atomic_load_n(&x->counter->version, __ATOMIC_RELAXED);
}

/* Raw data says the wrong thing of a lazy tensor: Note [Lazy bits]. */
static bool refuse_lazy(const char *function, const tn_tensor *x)
{
    if (!tni_is_lazy(x))
        return false;
    if (x->keys & TNI_KEY_ZERO)
        TNI_FAIL(TN_ERROR_STATE, function, "a zero tensor has no memory, needed zeros of its own: tn_clone makes them");
    else if (x->keys & TNI_KEY_CONJ)
        TNI_FAIL(TN_ERROR_STATE, function, "the tensor is a lazy conjugate, whose memory holds other values: "
                                           "tn_resolve_conj makes a tensor of its own");
    else
        TNI_FAIL(TN_ERROR_STATE, function, "the tensor is a lazy negative, whose memory holds other values: "
                                           "tn_resolve_neg makes a tensor of its own");
    return true;
}

/* The address of the first element after the checks that all data functions share. */
static char *address(const char *function, const tn_tensor *x, tn_dtype wanted)
{
    if (tni_pending() || missing(function, x))
        return NULL;
    if (wanted != TN_DTYPE_NONE && (tn_dtype)x->dtype != wanted) {
        TNI_FAIL(TN_ERROR_DTYPE, function, "the tensor is %s, needed %s", tn_dtype_name((tn_dtype)x->dtype),
                 tn_dtype_name(wanted));
        return NULL;
    }
    if (tni_is_meta(x)) {
        TNI_FAIL(TN_ERROR_DEVICE, function, "the tensor is on meta, which has no data");
        return NULL;
    }
    if (refuse_lazy(function, x))
        return NULL;
    return x->numel ? tni_data(x) : NULL;
}

static char *address_mut(const char *function, tn_tensor *x, tn_dtype wanted)
{
    char *data = address(function, x, wanted);
    if (tni_pending() || tni_check_writable(function, x->storage))
        return NULL;
    tni_written(x);
    return data;
}

const void *tn_data(const tn_tensor *x)
{
    return address("data", x, TN_DTYPE_NONE);
}

const float *tn_data_f32(const tn_tensor *x)
{
    return (const float *)address("data_f32", x, TN_FLOAT32);
}

const double *tn_data_f64(const tn_tensor *x)
{
    return (const double *)address("data_f64", x, TN_FLOAT64);
}

const int64_t *tn_data_i64(const tn_tensor *x)
{
    return (const int64_t *)address("data_i64", x, TN_INT64);
}

const bool *tn_data_bool(const tn_tensor *x)
{
    return (const bool *)address("data_bool", x, TN_BOOL);
}

void *tn_data_mut(tn_tensor *x)
{
    return address_mut("data_mut", x, TN_DTYPE_NONE);
}

float *tn_data_f32_mut(tn_tensor *x)
{
    return (float *)address_mut("data_f32_mut", x, TN_FLOAT32);
}

double *tn_data_f64_mut(tn_tensor *x)
{
    return (double *)address_mut("data_f64_mut", x, TN_FLOAT64);
}

int64_t *tn_data_i64_mut(tn_tensor *x)
{
    return (int64_t *)address_mut("data_i64_mut", x, TN_INT64);
}

bool *tn_data_bool_mut(tn_tensor *x)
{
    return (bool *)address_mut("data_bool_mut", x, TN_BOOL);
}

/* The one element, converted to dtype at `value`. */
static bool only_element(const char *function, const tn_tensor *x, tn_dtype dtype, void *value)
{
    if (tni_pending() || missing(function, x))
        return false;
    if (x->numel != 1) {
        char text[160];
        tni_text_shape(text, sizeof text, x->sizes, x->ndim);
        TNI_FAIL(TN_ERROR_NOT_SCALAR, function, "the tensor has %lld elements (%s), needed one", (long long)x->numel,
                 text);
        return false;
    }
    char element[16];
    const char *data = tni_is_lazy(x) ? element : address(function, x, TN_DTYPE_NONE);
    if (data == element)
        tni_read_element(x, x->keys & TNI_KEY_ZERO ? NULL : tni_data(x), element);
    tni_converter convert = tni_converter_of((tn_dtype)x->dtype, dtype);
    if (data && !convert)
        TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, function, "no conversion from %s to %s", tn_dtype_name((tn_dtype)x->dtype),
                 tn_dtype_name(dtype));
    if (!data || !convert)
        return false;
    convert(value, tni_itemsize(dtype), data, tni_itemsize((tn_dtype)x->dtype), 1);
    return true;
}

/* The only element as a double; of a complex number, whose imaginary part must be 0, the real one. */
static bool real_element(const char *function, const tn_tensor *x, double *real)
{
    tn_complex_value z;
    if (tni_pending() || missing(function, x))
        return false;
    if (tni_dtype_kind((tn_dtype)x->dtype) != TNI_COMPLEX)
        return only_element(function, x, TN_FLOAT64, real);
    if (!only_element(function, x, TN_COMPLEX128, &z))
        return false;
    *real = z.re;
    if (z.im == 0)
        return true;
    char text[40];
    tni_text_double(text, sizeof text, z.im);
    TNI_FAIL(TN_ERROR_OVERFLOW, function, "the element has the imaginary part %s, which a real number does not hold",
             text);
    return false;
}

double tn_item(const tn_tensor *x)
{
    double value;
    return real_element("item", x, &value) ? value : (double)NAN;
}

int64_t tn_item_i64(const tn_tensor *x)
{
    double real;
    int64_t value;
    if (tni_pending() || missing("item_i64", x))
        return 0;
    if (tni_dtype_kind((tn_dtype)x->dtype) <= TNI_INT)
        return only_element("item_i64", x, TN_INT64, &value) ? value : 0;
    if (!real_element("item_i64", x, &real))
        return 0;
    if (!(real >= -0x1p63 && real < 0x1p63)) {
        char text[40];
        tni_text_double(text, sizeof text, real);
        TNI_FAIL(TN_ERROR_OVERFLOW, "item_i64", "the element is %s, which int64 does not hold", text);
        return 0;
    }
    return (int64_t)real;
}

tn_scalar tn_item_scalar(const tn_tensor *x)
{
    _Alignas(16) char element[16];
    if (tni_pending() || missing("item_scalar", x) || !only_element("item_scalar", x, (tn_dtype)x->dtype, element))
        return tn_int(0);
    return tni_scalar_load((tn_dtype)x->dtype, element);
}

/* Whether there are n operands behind the pointer. */
static bool has_operands(const void *operands, int n, int number, const char *name)
{
    if (n < 0)
        TNI_FAIL(TN_ERROR_ARGUMENT, "result_type", "%d %s, needed 0 or more", n, name);
    else if (n > 0 && !operands)
        TNI_FAIL_NULL("result_type", number, name);
    return !tni_pending();
}

tn_dtype tn_result_type(tn_tensor *const *tensors, int n_tensors, const tn_scalar *numbers, int n_numbers)
{
    const char *function = "result_type";
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    if (tni_pending() || !has_operands(tensors, n_tensors, 1, "tensors") ||
        !has_operands(numbers, n_numbers, 3, "numbers"))
        return TN_DTYPE_NONE;
    if (n_tensors + n_numbers == 0) {
        TNI_FAIL(TN_ERROR_ARGUMENT, function, "no operands, needed at least one");
        return TN_DTYPE_NONE;
    }
    for (int i = 0; i < n_tensors && fits; i++) {
        if (!tensors[i]) {
            TNI_FAIL_NULL(function, 1, "tensors");
            return TN_DTYPE_NONE;
        }
        fits = tni_result_type_tensor(&state, (tn_dtype)tensors[i]->dtype, tensors[i]->ndim);
    }
    for (int i = 0; i < n_numbers && fits; i++)
        fits = tni_result_type_scalar(&state, numbers[i]);
    tn_dtype dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (dtype == TN_DTYPE_NONE)
        TNI_FAIL(TN_ERROR_DTYPE, function, "the operands have no common dtype; convert one with tn_to");
    return dtype;
}

