/* Reductions, CPU level baseline. */
#define LEVEL tni_reduce_baseline
#include "ops/reduce_level.h"
