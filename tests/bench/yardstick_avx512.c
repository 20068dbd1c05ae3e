/* Yardsticks for AVX-512. */
#define LEVEL avx512
#if defined(__AVX512F__)
#include "yardstick_level.h"
#else
typedef int nothing;
#endif
