/* Copying around the caches. */
#ifndef TNI_CPU_STREAM_H
#define TNI_CPU_STREAM_H

#include <stddef.h>

/* memcpy for targets far larger than the caches. The stores are ordered before what the caller does next. */
void tni_stream_copy(void *to, const void *from, size_t bytes);

#endif
