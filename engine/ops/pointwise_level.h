/* The pointwise kernels of one CPU level: included by pointwise_baseline.c, pointwise_avx2.c and pointwise_avx512.c,
 * which name LEVEL. */
#include <string.h>

#include "cpu/vmath.h"
#include "ops/pointwise.h"
#include "ops/pointwise_other.h"

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

/* Which loops an operator has, by lane: float32, float64, int64, uint64, complex64, complex128.
 * Compiled for this level:  WRAPPING  all; sums and products of unsigned integers are those of signed ones
 *                           ALL       all but uint64
 *                           ORDERED   all but complex
 *                           FLOATING  floats and complex
 *                           REAL      floats
 * Standing in pointwise_other.c: the same sets as PLAIN_..., and PLAIN_SIGNED (no uint64, no complex), PLAIN_WHOLE
 * (integers), PLAIN_INTEGERS (no uint64), PLAIN_REAL (floats), PLAIN_EVERY (all). */
#define WRAPPING(name) \
    {name##_row_f32, name##_row_f64, name##_row_i64, name##_row_i64, tni_##name##_c64, tni_##name##_c128}
#define ALL(name) {name##_row_f32, name##_row_f64, name##_row_i64, NULL, tni_##name##_c64, tni_##name##_c128}
#define ORDERED(name) {name##_row_f32, name##_row_f64, name##_row_i64, tni_##name##_u64, NULL, NULL}
#define FLOATING(name) {name##_row_f32, name##_row_f64, NULL, NULL, tni_##name##_c64, tni_##name##_c128}
#define REAL(name) {name##_row_f32, name##_row_f64, NULL, NULL, NULL, NULL}
#define PLAIN_ALL(name) \
    {tni_##name##_f32, tni_##name##_f64, tni_##name##_i64, NULL, tni_##name##_c64, tni_##name##_c128}
#define PLAIN_SIGNED(name) {tni_##name##_f32, tni_##name##_f64, tni_##name##_i64, NULL, NULL, NULL}
#define PLAIN_ORDERED(name) {tni_##name##_f32, tni_##name##_f64, tni_##name##_i64, tni_##name##_u64, NULL, NULL}
#define PLAIN_FLOATING(name) {tni_##name##_f32, tni_##name##_f64, NULL, NULL, tni_##name##_c64, tni_##name##_c128}
#define PLAIN_REAL(name) {tni_##name##_f32, tni_##name##_f64, NULL, NULL, NULL, NULL}
#define PLAIN_INTEGERS(name) {NULL, NULL, tni_##name##_i64, NULL, NULL, NULL}
#define PLAIN_WHOLE(name) {NULL, NULL, tni_##name##_i64, tni_##name##_u64, NULL, NULL}
#define PLAIN_EVERY(name)                                                                                        \
    {tni_##name##_f32, tni_##name##_f64, tni_##name##_i64, tni_##name##_u64, tni_##name##_c64, tni_##name##_c128}
#define COMPARED(name) {name##_f32, name##_f64, name##_i64, tni_##name##_u64, tni_##name##_c64, tni_##name##_c128}
#define IN_ORDER(name) {name##_f32, name##_f64, name##_i64, NULL, NULL, NULL}

extern const tni_pointwise LEVEL;
const tni_pointwise LEVEL = {
    .unary = {
#define TNI_UNARY(name, rule, lanes, dtypes, derivative) [TNI_UNARY_##name] = lanes(name),
#include "ops/unary.def"
#undef TNI_UNARY
    },
    .binary = {
#define TNI_BINARY(name, lanes) [TNI_BINARY_##name] = lanes(name),
#include "ops/binary.def"
#undef TNI_BINARY
    },
    .compare = {
#define TNI_COMPARE(name, operator, lanes, dtypes) [TNI_COMPARE_##name] = lanes(name),
#include "ops/compare.def"
#include "ops/logical.def"
#undef TNI_COMPARE
    },
};
