/* The softmax kernels of one CPU level: included by softmax_baseline.c, softmax_avx2.c and softmax_avx512.c, which
 * name LEVEL. */
#include "cpu/vmath.h"
#include "ops/softmax.h"

#include "cpu/simd_float.h"
#include "ops/softmax.kernel.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "ops/softmax.kernel.h"
#include "cpu/simd_undef.h"

extern const tni_softmax_kernels LEVEL;
const tni_softmax_kernels LEVEL = {
    .rows = {[TNI_SOFTMAX] = {softmax_f32, softmax_f64},
             [TNI_LOG_SOFTMAX] = {log_softmax_f32, log_softmax_f64},
             [TNI_SOFTMAX_BACKWARD] = {softmax_backward_f32, softmax_backward_f64},
             [TNI_LOG_SOFTMAX_BACKWARD] = {log_softmax_backward_f32, log_softmax_backward_f64}}};
