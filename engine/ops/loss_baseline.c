/* Losses, CPU level baseline. */
#define LEVEL tni_loss_baseline
#include "ops/loss_level.h"
