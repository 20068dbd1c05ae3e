/* From a sample to a call by name, and from its result to a verdict. */
#ifndef TENON_TESTS_SUPPORT_CALLS_H
#define TENON_TESTS_SUPPORT_CALLS_H

#include "support/reference.h"

/* What a sample leaves open. */
typedef struct variant {
    tn_dtype dtypes[3]; /* of the tensor operands, in their order; the last serves for all that follow */
    layout layouts[3];
    grid_values values;
    uint64_t seed;
} variant;

/* Makes the arguments of the sample. */
void call_prepare(reference_call *call, const char *name, const sample *s, const variant *v);
void call_free(reference_call *call);

/* Boxes them. values has room for SAMPLE_ARGUMENTS + 1, of which the last may be out. Returns their number. */
int call_box(const reference_call *call, tn_value *values);

/* The call, and the same with every tensor on meta. */
tn_tensor *call_run(const reference_call *call, const char *name);
tn_tensor *call_run_out(const reference_call *call, const char *name, tn_tensor *out);
tn_tensor *call_run_meta(const reference_call *call, const char *name);

/* A text that names the call, for messages. It stays until the next time. */
const char *call_text(const reference_call *call, const char *name);

/* Fails the test unless y is as expected: shape, dtype, values, addresses, sharing with the call's first tensor. Its
 * dtype may be another one (out= and in-place forms): values are converted to it. */
void check_result(const reference_call *call, const char *name, const expectation *e, const tn_tensor *y);
void check_values(const reference_call *call, const char *name, const expectation *e, const tn_tensor *y);

/* All operands' snapshots. */
typedef struct snapshots {
    int n;
    snapshot each[SAMPLE_ARGUMENTS + SAMPLE_LIST];
} snapshots;

void call_snapshots(const reference_call *call, snapshots *all);
/* Fails the test when an operand changed, but for the elements of `written` (may be NULL). Frees the snapshots. */
void check_snapshots(const reference_call *call, const char *name, snapshots *all, const tn_tensor *written);
void drop_snapshots(snapshots *all);

/* Fails the test unless an error is pending that is a proper one of `name`; then clears it. */
void check_error(const char *what, const char *name);

#endif
