/* Products by own kernels: no zero sizes, shapes that are oriented already. */
#ifndef TNI_CPU_GEMM_OWN_H
#define TNI_CPU_GEMM_OWN_H

#include "cpu/gemm.h"
#include "cpu/gemm_levels.h"

/* Bytes of workspace; SIZE_MAX when no size_t holds them. */
size_t tni_gemm_own_workspace(const tni_gemm_kernels *kernels, const tni_gemm *product, size_t size);
void tni_gemm_own(const tni_gemm_kernels *kernels, const tni_gemm *product, size_t size, void *workspace);

/* The product, if it needs no workspace; else false, and nothing is done. */
bool tni_gemm_own_light(const tni_gemm_kernels *kernels, const tni_gemm *product, size_t size);

#endif
