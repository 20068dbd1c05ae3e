/* Memory formats as geometry. */
#ifndef TNI_CORE_FORMAT_H
#define TNI_CORE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/views.h>

/* A format that tensors of that rank can have: channels_last takes 4 dims, channels_last_3d 5, the others any. */
tn_status tni_check_format(const char *function, tn_memory_format format, const int64_t *sizes, int ndim);

/* The strides of a new tensor in that format, which passed tni_check_format; preserve counts as row-major. Sizes passed
 * tni_numel. */
void tni_format_strides(tn_memory_format format, const int64_t *sizes, int ndim, int64_t *strides);

/* Whether the strides are the format's; those of size-1 dims do not count. preserve asks for row-major. */
bool tni_has_format(tn_memory_format format, const int64_t *sizes, const int64_t *strides, int ndim);

/* The memory format that the strides ask for, row-major where they leave it open: Tensor.suggest_memory_format. */
tn_memory_format tni_suggested_format(const tn_tensor *x);

#endif
