/* What a dataset is inside. */
#ifndef TNI_DATA_DATASET_H
#define TNI_DATA_DATASET_H

#include <stdint.h>
#include <tenon/data.h>
#include <tenon/extend.h>

struct tn_dataset {
    tn_object object;
    tn_tensor *x, *y; /* references */
};

#endif
