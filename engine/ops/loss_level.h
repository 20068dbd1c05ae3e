/* The loss kernels of one CPU level: included by loss_baseline.c, loss_avx2.c and loss_avx512.c, which name LEVEL. */
#include "cpu/vmath.h"
#include "ops/loss.h"

#include "cpu/simd_float.h"
#include "ops/loss.kernel.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "ops/loss.kernel.h"
#include "cpu/simd_undef.h"

#define KERNEL(name) {{name##_each_f32, name##_slope_f32}, {name##_each_f64, name##_slope_f64}}

extern const tni_loss_kernels LEVEL;
const tni_loss_kernels LEVEL = {
    .kernel = {[TNI_LOSS_MSE] = KERNEL(mse), [TNI_LOSS_L1] = KERNEL(l1), [TNI_LOSS_SMOOTH_L1] = KERNEL(smooth_l1),
               [TNI_LOSS_HUBER] = KERNEL(huber), [TNI_LOSS_BCE] = KERNEL(bce),
               [TNI_LOSS_BCE_WITH_LOGITS] = KERNEL(bce_with_logits)},
    .times = {times_f32, times_f64}};
