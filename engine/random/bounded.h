/* The smallest number of all ones that covers max: what NumPy's rejection masks words with. */
#ifndef TNI_RANDOM_BOUNDED_H
#define TNI_RANDOM_BOUNDED_H

#include <stdint.h>

static inline uint64_t tni_mask_of(uint64_t max)
{
    return max ? UINT64_MAX >> __builtin_clzll(max) : 0;
}

#endif
