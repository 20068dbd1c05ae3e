/* Views with strides of their own: expand, expand_as, broadcast_to, as_strided. Rules of torch.Tensor's methods of
 * these names. */
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

typedef struct size_attr {
    tni_ints size;
} size_attr;

typedef struct strided_attr {
    tni_ints size, stride;
    int64_t offset; /* TNI_OWN_OFFSET: x's */
} strided_attr;

#define TNI_OWN_OFFSET INT64_MIN

/* x repeated to `size`, where -1 keeps a size that x has. */
static tn_status expand_to(const char *name, tni_meta *meta, tn_tensor *x, const tni_ints *size)
{
    int64_t *sizes, *strides;
    if (size->n > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, name, "%d dims, needed at most %d", size->n, TN_MAX_NDIM);
    if (size->n < x->ndim)
        return TNI_FAIL(TN_ERROR_SHAPE, name, "%d sizes for a tensor of %d dims, needed at least as many", size->n,
                        x->ndim);
    if (size->n > 0 && !size->data)
        return TNI_FAIL_NULL(name, 2, "size");
    int lead = size->n - x->ndim;
    tni_meta_view_dims(meta, x, size->n, &sizes, &strides);
    for (int d = size->n - 1; d >= 0; d--) {
        int64_t have = d >= lead ? x->sizes[d - lead] : 1, asked = size->data[d];
        /* a new dim of size 1 gets the stride that keeps the result contiguous */
        int64_t stride = d >= lead ? x->strides[d - lead] : 1;
        if (d < lead && d + 1 < size->n && !tni_mul_i64(sizes[d + 1], strides[d + 1], &stride))
            return TNI_FAIL(TN_ERROR_OVERFLOW, name, "size %lld times stride %lld is more than 64 bits hold",
                            (long long)sizes[d + 1], (long long)strides[d + 1]);
        if (asked == -1 && d < lead)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "size -1 for the new dim %d, needed a size", d);
        if (asked < -1)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "size %lld for dim %d, needed 0 or more, or -1",
                            (long long)asked, d);
        sizes[d] = asked == -1 ? have : asked;
        if (sizes[d] != have && have != 1)
            return TNI_FAIL(TN_ERROR_SHAPE, name,
                            "size %lld for dim %d, which has size %lld: needed that, or a size of 1 there",
                            (long long)asked, d, (long long)have);
        strides[d] = sizes[d] != have || x->ndim == 0 ? 0 : stride; /* without dims, 0 even where nothing repeats */
    }
    if (!tni_numel(sizes, size->n, &meta->record.numel))
        return TNI_FAIL(TN_ERROR_OVERFLOW, name, "the sizes count more elements than 64 bits");
    return TN_OK;
}

static tn_status expand_infer(tni_call *call, tni_meta *meta)
{
    return expand_to(tni_call_name(call), meta, call->in[0], &((const size_attr *)call->attr)->size);
}

static tn_status expand_as_infer(tni_call *call, tni_meta *meta)
{
    const tni_ints size = {call->in[1]->sizes, call->in[1]->ndim};
    return expand_to("expand_as", meta, call->in[0], &size);
}

static tn_status as_strided_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const strided_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    int ndim = attr->size.n;
    if (tni_check_sizes(name, attr->size.data, ndim))
        return tni_pending();
    if (attr->stride.n != ndim)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d sizes and %d strides, needed as many", ndim, attr->stride.n);
    if (ndim > 0 && !attr->stride.data)
        return TNI_FAIL_NULL(name, 3, "stride");
    int64_t *sizes, *strides;
    tni_record *record = &meta->record;
    tni_meta_view_dims(meta, x, ndim, &sizes, &strides);
    for (int d = 0; d < ndim; d++) {
        if (attr->stride.data[d] < 0)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "stride %lld in dim %d, needed 0 or more",
                            (long long)attr->stride.data[d], d);
        sizes[d] = attr->size.data[d];
        strides[d] = attr->stride.data[d];
    }
    record->offset = attr->offset == TNI_OWN_OFFSET ? x->offset : attr->offset;
    if (record->offset < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "offset %lld, needed 0 or more", (long long)record->offset);
    int64_t itemsize = tni_itemsize((tn_dtype)x->dtype), held = (int64_t)x->storage->nbytes / itemsize, reach, bytes;
    if (!tni_numel(sizes, ndim, &record->numel) || !tni_extent(sizes, strides, ndim, &reach) ||
        !tni_add_i64(reach, record->offset, &reach) || !tni_mul_i64(record->offset, itemsize, &bytes))
        return TNI_FAIL(TN_ERROR_BOUNDS, name, "sizes, strides and offset reach beyond 64 bits");
    if (reach > held && record->numel > 0) /* as torch: what is empty is nowhere */
        return TNI_FAIL(TN_ERROR_BOUNDS, name, "sizes, strides and offset reach element %lld, the storage has %lld",
                        (long long)reach - 1, (long long)held);
    return TN_OK;
}

/* The repeats are summed by the walk. */
static const tni_derivative expand_derivative = {.name = "ExpandBackward0", .linear = true, .vjp = tni_vjp_pass};

/* Sizes, strides and offset: where elements lie. */
typedef struct places {
    int64_t sizes[TN_MAX_NDIM], strides[TN_MAX_NDIM], offset;
    int ndim;
    bool empty;
} places;

/* Those of size 1 are left out. */
static void find_places(places *p, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset)
{
    *p = (places){.offset = offset};
    for (int d = 0; d < ndim; d++) {
        p->empty |= sizes[d] == 0;
        if (sizes[d] == 1)
            continue;
        p->sizes[p->ndim] = sizes[d];
        p->strides[p->ndim++] = strides[d];
    }
}

/* Elements from the beginning of a storage that are reached. */
static int64_t reach_of(const places *p)
{
    int64_t extent = 0;
    tni_extent(p->sizes, p->strides, p->ndim, &extent); /* a tensor had it */
    return p->offset + extent;
}

/* Whether two elements may lie at one place: false when each dim, by the order of strides, steps over all within. */
static bool may_meet(const places *p)
{
    int64_t reached = 0;
    uint64_t done = 0;
    for (int i = 0; i < p->ndim; i++) {
        int next = -1;
        for (int d = 0; d < p->ndim; d++)
            if (!(done >> d & 1) && (next < 0 || p->strides[d] < p->strides[next]))
                next = d;
        done |= UINT64_C(1) << next;
        if (p->strides[next] <= reached)
            return true;
        reached += (p->sizes[next] - 1) * p->strides[next];
    }
    return false;
}

/* The gradient, with what was repeated (strides 0) summed, in the dims of p, which loses those. */
static tn_tensor *unrepeated(tn_tensor *grad, places *p)
{
    int repeats[TN_MAX_NDIM], n = 0, kept = 0;
    grad = tn_reshape(grad, p->sizes, p->ndim);
    for (int d = 0; d < p->ndim; d++) {
        if (p->strides[d] == 0) {
            repeats[n++] = d;
            continue;
        }
        p->sizes[kept] = p->sizes[d];
        p->strides[kept++] = p->strides[d];
    }
    p->ndim = kept;
    return n > 0 ? tn_sum(grad, repeats, n, false, TN_DTYPE_NONE) : grad;
}

/* y + values at the places of p, which may come again. */
static tn_tensor *added_at(tn_tensor *y, const places *p, tn_tensor *values)
{
    static const int64_t row = -1;
    tn_tensor *numbers = tn_arange(tn_int(0), tn_int(y ? y->numel : 0), tn_int(1), TN_INT64);
    tn_tensor *at = tn_reshape(tn_as_strided(numbers, p->sizes, p->strides, p->ndim, p->offset), &row, 1);
    return tn_index_add(y, 0, at, tn_reshape(values, &row, 1), tn_int(1));
}

/* PyTorch's rule: a storage of zeros gets the gradients where the result's elements lie, in sum where some share a
 * place; the input's elements read theirs, those that share a place an equal part each. */
static void as_strided_vjp(tni_vjp *v)
{
    const strided_attr *attr = v->attr;
    int ndim;
    const int64_t *in = tni_saved_geometry(v, &ndim), one = 1;
    int64_t own = in[2 * ndim], offset = attr->offset == TNI_OWN_OFFSET ? own : attr->offset;
    const int64_t first = own < offset ? own : offset;
    places of, part;
    find_places(&of, in, in + ndim, ndim, own - first);
    find_places(&part, attr->size.data, attr->stride.data, attr->size.n, offset - first);
    if (of.empty || part.empty) {
        v->grads[0] = tni_zeros_of(v, 0);
        return;
    }
    const int64_t reach = reach_of(&of), part_reach = reach_of(&part), n = reach > part_reach ? reach : part_reach;
    tn_tensor *grad = unrepeated(v->grad, &part), *all = tn_new_zeros(v->grad, &n, 1);
    if (may_meet(&part))
        all = added_at(all, &part, grad);
    else
        tn_copy_(tn_as_strided(all, part.sizes, part.strides, part.ndim, part.offset), grad);
    if (may_meet(&of)) {
        tn_tensor *ones = tn_expand(tn_new_ones(v->grad, &one, 1), of.sizes, of.ndim);
        all = tn_div(all, added_at(tn_new_zeros(v->grad, &n, 1), &of, ones)); /* 0/0 where the input has no element */
    }
    v->grads[0] = tn_as_strided(all, in, in + ndim, ndim, of.offset);
}

static const char *as_strided_node(const tni_node *node)
{
    return node->form == TNI_IN_PLACE ? "AsStridedBackward1" : "AsStridedBackward0";
}

static const tni_derivative as_strided_derivative = {
    .named = as_strided_node, .geometry = true, .linear = true, .vjp = as_strided_vjp};

static bool is_complex(int dtype)
{
    return tni_dtype_kind((tn_dtype)dtype) == TNI_COMPLEX;
}

/* Imaginary parts of conjugates are the lazily negated ones that there are. */
static tn_tensor *negated_part(tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset)
{
    int64_t whole[TN_MAX_NDIM];
    for (int d = 0; d < ndim; d++)
        whole[d] = strides[d] / 2;
    return tn_imag(tn_conj(tn_as_strided(x, sizes, whole, ndim, offset / 2)));
}

tn_tensor *tni_part(tn_tensor *x, const int64_t *sizes, const int64_t *strides, int ndim, int64_t offset,
                    tn_dtype dtype, uint64_t lazy)
{
    if (!x)
        return NULL;
    if (lazy & TNI_KEY_NEG && (!is_complex(x->dtype) || is_complex((int)dtype))) {
        TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "backward", "a lazily negated view of %s, needed one of complex numbers",
                 tn_dtype_name((tn_dtype)x->dtype));
        return NULL;
    }
    if (lazy & TNI_KEY_NEG)
        return negated_part(x, sizes, strides, ndim, offset);
    if ((tn_dtype)x->dtype != dtype && is_complex(x->dtype)) {
        x = tn_view_as_real(x);
    } else if ((tn_dtype)x->dtype != dtype) {
        const int64_t pairs[2] = {(int64_t)x->storage->nbytes / tni_itemsize(dtype), 2}, steps[2] = {2, 1};
        x = tn_view_as_complex(tn_as_strided(x, pairs, steps, 2, 0));
    }
    x = tn_as_strided(x, sizes, strides, ndim, offset);
    return lazy & TNI_KEY_CONJ ? tn_conj(x) : x;
}

/* The node of a part that strides alone do not tell: views are made anew from the base, recorded, for their history. */
static tni_node *retold(const tn_tensor *x)
{
    tni_thread *thread = &tni_this_thread;
    const uint64_t exclude = thread->exclude;
    tn_scope scope = tn_scope_begin();
    thread->exclude = exclude & ~TNI_KEY_TAPE;
    tn_tensor *part = tni_part(x->base, x->sizes, x->strides, x->ndim, x->offset, (tn_dtype)x->dtype,
                               x->keys & TNI_KEYS_LAZY);
    thread->exclude = exclude;
    tni_node *node = part ? tni_own_node(part) : NULL;
    if (node)
        tni_ref(&node->object.references);
    tn_scope_end(scope);
    return node;
}

tni_node *tni_as_strided_node(const char *function, const tn_tensor *x, tni_edge edge)
{
    const strided_attr attr = {{x->sizes, x->ndim}, {x->strides, x->ndim}, x->offset};
    if (TNI_UNLIKELY(x->dtype != x->base->dtype || tni_is_lazy(x)))
        return retold(x);
    tni_node *node = tni_node_new(function, &tni_op_as_strided, &attr, 1, 0, x->ndim, tni_geometry_count(x->base));
    if (!node)
        return NULL;
    const tni_node *next = tni_edge_node(edge);
    tni_thread *thread = &tni_this_thread;
    if (next && next->sequence > thread->sequence)
        thread->sequence = next->sequence;
    node->sequence = ++thread->sequence;
    node->edges[0] = edge;
    tni_edge_hold(edge);
    tni_node_set_shape(node, x);
    tni_node_set_geometry(node, x->base);
    return node;
}

#define SIZE_PARAMS {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', size_attr, size)}

const tni_op tni_op_expand = {
    .name = TNI_NAMES_NEW(expand), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = expand_infer, .derivative = &expand_derivative,
    .samples = "[3,1] (3,4) | [1] (2,5) | [] (2,3) | [3,4] (2,-1,4) | [1,0] (3,0) |"
        "! [3,4] (3,5) | ! [3,4] (4) | ! [2] (-1,2) | ! [1] (-3)"};

const tni_op tni_op_broadcast_to = {
    .name = TNI_NAMES_NEW(broadcast_to), .params = SIZE_PARAMS, .n_params = 2, .n_in = 1, .n_out = 1,
    .attr_bytes = sizeof(size_attr), .infer = expand_infer, .derivative = &expand_derivative,
    .samples = "[3,1] (3,4) | [] (2,3) | [3,4] (2,-1,4) | ! [3,4] (3,5) | ! [3,4] (4)"};

const tni_op tni_op_expand_as = {
    .name = TNI_NAMES_NEW(expand_as), .params = {TNI_TENSOR("self", 0), TNI_TENSOR("other", 1)}, .n_params = 2,
    .n_in = 2, .n_out = 1, .infer = expand_as_infer, .derivative = &expand_derivative,
    .samples = "[3,1] [3,4] | [] [2,3] | [1,0] [3,0] | ! [3,4] [3,5] | ! [3,4] [4]"};

static const strided_attr own_offset = {.offset = TNI_OWN_OFFSET};

const tni_op tni_op_as_strided = {
    .name = TNI_NAMES_NEW_IN_PLACE(as_strided),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', strided_attr, size),
               TNI_ATTR("stride", 'L', strided_attr, stride),
               TNI_OPTIONAL("storage_offset", 'I', strided_attr, offset)},
    .n_params = 4, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(strided_attr), .attr_default = &own_offset,
    .infer = as_strided_infer, .derivative = &as_strided_derivative,
    .samples = "[12] (3,2) (4,1) 1 | [3,4] (2,2) (1,1) | [5] () () 4 | [5] (0) (9) 5 |"
        "! [12] (3,3) (4,1) 2 | ! [12] (3) (-1) | ! [12] (2) (1) -1 | ! [12] (2,2) (1)"};

tn_tensor *tn_expand(tn_tensor *x, const int64_t *size, int ndim)
{
    const size_attr attr = {{size, ndim}};
    return tni_call_new(&tni_op_expand, &x, &attr);
}

tn_tensor *tn_as_strided(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset)
{
    /* a real offset is never INT64_MIN: any other negative one names the same fault */
    const strided_attr attr = {{size, ndim}, {stride, ndim}, offset == TNI_OWN_OFFSET ? -1 : offset};
    return tni_call_new(&tni_op_as_strided, &x, &attr);
}

tn_tensor *tn_expand_as(tn_tensor *x, tn_tensor *other)
{
    tn_tensor *in[2] = {x, other};
    return tni_call_new(&tni_op_expand_as, in, NULL);
}

tn_tensor *tn_broadcast_to(tn_tensor *x, const int64_t *size, int ndim)
{
    const size_attr attr = {{size, ndim}};
    return tni_call_new(&tni_op_broadcast_to, &x, &attr);
}

tn_status tn_as_strided_(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset)
{
    const strided_attr attr = {{size, ndim}, {stride, ndim}, offset == TNI_OWN_OFFSET ? -1 : offset};
    return tni_call_in_place(&tni_op_as_strided, &x, &attr);
}
