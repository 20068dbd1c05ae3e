/* Indexing by tensors, masks, bools and lists: what no view can do. The basic entries make a view v of x first; the
 * others are lists of positions along dims of v, broadcast to one shape B. Position b of B stands for the elements of
 * v at
 *
 *     offset_b = sum over the lists k of position_k[b] * stride of v's dim k
 *
 * and all positions of v's other dims. In the result B takes the place of the indexed dims where they are neighbours,
 * and comes first where they are not. Rules and layout of torch.Tensor.__getitem__ and index_put_. */
#include <string.h>
#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/overlap.h"
#include "core/tensor.h"
#include "ops/index.h"

/* One list of positions along a dim of the view. */
typedef struct positions {
    int dim;
    tn_tensor *at; /* int64, contiguous */
} positions;

typedef struct plan {
    const char *name;
    tn_tensor *view;
    positions lists[TN_MAX_NDIM];
    int n_lists;
    int64_t sizes[TN_MAX_NDIM]; /* B's */
    int ndim, first;            /* B's dims, and where they begin in the result */
    int64_t count;
    tn_tensor *offsets; /* int64 [count], or NULL before */
    int64_t result[TN_MAX_NDIM];
    int64_t strides[TN_MAX_NDIM]; /* of v along the result's dims; 0 along B's */
    int result_ndim;
} plan;

/* int64 zeros on the CPU, whatever the default device. */
static tn_tensor *zero_positions(int64_t n)
{
    tn_tensor *x = tn_empty_on(&n, 1, TN_INT64, (tn_device){TN_CPU, 0});
    if (x && n > 0)
        memset(tni_data(x), 0, (size_t)n * sizeof(int64_t));
    return x;
}

static bool is_mask(const tn_tensor *x)
{
    return x->dtype == TN_BOOL || x->dtype == TN_UINT8;
}

static bool is_position(const tn_tensor *x)
{
    return x->ndim == 0 && tni_is_integral((tn_dtype)x->dtype) && x->dtype != TN_UINT8;
}

static tn_status add_list(plan *p, int dim, tn_tensor *at)
{
    if (!at)
        return tni_pending();
    if (p->n_lists == TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, p->name, "more than %d lists of positions", TN_MAX_NDIM);
    p->lists[p->n_lists++] = (positions){dim, at};
    return TN_OK;
}

/* A mask becomes one list a dim: where it is true, in row-major order. The places in `view` are checked later. */
static tn_status add_mask(plan *p, int dim, tn_tensor *mask)
{
    tn_tensor *bools = tn_to(mask, TN_BOOL), *dense = bools ? tn_contiguous(bools) : NULL, *lists[TN_MAX_NDIM];
    if (!dense)
        return tni_pending();
    const uint8_t *on = (const uint8_t *)tni_data(dense); /* any byte but 0 is true */
    int64_t count = 0, found = 0;
    for (int64_t i = 0; i < dense->numel; i++)
        count += on[i] != 0;
    for (int d = 0; d < mask->ndim; d++) {
        lists[d] = zero_positions(count);
        if (add_list(p, dim + d, lists[d]))
            return tni_pending();
    }
    for (int64_t i = 0; i < dense->numel; i++) {
        int64_t rest = i;
        if (!on[i])
            continue;
        for (int d = mask->ndim - 1; d >= 0; d--) {
            ((int64_t *)(void *)tni_data(lists[d]))[found] = rest % mask->sizes[d];
            rest /= mask->sizes[d];
        }
        found++;
    }
    return TN_OK;
}

static tn_status add_tensor(plan *p, int dim, tn_tensor *at)
{
    tn_dtype dtype = (tn_dtype)at->dtype;
    if (dtype != TN_INT64 && dtype != TN_INT32)
        return TNI_FAIL(TN_ERROR_DTYPE, p->name, "an index tensor is %s, needed int64, int32, uint8 or bool",
                        tn_dtype_name(dtype));
    tn_tensor *wide = tn_to(at, TN_INT64);
    return add_list(p, dim, wide ? tn_contiguous(wide) : NULL);
}

/* True: one position of a new dim, 0; false: none. */
static tn_status add_bool(plan *p, int dim, bool on)
{
    return add_list(p, dim, zero_positions(on));
}

/* Dims of x that the entry takes. */
static int dims_taken(const tn_index *entry)
{
    switch (entry->kind) {
    case TN_INDEX_INTEGER:
    case TN_INDEX_SLICE:
    case TN_INDEX_LIST:
        return 1;
    case TN_INDEX_TENSOR:
        return is_mask(entry->as.tensor) ? entry->as.tensor->ndim : 1;
    default:
        return 0;
    }
}

/* The entry as one of the basic index, and as lists along dims of the view from `dim` on; *made: dims that it makes. */
static tn_status take_entry(plan *p, const tn_index *entry, int dim, tn_index *basic, int *n_basic, int *made)
{
    tn_tensor *at = entry->kind == TN_INDEX_TENSOR ? entry->as.tensor : NULL;
    if (at && is_position(at)) {
        basic[(*n_basic)++] = tn_index_integer(tn_item_i64(at));
        *made = 0;
        return tni_pending();
    }
    if (entry->kind == TN_INDEX_BOOL || (at && at->ndim == 0)) {
        basic[(*n_basic)++] = tn_index_new_axis();
        *made = 1;
        if (at && !is_mask(at)) /* of no dims and no integer */
            return add_tensor(p, dim, at);
        return add_bool(p, dim, at ? tn_item_i64(at) != 0 : entry->as.on);
    }
    *made = dims_taken(entry);
    for (int d = 0; d < *made; d++)
        basic[(*n_basic)++] = tn_index_all();
    if (entry->kind == TN_INDEX_LIST) {
        const int64_t n = entry->as.list.n;
        return add_list(p, dim, tn_from_array(entry->as.list.data, &n, 1, TN_INT64));
    }
    return is_mask(at) ? add_mask(p, dim, at) : add_tensor(p, dim, at);
}

static tn_status check_entries(const char *name, const tn_tensor *x, const tn_index *index, int n, int *taken)
{
    *taken = 0;
    if (n > 2 * TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_INDEX, name, "%d entries, needed at most %d", n, 2 * TN_MAX_NDIM);
    if (tni_is_meta(x))
        return TNI_FAIL(TN_ERROR_DEVICE, name, "an index by tensors, bools or lists needs data, the tensor is on meta");
    for (int i = 0; i < n; i++) {
        const tn_index *entry = &index[i];
        if ((unsigned)entry->kind > TN_INDEX_LIST)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "entry %d of the index is of no known kind", i);
        if (entry->kind == TN_INDEX_TENSOR && tni_check_tensor(name, 2, "index", entry->as.tensor))
            return tni_pending();
        if (entry->kind == TN_INDEX_TENSOR && tni_is_meta(entry->as.tensor))
            return TNI_FAIL(TN_ERROR_DEVICE, name, "entry %d of the index is on meta, needed data", i);
        if (entry->kind == TN_INDEX_LIST && (entry->as.list.n < 0 || (entry->as.list.n > 0 && !entry->as.list.data)))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "entry %d of the index is a list without numbers", i);
        *taken += dims_taken(entry);
    }
    return *taken <= x->ndim ? TN_OK
                             : TNI_FAIL(TN_ERROR_INDEX, name, "%d entries index a tensor of %d dims", *taken, x->ndim);
}

/* The view and the lists. */
static tn_status read_entries(plan *p, tn_tensor *x, const tn_index *index, int n)
{
    tn_index basic[3 * TN_MAX_NDIM];
    int n_basic = 0, taken, dim = 0, made;
    if (check_entries(p->name, x, index, n, &taken))
        return tni_pending();
    for (int i = 0; i < n; i++, dim += made) {
        const tn_index *entry = &index[i];
        made = entry->kind == TN_INDEX_SLICE || entry->kind == TN_INDEX_NEW_AXIS;
        if (entry->kind == TN_INDEX_ELLIPSIS)
            made = x->ndim - taken;
        if ((unsigned)entry->kind <= TN_INDEX_NEW_AXIS)
            basic[n_basic++] = *entry;
        else if (take_entry(p, entry, dim, basic, &n_basic, &made))
            return tni_pending();
    }
    p->view = tn_getitem(x, basic, n_basic);
    return p->view ? TN_OK : tni_pending();
}

/* Masks cover dims of their own sizes: their positions must be those of the view. Elsewhere a position is any in
 * range. */
static tn_status check_masks(const plan *p, const tn_index *index, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        const tn_index *entry = &index[i];
        bool tensor = entry->kind == TN_INDEX_TENSOR && !is_position(entry->as.tensor);
        if (tensor && is_mask(entry->as.tensor) && entry->as.tensor->ndim > 0) {
            const tn_tensor *mask = entry->as.tensor;
            for (int d = 0; d < mask->ndim; d++, at++) {
                int64_t have = p->view->sizes[p->lists[at].dim];
                if (mask->sizes[d] != have)
                    return TNI_FAIL(TN_ERROR_SHAPE, p->name,
                                    "dim %d of a mask has size %lld, the dim that it selects from %lld", d,
                                    (long long)mask->sizes[d], (long long)have);
            }
        } else {
            at += tensor || entry->kind == TN_INDEX_BOOL || entry->kind == TN_INDEX_LIST;
        }
    }
    return TN_OK;
}

/* B: the shape of all lists together. */
static tn_status find_shape(plan *p)
{
    for (int k = 0; k < p->n_lists; k++) {
        int64_t so_far[TN_MAX_NDIM];
        const tn_tensor *at = p->lists[k].at;
        memcpy(so_far, p->sizes, sizeof so_far);
        p->ndim = tni_broadcast(p->name, so_far, p->ndim, at->sizes, at->ndim, p->sizes);
        if (p->ndim < 0)
            return tni_pending();
    }
    if (!tni_numel(p->sizes, p->ndim, &p->count))
        return TNI_FAIL(TN_ERROR_OVERFLOW, p->name, "the positions count more than 64 bits");
    return TN_OK;
}

/* offset_b for each position. Where nothing is taken, positions may be anything, as in PyTorch. */
static tn_status find_offsets(plan *p)
{
    p->offsets = zero_positions(p->count);
    if (!p->offsets)
        return tni_pending();
    int64_t *offsets = (int64_t *)(void *)tni_data(p->offsets);
    for (int k = 0; p->count > 0 && k < p->n_lists; k++)
        if (p->view->sizes[p->lists[k].dim] == 0)
            return TNI_FAIL(TN_ERROR_INDEX, p->name, "an index in dim %d of size 0", p->lists[k].dim);
    for (int d = 0; d < p->result_ndim; d++)
        if (p->result[d] == 0)
            return TN_OK;
    for (int k = 0; k < p->n_lists; k++) {
        const tn_tensor *at = p->lists[k].at;
        const int64_t *position = (const int64_t *)(const void *)tni_data(at);
        int dim = p->lists[k].dim;
        int64_t size = p->view->sizes[dim], strides[TN_MAX_NDIM];
        for (int64_t i = 0; i < at->numel; i++)
            if (position[i] < -size || position[i] >= size)
                return TNI_FAIL(TN_ERROR_INDEX, p->name, "index %lld in dim %d of size %lld, needed %lld .. %lld",
                                (long long)position[i], dim, (long long)size, (long long)-size, (long long)size - 1);
        tni_broadcast_strides(at->sizes, at->strides, at->ndim, p->sizes, p->ndim, strides);
        for (int64_t b = 0; b < p->count; b++) {
            int64_t rest = b, from = 0;
            for (int d = p->ndim - 1; d >= 0; d--) {
                from += rest % p->sizes[d] * strides[d];
                rest /= p->sizes[d];
            }
            offsets[b] += (position[from] + (position[from] < 0 ? size : 0)) * p->view->strides[dim];
        }
    }
    return TN_OK;
}

/* The result's dims: B instead of the indexed ones. */
static tn_status shape_result(plan *p)
{
    const tn_tensor *v = p->view;
    uint64_t indexed = 0;
    int lowest = p->lists[0].dim, highest = lowest, to = 0;
    for (int k = 0; k < p->n_lists; k++) {
        int dim = p->lists[k].dim;
        indexed |= UINT64_C(1) << dim;
        lowest = dim < lowest ? dim : lowest;
        highest = dim > highest ? dim : highest;
    }
    int dims = v->ndim - p->n_lists + p->ndim;
    if (dims > TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, p->name, "the result has %d dims, needed at most %d", dims, TN_MAX_NDIM);
    p->first = highest - lowest + 1 == p->n_lists ? lowest : 0;
    for (int d = 0; d <= v->ndim; d++) {
        for (int i = 0; d == p->first && i < p->ndim; i++) {
            p->result[to] = p->sizes[i];
            p->strides[to++] = 0;
        }
        if (d == v->ndim || indexed & (UINT64_C(1) << d))
            continue;
        p->result[to] = v->sizes[d];
        p->strides[to++] = v->strides[d];
    }
    p->result_ndim = to;
    return TN_OK;
}

static tn_status make_plan(plan *p, tn_tensor *x, const tn_index *index, int n)
{
    if (read_entries(p, x, index, n))
        return tni_pending();
    if (p->n_lists == 0)
        return TN_OK;
    return check_masks(p, index, n) || find_shape(p) || shape_result(p) ? tni_pending() : find_offsets(p);
}

/* v's strides decide the layout, then those of the lists, each seen as B between dims of size 1. */
static void result_strides(const plan *p, int64_t *strides)
{
    enum { MOST = 8 }; /* lists that are asked */
    int64_t room[MOST][TN_MAX_NDIM], shape[TN_MAX_NDIM], along[TN_MAX_NDIM];
    const int64_t *opinions[MOST + 1] = {p->strides};
    int perm[TN_MAX_NDIM], n = 0, dim;
    bool plain = tni_is_contiguous(p->result, p->strides, p->result_ndim);
    for (int d = 0; d < p->result_ndim; d++)
        shape[d] = d >= p->first && d < p->first + p->ndim ? p->result[d] : 1;
    for (; n < p->n_lists && n < MOST; n++) {
        const tn_tensor *at = p->lists[n].at;
        tni_broadcast_strides(at->sizes, at->strides, at->ndim, p->sizes, p->ndim, along);
        tni_view_strides(p->sizes, along, p->ndim, shape, p->result_ndim, room[n], &dim);
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

/* Copies between v, at the offsets, and a tensor of the result's shape: into v, or out of it. */
static void move_elements(const plan *p, char *other, const int64_t *other_strides, bool into)
{
    const tn_tensor *v = p->view;
    const int64_t *offsets = (const int64_t *)(const void *)tni_data(p->offsets);
    size_t itemsize = (size_t)tni_itemsize((tn_dtype)v->dtype);
    char *base = tni_data(v);
    int64_t index[TN_MAX_NDIM] = {0}, numel = 1;
    for (int d = 0; d < p->result_ndim; d++)
        numel *= p->result[d];
    for (int64_t i = 0; i < numel; i++) {
        int64_t b = 0, here = 0, there = 0;
        for (int d = 0; d < p->result_ndim; d++) {
            here += index[d] * p->strides[d];
            there += index[d] * other_strides[d];
            if (d >= p->first && d < p->first + p->ndim)
                b = b * p->result[d] + index[d];
        }
        char *mine = base + (here + offsets[b]) * (int64_t)itemsize, *its = other + there * (int64_t)itemsize;
        memcpy(into ? mine : its, into ? its : mine, itemsize);
        for (int d = p->result_ndim - 1; d >= 0 && ++index[d] == p->result[d]; d--)
            index[d] = 0;
    }
}

tn_tensor *tni_getitem_copy(tn_tensor *x, const tn_index *index, int n)
{
    plan p = {.name = "getitem"};
    tn_tensor *y = NULL;
    if (tni_check_tensor(p.name, 1, "self", x))
        return NULL;
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return NULL;
    tn_tensor *plain = tni_is_lazy(x) ? tn_resolve_neg(tn_resolve_conj(x)) : x;
    if (plain && make_plan(&p, plain, index, n) == TN_OK) {
        int64_t strides[TN_MAX_NDIM];
        if (p.n_lists == 0) {
            y = p.view;
        } else {
            tni_record record;
            result_strides(&p, strides);
            if (tni_record_of(p.name, p.result, strides, p.result_ndim, (tn_dtype)x->dtype, TN_CPU, &record, strides) ==
                TN_OK)
                y = tni_tensor_new(p.name, &record);
            if (y && y->numel > 0)
                move_elements(&p, tni_data(y), y->strides, false);
        }
    }
    if (y)
        tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

/* The value without leading dims of size 1, in v's dtype, and its strides along the result's dims. */
static tn_status place_value(const plan *p, tn_tensor *value, int64_t *strides)
{
    int64_t sizes[TN_MAX_NDIM];
    int ones = 0;
    while (ones < value->ndim && value->sizes[ones] == 1)
        ones++;
    int ndim = tni_broadcast(p->name, p->result, p->result_ndim, value->sizes + ones, value->ndim - ones, sizes);
    if (ndim < 0)
        return tni_pending();
    if (!tni_same_dims(sizes, ndim, p->result, p->result_ndim))
        return TNI_FAIL(TN_ERROR_SHAPE, p->name, "the value has %d dims and does not broadcast to the %d dims indexed",
                        value->ndim, p->result_ndim);
    tni_broadcast_strides(value->sizes + ones, value->strides + ones, value->ndim - ones, p->result, p->result_ndim,
                          strides);
    return TN_OK;
}

static tn_status check_value(const plan *p, const tn_tensor *x, const tn_tensor *value)
{
    if (value->dtype != x->dtype)
        return TNI_FAIL(TN_ERROR_DTYPE, p->name, "the value is %s, the tensor to write %s, needed the same",
                        tn_dtype_name((tn_dtype)value->dtype), tn_dtype_name((tn_dtype)x->dtype));
    if (tni_is_meta(value))
        return TNI_FAIL(TN_ERROR_DEVICE, p->name, "the value is on meta, needed data");
    if (tni_is_lazy(x))
        return TNI_FAIL(TN_ERROR_STATE, p->name,
                        "the tensor to write is a lazy conjugate or negation: resolve it first");
    if (tni_check_writable(p->name, x->storage))
        return tni_pending();
    bool dense = tni_is_dense(x->sizes, x->strides, x->ndim) && tni_is_dense(value->sizes, value->strides, value->ndim);
    if (x->storage == value->storage && dense && tni_may_share(x, value))
        return TNI_FAIL(TN_ERROR_OVERLAP, p->name,
                        "the value shares memory with the tensor to write; clone one of them first");
    return TN_OK;
}

/* Whether a mask is all that selects. */
static bool one_mask(const tn_index *index, int n)
{
    int masks = 0, others = 0;
    for (int i = 0; i < n; i++) {
        bool mask = index[i].kind == TN_INDEX_TENSOR && index[i].as.tensor->dtype == TN_BOOL;
        masks += mask;
        others += !mask && (unsigned)index[i].kind > TN_INDEX_NEW_AXIS;
    }
    return masks == 1 && others == 0;
}

/* Writes `value` of x's dtype, within a scope of the caller. */
static tn_status put(plan *p, tn_tensor *x, const tn_index *index, int n, tn_tensor *value)
{
    int64_t strides[TN_MAX_NDIM];
    if (make_plan(p, x, index, n))
        return tni_pending();
    if (p->n_lists == 0)
        return tn_setitem(p->view, NULL, 0, value);
    if (value->numel == 1 && value->dtype != x->dtype && one_mask(index, n) &&
        !(value = tn_to(value, (tn_dtype)x->dtype)))
        return tni_pending(); /* one number at the places of a mask is converted */
    if (check_value(p, x, value) || place_value(p, value, strides))
        return tni_pending();
    tn_tensor *plain = tni_is_lazy(value) ? tn_resolve_neg(tn_resolve_conj(value)) : value;
    if (plain && plain != value && place_value(p, plain, strides))
        return tni_pending();
    /* what shares memory without being judged is copied first */
    if (plain && plain->storage == x->storage && (plain = tn_clone(plain)) && place_value(p, plain, strides))
        return tni_pending();
    if (!plain)
        return tni_pending();
    if (plain->numel > 0)
        move_elements(p, tni_data(plain), strides, true);
    tni_written(x);
    return TN_OK;
}

tn_status tni_setitem_copy(tn_tensor *x, const tn_index *index, int n, tn_tensor *value)
{
    plan p = {.name = "setitem"};
    if (tni_check_tensor(p.name, 1, "self", x) || tni_check_tensor(p.name, 4, "value", value))
        return tni_pending();
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    put(&p, x, index, n, value);
    tn_scope_end(scope);
    return tni_pending();
}

tn_status tni_setitem_copy_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value)
{
    plan p = {.name = "setitem"};
    if (tni_check_tensor(p.name, 1, "self", x))
        return tni_pending();
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    tn_tensor *one = tn_empty_on(NULL, 0, (tn_dtype)x->dtype, (tn_device){TN_CPU, 0});
    if (one && tn_fill_(one, value) == TN_OK)
        put(&p, x, index, n, one);
    tn_scope_end(scope);
    return tni_pending();
}
