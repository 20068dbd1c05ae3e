/* Pointwise loops, CPU level avx512. */
#define LEVEL tni_pointwise_avx512
#include "ops/pointwise_level.h"
