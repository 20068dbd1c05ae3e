/* The smallest and largest value of a tensor, its mean, and how many of its elements are no numbers. */
#ifndef TENON_VALUE_RANGE_H
#define TENON_VALUE_RANGE_H

#include <stdint.h>
#include <tenon/tensor.h>

#include "number_text.h"

typedef struct value_range {
    int64_t numel, nan, inf;
    double mean;            /* of the finite elements; NaN without any */
    char low[NUMBER_SIZE], high[NUMBER_SIZE]; /* of the finite elements, as exact text; "" without any */
} value_range;

/* An error, such as no memory for a copy, is pending afterwards. */
value_range value_range_of(tn_tensor *x);

#endif
