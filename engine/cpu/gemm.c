/* Matrix product: zero sizes, CPU level, and the choice between own kernels and OpenBLAS. */
#include "cpu/gemm.h"

#include "cpu/gemm_blas.h"
#include "cpu/gemm_levels.h"
#include "cpu/gemm_own.h"
#include "cpu/level.h"

static const tni_gemm_kernels *const kernels[TNI_CPU_LEVELS][2] = {
    [TNI_CPU_BASELINE] = {&tni_gemm_baseline_f32, &tni_gemm_baseline_f64},
#if defined(__x86_64__)
    [TNI_CPU_AVX2] = {&tni_gemm_avx2_f32, &tni_gemm_avx2_f64},
    [TNI_CPU_AVX512] = {&tni_gemm_avx512_f32, &tni_gemm_avx512_f64},
#endif
};

static size_t size_of(bool is_double)
{
    return is_double ? sizeof(double) : sizeof(float);
}

/* The work from which on OpenBLAS is asked: a large product is its business, and opening it (1.3 ms) is lost in one.
 * Measured (Zen 5, one thread, float32): at 1024^3 own kernels and OpenBLAS 0.3.21 are within 10 % of one another,
 * 180 to 210 GFLOP/s with AVX-512 and 100 to 115 with AVX2; at 200 x 16 x 16 with b transposed own ones take 0.58 us,
 * OpenBLAS 0.95. The baseline's own 43 GFLOP/s are no match. With AVX-512 on two threads own ones are ahead (512 x 1024
 * x 1024: 380 to 420 against 370 to 385), and that OpenBLAS knows no Zen 5: it takes its AVX2 kernels there, which
 * tni_gemm_blas_suits tells. */
static const double blas_from[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = 1e6,
    [TNI_CPU_AVX2] = 1e8,
    [TNI_CPU_AVX512] = 4e9,
};

/* From the shape and the level alone, so that a product has the same bits wherever its operands lie. */
static bool takes_blas(int level, tni_gemm_engine engine, const tni_gemm *g)
{
    if (engine != TNI_GEMM_AUTO)
        return engine == TNI_GEMM_BLAS && tni_gemm_blas_takes(g);
    double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
    return flops >= blas_from[level] && g->m >= 32 && g->n >= 32 && tni_gemm_blas_takes(g) &&
           tni_gemm_blas_suits(level);
}

/* c = bias or 0. */
static void fill(const tni_gemm *g, bool is_double)
{
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            int64_t to = i * g->c_row + j * g->c_col, from = j * g->bias_stride;
            if (is_double)
                ((double *)g->c)[to] = g->bias ? ((const double *)g->bias)[from] : 0;
            else
                ((float *)g->c)[to] = g->bias ? ((const float *)g->bias)[from] : 0;
        }
    }
}

size_t tni_gemm_workspace_at(int level, tni_gemm_engine engine, const tni_gemm *g, bool is_double)
{
    if (g->m <= 0 || g->n <= 0 || g->k <= 0)
        return 0;
    if (takes_blas(level, engine, g))
        return tni_gemm_blas_workspace(g, size_of(is_double));
    return tni_gemm_own_workspace(kernels[level][is_double], g, size_of(is_double));
}

void tni_gemm_at(int level, tni_gemm_engine engine, const tni_gemm *g, bool is_double, void *workspace)
{
    if (g->m <= 0 || g->n <= 0)
        return;
    if (g->k <= 0)
        fill(g, is_double);
    else if (takes_blas(level, engine, g))
        tni_gemm_blas(g, is_double, workspace);
    else
        tni_gemm_own(kernels[level][is_double], g, size_of(is_double), workspace);
}

size_t tni_gemm_workspace(int level, const tni_gemm *g, bool is_double)
{
    return tni_gemm_workspace_at(level, TNI_GEMM_AUTO, g, is_double);
}

bool tni_gemm_light(int level, const tni_gemm *g, bool is_double)
{
    if (g->m <= 0 || g->n <= 0 || g->k <= 0 || takes_blas(level, TNI_GEMM_AUTO, g))
        return false;
    return tni_gemm_own_light(kernels[level][is_double], g, size_of(is_double));
}

void tni_gemm_f32(int level, const tni_gemm *g, void *workspace)
{
    tni_gemm_at(level, TNI_GEMM_AUTO, g, false, workspace);
}

void tni_gemm_f64(int level, const tni_gemm *g, void *workspace)
{
    tni_gemm_at(level, TNI_GEMM_AUTO, g, true, workspace);
}
