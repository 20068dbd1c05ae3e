/* The same bytes as another dtype: view_dtype, view_as_real, view_as_complex, real, imag. Rules of torch's functions
 * of these names; view_dtype is Tensor.view(dtype), whose result shares memory and version but is no view that could
 * be differentiated. */
#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "dispatch/op.h"
#include "ops/operators.h"
#include "ops/tape.h"

typedef struct dtype_attr {
    tn_dtype dtype;
} dtype_attr;

/* real, imag */
enum { REAL, IMAG };

/* Elements become `ratio` smaller ones each, side by side in the last dim. */
static tn_status to_smaller(tni_meta *meta, const tn_tensor *x, int64_t ratio, int64_t *sizes, int64_t *strides)
{
    const char *name = "view_dtype";
    int last = x->ndim - 1;
    bool fits = tni_mul_i64(x->sizes[last], ratio, &sizes[last]) &&
                tni_mul_i64(x->offset, ratio, &meta->record.offset) &&
                tni_mul_i64(x->numel, ratio, &meta->record.numel);
    if (x->strides[last] != 1)
        return TNI_FAIL(TN_ERROR_VIEW, name, "stride %lld of the last dim should be 1 for a dtype of another size",
                        (long long)x->strides[last]);
    for (int d = 0; d < last; d++)
        fits = fits && tni_mul_i64(x->strides[d], ratio, &strides[d]);
    return fits ? TN_OK
                : TNI_FAIL(TN_ERROR_OVERFLOW, name, "the elements of the new dtype are more than 64 bits count");
}

/* `ratio` elements side by side in the last dim become one: the strides of the dims before. ones_pass: those of size-1
 * dims need not divide. */
static tn_status to_larger(const char *name, tni_meta *meta, const tn_tensor *x, int64_t ratio, bool ones_pass,
                           int64_t *strides)
{
    int last = x->ndim - 1;
    if (x->sizes[last] % ratio != 0)
        return TNI_FAIL(TN_ERROR_VIEW, name, "size %lld of the last dim should be a multiple of %lld",
                        (long long)x->sizes[last], (long long)ratio);
    if (x->strides[last] != 1)
        return TNI_FAIL(TN_ERROR_VIEW, name, "stride %lld of the last dim should be 1", (long long)x->strides[last]);
    if (x->offset % ratio != 0)
        return TNI_FAIL(TN_ERROR_VIEW, name, "storage offset %lld should be a multiple of %lld", (long long)x->offset,
                        (long long)ratio);
    for (int d = 0; d < last; d++) {
        if (x->strides[d] % ratio != 0 && (x->sizes[d] != 1 || !ones_pass))
            return TNI_FAIL(TN_ERROR_VIEW, name, "stride %lld of dim %d should be a multiple of %lld",
                            (long long)x->strides[d], d, (long long)ratio);
        strides[d] = x->strides[d] / ratio;
    }
    meta->record.offset = x->offset / ratio;
    meta->record.numel = x->numel / ratio;
    return TN_OK;
}

/* Memory from outside need not be aligned for a larger element. Also without elements: as_strided may find some later.
 * */
static tn_status check_place(const char *name, const tn_tensor *x, tn_dtype dtype)
{
    return !x->storage->data || x->storage->nbytes == 0 ? TN_OK : tni_check_aligned(name, tni_data(x), dtype);
}

static tn_status view_dtype_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    tn_dtype dtype = ((const dtype_attr *)call->attr)->dtype;
    const char *name = "view_dtype";
    if (tni_check_dtype(name, dtype))
        return tni_pending();
    if (x->keys & (TNI_KEY_CONJ | TNI_KEY_NEG)) /* as PyTorch, for the same dtype too */
        return TNI_FAIL(TN_ERROR_STATE, name, "the tensor is a conjugate or negated view: resolve it first");
    int64_t old = tni_itemsize((tn_dtype)x->dtype), new = tni_itemsize(dtype), *sizes, *strides;
    tni_meta_own_dims(meta, x, &sizes, &strides);
    meta->view_of = NULL;
    meta->part_of = x;
    meta->own_counter = false;
    meta->record.dtype = (uint8_t)dtype;
    if (old == new)
        return check_place(name, x, dtype);
    if (x->ndim == 0)
        return TNI_FAIL(TN_ERROR_VIEW, name,
                        "a tensor without dims of %lld-byte elements as %s, needed elements of that size",
                        (long long)old, tn_dtype_name(dtype));
    if (old > new ? to_smaller(meta, x, old / new, sizes, strides)
                  : to_larger(name, meta, x, new / old, false, strides))
        return tni_pending();
    if (new > old)
        sizes[x->ndim - 1] /= new / old;
    return check_place(name, x, dtype);
}

static tn_status need_complex(const char *name, const tn_tensor *x)
{
    if (tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed a complex dtype",
                    tn_dtype_name((tn_dtype)x->dtype));
}

/* Strides and offset of the parts of x's elements, into a view of x's sizes. */
static tn_status split_parts(const char *name, tni_meta *meta, const tn_tensor *x, int64_t *sizes, int64_t *strides)
{
    bool fits = tni_mul_i64(x->offset, 2, &meta->record.offset);
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[d];
        fits = fits && tni_mul_i64(x->strides[d], 2, &strides[d]);
    }
    meta->record.dtype = (uint8_t)tni_real_dtype((tn_dtype)x->dtype);
    return fits ? TN_OK : TNI_FAIL(TN_ERROR_OVERFLOW, name, "strides of the parts are more than 64 bits hold");
}

static tn_status view_as_real_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const char *name = "view_as_real";
    int64_t *sizes, *strides;
    if (need_complex(name, x))
        return tni_pending();
    if (x->keys & TNI_KEY_CONJ)
        return TNI_FAIL(TN_ERROR_STATE, name, "the tensor is a conjugate view: tn_resolve_conj it first");
    if (x->ndim == TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "the tensor has %d dims already, the most there can be", x->ndim);
    tni_meta_view_dims(meta, x, x->ndim + 1, &sizes, &strides);
    if (split_parts(name, meta, x, sizes, strides))
        return tni_pending();
    sizes[x->ndim] = 2;
    strides[x->ndim] = 1;
    if (!tni_mul_i64(x->numel, 2, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the parts are more than 64 bits count");
    return TN_OK;
}

/* real of a tensor that is real is the tensor itself. */
static tn_status part_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const char *name = tni_call_name(call);
    int64_t *sizes, *strides;
    if (call->op->family == REAL && tni_dtype_kind((tn_dtype)x->dtype) != TNI_COMPLEX) {
        meta->same = x;
        return TN_OK;
    }
    if (need_complex(name, x))
        return tni_pending();
    tni_meta_view_dims(meta, x, x->ndim, &sizes, &strides);
    if (split_parts(name, meta, x, sizes, strides))
        return tni_pending();
    meta->record.offset += call->op->family == IMAG;
    if (x->keys & TNI_KEY_CONJ) /* the parts of a conjugate: the imaginary one has the other sign */
        meta->record.toggle = tni_toggle(TNI_KEY_CONJ | (call->op->family == IMAG ? TNI_KEY_NEG : 0));
    return TN_OK;
}

static tn_status view_as_complex_infer(tni_call *call, tni_meta *meta)
{
    static const struct {
        tn_dtype part, whole;
    } twins[] = {{TN_FLOAT16, TN_COMPLEX32}, {TN_FLOAT32, TN_COMPLEX64}, {TN_FLOAT64, TN_COMPLEX128}};
    tn_tensor *x = call->in[0];
    const char *name = "view_as_complex";
    tn_dtype whole = TN_DTYPE_NONE;
    int64_t *sizes, *strides;
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++)
        if (twins[i].part == (tn_dtype)x->dtype)
            whole = twins[i].whole;
    if (whole == TN_DTYPE_NONE)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed float16, float32 or float64",
                        tn_dtype_name((tn_dtype)x->dtype));
    if (x->ndim == 0)
        return TNI_FAIL(TN_ERROR_VIEW, name, "the tensor has no dims, needed a last one of size 2");
    if (x->sizes[x->ndim - 1] != 2)
        return TNI_FAIL(TN_ERROR_VIEW, name, "size %lld of the last dim should be 2",
                        (long long)x->sizes[x->ndim - 1]);
    tni_meta_view_dims(meta, x, x->ndim - 1, &sizes, &strides);
    meta->record.dtype = (uint8_t)whole;
    if (to_larger(name, meta, x, 2, true, strides))
        return tni_pending();
    for (int d = 0; d < x->ndim - 1; d++)
        sizes[d] = x->sizes[d];
    return check_place(name, x, whole);
}

/* x, or a copy of it, whose last dim's pairs lie as complex elements do. */
static tn_tensor *paired(tn_tensor *x)
{
    const int last = x->ndim - 1;
    bool fits = x->strides[last] == 1 && x->offset % 2 == 0;
    for (int d = 0; d < last; d++)
        fits = fits && (x->strides[d] % 2 == 0 || x->sizes[d] == 1);
    return fits ? x : tn_clone_format(x, TN_CONTIGUOUS_FORMAT);
}

static void view_as_real_vjp(tni_vjp *v)
{
    v->grads[0] = tn_view_as_complex(paired(v->grad));
}

static void view_as_complex_vjp(tni_vjp *v)
{
    v->grads[0] = tn_view_as_real(tn_resolve_conj(v->grad));
}

static void imag_vjp(tni_vjp *v)
{
    tn_tensor *parts[2] = {tn_zeros_like(v->grad, TN_DTYPE_NONE, TN_CONTIGUOUS_FORMAT), v->grad};
    v->grads[0] = tn_view_as_complex(tn_stack(parts, 2, -1));
}

static const tni_derivative view_as_real_derivative = {.linear = true, .vjp = view_as_real_vjp};
static const tni_derivative view_as_complex_derivative = {.linear = true, .vjp = view_as_complex_vjp};
/* the walk makes the gradient of a real part complex */
static const tni_derivative real_derivative = {.name = "SelectBackward0", .linear = true, .vjp = tni_vjp_pass};
static const tni_derivative imag_derivative = {.name = "SelectBackward0", .linear = true, .vjp = imag_vjp};

#define ONE_TENSOR .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1

const tni_op tni_op_view_dtype = {
    .name = TNI_NAMES_NEW(view_dtype), .params = {TNI_TENSOR("self", 0), TNI_ATTR("dtype", 'D', dtype_attr, dtype)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(dtype_attr), .infer = view_dtype_infer,
    .derivative = &tni_constant,
    .samples = "[3,4] int32 | [3,4] int8 | [3,4] float64 | [0,4] int64 | [] float32 | ! [] complex64 | "
        "! [3,3] float64"};

const tni_op tni_op_view_as_real = {
    .name = TNI_NAMES_NEW(view_as_real), ONE_TENSOR, .infer = view_as_real_infer,
    .derivative = &view_as_real_derivative, .samples = "! [3] | ! []"};

const tni_op tni_op_view_as_complex = {
    .name = TNI_NAMES_NEW(view_as_complex), ONE_TENSOR, .infer = view_as_complex_infer,
    .derivative = &view_as_complex_derivative,
    .samples = "[3,2] | [2] | [0,3,2] | ! [3] | ! []"};

const tni_op tni_op_real = {
    .name = TNI_NAMES_NEW(real), ONE_TENSOR, .infer = part_infer, .family = REAL, .derivative = &real_derivative,
    .samples = "[3,4] | [] | [0]"};

const tni_op tni_op_imag = {
    .name = TNI_NAMES_NEW(imag), ONE_TENSOR, .infer = part_infer, .family = IMAG, .derivative = &imag_derivative,
    .samples = "! [3,4] | ! []"};

tn_tensor *tn_view_dtype(tn_tensor *x, tn_dtype dtype)
{
    const dtype_attr attr = {dtype};
    return tni_call_new(&tni_op_view_dtype, &x, &attr);
}

tn_tensor *tn_view_as_real(tn_tensor *x)
{
    return tni_call_new(&tni_op_view_as_real, &x, NULL);
}

tn_tensor *tn_view_as_complex(tn_tensor *x)
{
    return tni_call_new(&tni_op_view_as_complex, &x, NULL);
}

tn_tensor *tn_real(tn_tensor *x)
{
    return tni_call_new(&tni_op_real, &x, NULL);
}

tn_tensor *tn_imag(tn_tensor *x)
{
    return tni_call_new(&tni_op_imag, &x, NULL);
}
