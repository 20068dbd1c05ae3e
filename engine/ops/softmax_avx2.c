/* Softmax, CPU level avx2. */
#define LEVEL tni_softmax_avx2
#include "ops/softmax_level.h"
