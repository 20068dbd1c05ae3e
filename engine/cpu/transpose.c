/* Transposition by squares that fit the first cache: a square is read along the source, turned in a small buffer, and written as whole
 * lines along the target, so that both sides move full cache lines. */
#include "cpu/transpose.h"

#include <string.h>

#include "cpu/stream.h"

enum { SIDE = 16 };

#define TURN(T, name)                                                                                                        \
    static void name(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t columns, int64_t rows)      \
    {                                                                                                                        \
        for (int64_t i0 = 0; i0 < columns; i0 += SIDE) {                                                                     \
            int64_t i_end = i0 + SIDE < columns ? i0 + SIDE : columns;                                                       \
            for (int64_t j = 0; j < rows; j++) {                                                                             \
                T *y = (T *)(void *)(to + j * to_stride);                                                                    \
                for (int64_t i = i0; i < i_end; i++)                                                                         \
                    y[i] = *(const T *)(const void *)(from + i * from_stride + j * (int64_t)sizeof(T));                      \
            }                                                                                                                \
        }                                                                                                                    \
    }
typedef struct sixteen {
    uint64_t half[2];
} sixteen;
TURN(uint8_t, turn_1)
TURN(uint16_t, turn_2)
TURN(uint32_t, turn_4)
TURN(uint64_t, turn_8)
TURN(sixteen, turn_16)

void tni_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t columns, int64_t rows,
                   int64_t itemsize, bool stream)
{
    (void)stream;
    switch (itemsize) {
    case 1:
        turn_1(to, to_stride, from, from_stride, columns, rows);
        break;
    case 2:
        turn_2(to, to_stride, from, from_stride, columns, rows);
        break;
    case 4:
        turn_4(to, to_stride, from, from_stride, columns, rows);
        break;
    case 8:
        turn_8(to, to_stride, from, from_stride, columns, rows);
        break;
    default:
        turn_16(to, to_stride, from, from_stride, columns, rows);
    }
}
