/* See product_i64.h. A piece of some columns of b is copied to where it lies dense, then the rows of a go by. */
#include "ops/product_i64.h"

#include "cpu/level.h"

enum { PANEL = 4096 }; /* elements: 32 KiB */

static void panel_plain(const tni_gemm *g, const uint64_t *panel, int64_t k, int64_t depth, int64_t j)
{
    for (int64_t i = 0; i < g->m; i++) {
        const int64_t *a = (const int64_t *)g->a + i * g->a_row + k * g->a_col;
        int64_t *c = (int64_t *)g->c + i * g->c_row + j * g->c_col;
        uint64_t sum[TNI_I64_COLUMNS];
        for (int l = 0; l < TNI_I64_COLUMNS; l++)
            sum[l] = tni_begin_i64(g, k, i, j + l);
        for (int64_t d = 0; d < depth; d++, a += g->a_col)
            for (int l = 0; l < TNI_I64_COLUMNS; l++)
                sum[l] += (uint64_t)*a * panel[d * TNI_I64_COLUMNS + l];
        for (int l = 0; l < TNI_I64_COLUMNS; l++)
            c[l * g->c_col] = (int64_t)sum[l];
    }
}

/* Column j where there are too few for a panel. Two sums, so that one multiplication need not wait for another. */
static void column_i64(const tni_gemm *g, int64_t j)
{
    const int64_t *b = (const int64_t *)g->b + j * g->b_col, a_col = g->a_col, b_row = g->b_row, depth = g->k;
    for (int64_t i = 0; i < g->m; i++) {
        const int64_t *a = (const int64_t *)g->a + i * g->a_row;
        uint64_t sum = tni_begin_i64(g, 0, i, j), other = 0;
        int64_t k = 0;
        for (; k + 2 <= depth; k += 2) {
            sum += (uint64_t)a[k * a_col] * (uint64_t)b[k * b_row];
            other += (uint64_t)a[(k + 1) * a_col] * (uint64_t)b[(k + 1) * b_row];
        }
        if (k < depth)
            sum += (uint64_t)a[k * a_col] * (uint64_t)b[k * b_row];
        ((int64_t *)g->c)[i * g->c_row + j * g->c_col] = (int64_t)(sum + other);
    }
}

/* As many whole panels of columns from j on as there are; returns the column behind them. */
static int64_t panels(const tni_gemm *g, int64_t j, int64_t columns, tni_panel_i64 *run)
{
    uint64_t panel[PANEL];
    for (; j + columns <= g->n; j += columns) {
        int64_t k = 0;
        do { /* once when g->k is 0: the bias or zeros */
            int64_t depth = g->k - k < PANEL / columns ? g->k - k : PANEL / columns;
            const int64_t *b = (const int64_t *)g->b + k * g->b_row + j * g->b_col;
            for (int64_t d = 0; d < depth; d++)
                for (int64_t l = 0; l < columns; l++)
                    panel[d * columns + l] = (uint64_t)b[d * g->b_row + l * g->b_col];
            run(g, panel, k, depth, j);
            k += PANEL / columns;
        } while (k < g->k);
    }
    return j;
}

void tni_product_i64(int level, const tni_gemm *g)
{
    int64_t j = 0;
    (void)level;
#if defined(__x86_64__)
    if (level >= TNI_CPU_AVX512)
        j = panels(g, j, TNI_I64_COLUMNS_AVX512, tni_panel_i64_avx512);
    if (level >= TNI_CPU_AVX2)
        j = panels(g, j, TNI_I64_COLUMNS, tni_panel_i64_avx2);
#endif
    j = panels(g, j, TNI_I64_COLUMNS, panel_plain);
    for (; j < g->n; j++)
        column_i64(g, j);
}
