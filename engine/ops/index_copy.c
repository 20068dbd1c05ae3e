/* Indexing by tensors, masks, bools and lists: what no view can do. The basic entries make a view v of x first; the
 * others are int64 tensors of positions along dims of v, which go to index and index_put (ops/index_put.c). A mask is
 * one such tensor a dim, a bool one along a new dim. Rules of torch.Tensor.__getitem__ and __setitem__. */
#include <string.h>
#include <tenon/create.h>
#include <tenon/lazy.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "core/geometry.h"
#include "core/lazy.h"
#include "core/overlap.h"
#include "ops/create.h"
#include "ops/index.h"
#include "ops/operators.h"

typedef struct plan {
    const char *name;
    tn_tensor *x, *view;
    tn_tensor *indices[TN_MAX_NDIM]; /* by dim of the view; NULL: none */
    int n;                           /* up to the last that is there */
    int taken;                       /* dims of x that the entries take */
    int from;                        /* the dim of x that the next entry takes */
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

static tn_status add_index(plan *p, int dim, tn_tensor *at)
{
    if (!at)
        return tni_pending();
    if (dim >= TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, p->name, "an index for dim %d, needed at most %d dims", dim, TN_MAX_NDIM);
    p->indices[dim] = at;
    p->n = dim + 1;
    return TN_OK;
}

/* A mask becomes one index a dim: where it is true, in row-major order. */
static tn_status add_mask(plan *p, int dim, tn_tensor *mask)
{
    tn_tensor *lists[TN_MAX_NDIM];
    for (int d = 0; d < mask->ndim; d++)
        if (mask->sizes[d] != p->x->sizes[p->from + d])
            return TNI_FAIL(TN_ERROR_SHAPE, p->name,
                            "dim %d of a mask has size %lld, the dim that it selects from %lld", d,
                            (long long)mask->sizes[d], (long long)p->x->sizes[p->from + d]);
    if (tni_is_meta(mask))
        return TNI_FAIL(TN_ERROR_DEVICE, p->name,
                        "a mask is on meta: how many elements it selects depends on data, which meta has not");
    tn_tensor *bools = mask->dtype == TN_BOOL ? mask : tn_to(mask, TN_BOOL);
    tn_tensor *dense = bools && !tni_contiguous(bools) ? tn_contiguous(bools) : bools;
    if (!dense || (tni_is_lazy(dense) && !(dense = tni_resolved(p->name, dense))))
        return tni_pending();
    const uint8_t *on = (const uint8_t *)tni_data(dense); /* any byte but 0 is true */
    int64_t count = 0, found = 0;
    for (int64_t i = 0; i < dense->numel; i++)
        count += on[i] != 0;
    for (int d = 0; d < mask->ndim; d++) {
        lists[d] = zero_positions(count);
        if (add_index(p, dim + d, lists[d]))
            return tni_pending();
    }
    for (int64_t i = 0; found < count; i++) {
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
    tn_tensor *wide = dtype == TN_INT64 ? at : tn_to(at, TN_INT64);
    return add_index(p, dim, wide && tni_is_lazy(wide) ? tni_resolved(p->name, wide) : wide);
}

static tn_status add_list(plan *p, int dim, const int64_t *data, int n)
{
    tn_tensor *at = zero_positions(n);
    if (at && n > 0)
        memcpy(tni_data(at), data, (size_t)n * sizeof *data);
    return add_index(p, dim, at);
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

/* The entry as one of the basic index, and as indices of the view from `dim` on; *made: dims that it makes. */
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
        bool on = at ? tn_item_i64(at) != 0 : entry->as.on; /* true: one position, 0; false: none */
        return tni_pending() ? tni_pending() : add_index(p, dim, zero_positions(on));
    }
    *made = dims_taken(entry);
    for (int d = 0; d < *made; d++)
        basic[(*n_basic)++] = tn_index_all();
    if (entry->kind == TN_INDEX_LIST)
        return add_list(p, dim, entry->as.list.data, entry->as.list.n);
    return is_mask(at) ? add_mask(p, dim, at) : add_tensor(p, dim, at);
}

static tn_status check_entries(plan *p, const tn_index *index, int n)
{
    const char *name = p->name;
    if (n > 2 * TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_INDEX, name, "%d entries, needed at most %d", n, 2 * TN_MAX_NDIM);
    for (int i = 0; i < n; i++) {
        const tn_index *entry = &index[i];
        if ((unsigned)entry->kind > TN_INDEX_LIST)
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "entry %d of the index is of no known kind", i);
        if (entry->kind == TN_INDEX_TENSOR && !entry->as.tensor)
            return TNI_FAIL(TN_ERROR_NULL, name, "argument 2 (index) is NULL at entry %d", i);
        if (entry->kind == TN_INDEX_TENSOR && entry->as.tensor->ndim == 0 && tni_is_meta(entry->as.tensor))
            return TNI_FAIL(TN_ERROR_DEVICE, name, "entry %d of the index is a number on meta, needed data", i);
        if (entry->kind == TN_INDEX_LIST && (entry->as.list.n < 0 || (entry->as.list.n > 0 && !entry->as.list.data)))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name, "entry %d of the index is a list without numbers", i);
        p->taken += dims_taken(entry);
    }
    return p->taken <= p->x->ndim ? TN_OK
                                  : TNI_FAIL(TN_ERROR_INDEX, name, "%d entries index a tensor of %d dims", p->taken,
                                             p->x->ndim);
}

/* The view and the indices. */
static tn_status make_plan(plan *p, const tn_index *index, int n)
{
    tn_index basic[3 * TN_MAX_NDIM];
    int n_basic = 0, dim = 0, made;
    if (check_entries(p, index, n))
        return tni_pending();
    for (int i = 0; i < n; i++, dim += made) {
        const tn_index *entry = &index[i];
        made = entry->kind == TN_INDEX_SLICE || entry->kind == TN_INDEX_NEW_AXIS;
        if (entry->kind == TN_INDEX_ELLIPSIS) {
            int left = p->x->ndim - p->from; /* a second ellipsis may find fewer */
            made = p->x->ndim - p->taken < left ? p->x->ndim - p->taken : left;
            p->from += made;
        }
        if ((unsigned)entry->kind <= TN_INDEX_NEW_AXIS)
            basic[n_basic++] = *entry;
        else if (p->from + dims_taken(entry) > p->x->ndim)
            return TNI_FAIL(TN_ERROR_INDEX, p->name, "the index goes beyond dim %d, the last one", p->x->ndim - 1);
        else if (take_entry(p, entry, dim, basic, &n_basic, &made))
            return tni_pending();
        p->from += dims_taken(entry);
    }
    p->view = tni_takes_all(p->x, basic, n_basic) ? p->x : tn_getitem(p->x, basic, n_basic);
    return p->view ? TN_OK : tni_pending();
}

static tni_put_attr attr_of(const plan *p, bool accumulate)
{
    return (tni_put_attr){{p->indices, p->n}, accumulate, p->name};
}

tn_tensor *tni_getitem_copy(tn_tensor *x, const tn_index *index, int n)
{
    plan p = {.name = "getitem", .x = x};
    tn_tensor *y = NULL;
    if (tni_check_tensor(p.name, 1, "self", x))
        return NULL;
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return NULL;
    if (make_plan(&p, index, n) == TN_OK) {
        const tni_put_attr attr = attr_of(&p, false);
        y = p.n == 0 ? p.view : tni_call_new(&tni_op_index, &p.view, &attr);
    }
    if (y)
        tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

/* The mask that is all that selects, beside numbers and slices; or NULL. */
static const tn_tensor *one_mask(const tn_index *index, int n)
{
    const tn_tensor *mask = NULL;
    for (int i = 0; i < n; i++) {
        const tn_tensor *at = index[i].kind == TN_INDEX_TENSOR ? index[i].as.tensor : NULL;
        if ((unsigned)index[i].kind <= TN_INDEX_NEW_AXIS || (at && is_position(at)))
            continue;
        if (mask || !at || at->dtype != TN_BOOL || at->ndim == 0)
            return NULL;
        mask = at;
    }
    return mask;
}

/* One number at the places of a mask is masked_fill: it is converted, and may come from the tensor itself. */
static tn_tensor *number_of_mask(const plan *p, tn_tensor *value)
{
    if (!(tni_op_masked_fill.dtypes & TNI_DTYPE_BIT(p->x->dtype))) {
        TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, p->name, "no kernel fills the places of a mask in %s on cpu",
                 tn_dtype_name((tn_dtype)p->x->dtype));
        return NULL;
    }
    return tn_tensor_from(value, (tn_dtype)p->x->dtype);
}

/* The value without leading dims of size 1, and apart from the memory that is written: what overlaps without being
 * judged is copied first. */
static tn_tensor *placed_value(const plan *p, tn_tensor *value)
{
    int ones = 0;
    while (ones < value->ndim && value->sizes[ones] == 1)
        ones++;
    if (ones > 0 && !(value = tn_view(value, value->sizes + ones, value->ndim - ones)))
        return NULL;
    const tn_tensor *view = p->view;
    bool whole = value == p->x && tni_same_dims(view->sizes, view->ndim, value->sizes, value->ndim) &&
                 tni_same_dims(view->strides, view->ndim, value->strides, value->ndim);
    if (value->storage != view->storage ||
        tni_check_no_overlap(p->name, whole ? value : view, value, "the value")) /* itself, whether dense or not */
        return tni_pending() ? NULL : value;
    return tni_may_share(view, value) ? tn_clone(value) : value;
}

/* As in PyTorch: an index shares no memory with the tensor to write, but for a mask that a number is filled in by. */
static tn_status check_indices(const plan *p, const tn_index *index, int n)
{
    for (int i = 0; i < n; i++)
        if (index[i].kind == TN_INDEX_TENSOR &&
            tni_check_no_overlap(p->name, p->view, index[i].as.tensor, "an index"))
            return tni_pending();
    return TN_OK;
}

/* As in PyTorch, where a number at one list of positions is index_fill: if the other dims have no elements, the list is
 * not looked at. */
static bool fills_nothing(const plan *p)
{
    int dim = p->n - 1;
    for (int d = 0; d < dim; d++)
        if (p->indices[d])
            return false;
    for (int d = 0; d < p->view->ndim; d++)
        if (d != dim && p->view->sizes[d] == 0)
            return p->indices[dim]->ndim == 1;
    return false;
}

/* Writes `value`, which may stand for a `number`, within a scope of the caller. */
static tn_status put(plan *p, const tn_index *index, int n, tn_tensor *value, bool number)
{
    if (make_plan(p, index, n))
        return tni_pending();
    if (p->n == 0)
        return tn_setitem(p->view, NULL, 0, value);
    if (tni_check_writable(p->name, p->x->storage))
        return tni_pending();
    const tn_tensor *mask = one_mask(index, n);
    if (number && !mask && fills_nothing(p)) {
        tni_written(p->view);
        return TN_OK;
    }
    if (mask && value->numel == 1) {
        if (!(value = number_of_mask(p, value)))
            return tni_pending();
    } else if (check_indices(p, index, n)) {
        return tni_pending();
    }
    tn_tensor *in[2] = {p->view, placed_value(p, value)};
    const tni_put_attr attr = attr_of(p, false);
    return in[1] ? tni_call_in_place(&tni_op_index_put, in, &attr) : tni_pending();
}

tn_status tni_setitem_copy(tn_tensor *x, const tn_index *index, int n, tn_tensor *value)
{
    plan p = {.name = "setitem", .x = x};
    if (tni_check_tensor(p.name, 1, "self", x) || tni_check_tensor(p.name, 4, "value", value))
        return tni_pending();
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    put(&p, index, n, value, false);
    tn_scope_end(scope);
    return tni_pending();
}

tn_status tni_setitem_copy_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value)
{
    plan p = {.name = "setitem", .x = x};
    if (tni_check_tensor(p.name, 1, "self", x) || tni_check_fill(p.name, value, (tn_dtype)x->dtype, 1))
        return tni_pending();
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return tni_pending();
    tn_tensor *one = tn_empty_on(NULL, 0, (tn_dtype)x->dtype, (tn_device){(tn_device_type)x->device, 0});
    if (one && tn_fill_(one, value) == TN_OK)
        put(&p, index, n, one, true);
    tn_scope_end(scope);
    return tni_pending();
}

/* The tensors of a call of index or index_put as the operators take them. */
static tn_status read_tensors(plan *p, const tni_tensors *given)
{
    int taken = 0;
    if (given->n < 0 || (given->n > 0 && !given->data))
        return given->n < 0 ? TNI_FAIL(TN_ERROR_ARGUMENT, p->name, "%d indices, needed 0 or more", given->n)
                            : TNI_FAIL_NULL(p->name, 2, "indices");
    for (int i = 0; i < given->n; i++) {
        tn_tensor *at = given->data[i];
        int takes = at && is_mask(at) ? at->ndim : 1;
        if (takes == 0)
            return TNI_FAIL(TN_ERROR_DIM, p->name, "index %d is a mask without dims, needed one at least", i);
        if (takes > p->x->ndim - taken)
            return TNI_FAIL(TN_ERROR_INDEX, p->name, "more entries than the %d dims of the tensor", p->x->ndim);
        p->from = taken;
        if (at && (is_mask(at) ? add_mask(p, taken, at) : add_tensor(p, taken, at)))
            return tni_pending();
        taken += takes;
    }
    return TN_OK;
}

tn_tensor *tni_index_by_name(const tni_op *op, tni_form form, tn_tensor **in, const tni_put_attr *attr)
{
    plan p = {.name = op->name[form], .x = in[0]};
    tn_tensor *y = NULL;
    if (tni_check_tensor(p.name, 1, "self", p.x))
        return NULL;
    if (op->n_in > 1 && tni_check_tensor(p.name, 3, "values", in[1]))
        return NULL;
    tn_scope scope = tn_scope_begin();
    if (tni_pending())
        return NULL;
    if (read_tensors(&p, &attr->indices) == TN_OK) {
        const tni_put_attr plain = attr_of(&p, attr->accumulate);
        if (form == TNI_NEW)
            y = tni_call_new(op, in, &plain);
        else if (tni_call_in_place(op, in, &plain) == TN_OK)
            y = in[0];
    }
    if (y && form == TNI_NEW)
        tn_scope_escape(scope, y);
    tn_scope_end(scope);
    return y;
}

tn_tensor *tn_index_get(tn_tensor *self, tn_tensor *const *indices, int n)
{
    const tni_put_attr attr = {{indices, n}, false, NULL};
    return tni_index_by_name(&tni_op_index, TNI_NEW, &self, &attr);
}

tn_tensor *tn_index_put(tn_tensor *self, tn_tensor *const *indices, int n, tn_tensor *values, bool accumulate)
{
    tn_tensor *in[2] = {self, values};
    const tni_put_attr attr = {{indices, n}, accumulate, NULL};
    return tni_index_by_name(&tni_op_index_put, TNI_NEW, in, &attr);
}

tn_status tn_index_put_(tn_tensor *self, tn_tensor *const *indices, int n, tn_tensor *values, bool accumulate)
{
    tn_tensor *in[2] = {self, values};
    const tni_put_attr attr = {{indices, n}, accumulate, NULL};
    tni_index_by_name(&tni_op_index_put, TNI_IN_PLACE, in, &attr);
    return tni_pending();
}
