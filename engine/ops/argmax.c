/* argmax, argmin: the index of the first largest or smallest element along a dim, or of the flattened tensor; NaN counts
 * as the most. As torch.argmax and torch.argmin. */
#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce_attr.h"

enum { MOST, LEAST };

static tn_status argmax_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    uint64_t mask;
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (attr->dims.n > 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d dims, needed one, or none for the flattened tensor", attr->dims.n);
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    for (int d = 0; d < x->ndim; d++)
        if (x->sizes[d] == 0 && mask & (UINT64_C(1) << d))
            return TNI_FAIL(TN_ERROR_EMPTY, name, "dim %d has no elements, and nothing has no %s one", d,
                            call->op->family == MOST ? "largest" : "smallest");
    int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, TN_INT64, (tn_device_type)x->device);
}

#define SEARCH(T, name, BEYOND)                                                                 \
    static void name(const char *x, int64_t stride, int64_t n, char *best, int64_t *index, \
                     int64_t base)                                                         \
    {                                                                                      \
        T largest;                                                                         \
        memcpy(&largest, best, sizeof largest);                                            \
        for (int64_t i = 0; i < n && largest == largest; i++) {                            \
            T value = *(const T *)(const void *)(x + i * stride);                          \
            if (value BEYOND largest || value != value) {                                       \
                largest = value;                                                           \
                *index = base + i;                                                         \
            }                                                                              \
        }                                                                                  \
        memcpy(best, &largest, sizeof largest);                                            \
    }
SEARCH(float, most_f32, >)
SEARCH(double, most_f64, >)
SEARCH(int64_t, most_i64, >)
SEARCH(float, least_f32, <)
SEARCH(double, least_f64, <)
SEARCH(int64_t, least_i64, <)

typedef void (*search)(const char *x, int64_t stride, int64_t n, char *best, int64_t *index, int64_t base);

/* How rows are searched: as they lie, or converted to the lane's dtype first. */
typedef struct searcher {
    search find;
    tni_converter convert; /* NULL: x has the lane's dtype */
    int64_t wide;          /* itemsize of the lane */
} searcher;

static void search_row(const searcher *s, const char *x, int64_t stride, int64_t n, char *best, int64_t *index,
                       int64_t base)
{
    _Alignas(64) char block[TNI_BLOCK * 8];
    if (!s->convert) {
        s->find(x, stride, n, best, index, base);
        return;
    }
    for (int64_t done = 0; done < n; done += TNI_BLOCK) {
        int64_t some = n - done < TNI_BLOCK ? n - done : TNI_BLOCK;
        s->convert(block, s->wide, x + done * stride, stride, some);
        s->find(block, s->wide, some, best, index, base + done);
    }
}

/* The walk over `ndim` dims of x in row-major order, so that the first of equals is found first. */
static int64_t first_best(const tn_tensor *x, const char *at, const int *dims, int ndim, const searcher *s)
{
    int64_t itemsize = tni_itemsize((tn_dtype)x->dtype), index = 0, base = 0, outer[TN_MAX_NDIM] = {0};
    int last = ndim > 0 ? dims[ndim - 1] : -1;
    int64_t n = last >= 0 ? x->sizes[last] : 1, stride = last >= 0 ? x->strides[last] * itemsize : 0;
    _Alignas(8) char best[8];
    if (s->convert)
        s->convert(best, 0, at, 0, 1);
    else
        memcpy(best, at, (size_t)itemsize);
    for (;;) {
        search_row(s, at, stride, n, best, &index, base);
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
    static const search searches[2][3] = {[MOST] = {most_f32, most_f64, most_i64},
                                          [LEAST] = {least_f32, least_f64, least_i64}};
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
    int lane = tni_lane_of((tn_dtype)x->dtype);
    searcher s = {.find = searches[call->op->family][lane], .wide = tni_itemsize(tni_lane_dtype(lane))};
    if (tni_lane_dtype(lane) != (tn_dtype)x->dtype)
        s.convert = tni_converter_of((tn_dtype)x->dtype, tni_lane_dtype(lane));
    for (int64_t i = 0; i < out->numel; i++) {
        int64_t rest = i, from = 0, to = 0;
        for (int k = n_kept - 1; k >= 0; k--) {
            int64_t at = rest % x->sizes[kept[k]];
            rest /= x->sizes[kept[k]];
            from += at * x->strides[kept[k]];
            to += at * out->strides[attr->keepdim ? kept[k] : k];
        }
        int64_t index =
            first_best(x, tni_data(x) + from * tni_itemsize((tn_dtype)x->dtype), reduced, n_reduced, &s);
        ((int64_t *)(void *)tni_data(out))[to] = index;
    }
}

static const tni_reduce_attr argmax_default = {.dtype = TN_DTYPE_NONE};

#define SEARCH_OP(row)                                                                              \
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims),              \
               TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim)},                             \
    .n_params = 3, .n_in = 1, .n_out = 1, .exact_out_dtype = true, .dtypes = TNI_REALS,             \
    .attr_bytes = sizeof(tni_reduce_attr), .attr_default = &argmax_default, .infer = argmax_infer,  \
    .run = argmax_run, .family = row, .samples = SAMPLES
#define SAMPLES                                                                                     \
    "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,4] 1 | [] | [] 0 | [0,3] 1 | ! [0,3] | ! [0,3] 0 | "    \
    "! [3,4] 2 | ! [3,4] (0,1)"

const tni_op tni_op_argmax = {.name = TNI_NAMES_NEW_OUT(argmax), SEARCH_OP(MOST)};
const tni_op tni_op_argmin = {.name = TNI_NAMES_NEW_OUT(argmin), SEARCH_OP(LEAST)};

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

tn_tensor *tn_argmin(tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmin, &x, &attr);
}

tn_tensor *tn_argmin_all(tn_tensor *x, bool keepdim)
{
    const tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_new(&tni_op_argmin, &x, &attr);
}

tn_status tn_argmin_out(tn_tensor *out, tn_tensor *x, int dim, bool keepdim)
{
    const int64_t one = dim;
    const tni_reduce_attr attr = {.dims = {&one, 1}, .keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    return tni_call_out(&tni_op_argmin, out, &x, &attr);
}
