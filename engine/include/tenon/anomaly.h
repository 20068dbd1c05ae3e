/* Finding out where gradients go wrong: anomaly mode says which operator made the first NaN or infinity, an audit says
 * which parameters a backward left without a usable gradient.
 *
 *     tn_anomaly_mode(TN_ANOMALY_NOT_FINITE);
 *     loss = ...;         an operator that makes a NaN or an infinity is an error
 *     tn_backward(loss);  and so is a derivative that does
 *     tn_audit_write(parameters, names, n, write, context); */
#ifndef TENON_ANOMALY_H
#define TENON_ANOMALY_H

#include <stdint.h>
#include <tenon/error.h>
#include <tenon/print.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef enum tn_anomaly {
    TN_ANOMALY_OFF,
    TN_ANOMALY_NOT_FINITE, /* NaN and infinities */
    TN_ANOMALY_NAN         /* NaN alone: for programs whose infinities are meant, as in masks */
} tn_anomaly;

/* Has the thread's operators and backward walks look at every result from now on. The first operator whose result has
 * a NaN (an infinity) while no argument has one is an error that names it, the shapes, and the first element: an
 * argument's own, and a number such as the -inf of masked_fill, are not the operator's. In a walk the derivative whose
 * gradient has one, while the gradient that came in has none, names the operator that was recorded and
 * tn_anomaly_where's text.
 * mode    what counts; TN_ANOMALY_OFF, as at first: nothing is looked at, and nothing is spent
 * result  the mode before
 * errors  none of its own: it works while an error is pending. Calls then give TN_ERROR_ANOMALY; a new result is not
 *         made, what a call wrote in place stays written, gradients that were accumulated before stay
 * cost    one or two passes over each result
 * source  torch.autograd.set_detect_anomaly */
TN_API tn_anomaly tn_anomaly_mode(tn_anomaly mode);
TN_API tn_anomaly tn_anomaly_mode_now(void);

/* What calls that are recorded from now on, while anomaly mode is on, are said to belong to when their derivative goes
 * wrong: a layer's name, or TN_HERE. The text must stay, as literals do; NULL: nothing is said.
 * errors  none */
TN_API void tn_anomaly_where(const char *text);

/* "train.c:41" */
#define TN_HERE_TEXT(line) #line
#define TN_HERE_LINE(line) TN_HERE_TEXT(line)
#define TN_HERE __FILE__ ":" TN_HERE_LINE(__LINE__)

typedef enum tn_gradient_state {
    TN_GRADIENT_GOOD,
    TN_GRADIENT_NOT_REQUIRED, /* requires_grad is off */
    TN_GRADIENT_NONE,         /* none came: what was walked does not depend on it */
    TN_GRADIENT_ZERO,         /* every element is 0 */
    TN_GRADIENT_NOT_FINITE    /* some element is NaN or infinite */
} tn_gradient_state;

typedef struct tn_gradient_finding {
    tn_gradient_state state;
    int64_t numel, zeros, nans, infinities; /* elements of the gradient, and how many are that */
    double largest;                         /* magnitude of the largest finite element; 0: there is none */
} tn_gradient_finding;

/* Looks at the gradients of n parameters, after a backward.
 * findings  n of them are written; may be NULL
 * result    how many parameters are not TN_GRADIENT_GOOD; -1 with an error
 * errors    TN_ERROR_NULL, TN_ERROR_ARGUMENT (n below 0)
 * cost      one pass over the gradients */
TN_API int tn_audit_gradients(tn_tensor *const *parameters, int n, tn_gradient_finding *findings);

/* The same as text: a line of counts, and one for each parameter that is not good.
 * names   n of them; NULL: they are numbered
 * errors  as tn_audit_gradients, and TN_ERROR_FILE (write did not return 0) */
TN_API tn_status tn_audit_write(tn_tensor *const *parameters, const char *const *names, int n, tn_text_writer write,
                                void *context);

TN_END

#endif
