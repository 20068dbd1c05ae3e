/* One check of gradients, as the files that make it up share it. */
#ifndef TNI_OPS_GRADCHECK_H
#define TNI_OPS_GRADCHECK_H

#include <tenon/gradcheck.h>

#include "core/tensor.h"

typedef struct tni_gradcheck {
    const char *name; /* for messages */
    tn_gradcheck_function function;
    void *context;
    tn_tensor *const *inputs;
    int n;
    tn_gradcheck_options options; /* the defaults filled in */
    tn_gradcheck_result *result;
    tn_tensor *gradient; /* second order: of the function's result, the last of `moved`. NULL: first order */
    tn_tensor **moved;   /* n_moved: what derivatives are taken of; moved[i] is input number[i] */
    int *number;
    int n_moved;
    tn_tensor **outputs; /* n_outputs: what is differentiated, as the last run made it */
    int n_outputs;
    int *parts;           /* real numbers in an element of output o: 1 or 2 */
    int64_t *at, *row_at; /* the first column of moved[i], the first row of output o; one more: all */
    int64_t rows, columns;
    double *jacobian; /* rows x columns, as the walk gives it */
} tni_gradcheck;

/* Checks the arguments, makes room, and calls check with recording on, in a scope of its own. */
tn_status tni_gradcheck_run(tni_gradcheck *s, const tn_gradcheck_options *options, tn_gradcheck_result *result,
                            tn_status (*check)(tni_gradcheck *s));

/* The function's result, of a dtype that will do; or NULL with an error. */
tn_tensor *tni_gradcheck_call(const tni_gradcheck *s);

/* Where each input's columns and each output's rows begin. */
void tni_gradcheck_lay_out(tni_gradcheck *s, tn_tensor *const *outputs);

/* The real numbers of x, row-major; zeros for NULL. */
tn_status tni_gradcheck_read(tn_tensor *x, double *to, int64_t n);

/* The gradients of all that is moved, from that of an output: a row of the Jacobian, or a sum of rows. */
tn_status tni_gradcheck_walk(const tni_gradcheck *s, tn_tensor *output, tn_tensor *gradient, double *row);

/* All rows of the outputs, for the inputs as they are now. */
tn_status tni_gradcheck_evaluate(const tni_gradcheck *s, double *values);

/* Real number c of x, in memory. */
double *tni_gradcheck_place(const tn_tensor *x, int64_t c);

/* In place of the Jacobian, once outputs are there and laid out: fast_mode. */
tn_status tni_gradcheck_fast(const tni_gradcheck *s);

/* A number of size 0.25 to 1, the same for the same i. */
double tni_probe_value(uint64_t i);

/* A new tensor of that shape and dtype with those real numbers, row-major. */
tn_tensor *tni_gradcheck_tensor(const tn_tensor *like, const double *values);

/* Real numbers in an element, and in all of x. */
static inline int tni_gradcheck_parts(const tn_tensor *x)
{
    return tni_dtype_kind((tn_dtype)x->dtype) == TNI_COMPLEX ? 2 : 1;
}

static inline int64_t tni_gradcheck_count(const tn_tensor *x)
{
    return x->numel * tni_gradcheck_parts(x);
}

#endif
