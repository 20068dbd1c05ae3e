/* Matrix products of float32 and float64 with any non-negative strides:
 *
 *     c[i,j] = sum_k a[i,k] b[k,j] (+ bias[j])        a [m, k]   b [k, n]   c [m, n]
 *
 * What is promised of the bits: equal shapes, values and CPU level give equal results, whatever the strides, the
 * alignment and the number of threads (OpenBLAS: whatever the alignment and the number of threads). The choice between
 * own kernels and OpenBLAS depends on shape and level alone, and on whether the library can be opened and has AVX-512
 * kernels for this CPU where that is the level: where m and n are 32 or more, OpenBLAS does products of 2 m n k >= 10^6
 * at the baseline, 10^8 with AVX2 and 4 10^9 with AVX-512 (gemm.c says why).
 * Own kernels, more exactly:
 *   n > 1    every element is one chain from k = 0 on, acc = fma(a[i,k], b[k,j], acc), then bias[j] is added. The
 *            baseline level of machines without a fused multiply-add rounds each product. So AVX2 and AVX-512 give
 *            equal bits, and row i depends on m, n and the blocking in nothing.
 *   n == 1   a dot product in L lanes, L = 16 for float32 and 8 for float64: lane l adds, by the same step, the k with
 *            k mod L == l in rising order; then lanes l and l + L/2 are added, l and l + L/4, ... down to one; then the
 *            bias.
 *
 * OpenBLAS gives row i other last bits for another m, and other bits on another CPU.
 * NaN and infinities go through as in plain arithmetic. Error against the exact product: at most
 * (k + 1) eps sum |a||b| (+ eps |bias|) an element, but for overflow and underflow.
 *
 * Source of the blocking: Goto & van de Geijn 2008, doi:10.1145/1356052.1356053; Van Zee & van de Geijn 2015 (BLIS),
 * doi:10.1145/2764454. */
#ifndef TNI_CPU_GEMM_H
#define TNI_CPU_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strides in elements, 0 or more; 0 repeats in a, b and bias. c overlaps neither itself nor a, b, bias. */
typedef struct tni_gemm {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    const void *bias; /* n values, or NULL */
    int64_t a_row, a_col, b_row, b_col, c_row, c_col, bias_stride;
} tni_gemm;

/* Bytes of scratch memory, 64-aligned, that the product needs; 0 for most small ones. SIZE_MAX when no size_t holds it.
 * Pointers in the product are not looked at. `level` is tni_cpu_level() or below, and the same for the product: who
 * calls both asks once. */
size_t tni_gemm_workspace(int level, const tni_gemm *product, bool is_double);

/* c = a b (+ bias). `workspace` is tni_gemm_workspace() bytes, or NULL when that is 0. Allocates nothing (the first
 * product for OpenBLAS opens it, which does: gemm_blas.c). k == 0 gives the bias or zeros; m == 0 or n == 0 does
 * nothing. */
void tni_gemm_f32(int level, const tni_gemm *product, void *workspace);
void tni_gemm_f64(int level, const tni_gemm *product, void *workspace);

/* The product, if it is one of own kernels' that needs no workspace; else false, and nothing is done. */
bool tni_gemm_light(int level, const tni_gemm *product, bool is_double);

/* The same with the engine given, for tests. TNI_GEMM_BLAS falls back to own kernels where OpenBLAS cannot do it: a
 * size over INT_MAX, or no library. */
typedef enum tni_gemm_engine { TNI_GEMM_AUTO, TNI_GEMM_OWN, TNI_GEMM_BLAS } tni_gemm_engine;

size_t tni_gemm_workspace_at(int level, tni_gemm_engine engine, const tni_gemm *product, bool is_double);
void tni_gemm_at(int level, tni_gemm_engine engine, const tni_gemm *product, bool is_double, void *workspace);

#endif
