/* What a dataset is inside: two tensors, or a function that makes batches; and the names that came with it. */
#ifndef TNI_DATA_DATASET_H
#define TNI_DATA_DATASET_H

#include <stdint.h>
#include <tenon/data.h>
#include <tenon/extend.h>

#include "words.h"

struct tn_dataset {
    tn_object object;
    tn_tensor *x, *y; /* references; x NULL: there is a function. y NULL: no labels */
    int64_t size;     /* of one with a function */
    tn_dataset_functions functions;
    void *context;
    tni_words columns, classes, label; /* label: at most one */
    int64_t n_classes;
};

/* An empty one, for its maker to fill. */
tn_dataset *tni_dataset_new(void);

/* The samples; 0 while an error is pending does not happen here. */
int64_t tni_dataset_samples(const tn_dataset *dataset);

/* A batch of n samples, as references of the caller's: those of `index`, or with index NULL the ones from `start` on,
 * which are then views where there are tensors. *y is NULL without labels. */
tn_status tni_dataset_batch(tn_dataset *dataset, const int64_t *index, int64_t start, int64_t n, tn_tensor **x,
                            tn_tensor **y);

#endif
