/* Rows and columns of one dtype. Included with T (element), A (accumulator of sums), T_INT (integer of T's size),
 * T_TURN (ops/extreme.kernel.h), IS_NAN, WIDENED (8 elements as accumulators), SUFFIX. Vectors are written as GCC and
 * clang know them, 64 bytes each, so that every CPU level has the same 32 lanes and the same bits. */
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define F(name) JOIN(name, SUFFIX)

typedef T F(part) __attribute__((vector_size(8 * sizeof(T)), aligned(__alignof__(T)), may_alias)); /* in memory */
typedef A F(sums) __attribute__((vector_size(8 * sizeof(A))));
typedef T F(lanes) __attribute__((vector_size(8 * sizeof(T))));
typedef T_INT F(mask) __attribute__((vector_size(8 * sizeof(T))));

/* 8 elements in memory, widened. */
#define SUMS_AT(x) WIDENED(*(const F(part) *)(x))

static inline A F(add_lanes)(F(sums) t)
{
    typedef A half __attribute__((vector_size(4 * sizeof(A))));
    typedef A quarter __attribute__((vector_size(2 * sizeof(A))));
    half u = __builtin_shufflevector(t, t, 0, 1, 2, 3) + __builtin_shufflevector(t, t, 4, 5, 6, 7);
    quarter v = __builtin_shufflevector(u, u, 0, 1) + __builtin_shufflevector(u, u, 2, 3);
    return v[0] + v[1];
}

/* The last n < 8 elements of a row and zeros. `beyond`: 8 elements may be read. */
static inline F(sums) F(sums_of_rest)(const T *x, int64_t n, bool beyond)
{
    static const T_INT keep[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    typedef T_INT mask_part __attribute__((vector_size(8 * sizeof(T)), aligned(__alignof__(T)), may_alias));
    T block[8] = {0};
    if (beyond) {
        F(mask) bits = (F(mask)) * (const F(part) *)x & *(const mask_part *)(keep + 8 - n);
        return WIDENED((F(lanes))bits);
    }
    for (int64_t i = 0; i < n; i++)
        block[i] = x[i];
    return SUMS_AT(block);
}

/* A dense row. Lanes start from +0 and never become -0, so that a lane that gets no element need not be added. */
static NOINLINE A F(sum_dense)(const T *x, int64_t n, bool beyond)
{
    F(sums) a = {0}, b = {0}, c = {0}, d = {0}, rest = {0};
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a += SUMS_AT(x + i);
        b += SUMS_AT(x + i + 8);
        c += SUMS_AT(x + i + 16);
        d += SUMS_AT(x + i + 24);
    }
    x += i;
    n -= i;
    if (n % 8)
        rest = F(sums_of_rest)(x + n / 8 * 8, n % 8, beyond);
    switch (n / 8) {
    case 0:
        return F(add_lanes)((a + rest + c) + (b + d));
    case 1:
        return F(add_lanes)((a + SUMS_AT(x) + c) + (b + rest + d));
    case 2:
        return F(add_lanes)((a + SUMS_AT(x) + (c + rest)) + (b + SUMS_AT(x + 8) + d));
    default:
        return F(add_lanes)((a + SUMS_AT(x) + (c + SUMS_AT(x + 16))) + (b + SUMS_AT(x + 8) + (d + rest)));
    }
}

static tni_total F(sum_row)(const void *data, int64_t stride, int64_t n)
{
    const T *x = data;
    T block[32];
    A total;
    if (stride == 1) {
        total = F(sum_dense)(x, n, false);
    } else {
        F(sums) a = {0}, b = {0}, c = {0}, d = {0};
        for (int64_t i = 0; i < n; i += 32) { /* gathered; the last block is filled up with zeros */
            for (int64_t l = 0; l < 32; l++)
                block[l] = i + l < n ? x[(i + l) * stride] : 0;
            a += SUMS_AT(block);
            b += SUMS_AT(block + 8);
            c += SUMS_AT(block + 16);
            d += SUMS_AT(block + 24);
        }
        total = F(add_lanes)((a + c) + (b + d));
    }
    tni_total result;
    memcpy(&result, &total, sizeof total);
    return result;
}

/* Element by element of 8 rows, `stride` apart. */
static inline F(lanes) F(across)(const T *x, int64_t row_stride)
{
    const T *y = x + 4 * row_stride;
    if (row_stride == 1)
        return (F(lanes)) * (const F(part) *)x;
    return (F(lanes)){x[0], x[row_stride], x[2 * row_stride], x[3 * row_stride],
                      y[0], y[row_stride], y[2 * row_stride], y[3 * row_stride]};
}

/* sum_row of 8 rows at once: here lane[l] holds lane l of all 8. */
static inline void F(sum_8_rows)(A *totals, const T *x, int64_t row_stride, int64_t stride, int64_t n)
{
    F(sums) lane[32];
    const int64_t lanes = n < 32 ? n : 32;
    for (int64_t l = 0; l < lanes; l++)
        lane[l] = (F(sums)){0} + WIDENED(F(across)(x + l * stride, row_stride));
    for (int64_t i = 32; i < n; i++)
        lane[i % 32] += WIDENED(F(across)(x + i * stride, row_stride));
    for (int64_t half = 16; half > 0; half /= 2)
        for (int64_t l = half; l < lanes && l < 2 * half; l++)
            lane[l - half] += lane[l];
    memcpy(totals, lane, sizeof *lane);
}

static void F(sum_rows)(void *totals, const void *data, int64_t row_stride, int64_t stride, int64_t rows, int64_t n)
{
    A *total = totals;
    const T *x = data;
    int64_t r = 0;
    if (stride == 1 && n >= 8) {
        for (; r < rows; r++, x += row_stride)
            total[r] = F(sum_dense)(x, n, row_stride == n && r + 1 < rows);
        return;
    }
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride)
        F(sum_8_rows)(total + r, x, row_stride, stride, n);
    for (; r < rows; r++, x += row_stride) {
        tni_total one = F(sum_row)(x, stride, n);
        memcpy(total + r, &one, sizeof *total);
    }
}
typedef A F(totals_part) __attribute__((vector_size(8 * sizeof(A)), aligned(__alignof__(A)), may_alias));

/* 8 rows of 16 columns, in order. */
static inline void F(sum_8_by_16)(A *total, const T *x, int64_t row_stride)
{
    F(sums) a = (F(sums)) * (const F(totals_part) *)total, b = (F(sums)) * (const F(totals_part) *)(total + 8);
#define ADD(k)                                \
    do {                                      \
        a += SUMS_AT(x + (k) * row_stride);     \
        b += SUMS_AT(x + (k) * row_stride + 8); \
    } while (0)
    ADD(0);
    ADD(1);
    ADD(2);
    ADD(3);
    ADD(4);
    ADD(5);
    ADD(6);
    ADD(7);
#undef ADD
    *(F(totals_part) *)total = (F(totals_part))a;
    *(F(totals_part) *)(total + 8) = (F(totals_part))b;
}

static void F(sum_columns)(void *totals, const void *data, int64_t row_stride, int64_t rows, int64_t columns)
{
    A *total = totals;
    const T *x = data;
    int64_t r = 0;
    for (; r + 8 <= rows; r += 8, x += 8 * row_stride) {
        int64_t c = 0;
        for (; c + 16 <= columns; c += 16)
            F(sum_8_by_16)(total + c, x + c, row_stride);
        for (; c < columns; c++)
            for (int64_t k = 0; k < 8; k++)
                total[c] += (A)x[k * row_stride + c];
    }
    for (; r < rows; r++, x += row_stride) {
        int64_t c = 0;
        for (; c + 8 <= columns; c += 8)
            *(F(totals_part) *)(total + c) += (F(totals_part))SUMS_AT(x + c);
        for (; c < columns; c++)
            total[c] += (A)x[c];
    }
}
#undef SUMS_AT

#include "ops/extreme.kernel.h"

#undef F
#undef JOIN
#undef JOIN_
#undef T
#undef A
#undef T_INT
#undef T_TURN
#undef WIDENED
#undef IS_NAN
#undef SUFFIX
