/* Layers: a function that sees every operator call of a thread before it runs.
 *
 * A layer counts, times, checks or refuses calls without a line in any operator. It is registered once, for the
 * process, with a context pointer, and switched on per thread. Later registrations see calls first. */
#ifndef TENON_LAYER_H
#define TENON_LAYER_H

#include <stdbool.h>
#include <tenon/error.h>
#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_op_call tn_op_call;

/* Handles a call: usually looks, calls tn_layer_next once, looks again, and returns its status. Operators that the
 * handler itself calls are not seen by the layer. */
typedef tn_status (*tn_layer_handler)(void *context, tn_op_call *call);

#define TN_MAX_LAYERS 8

/* Registers a layer; name must outlive it. Returns its number, or -1. errors TN_ERROR_NULL, TN_ERROR_STATE
 * (TN_MAX_LAYERS are taken) */
TN_API int tn_layer_register(const char *name, tn_layer_handler handler, void *context);
/* Takes it off again. No thread may be inside it, and it should be disabled everywhere. errors TN_ERROR_ARGUMENT */
TN_API tn_status tn_layer_unregister(int layer);
/* Switches it on or off for the calling thread. errors TN_ERROR_ARGUMENT */
TN_API tn_status tn_layer_enable(int layer, bool on);

/* Goes on with the call below this layer. */
TN_API tn_status tn_layer_next(tn_op_call *call);

/* What is called: the operator's name, its tensor arguments (NULL where an optional one is absent), and, after
 * tn_layer_next, its results. */
TN_API const char *tn_op_call_name(const tn_op_call *call);
TN_API int tn_op_call_input_count(const tn_op_call *call);
TN_API tn_tensor *tn_op_call_input(const tn_op_call *call, int i);
TN_API int tn_op_call_output_count(const tn_op_call *call);
TN_API tn_tensor *tn_op_call_output(const tn_op_call *call, int i);

TN_END

#endif
