/* Reductions, CPU level avx2. */
#define LEVEL tni_reduce_avx2
#include "ops/reduce_level.h"
