/* Softmax, CPU level avx512. */
#define LEVEL tni_softmax_avx512
#include "ops/softmax_level.h"
