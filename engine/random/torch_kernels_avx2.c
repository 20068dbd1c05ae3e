/* The loops of torch_kernels.h for processors with AVX2 and FMA. */
#define KERNELS tni_torch_kernels_avx2
#include "random/torch_kernels.kernel.h"
