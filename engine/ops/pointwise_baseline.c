/* Pointwise loops, CPU level baseline. */
#define LEVEL tni_pointwise_baseline
#include "ops/pointwise_level.h"
