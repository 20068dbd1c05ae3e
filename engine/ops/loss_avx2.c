/* Losses, CPU level avx2. */
#define LEVEL tni_loss_avx2
#include "ops/loss_level.h"
