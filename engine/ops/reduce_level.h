/* The reduction kernels of one CPU level: included by reduce_baseline.c, reduce_avx2.c and reduce_avx512.c, which
 * name LEVEL. */
#include <string.h>

#include "ops/reduce.h"

#define T float
#define A double
#define T_INT int32_t
#define IS_NAN(x) ((x) != (x))
#define SUFFIX f32
#include "ops/reduce.kernel.h"

#define T double
#define A double
#define T_INT int64_t
#define IS_NAN(x) ((x) != (x))
#define SUFFIX f64
#include "ops/reduce.kernel.h"

/* Sums wrap, so they are added unsigned; maxima compare signed. */
#define T int64_t
#define A uint64_t
#define T_INT int64_t
#define IS_NAN(x) ((x) ^ (x))
#define SUFFIX i64
#include "ops/reduce.kernel.h"

extern const tni_reduce_kernels LEVEL;
const tni_reduce_kernels LEVEL = {
    .kernel = {
        [TNI_SUM] = {{sum_row_f32, sum_columns_f32}, {sum_row_f64, sum_columns_f64}, {sum_row_i64, sum_columns_i64}},
        [TNI_MAX] = {{max_row_f32, max_columns_f32}, {max_row_f64, max_columns_f64}, {max_row_i64, max_columns_i64}},
        [TNI_MIN] = {{min_row_f32, min_columns_f32}, {min_row_f64, min_columns_f64}, {min_row_i64, min_columns_i64}}}};
