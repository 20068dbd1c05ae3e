/* See number_text.h. */
#include "number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tenon/extend.h>

const char *number_text(char buf[NUMBER_SIZE], double value, bool single)
{
    for (int digits = 1; single && isfinite(value) && digits <= 9; digits++) {
        snprintf(buf, NUMBER_SIZE, "%.*g", digits, value);
        if (strtof(buf, NULL) == (float)value)
            return buf;
    }
    tn_format_double(buf, NUMBER_SIZE, value);
    return buf;
}

const char *number_json(char buf[NUMBER_SIZE], double value)
{
    return isfinite(value) ? number_text(buf, value, false) : "null";
}
