/* Indexing, x[entry, entry, ...]: integers, slices, ellipses and new axes are one view, and writing to them is a write
 * to that view. Rules of torch.Tensor.__getitem__ and __setitem__. */
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/checked.h"
#include "base/error.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/create.h"
#include "ops/index.h"
#include "ops/operators.h"
#include "ops/tape.h"
#include "ops/view_cut.h"

typedef struct index_attr {
    tni_index_list index;
} index_attr;

/* How far an index has come through the dims of x. */
typedef struct walk {
    const char *name;
    const tn_tensor *x;
    tni_record *record;
    int64_t *sizes, *strides;
    int from, to; /* the next dim of x, of the result */
} walk;

static bool more_dims(const walk *w)
{
    if (w->from < w->x->ndim)
        return true;
    TNI_FAIL(TN_ERROR_INDEX, w->name, "the index goes beyond dim %d, the last one", w->x->ndim - 1);
    return false;
}

static tn_status take_integer(walk *w, int64_t i)
{
    if (!more_dims(w))
        return tni_pending();
    int64_t size = w->x->sizes[w->from];
    if (i < -size || i >= size)
        return TNI_FAIL(TN_ERROR_INDEX, w->name, "index %lld in dim %d of size %lld, needed %lld .. %lld", (long long)i,
                        w->from, (long long)size, (long long)-size, (long long)size - 1);
    return tni_move_offset(w->name, w->record, i < 0 ? i + size : i, w->x->strides[w->from++]);
}

static tn_status take_slice(walk *w, int64_t start, int64_t stop, int64_t step)
{
    if (TNI_UNLIKELY(w->from >= w->x->ndim) && start == 0 && stop == TN_SLICE_END && step == 1) {
        w->from++; /* behind a second ellipsis; PyTorch lets a whole dim pass there */
        return TN_OK;
    }
    if (!more_dims(w))
        return tni_pending();
    if (step < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, w->name, "step %lld, needed 1 or more", (long long)step);
    int64_t size = w->x->sizes[w->from], stride = w->x->strides[w->from++];
    start = tni_clamp_bound(start, size);
    stop = tni_clamp_bound(stop, size);
    stop = stop < start ? start : stop;
    w->sizes[w->to] = step == 1 ? stop - start : (stop - start) / step + ((stop - start) % step != 0);
    w->strides[w->to++] = step == 1 ? stride : tni_step_stride(stride, step);
    return tni_move_offset(w->name, w->record, start, stride);
}

/* The dim in front of which it stands gives the stride, as it is before its own entry cuts it: unsqueeze comes first.
 * */
static tn_status take_new_axis(walk *w)
{
    const tn_tensor *x = w->x;
    int64_t stride = 1;
    if (w->from > x->ndim)
        return TNI_FAIL(TN_ERROR_DIM, w->name, "a new axis beyond the last dim");
    if (w->from < x->ndim && !tni_mul_i64(x->sizes[w->from], x->strides[w->from], &stride))
        return TNI_FAIL(TN_ERROR_OVERFLOW, w->name, "size %lld times stride %lld is more than 64 bits hold",
                        (long long)x->sizes[w->from], (long long)x->strides[w->from]);
    w->sizes[w->to] = 1;
    w->strides[w->to++] = stride;
    return TN_OK;
}

static void take_whole(walk *w, int n)
{
    for (; n > 0; n--, w->from++) {
        if (w->from >= w->x->ndim) /* a second ellipsis */
            continue;
        w->sizes[w->to] = w->x->sizes[w->from];
        w->strides[w->to++] = w->x->strides[w->from];
    }
}

/* Whether the counts work out: the dims that entries take, and those of the result. */
static tn_status check_counts(const char *name, const tn_tensor *x, const tni_index_list *index, int *taken, int *ndim)
{
    int integers = 0, axes = 0, slices = 0;
    if (index->n < 0 || (index->n > 0 && !index->data))
        return index->n < 0 ? TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d entries, needed 0 or more", index->n)
                            : TNI_FAIL_NULL(name, 2, "index");
    for (int i = 0; i < index->n; i++) {
        tn_index_kind kind = index->data[i].kind;
        integers += kind == TN_INDEX_INTEGER;
        slices += kind == TN_INDEX_SLICE;
        axes += kind == TN_INDEX_NEW_AXIS;
        if (TNI_UNLIKELY((unsigned)kind > TN_INDEX_NEW_AXIS))
            return TNI_FAIL(TN_ERROR_ARGUMENT, name,
                            "entry %d of the index is of kind %d, needed an integer, slice, ellipsis or new axis", i,
                            (int)kind);
    }
    *taken = integers + slices;
    if (TNI_UNLIKELY(*taken > x->ndim))
        return TNI_FAIL(TN_ERROR_INDEX, name, "%d entries index a tensor of %d dims", *taken, x->ndim);
    *ndim = x->ndim - integers + axes;
    if (TNI_UNLIKELY(*ndim > TN_MAX_NDIM))
        return TNI_FAIL(TN_ERROR_DIM, name, "the result has %d dims, needed at most %d", *ndim, TN_MAX_NDIM);
    return TN_OK;
}

static tn_status take_entry(walk *w, const tn_index *entry, int whole)
{
    switch (entry->kind) {
    case TN_INDEX_SLICE:
        return take_slice(w, entry->as.slice.start, entry->as.slice.stop, entry->as.slice.step);
    case TN_INDEX_INTEGER:
        return take_integer(w, entry->as.integer);
    case TN_INDEX_NEW_AXIS:
        return take_new_axis(w);
    default:
        take_whole(w, whole);
        return TN_OK;
    }
}

/* Every index. A function of its own, so that the common one saves no registers for it. */
static TNI_ASIDE tn_status walk_index(tni_meta *meta, tn_tensor *x, const tni_index_list *index)
{
    walk w = {.name = "getitem", .x = x, .record = &meta->record};
    int taken = 0, ndim = 0;
    if (check_counts(w.name, x, index, &taken, &ndim))
        return tni_pending();
    tni_meta_view_dims(meta, x, ndim, &w.sizes, &w.strides);
    for (int i = 0; i < index->n; i++)
        if (take_entry(&w, &index->data[i], x->ndim - taken))
            return tni_pending();
    take_whole(&w, x->ndim - w.from);
    meta->record.numel = 1;
    for (int d = 0; d < ndim; d++)
        meta->record.numel *= w.sizes[d];
    return TN_OK;
}

/* The common index, elements start .. stop - 1 of the first dim, goes without the walk. Equal to it. */
static tn_status getitem_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const tni_index_list *index = &((const index_attr *)call->attr)->index;
    const tn_index *entry = index->data;
    const int ndim = x->ndim;
    if (TNI_UNLIKELY(index->n != 1 || !entry || entry->kind != TN_INDEX_SLICE || entry->as.slice.step != 1 ||
                     ndim == 0))
        return walk_index(meta, x, index);
    int64_t *sizes, *strides, start = tni_clamp_bound(entry->as.slice.start, x->sizes[0]);
    int64_t numel = tni_clamp_bound(entry->as.slice.stop, x->sizes[0]) - start;
    if (TNI_UNLIKELY(numel <= 0 || x->numel == 0)) /* where nothing is there may be no place */
        return walk_index(meta, x, index);
    tni_meta_view_dims(meta, x, ndim, &sizes, &strides);
    meta->record.offset += start * x->strides[0];
    sizes[0] = numel;
    strides[0] = x->strides[0];
    for (int d = 1; d < ndim; d++) {
        numel *= sizes[d] = x->sizes[d];
        strides[d] = x->strides[d];
    }
    meta->record.numel = numel;
    return TN_OK;
}

/* That of the last view in PyTorch's way, one an entry; among several a whole dim is none. */
static const char *getitem_node(const tni_node *node)
{
    const tni_index_list *index = &((const index_attr *)node->attr)->index;
    for (int i = index->n - 1; i >= 0; i--) {
        const tn_index *entry = &index->data[i];
        bool whole = entry->as.slice.start == 0 && entry->as.slice.stop == TN_SLICE_END && entry->as.slice.step == 1;
        if (entry->kind == TN_INDEX_INTEGER)
            return "SelectBackward0";
        if (entry->kind == TN_INDEX_NEW_AXIS)
            return "UnsqueezeBackward0";
        if (entry->kind == TN_INDEX_SLICE && (!whole || index->n == 1))
            return "SliceBackward0";
    }
    return "AliasBackward0";
}

static const tni_derivative getitem_derivative = {.named = getitem_node, .linear = true, .vjp = tni_vjp_part};

const tni_op tni_op_getitem = {
    .name = TNI_NAMES_NEW(getitem), .params = {TNI_TENSOR("self", 0), TNI_ATTR("index", 'R', index_attr, index)},
    .n_params = 2, .n_in = 1, .n_out = 1, .attr_bytes = sizeof(index_attr), .infer = getitem_infer,
    .derivative = &getitem_derivative,
    .samples = "[5,3] {1} | [5,3] {:,1:} | [5,3] {::2,-1} | [2,3,4] {...,0} | [2,3] {^,:,^} | [4] {9:} | [] {...} | "
        "[] {} | [2,3,4] {1,...,2} | [2,2,2] {...,0,...} | [3] {^,-2} | ! [5,3] {5} | ! [5,3] {0,0,0} | "
        "! [5] {::0} | ! [] {0} | ! [5] {0,:} | ! [5] {...,0,...,0}"};

/* Entries that copy: everything that no view can do. */
static bool is_basic(const tn_index *index, int n)
{
    for (int i = 0; i < n && index; i++)
        if (TNI_UNLIKELY((unsigned)index[i].kind > TN_INDEX_NEW_AXIS))
            return false;
    return true;
}

tn_tensor *tn_getitem(tn_tensor *x, const tn_index *index, int n)
{
    const index_attr attr = {{index, n}};
    const bool one = index && n == 1 && (unsigned)index->kind <= TN_INDEX_NEW_AXIS; /* the common index */
    if (TNI_UNLIKELY(!one && !is_basic(index, n)))
        return tni_getitem_copy(x, index, n);
    return tni_call_new(&tni_op_getitem, &x, &attr);
}

bool tni_takes_all(const tn_tensor *x, const tn_index *index, int n)
{
    int slices = 0, ellipses = 0, d = 0;
    for (int i = 0; i < n && index; i++) {
        slices += index[i].kind == TN_INDEX_SLICE;
        ellipses += index[i].kind == TN_INDEX_ELLIPSIS;
    }
    if ((n > 0 && !index) || slices + ellipses != n || slices > x->ndim || ellipses > 1)
        return false;
    for (int i = 0; i < n; i++) {
        const tn_index *entry = &index[i];
        if (entry->kind == TN_INDEX_ELLIPSIS) {
            d += x->ndim - slices;
            continue;
        }
        const int64_t size = x->sizes[d++];
        if (tni_clamp_bound(entry->as.slice.start, size) != 0 || tni_clamp_bound(entry->as.slice.stop, size) != size ||
            entry->as.slice.step != 1)
            return false;
    }
    return true;
}

/* A value of other sizes loses all its leading dims of size 1, also those that copy_ would refuse, and is broadcast. */
static tn_status write_value(tn_tensor *to, tn_tensor *value)
{
    int ones = 0;
    if (tni_same_dims(to->sizes, to->ndim, value->sizes, value->ndim))
        return tn_copy_(to, value);
    if (value->ndim == 0 && value->storage == to->storage) { /* it may be overwritten before it is everywhere */
        tn_tensor *kept = tn_clone(value);
        tn_status status = kept ? tn_copy_(to, kept) : tni_pending();
        tn_drop(&kept);
        return status;
    }
    if (value->ndim == 0)
        return tn_copy_(to, value);
    while (ones < value->ndim && value->sizes[ones] == 1)
        ones++;
    tn_tensor *less = tn_view(value, value->sizes + ones, value->ndim - ones);
    tn_tensor *wide = less ? tn_expand(less, to->sizes, to->ndim) : NULL;
    tn_status status = wide ? tn_copy_(to, wide) : tni_pending();
    tn_drop(&wide);
    tn_drop(&less);
    return status;
}

/* What is written: the part, or x itself where the part is all of it, as in PyTorch, where the tape can tell. */
static tn_tensor *part_or_all(tn_tensor *x, tn_tensor *part)
{
    bool all = part && part->offset == x->offset && tni_same_dims(part->sizes, part->ndim, x->sizes, x->ndim) &&
               tni_same_dims(part->strides, part->ndim, x->strides, x->ndim);
    return all ? x : part;
}

tn_status tn_setitem(tn_tensor *x, const tn_index *index, int n, tn_tensor *value)
{
    if (tni_check_tensor("setitem", 1, "self", x) || tni_check_tensor("setitem", 4, "value", value))
        return tni_pending();
    if (TNI_UNLIKELY(!is_basic(index, n)))
        return tni_setitem_copy(x, index, n, value);
    if (tni_takes_all(x, index, n))
        return write_value(x, value);
    tn_tensor *to = tn_getitem(x, index, n);
    if (!to)
        return tni_pending();
    tn_status status = write_value(part_or_all(x, to), value);
    tn_drop(&to);
    return status;
}

tn_status tn_setitem_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value)
{
    if (tni_check_tensor("setitem", 1, "self", x))
        return tni_pending();
    if (TNI_UNLIKELY(!is_basic(index, n)))
        return tni_setitem_copy_scalar(x, index, n, value);
    if (tni_takes_all(x, index, n))
        return tni_check_fill("setitem", value, (tn_dtype)x->dtype, x->numel) ? tni_pending() : tn_fill_(x, value);
    tn_tensor *to = tn_getitem(x, index, n);
    bool fits = to && tni_check_fill("setitem", value, (tn_dtype)to->dtype, to->numel) == TN_OK;
    tn_status status = fits ? tn_fill_(part_or_all(x, to), value) : tni_pending();
    tn_drop(&to);
    return status;
}
