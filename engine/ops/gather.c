/* Reading and writing along one dim: index_select, gather, scatter_add, index_add. With i a position of dim d,
 *
 *     index_select   y[.., k, ..]      = x[.., index[k], ..]
 *     gather         y[.., k, ..]      = x[.., index[.., k, ..], ..]
 *     scatter_add    x[.., index[.., k, ..], ..] += src[.., k, ..]        the derivative of gather
 *     index_add      x[.., index[k], ..]         += alpha src[.., k, ..]  that of index_select
 *
 * Rules of torch's functions of these names. infer checks the positions where they are data, so that run cannot fail.
 * What is added up comes in row-major order of the index, so that sums never depend on the number of threads. As in
 * PyTorch, sums of 16-bit floats are kept in float32 and rounded once in scatter_add, and in index_add of matrices
 * without alpha; else at each step. */
#include <string.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "core/overlap.h"
#include "ops/accumulate.h"
#include "ops/copy.h"
#include "ops/create.h"
#include "ops/dtype_sets.h"
#include "ops/index.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/tape.h"

typedef struct gather_attr {
    int64_t dim;
    tn_scalar alpha;
} gather_attr;

static const gather_attr gather_default = {0, {TN_SCALAR_INT, {1}}};

static const char *shape_text(char *to, size_t size, const tn_tensor *x)
{
    tni_text_shape(to, size, x->sizes, x->ndim);
    return to;
}

/* The dim, wrapped; -1 with an error raised. */
static int dim_of(const tni_call *call)
{
    const gather_attr *attr = call->attr;
    int64_t dim = attr->dim;
    return tni_wrap_dim_any(tni_call_name(call), dim, call->in[0]->ndim);
}

/* The dim of a call that passed infer. */
static int known_dim(const tni_call *call)
{
    const int64_t dim = ((const gather_attr *)call->attr)->dim;
    const int ndim = call->in[0]->ndim > 0 ? call->in[0]->ndim : 1;
    return (int)(dim < 0 ? dim + ndim : dim);
}

/* What all four ask of dtypes: integers of 32 or 64 bits as index, a kernel for self, src of self's dtype. */
static tn_status check_dtypes(const tni_call *call)
{
    const char *name = tni_call_name(call);
    const tn_tensor *self = call->in[0], *at = call->in[1], *src = call->op->n_in > 2 ? call->in[2] : NULL;
    if (at->dtype != TN_INT64 && at->dtype != TN_INT32)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the index is %s, needed int64 or int32",
                        tn_dtype_name((tn_dtype)at->dtype));
    if (src && src->dtype != self->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the source is %s, self %s, needed the same",
                        tn_dtype_name((tn_dtype)src->dtype), tn_dtype_name((tn_dtype)self->dtype));
    return call->op->dtypes & TNI_DTYPE_BIT(self->dtype) ? TN_OK : tni_fail_no_kernel(call, (tn_dtype)self->dtype);
}

/* The positions, where they are data and something is done at all. */
static tn_status check_positions(const tni_call *call, int dim, int64_t elements)
{
    const tn_tensor *self = call->in[0], *at = call->in[1];
    if (tni_is_meta(at) || elements == 0)
        return TN_OK;
    return tni_check_positions(tni_call_name(call), at, dim, self->ndim > 0 ? self->sizes[dim] : 1, false);
}

/* self is written: what it reads must lie apart. */
static tn_status check_apart(const tni_call *call)
{
    if (call->form != TNI_IN_PLACE)
        return TN_OK;
    if (tni_check_no_overlap(tni_call_name(call), call->in[0], call->in[1], "the index"))
        return tni_pending();
    return tni_check_no_overlap(tni_call_name(call), call->in[0], call->in[2], "the source");
}

/* One position a place along the dim. */
static tn_status check_vector(const tni_call *call)
{
    const tn_tensor *self = call->in[0], *at = call->in[1];
    if (at->ndim > 1)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the index has %d dims, needed one", at->ndim);
    if (self->ndim == 0 && at->numel != 1)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "%lld positions in a tensor without dims, needed one",
                        (long long)at->numel);
    return TN_OK;
}

static tn_status select_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *self = call->in[0], *at = call->in[1];
    int dim = dim_of(call);
    if (dim < 0 || check_dtypes(call) || check_vector(call))
        return tni_pending();
    memcpy(meta->room, self->sizes, (size_t)self->ndim * sizeof *meta->room);
    if (self->ndim > 0)
        meta->room[dim] = at->numel;
    if (tni_meta_contiguous(call, meta, self->ndim, (tn_dtype)self->dtype, (tn_device_type)self->device))
        return tni_pending();
    return check_positions(call, dim, at->numel);
}

/* The index has self's dims and is nowhere larger but along `dim`; with src, nowhere larger than that. */
static tn_status check_grid(const tni_call *call, int dim)
{
    const tn_tensor *self = call->in[0], *at = call->in[1], *src = call->op->n_in > 2 ? call->in[2] : NULL;
    char have[120], need[120];
    const int own = self->ndim > 0 ? self->ndim : 1;
    if (at->numel == 0 && src)
        return TN_OK;
    if ((at->ndim > 0 ? at->ndim : 1) != own && at->numel > 0)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the index has %d dims, self %d, needed as many", at->ndim,
                        self->ndim);
    if (src && (src->ndim > 0 ? src->ndim : 1) != own)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the source has %d dims, self %d, needed as many",
                        src->ndim, self->ndim);
    for (int d = 0; d < at->ndim && d < own && at->numel > 0; d++) {
        if (d != dim && at->sizes[d] > (self->ndim > 0 ? self->sizes[d] : 1))
            return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call),
                            "the index %s is larger than self %s in dim %d, needed that in dim %d alone",
                            shape_text(have, sizeof have, at), shape_text(need, sizeof need, self), d, dim);
        if (src && at->sizes[d] > (src->ndim > 0 ? src->sizes[d] : 1))
            return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the index %s is larger than the source %s in dim %d",
                            shape_text(have, sizeof have, at), shape_text(need, sizeof need, src), d);
    }
    return TN_OK;
}

static tn_status gather_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *self = call->in[0], *at = call->in[1];
    int dim = dim_of(call);
    if (dim < 0 || check_dtypes(call) || check_grid(call, dim))
        return tni_pending();
    memcpy(meta->room, at->sizes, (size_t)at->ndim * sizeof *meta->room);
    if (tni_meta_contiguous(call, meta, at->ndim, (tn_dtype)self->dtype, (tn_device_type)self->device))
        return tni_pending();
    return check_positions(call, dim, at->numel);
}

/* Row: result, self at position 0 of the dim, positions. The context: bytes from one position to the next. */
typedef struct pick {
    int64_t step, itemsize;
} pick;

#define PICK(T)                                                                                             \
    do {                                                                                                    \
        for (int64_t i = 0; i < row->n; i++) {                                                              \
            int64_t at;                                                                                     \
            memcpy(&at, row->data[2] + i * row->strides[2], sizeof at);                                     \
            memcpy(row->data[0] + i * row->strides[0], row->data[1] + i * row->strides[1] + at * step, sizeof(T)); \
        }                                                                                                   \
    } while (0)

static void pick_row(const tni_row *row)
{
    const pick *p = row->context;
    const int64_t step = p->step;
    if (row->strides[2] == 0 && row->strides[0] == p->itemsize && row->strides[1] == p->itemsize) {
        int64_t at;
        memcpy(&at, row->data[2], sizeof at);
        memcpy(row->data[0], row->data[1] + at * step, (size_t)(row->n * p->itemsize));
        return;
    }
    switch (p->itemsize) {
    case 1:
        PICK(uint8_t);
        break;
    case 2:
        PICK(uint16_t);
        break;
    case 4:
        PICK(uint32_t);
        break;
    case 8:
        PICK(uint64_t);
        break;
    default:
        PICK(uint64_t[2]);
    }
}

/* index_select, whose index lies along the dim, and gather. */
static void pick_run(const tni_call *call, void *workspace)
{
    const tn_tensor *out = call->out[0], *self = call->in[0], *at = call->in[1];
    const tn_dtype dtype = (tn_dtype)self->dtype;
    const int dim = known_dim(call);
    const bool line = call->op == &tni_op_index_select;
    int64_t from[TN_MAX_NDIM] = {0}, along[TN_MAX_NDIM] = {0};
    pick p = {.itemsize = tni_itemsize(dtype)};
    tni_iter it;
    (void)workspace;
    for (int d = 0; d < out->ndim && self->ndim > 0; d++)
        from[d] = d == dim ? 0 : self->strides[d];
    p.step = self->ndim > 0 ? self->strides[dim] * p.itemsize : 0;
    if (line && out->ndim > 0)
        along[dim] = at->ndim > 0 ? at->strides[0] : 0;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, dtype);
    tni_iter_operand(&it, tni_data(self), out->sizes, from, out->ndim, dtype, dtype);
    tni_iter_operand(&it, tni_data(at), out->sizes, line ? along : at->strides, out->ndim,
                     (tn_dtype)at->dtype, TN_INT64);
    tni_iter_run(&it, pick_row, &p);
}

static tn_status scatter_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *self = call->in[0];
    int dim = dim_of(call);
    if (dim < 0 || check_dtypes(call) || check_grid(call, dim) || check_apart(call) ||
        check_positions(call, dim, call->in[1]->numel))
        return tni_pending();
    tni_meta_like(meta, self, (tn_dtype)self->dtype);
    return TN_OK;
}

static tn_status add_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *self = call->in[0], *at = call->in[1], *src = call->in[2];
    const char *name = tni_call_name(call);
    const tn_scalar alpha = ((const gather_attr *)call->attr)->alpha;
    char have[120], need[120];
    int dim = dim_of(call);
    if (dim < 0 || check_dtypes(call) || check_vector(call))
        return tni_pending();
    if (tni_check_value(name, alpha, (tn_dtype)self->dtype))
        return tni_pending();
    bool fits = src->ndim == self->ndim;
    for (int d = 0; fits && d < self->ndim; d++)
        fits = src->sizes[d] == (d == dim ? at->numel : self->sizes[d]);
    if (!fits)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "the source %s does not fit self %s with %lld positions in dim %d",
                        shape_text(have, sizeof have, src), shape_text(need, sizeof need, self), (long long)at->numel,
                        dim);
    if (check_apart(call) || check_positions(call, dim, self->ndim <= 1 || self->numel > 0 ? src->numel : 0))
        return tni_pending();
    tni_meta_like(meta, self, (tn_dtype)self->dtype);
    return TN_OK;
}

static bool is_one(tn_scalar alpha)
{
    return alpha.kind != TN_SCALAR_COMPLEX && tni_scalar_real(alpha) == 1;
}

/* Whether sums are kept in float32 meanwhile. */
static bool keeps_sums(const tni_call *call)
{
    const tn_tensor *self = call->in[0];
    const tn_scalar alpha = ((const gather_attr *)call->attr)->alpha;
    if (self->dtype != TN_FLOAT16 && self->dtype != TN_BFLOAT16)
        return false;
    return call->op == &tni_op_scatter_add || (self->ndim == 2 && is_one(alpha));
}

static size_t sums_workspace(const tni_call *call)
{
    return keeps_sums(call) ? (size_t)call->in[0]->numel * sizeof(float) : 0;
}

/* Where sums go. */
typedef struct target {
    char *data;
    tn_dtype dtype;
    int64_t strides[TN_MAX_NDIM]; /* bytes */
} target;

/* Copies self to where sums go: the result, or float32 in the workspace. */
static void begin_sums(const tni_call *call, void *workspace, target *t)
{
    const tn_tensor *out = call->out[0], *self = call->in[0];
    if (out != self)
        tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, self);
    t->data = tni_data(out);
    t->dtype = (tn_dtype)out->dtype;
    memcpy(t->strides, out->strides, (size_t)out->ndim * sizeof *t->strides);
    if (keeps_sums(call)) {
        t->data = workspace;
        t->dtype = TN_FLOAT32;
        tni_contiguous_strides(out->sizes, out->ndim, t->strides);
        tni_copy_elements(t->data, t->strides, TN_FLOAT32, out);
    }
    for (int d = 0; d < out->ndim; d++)
        t->strides[d] *= tni_itemsize(t->dtype);
}

/* One step through the dims of `sizes` but `skipped`, the last first; places in bytes. */
static void step(const int64_t *sizes, int ndim, int skipped, int64_t *index, int64_t *const *places,
                 const int64_t *const *strides, int n)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (d == skipped)
            continue;
        bool more = ++index[d] < sizes[d];
        for (int k = 0; k < n; k++)
            *places[k] += more ? strides[k][d] : (1 - sizes[d]) * strides[k][d];
        if (more)
            return;
        index[d] = 0;
    }
}

static void byte_strides(const tn_tensor *x, int64_t *strides)
{
    memset(strides, 0, TN_MAX_NDIM * sizeof *strides);
    for (int d = 0; d < x->ndim; d++)
        strides[d] = x->strides[d] * tni_itemsize((tn_dtype)x->dtype);
}

/* Rounds float32 sums to the result. */
static void end_sums(const tni_call *call, const target *t)
{
    const tn_tensor *out = call->out[0];
    const int last = out->ndim - 1;
    const tni_converter narrow = tni_converter_of(t->dtype, (tn_dtype)out->dtype);
    int64_t own[TN_MAX_NDIM], index[TN_MAX_NDIM] = {0}, to = 0, from = 0;
    int64_t *const places[2] = {&to, &from};
    const int64_t *const strides[2] = {own, t->strides};
    if (!keeps_sums(call) || out->numel == 0)
        return;
    byte_strides(out, own);
    const int64_t n = last >= 0 ? out->sizes[last] : 1;
    for (int64_t row = 0; row < out->numel / n; row++) {
        narrow(tni_data(out) + to, last >= 0 ? own[last] : 0, t->data + from, sizeof(float), n);
        step(out->sizes, last, -1, index, places, strides, 2);
    }
}

/* Adds n <= TNI_BLOCK elements of src at `from` to places, in sums' dtype. */
static void add_block(const target *t, char *to, const int64_t *places, tn_dtype dtype, const char *from,
                      int64_t stride, int64_t n)
{
    float wide[TNI_BLOCK];
    if (t->dtype != dtype) {
        tni_converter_of(dtype, TN_FLOAT32)(wide, sizeof(float), from, stride, n);
        from = (const char *)wide;
        stride = sizeof(float);
    }
    tni_add_scattered(t->dtype, to, places, from, stride, n);
}

static void scatter_run(const tni_call *call, void *workspace)
{
    const tn_tensor *at = call->in[1], *src = call->in[2];
    const int dim = known_dim(call), last = at->ndim - 1;
    const tni_converter read = tni_converter_of((tn_dtype)at->dtype, TN_INT64);
    int64_t index[TN_MAX_NDIM] = {0}, at_strides[TN_MAX_NDIM], src_strides[TN_MAX_NDIM], to_strides[TN_MAX_NDIM];
    int64_t positions[TNI_BLOCK], to = 0, from = 0, place = 0;
    int64_t *const places[3] = {&to, &from, &place};
    const int64_t *const strides[3] = {to_strides, src_strides, at_strides};
    target t = {.strides = {0}};
    begin_sums(call, workspace, &t);
    byte_strides(at, at_strides);
    byte_strides(src, src_strides);
    memcpy(to_strides, t.strides, sizeof to_strides);
    const int64_t by = to_strides[dim], n = last >= 0 ? at->sizes[last] : 1;
    to_strides[dim] = 0;
    const int64_t along = last >= 0 ? to_strides[last] : 0, at_along = last >= 0 ? at_strides[last] : 0,
                  src_along = last >= 0 ? src_strides[last] : 0;
    for (int64_t row = 0; at->numel > 0 && row < at->numel / n; row++) {
        for (int64_t i = 0; i < n; i += TNI_BLOCK) {
            const int64_t some = n - i < TNI_BLOCK ? n - i : TNI_BLOCK;
            read(positions, sizeof *positions, tni_data(at) + place + i * at_along, at_along, some);
            for (int64_t k = 0; k < some; k++)
                positions[k] = positions[k] * by + (i + k) * along;
            add_block(&t, t.data + to, positions, (tn_dtype)src->dtype, tni_data(src) + from + i * src_along, src_along,
                      some);
        }
        step(at->sizes, last, -1, index, places, strides, 3);
    }
    end_sums(call, &t);
}

/* One row of index_add, n elements apart from each other. */
static void add_row(const target *t, char *to, int64_t to_stride, tn_dtype dtype, const char *from, int64_t stride,
                    int64_t n, tn_scalar alpha)
{
    static const int64_t here = 0;
    float wide[TNI_BLOCK];
    if (t->dtype == dtype && n == 1 && is_one(alpha)) {
        tni_add_scattered(dtype, to, &here, from, 0, 1);
        return;
    }
    if (t->dtype == dtype) {
        tni_add_scaled_row(dtype, to, to_stride, from, stride, n, alpha);
        return;
    }
    for (int64_t i = 0; i < n; i += TNI_BLOCK) {
        const int64_t some = n - i < TNI_BLOCK ? n - i : TNI_BLOCK;
        tni_converter_of(dtype, TN_FLOAT32)(wide, sizeof(float), from + i * stride, stride, some);
        tni_add_row(TN_FLOAT32, to + i * to_stride, to_stride, (const char *)wide, sizeof(float), some);
    }
}

static void add_run(const tni_call *call, void *workspace)
{
    const tn_tensor *at = call->in[1], *src = call->in[2];
    const tn_scalar alpha = ((const gather_attr *)call->attr)->alpha;
    const int dim = known_dim(call), ndim = src->ndim, last = ndim - 1 == dim ? ndim - 2 : ndim - 1;
    const tni_converter read = tni_converter_of((tn_dtype)at->dtype, TN_INT64);
    int64_t index[TN_MAX_NDIM] = {0}, at_strides[TN_MAX_NDIM], src_strides[TN_MAX_NDIM], rows = 1, position;
    target t = {.strides = {0}};
    begin_sums(call, workspace, &t);
    byte_strides(at, at_strides);
    byte_strides(src, src_strides);
    for (int d = 0; d < ndim; d++)
        rows *= d == dim || d == last ? 1 : src->sizes[d];
    const int64_t n = last >= 0 ? src->sizes[last] : 1;
    for (int64_t k = 0; k < at->numel && src->numel > 0; k++) {
        read(&position, 0, tni_data(at) + k * at_strides[0], 0, 1);
        int64_t to = position * t.strides[dim], from = k * src_strides[dim];
        int64_t *const places[2] = {&to, &from};
        const int64_t *const strides[2] = {t.strides, src_strides};
        for (int64_t row = 0; row < rows; row++) {
            add_row(&t, t.data + to, last >= 0 ? t.strides[last] : 0, (tn_dtype)src->dtype, tni_data(src) + from,
                    last >= 0 ? src_strides[last] : 0, n, alpha);
            step(src->sizes, last, dim, index, places, strides, 2);
        }
    }
    end_sums(call, &t);
}

static int dim_of_call(const tni_vjp *v)
{
    return (int)((const gather_attr *)v->attr)->dim;
}

static void select_vjp(tni_vjp *v)
{
    v->grads[0] = tn_index_add(tni_zeros_of(v, 0), dim_of_call(v), tni_saved_input(v, 1), v->grad, tn_int(1));
}

/* self is kept as PyTorch keeps it: writing it since is an error. */
static void gather_vjp(tni_vjp *v)
{
    if (tni_saved_input(v, 0))
        v->grads[0] = tn_scatter_add(tni_zeros_of(v, 0), dim_of_call(v), tni_saved_input(v, 1), v->grad);
}

/* What of src lies beyond the index is not read. */
static void scatter_vjp(tni_vjp *v)
{
    const tni_shape src = tni_input_shape(v, 2);
    if (tni_needs(v, 0))
        v->grads[0] = v->grad;
    if (!tni_needs(v, 2))
        return;
    tn_tensor *at = tni_saved_input(v, 1), *read = tn_gather(v->grad, dim_of_call(v), at);
    if (!read || tni_same_dims(at->sizes, at->ndim, src.sizes, src.ndim)) {
        v->grads[2] = read;
        return;
    }
    tn_tensor *all = tni_zeros_of(v, 2), *part = all;
    for (int d = 0; d < src.ndim && at->ndim == src.ndim; d++)
        part = tn_narrow(part, d, 0, at->sizes[d]);
    if (at->numel > 0)
        tn_copy_(part, read);
    v->grads[2] = all;
}

static void add_vjp(tni_vjp *v)
{
    tn_scalar alpha = ((const gather_attr *)v->attr)->alpha;
    if (alpha.kind == TN_SCALAR_COMPLEX)
        alpha.value.c.im = -alpha.value.c.im;
    if (tni_needs(v, 0))
        v->grads[0] = v->grad;
    if (!tni_needs(v, 2))
        return;
    tn_tensor *read = tn_index_select(v->grad, dim_of_call(v), tni_saved_input(v, 1));
    v->grads[2] = is_one(alpha) ? read : tn_mul_scalar(read, alpha);
}

/* Only the gradient of src is read at the index. */
static const tni_derivative index_select_derivative = {.saves = {TNI_SAVE(1)}, .linear = true, .vjp = select_vjp};
static const tni_derivative gather_derivative = {
    .saves = {TNI_SAVE(0) | TNI_SAVE(1)}, .linear = true, .vjp = gather_vjp};
static const tni_derivative scatter_add_derivative = {.saves = {0, 0, TNI_SAVE(1)}, .linear = true,
                                                      .vjp = scatter_vjp};
static const tni_derivative index_add_derivative = {.saves = {0, 0, TNI_SAVE(1)}, .linear = true, .vjp = add_vjp};

#define PICK_DTYPES (TNI_ANY_REALS | TNI_COMPLEXES)
#define DIM_INDEX TNI_TENSOR("self", 0), TNI_ATTR("dim", 'I', gather_attr, dim), TNI_TENSOR("index", 1)

const tni_op tni_op_index_select = {
    .name = TNI_NAMES_NEW(index_select), .params = {DIM_INDEX}, .n_params = 3, .n_in = 2, .n_out = 1, .zero_through = 1,
    .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(gather_attr), .attr_default = &gather_default,
    .infer = select_infer, .run = pick_run, .derivative = &index_select_derivative,
    .samples = "[4] 0 <6:4> | [3,4] 0 <2:3> | [3,4] -1 <5:4> | [2,3,4] 1 <2:3> | [3] 0 <:3> | [] 0 <1:1> | "
        "[] -1 <:1> | [3,4] 0 <0:3> | [0,4] 1 <2:4> | ! [3,4] 2 <2:3> | ! [3,4] 0 <2,1:3> | ! [] 0 <2:1>"};

const tni_op tni_op_gather = {
    .name = TNI_NAMES_NEW(gather), .params = {DIM_INDEX}, .n_params = 3, .n_in = 2, .n_out = 1, .zero_through = 1,
    .dtypes = PICK_DTYPES,
    .attr_bytes = sizeof(gather_attr), .attr_default = &gather_default, .infer = gather_infer, .run = pick_run,
    .derivative = &gather_derivative,
    .samples = "[4] 0 <6:4> | [3,4] 0 <5,4:3> | [3,4] -1 <2,3:4> | [2,3,4] 1 <2,4,3:3> | [] 0 <:1> | [] 0 <3:1> | "
        "[3] 0 <:3> | [3,4] 0 <0,4:3> | [3,4] 1 <0:4> | ! [3,4] 0 <2,5:3> | ! [3,4] 0 <2:3> | ! [3,4] 2 <2,2:3>"};

const tni_op tni_op_scatter_add = {
    .name = TNI_NAMES_NEW_IN_PLACE(scatter_add), .params = {DIM_INDEX, TNI_TENSOR("src", 2)}, .n_params = 4, .n_in = 3,
    .n_out = 1, .dtypes = PICK_DTYPES, .attr_bytes = sizeof(gather_attr), .attr_default = &gather_default,
    .infer = scatter_infer, .workspace = sums_workspace, .run = scatter_run,
    .derivative = &scatter_add_derivative,
    .samples = "[4] 0 <6:4> [6] | [3,4] 0 <5,4:3> [5,4] | [3,4] -1 <2,6:4> [3,7] | [2,3,4] 1 <2,4,3:3> [2,4,3] | "
        "[] 0 <:1> [] | [] 0 <3:1> [3] | [3] 0 <:3> [1] | [3,4] 0 <0,4:3> [0,4] | ! [3,4] 0 <2,5:3> [2,5] | "
        "! [3,4] 0 <2,3:3> [1,3] | ! [3,4] 0 <2:3> [2] | ! [3,4] 2 <2,2:3> [2,2]"};

const tni_op tni_op_index_add = {
    .name = TNI_NAMES_NEW_IN_PLACE(index_add),
    .params = {DIM_INDEX, TNI_TENSOR("source", 2), TNI_OPTIONAL("alpha", 'S', gather_attr, alpha)}, .n_params = 5,
    .n_in = 3, .n_out = 1, .dtypes = PICK_DTYPES | TNI_COMPLEX_HALF, .attr_bytes = sizeof(gather_attr),
    .attr_default = &gather_default, .infer = add_infer, .workspace = sums_workspace, .run = add_run,
    .derivative = &index_add_derivative,
    .samples = "[4] 0 <6:4> [6] | [3,4] 0 <5:3> [5,4] | [3,4] -1 <6:4> [3,6] | [2,3,4] 1 <4:3> [2,4,4] | "
        "[] 0 <1:1> [] | [3] 0 <:3> [1] | [3,4] 0 <0:3> [0,4] | ! [3,4] 0 <2:3> [3,4] | ! [3,4] 0 <2:3> [2,3] | "
        "! [3,4] 0 <2,1:3> [2,4] | ! [3,4] 2 <2:3> [2,4]"};

tn_tensor *tn_index_select(tn_tensor *self, int dim, tn_tensor *index)
{
    tn_tensor *in[2] = {self, index};
    const gather_attr attr = {dim, gather_default.alpha};
    return tni_call_new(&tni_op_index_select, in, &attr);
}

tn_tensor *tn_gather(tn_tensor *self, int dim, tn_tensor *index)
{
    tn_tensor *in[2] = {self, index};
    const gather_attr attr = {dim, gather_default.alpha};
    return tni_call_new(&tni_op_gather, in, &attr);
}

tn_tensor *tn_scatter_add(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src)
{
    tn_tensor *in[3] = {self, index, src};
    const gather_attr attr = {dim, gather_default.alpha};
    return tni_call_new(&tni_op_scatter_add, in, &attr);
}

tn_status tn_scatter_add_(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src)
{
    tn_tensor *in[3] = {self, index, src};
    const gather_attr attr = {dim, gather_default.alpha};
    return tni_call_in_place(&tni_op_scatter_add, in, &attr);
}

tn_tensor *tn_index_add(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src, tn_scalar alpha)
{
    tn_tensor *in[3] = {self, index, src};
    const gather_attr attr = {dim, alpha};
    return tni_call_new(&tni_op_index_add, in, &attr);
}

tn_status tn_index_add_(tn_tensor *self, int dim, tn_tensor *index, tn_tensor *src, tn_scalar alpha)
{
    tn_tensor *in[3] = {self, index, src};
    const gather_attr attr = {dim, alpha};
    return tni_call_in_place(&tni_op_index_add, in, &attr);
}
