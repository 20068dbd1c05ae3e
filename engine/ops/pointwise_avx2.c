/* Pointwise loops, CPU level avx2. */
#define LEVEL tni_pointwise_avx2
#include "ops/pointwise_level.h"
