/* Decimal text to the nearest float or double, whatever the locale. */
#ifndef TNI_DATA_DECIMAL_H
#define TNI_DATA_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tni_decimal_outcome { TNI_DECIMAL_OK, TNI_DECIMAL_NONE, TNI_DECIMAL_TOO_LARGE } tni_decimal_outcome;

/* All of the text as a number: [+-] digits [. digits] [e [+-] digits] with a digit before or behind the point, or nan,
 * inf, infinity in any case, with a sign. Rounded once, to nearest and even: to a double, or with `single` to a float,
 * which *value then holds. Too small a number is 0; too large a one is TNI_DECIMAL_TOO_LARGE. */
tni_decimal_outcome tni_decimal(const char *text, size_t length, bool single, double *value);

#endif
