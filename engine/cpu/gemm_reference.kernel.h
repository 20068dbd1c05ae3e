/* The reference product of one type. Included by gemm_reference.c, which defines REAL, FMA and NAME(x); undefined
 * here. */

static REAL NAME(sequential)(const tni_gemm *g, const REAL *a, const REAL *b)
{
    REAL sum = 0;
    for (int64_t s = 0; s < g->k; s++) {
        REAL product = a[s * g->a_col] * b[s * g->b_row];
        sum += product;
    }
    return sum;
}

static REAL NAME(sequential_fma)(const tni_gemm *g, const REAL *a, const REAL *b)
{
    REAL sum = 0;
    for (int64_t s = 0; s < g->k; s++)
        sum = FMA(a[s * g->a_col], b[s * g->b_row], sum);
    return sum;
}

static REAL NAME(eight_lanes)(const tni_gemm *g, const REAL *a, const REAL *b)
{
    REAL lanes[8] = {0};
    if (g->k > 0)
        lanes[0] = a[0] * b[0];
    for (int64_t s = 1; s < g->k; s++) {
        REAL product = a[s * g->a_col] * b[s * g->b_row];
        lanes[(s - 1) % 8] += product;
    }
    for (int half = 4; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
    return lanes[0];
}

void NAME(tni_gemm_reference)(const tni_gemm *g, tn_order order)
{
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            const REAL *a = (const REAL *)g->a + i * g->a_row, *b = (const REAL *)g->b + j * g->b_col;
            REAL sum;
            if (order == TN_ORDER_SEQUENTIAL)
                sum = NAME(sequential)(g, a, b);
            else if (order == TN_ORDER_MKL && g->n == 1)
                sum = NAME(eight_lanes)(g, a, b);
            else
                sum = NAME(sequential_fma)(g, a, b);
            if (g->bias)
                sum += ((const REAL *)g->bias)[j * g->bias_stride];
            ((REAL *)g->c)[i * g->c_row + j * g->c_col] = sum;
        }
    }
}

#undef REAL
#undef FMA
#undef NAME
