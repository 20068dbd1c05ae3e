/* Functions that are made of operators and can be called by name: each a row of ops/composite.c. */
#ifndef TNI_OPS_COMPOSITE_H
#define TNI_OPS_COMPOSITE_H

#include "dispatch/op.h"

/* One of the two is set when the call succeeded. */
typedef struct tni_composite_result {
    tn_tensor *one;
    tn_list *several;
} tni_composite_result;

typedef struct tni_composite {
    const char *name;
    tni_param params[TNI_MAX_PARAMS]; /* input and offset are not used */
    int n_params;
    bool several;  /* the result is a list */
    bool in_place; /* the result is an argument that was written */
    /* The values fit the params; those left off are TN_VALUE_NONE. */
    tni_composite_result (*call)(const tn_value *values);
} tni_composite;

/* The reduction that a word names, or whose number it is; -1, which no operator takes, for other words. */
int64_t tni_reduction_of(const tn_value *value);

extern const tni_composite tni_composites[];
extern const int tni_composite_count;

#endif
