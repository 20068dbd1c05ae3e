/* Pointwise loops of one dtype, for the T, VEC, V and T_NAME of cpu/simd.h.
 *
 * A function on vectors goes in, a loop over rows comes out. Rows that are dense, or repeat one element, are read as
 * vectors where they lie; others are gathered into a block first. The last few elements go through the same function
 * in a vector of their own, so a value never depends on its place. Outputs far larger than the caches are written
 * around them. */

typedef VEC (*T_NAME(unary_function))(VEC x);
typedef VEC (*T_NAME(binary_function))(VEC a, VEC b, VEC alpha);

enum { T_NAME(BLOCK) = 512 };

static inline void T_NAME(gathered)(T *restrict block, const char *x, int64_t stride, int64_t n)
{
    if (stride == 2 * (int64_t)sizeof(T)) { /* every second element: the compiler vectorises it */
        for (int64_t i = 0; i < n; i++)
            block[i] = ((const T *)(const void *)x)[2 * i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        block[i] = *(const T *)(const void *)(x + i * stride);
}

static inline void T_NAME(scattered)(char *y, int64_t stride, const T *block, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        *(T *)(void *)(y + i * stride) = block[i];
}

/* Elements before the first aligned vector, at most n. */
static inline int64_t T_NAME(head)(const T *y, int64_t n)
{
    int64_t past = (int64_t)((uintptr_t)y % sizeof(VEC));
    int64_t head = past == 0 ? 0 : ((int64_t)sizeof(VEC) - past) / (int64_t)sizeof(T);
    return head < n ? head : n;
}

static inline ALWAYS_INLINE void T_NAME(unary_dense)(T *y, const T *x, int64_t n, bool stream,
                                                     T_NAME(unary_function) function)
{
    int64_t i = 0;
    if (stream) {
        i = T_NAME(head)(y, n);
        V(store_part)(y, (int)i, function(V(load_part)(x, (int)i, 0)));
        for (; i + VLANES <= n; i += VLANES)
            V(stream)(y + i, function(V(load)(x + i)));
        tni_simd_fence();
    }
    for (; i + 2 * VLANES <= n; i += 2 * VLANES) {
        VEC first = function(V(load)(x + i)), second = function(V(load)(x + i + VLANES));
        V(store)(y + i, first);
        V(store)(y + i + VLANES, second);
    }
    for (; i + VLANES <= n; i += VLANES)
        V(store)(y + i, function(V(load)(x + i)));
    if (i < n)
        V(store_part)(y + i, (int)(n - i), function(V(load_part)(x + i, (int)(n - i), 0)));
}

/* A row that is not dense: pieces of it are gathered, go through the dense loop `again`, and are scattered. A dense
 * output is written where it lies: one that shares bytes with an operand has the operand's strides. */
static NOINLINE void T_NAME(unary_strided)(const tni_row *row, tni_loop again)
{
    T block[T_NAME(BLOCK)];
    tni_row piece = {
        .data = {(char *)block, (char *)block}, .strides = {sizeof(T), sizeof(T)}, .context = row->context};
    for (int64_t done = 0; done < row->n; done += T_NAME(BLOCK)) {
        piece.n = row->n - done < T_NAME(BLOCK) ? row->n - done : T_NAME(BLOCK);
        T_NAME(gathered)(block, row->data[1] + done * row->strides[1], row->strides[1], piece.n);
        char *y = row->data[0] + done * row->strides[0];
        const bool dense = row->strides[0] == (int64_t)sizeof(T);
        piece.data[0] = dense ? y : (char *)block;
        again(&piece);
        if (!dense)
            T_NAME(scattered)(y, row->strides[0], block, piece.n);
    }
}

/* `again` is the loop that this becomes. */
static inline ALWAYS_INLINE void T_NAME(unary_row)(const tni_row *row, tni_loop again, T_NAME(unary_function) function)
{
    const int64_t size = sizeof(T), y_stride = row->strides[0], x_stride = row->strides[1];
    if (y_stride == size && x_stride == size) {
        T_NAME(unary_dense)
        ((T *)(void *)row->data[0], (const T *)(const void *)row->data[1], row->n, row->stream, function);
        return;
    }
    T_NAME(unary_strided)(row, again);
}

/* a_step and b_step are 0 for an operand that repeats its first element, 1 for a dense one: constants where this is
 * inlined. */
static inline ALWAYS_INLINE void T_NAME(binary_dense)(T *y, const T *a, const T *b, int64_t n, bool stream, int a_step,
                                                      int b_step, T alpha, T_NAME(binary_function) function)
{
    const VEC scale = V(set1)(alpha), one_a = V(set1)(*a), one_b = V(set1)(*b);
    int64_t i = 0;
#define OPERAND(x, step, one) (step ? V(load)(x + i) : one)
#define OPERAND_PART(x, step, one, count) (step ? V(load_part)(x + i, (int)(count), 0) : one)
    if (stream) {
        int64_t head = T_NAME(head)(y, n);
        V(store_part)
        (y, (int)head, function(OPERAND_PART(a, a_step, one_a, head), OPERAND_PART(b, b_step, one_b, head), scale));
        for (i = head; i + VLANES <= n; i += VLANES)
            V(stream)(y + i, function(OPERAND(a, a_step, one_a), OPERAND(b, b_step, one_b), scale));
        tni_simd_fence();
    }
    for (; i + VLANES <= n; i += VLANES)
        V(store)(y + i, function(OPERAND(a, a_step, one_a), OPERAND(b, b_step, one_b), scale));
    if (i < n)
        V(store_part)(y + i, (int)(n - i),
                      function(OPERAND_PART(a, a_step, one_a, n - i), OPERAND_PART(b, b_step, one_b, n - i), scale));
#undef OPERAND
#undef OPERAND_PART
}

static NOINLINE void T_NAME(binary_strided)(const tni_row *row, tni_loop again)
{
    T a[T_NAME(BLOCK)], b[T_NAME(BLOCK)];
    tni_row piece = {.data = {(char *)a, (char *)a, (char *)b},
                     .strides = {sizeof(T), sizeof(T), sizeof(T)},
                     .context = row->context};
    for (int64_t done = 0; done < row->n; done += T_NAME(BLOCK)) {
        piece.n = row->n - done < T_NAME(BLOCK) ? row->n - done : T_NAME(BLOCK);
        T_NAME(gathered)(a, row->data[1] + done * row->strides[1], row->strides[1], piece.n);
        T_NAME(gathered)(b, row->data[2] + done * row->strides[2], row->strides[2], piece.n);
        char *y = row->data[0] + done * row->strides[0];
        const bool dense = row->strides[0] == (int64_t)sizeof(T);
        piece.data[0] = dense ? y : (char *)a;
        again(&piece);
        if (!dense)
            T_NAME(scattered)(y, row->strides[0], a, piece.n);
    }
}

static inline ALWAYS_INLINE void T_NAME(binary_row)(const tni_row *row, tni_loop again,
                                                    T_NAME(binary_function) function)
{
    const int64_t size = sizeof(T), y_stride = row->strides[0], a_stride = row->strides[1], b_stride = row->strides[2];
    T alpha;
    memcpy(&alpha, row->context, sizeof alpha);
    T *y = (T *)(void *)row->data[0];
    const T *a = (const T *)(const void *)row->data[1], *b = (const T *)(const void *)row->data[2];
    if (y_stride == size && a_stride == size && b_stride == size) {
        T_NAME(binary_dense)(y, a, b, row->n, row->stream, 1, 1, alpha, function);
        return;
    }
    if (y_stride == size && a_stride == size && b_stride == 0) {
        T_NAME(binary_dense)(y, a, b, row->n, row->stream, 1, 0, alpha, function);
        return;
    }
    if (y_stride == size && a_stride == 0 && b_stride == size) {
        T_NAME(binary_dense)(y, a, b, row->n, row->stream, 0, 1, alpha, function);
        return;
    }
    T_NAME(binary_strided)(row, again);
}

/* Comparisons write bytes, which are no operand's: in place they go to a block first. */
typedef T T_NAME(eight) __attribute__((vector_size(8 * sizeof(T)), aligned(__alignof__(T)), may_alias));
typedef int8_t T_NAME(truths) __attribute__((vector_size(8), aligned(1), may_alias));

#define TNI_COMPARE(name, operator, lanes, dtypes)                                                                     \
    static void T_NAME(name)(const tni_row *row)                                                                       \
    {                                                                                                                  \
        const char *a = row->data[1], *b = row->data[2];                                                               \
        char *y = row->data[0];                                                                                        \
        const int64_t size = sizeof(T), y_stride = row->strides[0], a_stride = row->strides[1],                        \
                      b_stride = row->strides[2], n = row->n;                                                          \
        int64_t i = 0;                                                                                                 \
        if (y_stride == 1 && a_stride == size && (b_stride == size || b_stride == 0)) {                                \
            T one[8];                                                                                                  \
            for (int l = 0; l < 8 && n > 0; l++)                                                                       \
                one[l] = *(const T *)(const void *)b;                                                                  \
            for (; i + 8 <= n; i += 8) {                                                                               \
                const T_NAME(eight) *z = (const T_NAME(eight) *)(const void *)(b_stride ? b + i * size : (char *)one); \
                *(T_NAME(truths) *)(void *)(y + i) = 1 & __builtin_convertvector(                                      \
                    *(const T_NAME(eight) *)(const void *)(a + i * size) operator *z, T_NAME(truths));                 \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            y[i * y_stride] = *(const T *)(const void *)(a + i * a_stride) operator*(const T *)                        \
                (const void *)(b + i * b_stride);                                                                      \
    }
#include "ops/compare.def"
#undef TNI_COMPARE
