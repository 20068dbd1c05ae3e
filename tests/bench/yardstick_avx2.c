/* Yardsticks for AVX2 and FMA. */
#define LEVEL avx2
#if defined(__AVX2__)
#include "yardstick_level.h"
#else
typedef int nothing;
#endif
