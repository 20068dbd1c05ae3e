/* Copies: clone, to, copy_. Rules of torch.clone, Tensor.to and Tensor.copy_; layouts are kept unless a memory format
 * is given. */
#include "ops/copy.h"

#include <string.h>
#include <tenon/ops.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/text.h"
#include "core/format.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "cpu/stream.h"
#include "cpu/transpose.h"
#include "dispatch/op.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/tape.h"

typedef struct to_attr {
    tn_dtype dtype; /* NONE: x's */
    bool copy;
    tn_memory_format format;
} to_attr;

/* One row of a copy: the context is the conversion's table entry. */
static void copy_row(const tni_row *row)
{
    const tni_converter *convert = row->context;
    (*convert)(row->data[0], row->strides[0], row->data[1], row->strides[1], row->n);
}

static void stream_row(const tni_row *row)
{
    const tni_converter *convert = row->context;
    if (row->stream && row->strides[0] == row->strides[1])
        tni_stream_copy(row->data[0], row->data[1], (size_t)(row->n * row->strides[0]));
    else
        (*convert)(row->data[0], row->strides[0], row->data[1], row->strides[1], row->n);
}

enum { TILE = 64 }; /* elements on a side of the pieces that threads take */

typedef struct transposed {
    const tni_iter *it;
    int across; /* the dim along which the source is dense; the target is dense along dim 0 */
    bool stream;
} transposed;

/* Piece `chunk`: TILE rows of the target along `across`, at one position of the dims that are neither. */
static void transpose_piece(void *context, int64_t chunk)
{
    const transposed *t = context;
    const tni_iter *it = t->it;
    int64_t bands = (it->sizes[t->across] + TILE - 1) / TILE, first = chunk % bands * TILE;
    char *to = it->data[0] + first * it->strides[0][t->across];
    const char *from = it->data[1] + first * it->strides[1][t->across];
    int64_t rest = chunk / bands, rows = it->sizes[t->across] - first;
    for (int d = 1; d < it->ndim; d++) {
        if (d == t->across)
            continue;
        to += rest % it->sizes[d] * it->strides[0][d];
        from += rest % it->sizes[d] * it->strides[1][d];
        rest /= it->sizes[d];
    }
    tni_transpose(to, it->strides[0][t->across], from, it->strides[1][0], it->sizes[0], rows < TILE ? rows : TILE,
                  tni_itemsize(it->dtype[0]), t->stream);
}

/* The dim along which the source is dense, when the target is dense along another: then the copy is a transposition.
 * 0 otherwise. */
static int transposed_dim(const tni_iter *it)
{
    int64_t itemsize = tni_itemsize(it->dtype[0]);
    if (it->ndim < 2 || it->dtype[0] != it->dtype[1] || it->strides[0][0] != itemsize ||
        it->strides[1][0] == itemsize || it->sizes[0] < 8)
        return 0;
    for (int d = 1; d < it->ndim; d++)
        if (it->strides[1][d] == itemsize && it->sizes[d] >= 8)
            return d;
    return 0;
}

static void run_copy(tni_iter *it)
{
    if (it->numel == 0)
        return;
    tni_iter_prepare(it);
    transposed t = {.it = it, .across = transposed_dim(it)};
    if (t.across) {
        t.stream = it->numel * tni_itemsize(it->dtype[0]) >= TNI_STREAM_BYTES;
        int64_t bands = (it->sizes[t.across] + TILE - 1) / TILE;
        int64_t pieces = it->numel / (it->sizes[0] * it->sizes[t.across]) * bands;
        if (it->numel >= 2 * TNI_GRAIN)
            tni_parallel_for(pieces, transpose_piece, &t);
        else
            for (int64_t piece = 0; piece < pieces; piece++)
                transpose_piece(&t, piece);
        return;
    }
    tni_converter convert = tni_converter_of(it->dtype[1], it->dtype[0]);
    tni_iter_run(it, it->dtype[0] == it->dtype[1] ? stream_row : copy_row, &convert);
}

void tni_copy_elements(char *to, const int64_t *strides, tn_dtype dtype, const tn_tensor *x)
{
    tni_iter it;
    tni_iter_begin(&it, x->sizes, x->ndim);
    tni_iter_operand(&it, to, x->sizes, strides, x->ndim, dtype, dtype);
    tni_iter_tensor(&it, x, (tn_dtype)x->dtype);
    run_copy(&it);
}

/* A copy of the first operand: in its own order of strides (those of size-1 dims and of empty tensors are kept too),
 * or in a memory format. */
static tn_status copied_in_format(tni_call *call, tni_meta *meta, tn_dtype dtype, tn_memory_format format)
{
    const tn_tensor *x = call->in[0];
    if (format == TN_PRESERVE_FORMAT) {
        meta->record.dtype = (uint8_t)dtype;
        tni_meta_preserved(meta, x);
        return TN_OK;
    }
    if ((unsigned)format > TN_PRESERVE_FORMAT)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "memory format %d, needed one of tn_memory_format",
                        (int)format);
    if (tni_check_format(tni_call_name(call), format, x->sizes, x->ndim))
        return tni_pending();
    memcpy(meta->room, x->sizes, (size_t)x->ndim * sizeof *meta->room);
    if (tni_meta_contiguous(call, meta, x->ndim, dtype, (tn_device_type)x->device))
        return tni_pending();
    if (format != TN_CONTIGUOUS_FORMAT) {
        tni_format_strides(format, x->sizes, x->ndim, meta->room + TN_MAX_NDIM);
        meta->record.contiguous = false;
    }
    return TN_OK;
}

static tn_status clone_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    return copied_in_format(call, meta, (tn_dtype)x->dtype, ((const to_attr *)call->attr)->format);
}

static void clone_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tn_tensor *out = call->out[0];
    tni_copy_elements(tni_data(out), out->strides, (tn_dtype)out->dtype, call->in[0]);
}

static tn_status to_infer(tni_call *call, tni_meta *meta)
{
    tn_tensor *x = call->in[0];
    const to_attr *attr = call->attr;
    tn_dtype dtype = attr->dtype == TN_DTYPE_NONE ? (tn_dtype)x->dtype : attr->dtype;
    if (tni_check_dtype("to", dtype))
        return tni_pending();
    if (dtype == (tn_dtype)x->dtype && !attr->copy &&
        (attr->format == TN_PRESERVE_FORMAT || attr->format == tni_suggested_format(x))) {
        meta->same = x;
        return TN_OK;
    }
    if (!tni_converter_of((tn_dtype)x->dtype, dtype))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "to", "no conversion from %s to %s",
                        tn_dtype_name((tn_dtype)x->dtype), tn_dtype_name(dtype));
    return copied_in_format(call, meta, dtype, attr->format);
}

/* copy_(self, src): the result is self; src is broadcast to it. */
static tn_status copy_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *self = call->in[0], *src = call->in[1];
    int64_t sizes[TN_MAX_NDIM];
    int ndim = tni_broadcast("copy_", self->sizes, self->ndim, src->sizes, src->ndim, sizes);
    if (ndim < 0)
        return tni_pending();
    if (!tni_same_dims(sizes, ndim, self->sizes, self->ndim)) {
        char to[120], from[120];
        tni_text_shape(to, sizeof to, self->sizes, self->ndim);
        tni_text_shape(from, sizeof from, src->sizes, src->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, "copy_", "the source %s does not broadcast to %s, that of the tensor to write",
                        from, to);
    }
    if (src->storage == self->storage && src->offset == self->offset && src->dtype == self->dtype &&
        src->keys == self->keys && tni_same_dims(src->sizes, src->ndim, self->sizes, self->ndim) &&
        tni_same_dims(src->strides, src->ndim, self->strides, self->ndim)) {
        meta->same = call->in[0]; /* nothing to do, even where elements share memory */
        return TN_OK;
    }
    if (!tni_converter_of((tn_dtype)src->dtype, (tn_dtype)self->dtype))
        return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, "copy_", "no conversion from %s to %s",
                        tn_dtype_name((tn_dtype)src->dtype), tn_dtype_name((tn_dtype)self->dtype));
    tni_meta_like(meta, self, (tn_dtype)self->dtype);
    return TN_OK;
}

static void copy_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    const tn_tensor *to = call->out[0], *from = call->in[1];
    tni_iter it;
    tni_iter_begin(&it, to->sizes, to->ndim);
    tni_iter_tensor(&it, to, (tn_dtype)to->dtype);
    tni_iter_tensor(&it, from, (tn_dtype)from->dtype);
    run_copy(&it);
}

static void copy_vjp(tni_vjp *v)
{
    tni_vjp_none(v);
    v->grads[1] = v->grad;
}

static const tni_derivative clone_derivative = {.linear = true, .vjp = tni_vjp_pass};
static const tni_derivative to_derivative = {.name = "ToCopyBackward0", .linear = true, .vjp = tni_vjp_pass};
static const tni_derivative copy_derivative = {.name = "CopyBackwards", .linear = true, .vjp = copy_vjp};

static const to_attr to_default = {TN_DTYPE_NONE, false, TN_PRESERVE_FORMAT};

const tni_op tni_op_clone = {
    .name = TNI_NAMES_NEW(clone),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("memory_format", 'M', to_attr, format)}, .n_params = 2, .n_in = 1,
    .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(to_attr), .attr_default = &to_default,
    .infer = clone_infer, .run = clone_run, .derivative = &clone_derivative,
    .samples = "[3,4] | [] | [0,3] | [2,3,4] | [1,5] | [2,3,4,5] 1 | [2,3,4] 0 | ! [3,4] 1"};

const tni_op tni_op_to = {
    .name = TNI_NAMES_NEW(to),
    .params = {TNI_TENSOR("self", 0), TNI_OPTIONAL("dtype", 'D', to_attr, dtype),
               TNI_OPTIONAL("copy", 'B', to_attr, copy), TNI_OPTIONAL("memory_format", 'M', to_attr, format)},
    .n_params = 4, .n_in = 1, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(to_attr),
    .attr_default = &to_default, .infer = to_infer, .run = clone_run, .derivative = &to_derivative,
    .samples = "[3,4] float64 | [3,4] none true | [2,3,4,5] float32 false 1 | ! [3,4] none false 2 | [3,4] float32 | "
        "[5] int64 | [] bool | [0] float64 | [2,3,4] int64"};

const tni_op tni_op_copy = {
    .name = TNI_NAMES_IN_PLACE(copy), .params = {TNI_TENSOR("self", 0), TNI_TENSOR("src", 1)}, .n_params = 2,
    .n_in = 2, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .infer = copy_infer, .run = copy_run,
    .derivative = &copy_derivative,
    .samples = "[3,4] [3,4] | [3,4] [4] | [3,4] [] | [0,4] [4] | ! [3,4] [3] | ! [4] [3,4] | ! [1] [2]"};

tn_tensor *tn_clone(tn_tensor *x)
{
    return tni_call_new(&tni_op_clone, &x, &to_default);
}

tn_tensor *tn_clone_format(tn_tensor *x, tn_memory_format format)
{
    const to_attr attr = {TN_DTYPE_NONE, true, format};
    return tni_call_new(&tni_op_clone, &x, &attr);
}

tn_tensor *tn_to_format(tn_tensor *x, tn_dtype dtype, bool copy, tn_memory_format format)
{
    const to_attr attr = {dtype, copy, format};
    return tni_call_new(&tni_op_to, &x, &attr);
}

tn_tensor *tn_tensor_from(tn_tensor *x, tn_dtype dtype)
{
    return tn_to_format(x, dtype, true, TN_PRESERVE_FORMAT);
}

tn_tensor *tn_to(tn_tensor *x, tn_dtype dtype)
{
    const to_attr attr = {dtype, false, TN_PRESERVE_FORMAT};
    return tni_call_new(&tni_op_to, &x, &attr);
}

tn_status tn_copy_(tn_tensor *self, tn_tensor *src)
{
    tn_tensor *in[2] = {self, src};
    return tni_call_in_place(&tni_op_copy, in, NULL);
}
