/* Matrix products whose order of additions is fixed and written down: the same bits on every machine, compiler, CPU
 * level and number of threads. Slow: plain loops, one element after another. For replaying recorded results, and for
 * tests.
 *
 *   TN_ORDER_SEQUENTIAL      s = 0; for k from 0: s = fl(s + fl(a[i,k] b[k,j])); then fl(s + bias[j])
 *   TN_ORDER_SEQUENTIAL_FMA  the same with s = fma(a[i,k], b[k,j], s)
 *   TN_ORDER_MKL             what torch.nn.functional.linear does in PyTorch 2.15's wheel (MKL 2024.2, AVX-512, one
 *                            thread), where its bits were recorded:
 *
 *     n > 1    TN_ORDER_SEQUENTIAL_FMA.
 *     n == 1   With x_k = fl(a[i,k] b[k]): eight lanes, lane 0 starting from x_0 and the others from 0; x_{1 + 8 t + j}
 *              is added to lane j, for t from 0 (the last block may be short); then lanes j and j + 4 are added for
 *              j < 4, j and j + 2 for j < 2, 0 and 1; then the bias. Recorded for k == 16 and float32; for other k and
 *              float64 this is the rule continued, not a recording.
 *
 * The own kernels of gemm.h equal TN_ORDER_SEQUENTIAL_FMA for n > 1 at the levels that have a fused multiply-add, and
 * TN_ORDER_SEQUENTIAL at the baseline level of x86. */
#ifndef TNI_CPU_GEMM_REFERENCE_H
#define TNI_CPU_GEMM_REFERENCE_H

#include <tenon/ops.h>

#include "cpu/gemm.h"

/* tni_gemm_f32 and tni_gemm_f64 in the given order. No workspace, no threads. */
void tni_gemm_reference_f32(const tni_gemm *product, tn_order order);
void tni_gemm_reference_f64(const tni_gemm *product, tn_order order);

#endif
