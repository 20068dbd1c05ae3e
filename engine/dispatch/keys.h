/* Dispatch keys: bits of a uint64, backends low, layers above; the highest bit of a call is handled first.
 *
 *     bit 0, 1      CPU, META           (core/tensor.h)
 *     bit 32 .. 34  CONJ, NEG, ZERO     views with a pending conjugation or sign, zeros without memory (core/lazy.h)
 *     bit 40        TAPE                records (autograd/record.c)
 *     bit 41        INFERENCE           made in inference mode, or the thread is in it
 *     bit 42        DUAL                computes tangents (autograd/forward.c)
 *     bit 46, 47    ANOMALY             looks for NaN and infinities in results (autograd/anomaly.c)
 *     bit 48 .. 55  layers registered from outside (tenon/layer.h)
 *
 * A tensor carries its bits; a thread adds `include` and takes `exclude` away. */
#ifndef TNI_DISPATCH_KEYS_H
#define TNI_DISPATCH_KEYS_H

#include <stdint.h>
#include <tenon/layer.h>

#include "core/lazy.h"

#define TNI_LAYER_BIT(i) (48 + (i))
#define TNI_KEY_LAYER(i) (UINT64_C(1) << TNI_LAYER_BIT(i))
#define TNI_BACKEND_KEYS UINT64_C(0xffffffff)
#define TNI_LAYER_KEYS (~TNI_BACKEND_KEYS)

/* Of the CONJ, NEG and ZERO bits: dispatch/lazy.c. */
tn_status tni_lazy_layer(void *context, tn_op_call *call);

/* Puts a handler on a layer bit, or takes it off with NULL. */
void tni_set_layer(int bit, tn_layer_handler handler, void *context);

#endif
