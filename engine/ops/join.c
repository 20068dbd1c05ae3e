/* cat and stack: tensors side by side in a new one. Rules and layout of torch.cat and torch.stack. */
#include <string.h>
#include <tenon/ops.h>
#include <tenon/views.h>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "core/convert.h"
#include "core/format.h"
#include "core/geometry.h"
#include "dispatch/op.h"
#include "ops/copy.h"
#include "ops/operators.h"
#include "ops/tape.h"

typedef struct join_attr {
    int64_t dim;
} join_attr;

static tn_status common_dtype(const tni_call *call, tn_dtype *dtype)
{
    const char *name = tni_call_name(call);
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    if (call->n_listed < 1)
        return TNI_FAIL(TN_ERROR_ARGUMENT, name, "%d tensors, needed at least one", call->n_listed);
    for (int i = 0; i < call->n_listed && fits; i++)
        fits = tni_result_type_tensor(&state, (tn_dtype)call->in[i]->dtype, call->in[i]->ndim);
    *dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (*dtype == TN_DTYPE_NONE)
        return TNI_FAIL(TN_ERROR_DTYPE, name, "the tensors have no common dtype");
    for (int i = 0; i < call->n_listed; i++)
        if (!tni_converter_of((tn_dtype)call->in[i]->dtype, *dtype))
            return TNI_FAIL(TN_ERROR_NOT_IMPLEMENTED, name, "no conversion from %s to %s",
                            tn_dtype_name((tn_dtype)call->in[i]->dtype), tn_dtype_name(*dtype));
    return TN_OK;
}

/* What torch.cat leaves out whatever the other shapes are. */
static bool is_nothing(int ndim, const int64_t *sizes)
{
    return ndim == 1 && sizes[0] == 0;
}

/* The sizes of a cat's result; *first is the tensor that gave them. */
static tn_status joined_sizes(const tni_call *call, int *dim, int64_t *sizes, const tn_tensor **first)
{
    char have[120], need[120];
    *first = call->in[0];
    for (int i = 0; i < call->n_listed; i++) {
        if (call->in[i]->ndim == 0)
            return TNI_FAIL(TN_ERROR_SHAPE, "cat", "tensor %d has no dims, needed at least one", i);
        if (is_nothing((*first)->ndim, (*first)->sizes))
            *first = call->in[i];
    }
    *dim = tni_wrap_dim("cat", ((const join_attr *)call->attr)->dim, (*first)->ndim);
    if (*dim < 0)
        return tni_pending();
    memcpy(sizes, (*first)->sizes, (size_t)(*first)->ndim * sizeof *sizes);
    sizes[*dim] = 0;
    for (int i = 0; i < call->n_listed; i++) {
        const tn_tensor *x = call->in[i];
        if (is_nothing(x->ndim, x->sizes))
            continue;
        bool same = x->ndim == (*first)->ndim;
        for (int d = 0; d < x->ndim && same; d++)
            same = d == *dim || x->sizes[d] == sizes[d];
        if (!same) {
            tni_text_shape(have, sizeof have, x->sizes, x->ndim);
            tni_text_shape(need, sizeof need, (*first)->sizes, (*first)->ndim);
            return TNI_FAIL(TN_ERROR_SHAPE, "cat", "tensor %d is %s, another %s: needed the same but in dim %d", i,
                            have, need, *dim);
        }
        if (!tni_add_i64(sizes[*dim], x->sizes[*dim], &sizes[*dim]))
            return TNI_FAIL(TN_ERROR_OVERFLOW, "cat", "dim %d gets more elements than 64 bits count", *dim);
    }
    return TN_OK;
}

/* The format that x asks for, with one more dim of size 1 at its end if that is what is joined. */
static tn_memory_format format_of(const tn_tensor *x, bool longer)
{
    int64_t sizes[TN_MAX_NDIM], strides[TN_MAX_NDIM];
    if (!longer || x->ndim > 4)
        return longer ? TN_CONTIGUOUS_FORMAT : tni_suggested_format(x);
    for (int d = 0; d <= x->ndim; d++) {
        sizes[d] = d < x->ndim ? x->sizes[d] : 1;
        strides[d] = d < x->ndim ? x->strides[d] : 1;
    }
    const tn_tensor wider = {.sizes = sizes, .strides = strides, .ndim = (int8_t)(x->ndim + 1)};
    return tni_suggested_format(&wider);
}

/* The format that all of them ask for; row-major where they differ. */
static tn_memory_format common_format(const tni_call *call, bool longer)
{
    tn_memory_format format = format_of(call->in[0], longer);
    for (int i = 1; i < call->n_listed && format != TN_CONTIGUOUS_FORMAT; i++)
        if (format_of(call->in[i], longer) != format)
            format = TN_CONTIGUOUS_FORMAT;
    return format;
}

/* The result of sizes that stand in meta->room. */
static tn_status joined(const tni_call *call, tni_meta *meta, int ndim, tn_dtype dtype, tn_memory_format format)
{
    if (tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)call->in[0]->device))
        return tni_pending();
    if (format != TN_CONTIGUOUS_FORMAT) {
        tni_format_strides(format, meta->room, ndim, meta->room + TN_MAX_NDIM);
        meta->record.contiguous = false;
    }
    return TN_OK;
}

static tn_status cat_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *first;
    tn_dtype dtype;
    int dim;
    if (common_dtype(call, &dtype) || joined_sizes(call, &dim, meta->room, &first))
        return tni_pending();
    return joined(call, meta, first->ndim, dtype, common_format(call, false));
}

/* As in PyTorch a stack along an existing dim is cat along it, cut in two, one along a new last dim cat of tensors
 * with that dim: so it may be laid out as channels last. */
static tn_status stack_strides(const tni_call *call, tni_meta *meta, int at)
{
    const tn_tensor *x = call->in[0];
    tn_memory_format format = common_format(call, false);
    int64_t sizes[TN_MAX_NDIM], strides[TN_MAX_NDIM];
    int gap;
    if (x->numel == 0 || format == TN_CONTIGUOUS_FORMAT)
        return TN_OK;
    memcpy(sizes, x->sizes, (size_t)x->ndim * sizeof *sizes);
    sizes[at] *= call->n_listed;
    tni_format_strides(format, sizes, x->ndim, strides);
    tni_view_strides(sizes, strides, x->ndim, meta->room, x->ndim + 1, meta->room + TN_MAX_NDIM, &gap);
    meta->record.contiguous = false;
    return TN_OK;
}

static tn_status stack_infer(tni_call *call, tni_meta *meta)
{
    tn_dtype dtype;
    if (common_dtype(call, &dtype))
        return tni_pending();
    const tn_tensor *x = call->in[0];
    for (int i = 1; i < call->n_listed; i++) {
        const tn_tensor *other = call->in[i];
        if (tni_same_dims(other->sizes, other->ndim, x->sizes, x->ndim))
            continue;
        char have[120], need[120];
        tni_text_shape(have, sizeof have, other->sizes, other->ndim);
        tni_text_shape(need, sizeof need, x->sizes, x->ndim);
        return TNI_FAIL(TN_ERROR_SHAPE, "stack", "tensor %d is %s, the first %s: needed the same", i, have, need);
    }
    if (x->ndim == TN_MAX_NDIM)
        return TNI_FAIL(TN_ERROR_DIM, "stack", "tensors of %d dims, needed fewer", x->ndim);
    int at = tni_wrap_new_dim("stack", ((const join_attr *)call->attr)->dim, x->ndim);
    if (at < 0)
        return tni_pending();
    for (int d = 0; d <= x->ndim; d++)
        meta->room[d] = d < at ? x->sizes[d] : d == at ? call->n_listed : x->sizes[d - 1];
    if (joined(call, meta, x->ndim + 1, dtype, at == x->ndim ? common_format(call, true) : TN_CONTIGUOUS_FORMAT))
        return tni_pending();
    return at < x->ndim ? stack_strides(call, meta, at) : TN_OK;
}

/* Copies every tensor into its part of the result. */
static void join_run(const tni_call *call, void *workspace)
{
    const tn_tensor *out = call->out[0];
    const bool stacks = call->op == &tni_op_stack;
    const int64_t asked = ((const join_attr *)call->attr)->dim;
    const int dim = (int)(asked < 0 ? asked + out->ndim : asked);
    const int64_t step = out->strides[dim] * tni_itemsize((tn_dtype)out->dtype);
    int64_t strides[TN_MAX_NDIM], at = 0;
    (void)workspace;
    for (int d = 0, to = 0; d < out->ndim; d++)
        if (!stacks || d != dim)
            strides[to++] = out->strides[d];
    for (int i = 0; i < call->n_listed; i++) {
        const tn_tensor *x = call->in[i];
        if (!stacks && is_nothing(x->ndim, x->sizes))
            continue;
        tni_copy_elements(tni_data(out) + at * step, strides, (tn_dtype)out->dtype, x);
        at += stacks ? 1 : x->sizes[dim];
    }
}

static void cat_vjp(tni_vjp *v)
{
    const int64_t dim = ((const join_attr *)v->attr)->dim, *shape = tni_listed_shapes(v);
    int64_t at = 0;
    for (uint32_t i = 0; i < v->node->n_edges; i++) {
        const int ndim = (int)*shape++;
        const int64_t *sizes = shape, size = ndim > 0 ? sizes[dim < 0 ? dim + ndim : dim < ndim ? dim : 0] : 0;
        shape += ndim;
        if (!is_nothing(ndim, sizes)) {
            if (tni_needs(v, (int)i))
                v->grads[i] = tn_narrow(v->grad, (int)dim, at, size);
            at += size;
        } else if (tni_needs(v, (int)i)) {
            v->grads[i] = tn_new_zeros(v->grad, sizes, ndim);
        }
    }
}

static void stack_vjp(tni_vjp *v)
{
    for (uint32_t i = 0; i < v->node->n_edges; i++)
        if (tni_needs(v, (int)i))
            v->grads[i] = tn_select(v->grad, (int)((const join_attr *)v->attr)->dim, i);
}

static const tni_derivative cat_derivative = {.linear = true, .geometry = true, .vjp = cat_vjp};
static const tni_derivative stack_derivative = {.linear = true, .vjp = stack_vjp};

static const join_attr first_dim = {0};

#define JOIN                                                                                                        \
    .params = {TNI_ATTR("tensors", 'G', join_attr, dim), TNI_OPTIONAL("dim", 'I', join_attr, dim)}, .n_params = 2,  \
    .n_out = 1, .takes_list = true, .attr_bytes = sizeof(join_attr), .attr_default = &first_dim, .run = join_run

const tni_op tni_op_cat = {
    .name = TNI_NAMES_NEW(cat), JOIN, .infer = cat_infer, .derivative = &cat_derivative,
    .samples = "@[2,3];[4,3] | @[2,3];[2,1];[2,2] -1 | @[0];[2,2] 1 | @[5] | @[0] | "
        "! @[2,3];[2,2] | ! @[] | ! @[2] 1 | ! @[2];_"};

const tni_op tni_op_stack = {
    .name = TNI_NAMES_NEW(stack), JOIN, .infer = stack_infer, .derivative = &stack_derivative,
    .samples = "@[2,3];[2,3] | @[2,3];[2,3];[2,3] -1 | @[2,3];[2,3] 1 | @[];[] | @[0] 1 | "
        "! @[2,3];[2,2] | ! @[2] 2 | ! @[2];_"};

static tn_tensor *join(const tni_op *op, tn_tensor *const *tensors, int n, int dim)
{
    const join_attr attr = {dim};
    if (n > 0 && !tensors && !tni_pending())
        TNI_FAIL_NULL(op->name[TNI_NEW], 1, "tensors");
    return tni_call_list(op, tensors, n, &attr);
}

tn_tensor *tn_cat(tn_tensor *const *tensors, int n, int dim)
{
    return join(&tni_op_cat, tensors, n, dim);
}

tn_tensor *tn_stack(tn_tensor *const *tensors, int n, int dim)
{
    return join(&tni_op_stack, tensors, n, dim);
}
