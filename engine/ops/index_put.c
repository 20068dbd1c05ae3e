/* index and index_put: elements at positions given by int64 tensors, one a dim (NULL: the whole dim), that broadcast to
 * one shape B. Position b of B stands for the elements of x at
 *
 *     offset_b = sum over the indices k of position_k[b] * stride of x's dim k
 *
 * and all positions of the dims without an index. In the result B takes the place of the indexed dims where they are
 * neighbours, and comes first where they are not. Each is the derivative of the other: that of index adds the gradient
 * into zeros (accumulate), that of index_put reads it. Rules and layout of aten::index and aten::index_put_. infer
 * checks the positions where they are data, so that run cannot fail. */
#include <string.h>
#include <tenon/create.h>

#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "core/lazy.h"
#include "core/overlap.h"
#include "ops/accumulate.h"
#include "ops/copy.h"
#include "ops/dtype_sets.h"
#include "ops/index.h"
#include "ops/operators.h"
#include "ops/pointwise.h"
#include "ops/tape.h"

typedef struct plan {
    const char *name;
    const tn_tensor *x; /* the tensor to read, or to write */
    const tni_put_attr *attr;
    int dims[TN_MAX_NDIM]; /* those with an index */
    int n_dims;
    int64_t sizes[TN_MAX_NDIM]; /* B's */
    int ndim, first;            /* B's dims, and where they begin in the result */
    int64_t count;
    int64_t result[TN_MAX_NDIM];
    int64_t strides[TN_MAX_NDIM]; /* of x along the result's dims; 0 along B's */
    int result_ndim;
} plan;

static const tn_tensor *index_of(const plan *p, int k)
{
    return p->attr->indices.data[p->dims[k]];
}

tn_status tni_check_positions(const char *name, const tn_tensor *at, int dim, int64_t size, bool from_end)
{
    const int64_t low = from_end ? -size : 0, itemsize = tni_itemsize((tn_dtype)at->dtype);
    const bool wide = itemsize == 8, row = tni_contiguous(at);
    const char *data = tni_data(at);
    int64_t index[TN_MAX_NDIM] = {0}, place = 0;
    for (int64_t i = 0; i < at->numel; i++) {
        const char *from = data + (row ? i : place) * itemsize;
        int64_t position = wide ? *(const int64_t *)(const void *)from : *(const int32_t *)(const void *)from;
        if (TNI_UNLIKELY(position < low || position >= size))
            return TNI_FAIL(TN_ERROR_INDEX, name,
                            "index %lld, element %lld of the index, in dim %d of size %lld, needed %lld .. %lld",
                            (long long)position, (long long)i, dim, (long long)size, (long long)low,
                            (long long)size - 1);
        for (int d = at->ndim - 1; !row && d >= 0; d--) {
            place += at->strides[d];
            if (++index[d] < at->sizes[d])
                break;
            place -= at->sizes[d] * at->strides[d];
            index[d] = 0;
        }
    }
    return TN_OK;
}

/* B, from all indices together. */
static tn_status find_shape(plan *p)
{
    const tni_tensors *indices = &p->attr->indices;
    if (indices->n > p->x->ndim)
        return TNI_FAIL(TN_ERROR_INDEX, p->name, "%d entries index a tensor of %d dims", indices->n, p->x->ndim);
    for (int d = 0; d < indices->n; d++) {
        int64_t so_far[TN_MAX_NDIM];
        const tn_tensor *at = indices->data[d];
        if (!at)
            continue;
        if (at->dtype != TN_INT64 || tni_is_lazy(at))
            return TNI_FAIL(TN_ERROR_DTYPE, p->name, "index %d is %s%s, needed int64", d,
                            tni_is_lazy(at) ? "lazy " : "", tn_dtype_name((tn_dtype)at->dtype));
        if (tni_is_meta(at) && !tni_is_meta(p->x))
            return TNI_FAIL(TN_ERROR_DEVICE, p->name, "index %d is on meta, the tensor has data", d);
        p->dims[p->n_dims++] = d;
        memcpy(so_far, p->sizes, sizeof so_far);
        p->ndim = tni_broadcast(p->name, so_far, p->ndim, at->sizes, at->ndim, p->sizes);
        if (p->ndim < 0)
            return tni_pending();
    }
    if (p->n_dims == 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, p->name, "no index tensor, needed at least one");
    if (!tni_numel(p->sizes, p->ndim, &p->count))
        return TNI_FAIL(TN_ERROR_OVERFLOW, p->name, "the positions count more than 64 bits");
    return TN_OK;
}

/* The result's dims: B instead of the indexed ones. */
static tn_status shape_result(plan *p)
{
    const tn_tensor *x = p->x;
    uint64_t indexed = 0;
    int to = 0, lowest = p->dims[0], highest = p->dims[p->n_dims - 1], dims = x->ndim - p->n_dims + p->ndim;
    if (dims > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, p->name, "the result has %d dims, needed at most %d", dims, TN_MAX_NDIM);
    for (int k = 0; k < p->n_dims; k++)
        indexed |= UINT64_C(1) << p->dims[k];
    p->first = highest - lowest + 1 == p->n_dims ? lowest : 0;
    for (int d = 0; d <= x->ndim; d++) {
        for (int i = 0; d == p->first && i < p->ndim; i++) {
            p->result[to] = p->sizes[i];
            p->strides[to++] = 0;
        }
        if (d == x->ndim || indexed & (UINT64_C(1) << d))
            continue;
        p->result[to] = x->sizes[d];
        p->strides[to++] = x->strides[d];
    }
    p->result_ndim = to;
    return TN_OK;
}

static tn_status make_plan(plan *p, const tni_call *call, const tn_tensor *x)
{
    memset(p, 0, sizeof *p);
    p->attr = call->attr;
    p->name = p->attr->caller ? p->attr->caller : tni_call_name(call);
    p->x = x;
    return find_shape(p) || shape_result(p) ? tni_pending() : TN_OK;
}

/* Where nothing is taken, positions may be anything, as in PyTorch. */
static tn_status check_positions(const plan *p)
{
    for (int k = 0; p->count > 0 && k < p->n_dims; k++)
        if (p->x->sizes[p->dims[k]] == 0)
            return TNI_FAIL(TN_ERROR_INDEX, p->name, "an index in dim %d of size 0", p->dims[k]);
    for (int d = 0; d < p->result_ndim; d++)
        if (p->result[d] == 0)
            return TN_OK;
    for (int k = 0; k < p->n_dims; k++)
        if (!tni_is_meta(index_of(p, k)) &&
            tni_check_positions(p->name, index_of(p, k), p->dims[k], p->x->sizes[p->dims[k]], true))
            return tni_pending();
    return TN_OK;
}

/* offset_b in bytes, for all b. */
static void find_offsets(const plan *p, int64_t *offsets)
{
    const int64_t itemsize = tni_itemsize((tn_dtype)p->x->dtype);
    if (p->count == 0)
        return;
    memset(offsets, 0, (size_t)p->count * sizeof *offsets);
    for (int k = 0; k < p->n_dims; k++) {
        const tn_tensor *at = index_of(p, k);
        const int64_t *position = (const int64_t *)(const void *)tni_data(at);
        int64_t size = p->x->sizes[p->dims[k]], step = p->x->strides[p->dims[k]] * itemsize, from = 0;
        int64_t strides[TN_MAX_NDIM], index[TN_MAX_NDIM] = {0};
        bool row = at->numel == p->count && tni_contiguous(at);
        tni_broadcast_strides(at->sizes, at->strides, at->ndim, p->sizes, p->ndim, strides);
        for (int64_t b = 0; b < p->count; b++) {
            int64_t here = position[row ? b : from];
            offsets[b] += (here + (here < 0 ? size : 0)) * step;
            for (int d = p->ndim - 1; !row && d >= 0; d--) {
                from += strides[d];
                if (++index[d] < p->sizes[d])
                    break;
                from -= p->sizes[d] * strides[d];
                index[d] = 0;
            }
        }
    }
}

static size_t index_workspace(const tni_call *call)
{
    plan p;
    return make_plan(&p, call, call->in[0]) ? 0 : (size_t)p.count * sizeof(int64_t);
}

/* x's strides decide the layout, then those of the indices, each seen as B between dims of size 1, whose strides count
 * where the result's size is 1 too. */
static void result_strides(const plan *p, int64_t *strides)
{
    enum { MOST = 8 }; /* indices that are asked */
    int64_t room[MOST][TN_MAX_NDIM], shape[TN_MAX_NDIM], along[TN_MAX_NDIM];
    const int64_t *opinions[MOST + 1] = {p->strides};
    int perm[TN_MAX_NDIM], n = 0, gap;
    bool plain = tni_is_contiguous(p->result, p->strides, p->result_ndim);
    for (int d = 0; d < p->result_ndim; d++)
        shape[d] = d >= p->first && d < p->first + p->ndim ? p->result[d] : 1;
    for (; n < p->n_dims && n < MOST; n++) {
        const tn_tensor *at = index_of(p, n);
        tni_broadcast_strides(at->sizes, at->strides, at->ndim, p->sizes, p->ndim, along);
        tni_view_strides(p->sizes, along, p->ndim, shape, p->result_ndim, room[n], &gap);
        for (int d = 0; d < p->result_ndim; d++)
            room[n][d] = shape[d] == p->result[d] ? room[n][d] : 0;
        plain = plain && tni_is_contiguous(p->result, room[n], p->result_ndim);
        opinions[n + 1] = room[n];
    }
    if (plain && tni_same_dims(shape, p->result_ndim, p->result, p->result_ndim)) { /* no dim needs an opinion */
        tni_contiguous_strides(p->result, p->result_ndim, strides);
        return;
    }
    tni_dim_order(p->result, p->result_ndim, opinions, n + 1, perm);
    tni_strides_in_order(p->result, p->result_ndim, perm, strides);
}

static tn_status index_infer(tni_call *call, tni_meta *meta)
{
    plan p;
    const tn_tensor *x = call->in[0];
    if (make_plan(&p, call, x))
        return tni_pending();
    if (!(call->op->dtypes & TNI_DTYPE_BIT(x->dtype)))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, p.name, "no kernel for %s on cpu", tn_dtype_name((tn_dtype)x->dtype));
    memcpy(meta->room, p.result, (size_t)p.result_ndim * sizeof *meta->room);
    if (tni_meta_contiguous(call, meta, p.result_ndim, (tn_dtype)x->dtype, (tn_device_type)x->device) ||
        check_positions(&p))
        return tni_pending();
    result_strides(&p, meta->room + TN_MAX_NDIM);
    meta->record.contiguous = false;
    return TN_OK;
}

/* Row: result, x where B's offset is 0, offsets. Bits are moved, whatever they mean. */
#define TAKE(T)                                                                                      \
    do {                                                                                             \
        for (int64_t i = 0; i < row->n; i++) {                                                       \
            int64_t offset;                                                                          \
            memcpy(&offset, row->data[2] + i * row->strides[2], sizeof offset);                      \
            memcpy(row->data[0] + i * row->strides[0], row->data[1] + i * row->strides[1] + offset, sizeof(T)); \
        }                                                                                            \
    } while (0)

static void take_row(const tni_row *row)
{
    const int64_t itemsize = *(const int64_t *)row->context;
    if (row->strides[2] == 0 && row->strides[0] == itemsize && row->strides[1] == itemsize) {
        int64_t offset;
        memcpy(&offset, row->data[2], sizeof offset);
        memcpy(row->data[0], row->data[1] + offset, (size_t)(row->n * itemsize));
        return;
    }
    switch (itemsize) {
    case 1:
        TAKE(uint8_t);
        break;
    case 2:
        TAKE(uint16_t);
        break;
    case 4:
        TAKE(uint32_t);
        break;
    case 8:
        TAKE(uint64_t);
        break;
    default:
        TAKE(uint64_t[2]);
    }
}

static void index_run(const tni_call *call, void *workspace)
{
    plan p;
    const tn_tensor *out = call->out[0], *x = call->in[0];
    const tn_dtype dtype = (tn_dtype)x->dtype;
    const int64_t itemsize = tni_itemsize(dtype);
    int64_t row[TN_MAX_NDIM], along[TN_MAX_NDIM] = {0};
    tni_iter it;
    if (make_plan(&p, call, x))
        return;
    find_offsets(&p, workspace);
    tni_contiguous_strides(p.sizes, p.ndim, row);
    memcpy(along + p.first, row, (size_t)p.ndim * sizeof *row);
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, dtype);
    tni_iter_operand(&it, tni_data(x), p.result, p.strides, p.result_ndim, dtype, dtype);
    tni_iter_operand(&it, workspace, p.result, along, p.result_ndim, TN_INT64, TN_INT64);
    tni_iter_run(&it, take_row, &itemsize);
}

static tn_status check_values(const plan *p, const tni_call *call)
{
    const tn_tensor *self = call->in[0], *values = call->in[1];
    int64_t sizes[TN_MAX_NDIM];
    if (values->dtype != self->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, p->name, "the value is %s, the tensor to write %s, needed the same",
                        tn_dtype_name((tn_dtype)values->dtype), tn_dtype_name((tn_dtype)self->dtype));
    if (!(call->op->dtypes & TNI_DTYPE_BIT(self->dtype)))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, p->name, "no kernel for %s on cpu",
                        tn_dtype_name((tn_dtype)self->dtype));
    int ndim = tni_broadcast(p->name, p->result, p->result_ndim, values->sizes, values->ndim, sizes);
    if (ndim < 0)
        return tni_pending();
    if (!tni_same_dims(sizes, ndim, p->result, p->result_ndim)) {
        char to[120], from[120];
        tni_text_shape(to, sizeof to, p->result, p->result_ndim);
        tni_text_shape(from, sizeof from, values->sizes, values->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, p->name, "the value %s does not broadcast to %s, the shape indexed", from, to);
    }
    if (call->form != TNI_IN_PLACE)
        return TN_OK;
    for (int k = 0; k < p->n_dims; k++)
        if (tni_check_no_overlap(p->name, self, index_of(p, k), "an index"))
            return tni_pending();
    return tni_check_no_overlap(p->name, self, values, "the value");
}

static tn_status put_infer(tni_call *call, tni_meta *meta)
{
    plan p;
    const tn_tensor *self = call->in[0];
    if (make_plan(&p, call, self) || check_values(&p, call) || check_positions(&p))
        return tni_pending();
    tni_meta_like(meta, self, (tn_dtype)self->dtype);
    return TN_OK;
}

/* One step through dims of these sizes, the last first: moves both places. */
static void step(const int64_t *sizes, int ndim, int64_t *index, const int64_t *a_strides, int64_t *a,
                 const int64_t *b_strides, int64_t *b)
{
    for (int d = ndim - 1; d >= 0; d--) {
        *a += a_strides[d];
        *b += b_strides[d];
        if (++index[d] < sizes[d])
            return;
        *a -= sizes[d] * a_strides[d];
        *b -= sizes[d] * b_strides[d];
        index[d] = 0;
    }
}

/* The dims beside B, the longest last: the row. */
typedef struct beside {
    int ndim;
    int64_t rows;
    int64_t sizes[TN_MAX_NDIM], to[TN_MAX_NDIM], from[TN_MAX_NDIM]; /* bytes */
} beside;

static void find_beside(const plan *p, const int64_t *from, int64_t itemsize, beside *r)
{
    int longest = 0;
    *r = (beside){.rows = 1};
    for (int d = 0; d < p->result_ndim; d++) {
        if ((d >= p->first && d < p->first + p->ndim) || p->result[d] == 1)
            continue;
        longest = p->result[d] > r->sizes[longest] ? r->ndim : longest;
        r->sizes[r->ndim] = p->result[d];
        r->to[r->ndim] = p->strides[d] * itemsize;
        r->from[r->ndim++] = from[d] * itemsize;
        r->rows *= p->result[d];
    }
    if (r->ndim == 0)
        r->sizes[r->ndim++] = 1;
    const int last = r->ndim - 1;
    const int64_t size = r->sizes[last], to = r->to[last], by = r->from[last];
    r->sizes[last] = r->sizes[longest];
    r->to[last] = r->to[longest];
    r->from[last] = r->from[longest];
    r->sizes[longest] = size;
    r->to[longest] = to;
    r->from[longest] = by;
    r->rows /= r->sizes[last];
}

/* Positions in the order of B, one after the other: of those that are one, the last stays, or all are added. */
static void put_run(const tni_call *call, void *workspace)
{
    plan p;
    const tn_tensor *out = call->out[0], *self = call->in[0], *values = call->in[1];
    const tn_dtype dtype = (tn_dtype)out->dtype;
    const int64_t itemsize = tni_itemsize(dtype), *offsets = workspace;
    const tni_converter copy = tni_converter_of(dtype, dtype);
    int64_t from[TN_MAX_NDIM], b_from[TN_MAX_NDIM], none[TN_MAX_NDIM] = {0}, index[TN_MAX_NDIM] = {0};
    int64_t at = 0, unused = 0;
    beside r;
    if (out != self)
        tni_copy_elements(tni_data(out), out->strides, dtype, self);
    if (make_plan(&p, call, out) || values->numel == 0)
        return;
    tni_broadcast_strides(values->sizes, values->strides, values->ndim, p.result, p.result_ndim, from);
    find_offsets(&p, workspace);
    find_beside(&p, from, itemsize, &r);
    for (int d = 0; d < p.ndim; d++)
        b_from[d] = from[p.first + d] * itemsize;
    const int last = r.ndim - 1;
    const int64_t n = r.sizes[last], to_stride = r.to[last], from_stride = r.from[last];
    if (p.attr->accumulate && n == 1 && r.rows == 1 && p.ndim == 1) { /* element by element, in one go */
        tni_add_scattered(dtype, tni_data(out), offsets, tni_data(values), b_from[0], p.count);
        return;
    }
    for (int64_t b = 0; b < p.count && r.rows > 0; b++) {
        int64_t inner[TN_MAX_NDIM] = {0}, to_at = offsets[b], from_at = at;
        for (int64_t i = 0; i < r.rows; i++) {
            char *to = tni_data(out) + to_at;
            const char *value = tni_data(values) + from_at;
            if (!p.attr->accumulate)
                copy(to, to_stride, value, from_stride, n);
            else if (n == 1)
                tni_add_scattered(dtype, to, none, value, 0, 1);
            else
                tni_add_row(dtype, to, to_stride, value, from_stride, n);
            step(r.sizes, last, inner, r.to, &to_at, r.from, &from_at);
        }
        step(p.sizes, p.ndim, index, b_from, &at, none, &unused);
    }
}

static tn_tensor *read_at(const tni_put_attr *at, tn_tensor *x)
{
    const tni_put_attr attr = {at->indices, false, NULL};
    return tni_call_new(&tni_op_index, &x, &attr);
}

static tn_tensor *put_at(const tni_put_attr *at, tn_tensor *x, tn_tensor *values, bool accumulate)
{
    const tni_put_attr attr = {at->indices, accumulate, NULL};
    tn_tensor *in[2] = {x, values};
    return tni_call_new(&tni_op_index_put, in, &attr);
}

static void index_vjp(tni_vjp *v)
{
    if (tni_check_listed(v) == TN_OK)
        v->grads[0] = put_at(v->attr, tni_zeros_of(v, 0), v->grad, true);
}

/* What was overwritten has no gradient. */
static void put_vjp(tni_vjp *v)
{
    const tni_put_attr *attr = v->attr;
    if (tni_check_listed(v))
        return;
    if (tni_needs(v, 0))
        v->grads[0] = attr->accumulate ? v->grad : put_at(attr, v->grad, tn_new_zeros(v->grad, NULL, 0), false);
    if (tni_needs(v, 1))
        v->grads[1] = read_at(attr, v->grad);
}

static const tni_derivative index_derivative = {.linear = true, .vjp = index_vjp};
static const tni_derivative index_put_derivative = {.linear = true, .vjp = put_vjp};

#define PUT_DTYPES (TNI_REALS | TNI_BOOLS | TNI_SIGNED_FLOAT8S | TNI_COMPLEXES | TNI_COMPLEX_HALF)

const tni_op tni_op_index = {
    .name = TNI_NAMES_NEW(index), .params = {TNI_TENSOR("self", 0), TNI_ATTR("indices", 'G', tni_put_attr, indices)},
    .n_params = 2, .n_in = 1, .n_out = 1, .zero_through = 1, .dtypes = TNI_ALL_NUMBERS,
    .attr_bytes = sizeof(tni_put_attr),
    .infer = index_infer, .workspace = index_workspace, .run = index_run, .derivative = &index_derivative,
    .samples = "[4] @<3:-4> | [3,4] @<2,3:3> | [3,4] @_;<5:4> | [3,4] @<2,1:3>;<3:4> | [2,3,4] @<2:2>;_;<2:4> | "
        "[2,3,4] @_;<2,2:3>;<2:4> | [3,4] @<0:3> | [3,0] @<2:3> | [3] @<:3> | ! [3] @<2:3>;<2:3> | "
        "! [3,4] @<2:3>;<3:4> | ! [0,3] @<2:1> | ! [3] @_"};

const tni_op tni_op_index_put = {
    .name = TNI_NAMES_NEW_IN_PLACE(index_put),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("indices", 'G', tni_put_attr, indices), TNI_TENSOR("values", 1),
               TNI_OPTIONAL("accumulate", 'B', tni_put_attr, accumulate)},
    .n_params = 4, .n_in = 2, .n_out = 1, .overlap_allowed = true, .dtypes = PUT_DTYPES,
    .attr_bytes = sizeof(tni_put_attr), .infer = put_infer, .workspace = index_workspace, .run = put_run,
    .derivative = &index_put_derivative,
    .samples = "[4] @<3:4> [3] | [4] @<5:-4> [5] true | [3,4] @<2,3:3> [4] true | [3,4] @_;<5:4> [3,5] true | "
        "[3,4] @<2,1:3>;<3:4> [] | [2,3,4] @<2:2>;_;<2:4> [2,3] true | [2,3,4] @_;<2,2:3>;<2:4> [2,1,2] true | "
        "[3,4] @<0:3> [0,4] | [3,0] @<2:3> [] | [3] @<:3> [] | ! [3] @<2:3> [3] | ! [3,4] @<2:3>;<3:4> [] | "
        "! [0,3] @<2:1> [] | ! [3,4] @<2:3> [1,2,4]"};
