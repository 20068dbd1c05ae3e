/* Recorded values that must come out bit for bit: tests/data/golden.txt.
 *
 * A section is a line "name type count hash" (type f32 f64 i64 u32 u64; the hash is the first 8 bytes of the values'
 * SHA-256) and then its values, floats in hex. Recorded on Debian 12, x86-64: NumPy 1.24.2, scikit-learn 1.2.1, PyTorch
 * 1.13.1. */
#ifndef TENON_TESTS_SUPPORT_GOLDEN_H
#define TENON_TESTS_SUPPORT_GOLDEN_H

#include <stdint.h>

/* The values of a section as float, double, int64_t, uint32_t or uint64_t; they stay for the program's life. Fails the
 * test unless the section is there with that type and count. */
const void *golden_values(const char *name, const char *type, int64_t count);

/* Fails the test, and names the first element that differs, unless `actual` holds the section's bits. */
void golden_check(const char *name, const char *type, const void *actual, int64_t count);

/* The same against any values: `what` is said on failure. */
void golden_compare(const char *what, const char *type, const void *expected, const void *actual, int64_t count);

#endif
