/* The pointwise kernels of one CPU level: included by pointwise_baseline.c, pointwise_avx2.c and pointwise_avx512.c,
 * which name LEVEL. */
#include <string.h>

#include "cpu/vmath.h"
#include "ops/pointwise.h"

#define ALWAYS_INLINE __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

#include "cpu/simd_float.h"
#define VADD VEC
#include "ops/pointwise.kernel.h"
#include "ops/arithmetic.kernel.h"
#include "ops/real.kernel.h"
#undef VADD
#undef UNARY_ROW
#undef BINARY_ROW
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#define VADD VEC
#include "ops/pointwise.kernel.h"
#include "ops/arithmetic.kernel.h"
#include "ops/real.kernel.h"
#undef VADD
#undef UNARY_ROW
#undef BINARY_ROW
#include "cpu/simd_undef.h"

#include "ops/simd_int64.h"
#define VADD VUINT
#include "ops/pointwise.kernel.h"
#include "ops/arithmetic.kernel.h"
#undef VADD
#undef UNARY_ROW
#undef BINARY_ROW
#include "cpu/simd_undef.h"

/* The lanes that an operator computes in, f32 first. */
#define NUMBERS(name) {name##_row_f32, name##_row_f64, name##_row_i64}
#define REALS(name) {name##_row_f32, name##_row_f64, NULL}

extern const tni_pointwise LEVEL;
const tni_pointwise LEVEL = {
    .unary = {
#define TNI_UNARY(name, rule, lanes) [TNI_UNARY_##name] = lanes(name),
#include "ops/unary.def"
#undef TNI_UNARY
    },
    .binary = {
#define TNI_BINARY(name, lanes) [TNI_BINARY_##name] = lanes(name),
#include "ops/binary.def"
#undef TNI_BINARY
    },
    .compare = {
#define TNI_COMPARE(name, operator) [TNI_COMPARE_##name] = {name##_f32, name##_f64, name##_i64},
#include "ops/compare.def"
#undef TNI_COMPARE
    },
};
