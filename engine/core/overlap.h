/* Which writes are refused because elements share memory. As PyTorch: only what is sure and cheap to see. */
#ifndef TNI_CORE_OVERLAP_H
#define TNI_CORE_OVERLAP_H

#include "core/tensor.h"

/* Refuses a tensor that surely writes one cell twice: a stride of 0 over a size above 1. Sliding windows pass. */
tn_status tni_check_no_internal_overlap(const char *function, const tn_tensor *written);

/* Refuses to write a tensor that partly covers an operand. The same region read and written is fine, and so is what
 * cannot be judged: an operand that is not dense. */
tn_status tni_check_no_partial_overlap(const char *function, const tn_tensor *written, const tn_tensor *read);

/* Whether the two may share any byte at all. */
bool tni_may_share(const tn_tensor *a, const tn_tensor *b);

#endif
