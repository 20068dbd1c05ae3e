/* What the pointwise families share: their kernels by CPU level, and how a call is inferred and run.
 *
 * A pointwise operator is a row of a .def list (binary.def, unary.def, compare.def): its name, its rule, and a function on vectors in the kernel
 * file of the family. The loops around that function exist once, for every dtype and level (pointwise.kernel.h). */
#ifndef TNI_OPS_POINTWISE_H
#define TNI_OPS_POINTWISE_H

#include "core/iterator.h"
#include "cpu/level.h"
#include "dispatch/op.h"

/* The dtypes that loops are written for; others are converted on the way (bool computes in int64). */
typedef enum tni_lane { TNI_LANE_F32, TNI_LANE_F64, TNI_LANE_I64, TNI_LANES } tni_lane;

typedef enum tni_unary {
#define TNI_UNARY(name, rule, lanes) TNI_UNARY_##name,
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
#define TNI_COMPARE(name, operator) TNI_COMPARE_##name,
#include "ops/compare.def"
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
} tni_alpha;

/* Attributes of operators with number operands. numbers must come first: Note [Attributes] */
typedef struct tni_binary_attr {
    uint32_t numbers; /* bit i: operand i is number[i], and the input is NULL */
    tn_scalar number[2];
    tn_scalar alpha;
} tni_binary_attr;

extern const tni_binary_attr tni_binary_default; /* alpha 1 */

/* The lane that computes in dtype; -1 when there is none. */
int tni_lane_of(tn_dtype dtype);
/* float32, float64 or int64. */
tn_dtype tni_lane_dtype(int lane);

/* TN_ERROR_NOT_IMPLEMENTED naming operator, dtype and device. */
tn_status tni_fail_no_kernel(const tni_call *call, tn_dtype dtype);

/* Two operands: the result's shape and layout, and the dtype that they promote to (in *promoted). The caller sets meta's dtype. */
tn_status tni_binary_shape(tni_call *call, tni_meta *meta, tn_dtype *promoted);

/* Runs a loop over out and its operands: inputs, or numbers in the call's attributes. call->compute is the dtype of the operands in the
 * loop, `result` that of the output in the loop. */
void tni_run_pointwise(const tni_call *call, tni_loop loop, tn_dtype result, const void *context);

#endif
