/* SHA-256 of FIPS 180-4. */
#ifndef TENON_TESTS_HOSTILE_SHA256_H
#define TENON_TESTS_HOSTILE_SHA256_H

#include <stddef.h>

/* Writes 64 hex digits and a zero byte. */
void sha256(const void *data, size_t bytes, char hex[65]);

#endif
