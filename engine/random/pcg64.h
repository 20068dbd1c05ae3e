/* PCG XSL RR 128/64: a 128-bit linear congruential generator whose state's halves are xored and rotated.
 * Source: O'Neill, "PCG: A family of simple fast space-efficient statistically good algorithms for random number
 * generation", 2014. */
#ifndef TNI_RANDOM_PCG64_H
#define TNI_RANDOM_PCG64_H

#include <stdint.h>
#include <tenon/random.h>

__extension__ typedef unsigned __int128 tni_uint128;

/* s = s * multiplier + inc */
static inline void tni_pcg64_step(tn_default_rng *rng)
{
    const tni_uint128 multiplier = (tni_uint128)UINT64_C(2549297995355413924) << 64 | UINT64_C(4865540595714422341);
    tni_uint128 state = (tni_uint128)rng->state_high << 64 | rng->state_low;
    state = state * multiplier + ((tni_uint128)rng->inc_high << 64 | rng->inc_low);
    rng->state_high = (uint64_t)(state >> 64);
    rng->state_low = (uint64_t)state;
}

static inline uint64_t tni_pcg64_next(tn_default_rng *rng)
{
    tni_pcg64_step(rng);
    uint64_t folded = rng->state_high ^ rng->state_low;
    unsigned turn = (unsigned)(rng->state_high >> 58);
    return folded >> turn | folded << (-turn & 63);
}

static inline uint32_t tni_pcg64_next32(tn_default_rng *rng)
{
    if (rng->has_uint32) {
        rng->has_uint32 = 0;
        return rng->uinteger;
    }
    uint64_t word = tni_pcg64_next(rng);
    rng->has_uint32 = 1;
    rng->uinteger = (uint32_t)(word >> 32);
    return (uint32_t)word;
}

static inline double tni_pcg64_double(tn_default_rng *rng)
{
    return (double)(tni_pcg64_next(rng) >> 11) * 0x1p-53;
}

#endif
