/* Anomaly mode: a layer above recording that looks at results, and a look at gradients in the walk. */
#ifndef TNI_AUTOGRAD_ANOMALY_H
#define TNI_AUTOGRAD_ANOMALY_H

#include <tenon/anomaly.h>

#include "autograd/derivative.h"
#include "dispatch/keys.h"

enum { TNI_ANOMALY_NAN = 1, TNI_ANOMALY_INFINITY = 2 };

/* What the thread looks for, as a bit of its masks each: NaN alone, NaN and infinities. */
enum { TNI_ANOMALY_NAN_BIT = 46, TNI_ANOMALY_BIT = 47 };
#define TNI_KEYS_ANOMALY (UINT64_C(3) << TNI_ANOMALY_NAN_BIT)

/* What a walk that begins now looks for: kinds above, 0 for nothing. */
static inline unsigned tni_anomaly_kinds(void)
{
    const tni_thread *thread = &tni_this_thread;
    uint64_t keys = thread->include & ~thread->exclude;
    return keys & UINT64_C(1) << TNI_ANOMALY_BIT ? TNI_ANOMALY_NAN | TNI_ANOMALY_INFINITY
           : keys & UINT64_C(1) << TNI_ANOMALY_NAN_BIT ? TNI_ANOMALY_NAN : 0;
}

/* Looks at the gradients that a derivative has given, once it has. */
tn_status tni_anomaly_check(const tni_vjp *v, unsigned kinds);

#endif
