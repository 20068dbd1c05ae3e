/* Products of int64 of every CPU level against the definition, wrapping, over shapes, strides and biases; what lies
 * between the cells of the result stays. */
#include <stdlib.h>
#include <string.h>

#include "cpu/level.h"
#include "ops/product_i64.h"
#include "support/draw.h"
#include "support/test.h"

static uint64_t state = 88172645463325252u;

static int64_t next(void)
{
    return (int64_t)draw_bits(&state);
}

enum { GAP = 77 };

static void check(int64_t m, int64_t n, int64_t k, int turn)
{
    const int64_t step = turn % 3 == 2 ? 2 : 1;
    tni_gemm g = {.m = m, .n = n, .k = k, .a_row = k * step + 1, .a_col = step, .b_row = n * step, .b_col = step,
                  .c_row = n * step + 3, .c_col = step, .bias_stride = turn % 4 == 1 ? 0 : 2};
    if (turn % 3 == 1) {
        g.a_row = 1, g.a_col = m;
        g.b_row = 1, g.b_col = k;
        g.c_row = 1, g.c_col = m;
    }
    const size_t cells = (size_t)(3 * (m + 3) * (n + 3));
    int64_t *a = calloc((size_t)(3 * (m + 1) * (k + 1)), sizeof *a), *b = calloc((size_t)(3 * (k + 1) * n), sizeof *b);
    int64_t *bias = calloc((size_t)(2 * n), sizeof *bias), *c = calloc(cells, sizeof *c), *y = calloc(cells, sizeof *y);
    assert_true(a && b && bias && c && y);
    for (int64_t i = 0; i < 3 * (m + 1) * (k + 1); i++)
        a[i] = turn % 2 ? next() : next() % 1000;
    for (int64_t i = 0; i < 3 * (k + 1) * n; i++)
        b[i] = next();
    for (int64_t i = 0; i < 2 * n; i++)
        bias[i] = next();
    for (size_t i = 0; i < cells; i++)
        y[i] = GAP;
    g.a = a, g.b = b, g.c = c;
    g.bias = turn % 4 ? bias : NULL;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            uint64_t sum = g.bias ? (uint64_t)bias[j * g.bias_stride] : 0;
            for (int64_t s = 0; s < k; s++)
                sum += (uint64_t)a[i * g.a_row + s * g.a_col] * (uint64_t)b[s * g.b_row + j * g.b_col];
            y[i * g.c_row + j * g.c_col] = (int64_t)sum;
        }
    }
    for (int level = 0; level <= tni_cpu_level(); level++) {
        for (size_t i = 0; i < cells; i++)
            c[i] = GAP;
        tni_product_i64(level, &g);
        if (memcmp(c, y, cells * sizeof *c))
            fail_msg("m %lld n %lld k %lld turn %d level %d", (long long)m, (long long)n, (long long)k, turn, level);
    }
    free(a), free(b), free(bias), free(c), free(y);
}

static void matches_the_definition(void **state_)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33}, depths[] = {0, 1, 2, 7, 255, 257, 530};
    int turn = 0;
    (void)state_;
    for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
            for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
                check(sizes[m], sizes[n], depths[k], turn++);
}

TEST_MAIN(test(matches_the_definition))
