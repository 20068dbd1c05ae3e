/* The optimizers' steps of one CPU level: included by step_baseline.c, step_avx2.c and step_avx512.c, which name
 * LEVEL. */
#include <math.h>
#include <stddef.h>

#include "cpu/simd.h"
#include "ops/step.h"

#include "cpu/simd_float.h"
#include "ops/step.kernel.h"
#include "cpu/simd_undef.h"

#include "cpu/simd_double.h"
#include "ops/step.kernel.h"
#include "cpu/simd_undef.h"

extern const tni_step_kernels LEVEL;
const tni_step_kernels LEVEL = {.sgd = {sgd_step_f32, sgd_step_f64},
                                .adam = {adam_step_f32, adam_step_f64},
                                .rmsprop = {rmsprop_step_f32, rmsprop_step_f64}};
