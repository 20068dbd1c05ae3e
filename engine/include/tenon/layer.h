/* Layers: a function that sees every operator call of a thread before it runs.
 *
 * A layer counts, times, checks or refuses calls without a line in any operator. It is registered once, for the
 * process, with a context pointer, and switched on per thread. A layer with a higher number sees calls first. */
#ifndef TENON_LAYER_H
#define TENON_LAYER_H

#include <stdbool.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_op_call tn_op_call;

/* Handles a call: usually looks, calls tn_layer_next once, looks again, and returns its status. Operators that the
 * handler itself calls are not seen by the layer.
 * A handler that fails or refuses raises an error (tn_fail) and returns its code. If it returns a code and raised
 * nothing, the library raises that code in the operator's name; if it returns TN_OK and there is no result,
 * TN_ERROR_STATE. */
typedef tn_status (*tn_layer_handler)(void *context, tn_op_call *call);

#define TN_MAX_LAYERS 8

/* Registers a layer. The name and what context points to must outlive it.
 * result  its number, the lowest that is free: 0 .. TN_MAX_LAYERS-1. That of an unregistered layer is given out again
 * errors  TN_ERROR_NULL, TN_ERROR_STATE (all numbers are taken); then -1 */
TN_API int tn_layer_register(const char *name, tn_layer_handler handler, void *context);

/* Takes it off again, and disables it on the calling thread. No thread may be inside it, and it must be disabled on
 * every other thread, which would go on with the next layer of that number.
 * errors  TN_ERROR_ARGUMENT (no layer has that number) */
TN_API tn_status tn_layer_unregister(int layer);

/* Switches it on or off for the calling thread; off at first.
 * errors  TN_ERROR_ARGUMENT (no layer has that number) */
TN_API tn_status tn_layer_enable(int layer, bool on);

/* Goes on with the call below this layer: lower layers, then the operator itself. For handlers, within the call.
 * errors  TN_ERROR_NULL, and those of the operator and the lower layers */
TN_API tn_status tn_layer_next(tn_op_call *call);

/* What is called: the operator's name ("add_out"), its tensor arguments, and its results.
 * tn_op_call_input   NULL where an optional argument is absent or a number stands in its place
 * tn_op_call_output  NULL for a new result until tn_layer_next has made it
 * The call lives until the handler returns; the tensors belong to the caller, new results to the innermost scope.
 * errors  none: NULL, or a number out of range, gives "", 0 or NULL. They work while an error is pending */
TN_API const char *tn_op_call_name(const tn_op_call *call);
TN_API int tn_op_call_input_count(const tn_op_call *call);
TN_API tn_tensor *tn_op_call_input(const tn_op_call *call, int i);
TN_API int tn_op_call_output_count(const tn_op_call *call);
TN_API tn_tensor *tn_op_call_output(const tn_op_call *call, int i);

TN_END

#endif
