/* Creation: zeros, ones, full, arange; and writing one value everywhere: fill_, zero_. Rules of torch's functions of
 * these names. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tenon/ops.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "dispatch/op.h"
#include "ops/create.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/tape.h"

enum { ZEROS = 0, ONES = 1, FULL };

typedef struct create_attr {
    tni_ints size;
    tn_scalar value;
    tn_dtype dtype;
} create_attr;

typedef struct fill_attr {
    uint32_t numbers; /* Note [Attributes] */
    tn_scalar value;
} fill_attr;

typedef struct arange_attr {
    tn_scalar start, end, step;
    tn_dtype dtype;
} arange_attr;

#define FILL_PIECE ((size_t)8192)

enum { FEW = 256 }; /* elements that a plain loop fills sooner */

typedef struct fill_value {
    _Alignas(16) char element[16];
    int64_t itemsize;
} fill_value;

/* A dense row is filled by copying what is filled already, in pieces that stay in the first cache. */
static void fill_row(const tni_row *row)
{
    const fill_value *value = row->context;
    const size_t size = (size_t)value->itemsize;
    char *y = row->data[0];
    if (row->strides[0] != value->itemsize) {
        for (int64_t i = 0; i < row->n; i++, y += row->strides[0])
            memcpy(y, value->element, size);
        return;
    }
    size_t bytes = (size_t)row->n * size, done = size, piece = size;
    memcpy(y, value->element, size);
    for (; done < bytes; done += piece) {
        piece = done < FILL_PIECE ? done : FILL_PIECE;
        piece = bytes - done < piece ? bytes - done : piece;
        memcpy(y + done, y, piece);
    }
}

static bool is_zero(tn_scalar scalar)
{
    return scalar.kind <= TN_SCALAR_INT && scalar.value.i == 0;
}

/* There is a conversion from numbers to out's dtype, or zero bytes are meant: infer asked. */
void tni_fill(const tn_tensor *out, tn_scalar scalar)
{
    tn_dtype dtype = (tn_dtype)out->dtype;
    fill_value value = {.itemsize = tni_itemsize(dtype)};
    tni_scalar_to(scalar, dtype, value.element);
    if (value.itemsize == sizeof(float) && out->numel <= FEW && tni_contiguous(out)) {
        float element, *y = (float *)(void *)tni_data(out);
        memcpy(&element, value.element, sizeof element);
        for (int64_t i = 0; i < out->numel; i++)
            y[i] = element;
        return;
    }
    tni_iter it;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, dtype);
    tni_iter_run(&it, fill_row, &value);
}

tn_status tni_check_value(const char *name, tn_scalar value, tn_dtype dtype)
{
    _Alignas(16) char element[16];
    char text[40];
    if (value.kind <= TN_SCALAR_INT && (dtype == TN_FLOAT32 || dtype == TN_FLOAT64)) /* all of them fit */
        return TN_OK;
    if (tni_dtype_kind(dtype) >= TNI_QUANTIZED && is_zero(value))
        return TN_OK;
    if (!tni_scalar_to(value, dtype, element))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, name, "no kernel writes numbers into %s on cpu",
                        tn_dtype_name(dtype));
    if (tni_scalar_fits(value, dtype))
        return TN_OK;
    if (value.kind >= TN_SCALAR_FLOAT)
        tni_text_double(text, sizeof text, tni_scalar_real(value));
    else
        snprintf(text, sizeof text, "%lld", (long long)value.value.i);
    return TNI_FAIL(TN_ERROR_OVERFLOW, name, "%s does not hold the value %s", tn_dtype_name(dtype), text);
}

tn_status tni_check_fill(const char *name, tn_scalar value, tn_dtype dtype, int64_t numel)
{
    bool narrow = tni_is_float(dtype) && tni_itemsize(dtype) <= 2;
    if (numel == 1 && narrow && value.kind != TN_SCALAR_COMPLEX)
        return TN_OK;
    return tni_check_value(name, value, dtype);
}

/* What the elements of zeros, ones or full are. */
static tn_scalar created_value(const tni_call *call)
{
    return call->op->family == FULL ? ((const create_attr *)call->attr)->value : tn_int(call->op->family);
}

static tn_status create_infer(tni_call *call, tni_meta *meta)
{
    const create_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    if (tni_check_sizes(name, attr->size.data, attr->size.n))
        return tni_pending();
    if (attr->dtype != TN_DTYPE_NONE && tni_check_dtype(name, attr->dtype))
        return tni_pending();
    tn_scalar value = created_value(call);
    tn_dtype dtype = attr->dtype;
    if (dtype == TN_DTYPE_NONE)
        dtype = call->op->family == FULL ? tni_scalar_dtype(value) : tn_get_default_dtype();
    int64_t numel = 1;
    for (int d = 0; d < attr->size.n; d++) {
        meta->room[d] = attr->size.data[d];
        numel = meta->room[d] == 1 ? numel : 0;
    }
    if (tni_check_fill(name, value, dtype, numel))
        return tni_pending();
    return tni_meta_contiguous(call, meta, attr->size.n, dtype, tn_get_default_device().type);
}

static void create_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    tni_fill(call->out[0], created_value(call));
}

/* A tensor without dims stands for its number. */
static tn_scalar fill_value_of(const tni_call *call)
{
    const tn_tensor *value = call->op->n_in > 1 ? call->in[1] : NULL;
    return value ? tn_item_scalar(value) : ((const fill_attr *)call->attr)->value;
}

static tn_status fill_infer(tni_call *call, tni_meta *meta)
{
    const char *name = tni_call_name(call);
    const tn_tensor *self = call->in[0], *value = call->op->n_in > 1 ? call->in[1] : NULL;
    if (value && value->ndim > 0)
        return TNI_FAIL(TN_ERROR_DIM, name, "the value has %d dims, needed none", value->ndim);
    if (!value || !tni_is_meta(value)) {
        const tn_scalar number = fill_value_of(call);
        if (tni_pending() || tni_check_fill(name, number, (tn_dtype)self->dtype, self->numel))
            return tni_pending();
    }
    tni_meta_like(meta, self, (tn_dtype)self->dtype);
    return TN_OK;
}

static void fill_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    tni_fill(call->out[0], fill_value_of(call));
}

static bool all_integers(const arange_attr *attr)
{
    return attr->start.kind <= TN_SCALAR_INT && attr->end.kind <= TN_SCALAR_INT && attr->step.kind <= TN_SCALAR_INT;
}

/* ceil((end - start) / step); exact for integers that stay integers of 64 bits, in float64 otherwise. */
static tn_status arange_length(const arange_attr *attr, tn_dtype dtype, int64_t *length)
{
    const char *name = "arange";
    if (attr->start.kind == TN_SCALAR_COMPLEX || attr->end.kind == TN_SCALAR_COMPLEX ||
        attr->step.kind == TN_SCALAR_COMPLEX)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "a complex number, needed real ones");
    if (all_integers(attr) && dtype == TN_INT64) {
        int64_t span, step = attr->step.value.i;
        if (step == 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "step 0, needed another");
        if (!tni_sub_i64(attr->end.value.i, attr->start.value.i, &span))
            return TNI_FAIL(TN_ERROR_OVERFLOW, name, "end - start is more than 64 bits hold");
        if (span != 0 && (span > 0) != (step > 0))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "step %lld leads from start %lld away from end %lld",
                            (long long)step, (long long)attr->start.value.i, (long long)attr->end.value.i);
        if (step != -1)
            *length = span / step + (span % step != 0);
        else if (!tni_sub_i64(0, span, length))
            return TNI_FAIL(TN_ERROR_OVERFLOW, name, "more elements than 64 bits count");
        return TN_OK;
    }
    double start = tni_scalar_real(attr->start), end = tni_scalar_real(attr->end), step = tni_scalar_real(attr->step),
           count = ceil((end - start) / step);
    if (!(step != 0) || !isfinite(start) || !isfinite(end) || isinf(step))
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%s, needed %s",
                        step != 0 ? "start, end or step is infinite or nan" : "step is 0 or nan",
                        step != 0 ? "finite bounds" : "another");
    if ((step > 0 && end < start) || (step < 0 && end > start))
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "step leads from start away from end");
    if (!(count < 0x1p62))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "more elements than 64 bits count");
    *length = count > 0 ? (int64_t)count : 0;
    return TN_OK;
}

static tn_status arange_infer(tni_call *call, tni_meta *meta)
{
    const arange_attr *attr = call->attr;
    tn_dtype dtype = attr->dtype;
    if (dtype == TN_DTYPE_NONE)
        dtype = all_integers(attr) ? TN_INT64 : tn_get_default_dtype();
    if (arange_length(attr, dtype, &meta->room[0]))
        return tni_pending();
    if (tni_check_dtype("arange", dtype))
        return tni_pending();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "arange", "no kernel for %s on cpu", tn_dtype_name(dtype));
    return tni_meta_contiguous(call, meta, 1, dtype, tn_get_default_device().type);
}

enum { ARANGE_TASK = 1 << 14 };

/* What arange computes in: int64 (wrapping), or float64. Elements are converted from there. */
typedef struct arange_plan {
    char *y;
    int64_t stride, n; /* stride in bytes */
    bool whole;
    int64_t first, by;
    double start, step;
    tni_converter convert;
} arange_plan;

/* x_i = start + i step, n <= TNI_BLOCK of them from i = at on; i is exact in float64. */
static void arange_block(const arange_plan *p, int64_t at, int64_t n)
{
    typedef double reals __attribute__((vector_size(16))); /* what every machine has in a register */
    typedef uint64_t wholes __attribute__((vector_size(16)));
    union {
        reals real[TNI_BLOCK / 2];
        wholes whole[TNI_BLOCK / 2];
    } block;
    if (p->whole) {
        const uint64_t by = (uint64_t)p->by, first = (uint64_t)p->first + (uint64_t)at * by;
        wholes value = {first, first + by};
        for (int64_t k = 0; k < (n + 1) / 2; k++, value += 2 * by)
            block.whole[k] = value;
    } else {
        const double start = p->start, step = p->step, i = (double)at;
        reals index = {i, i + 1};
        for (int64_t k = 0; k < (n + 1) / 2; k++, index += 2.0)
            block.real[k] = start + index * step;
    }
    p->convert(p->y + at * p->stride, p->stride, &block, 8, n);
}

static void arange_task(void *context, int64_t task)
{
    const arange_plan *p = context;
    int64_t end = (task + 1) * ARANGE_TASK < p->n ? (task + 1) * ARANGE_TASK : p->n;
    for (int64_t at = task * ARANGE_TASK; at < end; at += TNI_BLOCK)
        arange_block(p, at, end - at < TNI_BLOCK ? end - at : TNI_BLOCK);
}

/* Whether all of start + i step, i <= n, is exact in float64. */
static bool exact_in_double(double start, double step, int64_t n)
{
    return fabs(start) + fabs(step) * (double)n < 0x1p53;
}

static void arange_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const arange_attr *attr = call->attr;
    const tn_tensor *out = call->out[0];
    const tn_dtype dtype = (tn_dtype)out->dtype;
    arange_plan p = {.y = tni_data(out), .stride = out->strides[0] * tni_itemsize(dtype), .n = out->numel,
                     .start = tni_scalar_real(attr->start), .step = tni_scalar_real(attr->step)};
    p.whole = all_integers(attr) && (tni_is_integral(dtype) || !exact_in_double(p.start, p.step, p.n));
    if (p.whole) {
        p.first = attr->start.value.i;
        p.by = attr->step.value.i;
    }
    if (tni_is_integral(dtype)) { /* as torch: into an integer dtype start and step go first */
        p.start = trunc(p.start);
        p.step = trunc(p.step);
    }
    p.convert = tni_converter_of(p.whole ? TN_INT64 : TN_FLOAT64, dtype);
    int64_t tasks = (p.n + ARANGE_TASK - 1) / ARANGE_TASK;
    if (p.n >= 2 * TNI_GRAIN)
        tni_parallel_for(tasks, arange_task, &p);
    else
        for (int64_t task = 0; task < tasks; task++)
            arange_task(&p, task);
}

static const create_attr create_default = {.dtype = TN_DTYPE_NONE};

#define SIZE_DTYPE {TNI_ATTR("size", 'L', create_attr, size), TNI_OPTIONAL("dtype", 'D', create_attr, dtype)}
#define CREATE_SAMPLES "(2,3) | (0,4) | () | (5) float64 | (3) int64 | (2) bool | ! (-1) | ! (4611686018427387904,4)"

const tni_op tni_op_zeros = {
    .name = TNI_NAMES_NEW(zeros), .params = SIZE_DTYPE, .n_params = 2, .n_out = 1, .dtypes = TNI_ALL_NUMBERS,
    .attr_bytes = sizeof(create_attr), .attr_default = &create_default, .infer = create_infer, .run = create_run,
    .family = ZEROS,
    .samples = CREATE_SAMPLES};

const tni_op tni_op_ones = {
    .name = TNI_NAMES_NEW(ones), .params = SIZE_DTYPE, .n_params = 2, .n_out = 1, .dtypes = TNI_ALL_NUMBERS,
    .attr_bytes = sizeof(create_attr), .attr_default = &create_default, .infer = create_infer, .run = create_run,
    .family = ONES,
    .samples = CREATE_SAMPLES};

const tni_op tni_op_full = {
    .name = TNI_NAMES_NEW(full),
    .params = {TNI_ATTR("size", 'L', create_attr, size), TNI_ATTR("fill_value", 'S', create_attr, value),
               TNI_OPTIONAL("dtype", 'D', create_attr, dtype)},
    .n_params = 3, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(create_attr),
    .attr_default = &create_default, .infer = create_infer, .run = create_run, .family = FULL,
    .samples = "(2,3) 2.5 | (0) 7 | () true | (4) 3 float32 | (2) 1 bool | ! (-1) 0 | ! (2) inf int64"};

const tni_op tni_op_arange = {
    .name = TNI_NAMES_NEW(arange),
    .params = {TNI_ATTR("start", 'S', arange_attr, start), TNI_ATTR("end", 'S', arange_attr, end),
               TNI_OPTIONAL("step", 'S', arange_attr, step), TNI_OPTIONAL("dtype", 'D', arange_attr, dtype)},
    .n_params = 4, .n_out = 1,
    .dtypes = TNI_REALS, .attr_bytes = sizeof(arange_attr),
    .attr_default = &(const arange_attr){.step = {TN_SCALAR_INT, {1}}, .dtype = TN_DTYPE_NONE}, .infer = arange_infer,
    .run = arange_run,
    .samples = "0 12 | 5 0 -2 | 0 1 0.25 | 0 0 | 1 4 1 float64 | ! 0 5 0 | ! 0 5 -1 | ! 0 inf | ! 0 nan | "
        "! 0 -9223372036854775808 -1"};

static const tni_derivative zero_derivative = {.linear = true, .vjp = tni_vjp_none};
/* The value's gradient is summed by the walk. */
static void fill_vjp(tni_vjp *v)
{
    tni_vjp_none(v);
    v->grads[1] = v->grad;
}

static const char *fill_node(const tni_node *node)
{
    return ((const fill_attr *)node->attr)->numbers ? "FillBackward2" : "FillBackward3";
}

static const tni_derivative fill_derivative = {.named = fill_node, .linear = true, .vjp = fill_vjp};

static const fill_attr fill_default = {2, {TN_SCALAR_INT, {0}}}, fill_by_tensor = {0, {TN_SCALAR_INT, {0}}};

const tni_op tni_op_fill = {
    .name = TNI_NAMES_IN_PLACE(fill), .params = {TNI_TENSOR("self", 0), TNI_OPERAND("value", 1, fill_attr, value)},
    .n_params = 2, .n_in = 2, .n_out = 1, .number_in = 2, .overlap_allowed = true, .reads_first = true,
    .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(fill_attr), .attr_default = &fill_by_tensor,
    .infer = fill_infer, .run = fill_run,
    .derivative = &fill_derivative,
    .samples = "[3,4] 2.5 | [] 1 | [0] 1 | [2,3,4] true"};

const tni_op tni_op_zero = {
    .name = TNI_NAMES_IN_PLACE(zero), .params = {TNI_TENSOR("self", 0)}, .n_params = 1, .n_in = 1, .n_out = 1,
    .overlap_allowed = true, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(fill_attr), .attr_default = &fill_default,
    .infer = fill_infer, .run = fill_run, .derivative = &zero_derivative,
    .samples = "[3,4] | [] | [0]"};

static tn_tensor *create(const tni_op *op, const int64_t *size, int ndim, tn_scalar value, tn_dtype dtype)
{
    const create_attr attr = {{size, ndim}, value, dtype};
    return tni_call_new(op, NULL, &attr);
}

tn_tensor *tn_zeros(const int64_t *size, int ndim, tn_dtype dtype)
{
    return create(&tni_op_zeros, size, ndim, tn_int(0), dtype);
}

tn_tensor *tn_ones(const int64_t *size, int ndim, tn_dtype dtype)
{
    return create(&tni_op_ones, size, ndim, tn_int(1), dtype);
}

tn_tensor *tn_full(const int64_t *size, int ndim, tn_scalar value, tn_dtype dtype)
{
    return create(&tni_op_full, size, ndim, value, dtype);
}

tn_tensor *tn_arange(tn_scalar start, tn_scalar end, tn_scalar step, tn_dtype dtype)
{
    const arange_attr attr = {start, end, step, dtype};
    return tni_call_new(&tni_op_arange, NULL, &attr);
}

tn_status tn_fill_(tn_tensor *self, tn_scalar value)
{
    const fill_attr attr = {2, value};
    tn_tensor *in[2] = {self, NULL};
    return tni_call_in_place(&tni_op_fill, in, &attr);
}

tn_status tn_fill_tensor_(tn_tensor *self, tn_tensor *value)
{
    tn_tensor *in[2] = {self, value};
    return tni_call_in_place(&tni_op_fill, in, &fill_by_tensor);
}

tn_status tn_zero_(tn_tensor *self)
{
    return tni_call_in_place(&tni_op_zero, &self, &fill_default);
}
