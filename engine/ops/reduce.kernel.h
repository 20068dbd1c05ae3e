/* Rows and columns of one dtype. Included with T (element), A (accumulator of sums), T_INT (integer of T's size),
 * IS_NAN, SUFFIX. Vectors are written as GCC and clang know them, 64 bytes each, so that every CPU level has the same
 * 32 lanes and the same bits. */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define F(name) JOIN(name, SUFFIX)

typedef T F(part) __attribute__((vector_size(8 * sizeof(T)), aligned(__alignof__(T)), may_alias)); /* in memory */
typedef A F(sums) __attribute__((vector_size(8 * sizeof(A))));
typedef T F(lanes) __attribute__((vector_size(8 * sizeof(T))));
typedef T_INT F(mask) __attribute__((vector_size(8 * sizeof(T))));

/* 32 elements added to the 32 lanes. */
#define ADD_32(x)                                                            \
    do {                                                                     \
        a += __builtin_convertvector(*(const F(part) *)(x), F(sums));        \
        b += __builtin_convertvector(*(const F(part) *)((x) + 8), F(sums));  \
        c += __builtin_convertvector(*(const F(part) *)((x) + 16), F(sums)); \
        d += __builtin_convertvector(*(const F(part) *)((x) + 24), F(sums)); \
    } while (0)

static tni_total F(sum_row)(const void *data, int64_t stride, int64_t n)
{
    const T *x = data;
    F(sums) a = {0}, b = {0}, c = {0}, d = {0};
    T block[32];
    int64_t i = 0;
    if (stride == 1)
        for (; i + 32 <= n; i += 32)
            ADD_32(x + i);
    for (; i < n; i += 32) { /* gathered; the last block is filled up with zeros */
        for (int64_t l = 0; l < 32; l++)
            block[l] = i + l < n ? x[(i + l) * stride] : 0;
        ADD_32(block);
    }
    a = (a + c) + (b + d);
    A total = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
    tni_total result;
    memcpy(&result, &total, sizeof total);
    return result;
}
#undef ADD_32

static void F(sum_columns)(void *totals, const void *data, int64_t row_stride, int64_t rows, int64_t columns)
{
    A *total = totals;
    const T *x = data;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride) {
        const T *y = x + 4 * row_stride;
        for (int64_t c = 0; c < columns; c++) {
            A first = total[c] + (A)x[c] + (A)x[row_stride + c] + (A)x[2 * row_stride + c] + (A)x[3 * row_stride + c];
            total[c] = first + (A)y[c] + (A)y[row_stride + c] + (A)y[2 * row_stride + c] + (A)y[3 * row_stride + c];
        }
    }
    for (; r < rows; r++, x += row_stride)
        for (int64_t c = 0; c < columns; c++)
            total[c] += (A)x[c];
}

#define EXTREME max
#define BEYOND >
#include "ops/extreme.kernel.h"

#define EXTREME min
#define BEYOND <
#include "ops/extreme.kernel.h"

#undef F
#undef JOIN
#undef JOIN_
#undef T
#undef A
#undef T_INT
#undef IS_NAN
#undef SUFFIX
