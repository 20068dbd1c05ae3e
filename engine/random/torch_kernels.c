/* The loops of torch_kernels.h for any processor; fused operations may be calls. */
#define KERNELS tni_torch_kernels_base
#include "random/torch_kernels.kernel.h"
