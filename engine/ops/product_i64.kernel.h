/* The int64 product of one CPU level: included by product_i64_baseline.c and its kin, which name PRODUCT. A panel of
 * COLUMNS columns and DEPTH rows of b is copied to where it stays in the first cache; tiles of ROWS rows of c stay in
 * registers while it is gone through. */
#include <string.h>

#include "cpu/simd.h"
#include "ops/product_i64.h"

enum { LANES = VF64_LANES, VECTORS = 2, COLUMNS = VECTORS * LANES, ROWS = 4, DEPTH = 256 };

typedef struct panel {
    vu64 row[DEPTH][VECTORS];
} panel;

static void pack(panel *to, const tni_gemm *g, int64_t k, int64_t depth, int64_t j, int64_t columns)
{
    const int64_t *b = (const int64_t *)g->b + k * g->b_row + j * g->b_col;
    for (int64_t i = 0; i < depth; i++, b += g->b_row) {
        int64_t row[COLUMNS] = {0};
        if (columns == COLUMNS && g->b_col == 1)
            memcpy(row, b, sizeof row);
        else
            for (int64_t c = 0; c < columns; c++)
                row[c] = b[c * g->b_col];
        memcpy(to->row[i], row, sizeof row);
    }
}

/* c's rows i .. i + rows - 1; what is there is added to unless this is the first panel. */
static inline void tile(const tni_gemm *g, const panel *b, int64_t k, int64_t depth, int64_t i, int64_t j, int rows,
                        int64_t columns)
{
    const int64_t *a = (const int64_t *)g->a + i * g->a_row + k * g->a_col, *bias = g->bias;
    int64_t *c = (int64_t *)g->c + i * g->c_row + j * g->c_col, row[COLUMNS] = {0};
    vu64 sum[ROWS][VECTORS];
    for (int r = 0; r < rows; r++) {
        for (int64_t l = 0; l < columns; l++)
            row[l] = k > 0 ? c[r * g->c_row + l * g->c_col] : bias ? bias[(j + l) * g->bias_stride] : 0;
        memcpy(sum[r], row, sizeof row);
    }
    for (int64_t d = 0; d < depth; d++) {
        for (int r = 0; r < rows; r++) {
            const uint64_t one = (uint64_t)a[r * g->a_row + d * g->a_col];
            sum[r][0] += one * b->row[d][0];
            sum[r][1] += one * b->row[d][1];
        }
    }
    for (int r = 0; r < rows; r++) {
        memcpy(row, sum[r], sizeof row);
        for (int64_t l = 0; l < columns; l++)
            c[r * g->c_row + l * g->c_col] = row[l];
    }
}

/* One column, where a panel would be mostly empty. */
static void column(const tni_gemm *g, int64_t j)
{
    const int64_t *b = (const int64_t *)g->b + j * g->b_col, *bias = g->bias;
    for (int64_t i = 0; i < g->m; i++) {
        const int64_t *a = (const int64_t *)g->a + i * g->a_row;
        uint64_t sum = bias ? (uint64_t)bias[j * g->bias_stride] : 0;
        if (g->a_col == 1 && g->b_row == 1)
            for (int64_t k = 0; k < g->k; k++)
                sum += (uint64_t)a[k] * (uint64_t)b[k];
        else
            for (int64_t k = 0; k < g->k; k++)
                sum += (uint64_t)a[k * g->a_col] * (uint64_t)b[k * g->b_row];
        ((int64_t *)g->c)[i * g->c_row + j * g->c_col] = (int64_t)sum;
    }
}

void PRODUCT(const tni_gemm *g, int64_t begin, int64_t end)
{
    panel b;
    if (end - begin == 1) {
        column(g, begin);
        return;
    }
    for (int64_t j = begin; j < end; j += COLUMNS) {
        int64_t columns = end - j < COLUMNS ? end - j : COLUMNS, k = 0;
        do { /* once when k is 0: the bias or zeros */
            int64_t depth = g->k - k < DEPTH ? g->k - k : DEPTH, i = 0;
            pack(&b, g, k, depth, j, columns);
            for (; i + ROWS <= g->m; i += ROWS)
                tile(g, &b, k, depth, i, j, ROWS, columns);
            for (; i < g->m; i++)
                tile(g, &b, k, depth, i, j, 1, columns);
            k += DEPTH;
        } while (k < g->k);
    }
}
