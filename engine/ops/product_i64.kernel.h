/* A panel of two vectors of columns for one CPU level: the includer names the function PANEL_I64 and the BYTES of a
 * vector. Four rows of a go by at a time, their sums in registers. */
#include <string.h>

#include "ops/product_i64.h"

enum { LANES = BYTES / 8, COLUMNS = 2 * LANES };

typedef uint64_t vector __attribute__((vector_size(BYTES)));

static inline vector load(const uint64_t *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vector times(int64_t a, vector b)
{
    return ((vector){0} + (uint64_t)a) * b;
}

/* c's cells of row i, to be had from or put into two vectors. */
static inline void begin(const tni_gemm *g, int64_t k, int64_t i, int64_t j, vector *sum)
{
    uint64_t cells[COLUMNS];
    for (int l = 0; l < COLUMNS; l++)
        cells[l] = tni_begin_i64(g, k, i, j + l);
    memcpy(sum, cells, sizeof cells);
}

static inline void end(const tni_gemm *g, int64_t i, int64_t j, const vector *sum)
{
    int64_t cells[COLUMNS], *c = (int64_t *)g->c + i * g->c_row + j * g->c_col;
    memcpy(cells, sum, sizeof cells);
    for (int l = 0; l < COLUMNS; l++)
        c[l * g->c_col] = cells[l];
}

/* `rows` is a constant where this is called. */
static inline __attribute__((always_inline)) void tile(const int rows, const tni_gemm *g, const uint64_t *panel,
                                                       int64_t k, int64_t depth, int64_t i, int64_t j)
{
    const int64_t *a = (const int64_t *)g->a + i * g->a_row + k * g->a_col, row = g->a_row;
    vector s0[2], s1[2], s2[2], s3[2];
    begin(g, k, i, j, s0);
    if (rows == 4)
        begin(g, k, i + 1, j, s1), begin(g, k, i + 2, j, s2), begin(g, k, i + 3, j, s3);
    for (int64_t d = 0; d < depth; d++, a += g->a_col, panel += COLUMNS) {
        const vector x = load(panel), y = load(panel + LANES);
        s0[0] += times(a[0], x), s0[1] += times(a[0], y);
        if (rows == 4) {
            s1[0] += times(a[row], x), s1[1] += times(a[row], y);
            s2[0] += times(a[2 * row], x), s2[1] += times(a[2 * row], y);
            s3[0] += times(a[3 * row], x), s3[1] += times(a[3 * row], y);
        }
    }
    end(g, i, j, s0);
    if (rows == 4)
        end(g, i + 1, j, s1), end(g, i + 2, j, s2), end(g, i + 3, j, s3);
}

void PANEL_I64(const tni_gemm *g, const uint64_t *panel, int64_t k, int64_t depth, int64_t j)
{
    int64_t i = 0;
    for (; i + 4 <= g->m; i += 4)
        tile(4, g, panel, k, depth, i, j);
    for (; i < g->m; i++)
        tile(1, g, panel, k, depth, i, j);
}
