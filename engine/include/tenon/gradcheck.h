/* Checks of gradients against central differences: of any function made of operators, and of the operators themselves.
 *
 *     static tn_tensor *energy(void *context, tn_tensor *const *inputs, int n)
 *     {
 *         return tn_mul(tn_tanh(inputs[0]), inputs[1]);
 *     }
 *     if (tn_gradcheck(energy, NULL, inputs, 2, NULL, NULL) != TN_OK)
 *         fprintf(stderr, "%s\n", tn_error_message());
 */
#ifndef TENON_GRADCHECK_H
#define TENON_GRADCHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* The function to check: one result from its n inputs, the same every time. It runs in a scope of its own. NULL means
 * that it failed. */
typedef tn_tensor *(*tn_gradcheck_function)(void *context, tn_tensor *const *inputs, int n);

typedef struct tn_gradcheck_options {
    double eps;        /* half the distance of the two values of a difference; 0: 1e-6 */
    double atol, rtol; /* |analytic - numeric| may be atol + rtol |numeric|; 0: 1e-5 and 1e-3 */
    double nondet_tol; /* how far two walks may part; 0: not at all */
    bool fast_mode;    /* one derivative of each input, along a direction, in place of the Jacobian: for large ones */
} tn_gradcheck_options;

/* The worst entry of the Jacobian: of all as long as they pass, else the first that does not. */
typedef struct tn_gradcheck_result {
    int64_t compared;       /* entries; of a complex number two each */
    int input;              /* its number; of tn_gradgradcheck, n is the gradient of the result */
    int64_t element;        /* of the input, row-major; -1 in fast_mode */
    bool imaginary;         /* part of that element */
    int output;             /* 0; of tn_gradgradcheck, the input whose gradient it is that was differentiated */
    int64_t output_element;
    bool output_imaginary;
    double analytic, numeric, difference;
    double ratio;           /* difference / what it may be: at most 1 passes */
} tn_gradcheck_result;

/* Compares each entry of the Jacobian as the walk back gives it with (f(x + eps) - f(x - eps)) / (2 eps). Checks, too,
 * that two walks agree, that the walk is linear in the gradient it begins with, strided or not, that it takes a
 * gradient of zeros, and that gradients have the shape and dtype of their inputs.
 * inputs   n, of which those that require a gradient are checked: float64 or complex128, each element in memory of its
 *          own. Their elements are changed and changed back meanwhile
 * f        differentiable at the inputs: no kinks within eps
 * options  NULL: all as PyTorch has it
 * result   what was compared; NULL: nobody asks
 * errors   TN_ERROR_NOT_CLOSE (the message names input, element, both values and what their difference may be),
 *          TN_ERROR_NULL, TN_ERROR_ARGUMENT, TN_ERROR_NO_GRAPH (no input requires a gradient), TN_ERROR_DTYPE (such as
 *          float32, whose differences are too coarse), TN_ERROR_OVERLAP, TN_ERROR_DEVICE, TN_ERROR_MEMORY, and those of
 *          f and of derivatives
 * cost     a walk back for each element of the result, two calls of f for each element of the inputs; in fast_mode one
 *          walk, and two calls for each input
 * source   torch.autograd.gradcheck */
TN_API tn_status tn_gradcheck(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                              const tn_gradcheck_options *options, tn_gradcheck_result *result);

/* The same of the gradients: of the function that gives, from the inputs and the gradient of f's result, those of the
 * inputs. That gradient is chosen here. The graph of the walk must be recorded: derivatives made of operators.
 * errors  as tn_gradcheck
 * cost    as tn_gradcheck of that function
 * source  torch.autograd.gradgradcheck */
TN_API tn_status tn_gradgradcheck(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                                  const tn_gradcheck_options *options, tn_gradcheck_result *result);

/* Compares forward mode with the walk back: <w, J v> with <J' w, v>, for a direction v of each input, then of all
 * together. Exact but for rounding, so that a slip of 1e-9 shows. eps, atol and rtol are not used.
 * errors  as tn_gradcheck, and TN_ERROR_FORWARD_AD (a level is open)
 * cost    one walk, and one call of f with tangents for each input
 * source  Pearlmutter 1994, Neural Computation 6: the two modes are adjoint */
TN_API tn_status tn_gradcheck_forward(tn_gradcheck_function f, void *context, tn_tensor *const *inputs, int n,
                                      const tn_gradcheck_options *options, tn_gradcheck_result *result);

typedef enum tn_operator_verdict {
    TN_OPERATOR_OK,           /* all checks passed */
    TN_OPERATOR_FAULT,        /* one did not */
    TN_OPERATOR_CONSTANT,     /* nothing to differentiate: the result requires no gradient, whatever the inputs do */
    TN_OPERATOR_NO_DERIVATIVE /* recording a call of it is refused */
} tn_operator_verdict;

/* What came of an operator's checks. */
typedef struct tn_operator_check {
    const char *name; /* as tn_operator_name */
    tn_operator_verdict verdict;
    int samples, cases;            /* samples that were checked; times layouts and dtypes */
    int64_t compared;              /* entries of Jacobians */
    double first, second, forward; /* the worst error of gradcheck, gradgradcheck and gradcheck_forward: the difference
                                      of two values, over the value where it is above 1 */
    /* of a fault: */
    const char *form; /* as called, such as "add_" */
    char sample[160]; /* the arguments, such as "[3,4] [4] 2": shapes and numbers */
    char layout[100]; /* of the operands, and the dtype */
    char message[TN_ERROR_MESSAGE_SIZE];
    tn_gradcheck_result at;
} tn_operator_check;

/* Checks an operator of the table with the samples that it comes with: tn_gradcheck, tn_gradgradcheck and
 * tn_gradcheck_forward, in float64 and complex128, operands contiguous, transposed, sliced and expanded, together and
 * one by one, and the in-place form. Large Jacobians are checked in fast_mode.
 * number   0 .. tn_operator_count() - 1
 * options  NULL: as tn_gradcheck
 * check    what came of it. A fault is no error: it stands there, and nothing is raised
 * errors   TN_ERROR_NULL, TN_ERROR_ARGUMENT, TN_ERROR_MEMORY
 * cost     that of all its checks: milliseconds */
TN_API tn_status tn_gradcheck_operator(int number, const tn_gradcheck_options *options, tn_operator_check *check);

TN_END

#endif
