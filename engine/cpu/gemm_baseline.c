/* The matrix product's loops for any machine: 128-bit vectors as gcc and clang give them. See gemm.kernel.h. */
#include "cpu/gemm_levels.h"

#include <string.h>

typedef float vec_f32 __attribute__((vector_size(16), may_alias));
typedef double vec_f64 __attribute__((vector_size(16), may_alias));

/* Fused where every machine of the kind does it in one instruction (64-bit ARM), else with the product rounded: on x86
 * whatever the compiler's target, so that the bits are those of the level. */
#if defined(__FP_FAST_FMA) && !defined(__x86_64__)
#define FUSED 1
#else
#define FUSED 0
#endif

static inline vec_f32 step_f32(vec_f32 x, vec_f32 y, vec_f32 z)
{
#if FUSED
    for (int i = 0; i < 4; i++)
        z[i] = __builtin_fmaf(x[i], y[i], z[i]);
    return z;
#else
    return x * y + z;
#endif
}

static inline vec_f64 step_f64(vec_f64 x, vec_f64 y, vec_f64 z)
{
#if FUSED
    for (int i = 0; i < 2; i++)
        z[i] = __builtin_fma(x[i], y[i], z[i]);
    return z;
#else
    return x * y + z;
#endif
}

#define REAL         float
#define NAME(x)      x##_f32
#define KERNELS      tni_gemm_baseline_f32
#define VEC          vec_f32
#define LANES        4
#define ROWS_NARROW  8
#define ROWS_WIDE    6
#define ROWS_DOT     4
#define BROADCAST(x) ((vec_f32){x, x, x, x})
#define FMA(x, y, z) step_f32(x, y, z)
#define FOLD(v)      (v)
#define MASKED       0
#include "cpu/gemm.kernel.h"

#define REAL double
#define REAL_IS_DOUBLE
#define NAME(x)      x##_f64
#define KERNELS      tni_gemm_baseline_f64
#define VEC          vec_f64
#define LANES        2
#define ROWS_NARROW  8
#define ROWS_WIDE    6
#define ROWS_DOT     4
#define BROADCAST(x) ((vec_f64){x, x})
#define FMA(x, y, z) step_f64(x, y, z)
#define FOLD(v)      (v)
#define MASKED       0
#include "cpu/gemm.kernel.h"
