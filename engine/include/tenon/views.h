/* Views, memory formats, geometry in place, and indexing.
 *
 * A view is another record over x's storage: nothing is copied, writes show through, and it counts versions with x. What
 * every call may raise ("common") stands at the beginning of tenon/ops.h. */
#ifndef TENON_VIEWS_H
#define TENON_VIEWS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/list.h>
#include <tenon/tensor.h>

TN_BEGIN

/* In which order the dims of a new tensor lie in memory. The zero value is row-major. */
typedef enum tn_memory_format {
    TN_CONTIGUOUS_FORMAT, /* row-major */
    TN_CHANNELS_LAST,     /* [N, C, H, W] with C innermost */
    TN_CHANNELS_LAST_3D,  /* [N, C, D, H, W] with C innermost */
    TN_PRESERVE_FORMAT    /* as the source has it */
} tn_memory_format;

/* The format of that name: "contiguous", "channels_last", "channels_last_3d", "preserve"; and the name of a format
 * ("invalid" for another number, never NULL).
 * errors  tn_memory_format_from_name: TN_ERROR_NULL, TN_ERROR_NAME; then TN_CONTIGUOUS_FORMAT */
TN_API tn_memory_format tn_memory_format_from_name(const char *name);
TN_API const char *tn_memory_format_name(tn_memory_format format);

/* One entry of an index, x[entry, entry, ...]. Make it with the functions below. */
typedef enum tn_index_kind {
    TN_INDEX_INTEGER,  /* one position; the dim disappears */
    TN_INDEX_SLICE,    /* start:stop:step */
    TN_INDEX_ELLIPSIS, /* as many whole dims as are left */
    TN_INDEX_NEW_AXIS, /* a new dim of size 1 */
    TN_INDEX_BOOL,     /* a new dim of size 1 or 0; copies */
    TN_INDEX_TENSOR,   /* positions, or a mask; copies, unless it is a 0-dim integer */
    TN_INDEX_LIST      /* positions; copies */
} tn_index_kind;

typedef struct tn_index {
    tn_index_kind kind;
    union {
        int64_t integer;
        bool on;
        tn_tensor *tensor;
        struct {
            int64_t start, stop, step; /* clamped as in Python; TN_SLICE_END is the end */
        } slice;
        struct {
            const int64_t *data;
            int n;
        } list;
    } as;
} tn_index;

#define TN_SLICE_END INT64_MAX

/* Entries of an index: i, start:stop:step, start:stop, the whole dim (:), ..., a new dim, True or False, a tensor of integers
 * or a mask, a list of integers (which must live until the call ends).
 * errors  none: tn_getitem and tn_setitem check them */
static inline tn_index tn_index_integer(int64_t i)
{
    tn_index entry;
    entry.kind = TN_INDEX_INTEGER;
    entry.as.integer = i;
    return entry;
}
static inline tn_index tn_index_step(int64_t start, int64_t stop, int64_t step)
{
    tn_index entry;
    entry.kind = TN_INDEX_SLICE;
    entry.as.slice.start = start;
    entry.as.slice.stop = stop;
    entry.as.slice.step = step;
    return entry;
}
static inline tn_index tn_index_slice(int64_t start, int64_t stop)
{
    return tn_index_step(start, stop, 1);
}
static inline tn_index tn_index_all(void)
{
    return tn_index_step(0, TN_SLICE_END, 1);
}
static inline tn_index tn_index_ellipsis(void)
{
    tn_index entry = tn_index_integer(0);
    entry.kind = TN_INDEX_ELLIPSIS;
    return entry;
}
static inline tn_index tn_index_new_axis(void)
{
    tn_index entry = tn_index_integer(0);
    entry.kind = TN_INDEX_NEW_AXIS;
    return entry;
}
static inline tn_index tn_index_bool(bool on)
{
    tn_index entry;
    entry.kind = TN_INDEX_BOOL;
    entry.as.on = on;
    return entry;
}
static inline tn_index tn_index_tensor(tn_tensor *x)
{
    tn_index entry;
    entry.kind = TN_INDEX_TENSOR;
    entry.as.tensor = x;
    return entry;
}
static inline tn_index tn_index_list(const int64_t *data, int n)
{
    tn_index entry;
    entry.kind = TN_INDEX_LIST;
    entry.as.list.data = data;
    entry.as.list.n = n;
    return entry;
}

/* Views: they share the storage and count versions with x, which may be any tensor; nothing is copied.
 * tn_view         other sizes over the same elements; one size may be -1 (inferred)
 * tn_reshape      the view if there is one, else a contiguous copy
 * tn_transpose    swaps two dims
 * tn_t            swaps the dims of a tensor of at most two
 * tn_T            reverses all dims
 * tn_narrow       length elements of dim from start, which may be negative
 * tn_select       element `index` of dim, which disappears
 * tn_slice        start, start + step, ... below end along dim, step >= 1; bounds are clamped as in Python,
 *                 TN_SLICE_END is the end
 * tn_expand       size-1 dims repeated by stride 0, new dims in front; -1 keeps a size
 * tn_unsqueeze    a dim of size 1 at dim, -ndim-1 .. ndim
 * tn_squeeze      drops all dims of size 1
 * tn_squeeze_dim  drops dim if its size is 1
 * tn_as_strided   any sizes and strides over x's storage, the offset counted from its beginning
 * tn_contiguous   x itself (a new reference) if it is contiguous, else a contiguous copy
 * errors  common; TN_ERROR_DIM (a dim out of range, a rank over 64; tn_t of more than two dims),
 *         TN_ERROR_SHAPE (sizes that do not fit x's), TN_ERROR_ARGUMENT (a size, length, stride or offset below 0, or
 *         -1 where it cannot be inferred; a step below 1), TN_ERROR_INDEX (tn_narrow, tn_select: outside dim),
 *         TN_ERROR_OVERFLOW, TN_ERROR_VIEW (tn_view: no strides do it; the message names the pair of dims),
 *         TN_ERROR_BOUNDS (tn_as_strided: outside the storage)
 * grad    x, twice differentiable
 * cost    O(ndim); O(numel) where a copy is made
 * source  torch.Tensor's methods of these names */
TN_API tn_tensor *tn_view(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_reshape(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_transpose(tn_tensor *x, int dim0, int dim1);
TN_API tn_tensor *tn_t(tn_tensor *x);
TN_API tn_tensor *tn_T(tn_tensor *x);
TN_API tn_tensor *tn_narrow(tn_tensor *x, int dim, int64_t start, int64_t length);
TN_API tn_tensor *tn_select(tn_tensor *x, int dim, int64_t index);
TN_API tn_tensor *tn_slice(tn_tensor *x, int dim, int64_t start, int64_t end, int64_t step);
TN_API tn_tensor *tn_expand(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_unsqueeze(tn_tensor *x, int dim);
TN_API tn_tensor *tn_squeeze(tn_tensor *x);
TN_API tn_tensor *tn_squeeze_dim(tn_tensor *x, int dim);
TN_API tn_tensor *tn_as_strided(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset);
TN_API tn_tensor *tn_contiguous(tn_tensor *x);

TN_END

#endif
