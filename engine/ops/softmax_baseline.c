/* Softmax, CPU level baseline. */
#define LEVEL tni_softmax_baseline
#include "ops/softmax_level.h"
