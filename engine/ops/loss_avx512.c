/* Losses, CPU level avx512. */
#define LEVEL tni_loss_avx512
#include "ops/loss_level.h"
