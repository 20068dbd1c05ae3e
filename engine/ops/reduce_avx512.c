/* Reductions, CPU level avx512. */
#define LEVEL tni_reduce_avx512
#include "ops/reduce_level.h"
