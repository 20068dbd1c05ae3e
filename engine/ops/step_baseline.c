/* Steps of optimizers, CPU level baseline. */
#define LEVEL tni_step_baseline
#include "ops/step_level.h"
