/* Losses of an input and a target, element by element, with their reduction in the same pass; and the backward
 * operators, one pass each. ops/loss.h has the formulas, ops/loss_grad.c the derivatives.
 *
 * Values are made block by block in the first cache; float32 is added in float64 in fixed chunks, so that the bits
 * depend neither on threads nor on the CPU level's width. */
#include "ops/loss.h"

#include <string.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/copy.h"
#include "ops/dtype_sets.h"
#include "ops/loss_op.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/reduce.h"

enum { BLOCK = 1024, CHUNK = 1 << 15, ALIGNMENT = 64 };

extern const tni_loss_kernels tni_loss_baseline, tni_loss_avx2, tni_loss_avx512;

const tni_loss_kernels *const tni_loss_levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_loss_baseline,
#if defined(__x86_64__)
    [TNI_CPU_AVX2] = &tni_loss_avx2,
    [TNI_CPU_AVX512] = &tni_loss_avx512,
#endif
};

const tni_loss_attr tni_loss_default = {.reduction = TN_MEAN, .parameter = {TN_SCALAR_FLOAT, {.f = 1}}};

static tni_loss loss_of(const tni_op *op)
{
    return (tni_loss)(op->family % TNI_LOSSES);
}

/* Where x stands among the inputs; the target follows. */
static int first_of(const tni_op *op)
{
    return tni_loss_is_backward(op) ? 1 : 0;
}

tn_status tni_check_reduction(const char *name, int64_t reduction)
{
    if (reduction == TN_MEAN || reduction == TN_SUM || reduction == TN_NONE)
        return TN_OK;
    return TNI_FAIL(TN_ERROR_ARGUMENT, name, "reduction is %lld, needed none, mean or sum", (long long)reduction);
}

static tn_status check_attributes(const tni_call *call)
{
    const tni_loss_attr *attr = call->attr;
    const double parameter = tni_scalar_real(attr->parameter);
    const tni_loss loss = loss_of(call->op);
    if (tni_check_reduction(tni_call_name(call), attr->reduction))
        return tni_pending();
    if (loss == TNI_LOSS_SMOOTH_L1 && !(parameter >= 0))
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "beta is %g, needed 0 or more", parameter);
    if (loss == TNI_LOSS_HUBER && !(parameter > 0))
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "delta is %g, needed more than 0", parameter);
    return TN_OK;
}

/* The shape of the elements: x and target broadcast, but not where probabilities are compared. Its rank; -1: an error
 * is pending. */
static int shape_of(const tni_call *call, int64_t *sizes)
{
    const int first = first_of(call->op);
    const tn_tensor *x = call->in[first], *t = call->in[first + 1];
    if (tni_same_dims(x->sizes, x->ndim, t->sizes, t->ndim)) {
        for (int d = 0; d < x->ndim; d++)
            sizes[d] = x->sizes[d];
        return x->ndim;
    }
    if (loss_of(call->op) < TNI_LOSS_BCE)
        return tni_broadcast(tni_call_name(call), x->sizes, x->ndim, t->sizes, t->ndim, sizes);
    char x_text[100], t_text[100];
    tni_text_shape(x_text, sizeof x_text, x->sizes, x->ndim);
    tni_text_shape(t_text, sizeof t_text, t->sizes, t->ndim);
    TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the input is %s and the target %s, needed the same", x_text, t_text);
    return -1;
}

static tn_status fail_dtypes(const tni_call *call, const tn_tensor *x, const tn_tensor *t, const char *needed)
{
    return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the input is %s and the target %s, needed %s",
                    tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name((tn_dtype)t->dtype), needed);
}

/* The dtype of the result, as PyTorch: huber has the input's, bce takes one dtype, the others promote. */
static tn_status find_dtype(tni_call *call)
{
    const int first = first_of(call->op);
    const tn_tensor *x = call->in[first], *t = call->in[first + 1];
    const tni_loss loss = loss_of(call->op);
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    tn_dtype dtype = (tn_dtype)x->dtype;
    if (loss == TNI_LOSS_BCE && x->dtype != t->dtype)
        return fail_dtypes(call, x, t, "one dtype");
    if (loss == TNI_LOSS_BCE_WITH_LOGITS && !(TNI_FLOATS & TNI_DTYPE_BIT(t->dtype)))
        return fail_dtypes(call, x, t, "a floating target");
    if (x->dtype != t->dtype && loss != TNI_LOSS_HUBER) {
        if (!tni_result_type_tensor(&state, dtype, x->ndim) ||
            !tni_result_type_tensor(&state, (tn_dtype)t->dtype, t->ndim) ||
            (dtype = tni_result_type_of(&state)) == TN_DTYPE_NONE)
            return fail_dtypes(call, x, t, "dtypes that promote");
    }
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    call->common = dtype;
    call->compute = tni_lane_dtype(tni_lane_of(dtype));
    for (int i = 0; i < call->op->n_in; i++)
        if (call->in[i] && !tni_converter_of((tn_dtype)call->in[i]->dtype, call->compute))
            return tni_fail_no_kernel(call, (tn_dtype)call->in[i]->dtype);
    return TN_OK;
}

/* What is not x or the target must expand to their shape. */
static tn_status check_expands(const tni_call *call, int i, const int64_t *sizes, int ndim)
{
    const tn_tensor *x = call->in[i];
    int64_t both[TN_MAX_NDIM];
    if (!x || x->ndim == 0 || tni_same_dims(x->sizes, x->ndim, sizes, ndim))
        return TN_OK;
    int n = tni_broadcast(tni_call_name(call), x->sizes, x->ndim, sizes, ndim, both);
    if (n < 0)
        return tni_pending();
    if (tni_same_dims(both, n, sizes, ndim))
        return TN_OK;
    char have[100], need[100];
    tni_text_shape(have, sizeof have, x->sizes, x->ndim);
    tni_text_shape(need, sizeof need, sizes, ndim);
    return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "%s, needed a shape that expands to %s", have, need);
}

/* x's elements expanded to a shape, as a tensor that borrows x's storage; `strides` holds its own. */
static tn_tensor expanded(const tn_tensor *x, int64_t *sizes, int ndim, int64_t numel, int64_t *strides)
{
    tn_tensor y = *x;
    tni_broadcast_strides(x->sizes, x->strides, x->ndim, sizes, ndim, strides);
    y.sizes = sizes;
    y.strides = strides;
    y.ndim = (int8_t)ndim;
    y.numel = numel;
    y.contiguity = TNI_CONTIGUITY_UNKNOWN;
    return y;
}

/* Elements of bce's input outside [0, 1], NaN among them, are named; the others' sum of logarithms exists. */
static tn_status check_range(const tni_call *call, const tn_tensor *x)
{
    tni_converter widen = tni_converter_of((tn_dtype)x->dtype, TN_FLOAT64);
    const int64_t itemsize = tni_itemsize((tn_dtype)x->dtype);
    double block[256];
    if (tni_is_meta(x))
        return TN_OK;
    const bool dense = tni_contiguous(x);
    for (int64_t i = 0; i < x->numel;) {
        int64_t n = dense ? x->numel - i < 256 ? x->numel - i : 256 : 1, offset = dense ? i : 0;
        for (int64_t d = x->ndim - 1, rest = i; d >= 0 && !dense; rest /= x->sizes[d--])
            offset += rest % x->sizes[d] * x->strides[d];
        widen(block, 8, tni_data(x) + offset * itemsize, itemsize, n);
        for (int64_t k = 0; k < n; k++)
            if (!(block[k] >= 0 && block[k] <= 1))
                return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call),
                                "element %lld of the input is %g, needed a probability from 0 to 1",
                                (long long)(i + k), block[k]);
        i += n;
    }
    return TN_OK;
}

static tn_status loss_infer(tni_call *call, tni_meta *meta)
{
    const tni_op *op = call->op;
    const tni_loss_attr *attr = call->attr;
    const int first = first_of(op);
    int64_t sizes[TN_MAX_NDIM];
    call->level = tni_cpu_level();
    if (check_attributes(call) || find_dtype(call))
        return tni_pending();
    int ndim = shape_of(call, sizes);
    if (ndim < 0)
        return tni_pending();
    for (int i = 0; i < op->n_in; i++)
        if ((i < first || i > first + 1) && check_expands(call, i, sizes, ndim))
            return tni_pending();
    if (loss_of(op) == TNI_LOSS_BCE && check_range(call, call->in[first]))
        return tni_pending();
    const int kept = first == 1 || attr->reduction == TN_NONE ? ndim : 0;
    for (int d = 0; d < kept; d++)
        meta->room[d] = sizes[d];
    return tni_meta_contiguous(call, meta, kept, call->common, (tn_device_type)call->in[first]->device);
}

/* One call: its operands as dense arrays of the compute dtype. */
typedef struct job {
    tni_loss loss;
    const tni_loss_kernel *kernel;
    void (*times)(void *y, const void *by, int64_t n);
    tni_total (*sum)(const void *x, int64_t stride, int64_t n);
    tni_converter narrow; /* to the result's dtype; NULL: it is the compute dtype */
    int64_t sizes[TN_MAX_NDIM], numel, itemsize, out_itemsize;
    int ndim, lane;
    bool slope; /* of the loss; else its values */
    double parameter, factor;
    const char *grad, *x, *t, *weight, *positive; /* grad NULL: it is in the factor */
    char *out; /* NULL: elements are added */
    double *totals; /* of each chunk then */
} job;

static int64_t chunks_of(int64_t numel)
{
    return (numel + CHUNK - 1) / CHUNK;
}

static bool is_dense(const tni_call *call, const tn_tensor *x, const job *j)
{
    return (tn_dtype)x->dtype == call->compute && tni_contiguous(x) &&
           tni_same_dims(x->sizes, x->ndim, j->sizes, j->ndim);
}

static size_t padded(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* All but the shape. */
static void describe_kind(job *j, const tni_call *call)
{
    const tni_loss_attr *attr = call->attr;
    j->itemsize = tni_itemsize(call->compute);
    j->lane = call->compute == TN_FLOAT64;
    j->loss = loss_of(call->op);
    j->parameter = tni_scalar_real(attr->parameter);
    if (j->loss == TNI_LOSS_SMOOTH_L1 && j->parameter == 0)
        j->loss = TNI_LOSS_L1;
}

static void describe(job *j, const tni_call *call)
{
    j->ndim = shape_of(call, j->sizes);
    tni_numel(j->sizes, j->ndim, &j->numel); /* infer made sure */
    describe_kind(j, call);
}

/* A gradient of one element is part of the factor. */
static bool in_factor(const tni_call *call, int i)
{
    return i == 0 && first_of(call->op) == 1 && call->in[0]->ndim == 0;
}

static size_t loss_workspace(const tni_call *call)
{
    job j;
    size_t bytes, all = 0;
    describe(&j, call);
    for (int i = 0; i < call->op->n_in; i++) {
        if (!call->in[i] || in_factor(call, i) || is_dense(call, call->in[i], &j))
            continue;
        if (__builtin_mul_overflow((size_t)j.numel, (size_t)j.itemsize, &bytes) || bytes > SIZE_MAX / 16)
            return SIZE_MAX;
        all += padded(bytes);
    }
    if (!tni_loss_is_backward(call->op) && ((const tni_loss_attr *)call->attr)->reduction != TN_NONE &&
        j.numel > CHUNK)
        all += padded((size_t)chunks_of(j.numel) * sizeof(double));
    return all;
}

/* Input i as a dense array, its copy in the workspace if it is none. NULL where it isn't read. */
static const char *dense_of(const tni_call *call, job *j, int i, char **workspace)
{
    const tn_tensor *x = i < call->op->n_in ? call->in[i] : NULL;
    int64_t strides[TN_MAX_NDIM], to[TN_MAX_NDIM];
    if (!x || j->numel == 0 || in_factor(call, i))
        return NULL;
    if (is_dense(call, x, j))
        return tni_data(x);
    char *copy = *workspace;
    tn_tensor all = expanded(x, j->sizes, j->ndim, j->numel, strides);
    tni_contiguous_strides(j->sizes, j->ndim, to);
    tni_copy_elements(copy, to, call->compute, &all);
    *workspace += padded((size_t)(j->numel * j->itemsize));
    return copy;
}

/* Elements first .. first + n - 1, in one block; their sum where they are not written. */
static double run_block(const job *j, int64_t first, int64_t n)
{
    _Alignas(64) char block[BLOCK * sizeof(double)];
    const int64_t at = first * j->itemsize;
    const char *x = j->x + at, *t = j->t + at, *positive = j->positive ? j->positive + at : NULL;
    char *y = j->out && !j->narrow ? j->out + at : block;
    if (j->slope)
        j->kernel->slope(y, x, t, positive, n, j->parameter, j->factor);
    else
        j->kernel->value(y, x, t, positive, n, j->parameter);
    if (j->grad)
        j->times(y, j->grad + at, n);
    if (j->weight)
        j->times(y, j->weight + at, n);
    if (!j->out)
        return j->sum(y, 1, n).f64;
    if (j->narrow)
        j->narrow(j->out + first * j->out_itemsize, j->out_itemsize, y, j->itemsize, n);
    return 0;
}

static void run_chunk(void *context, int64_t chunk)
{
    const job *j = context;
    const int64_t first = chunk * CHUNK, end = first + CHUNK < j->numel ? first + CHUNK : j->numel;
    double total = 0;
    for (int64_t i = first; i < end; i += BLOCK)
        total += run_block(j, i, end - i < BLOCK ? end - i : BLOCK);
    if (!j->out)
        j->totals[chunk] = total;
}

static void run_chunks(job *j)
{
    const int64_t chunks = chunks_of(j->numel);
    if (j->numel >= 2 * TNI_GRAIN)
        tni_parallel_for(chunks, run_chunk, j);
    else
        for (int64_t chunk = 0; chunk < chunks; chunk++)
            run_chunk(j, chunk);
}

static void take_kernels(job *j, const tni_call *call)
{
    const tni_loss_kernels *level = tni_loss_levels[call->level];
    j->kernel = &level->kernel[j->loss][j->lane];
    j->times = level->times[j->lane];
    j->sum = tni_reduce_levels[call->level]->kernel[TNI_SUM][j->lane].row;
    j->narrow = call->common == call->compute ? NULL : tni_converter_of(call->compute, call->common);
    j->out_itemsize = tni_itemsize(call->common);
}

static void take_operands(job *j, const tni_call *call, char **workspace)
{
    const int first = first_of(call->op);
    describe(j, call);
    take_kernels(j, call);
    j->grad = first == 1 ? dense_of(call, j, 0, workspace) : NULL;
    j->x = dense_of(call, j, first, workspace);
    j->t = dense_of(call, j, first + 1, workspace);
    j->weight = dense_of(call, j, first + 2, workspace);
    j->positive = dense_of(call, j, first + 3, workspace);
}

/* Values, with their reduction; room for the totals of several chunks. */
static void run_values(job *j, const tni_call *call, void *room)
{
    const tni_loss_attr *attr = call->attr;
    double total = 0, one;
    j->slope = false;
    j->factor = 1;
    j->out = attr->reduction == TN_NONE ? tni_data(call->out[0]) : NULL;
    j->totals = j->numel > CHUNK ? (double *)room : &one;
    run_chunks(j);
    if (j->out)
        return;
    for (int64_t chunk = 0; chunk < chunks_of(j->numel); chunk++)
        total += j->totals[chunk];
    if (attr->reduction == TN_MEAN)
        total /= (double)j->numel;
    tni_converter_of(TN_FLOAT64, call->common)(tni_data(call->out[0]), 0, &total, 0, 1);
}

static void run_slopes(job *j, const tni_call *call)
{
    const tn_tensor *grad = call->in[0];
    j->slope = true;
    j->factor = 1;
    j->out = tni_data(call->out[0]);
    if (in_factor(call, 0))
        tni_converter_of((tn_dtype)grad->dtype, TN_FLOAT64)(&j->factor, 0, tni_data(grad), 0, 1);
    if (((const tni_loss_attr *)call->attr)->reduction == TN_MEAN)
        j->factor /= (double)j->numel;
    run_chunks(j);
}

static void loss_run(const tni_call *call, void *workspace)
{
    char *room = workspace;
    job j;
    take_operands(&j, call, &room);
    if (tni_loss_is_backward(call->op))
        run_slopes(&j, call);
    else
        run_values(&j, call, room);
}

/* The data of input i, which is dense; NULL where it isn't read. */
static const char *data_of(const tni_call *call, int i)
{
    const tn_tensor *x = i < call->op->n_in ? call->in[i] : NULL;
    return !x || in_factor(call, i) ? NULL : tni_data(x);
}

/* What is dense throughout, and one chunk. */
static bool loss_light(const tni_call *call)
{
    const int first = first_of(call->op);
    const tn_tensor *x = call->in[first];
    if (x->numel > CHUNK || x->numel == 0)
        return false;
    for (int i = 0; i < call->op->n_in; i++) {
        const tn_tensor *y = call->in[i];
        if (y && !in_factor(call, i) &&
            ((tn_dtype)y->dtype != call->compute || !tni_contiguous(y) ||
             (i != first && !tni_same_dims(y->sizes, y->ndim, x->sizes, x->ndim))))
            return false;
    }
    job j;
    j.numel = x->numel;
    describe_kind(&j, call);
    take_kernels(&j, call);
    j.grad = first == 1 ? data_of(call, 0) : NULL;
    j.x = data_of(call, first);
    j.t = data_of(call, first + 1);
    j.weight = data_of(call, first + 2);
    j.positive = data_of(call, first + 3);
    if (first == 1)
        run_slopes(&j, call);
    else
        run_values(&j, call, NULL);
    return true;
}

#define REDUCTION TNI_OPTIONAL("reduction", 'Q', tni_loss_attr, reduction)
#define LOSS(op, row, n, optional)                                                                                 \
    .name = TNI_NAMES_NEW(op), .n_in = n, .n_out = 1, .optional_in = optional, .exact_out_dtype = true,            \
    .dtypes = TNI_FLOATS, .attr_bytes = sizeof(tni_loss_attr), .attr_default = &tni_loss_default, .family = row,   \
    .derivative = &tni_loss_derivatives[row], .infer = loss_infer, .workspace = loss_workspace, .run = loss_run, \
    .run_light = loss_light
#define BACKWARD(op, row, n, optional)                                                                             \
    .name = TNI_NAMES_NEW(op##_backward), .n_in = n, .n_out = 1, .optional_in = optional, .exact_out_dtype = true, \
    .dtypes = TNI_FLOATS, .attr_bytes = sizeof(tni_loss_attr), .attr_default = &tni_loss_default,                  \
    .family = TNI_LOSSES + row, .derivative = &tni_loss_backward_derivatives[row], .infer = loss_infer,            \
    .workspace = loss_workspace, .run = loss_run, .run_light = loss_light
#define PAIR       TNI_TENSOR("self", 0), TNI_TENSOR("target", 1)
#define GRAD_PAIR  TNI_TENSOR("grad", 0), TNI_TENSOR("self", 1), TNI_TENSOR("target", 2)
#define BROADCASTS "[3,4] [3,4] | [3,4] [4] 1 | [3,1] [1,4] 2 | [] [] | [0,3] [3] 1 | [2000] [2000] | "

const tni_op tni_op_mse_loss = {
    .params = {PAIR, REDUCTION}, .n_params = 3, LOSS(mse_loss, TNI_LOSS_MSE, 2, 0),
    .samples = BROADCASTS "! [3] [4] | ! [3] [3] 3"};
const tni_op tni_op_l1_loss = {
    .params = {PAIR, REDUCTION}, .n_params = 3, LOSS(l1_loss, TNI_LOSS_L1, 2, 0),
    .samples = BROADCASTS "! [3] [4] | ! [3] [3] -1"};
const tni_op tni_op_smooth_l1_loss = {
    .params = {PAIR, REDUCTION, TNI_OPTIONAL("beta", 'S', tni_loss_attr, parameter)}, .n_params = 4,
    LOSS(smooth_l1_loss, TNI_LOSS_SMOOTH_L1, 2, 0),
    .samples = "[3,4] [3,4] 0 0.3371 | [3,4] [4] 1 0.3371 | [3,1] [1,4] 2 0.3371 | [3,4] [3,4] 2 0 | [0,3] [3] 1 | "
        "! [3] [4] | ! [3] [3] 0 -1"};
const tni_op tni_op_huber_loss = {
    .params = {PAIR, TNI_OPTIONAL("delta", 'S', tni_loss_attr, parameter), REDUCTION}, .n_params = 4,
    LOSS(huber_loss, TNI_LOSS_HUBER, 2, 0),
    .samples = "[3,4] [3,4] 0.3371 | [3,4] [4] 0.3371 1 | [3,1] [1,4] 0.3371 2 | [] [] | ! [3] [4] | ! [3] [3] 0"};
const tni_op tni_op_bce_loss = {
    .params = {PAIR, REDUCTION, TNI_OPTIONAL_TENSOR("weight", 2)}, .n_params = 4,
    LOSS(bce_loss, TNI_LOSS_BCE, 3, 4),
    .samples = "[3,4] [3,4] | [3,4] [3,4] 1 [4] | [3,4] [3,4] 2 | [] [] | [0,3] [0,3] 1 | ! [3,1] [3] | "
        "! [3] [3] 0 [4]"};
const tni_op tni_op_bce_with_logits = {
    .params = {PAIR, REDUCTION, TNI_OPTIONAL_TENSOR("pos_weight", 3), TNI_OPTIONAL_TENSOR("weight", 2)}, .n_params = 5,
    LOSS(bce_with_logits, TNI_LOSS_BCE_WITH_LOGITS, 4, 12),
    .samples = "[3,4] [3,4] | [3,4] [3,4] 1 [4] | [3,4] [3,4] 2 none [3,1] | [] [] | [0,3] [0,3] 1 | ! [3,1] [3] | "
        "! [3] [3] 0 [4] | [2000] [2000]"};

const tni_op tni_op_mse_loss_backward = {
    .params = {GRAD_PAIR, REDUCTION}, .n_params = 4, BACKWARD(mse_loss, TNI_LOSS_MSE, 3, 0),
    .samples = "[] [3,4] [3,4] | [3,4] [3,1] [1,4] 2 | [] [0,3] [3] 1 | ! [2] [3] [3] 2 | ! [] [3] [4]"};
const tni_op tni_op_l1_loss_backward = {
    .params = {GRAD_PAIR, REDUCTION}, .n_params = 4, BACKWARD(l1_loss, TNI_LOSS_L1, 3, 0),
    .samples = "[] [3,4] [3,4] | [3,4] [3,1] [1,4] 2 | ! [] [3] [4]"};
const tni_op tni_op_smooth_l1_loss_backward = {
    .params = {GRAD_PAIR, REDUCTION, TNI_OPTIONAL("beta", 'S', tni_loss_attr, parameter)}, .n_params = 5,
    BACKWARD(smooth_l1_loss, TNI_LOSS_SMOOTH_L1, 3, 0),
    .samples = "[] [3,4] [3,4] | [3,4] [3,1] [1,4] 2 0.5 | ! [] [3] [4]"};
const tni_op tni_op_huber_loss_backward = {
    .params = {GRAD_PAIR, REDUCTION, TNI_OPTIONAL("delta", 'S', tni_loss_attr, parameter)}, .n_params = 5,
    BACKWARD(huber_loss, TNI_LOSS_HUBER, 3, 0),
    .samples = "[] [3,4] [3,4] | [3,4] [3,1] [1,4] 2 0.5 | ! [] [3] [4]"};
const tni_op tni_op_bce_loss_backward = {
    .params = {GRAD_PAIR, REDUCTION, TNI_OPTIONAL_TENSOR("weight", 3)}, .n_params = 5,
    BACKWARD(bce_loss, TNI_LOSS_BCE, 4, 8),
    .samples = "[] [3,4] [3,4] | [3,4] [3,4] [3,4] 2 [4] | ! [] [3] [4]"};
const tni_op tni_op_bce_with_logits_backward = {
    .params = {GRAD_PAIR, REDUCTION, TNI_OPTIONAL_TENSOR("pos_weight", 4), TNI_OPTIONAL_TENSOR("weight", 3)},
    .n_params = 6, BACKWARD(bce_with_logits, TNI_LOSS_BCE_WITH_LOGITS, 5, 24),
    .samples = "[] [3,4] [3,4] | [3,4] [3,4] [3,4] 2 [4] | [] [3,4] [3,4] 1 none [4] | ! [] [3] [4]"};

const tni_op *const tni_loss_backward_ops[TNI_LOSSES] = {
    [TNI_LOSS_MSE] = &tni_op_mse_loss_backward, [TNI_LOSS_L1] = &tni_op_l1_loss_backward,
    [TNI_LOSS_SMOOTH_L1] = &tni_op_smooth_l1_loss_backward, [TNI_LOSS_HUBER] = &tni_op_huber_loss_backward,
    [TNI_LOSS_BCE] = &tni_op_bce_loss_backward, [TNI_LOSS_BCE_WITH_LOGITS] = &tni_op_bce_with_logits_backward};
