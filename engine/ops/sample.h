/* Reading tni_op.samples: the notation stands in tests/support/samples.h. What does not read is no sample. */
#ifndef TNI_OPS_SAMPLE_H
#define TNI_OPS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/call.h>

enum { TNI_SAMPLE_ARGUMENTS = 8, TNI_SAMPLE_NUMBERS = 8, TNI_SAMPLE_LIST = 4, TNI_SAMPLE_TEXT = 160 };

/* A tensor's shape; of positions also their range, 0: of numbers. */
typedef struct tni_sample_tensor {
    int ndim;
    int64_t sizes[TNI_SAMPLE_NUMBERS];
    int64_t range;
    bool absent; /* in a list */
} tni_sample_tensor;

/* An argument by what it is boxed as. */
typedef struct tni_sample_argument {
    tn_value_kind kind;
    int n; /* of a list */
    union {
        tni_sample_tensor tensor;
        tni_sample_tensor list[TNI_SAMPLE_LIST];
        int64_t numbers[TNI_SAMPLE_NUMBERS];
        tn_index index[TNI_SAMPLE_NUMBERS];
        tn_scalar scalar;
        tn_dtype dtype;
    } as;
} tni_sample_argument;

typedef struct tni_sample {
    bool fails; /* it is one of those that must be refused, at least for real numbers */
    int n;
    tni_sample_argument arguments[TNI_SAMPLE_ARGUMENTS];
    char text[TNI_SAMPLE_TEXT];
} tni_sample;

/* The sample at *text; moves on behind it. False at the end. One that does not read has n = -1. */
bool tni_sample_next(const char **text, tni_sample *s);

#endif
