/* The reduction kernels of one CPU level: included by reduce_baseline.c, reduce_avx2.c and reduce_avx512.c, which
 * name LEVEL. */
#include <stdbool.h>
#include <string.h>

#include "ops/reduce.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define NOINLINE __attribute__((noinline))

#define T float
#define A double
#define T_INT int32_t
#define T_TURN INT32_MIN
#define IS_NAN(x) ((x) != (x))
#if defined(__AVX512F__) /* gcc makes two halves of the vector, and joins them */
#define WIDENED(x) ((sums_f32)_mm512_cvtps_pd((__m256)(x)))
#else
#define WIDENED(x) __builtin_convertvector(x, sums_f32)
#endif
#define SUFFIX f32
#include "ops/reduce.kernel.h"

#define T double
#define A double
#define T_INT int64_t
#define T_TURN INT64_MIN
#define IS_NAN(x) ((x) != (x))
#define WIDENED(x) ((sums_f64)(x))
#define SUFFIX f64
#include "ops/reduce.kernel.h"

/* Sums wrap, so they are added unsigned; maxima compare signed. */
#define T int64_t
#define A uint64_t
#define T_INT int64_t
#define T_TURN -1
#define IS_NAN(x) ((x) ^ (x))
#define WIDENED(x) ((sums_i64)(x))
#define SUFFIX i64
#include "ops/reduce.kernel.h"

extern const tni_reduce_kernels LEVEL;
#define KERNEL(reduction, suffix) {reduction##_row_##suffix, reduction##_rows_##suffix, reduction##_columns_##suffix}
#define KERNELS(reduction) {KERNEL(reduction, f32), KERNEL(reduction, f64), KERNEL(reduction, i64)}
#define SEARCH(reduction, suffix) {reduction##_place_rows_##suffix, reduction##_place_columns_##suffix}
#define SEARCHES(reduction) {SEARCH(reduction, f32), SEARCH(reduction, f64), SEARCH(reduction, i64)}

const tni_reduce_kernels LEVEL = {
    .kernel = {[TNI_SUM] = KERNELS(sum), [TNI_MAX] = KERNELS(max), [TNI_MIN] = KERNELS(min)},
    .search = {[TNI_MAX] = SEARCHES(max), [TNI_MIN] = SEARCHES(min)}};
