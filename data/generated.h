/* What the datasets that are drawn share. */
#ifndef TNI_DATA_GENERATED_H
#define TNI_DATA_GENERATED_H

#include <stdint.h>
#include <tenon/data.h>
#include <tenon/random.h>

/* Checks the arguments that they have in common; spread is the noise or the standard deviation. */
tn_status tni_check_generated(const char *function, int64_t n_samples, double spread, const char *spread_name,
                              uint64_t random_state, tn_dtype dtype);

/* A dataset of n_samples rows of n_features; *x is the tensor's data and *y the labels'. It belongs to the scope. */
tn_dataset *tni_new_generated(const char *function, int64_t n_samples, int64_t n_features, tn_dtype dtype, void **x,
                              int64_t **y);

static inline void tni_put_real(void *x, int64_t at, double value, tn_dtype dtype)
{
    if (dtype == TN_FLOAT64)
        ((double *)x)[at] = value;
    else
        ((float *)x)[at] = (float)value;
}

#endif
