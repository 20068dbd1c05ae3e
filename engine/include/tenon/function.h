/* Operators of the user's own, with their derivatives: torch.autograd.Function as a struct.
 *
 *     static tn_tensor *forward(tn_function_call *call, tn_tensor *const *inputs, int n)
 *     {
 *         tn_tensor *y = tn_exp(inputs[0]);
 *         tn_save_for_backward(call, &y, 1);
 *         return y;
 *     }
 *     static tn_status backward(tn_function_call *call, tn_tensor *gradient, tn_tensor **grads)
 *     {
 *         grads[0] = tn_mul(gradient, tn_saved_tensor(call, 0));
 *         return tn_error_code();
 *     }
 *     static const tn_function my_exp = {.name = "MyExp", .forward = forward, .backward = backward};
 *     tn_tensor *y = tn_apply(&my_exp, &x, 1, NULL);        grad_fn is MyExpBackward
 *
 * tn_gradcheck checks it like any other function. */
#ifndef TENON_FUNCTION_H
#define TENON_FUNCTION_H

#include <stdbool.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

/* One use of a function, from the call on until its graph is gone. */
typedef struct tn_function_call tn_function_call;

typedef struct tn_function {
    const char *name; /* its nodes are NAMEBackward */

    /* The result, a new tensor: no input, and no view of one. Nothing is recorded here, and tangents are not seen. The
     * inputs must not be written. NULL means that it failed. */
    tn_tensor *(*forward)(tn_function_call *call, tn_tensor *const *inputs, int n);

    /* Writes the gradient of each input that needs one (tn_needs_input_grad) from that of the result; NULL, as they are
     * at first, stands for zeros. A gradient may have any shape that the input broadcasts to. Made of operators, it can
     * be differentiated in turn. An error that it raises, or a status but TN_OK, ends the walk. */
    tn_status (*backward)(tn_function_call *call, tn_tensor *gradient, tn_tensor **grads);

    /* Optional: the tangent of the result from those of the inputs, NULL where one has none. Without it, it follows
     * from backward, the result of which must then be made of operators. NULL is zero. */
    tn_tensor *(*jvp)(tn_function_call *call, tn_tensor *const *tangents);

    void (*end)(void *context);  /* optional: called once with the context of each tn_apply, when it is done with */
    bool once_differentiable;    /* backward is not made of operators: a recorded walk through it is refused */
} tn_function;

/* Applies the function: runs forward, and has its result remember backward if an input requires a gradient.
 * function  lives as long as the graph: a constant
 * inputs    n; NULL stands for one that is left off
 * context   what the callbacks see (tn_function_context); `end` gives it up, also when this fails
 * result    a new tensor, or NULL
 * grad      as backward says, any number of times
 * errors    TN_ERROR_NULL, TN_ERROR_ARGUMENT, TN_ERROR_STATE (forward gave NULL and raised nothing, or wrote an input),
 *           TN_ERROR_OVERLAP (forward returned an input, or a view of one), TN_ERROR_MEMORY, and what forward raises
 * source    torch.autograd.Function.apply */
TN_API tn_tensor *tn_apply(const tn_function *function, tn_tensor *const *inputs, int n, void *context);

/* The context of the call; NULL for NULL.
 * errors  none */
TN_API void *tn_function_context(const tn_function_call *call);

/* Whether the gradient of input i is asked for: in forward, whether it requires one.
 * errors  none: false for a number out of range */
TN_API bool tn_needs_input_grad(const tn_function_call *call, int i);

/* For forward: keeps n tensors for backward: inputs, the result, or others, NULL among them. The last call counts.
 * What is written between forward and backward is noticed (TN_ERROR_SAVED_VERSION); the result is kept without a cycle.
 * errors  TN_ERROR_NULL, TN_ERROR_STATE (outside forward), TN_ERROR_ARGUMENT (more than 200), TN_ERROR_MEMORY
 * source  torch.autograd.function.FunctionCtx.save_for_backward */
TN_API tn_status tn_save_for_backward(tn_function_call *call, tn_tensor *const *tensors, int n);

/* For backward and jvp: tensor i of those, with its history, so that backward can be differentiated. NULL for a NULL
 * that was kept.
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX, TN_ERROR_STATE (in forward), TN_ERROR_SAVED_VERSION; then NULL
 * source  torch.autograd.function.FunctionCtx.saved_tensors */
TN_API tn_tensor *tn_saved_tensor(tn_function_call *call, int i);

/* For forward: the result requires no gradient, whatever the inputs do, and has no tangent.
 * errors  TN_ERROR_NULL
 * source  torch.autograd.function.FunctionCtx.mark_non_differentiable */
TN_API tn_status tn_mark_non_differentiable(tn_function_call *call);

TN_END

#endif
