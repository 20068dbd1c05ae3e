/* What every operator should give, written anew in float64 (long double where sums need it) by naive loops over logical
 * indices. */
#ifndef TENON_TESTS_SUPPORT_REFERENCE_H
#define TENON_TESTS_SUPPORT_REFERENCE_H

#include "support/grid.h"
#include "support/samples.h"

/* The arguments of one call: as the sample has them, tensors with their values. */
typedef struct reference_argument {
    sample_kind kind;
    const sample_argument *given;
    grid grid;
    tn_tensor *tensor;
    struct grid list[SAMPLE_LIST]; /* of a list of tensors; cells NULL: none */
    tn_tensor *tensors[SAMPLE_LIST];
} reference_argument;

typedef struct reference_call {
    const char *name;
    int n;
    reference_argument arguments[SAMPLE_ARGUMENTS];
} reference_call;

/* SHARES_MEMORY: the same storage, but no view. A view operator that should give SHARES_NOTHING should refuse. */
typedef enum sharing { SHARES_NOTHING, SHARES_STORAGE, SHARES_MEMORY, IS_SAME } sharing;

typedef struct expectation {
    grid grid;       /* shape, dtype, values */
    double *bounds;  /* how far each float may be off; NULL: not at all */
    const char **at; /* of a view: the address of each element; NULL otherwise */
    sharing shares;
} expectation;

/* False when there is no reference for that operator. */
bool reference_of(const reference_call *call, expectation *e);
void expectation_free(expectation *e);

/* reference_of for views: reference_views.c. *e must be zero. */
bool reference_of_view(const reference_call *call, expectation *e);

/* The same for creation, copies and masks: reference_create.c. */
bool reference_of_creation(const reference_call *call, expectation *e);

/* The same for operators that take positions: reference_index.c. */
bool reference_of_index(const reference_call *call, expectation *e);

/* The same for operators of two operands: reference_binary.c. */
bool reference_of_binary(const reference_call *call, expectation *e);

/* The same for addcmul, addcdiv and lerp: reference_ternary.c. */
bool reference_of_ternary(const reference_call *call, expectation *e);

/* The same for reductions and what runs along a dim: reference_reduction.c. */
bool reference_of_reduction(const reference_call *call, expectation *e);

/* The same for activations: reference_activation.c. */
bool reference_of_activation(const reference_call *call, expectation *e);

/* x rounded to the dtype. */
cell reference_rounded(long double x, tn_dtype dtype);

/* The same for softmax and losses: reference_losses.c. */
bool reference_of_loss(const reference_call *call, expectation *e);

/* Argument i; NULL when it was left off. */
const reference_argument *reference_given(const reference_call *call, int i);

/* Argument i, a dtype, or `otherwise`; the dtype that a bare number has. */
tn_dtype reference_dtype(const reference_call *call, int i, tn_dtype otherwise);
tn_dtype reference_scalar_dtype(tn_scalar s);

/* The element of an operand that broadcasts to `result`, at an index of that, in dtype. */
cell reference_operand(const reference_argument *a, const grid *result, const int64_t *index, tn_dtype dtype);

/* The shape that the first `operands` arguments broadcast to, into `shape`. */
void reference_broadcast(const reference_call *call, int operands, grid *shape);

/* The step from x to the next number of the dtype; room for the bounds of e's elements. */
double reference_ulp(double x, tn_dtype dtype);
double *reference_bounds(expectation *e);

/* Argument i, an integer, or what it is when it was left off. */
int64_t reference_integer(const reference_call *call, int i, int64_t otherwise);

/* Argument i, a list of dims, as bits: all of them when it was left off or is empty. */
uint64_t reference_dims(const reference_call *call, int i, int ndim);

/* The dtype of a result of operands (float32, float64, int64, bool): priority by dims, then kinds. As
 * torch.result_type. */
tn_dtype reference_promote(const reference_call *call, int operands);

#endif
