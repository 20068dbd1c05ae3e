/* argmax: the index of the first largest element along a dim, or of the flattened tensor; NaN counts as the largest.
 * As torch.argmax. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce_attr.h"

static tn_status argmax_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    uint64_t mask;
    if ((tn_dtype)x->dtype == TN_BOOL || tni_lane_of((tn_dtype)x->dtype) < 0)
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (attr->dims.n > 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d dims, needed one, or none for the flattened tensor", attr->dims.n);
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    for (int d = 0; d < x->ndim; d++)
        if (x->sizes[d] == 0 && mask & (UINT64_C(1) << d))
            return TNI_FAIL(TN_ERROR_EMPTY, name, "dim %d has no elements, and nothing has no largest one", d);
    int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, TN_INT64, (tn_device_type)x->device);
}

#define SEARCH(T, name)                                                                    \
    static void name(const char *x, int64_t stride, int64_t n, char *best, int64_t *index, \
                     int64_t base)                                                         \
    {                                                                                      \
        T largest;                                                                         \
        memcpy(&largest, best, sizeof largest);                                            \
        for (int64_t i = 0; i < n && largest == largest; i++) {                            \
            T value = *(const T *)(const void *)(x + i * stride);                          \
            if (value > largest || value != value) {                                       \
                largest = value;                                                           \
                *index = base + i;                                                         \
            }                                                                              \
        }                                                                                  \
        memcpy(best, &largest, sizeof largest);                                            \
    }
SEARCH(float, search_f32)
SEARCH(double, search_f64)
SEARCH(int64_t, search_i64)

typedef void (*search)(const char *x, int64_t stride, int64_t n, char *best, int64_t *index, int64_t base);

/* The walk over `ndim` dims of x in row-major order, so that the first of equals is found first. */
static int64_t first_largest(const tn_tensor *x, const char *at, const int *dims, int ndim, search find)
{
    int64_t itemsize = tni_itemsize((tn_dtype)x->dtype), index = 0, base = 0, outer[TN_MAX_NDIM] = {0};
    int last = ndim > 0 ? dims[ndim - 1] : -1;
    int64_t n = last >= 0 ? x->sizes[last] : 1, stride = last >= 0 ? x->strides[last] * itemsize : 0;
    char best[8];
    memcpy(best, at, (size_t)itemsize);
    for (;;) {
        find(at, stride, n, best, &index, base);
        base += n;
        int i = ndim - 2;
        for (; i >= 0; i--) {
            at += x->strides[dims[i]] * itemsize;
            if (++outer[i] < x->sizes[dims[i]])
                break;
            at -= outer[i] * x->strides[dims[i]] * itemsize;
            outer[i] = 0;
        }
        if (i < 0)
            return index;
    }
}

static void argmax_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    static const search searches[TNI_LANES] = {search_f32, search_f64, search_i64};
    const tn_tensor *x = call->in[0], *out = call->out[0];
    const tni_reduce_attr *attr = call->attr;
    uint64_t mask;
    int reduced[TN_MAX_NDIM], kept[TN_MAX_NDIM], n_reduced = 0, n_kept = 0;
    tni_reduced_dims(tni_call_name(call), x, &attr->dims, &mask); /* infer made sure */
    for (int d = 0; d < x->ndim; d++) {
        if (!((mask >> d) & 1))
            kept[n_kept++] = d;
        else if (x->sizes[d] != 1)
            reduced[n_reduced++] = d;
    }
    search find = searches[tni_lane_of((tn_dtype)x->dtype)];
    for (int64_t i = 0; i < out->numel; i++) {
        int64_t rest = i, from = 0, to = 0;
        for (int k = n_kept - 1; k >= 0; k--) {
            int64_t at = rest % x->sizes[kept[k]];
            rest /= x->sizes[kept[k]];
            from += at * x->strides[kept[k]];
            to += at * out->strides[attr->keepdim ? kept[k] : k];
        }
        int64_t index =
            first_largest(x, tni_data(x) + from * tni_itemsize((tn_dtype)x->dtype), reduced, n_reduced, find);
        ((int64_t *)(void *)tni_data(out))[to] = index;
    }
}

static const tni_reduce_attr argmax_default = {.dtype = TN_DTYPE_NONE};

const tni_op tni_op_argmax = {
    .name = TNI_NAMES_NEW_OUT(argmax),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims),
               TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim)},
    .n_params = 3, .n_in = 1, .n_out = 1, .exact_out_dtype = true,
    .dtypes = TNI_DTYPE_BIT(TN_FLOAT32) | TNI_DTYPE_BIT(TN_FLOAT64) | TNI_DTYPE_BIT(TN_INT64),
    .attr_bytes = sizeof(tni_reduce_attr), .attr_default = &argmax_default, .infer = argmax_infer, .run = argmax_run,
    .samples = "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,4] 1 | [] | [] 0 | [0,3] 1 | ! [0,3] | ! [0,3] 0 | "
        "! [3,4] 2 | ! [3,4] (0,1)"};

tn_tensor *tn_argmax(tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmax, &x, &attr);
}

tn_tensor *tn_argmax_all(tn_tensor *x, bool keepdim)
{
    const tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmax, &x, &attr);
}

tn_status tn_argmax_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_out(&tni_op_argmax, out, &x, &attr);
}
