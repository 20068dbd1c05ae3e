/* Which writes are refused because elements share memory. As PyTorch: only what is sure and cheap to see. */
#ifndef TNI_CORE_OVERLAP_H
#define TNI_CORE_OVERLAP_H

#include "core/tensor.h"

/* Refuses a tensor that surely writes one cell twice: a stride of 0 over a size above 1. Sliding windows pass. */
tn_status tni_check_no_internal_overlap(const char *function, const tn_tensor *written);

/* Refuses to write a tensor that partly covers an operand. The same region read and written is fine, and so is what
 * cannot be judged: an operand that is not dense. */
tn_status tni_check_no_partial_overlap(const char *function, const tn_tensor *written, const tn_tensor *read);

/* Refuses to write a tensor that covers any of an operand (`what`), be it all of it: for writes whose order would show.
 * What is not dense cannot be judged and passes. */
tn_status tni_check_no_overlap(const char *function, const tn_tensor *written, const tn_tensor *read, const char *what);

/* Whether the two may share any byte at all. */
bool tni_may_share(const tn_tensor *a, const tn_tensor *b);

#endif
