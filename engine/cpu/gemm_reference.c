/* Matrix products in a documented order; see gemm_reference.h. fma() is exact by the C standard, with or without the
 * instruction. */
#include "cpu/gemm_reference.h"

#include <math.h>

#define REAL    float
#define FMA     fmaf
#define NAME(x) x##_f32
#include "cpu/gemm_reference.kernel.h"

#define REAL    double
#define FMA     fma
#define NAME(x) x##_f64
#include "cpu/gemm_reference.kernel.h"
