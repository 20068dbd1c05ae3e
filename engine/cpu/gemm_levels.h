/* What the product's driver knows of the kernels of one CPU level: a table of functions for each level and type.
 * The functions come from gemm.kernel.h. */
#ifndef TNI_CPU_GEMM_LEVELS_H
#define TNI_CPU_GEMM_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TNI_GEMM_DEPTH = 384,       /* steps of k at a time: a panel of b is then at most 48 KiB */
    TNI_GEMM_STACK = 16 * 1024, /* bytes that a small product may take from the stack */
    TNI_GEMM_ROWS_MAX = 16,     /* of any tile */
};

/* One panel: up to `columns` columns of c (see the table), any number of rows, `k` steps:
 *     c[i,j] = (adds ? c[i,j] : 0) + sum_k a[i,k] b[k,j], then + bias[i * bias_row + j * bias_col] unless NULL
 * a_row or a_col is 1, or m is 1 and a_col anything. Rows of b are contiguous; where memory access can't be masked they
 * must be readable up to a whole number of vectors. a_tile: 0, or a is packed: a_row is 1, a_col `rows`, and tiles are
 * a_tile apart. */
typedef struct tni_gemm_panel {
    int64_t m, k, width;
    const void *a, *b, *bias;
    void *c;
    int64_t a_row, a_col, a_tile, b_row, c_row, c_col, bias_row, bias_col;
    bool adds;
} tni_gemm_panel;

typedef struct tni_gemm_kernels {
    int rows;    /* of a wide tile: packed tiles of a have this many */
    int columns; /* of a panel: two vectors */
    int lanes;   /* of a vector: a power of two */
    bool masked; /* memory access can be masked */
    void (*panel)(const tni_gemm_panel *panel);
    /* to[s * width + r] = from[r * row + s * column] for r < count, s < steps, and 0 for count <= r < width. */
    void (*pack)(void *to, int64_t width, int64_t count, int64_t steps, const void *from, int64_t row, int64_t column);
    /* c[i] = sum_k a[i,k] b[k] (+ *bias) in lanes (gemm.h), b contiguous. */
    void (*dot)(int64_t m, int64_t k, const void *a, int64_t a_row, int64_t a_col, const void *b, const void *bias,
                void *c, int64_t c_row);
    /* c[j] = sum_k a[k * a_col] b[k * b_row + j] (+ bias[j * bias_col] unless NULL), each a chain as a panel's. n is a
     * whole number of vectors. */
    void (*row)(int64_t n, int64_t k, const void *a, int64_t a_col, const void *b, int64_t b_row, const void *bias,
                int64_t bias_col, void *c);
} tni_gemm_kernels;

extern const tni_gemm_kernels tni_gemm_baseline_f32, tni_gemm_baseline_f64;
extern const tni_gemm_kernels tni_gemm_avx2_f32, tni_gemm_avx2_f64;
extern const tni_gemm_kernels tni_gemm_avx512_f32, tni_gemm_avx512_f64;

#endif
