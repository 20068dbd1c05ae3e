/* Reductions: sum, mean, amax, amin, and max and min of all elements. Rules of torch's functions of these names.
 * How they run: ops/reduce_run.c. */
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"
#include "ops/reduce_attr.h"
#include "ops/tape.h"

enum { SUM = TNI_REDUCE_SUM, MEAN, AMAX, AMIN, MAX, MIN };

tn_status tni_reduced_dims(const char *name, const tn_tensor *x, const tni_ints *dims, uint64_t *mask)
{
    *mask = 0;
    if (dims->n < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d dims, needed 0 or more", dims->n);
    if (dims->n > 0 && !dims->data)
        return TNI_FAIL_NULL(name, 2, "dims");
    if (dims->n == 0) {
        *mask = ~UINT64_C(0);
        return TN_OK;
    }
    for (int i = 0; i < dims->n; i++) {
        int dim = tni_wrap_dim(name, dims->data[i], x->ndim);
        if (dim < 0)
            return tni_pending();
        if (*mask & (UINT64_C(1) << dim))
            return TNI_FAIL(TN_ERROR_DIM, name, "dim %d appears twice, needed once at most", dim);
        *mask |= UINT64_C(1) << dim;
    }
    return TN_OK;
}

int tni_reduced_sizes(const tn_tensor *x, uint64_t mask, bool keepdim, int64_t *sizes)
{
    int kept = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (!(mask & (UINT64_C(1) << d)))
            sizes[kept++] = x->sizes[d];
        else if (keepdim)
            sizes[kept++] = 1;
    }
    return kept;
}

void tni_kept_strides(const tn_tensor *x, const tn_tensor *out, uint64_t mask, bool keepdim, int64_t *strides)
{
    for (int d = 0, next = 0; d < x->ndim; d++) {
        const bool reduced = mask >> d & 1;
        strides[d] = reduced ? 0 : out->strides[next];
        next += !reduced || keepdim;
    }
}

tn_status tni_reduce_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const tni_reduce_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    uint64_t mask;
    tn_dtype dtype = attr->dtype;
    if (dtype != TN_DTYPE_NONE && tni_check_dtype(name, dtype))
        return tni_pending();
    if (call->op->family == MEAN && tni_dtype_kind(dtype == TN_DTYPE_NONE ? (tn_dtype)x->dtype : dtype) <= TNI_INT)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensor is %s, needed a floating dtype; convert it, or give one",
                        tn_dtype_name(dtype == TN_DTYPE_NONE ? (tn_dtype)x->dtype : dtype));
    if (dtype == TN_DTYPE_NONE && call->form == TNI_OUT && call->op->family < AMAX)
        dtype = (tn_dtype)call->out[0]->dtype; /* torch.sum and torch.mean with out= add in out's dtype */
    if (dtype == TN_DTYPE_NONE) {
        dtype = (tn_dtype)x->dtype;
        if (call->op->family == SUM && tni_dtype_kind(dtype) <= TNI_INT)
            dtype = TN_INT64;
    }
    if (call->op->family == MEAN && tni_dtype_kind(dtype) <= TNI_INT)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the result is %s, which does not go into the tensor to write (%s)",
                        tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name(dtype));
    int lane = tni_lane_of(dtype);
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    if (!tni_converter_of((tn_dtype)x->dtype, tni_lane_dtype(lane)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    call->compute = lane == TNI_LANE_U64 ? TN_INT64 : tni_lane_dtype(lane); /* sums of both wrap to the same bits */
    if (tni_reduced_dims(name, x, &attr->dims, &mask))
        return tni_pending();
    for (int d = 0; d < x->ndim && call->op->family >= AMAX; d++)
        if (x->sizes[d] == 0 && mask & (UINT64_C(1) << d))
            return TNI_FAIL(TN_ERROR_EMPTY, name, "dim %d has no elements, and nothing has no %s one", d,
                            call->op->family == AMAX || call->op->family == MAX ? "largest" : "smallest");
    int ndim = tni_reduced_sizes(x, mask, attr->keepdim, meta->room);
    return tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)x->device);
}

static size_t reduce_workspace(const tni_call *call)
{
    return tni_reduce_workspace(call->in[0], call->out[0]);
}

static void reduce_run(const tni_call *call, void *workspace)
{
    static const tni_reduction reductions[] = {[SUM] = TNI_SUM, [MEAN] = TNI_SUM, [AMAX] = TNI_MAX, [AMIN] = TNI_MIN,
                                              [MAX] = TNI_MAX, [MIN] = TNI_MIN};
    const tni_reduce_attr *attr = call->attr;
    const int family = call->op->family;
    tni_reduce_job job = {.x = call->in[0], .out = call->out[0], .keepdim = attr->keepdim, .compute = call->compute,
                          .reduction = reductions[family], .mean = family == MEAN,
                          .truth = family == SUM && call->out[0]->dtype == TN_BOOL};
    tni_reduced_dims(tni_call_name(call), job.x, &attr->dims, &job.mask); /* infer made sure */
    tni_reduce_run(&job, workspace);
}

/* Sums over the first of two dims, of rows that few threads would share: what tni_reduce_run does with them, without
 * its plan. */
static bool reduce_light(const tni_call *call)
{
    const tni_reduce_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *out = call->out[0];
    if (call->op->family != SUM || x->ndim != 2 || attr->dims.n != 1 || attr->dims.data[0] != 0 ||
        x->dtype != out->dtype || (x->dtype != TN_FLOAT32 && x->dtype != TN_FLOAT64) || !tni_contiguous(x))
        return false;
    return tni_reduce_rows(x, out);
}

tn_tensor *tni_reduced_reinserted(const tni_vjp *v, tn_tensor *grad)
{
    const tni_reduce_attr *attr = v->attr;
    const tni_shape x = tni_input_shape(v, 0);
    int64_t sizes[TN_MAX_NDIM];
    uint64_t mask = attr->dims.n == 0 ? ~UINT64_C(0) : 0;
    for (int i = 0; i < attr->dims.n; i++)
        mask |= UINT64_C(1) << (attr->dims.data[i] < 0 ? attr->dims.data[i] + x.ndim : attr->dims.data[i]);
    if (attr->keepdim || x.ndim == 0 || mask == ~UINT64_C(0))
        return grad;
    for (int d = 0; d < x.ndim; d++)
        sizes[d] = mask >> d & 1 ? 1 : x.sizes[d];
    return tn_view(grad, sizes, x.ndim);
}

static tn_tensor *expanded(const tni_vjp *v, tn_tensor *grad)
{
    const tni_shape x = tni_input_shape(v, 0);
    tn_tensor *y = tni_reduced_reinserted(v, grad);
    return y ? tn_expand(y, x.sizes, x.ndim) : NULL;
}

static void sum_vjp(tni_vjp *v)
{
    v->grads[0] = expanded(v, v->grad);
}

static const char *sum_node(const tni_node *node)
{
    return ((const tni_reduce_attr *)node->attr)->dims.n == 0 ? "SumBackward0" : "SumBackward1";
}

static const tni_derivative sum_derivative = {.linear = true, .vjp = sum_vjp, .named = sum_node};

/* How many elements of the input one of the result stands for. */
static int64_t reduced_count(const tni_vjp *v)
{
    const tni_shape x = tni_input_shape(v, 0), y = tni_result_shape(v);
    int64_t n = 1, kept = 1;
    for (int d = 0; d < x.ndim; d++)
        n *= x.sizes[d];
    for (int d = 0; d < y.ndim; d++)
        kept *= y.sizes[d];
    return kept > 0 ? n / kept : 1;
}

static void mean_vjp(tni_vjp *v)
{
    const tn_scalar n = {TN_SCALAR_INT, {.i = reduced_count(v)}};
    v->grads[0] = tn_div_scalar(expanded(v, v->grad), n); /* dense, as PyTorch's */
}

static const char *mean_node(const tni_node *node)
{
    return ((const tni_reduce_attr *)node->attr)->dims.n == 0 ? "MeanBackward0" : "MeanBackward1";
}

/* Those that are as far out as the result share its gradient. Over all elements NaN counts as equal to NaN, along dims
 * it does not, as in PyTorch. */
static void extreme_vjp(tni_vjp *v)
{
    const tni_reduce_attr *attr = v->attr;
    const tni_shape shape = tni_input_shape(v, 0);
    int dims[TN_MAX_NDIM];
    tn_tensor *x = tni_saved_input(v, 0), *y = tni_saved_result(v);
    y = y ? tni_reduced_reinserted(v, y) : NULL;
    tn_tensor *ties = tn_eq(x, y);
    if (v->node->op->family >= MAX)
        ties = tn_logical_or(ties, tn_logical_and(tn_isnan(x), tn_isnan(y)));
    for (int i = 0; i < attr->dims.n; i++)
        dims[i] = (int)attr->dims.data[i];
    tn_tensor *count = tn_sum(ties, dims, attr->dims.n, shape.ndim > 0 && attr->dims.n > 0, TN_DTYPE_NONE);
    v->grads[0] = tn_mul(tn_div(tni_reduced_reinserted(v, v->grad), count), ties);
}

static const tni_derivative mean_derivative = {.linear = true, .vjp = mean_vjp, .named = mean_node};
static const tni_derivative amax_derivative = {.saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = extreme_vjp};
static const tni_derivative max_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = extreme_vjp, .name = "MaxBackward1"};
static const tni_derivative min_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE_RESULT}, .vjp = extreme_vjp, .name = "MinBackward1"};

static const tni_reduce_attr reduce_default = {.dtype = TN_DTYPE_NONE};

#define DIMS                                                                \
    TNI_TENSOR("self", 0), TNI_OPTIONAL("dim", 'J', tni_reduce_attr, dims), \
        TNI_OPTIONAL("keepdim", 'B', tni_reduce_attr, keepdim)
#define REDUCTION(row, dtype_set)                                                                                      \
    .n_in = 1, .n_out = 1, .dtypes = dtype_set, .attr_bytes = sizeof(tni_reduce_attr),                                 \
    .attr_default = &reduce_default, .infer = tni_reduce_infer, .workspace = reduce_workspace, .run = reduce_run,      \
    .run_light = reduce_light,                                                                                         \
    .family = row

#define REDUCE_SAMPLES "[3,4] | [3,4] 0 | [3,4] -1 true | [2,3,40] (0,2) | [] | [300,70] 0 | [70,300] 1 | [5000] 0 | "
#define BAD_DIMS "! [3,4] 2 | ! [3,4] (0,0) | ! [3,4] (1,-1)"

const tni_op tni_op_sum = {
    .name = TNI_NAMES_NEW_OUT(sum), .params = {DIMS, TNI_OPTIONAL("dtype", 'D', tni_reduce_attr, dtype)},
    .n_params = 4, .derivative = &sum_derivative,
    REDUCTION(SUM, TNI_ANY_REALS | TNI_COMPLEXES), .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] | [0,3] 0 | [3,4] 0 false float64 | " BAD_DIMS};

const tni_op tni_op_mean = {
    .name = TNI_NAMES_NEW_OUT(mean), .params = {DIMS, TNI_OPTIONAL("dtype", 'D', tni_reduce_attr, dtype)},
    .n_params = 4, .derivative = &mean_derivative, REDUCTION(MEAN, TNI_FLOATS | TNI_COMPLEXES), .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] | [0,3] 0 | " BAD_DIMS};

const tni_op tni_op_amax = {
    .name = TNI_NAMES_NEW_OUT(amax), .params = {DIMS}, .n_params = 3, .derivative = &amax_derivative,
    REDUCTION(AMAX, TNI_REALS | TNI_BOOLS),
    .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] 1 | ! [0,3] | ! [0,3] 0 | " BAD_DIMS};

const tni_op tni_op_amin = {
    .name = TNI_NAMES_NEW_OUT(amin), .params = {DIMS}, .n_params = 3, .derivative = &amax_derivative,
    REDUCTION(AMIN, TNI_REALS | TNI_BOOLS),
    .exact_out_dtype = true,
    .samples = REDUCE_SAMPLES "[0,3] 1 | ! [0,3] | ! [0,3] 0 | " BAD_DIMS};

const tni_op tni_op_max = {
    .name = TNI_NAMES_NEW(max), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .derivative = &max_derivative,
    REDUCTION(MAX, TNI_REALS | TNI_BOOLS), .exact_out_dtype = true, .samples = "[3,4] | [] | [5000] | ! [0,3]"};

const tni_op tni_op_min = {
    .name = TNI_NAMES_NEW(min), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .derivative = &min_derivative,
    REDUCTION(MIN, TNI_REALS | TNI_BOOLS), .exact_out_dtype = true, .samples = "[3,4] | [] | [5000] | ! [0,3]"};

bool tni_list_dims(const char *name, const int *dims, int n, int64_t *list, tni_ints *ints)
{
    ints->data = list;
    ints->n = n;
    if (n > TN_MAX_NDIM) {
        if (!tni_pending())
            TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed at most %d", n, TN_MAX_NDIM);
        return false;
    }
    if (n > 0 && !dims)
        ints->data = NULL;
    for (int i = 0; i < n && dims; i++)
        list[i] = dims[i];
    return true;
}

static tn_tensor *reduce(const tni_op *op, tn_tensor *x, const int *dims, int n, bool keepdim, tn_dtype dtype)
{
    int64_t list[TN_MAX_NDIM];
    tni_reduce_attr attr = {.keepdim = keepdim, .dtype = dtype};
    return tni_list_dims(op->name[TNI_NEW], dims, n, list, &attr.dims) ? tni_call_new(op, &x, &attr) : NULL;
}

static tn_status reduce_out(const tni_op *op, tn_tensor *out, tn_tensor *x, const int *dims, int n, bool keepdim)
{
    int64_t list[TN_MAX_NDIM];
    tni_reduce_attr attr = {.keepdim = keepdim, .dtype = TN_DTYPE_NONE};
    if (!tni_list_dims(op->name[TNI_OUT], dims, n, list, &attr.dims))
        return tni_pending();
    return tni_call_out(op, out, &x, &attr);
}

tn_tensor *tn_sum(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype)
{
    return reduce(&tni_op_sum, x, dims, n_dims, keepdim, dtype);
}

tn_tensor *tn_mean(tn_tensor *x, const int *dims, int n_dims, bool keepdim, tn_dtype dtype)
{
    return reduce(&tni_op_mean, x, dims, n_dims, keepdim, dtype);
}

tn_tensor *tn_amax(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce(&tni_op_amax, x, dims, n_dims, keepdim, TN_DTYPE_NONE);
}

tn_tensor *tn_amin(tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce(&tni_op_amin, x, dims, n_dims, keepdim, TN_DTYPE_NONE);
}

tn_status tn_amin_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_amin, out, x, dims, n_dims, keepdim);
}

tn_status tn_sum_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_sum, out, x, dims, n_dims, keepdim);
}

tn_status tn_mean_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_mean, out, x, dims, n_dims, keepdim);
}

tn_status tn_amax_out(tn_tensor *out, tn_tensor *x, const int *dims, int n_dims, bool keepdim)
{
    return reduce_out(&tni_op_amax, out, x, dims, n_dims, keepdim);
}

tn_tensor *tn_max(tn_tensor *x)
{
    return tni_call_new(&tni_op_max, &x, &reduce_default);
}

tn_tensor *tn_min(tn_tensor *x)
{
    return tni_call_new(&tni_op_min, &x, &reduce_default);
}
