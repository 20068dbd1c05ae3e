/* softmax and log_softmax along one dim, and their backward operators. Rules of torch.softmax.
 *
 *     y = e^(x - max x) / sum e^(x - max x)       grad_x = y (grad - sum(grad y))
 *     y = x - max x - log sum e^(x - max x)       grad_x = grad - e^y sum grad
 *
 * Dense rows of float32 and float64 are taken where they lie, shared by the threads; others row by row through a block.
 * Source of the two passes: Milakov & Gimelshein 2018, arXiv:1805.02867. */
#include "ops/softmax.h"

#include <tenon/losses.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "cpu/transpose.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

enum { BLOCK = 1 << 15 }; /* elements; rows whose elements lie apart are read some at a time, beside one another */

typedef struct softmax_attr {
    int64_t dim;
} softmax_attr;

extern const tni_softmax_kernels tni_softmax_baseline, tni_softmax_avx2, tni_softmax_avx512;

static const tni_softmax_kernels *const levels[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = &tni_softmax_baseline,
#if defined(__x86_64__)
    [TNI_CPU_AVX2] = &tni_softmax_avx2,
    [TNI_CPU_AVX512] = &tni_softmax_avx512,
#endif
};

static tn_status softmax_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0], *y = call->in[call->op->n_in - 1];
    const char *name = tni_call_name(call);
    const int64_t dim = ((const softmax_attr *)call->attr)->dim;
    call->level = tni_cpu_level();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return tni_fail_no_kernel(call, (tn_dtype)x->dtype);
    if (y->dtype != x->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the gradient is %s and the result %s, needed the same",
                        tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name((tn_dtype)y->dtype));
    if (!tni_same_dims(x->sizes, x->ndim, y->sizes, y->ndim)) {
        char have[100], need[100];
        tni_text_shape(have, sizeof have, x->sizes, x->ndim);
        tni_text_shape(need, sizeof need, y->sizes, y->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the gradient is %s and the result %s, needed the same", have, need);
    }
    if (tni_wrap_dim(name, dim, x->ndim) < 0)
        return tni_pending();
    for (int d = 0; d < x->ndim; d++)
        meta->room[d] = x->sizes[d];
    return tni_meta_contiguous(call, meta, x->ndim, (tn_dtype)x->dtype, (tn_device_type)x->device);
}

/* The operands: two inputs (or one) and the result, each by its step along the dim. */
typedef struct operand {
    char *data;
    int64_t step, strides[TN_MAX_NDIM], itemsize; /* strides of the kept dims; in elements */
    tni_converter convert;
} operand;

typedef struct plan {
    operand operands[3];
    int n_operands;
    int64_t n, rows, sizes[TN_MAX_NDIM]; /* sizes of the kept dims */
    int kept;
    int64_t wide; /* itemsize of the arithmetic */
    tni_softmax_rows run;
    bool dense;
} plan;

static void add_operand(plan *p, const tn_tensor *x, int dim, bool result)
{
    operand *o = &p->operands[p->n_operands++];
    const tn_dtype dtype = (tn_dtype)x->dtype, compute = tni_lane_dtype(tni_lane_of(dtype));
    o->data = tni_data(x);
    o->itemsize = tni_itemsize(dtype);
    o->convert = result ? tni_converter_of(compute, dtype) : tni_converter_of(dtype, compute);
    o->step = x->ndim > 0 ? x->strides[dim] : 1;
    for (int d = 0, k = 0; d < x->ndim; d++)
        if (d != dim)
            o->strides[k++] = x->strides[d];
    p->dense = p->dense && compute == dtype && tni_contiguous(x) && (x->ndim == 0 || dim == x->ndim - 1);
}

static void make_plan(plan *p, const tni_call *call)
{
    const tn_tensor *out = call->out[0];
    const int dim = tni_wrap_dim(tni_call_name(call), ((const softmax_attr *)call->attr)->dim, out->ndim);
    const tn_dtype compute = tni_lane_dtype(tni_lane_of((tn_dtype)out->dtype));
    p->n_operands = p->kept = 0;
    p->dense = true;
    p->n = out->ndim > 0 ? out->sizes[dim] : 1;
    p->rows = p->n > 0 ? out->numel / p->n : 0;
    p->wide = tni_itemsize(compute);
    p->run = levels[call->level]->rows[call->op->family][compute == TN_FLOAT64];
    for (int d = 0; d < out->ndim; d++)
        if (d != dim)
            p->sizes[p->kept++] = out->sizes[d];
    for (int i = 0; i < call->op->n_in; i++)
        add_operand(p, call->in[i], dim, false);
    add_operand(p, out, dim, true);
}

static int64_t block_of(const plan *p)
{
    const int64_t all = p->rows * p->n, least = all < BLOCK ? all : BLOCK;
    return p->n > least ? p->n : least;
}

static size_t softmax_workspace(const tni_call *call)
{
    plan p;
    make_plan(&p, call);
    return p.dense ? 0 : (size_t)(block_of(&p) * p.wide) * (size_t)call->op->n_in;
}

/* `rows` rows that follow one another in the last kept dim, between an operand and a dense block. Rows that lie beside
 * one another, element by element, are turned in one go. */
static void move_rows(const plan *p, const operand *o, char *at, char *block, int64_t rows, bool out)
{
    const int64_t next = p->kept > 0 ? o->strides[p->kept - 1] * o->itemsize : 0, step = o->step * o->itemsize;
    const int64_t wide = p->wide, row = p->n * wide;
    if (o->itemsize == wide && next == wide && rows > 1) {
        if (out)
            tni_transpose(at, step, block, row, rows, p->n, wide, false);
        else
            tni_transpose(block, row, at, step, p->n, rows, wide, false);
        return;
    }
    for (int64_t r = 0; r < rows; r++) {
        if (out)
            o->convert(at + r * next, step, block + r * row, wide, p->n);
        else
            o->convert(block + r * row, wide, at + r * next, step, p->n);
    }
}

/* Where row `row` of an operand begins. */
static char *row_of(const plan *p, const operand *o, int64_t row)
{
    int64_t at = 0;
    for (int d = p->kept - 1; d >= 0; row /= p->sizes[d--])
        at += row % p->sizes[d] * o->strides[d];
    return o->data + at * o->itemsize;
}

static void run_through_blocks(const plan *p, char *workspace)
{
    const int64_t inner = p->kept > 0 ? p->sizes[p->kept - 1] : 1, room = block_of(p) / p->n;
    char *a = workspace, *b = p->n_operands > 2 ? workspace + block_of(p) * p->wide : NULL;
    for (int64_t row = 0; row < p->rows;) {
        int64_t left = inner - row % inner, rows = left < room ? left : room;
        move_rows(p, &p->operands[0], row_of(p, &p->operands[0], row), a, rows, false);
        if (b)
            move_rows(p, &p->operands[1], row_of(p, &p->operands[1], row), b, rows, false);
        p->run(a, a, b, rows, p->n);
        const operand *out = &p->operands[p->n_operands - 1];
        move_rows(p, out, row_of(p, out, row), a, rows, true);
        row += rows;
    }
}

static int64_t rows_a_task(const plan *p)
{
    return p->n < TNI_GRAIN ? TNI_GRAIN / p->n : 1;
}

static void dense_task(void *context, int64_t task)
{
    const plan *p = context;
    const int64_t some = rows_a_task(p), first = task * some, rows = first + some < p->rows ? some : p->rows - first;
    const int64_t at = first * p->n * p->wide;
    const operand *o = p->operands;
    p->run(o[p->n_operands - 1].data + at, o[0].data + at, p->n_operands > 2 ? o[1].data + at : NULL, rows, p->n);
}

static void softmax_run(const tni_call *call, void *workspace)
{
    plan p;
    make_plan(&p, call);
    if (!p.dense) {
        run_through_blocks(&p, workspace);
        return;
    }
    const int64_t tasks = (p.rows + rows_a_task(&p) - 1) / rows_a_task(&p);
    if (tasks > 1)
        tni_parallel_for(tasks, dense_task, &p);
    else
        dense_task(&p, 0);
}

static tn_tensor *backward_of(const tni_op *op, tn_tensor *grad, tn_tensor *y, const void *attr)
{
    tn_tensor *in[2] = {grad, y};
    return tni_call_new(op, in, attr);
}

static void softmax_vjp(tni_vjp *v)
{
    const tni_op *op =
        v->node->op->family == TNI_SOFTMAX ? &tni_op_softmax_backward : &tni_op_log_softmax_backward;
    v->grads[0] = backward_of(op, v->grad, tni_saved_result(v), v->attr);
}

static tn_tensor *sum_along(const tni_vjp *v, tn_tensor *x)
{
    const int dim = (int)((const softmax_attr *)v->attr)->dim;
    return tn_sum(x, &dim, 1, true, TN_DTYPE_NONE);
}

/* c is the cotangent, g the gradient that came in, y the result. */
static void softmax_backward_vjp(tni_vjp *v)
{
    tn_tensor *c = v->grad, *g = tni_saved_input(v, 0), *y = tni_saved_input(v, 1);
    if (tni_needs(v, 0))
        v->grads[0] = backward_of(&tni_op_softmax_backward, c, y, v->attr);
    if (tni_needs(v, 1))
        v->grads[1] = tn_sub(tn_sub(tn_mul(c, g), tn_mul(sum_along(v, tn_mul(y, c)), g)),
                             tn_mul(c, sum_along(v, tn_mul(y, g))));
}

static void log_softmax_backward_vjp(tni_vjp *v)
{
    tn_tensor *c = v->grad, *y = tni_saved_input(v, 1), *share = tn_mul(c, tn_exp(y));
    if (tni_needs(v, 0))
        v->grads[0] = tn_sub(c, sum_along(v, share));
    if (tni_needs(v, 1))
        v->grads[1] = tn_neg(tn_mul(share, sum_along(v, tni_saved_input(v, 0))));
}

#define BOTH (TNI_SAVE(0) | TNI_SAVE(1))

static const tni_derivative softmax_derivative = {.saves = {TNI_SAVE_RESULT}, .vjp = softmax_vjp};
static const tni_derivative softmax_backward_derivative = {
    .saves = {TNI_SAVE(1), BOTH}, .vjp = softmax_backward_vjp, .name = "SoftmaxBackwardDataBackward0"};
static const tni_derivative log_softmax_backward_derivative = {
    .saves = {TNI_SAVE(1), BOTH}, .vjp = log_softmax_backward_vjp, .name = "LogSoftmaxBackwardDataBackward0"};

#define SOFTMAX(op, row)                                                                                          \
    .name = TNI_NAMES_NEW(op), .n_out = 1, .exact_out_dtype = true, .dtypes = TNI_FLOATS,                         \
    .attr_bytes = sizeof(softmax_attr), .infer = softmax_infer, .workspace = softmax_workspace,                   \
    .run = softmax_run, .family = row
#define FORWARD  .params = {TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', softmax_attr, dim)}, .n_params = 2, .n_in = 1
#define BACKWARD                                                                                                  \
    .params = {TNI_TENSOR("grad", 0), TNI_TENSOR("result", 1), TNI_ATTR("dim", 'I', softmax_attr, dim)},          \
    .n_params = 3, .n_in = 2

#define SAMPLES \
    "[3,4] 1 | [3,4] 0 | [2,3,40] 1 | [2,3,40] -1 | [] 0 | [0,3] 1 | [3,0] 1 | [2,5000] 1 | ! [3,4] 2 | ! [] 1"

const tni_op tni_op_softmax = {
    SOFTMAX(softmax, TNI_SOFTMAX), FORWARD, .derivative = &softmax_derivative, .samples = SAMPLES};
const tni_op tni_op_log_softmax = {
    SOFTMAX(log_softmax, TNI_LOG_SOFTMAX), FORWARD, .derivative = &softmax_derivative, .samples = SAMPLES};
const tni_op tni_op_softmax_backward = {
    SOFTMAX(softmax_backward, TNI_SOFTMAX_BACKWARD), BACKWARD, .derivative = &softmax_backward_derivative,
    .samples = "[3,4] [3,4] 1 | [3,4] [3,4] 0 | [2,3,40] [2,3,40] 1 | [] [] 0 | ! [3,4] [4] 0 | ! [3] [3] 1"};
const tni_op tni_op_log_softmax_backward = {
    SOFTMAX(log_softmax_backward, TNI_LOG_SOFTMAX_BACKWARD), BACKWARD, .derivative = &log_softmax_backward_derivative,
    .samples = "[3,4] [3,4] 1 | [3,4] [3,4] 0 | [2,3,40] [2,3,40] 1 | [] [] 0 | ! [3,4] [4] 0 | ! [3] [3] 1"};

static tn_tensor *call_softmax(const tni_op *op, tn_tensor *x, int dim)
{
    const softmax_attr attr = {dim};
    return tni_call_new(op, &x, &attr);
}

tn_tensor *tn_softmax(tn_tensor *x, int dim)
{
    return call_softmax(&tni_op_softmax, x, dim);
}

tn_tensor *tn_log_softmax(tn_tensor *x, int dim)
{
    return call_softmax(&tni_op_log_softmax, x, dim);
}
