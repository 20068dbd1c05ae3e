/* Yardsticks for any CPU; on x86-64 with its own 16-byte vectors. */
#define LEVEL baseline
#include "yardstick_level.h"
