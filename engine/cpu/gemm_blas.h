/* Products by OpenBLAS, opened with dlopen when the first one comes. See gemm_blas.c. */
#ifndef TNI_CPU_GEMM_BLAS_H
#define TNI_CPU_GEMM_BLAS_H

#include "cpu/gemm.h"

/* Whether OpenBLAS can do it: all sizes fit an int, and the library is there. Opens the library. */
bool tni_gemm_blas_takes(const tni_gemm *product);

/* Whether OpenBLAS, once open, has kernels for this CPU that are no narrower than the level's. */
bool tni_gemm_blas_suits(int level);

/* For products without zero sizes that it takes. */
size_t tni_gemm_blas_workspace(const tni_gemm *product, size_t size);
void tni_gemm_blas(const tni_gemm *product, bool is_double, void *workspace);

#endif
