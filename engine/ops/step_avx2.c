/* Steps of optimizers, CPU level avx2. */
#define LEVEL tni_step_avx2
#include "ops/step_level.h"
