/* Numbers and shapes as text, whatever the locale; every digit exactly rounded (ties to even).
 *
 * Each function writes at most `size` bytes, the final zero included, cuts what does not fit, and returns the length of
 * the whole text, as snprintf does (INT_MAX for a longer one). 32 bytes hold any tni_text_double. Not a number is "nan"
 * whatever its sign; infinities are "inf" and "-inf". */
#ifndef TNI_BASE_TEXT_H
#define TNI_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Python's repr: the fewest digits that read back as the same double, of those the nearest; exponent form below 1e-4
 * and from 1e16 on: "0.1", "1.0", "1e-05", "1e+16". */
int tni_text_double(char *buf, size_t size, double value);

/* The same with the fewest digits that read back as the same float: "0.1", "1e-45". */
int tni_text_float(char *buf, size_t size, float value);

/* Python's f"{value:.{digits}f}": "0.1000". digits below 0 count as 0. */
int tni_text_fixed(char *buf, size_t size, double value, int digits);

/* Python's f"{value:.{digits}e}": "1.0000e-01", two exponent digits or more. */
int tni_text_scientific(char *buf, size_t size, double value, int digits);

/* "18446744073709551615". */
int tni_text_unsigned(char *buf, size_t size, uint64_t value);

/* "[3, 4]"; "[]" for no dimensions; "[3, ...]" when not all fit. */
int tni_text_shape(char *buf, size_t size, const int64_t *sizes, int ndim);

#endif
