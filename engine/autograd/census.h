/* How many elements of a tensor are NaN, infinite or zero, and where the first are. */
#ifndef TNI_AUTOGRAD_CENSUS_H
#define TNI_AUTOGRAD_CENSUS_H

#include "core/tensor.h"

typedef struct tni_census {
    int64_t nans, infinities, zeros; /* a complex element counts once, as NaN if a part is one */
    int64_t first_nan, first_infinity; /* positions in row-major order, where there are any */
    bool negative; /* the first infinity is -inf */
    double largest; /* magnitude of the largest finite number */
} tni_census;

/* Of integers zeros alone; of a tensor without memory (meta) nothing. */
tni_census tni_census_of(const tn_tensor *x);

#endif
