/* Copying a grid whose source runs along the other axis. */
#ifndef TNI_CPU_TRANSPOSE_H
#define TNI_CPU_TRANSPOSE_H

#include <stdbool.h>
#include <stdint.h>

/* to[j * to_stride + i] = from[i * from_stride + j] for i < columns, j < rows, elements of itemsize bytes (1, 2, 4,
 * 8, 16), strides in bytes. `stream`: the target is far larger than the caches. The grids do not overlap. */
void tni_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t columns, int64_t rows,
                   int64_t itemsize, bool stream);

#endif
