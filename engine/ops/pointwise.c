/* Shapes, layouts, dtypes and runs of pointwise calls. */
#include "ops/pointwise.h"

#include <string.h>

#include "base/error.h"
#include "core/format.h"
#include "core/geometry.h"

const tni_binary_attr tni_binary_default = {.alpha = {TN_SCALAR_INT, {1}}};

extern const tni_pointwise tni_pointwise_baseline, tni_pointwise_avx2, tni_pointwise_avx512;

const tni_pointwise *const tni_pointwise_levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_pointwise_baseline,
    [TNI_CPU_AVX2] = &tni_pointwise_avx2,
    [TNI_CPU_AVX512] = &tni_pointwise_avx512,
};

#define LANE(dtype, lane) [TN_##dtype] = TNI_LANE_##lane + 1
const int8_t tni_lanes_of[TN_DTYPE_COUNT] = {
    LANE(FLOAT32, F32),       LANE(FLOAT16, F32),         LANE(BFLOAT16, F32),        LANE(FLOAT8_E4M3FN, F32),
    LANE(FLOAT8_E5M2, F32),   LANE(FLOAT8_E4M3FNUZ, F32), LANE(FLOAT8_E5M2FNUZ, F32), LANE(FLOAT8_E8M0FNU, F32),
    LANE(FLOAT64, F64),       LANE(BOOL, I64),            LANE(INT8, I64),            LANE(INT16, I64),
    LANE(INT32, I64),         LANE(INT64, I64),           LANE(UINT8, I64),           LANE(UINT16, I64),
    LANE(UINT32, I64),        LANE(UINT64, U64),          LANE(COMPLEX32, C64),       LANE(COMPLEX64, C64),
    LANE(COMPLEX128, C128)};

const tn_dtype tni_lane_dtypes[TNI_LANES] = {
    [TNI_LANE_F32] = TN_FLOAT32, [TNI_LANE_F64] = TN_FLOAT64,   [TNI_LANE_I64] = TN_INT64,
    [TNI_LANE_U64] = TN_UINT64,  [TNI_LANE_C64] = TN_COMPLEX64, [TNI_LANE_C128] = TN_COMPLEX128};

tn_status tni_fail_no_kernel(const tni_call *call, tn_dtype dtype)
{
    return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, tni_call_name(call), "no kernel for %s on cpu", tn_dtype_name(dtype));
}

tn_status tni_check_conversions(const tni_call *call)
{
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && !tni_converter_of((tn_dtype)call->in[i]->dtype, call->compute))
            return tni_fail_no_kernel(call, (tn_dtype)call->in[i]->dtype);
    return TN_OK;
}

static tn_status promoted_dtype(const tni_call *call, tn_dtype *promoted)
{
    const tni_binary_attr *attr = call->attr;
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    for (int i = 0; i < 2 && fits; i++) {
        const tn_tensor *x = call->in[i];
        fits = x ? tni_result_type_tensor(&state, (tn_dtype)x->dtype, x->ndim)
                 : tni_result_type_scalar(&state, attr->number[i]);
    }
    *promoted = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (*promoted != TN_DTYPE_NONE)
        return TN_OK;
    const tn_tensor *a = call->in[0], *b = call->in[1];
    return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "%s and %s have no common dtype; convert one with tn_to",
                    a ? tn_dtype_name((tn_dtype)a->dtype) : "the number",
                    b ? tn_dtype_name((tn_dtype)b->dtype) : "the number");
}

/* Strides in the order that x's own have. */
static void in_own_order(tni_meta *meta, const tn_tensor *x, tn_dtype dtype)
{
    const int64_t *operand = x->strides;
    int perm[TN_MAX_NDIM];
    meta->record.dtype = (uint8_t)dtype;
    tni_meta_preserved(meta, x);
    meta->record.contiguous = false;
    tni_dim_order(x->sizes, x->ndim, &operand, 1, perm);
    tni_strides_in_order(x->sizes, x->ndim, perm, meta->room);
}

void tni_meta_of_one(tni_meta *meta, const tn_tensor *x, tn_dtype dtype)
{
    if (TNI_LIKELY(tni_contiguous(x))) {
        tni_meta_like(meta, x, dtype);
        return;
    }
    bool channels = x->ndim == 4 && tni_has_format(TN_CHANNELS_LAST, x->sizes, x->strides, x->ndim);
    if (!channels && !tni_is_dense(x->sizes, x->strides, x->ndim)) {
        in_own_order(meta, x, dtype);
        return;
    }
    meta->record.dtype = (uint8_t)dtype;
    tni_meta_preserved(meta, x);
    if (channels)
        tni_format_strides(TN_CHANNELS_LAST, x->sizes, x->ndim, meta->room);
}

void tni_meta_with_number(tni_meta *meta, const tn_tensor *x, tn_dtype dtype)
{
    bool plain = tni_contiguous(x);
    for (int d = 0; d < x->ndim; d++)
        plain &= x->sizes[d] > 1;
    if (TNI_LIKELY(plain)) {
        tni_meta_like(meta, x, dtype);
        return;
    }
    in_own_order(meta, x, dtype);
}

/* The layout of a result of two tensors: contiguous if both are, theirs if it is the same and dense, else the order
 * of dims that they prefer. As PyTorch's TensorIterator. */
static tn_status two_tensors(const tni_call *call, tni_meta *meta)
{
    const tn_tensor *a = call->in[0], *b = call->in[1];
    tni_record *record = &meta->record;
    int64_t a_strides[TN_MAX_NDIM], b_strides[TN_MAX_NDIM];
    const int64_t *operands[2] = {a_strides, b_strides};
    int perm[TN_MAX_NDIM];
    int ndim = tni_broadcast(tni_call_name(call), a->sizes, a->ndim, b->sizes, b->ndim, meta->room);
    if (ndim < 0)
        return tni_pending();
    if (tni_meta_contiguous(call, meta, ndim, (tn_dtype)a->dtype, (tn_device_type)a->device))
        return tni_pending();
    bool a_whole = tni_same_dims(a->sizes, a->ndim, meta->room, ndim);
    bool b_whole = tni_same_dims(b->sizes, b->ndim, meta->room, ndim);
    if (a_whole && b_whole && tni_contiguous(a) && tni_contiguous(b))
        return TN_OK;
    int64_t *strides = meta->room + TN_MAX_NDIM;
    if (a_whole && b_whole && ndim == 4 && tni_has_format(TN_CHANNELS_LAST, a->sizes, a->strides, 4) &&
        tni_has_format(TN_CHANNELS_LAST, b->sizes, b->strides, 4)) {
        tni_format_strides(TN_CHANNELS_LAST, a->sizes, 4, strides);
        record->contiguous = false;
        return TN_OK;
    }
    if (a_whole && b_whole && tni_same_dims(a->strides, ndim, b->strides, ndim) &&
        tni_is_dense(a->sizes, a->strides, ndim)) {
        memcpy(strides, a->strides, (size_t)ndim * sizeof *strides);
        record->contiguous = false;
        return TN_OK;
    }
    tni_broadcast_strides(a->sizes, a->strides, a->ndim, record->sizes, ndim, a_strides);
    tni_broadcast_strides(b->sizes, b->strides, b->ndim, record->sizes, ndim, b_strides);
    tni_dim_order(record->sizes, ndim, operands, 2, perm);
    tni_strides_in_order(record->sizes, ndim, perm, strides);
    record->contiguous = false;
    return TN_OK;
}

tn_status tni_binary_shape(tni_call *call, tni_meta *meta, tn_dtype *promoted)
{
    tn_tensor *a = call->in[0], *b = call->in[1];
    call->dense = a && b && tni_contiguous(a) && tni_contiguous(b) && tni_same_dense(a, b);
    if (call->dense) {
        *promoted = (tn_dtype)a->dtype;
        tni_meta_like(meta, a, *promoted);
        return TN_OK;
    }
    if (!a && !b)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "two numbers, needed at least one tensor");
    if (promoted_dtype(call, promoted))
        return tni_pending();
    if (a && b)
        return two_tensors(call, meta);
    tni_meta_with_number(meta, a ? a : b, *promoted);
    return TN_OK;
}

/* A number or the element of a 0-dim tensor, in the dtype of the loop: rounded or wrapped to the common dtype first,
 * unless the operator takes it exactly. */
static void one_element(const tni_call *call, int i, char *element)
{
    _Alignas(16) char common[16];
    const tn_tensor *x = call->in[i];
    bool exact = (call->exact >> i) & 1 && tni_dtype_kind(call->common) == TNI_FLOAT;
    tn_dtype first = exact ? call->compute : call->common;
    char *at = exact ? element : common;
    if (x)
        tni_converter_of((tn_dtype)x->dtype, first)(at, 0, tni_data(x), 0, 1);
    else
        tni_scalar_to(((const tni_binary_attr *)call->attr)->number[i], first, at);
    if (!exact)
        tni_converter_of(first, call->compute)(element, 0, common, 0, 1);
}

/* The dtype of the result outside of the loop, where it has `result`. */
static tn_dtype result_dtype(const tni_call *call, tn_dtype result)
{
    if (result == call->compute)
        return call->common;
    return result == tni_real_dtype(call->compute) ? tni_real_dtype(call->common) : result;
}

void tni_run_iterated(const tni_call *call, tn_dtype result, const void *context)
{
    const tn_tensor *out = call->out[0];
    int n_in = call->op->n_in;
    tn_dtype compute = call->compute;
    _Alignas(16) char element[2][16];
    static const int64_t none = 0;
    tni_iter it;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_operand_via(&it, tni_data(out), out->sizes, out->strides, out->ndim, (tn_dtype)out->dtype,
                         result_dtype(call, result), result);
    for (int i = 0; i < n_in; i++) {
        const tn_tensor *x = call->in[i];
        if (x && (x->ndim > 0 || (tn_dtype)x->dtype == call->common)) {
            tni_iter_operand_via(&it, tni_data(x), x->sizes, x->strides, x->ndim, (tn_dtype)x->dtype, call->common,
                                 compute);
            continue;
        }
        one_element(call, i, element[i]);
        tni_iter_operand(&it, element[i], &none, &none, 0, compute, compute);
    }
    tni_iter_run(&it, call->loop, context);
}
