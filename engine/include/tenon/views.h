/* Views, memory formats, geometry in place, and indexing.
 *
 * A view is another record over x's storage: nothing is copied, writes show through, and it counts versions with x.
 * What every call may raise ("common") stands at the beginning of tenon/ops.h. */
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

/* Entries of an index: i, start:stop:step, start:stop, the whole dim (:), ..., a new dim, True or False, a tensor of
 * integers or a mask, a list of integers (which must live until the call ends).
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

/* Views that cut the same elements into other dims. One of the sizes may be -1: it is worked out.
 * tn_view       other sizes over the same memory; tn_view_as those of `other`
 * tn_reshape    the view if there is one, else a contiguous copy
 * tn_flatten    dims start_dim .. end_dim become one, as reshape; x itself (a new reference) where they are one
 *               already. A 0-dim x gives [1]
 * tn_unflatten  dim becomes n dims of these sizes
 * tn_ravel      [numel]: a view of a contiguous x, of a contiguous copy of any other
 * strides  PyTorch's, also of dims of size 1 and of tensors without elements
 * errors  common; TN_ERROR_SHAPE (sizes that do not fit), TN_ERROR_ARGUMENT (a size below -1, two of -1, one that could
 *         be anything), TN_ERROR_DIM (a dim out of range, over 64 dims; tn_flatten: end before start),
 *         TN_ERROR_OVERFLOW, TN_ERROR_VIEW (tn_view, tn_view_as: no strides do it; the message names the pair of dims
 *         and both numbers, as "stride 1 of dim 0 should be 4 x 3 = 12")
 * grad    x, twice differentiable
 * cost    O(ndim); O(numel) where a copy is made
 * source  torch.Tensor's methods of these names */
TN_API tn_tensor *tn_view(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_view_as(tn_tensor *x, tn_tensor *other);
TN_API tn_tensor *tn_reshape(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_flatten(tn_tensor *x, int start_dim, int end_dim);
TN_API tn_tensor *tn_unflatten(tn_tensor *x, int dim, const int64_t *size, int n);
TN_API tn_tensor *tn_ravel(tn_tensor *x);

/* Views that move, add or drop dims.
 * tn_transpose     swaps two dims; so do tn_swapaxes and tn_swapdims
 * tn_t             swaps the dims of a tensor of at most two
 * tn_T             reverses all dims
 * tn_mT            swaps the last two dims; tn_mH and tn_adjoint conjugate complex numbers besides (a lazy bit:
 *                  tenon/lazy.h), and so does tn_H, which takes one matrix
 * tn_permute       dim d of the result is dim dims[d] of x
 * tn_movedim       moves dims to the places `destination`, one for one; the others keep their order. So does
 *                  tn_moveaxis
 * tn_unsqueeze     a dim of size 1 at dim, -ndim-1 .. ndim
 * tn_squeeze       drops all dims of size 1
 * tn_squeeze_dim   drops dim if its size is 1; tn_squeeze_dims does so for n dims
 * errors  common; TN_ERROR_DIM (a dim out of range or named twice, a rank over 64; a rank that the function does not
 *         take; lists that differ in length)
 * grad    x, twice differentiable
 * cost    O(ndim)
 * source  torch.Tensor's methods of these names */
TN_API tn_tensor *tn_transpose(tn_tensor *x, int dim0, int dim1);
TN_API tn_tensor *tn_swapaxes(tn_tensor *x, int dim0, int dim1);
TN_API tn_tensor *tn_swapdims(tn_tensor *x, int dim0, int dim1);
TN_API tn_tensor *tn_t(tn_tensor *x);
TN_API tn_tensor *tn_T(tn_tensor *x);
TN_API tn_tensor *tn_mT(tn_tensor *x);
TN_API tn_tensor *tn_H(tn_tensor *x);
TN_API tn_tensor *tn_mH(tn_tensor *x);
TN_API tn_tensor *tn_adjoint(tn_tensor *x);
TN_API tn_tensor *tn_permute(tn_tensor *x, const int64_t *dims, int n);
TN_API tn_tensor *tn_movedim(tn_tensor *x, const int64_t *source, const int64_t *destination, int n);
TN_API tn_tensor *tn_moveaxis(tn_tensor *x, const int64_t *source, const int64_t *destination, int n);
TN_API tn_tensor *tn_unsqueeze(tn_tensor *x, int dim);
TN_API tn_tensor *tn_squeeze(tn_tensor *x);
TN_API tn_tensor *tn_squeeze_dim(tn_tensor *x, int dim);
TN_API tn_tensor *tn_squeeze_dims(tn_tensor *x, const int64_t *dims, int n);

/* Views of a part.
 * tn_narrow    length elements of dim from start, which may be negative
 * tn_select    element `index` of dim, which disappears
 * tn_slice     start, start + step, ... below end along dim, step >= 1; bounds are clamped as in Python, TN_SLICE_END
 *              is the end
 * tn_diagonal  elements [i, i + offset] of dims dim1, dim2; their dim comes last. Empty where the diagonal misses
 * tn_unfold    windows of `size` elements along dim, `step` apart: dim counts them, a new last dim holds their elements
 * errors  common; TN_ERROR_DIM (a dim out of range, or given twice; a 0-dim x), TN_ERROR_ARGUMENT (a length below 0, a
 *         step below 1), TN_ERROR_INDEX (outside dim; windows larger than it), TN_ERROR_OVERFLOW
 * grad    x, twice differentiable
 * cost    O(ndim)
 * source  torch.Tensor's methods of these names; tn_slice is x[start:end:step] */
TN_API tn_tensor *tn_narrow(tn_tensor *x, int dim, int64_t start, int64_t length);
TN_API tn_tensor *tn_select(tn_tensor *x, int dim, int64_t index);
TN_API tn_tensor *tn_slice(tn_tensor *x, int dim, int64_t start, int64_t end, int64_t step);
TN_API tn_tensor *tn_diagonal(tn_tensor *x, int64_t offset, int dim1, int dim2);
TN_API tn_tensor *tn_unfold(tn_tensor *x, int dim, int64_t size, int64_t step);

/* Views with strides of their own.
 * tn_expand      size-1 dims repeated by stride 0, new dims in front; -1 keeps a size; tn_broadcast_to is the same.
 *                tn_expand_as takes the sizes of `other`
 * tn_as_strided  any sizes and strides over x's storage, the offset counted from its beginning
 * errors  common; TN_ERROR_SHAPE (sizes that do not fit x's), TN_ERROR_ARGUMENT (a size, stride or offset below 0; -1
 *         for a new dim), TN_ERROR_DIM (over 64 dims), TN_ERROR_OVERFLOW, TN_ERROR_BOUNDS (tn_as_strided: outside the
 *         storage)
 * grad    x, twice differentiable
 * cost    O(ndim)
 * source  torch.Tensor's methods of these names */
TN_API tn_tensor *tn_expand(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_expand_as(tn_tensor *x, tn_tensor *other);
TN_API tn_tensor *tn_broadcast_to(tn_tensor *x, const int64_t *size, int ndim);
TN_API tn_tensor *tn_as_strided(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset);

/* Views with several results, as a list of them.
 * tn_split             pieces of `size` along dim, the last one what is left; tn_split_sizes n pieces of these sizes
 * tn_chunk             n pieces or fewer, all as large as the first but the last
 * tn_tensor_split      n pieces just as they come out, the first ones larger by one; tn_tensor_split_at cuts before
 *                      each index, n + 1 pieces, bounds as slices have them
 * tn_hsplit            tn_tensor_split along dim 1 (0 of one dim), n a divisor of the size; tn_vsplit dim 0, tn_dsplit
 *                      dim 2
 * tn_unbind            the parts tn_select gives, one an index
 * tn_broadcast_tensors all expanded to one shape; one that has it already is in the list itself
 * errors  common; TN_ERROR_DIM (a dim out of range, too few dims), TN_ERROR_ARGUMENT (sizes or counts that do not work
 *         out), TN_ERROR_SHAPE (shapes that do not broadcast)
 * grad    x, twice differentiable; tracked pieces are not to be written in place
 * cost    O(pieces ndim)
 * source  torch's functions of these names */
TN_API tn_list *tn_split(tn_tensor *x, int64_t size, int dim);
TN_API tn_list *tn_split_sizes(tn_tensor *x, const int64_t *sizes, int n, int dim);
TN_API tn_list *tn_chunk(tn_tensor *x, int64_t n, int dim);
TN_API tn_list *tn_tensor_split(tn_tensor *x, int64_t n, int dim);
TN_API tn_list *tn_tensor_split_at(tn_tensor *x, const int64_t *indices, int n, int dim);
TN_API tn_list *tn_hsplit(tn_tensor *x, int64_t n);
TN_API tn_list *tn_hsplit_at(tn_tensor *x, const int64_t *indices, int n);
TN_API tn_list *tn_vsplit(tn_tensor *x, int64_t n);
TN_API tn_list *tn_vsplit_at(tn_tensor *x, const int64_t *indices, int n);
TN_API tn_list *tn_dsplit(tn_tensor *x, int64_t n);
TN_API tn_list *tn_dsplit_at(tn_tensor *x, const int64_t *indices, int n);
TN_API tn_list *tn_unbind(tn_tensor *x, int dim);
TN_API tn_list *tn_broadcast_tensors(tn_tensor *const *tensors, int n);

/* The shape that n shapes broadcast to, into `out`, which has room for TN_MAX_NDIM sizes; the number of its dims.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a size or count below 0), TN_ERROR_DIM, TN_ERROR_SHAPE; then -1
 * source  torch.broadcast_shapes */
TN_API int tn_broadcast_shapes(const int64_t *const *sizes, const int *ndims, int n, int64_t *out);

/* The same bytes as another dtype.
 * tn_view_dtype       any dtype; where the size of an element differs, the last dim shrinks or grows. Shares memory and
 *                     version, but is no view in the sense of tn_is_view
 * tn_view_as_real     [..., n] complex as [..., n, 2] of its parts; tn_view_as_complex the other way round
 * tn_real, tn_imag    the parts of a complex x; tn_real of a real one is x itself (a new reference)
 * errors  common; TN_ERROR_VIEW (sizes, strides or offset that do not divide, a last stride that is not 1, a 0-dim x),
 *         TN_ERROR_DTYPE (a dtype that the function does not take), TN_ERROR_ARGUMENT (memory that is not aligned for
 *         the dtype), TN_ERROR_STATE (tn_view_dtype, tn_view_as_real: a lazy conjugate)
 * grad    tn_view_dtype: none; the others: x
 * cost    O(ndim)
 * source  Tensor.view(dtype), torch.view_as_real, torch.view_as_complex, torch.real, torch.imag */
TN_API tn_tensor *tn_view_dtype(tn_tensor *x, tn_dtype dtype);
TN_API tn_tensor *tn_view_as_real(tn_tensor *x);
TN_API tn_tensor *tn_view_as_complex(tn_tensor *x);
TN_API tn_tensor *tn_real(tn_tensor *x);
TN_API tn_tensor *tn_imag(tn_tensor *x);

/* Contiguity.
 * tn_contiguous         x itself (a new reference) if it is contiguous, else a contiguous copy; tn_contiguous_format
 *                       the same in a memory format
 * tn_is_contiguous_in   whether x's strides are the format's. Those of size-1 dims do not count, so that a tensor may
 *                       have several formats; another rank than the format's: no
 * errors  common; TN_ERROR_FORMAT (tn_contiguous_format: a format for another rank; preserve, unless x is contiguous)
 * grad    x
 * cost    O(ndim), or O(numel) for a copy
 * source  torch.Tensor.contiguous, torch.Tensor.is_contiguous */
TN_API tn_tensor *tn_contiguous(tn_tensor *x);
TN_API tn_tensor *tn_contiguous_format(tn_tensor *x, tn_memory_format format);
TN_API bool tn_is_contiguous_in(const tn_tensor *x, tn_memory_format format);

/* Other handles on x's memory.
 * tn_alias        a view with x's geometry
 * tn_detach       shares memory and version counter, has no history and is no view. tn_detach_ takes x's own history
 *                 off
 * tn_tensor_data  shares the memory, counts versions on its own from 0 ("Tensor.data")
 * errors  common; tn_detach_: TN_ERROR_INPLACE_VIEW (x is a view)
 * cost    O(ndim)
 * source  torch.Tensor.detach, torch.Tensor.data */
TN_API tn_tensor *tn_alias(tn_tensor *x);
TN_API tn_tensor *tn_detach(tn_tensor *x);
TN_API tn_status tn_detach_(tn_tensor *x);
TN_API tn_tensor *tn_tensor_data(tn_tensor *x);

/* Geometry in place: x gets the geometry of the view of that name, over the same memory. Each counts one version.
 * Other views of the memory stay as they are; tn_sizes and tn_strides are to be asked anew.
 * errors  those of the view
 * cost    O(ndim)
 * source  torch.Tensor's methods of these names */
TN_API tn_status tn_transpose_(tn_tensor *x, int dim0, int dim1);
TN_API tn_status tn_swapaxes_(tn_tensor *x, int dim0, int dim1);
TN_API tn_status tn_swapdims_(tn_tensor *x, int dim0, int dim1);
TN_API tn_status tn_t_(tn_tensor *x);
TN_API tn_status tn_unsqueeze_(tn_tensor *x, int dim);
TN_API tn_status tn_squeeze_(tn_tensor *x);
TN_API tn_status tn_squeeze_dim_(tn_tensor *x, int dim);
TN_API tn_status tn_squeeze_dims_(tn_tensor *x, const int64_t *dims, int n);
TN_API tn_status tn_as_strided_(tn_tensor *x, const int64_t *size, const int64_t *stride, int ndim, int64_t offset);

/* Tensors that change what they read. Each counts one version of self, but tn_set_data none, and tn_resize_ and its
 * kin none of the sizes that self has already.
 * tn_resize_         row-major strides of these sizes from self's offset; the storage grows if it is too small (what is
 *                    new is undefined) and never shrinks. Of the sizes that self has already nothing changes
 * tn_resize_format_  the same in a memory format, whose strides self gets in any case
 * tn_resize_as_      to the sizes of `other`
 * tn_set_            self reads other's memory with other's geometry
 * tn_set_empty_      self lets its memory go: size [0] over a storage of its own without bytes (set_ without arguments)
 * tn_set_strided_    self reads the second tensor's storage with these sizes, strides and offset; the storage grows if
 *                    it is too small; tn_set_storage_ (tenon/storage.h) the same of a storage
 * tn_set_data        as tn_set_, and the dtype may change ("x.data = y"). self's version counter stays
 * errors  common; TN_ERROR_DTYPE (tn_set_: another dtype), TN_ERROR_ARGUMENT (a size, stride or offset below 0),
 *         TN_ERROR_DIM, TN_ERROR_OVERFLOW, TN_ERROR_FORMAT, TN_ERROR_STATE (a storage that can't grow: it came from
 *         outside, or its address is given away), TN_ERROR_MEMORY
 * cost    O(ndim), and what the growth takes
 * source  torch.Tensor.resize_, resize_as_, set_, data */
TN_API tn_status tn_resize_(tn_tensor *self, const int64_t *size, int ndim);
TN_API tn_status tn_resize_format_(tn_tensor *self, const int64_t *size, int ndim, tn_memory_format format);
TN_API tn_status tn_resize_as_(tn_tensor *self, tn_tensor *other);
TN_API tn_status tn_set_(tn_tensor *self, tn_tensor *other);
TN_API tn_status tn_set_empty_(tn_tensor *self);
TN_API tn_status tn_set_strided_(tn_tensor *self, tn_tensor *source, int64_t offset, const int64_t *size,
                                 const int64_t *stride, int ndim);
TN_API tn_status tn_set_data(tn_tensor *self, tn_tensor *other);

/* Indexing: x[index[0], ..., index[n-1]], and writing there.
 * index   integers, slices, ellipses and new axes give one view, without steps in between. Entries with tensors,
 *         masks, bools and lists of integers copy; a 0-dim integer tensor counts as an integer
 * value   broadcast to the place, converted to x's dtype; leading dims of size 1 that the place lacks are dropped. A
 *         number goes everywhere, even where elements share memory
 * errors  common; TN_ERROR_INDEX (a position outside its dim, too many entries),
 *         TN_ERROR_ARGUMENT (a step below 1), TN_ERROR_DIM (over 64 dims), TN_ERROR_DTYPE (indices that are no
 *         integers), TN_ERROR_SHAPE (indices or a value that do not broadcast, a mask of another shape),
 *         TN_ERROR_OVERFLOW (a number that the dtype does not hold), TN_ERROR_OVERLAP (an index or the value shares
 *         memory with x), TN_ERROR_NULL (an entry's tensor: the message has its place), TN_ERROR_DEVICE (a mask on
 *         meta: its count is data); writes also TN_ERROR_STATE (read-only memory, a zero tensor)
 * grad    x and value
 * cost    O(ndim + n) for a view; O(elements) for copies and writes
 * source  torch.Tensor.__getitem__ and __setitem__ */
TN_API tn_tensor *tn_getitem(tn_tensor *x, const tn_index *index, int n);
TN_API tn_status tn_setitem(tn_tensor *x, const tn_index *index, int n, tn_tensor *value);
TN_API tn_status tn_setitem_scalar(tn_tensor *x, const tn_index *index, int n, tn_scalar value);

/* The operators behind an index by tensors: one index tensor a dim of self, NULL for the whole dim.
 *     tn_index_get    y = self[indices]
 *     tn_index_put    self[indices] = values in a copy, or with `accumulate` self[indices] += values
 * indices     n of them: int64 or int32, in -size .. size-1, which broadcast to one shape B; or masks (bool, uint8) of
 *             the sizes of the dims that they take. B takes the place of the indexed dims if they are neighbours, else
 *             it comes first
 * values      self's dtype, broadcast to the shape of tn_index_get; shares no memory with self in place
 * accumulate  positions that come again add up, in the order of B; otherwise the last one stays
 * dtype       all numbers; written, all but uint16 to uint64 and float8_e8m0fnu
 * errors  common; TN_ERROR_INDEX (a position outside its dim: the message names it, its place, dim and size; too many
 *         indices), TN_ERROR_DTYPE (another dtype of an index, or of values), TN_ERROR_SHAPE, TN_ERROR_ARGUMENT (no
 *         index at all), TN_ERROR_DIM (over 64 dims, a mask without dims), TN_ERROR_OVERLAP, TN_ERROR_STATE (read-only
 *         memory), TN_ERROR_DEVICE (a mask on meta)
 * grad    self and values: the gradient of tn_index_get is tn_index_put of it into zeros, accumulated; those of
 *         tn_index_put are the gradient with zeros at the positions (without accumulate), and tn_index_get of it
 * cost    O(elements of the result); tn_index_put also a copy of self
 * source  aten::index, aten::index_put_ */
TN_API tn_tensor *tn_index_get(tn_tensor *self, tn_tensor *const *indices, int n);
TN_API tn_tensor *tn_index_put(tn_tensor *self, tn_tensor *const *indices, int n, tn_tensor *values, bool accumulate);
TN_API tn_status tn_index_put_(tn_tensor *self, tn_tensor *const *indices, int n, tn_tensor *values, bool accumulate);

TN_END

#endif
