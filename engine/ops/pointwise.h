/* What the pointwise families share: their kernels by CPU level, and how a call is inferred and run.
 *
 * A pointwise operator is a row of a .def list (binary.def, unary.def, compare.def): its name, its rule, and a
 * function on vectors in the kernel file of the family. The loops around that function exist once, for every dtype
 * and level (pointwise.kernel.h). */
#ifndef TNI_OPS_POINTWISE_H
#define TNI_OPS_POINTWISE_H

#include "core/iterator.h"
#include "cpu/level.h"
#include "dispatch/op.h"

/* The dtypes that loops are written for; others are converted on the way: halves and float8 compute in float32, small
 * integers and bool in int64, complex32 in complex64. The first three are compiled for each CPU level; the loops of the
 * others stand once, in pointwise_other.c. */
typedef enum tni_lane {
    TNI_LANE_F32,
    TNI_LANE_F64,
    TNI_LANE_I64,
    TNI_LANE_U64,
    TNI_LANE_C64,
    TNI_LANE_C128,
    TNI_LANES
} tni_lane;

typedef enum tni_unary {
#define TNI_UNARY(name, rule, lanes, dtypes, derivative) TNI_UNARY_##name,
#include "ops/unary.def"
#undef TNI_UNARY
    TNI_UNARY_COUNT
} tni_unary;

typedef enum tni_binary {
#define TNI_BINARY(name, lanes) TNI_BINARY_##name,
#include "ops/binary.def"
#undef TNI_BINARY
    TNI_BINARY_COUNT
} tni_binary;

typedef enum tni_compare {
#define TNI_COMPARE(name, operator, lanes, dtypes) TNI_COMPARE_##name,
#include "ops/compare.def"
#include "ops/logical.def"
#undef TNI_COMPARE
    TNI_COMPARE_COUNT
} tni_compare;

/* The kernels of one CPU level. NULL: the operator does not compute in that lane. */
typedef struct tni_pointwise {
    tni_loop unary[TNI_UNARY_COUNT][TNI_LANES];
    tni_loop binary[TNI_BINARY_COUNT][TNI_LANES];
    tni_loop compare[TNI_COMPARE_COUNT][TNI_LANES];
} tni_pointwise;

extern const tni_pointwise *const tni_pointwise_levels[TNI_CPU_LEVELS];

/* The number that scales the second operand (alpha), in the dtype of the lane. The context of binary loops. */
typedef union tni_alpha {
    float f32;
    double f64;
    int64_t i64;
    double c128[2]; /* of complex64: two floats */
} tni_alpha;

/* Attributes of operators with number operands. numbers must come first: Note [Attributes] */
typedef struct tni_binary_attr {
    uint32_t numbers; /* bit i: operand i is number[i], and the input is NULL */
    tn_scalar number[2];
    tn_scalar alpha;
} tni_binary_attr;

extern const tni_binary_attr tni_binary_default; /* alpha 1 */

/* lane + 1 of each dtype; 0: none computes in it */
extern const int8_t tni_lanes_of[TN_DTYPE_COUNT];
extern const tn_dtype tni_lane_dtypes[TNI_LANES];

/* The lane that computes in dtype; -1 when there is none. */
static inline int tni_lane_of(tn_dtype dtype)
{
    return tni_lanes_of[dtype] - 1;
}

/* The dtype that the lane is written for. */
static inline tn_dtype tni_lane_dtype(int lane)
{
    return tni_lane_dtypes[lane];
}

/* TN_ERROR_NOT_IMPLEMENTED naming operator, dtype and device. */
tn_status tni_fail_no_kernel(const tni_call *call, tn_dtype dtype);

/* Two operands: the result's shape and layout, and the dtype that they promote to (in *promoted). The caller sets
 * meta's dtype and, by tni_set_loop, the loop; call->dense is true if the operands are dense and of the promoted
 * dtype. */
tn_status tni_binary_shape(tni_call *call, tni_meta *meta, tn_dtype *promoted);

/* Three operands, of which the second and third may be numbers: the result's shape and layout. */
tn_status tni_three_shape(const tni_call *call, tni_meta *meta, tn_dtype dtype);

/* The layout of a result of one operand: as it lies when it is contiguous, channels last or dense in any order, else
 * the order of its strides without gaps. With a number beside it, always the order of its strides. As PyTorch's
 * TensorIterator; they differ in the strides of dims of size 0 and 1. */
void tni_meta_of_one(tni_meta *meta, const tn_tensor *x, tn_dtype dtype);
void tni_meta_with_number(tni_meta *meta, const tn_tensor *x, tn_dtype dtype);

/* Whether both are there, known to be contiguous, of one shape and dtype. */
static inline bool tni_same_dense(const tn_tensor *a, const tn_tensor *b)
{
    return TNI_LIKELY(a && b) && a->dtype == b->dtype && tni_known_contiguous(a) && tni_known_contiguous(b) &&
           tni_same_dims(a->sizes, a->ndim, b->sizes, b->ndim);
}

/* Refuses operands that have no conversion to the dtype of the arithmetic. */
tn_status tni_check_conversions(const tni_call *call);

/* Chooses among a loop's lanes the one that computes in dtype, or raises that there is none. */
static inline tn_status tni_set_loop(tni_call *call, const tni_loop *lanes, tn_dtype dtype)
{
    int lane = tni_lane_of(dtype);
    if (TNI_UNLIKELY(lane < 0 || !lanes[lane] || !(call->op->dtypes & TNI_DTYPE_BIT(dtype))))
        return tni_fail_no_kernel(call, dtype);
    call->loop = lanes[lane];
    call->common = dtype;
    call->compute = tni_lane_dtype(lane);
    call->dense = call->dense && call->compute == dtype;
    return TNI_LIKELY(call->dense) ? TN_OK : tni_check_conversions(call);
}

void tni_run_iterated(const tni_call *call, tn_dtype result, const void *context);

/* Runs call->loop over out and its n_in operands: inputs, or numbers in the call's attributes. call->compute is the
 * dtype of the operands in the loop, `result` that of the output in the loop. */
static inline void tni_run_pointwise(const tni_call *call, int n_in, tn_dtype result, const void *context)
{
    const tn_tensor *out = call->out[0];
    if (TNI_UNLIKELY(!call->dense || !tni_contiguous(out) || (tn_dtype)out->dtype != result ||
                     out->numel >= 2 * TNI_GRAIN)) {
        tni_run_iterated(call, result, context);
        return;
    }
    /* one dense row: what the iterator would find, without its work */
    tni_row row;
    row.n = out->numel;
    row.stream = false;
    row.context = context;
    row.data[0] = tni_data(out);
    row.strides[0] = tni_itemsize(result);
    const int64_t itemsize = tni_itemsize(call->compute);
    for (int i = 0; i < n_in; i++) {
        row.data[i + 1] = call->in[i]->storage->data + call->in[i]->offset * itemsize;
        row.strides[i + 1] = itemsize;
    }
    call->loop(&row);
}

/* The bodies of an operator's public functions. */
static inline tn_tensor *tni_with_tensor(const tni_op *op, tn_tensor *a, tn_tensor *b)
{
    tn_tensor *in[2] = {a, b};
    return tni_call_new(op, in, &tni_binary_default);
}

static inline tn_tensor *tni_with_number(const tni_op *op, tn_tensor *a, tn_scalar b)
{
    tn_tensor *in[2] = {a, NULL};
    const tni_binary_attr attr = {.numbers = 2, .number[1] = b, .alpha = tni_binary_default.alpha};
    return tni_call_new(op, in, &attr);
}

static inline tn_status tni_write_tensor(const tni_op *op, tn_tensor *self, tn_tensor *b)
{
    tn_tensor *in[2] = {self, b};
    return tni_call_in_place(op, in, &tni_binary_default);
}

static inline tn_status tni_write_number(const tni_op *op, tn_tensor *self, tn_scalar b)
{
    tn_tensor *in[2] = {self, NULL};
    const tni_binary_attr attr = {.numbers = 2, .number[1] = b, .alpha = tni_binary_default.alpha};
    return tni_call_in_place(op, in, &attr);
}

static inline tn_status tni_write_out(const tni_op *op, tn_tensor *out, tn_tensor *a, tn_tensor *b)
{
    tn_tensor *in[2] = {a, b};
    return tni_call_out(op, out, in, &tni_binary_default);
}

/* The public functions of an operator with two operands: new, with a number, in place with either, into out. */
#define TNI_BINARY_FRONTS(op)                                           \
    tn_tensor *tn_##op(tn_tensor *a, tn_tensor *b)                      \
    {                                                                   \
        return tni_with_tensor(&tni_op_##op, a, b);                     \
    }                                                                   \
    tn_tensor *tn_##op##_scalar(tn_tensor *a, tn_scalar b)              \
    {                                                                   \
        return tni_with_number(&tni_op_##op, a, b);                     \
    }                                                                   \
    tn_status tn_##op##_(tn_tensor *self, tn_tensor *b)                 \
    {                                                                   \
        return tni_write_tensor(&tni_op_##op, self, b);                 \
    }                                                                   \
    tn_status tn_##op##_scalar_(tn_tensor *self, tn_scalar b)           \
    {                                                                   \
        return tni_write_number(&tni_op_##op, self, b);                 \
    }                                                                   \
    tn_status tn_##op##_out(tn_tensor *out, tn_tensor *a, tn_tensor *b) \
    {                                                                   \
        return tni_write_out(&tni_op_##op, out, a, b);                  \
    }

#endif
