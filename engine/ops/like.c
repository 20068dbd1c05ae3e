/* Tensors made like another one: of its shape (empty_like, zeros_like, ones_like, full_like), or of its dtype and
 * device (new_zeros, new_ones, new_full); and zeros in a memory format. Rules of torch's functions of these names. */
#include <tenon/ops.h>

#include "autograd/derivative.h"
#include "base/error.h"
#include "core/format.h"
#include "core/geometry.h"
#include "ops/create.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"

enum { EMPTY = -1, ZEROS = 0, ONES = 1, FULL };

typedef struct like_attr {
    tn_scalar value;
    tn_dtype dtype;
    tn_memory_format format;
} like_attr;

typedef struct new_attr {
    tni_ints size;
    tn_scalar value;
    tn_dtype dtype;
    tn_memory_format format;
} new_attr;

/* What the elements are. */
static tn_scalar value_of(const tni_call *call, tn_scalar given)
{
    return call->op->family == FULL ? given : tn_int(call->op->family);
}

/* The strides of a result whose sizes are `sizes`, in a format that is not preserve. */
static tn_status in_format(const tni_call *call, tni_meta *meta, tn_memory_format format, const int64_t *sizes,
                           int ndim)
{
    if ((unsigned)format > TN_PRESERVE_FORMAT)
        return TNI_FAIL(TN_ERROR_ARGUMENT, tni_call_name(call), "memory format %d, needed one of tn_memory_format",
                        (int)format);
    if (format == TN_PRESERVE_FORMAT)
        return TNI_FAIL(TN_ERROR_FORMAT, tni_call_name(call),
                        "preserve names no order of dims, needed another memory format");
    if (tni_check_format(tni_call_name(call), format, sizes, ndim))
        return tni_pending();
    for (int d = 0; d < ndim; d++)
        meta->room[d] = sizes[d];
    return TN_OK;
}

static void set_format(tni_meta *meta, tn_memory_format format)
{
    tni_record *record = &meta->record;
    if (format != TN_CHANNELS_LAST && format != TN_CHANNELS_LAST_3D)
        return;
    tni_format_strides(format, meta->room, record->ndim, meta->room + TN_MAX_NDIM);
    record->contiguous = false;
}

static tn_status like_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->in[0];
    const like_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    tn_dtype dtype = attr->dtype == TN_DTYPE_NONE ? (tn_dtype)x->dtype : attr->dtype;
    if (tni_check_dtype(name, dtype))
        return tni_pending();
    if (call->op->family != EMPTY && tni_check_value(name, value_of(call, attr->value), dtype))
        return tni_pending();
    if (attr->format == TN_PRESERVE_FORMAT) {
        meta->record.dtype = (uint8_t)dtype;
        tni_meta_preserved(meta, x);
        return TN_OK;
    }
    if (in_format(call, meta, attr->format, x->sizes, x->ndim) ||
        tni_meta_contiguous(call, meta, x->ndim, dtype, (tn_device_type)x->device))
        return tni_pending();
    set_format(meta, attr->format);
    return TN_OK;
}

static void like_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    if (call->op->family != EMPTY)
        tni_fill(call->out[0], value_of(call, ((const like_attr *)call->attr)->value));
}

/* new_zeros and its kin, which have x's dtype and device; and zeros_fmt, which has no x. */
static tn_status new_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *x = call->op->n_in > 0 ? call->in[0] : NULL;
    const new_attr *attr = call->attr;
    const char *name = tni_call_name(call);
    if (tni_check_sizes(name, attr->size.data, attr->size.n))
        return tni_pending();
    tn_dtype dtype = x ? (tn_dtype)x->dtype : attr->dtype == TN_DTYPE_NONE ? tn_get_default_dtype() : attr->dtype;
    if (tni_check_dtype(name, dtype) || tni_check_value(name, value_of(call, attr->value), dtype))
        return tni_pending();
    if (in_format(call, meta, attr->format, attr->size.data, attr->size.n) ||
        tni_meta_contiguous(call, meta, attr->size.n, dtype,
                            x ? (tn_device_type)x->device : tn_get_default_device().type))
        return tni_pending();
    set_format(meta, attr->format);
    return TN_OK;
}

static void new_run(const tni_call *call, void *workspace)
{
    (void)workspace;
    tni_fill(call->out[0], value_of(call, ((const new_attr *)call->attr)->value));
}

static const like_attr like_default = {.dtype = TN_DTYPE_NONE, .format = TN_PRESERVE_FORMAT};
static const new_attr new_default = {.dtype = TN_DTYPE_NONE};

#define DTYPE_FORMAT \
    TNI_OPTIONAL("dtype", 'D', like_attr, dtype), TNI_OPTIONAL("memory_format", 'M', like_attr, format)
#define LIKE(row)                                                                                             \
    .n_in = 1, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(like_attr),                        \
    .attr_default = &like_default, .infer = like_infer, .derivative = &tni_constant, .run = like_run, .family = row
#define LIKE_SAMPLES "[3,4] | [] | [0,3] | [2,3,4] float64 | [2,3,4,5] none 1 | [2,3,4,5] none 0 | ! [3,4] none 1 | " \
    "! [3,4] none 9"

const tni_op tni_op_empty_like = {
    .name = TNI_NAMES_NEW(empty_like), .params = {TNI_TENSOR("self", 0), DTYPE_FORMAT}, .n_params = 3, LIKE(EMPTY),
    .samples = LIKE_SAMPLES};

const tni_op tni_op_zeros_like = {
    .name = TNI_NAMES_NEW(zeros_like), .params = {TNI_TENSOR("self", 0), DTYPE_FORMAT}, .n_params = 3, LIKE(ZEROS),
    .samples = LIKE_SAMPLES};

const tni_op tni_op_ones_like = {
    .name = TNI_NAMES_NEW(ones_like), .params = {TNI_TENSOR("self", 0), DTYPE_FORMAT}, .n_params = 3, LIKE(ONES),
    .samples = LIKE_SAMPLES};

const tni_op tni_op_full_like = {
    .name = TNI_NAMES_NEW(full_like),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("fill_value", 'S', like_attr, value), DTYPE_FORMAT}, .n_params = 4,
    LIKE(FULL), .samples = "[3,4] 2.7 | [] 1 | [0,3] 1 | [2,3,4] 3 float64 | [2,3,4,5] 1 none 1 | ! [3] inf int64"};

#define NEW(row)                                                                                               \
    .n_in = 1, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(new_attr),                          \
    .attr_default = &new_default, .infer = new_infer, .derivative = &tni_constant, .run = new_run, .family = row
#define NEW_SAMPLES "[3,4] (2,3) | [] () | [2] (0,3) | ! [2] (-1)"

const tni_op tni_op_new_zeros = {
    .name = TNI_NAMES_NEW(new_zeros), .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', new_attr, size)},
    .n_params = 2, NEW(ZEROS), .samples = NEW_SAMPLES};

const tni_op tni_op_new_ones = {
    .name = TNI_NAMES_NEW(new_ones), .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', new_attr, size)},
    .n_params = 2, NEW(ONES), .samples = NEW_SAMPLES};

const tni_op tni_op_new_full = {
    .name = TNI_NAMES_NEW(new_full),
    .params = {TNI_TENSOR("self", 0), TNI_ATTR("size", 'L', new_attr, size),
               TNI_ATTR("fill_value", 'S', new_attr, value)},
    .n_params = 3, NEW(FULL), .samples = "[3,4] (2,3) 2.5 | [] () 1 | [2] (0,3) true | ! [2] (-1) 0"};

const tni_op tni_op_zeros_fmt = {
    .name = TNI_NAMES_NEW(zeros_fmt),
    .params = {TNI_ATTR("size", 'L', new_attr, size), TNI_ATTR("memory_format", 'M', new_attr, format),
               TNI_OPTIONAL("dtype", 'D', new_attr, dtype)},
    .n_params = 3, .n_out = 1, .dtypes = TNI_ALL_NUMBERS, .attr_bytes = sizeof(new_attr),
    .attr_default = &new_default, .infer = new_infer, .derivative = &tni_constant, .run = new_run, .family = ZEROS,
    .samples = "(2,3) 0 | (2,3,4,5) 1 | (2,3,4,5,6) 2 | (1,0,2,3) 1 | ! (2,3) 1 | ! (2,3,4,5) 2 | ! (2) 9 | ! (2,2) 3"};

static tn_tensor *like(const tni_op *op, tn_tensor *x, tn_scalar value, tn_dtype dtype, tn_memory_format format)
{
    const like_attr attr = {value, dtype, format};
    return tni_call_new(op, &x, &attr);
}

tn_tensor *tn_empty_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format)
{
    return like(&tni_op_empty_like, x, tn_int(0), dtype, format);
}

tn_tensor *tn_zeros_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format)
{
    return like(&tni_op_zeros_like, x, tn_int(0), dtype, format);
}

tn_tensor *tn_ones_like(tn_tensor *x, tn_dtype dtype, tn_memory_format format)
{
    return like(&tni_op_ones_like, x, tn_int(1), dtype, format);
}

tn_tensor *tn_full_like(tn_tensor *x, tn_scalar value, tn_dtype dtype, tn_memory_format format)
{
    return like(&tni_op_full_like, x, value, dtype, format);
}

static tn_tensor *made_new(const tni_op *op, tn_tensor *x, const int64_t *size, int ndim, tn_scalar value)
{
    const new_attr attr = {{size, ndim}, value, TN_DTYPE_NONE, TN_CONTIGUOUS_FORMAT};
    return tni_call_new(op, &x, &attr);
}

tn_tensor *tn_new_zeros(tn_tensor *x, const int64_t *size, int ndim)
{
    return made_new(&tni_op_new_zeros, x, size, ndim, tn_int(0));
}

tn_tensor *tn_new_ones(tn_tensor *x, const int64_t *size, int ndim)
{
    return made_new(&tni_op_new_ones, x, size, ndim, tn_int(1));
}

tn_tensor *tn_new_full(tn_tensor *x, const int64_t *size, int ndim, tn_scalar value)
{
    return made_new(&tni_op_new_full, x, size, ndim, value);
}

tn_tensor *tn_zeros_format(const int64_t *size, int ndim, tn_dtype dtype, tn_memory_format format)
{
    const new_attr attr = {{size, ndim}, tn_int(0), dtype, format};
    return tni_call_new(&tni_op_zeros_fmt, NULL, &attr);
}
