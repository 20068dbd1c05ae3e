/* The loops of pointwise_other.c: for every row of the families tni_NAME_LANE, of which those that pointwise_level.h
 * names are there. */
#ifndef TNI_OPS_POINTWISE_OTHER_H
#define TNI_OPS_POINTWISE_OTHER_H

#include "core/iterator.h"

#define TNI_LOOPS_OF(name)                                                                                        \
    void tni_##name##_f32(const tni_row *row), tni_##name##_f64(const tni_row *row),                              \
        tni_##name##_i64(const tni_row *row), tni_##name##_u64(const tni_row *row),                               \
        tni_##name##_c64(const tni_row *row), tni_##name##_c128(const tni_row *row);
#define TNI_UNARY(name, rule, lanes, dtypes, derivative) TNI_LOOPS_OF(name)
#include "ops/unary.def"
#undef TNI_UNARY
#define TNI_BINARY(name, lanes) TNI_LOOPS_OF(name)
#include "ops/binary.def"
#undef TNI_BINARY
#define TNI_COMPARE(name, operator, lanes, dtypes) TNI_LOOPS_OF(name)
#include "ops/compare.def"
#include "ops/logical.def"
#undef TNI_COMPARE

#endif
