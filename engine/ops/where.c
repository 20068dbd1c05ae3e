/* where and masked_fill: one of two elements by a mask. Rules of torch.where and Tensor.masked_fill. */
#include <string.h>
#include <tenon/ops.h>

#include "autograd/node.h"
#include "base/error.h"
#include "base/text.h"
#include "core/geometry.h"
#include "core/iterator.h"
#include "ops/create.h"
#include "ops/derive.h"
#include "ops/dtype_sets.h"
#include "ops/operators.h"
#include "ops/pointwise.h"

typedef struct choice {
    int64_t itemsize;
} choice;

/* Row: result, mask, what stands where it is true, and where it is false. Bits are moved, whatever they mean. */
#define CHOOSE(T)                                                                              \
    do {                                                                                       \
        for (int64_t i = 0; i < row->n; i++) {                                                 \
            const char *from = row->data[1][i * row->strides[1]] ? row->data[2] + i * row->strides[2] \
                                                                 : row->data[3] + i * row->strides[3]; \
            memcpy(row->data[0] + i * row->strides[0], from, sizeof(T));                       \
        }                                                                                      \
    } while (0)

static void choose_row(const tni_row *row)
{
    switch (((const choice *)row->context)->itemsize) {
    case 1:
        CHOOSE(uint8_t);
        break;
    case 2:
        CHOOSE(uint16_t);
        break;
    case 4:
        CHOOSE(uint32_t);
        break;
    case 8:
        CHOOSE(uint64_t);
        break;
    default:
        CHOOSE(uint64_t[2]);
    }
}

/* Broadcasts the three shapes into meta->room. */
static int broadcast_all(const tni_call *call, tni_meta *meta, const int *order)
{
    int64_t sizes[TN_MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < 3; i++) {
        const tn_tensor *x = call->in[order[i]];
        if (!x)
            continue;
        memcpy(sizes, meta->room, (size_t)ndim * sizeof *sizes);
        ndim = tni_broadcast(tni_call_name(call), sizes, ndim, x->sizes, x->ndim, meta->room);
        if (ndim < 0)
            return -1;
    }
    return ndim;
}

/* The order of dims that the operands prefer, the first before the others. */
static void set_layout(const tni_call *call, tni_meta *meta)
{
    tni_record *record = &meta->record;
    int64_t strides[3][TN_MAX_NDIM];
    const int64_t *operands[3];
    int perm[TN_MAX_NDIM], n = 0;
    bool plain = true;
    for (int i = 0; i < 3; i++) {
        const tn_tensor *x = call->in[i];
        if (!x)
            continue;
        plain = plain && tni_contiguous(x) && tni_same_dims(x->sizes, x->ndim, record->sizes, record->ndim);
        tni_broadcast_strides(x->sizes, x->strides, x->ndim, record->sizes, record->ndim, strides[n]);
        operands[n] = strides[n];
        n++;
    }
    if (plain)
        return;
    tni_dim_order(record->sizes, record->ndim, operands, n, perm);
    tni_strides_in_order(record->sizes, record->ndim, perm, meta->room + TN_MAX_NDIM);
    record->contiguous = false;
}

tn_status tni_three_shape(const tni_call *call, tni_meta *meta, tn_dtype dtype)
{
    static const int order[] = {0, 1, 2};
    int ndim = broadcast_all(call, meta, order);
    if (ndim < 0 || tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)call->in[0]->device))
        return tni_pending();
    set_layout(call, meta);
    return TN_OK;
}

static tn_status fail_mask(const tni_call *call, const tn_tensor *mask)
{
    return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the mask is %s, needed bool",
                    tn_dtype_name((tn_dtype)mask->dtype));
}

static tn_status where_infer(tni_call *call, tni_meta *meta)
{
    const tn_tensor *mask = call->in[0];
    const tni_binary_attr *attr = call->attr;
    tni_result_type state = TNI_RESULT_TYPE_NONE;
    bool fits = true;
    if ((tn_dtype)mask->dtype != TN_BOOL && (tn_dtype)mask->dtype != TN_UINT8)
        return fail_mask(call, mask);
    for (int i = 1; i < 3 && fits; i++) {
        const tn_tensor *x = call->in[i];
        fits = x ? tni_result_type_tensor(&state, (tn_dtype)x->dtype, x->ndim)
                 : tni_result_type_scalar(&state, attr->number[i - 1]);
    }
    tn_dtype dtype = fits ? tni_result_type_of(&state) : TN_DTYPE_NONE;
    if (dtype == TN_DTYPE_NONE)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the two have no common dtype; convert one with tn_to");
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    for (int i = 1; i < 3; i++)
        if (!call->in[i] && tni_is_integral(dtype) && tni_check_value(tni_call_name(call), attr->number[i - 1], dtype))
            return tni_pending();
    call->compute = dtype;
    return tni_three_shape(call, meta, dtype);
}

/* An operand of the choice: a tensor, or a number that `element` has room for. */
static void add_choice(tni_iter *it, const tn_tensor *x, tn_scalar number, tn_dtype dtype, char *element)
{
    static const int64_t none = 0;
    if (x) {
        tni_iter_tensor(it, x, dtype);
        return;
    }
    tni_scalar_to(number, dtype, element);
    tni_iter_operand(it, element, &none, &none, 0, dtype, dtype);
}

static void run_choice(const tn_tensor *out, tn_dtype dtype, const tn_tensor *mask, const tn_tensor *const *chosen,
                       const tn_scalar *numbers)
{
    _Alignas(16) char element[2][16];
    const choice context = {tni_itemsize(dtype)};
    tni_iter it;
    tni_iter_begin(&it, out->sizes, out->ndim);
    tni_iter_tensor(&it, out, dtype);
    tni_iter_tensor(&it, mask, TN_BOOL);
    for (int i = 0; i < 2; i++)
        add_choice(&it, chosen[i], numbers[i], dtype, element[i]);
    tni_iter_run(&it, choose_row, &context);
}

static void where_run(const tni_call *call, void *workspace)
{
    const tn_tensor *const chosen[2] = {call->in[1], call->in[2]};
    (void)workspace;
    run_choice(call->out[0], call->compute, call->in[0], chosen, ((const tni_binary_attr *)call->attr)->number);
}

/* masked_fill(self, mask, value): self's dtype, contiguous. */
static tn_status masked_fill_infer(tni_call *call, tni_meta *meta)
{
    static const int order[] = {0, 1, 2};
    const tn_tensor *self = call->in[0], *mask = call->in[1], *value = call->in[2];
    tn_dtype dtype = (tn_dtype)self->dtype;
    if ((tn_dtype)mask->dtype != TN_BOOL)
        return fail_mask(call, mask);
    if (!(call->op->dtypes & TNI_DTYPE_BIT(dtype)))
        return tni_fail_no_kernel(call, dtype);
    if (!value && tni_check_value(tni_call_name(call), ((const tni_binary_attr *)call->attr)->number[0], dtype))
        return tni_pending();
    if (value && value->ndim > 0)
        return TNI_FAIL(TN_ERROR_SHAPE, tni_call_name(call), "the value has %d dims, needed none", value->ndim);
    if (value && tni_dtype_kind((tn_dtype)value->dtype) == TNI_COMPLEX && tni_dtype_kind(dtype) != TNI_COMPLEX)
        return TNI_FAIL(TN_ERROR_DTYPE, tni_call_name(call), "the value is complex and the tensor %s",
                        tn_dtype_name(dtype));
    if (value && !tni_converter_of((tn_dtype)value->dtype, dtype))
        return tni_fail_no_kernel(call, (tn_dtype)value->dtype);
    int ndim = broadcast_all(call, meta, order);
    if (ndim < 0)
        return tni_pending();
    return tni_meta_contiguous(call, meta, ndim, dtype, (tn_device_type)self->device);
}

static void masked_fill_run(const tni_call *call, void *workspace)
{
    const tn_tensor *self = call->in[0];
    const tn_tensor *const chosen[2] = {call->in[2], self};
    const tn_scalar numbers[2] = {((const tni_binary_attr *)call->attr)->number[0], tn_int(0)};
    (void)workspace;
    run_choice(call->out[0], (tn_dtype)self->dtype, call->in[1], chosen, numbers);
}

static tn_tensor *where(tn_tensor *mask, tn_tensor *a, tn_tensor *b, uint32_t numbers, tn_scalar first,
                        tn_scalar second)
{
    tn_tensor *in[3] = {mask, a, b};
    const tni_binary_attr attr = {numbers, {first, second}, tni_binary_default.alpha};
    return tni_call_new(&tni_op_where, in, &attr);
}

/* 0, not the gradient times 0, where the other was chosen: infinite gradients stay where they belong. */
static void where_vjp(tni_vjp *v)
{
    tn_tensor *mask = tni_saved_input(v, 0);
    if (tni_needs(v, 1))
        v->grads[1] = where(mask, v->grad, NULL, 4, tn_int(0), tn_int(0));
    if (tni_needs(v, 2))
        v->grads[2] = where(mask, NULL, v->grad, 2, tn_int(0), tn_int(0));
}

static void masked_fill_vjp(tni_vjp *v)
{
    tn_tensor *mask = tni_saved_input(v, 1);
    if (tni_needs(v, 0))
        v->grads[0] = tn_masked_fill(v->grad, mask, tn_int(0));
    if (tni_needs(v, 2))
        v->grads[2] = where(mask, v->grad, NULL, 4, tn_int(0), tn_int(0));
}

static const char *masked_fill_named(const tni_node *node)
{
    return ((const tni_binary_attr *)node->attr)->numbers & 4 ? "MaskedFillBackward0" : "MaskedFillBackward1";
}

static const tni_derivative where_derivative = {
    .saves = {0, TNI_SAVE(0), TNI_SAVE(0)}, .vjp = where_vjp};
static const tni_derivative masked_fill_derivative = {
    .saves = {TNI_SAVE(1), 0, TNI_SAVE(1)}, .vjp = masked_fill_vjp, .named = masked_fill_named};

const tni_op tni_op_where = {
    .name = TNI_NAMES_NEW(where),
    .params = {TNI_TENSOR("condition", 0), TNI_OPERAND("self", 1, tni_binary_attr, number[0]),
               TNI_OPERAND("other", 2, tni_binary_attr, number[1])},
    .n_params = 3, .n_in = 3, .n_out = 1, .number_in = 6, .dtypes = TNI_ALL_NUMBERS,
    .attr_bytes = sizeof(tni_binary_attr), .attr_default = &tni_binary_default, .derivative = &where_derivative,
    .infer = where_infer, .run = where_run,
    .samples = "[3,4] [3,4] [3,4] | [3,4] [4] [3,1] | [3,4] 1 2 | [3,4] [3,4] 2 | [] [] [] | [0,4] [4] 1 | "
        "! [3] [4] [4]"};

const tni_op tni_op_masked_fill = {
    .name = {"masked_fill", "masked_fill_", NULL},
    .params = {TNI_TENSOR("self", 0), TNI_TENSOR("mask", 1), TNI_OPERAND("value", 2, tni_binary_attr, number[0])},
    .n_params = 3, .n_in = 3, .n_out = 1, .number_in = 4, .overlap_allowed = true,
    .dtypes = TNI_REALS | TNI_BOOLS | TNI_COMPLEXES | TNI_COMPLEX_HALF, .attr_bytes = sizeof(tni_binary_attr),
    .attr_default = &tni_binary_default, .derivative = &masked_fill_derivative,
    .infer = masked_fill_infer, .run = masked_fill_run,
    .samples = "[3,4] [3,4] 1 | [3,4] [4] 1 | [3,4] [3,1] [] | [] [] 1 | [0,4] [4] 1 | ! [3] [4] 1 | ! [3] [3] [3]"};

tn_tensor *tn_where(tn_tensor *condition, tn_tensor *self, tn_tensor *other)
{
    return where(condition, self, other, 0, tn_int(0), tn_int(0));
}

tn_tensor *tn_where_scalar(tn_tensor *condition, tn_tensor *self, tn_scalar other)
{
    return where(condition, self, NULL, 4, tn_int(0), other);
}

tn_tensor *tn_where_scalars(tn_tensor *condition, tn_scalar self, tn_scalar other)
{
    return where(condition, NULL, NULL, 6, self, other);
}

tn_tensor *tn_masked_fill(tn_tensor *self, tn_tensor *mask, tn_scalar value)
{
    tn_tensor *in[3] = {self, mask, NULL};
    const tni_binary_attr attr = {4, {value, value}, tni_binary_default.alpha};
    return tni_call_new(&tni_op_masked_fill, in, &attr);
}

tn_status tn_masked_fill_(tn_tensor *self, tn_tensor *mask, tn_scalar value)
{
    tn_tensor *in[3] = {self, mask, NULL};
    const tni_binary_attr attr = {4, {value, value}, tni_binary_default.alpha};
    return tni_call_in_place(&tni_op_masked_fill, in, &attr);
}
