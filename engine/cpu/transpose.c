/* Transposition by blocks of one cache line on a side: a block's lines are read whole along the source and written
 * whole along the target. Far beyond the caches the target's lines are written around them, which they need not be
 * read for. */
#include "cpu/transpose.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LINE = 64 };

typedef struct grid {
    char *to;
    const char *from;
    int64_t to_stride, from_stride; /* bytes from row to row of each */
} grid;

/* Columns i_begin .. i_end-1 of rows j_begin .. j_end-1, element by element. */
#define TURN(T, name)                                                                                             \
    static void name(const grid *g, int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end)               \
    {                                                                                                             \
        for (int64_t j = j_begin; j < j_end; j++) {                                                               \
            T *y = (T *)(void *)(g->to + j * g->to_stride);                                                       \
            const char *x = g->from + j * (int64_t)sizeof(T);                                                     \
            for (int64_t i = i_begin; i < i_end; i++)                                                             \
                y[i] = *(const T *)(const void *)(x + i * g->from_stride);                                        \
        }                                                                                                         \
    }
typedef struct sixteen {
    uint64_t half[2];
} sixteen;
TURN(uint8_t, turn_1)
TURN(uint16_t, turn_2)
TURN(uint32_t, turn_4)
TURN(uint64_t, turn_8)
TURN(sixteen, turn_16)

typedef void (*turn)(const grid *g, int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end);

static turn turn_of(int64_t itemsize)
{
    switch (itemsize) {
    case 1:
        return turn_1;
    case 2:
        return turn_2;
    case 4:
        return turn_4;
    case 8:
        return turn_8;
    default:
        return turn_16;
    }
}

#if defined(__SSE2__)
static inline __attribute__((always_inline)) void put(char *y, __m128i v, bool stream)
{
    if (stream)
        _mm_stream_si128((__m128i *)(void *)y, v);
    else
        _mm_storeu_si128((__m128i *)(void *)y, v);
}

static inline __m128i get(const char *x)
{
    return _mm_loadu_si128((const __m128i *)(const void *)x);
}

/* A block of 16 by 16 elements of 4 bytes at column i, row j: four lines of the target at a time. */
static inline __attribute__((always_inline)) void block_4(const grid *g, int64_t i, int64_t j, bool stream)
{
    for (int64_t row = j; row < j + 16; row += 4) {
        char *y = g->to + row * g->to_stride + 4 * i;
        for (int64_t column = i; column < i + 16; column += 4, y += 16) {
            const char *x = g->from + column * g->from_stride + 4 * row;
            __m128i a = get(x), b = get(x + g->from_stride), c = get(x + 2 * g->from_stride),
                    d = get(x + 3 * g->from_stride);
            __m128i ab_low = _mm_unpacklo_epi32(a, b), cd_low = _mm_unpacklo_epi32(c, d);
            __m128i ab_high = _mm_unpackhi_epi32(a, b), cd_high = _mm_unpackhi_epi32(c, d);
            put(y, _mm_unpacklo_epi64(ab_low, cd_low), stream);
            put(y + g->to_stride, _mm_unpackhi_epi64(ab_low, cd_low), stream);
            put(y + 2 * g->to_stride, _mm_unpacklo_epi64(ab_high, cd_high), stream);
            put(y + 3 * g->to_stride, _mm_unpackhi_epi64(ab_high, cd_high), stream);
        }
    }
}

/* A block of 8 by 8 elements of 8 bytes: two lines of the target at a time. */
static inline __attribute__((always_inline)) void block_8(const grid *g, int64_t i, int64_t j, bool stream)
{
    for (int64_t row = j; row < j + 8; row += 2) {
        char *y = g->to + row * g->to_stride + 8 * i;
        for (int64_t column = i; column < i + 8; column += 2, y += 16) {
            const char *x = g->from + column * g->from_stride + 8 * row;
            __m128i a = get(x), b = get(x + g->from_stride);
            put(y, _mm_unpacklo_epi64(a, b), stream);
            put(y + g->to_stride, _mm_unpackhi_epi64(a, b), stream);
        }
    }
}

/* Whole blocks of the rows j .. j + LINE / itemsize - 1, from column i on; returns the column after the last. */
static int64_t row_of_blocks(const grid *g, int64_t i, int64_t columns, int64_t j, int64_t itemsize, bool stream)
{
    if (itemsize == 4) {
        for (; i + 16 <= columns; i += 16)
            stream ? block_4(g, i, j, true) : block_4(g, i, j, false);
    } else {
        for (; i + 8 <= columns; i += 8)
            stream ? block_8(g, i, j, true) : block_8(g, i, j, false);
    }
    return i;
}

static bool turn_blocks(const grid *g, int64_t columns, int64_t rows, int64_t itemsize, bool stream)
{
    const int64_t side = LINE / itemsize;
    int64_t first = 0;
    if (itemsize != 4 && itemsize != 8)
        return false;
    stream = stream && g->to_stride % LINE == 0 && (uintptr_t)g->to % (uintptr_t)itemsize == 0;
    if (stream) /* up to where lines of the target begin */
        first = (int64_t)((LINE - (uintptr_t)g->to % LINE) % LINE) / itemsize;
    if (first > columns)
        first = columns;
    turn rest = turn_of(itemsize);
    int64_t j = 0;
    for (; j + side <= rows; j += side) {
        rest(g, 0, first, j, j + side);
        int64_t i = row_of_blocks(g, first, columns, j, itemsize, stream);
        rest(g, i, columns, j, j + side);
    }
    rest(g, 0, columns, j, rows);
    if (stream)
        _mm_sfence();
    return true;
}
#else
static bool turn_blocks(const grid *g, int64_t columns, int64_t rows, int64_t itemsize, bool stream)
{
    (void)g, (void)columns, (void)rows, (void)itemsize, (void)stream;
    return false;
}
#endif

void tni_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t columns, int64_t rows,
                   int64_t itemsize, bool stream)
{
    enum { SIDE = 16 };
    const grid g = {to, from, to_stride, from_stride};
    if (turn_blocks(&g, columns, rows, itemsize, stream))
        return;
    turn turned = turn_of(itemsize);
    for (int64_t i = 0; i < columns; i += SIDE)
        turned(&g, i, i + SIDE < columns ? i + SIDE : columns, 0, rows);
}
