/* Numbers for tests that draw their cases: Marsaglia's xorshift64, the same on every machine. The state is the test's
 * own, is not 0, and belongs into the message of a failure. */
#ifndef TENON_TESTS_SUPPORT_DRAW_H
#define TENON_TESTS_SUPPORT_DRAW_H

#include <stdint.h>

static inline uint64_t draw_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* 0 .. n-1; 0 where n is not positive. */
static inline int64_t draw_below(uint64_t *state, int64_t n)
{
    return n > 0 ? (int64_t)(draw_bits(state) % (uint64_t)n) : 0;
}

#endif
