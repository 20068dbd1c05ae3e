/* Steps of optimizers, CPU level avx512. */
#define LEVEL tni_step_avx512
#include "ops/step_level.h"
