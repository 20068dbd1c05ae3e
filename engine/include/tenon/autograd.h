/* Gradients: which tensors require one, the walk back, and what sees gradients on their way.
 *
 * An operator on a tensor that requires a gradient is recorded: its result requires one too and remembers how it came
 * about (grad_fn). tn_backward walks that graph back and adds the gradients to the leaves' own; tn_grad returns them
 * instead. Semantics are PyTorch's, in-place writes and views included; what would give a wrong gradient is refused.
 *
 * Threads  modes (no_grad) are the thread's. Graphs that different threads recorded may be joined, and different
 *          threads may walk different graphs; a leaf is accumulated into by one thread at a time. */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/list.h>
#include <tenon/tensor.h>

TN_BEGIN

/* Whether x requires a gradient, as a leaf or as a recorded result. false for NULL.
 * errors  TN_ERROR_NULL */
TN_API bool tn_requires_grad(const tn_tensor *x);

/* Has operators on x recorded from now on (or no longer). Returns the status; x itself is changed.
 * x       floating or complex; switching off takes a leaf
 * errors  TN_ERROR_NULL, TN_ERROR_DTYPE, TN_ERROR_NOT_LEAF
 * source  torch.Tensor.requires_grad_ */
TN_API tn_status tn_requires_grad_(tn_tensor *x, bool on);

/* Whether x has no history: every tensor that does not require a gradient, and those that the user asked one for.
 * errors  TN_ERROR_NULL; that of a view whose history must not be told (then false)
 * source  torch.Tensor.is_leaf */
TN_API bool tn_is_leaf(tn_tensor *x);

/* A recorded call. Belongs to the graph; tn_grad_fn's result belongs to the innermost scope. */
typedef struct tn_node tn_node;

/* What made x; NULL for leaves.
 * errors  TN_ERROR_NULL; TN_ERROR_INPLACE_VIEW: a view whose base was written and whose history must not be told
 * source  torch.Tensor.grad_fn */
TN_API tn_node *tn_grad_fn(tn_tensor *x);

/* Its name as PyTorch prints it, such as "AddBackward0", cut to size and terminated. Returns the whole length.
 * errors  TN_ERROR_NULL */
TN_API int tn_node_name(const tn_node *node, char *buf, size_t size);

/* Which of the results of what made x it is: 0 but for those of calls with several, such as split.
 * errors  TN_ERROR_NULL, as tn_grad_fn
 * source  torch.Tensor.output_nr */
TN_API int tn_output_nr(tn_tensor *x);

/* The gradient accumulated in x: x's own reference, valid while x lives and nobody sets another; NULL: none.
 * errors  TN_ERROR_NULL
 * source  torch.Tensor.grad */
TN_API tn_tensor *tn_grad_of(const tn_tensor *x);

/* Puts a gradient (NULL: none) in its place; x then holds it.
 * grad    x's shape, dtype and device
 * errors  TN_ERROR_NULL, TN_ERROR_GRAD, TN_ERROR_MEMORY */
TN_API tn_status tn_set_grad(tn_tensor *x, tn_tensor *grad);

/* Has backward keep the gradient of a result as it does those of leaves.
 * errors  TN_ERROR_NULL, TN_ERROR_NO_GRAPH (x requires no gradient), TN_ERROR_MEMORY
 * source  torch.Tensor.retain_grad */
TN_API tn_status tn_retain_grad(tn_tensor *x);
TN_API bool tn_retains_grad(const tn_tensor *x);

typedef struct tn_backward_options {
    bool retain_graph; /* the graph can be walked again */
    bool create_graph; /* the walk is recorded, so that gradients can be differentiated; retains the graph */
    tn_tensor *const *inputs; /* accumulate into these alone; NULL: into all leaves */
    int n_inputs;
} tn_backward_options;

/* Walks the graph of x back and adds the gradients of its leaves to their own.
 * gradient  of x's shape; NULL: 1, for an x of one element
 * errors    TN_ERROR_NULL, TN_ERROR_NO_GRAPH, TN_ERROR_GRAD, TN_ERROR_GRAPH_FREED, TN_ERROR_SAVED_VERSION,
 *           TN_ERROR_MEMORY, and those of derivatives. Gradients that were accumulated before an error stay
 * cost      O(nodes log pending nodes) beside the derivatives; constant stack
 * source    torch.Tensor.backward */
TN_API tn_status tn_backward(tn_tensor *x);
TN_API tn_status tn_backward_with(tn_tensor *x, tn_tensor *gradient, const tn_backward_options *options);

/* The same from several roots at once; gradients (NULL: all 1) has n entries, each may be NULL.
 * errors  as tn_backward
 * source  torch.autograd.backward */
TN_API tn_status tn_backward_many(tn_tensor *const *outputs, tn_tensor *const *gradients, int n,
                                  const tn_backward_options *options);

typedef struct tn_grad_options {
    bool retain_graph, create_graph;
    bool allow_unused; /* an input that the outputs do not depend on gives an absent gradient instead of an error */
} tn_grad_options;

/* The gradients of the outputs' sum with respect to the inputs, in a list; accumulates nothing. An absent gradient is
 * NULL in the list.
 * gradients  as tn_backward_many
 * errors     as tn_backward_many, and TN_ERROR_GRAD (unused input); then NULL
 * source     torch.autograd.grad */
TN_API tn_list *tn_grad(tn_tensor *const *outputs, tn_tensor *const *gradients, int n_outputs,
                        tn_tensor *const *inputs, int n_inputs, const tn_grad_options *options);

/* Modes of the thread. Each returns the one before, for tn_grad_mode_restore.
 *   no_grad        nothing is recorded
 *   enable_grad    recorded again, inside of no_grad
 *   inference      nothing is recorded, and tensors made here never can be
 * errors  none; they work while an error is pending
 * source  torch.no_grad, torch.enable_grad, torch.inference_mode */
typedef struct tn_grad_mode {
    bool enabled, inference;
} tn_grad_mode;
TN_API tn_grad_mode tn_no_grad(void);
TN_API tn_grad_mode tn_enable_grad(void);
TN_API tn_grad_mode tn_inference_mode(void);
TN_API void tn_grad_mode_restore(tn_grad_mode mode);
TN_API bool tn_is_grad_enabled(void);
TN_API bool tn_is_inference_mode(void);

/* Whether x was made in inference mode, or is a view of such a tensor. Outside of the mode it can be read, but neither
 * written nor kept for a gradient (TN_ERROR_INFERENCE), and versions are not counted. false for NULL.
 * errors  TN_ERROR_NULL
 * source  torch.Tensor.is_inference */
TN_API bool tn_is_inference(const tn_tensor *x);

/* Sees a gradient; returns NULL to leave it, or another of the same shape to go on with in its place.
 * It runs during the walk, inside a scope of its own. An error that it raises ends the walk. */
typedef tn_tensor *(*tn_hook_function)(void *context, tn_tensor *grad);

/* Has `hook` see the gradient of x whenever it was computed, before it goes on. Hooks run in the order they came. On a
 * result the hook stays with the value that x had: after an in-place write it sees the gradient of the older value.
 * result  a handle for tn_hook_remove: 1 or more; 0 with an error
 * errors  TN_ERROR_NULL, TN_ERROR_NO_GRAPH, TN_ERROR_MEMORY
 * source  torch.Tensor.register_hook */
TN_API int64_t tn_register_hook(tn_tensor *x, tn_hook_function hook, void *context);

/* Has `hook` called after the gradient of leaf x was accumulated; it gets that gradient; what it returns is ignored.
 * errors  TN_ERROR_NULL, TN_ERROR_NOT_LEAF, TN_ERROR_NO_GRAPH, TN_ERROR_MEMORY
 * source  torch.Tensor.register_post_accumulate_grad_hook */
TN_API int64_t tn_register_post_accumulate_grad_hook(tn_tensor *x, tn_hook_function hook, void *context);

/* Takes a hook off x. Removing one that is gone does nothing.
 * errors  TN_ERROR_NULL */
TN_API tn_status tn_hook_remove(tn_tensor *x, int64_t handle);

TN_END

#endif
