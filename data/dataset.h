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

/* A tensor on `device` whatever the thread's default is: a dataset's place follows its data. errors as tn_empty */
tn_tensor *tni_empty_on(tn_device device, const int64_t *size, int ndim, tn_dtype dtype);

#endif
