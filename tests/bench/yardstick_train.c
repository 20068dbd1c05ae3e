/* See yardstick_train.h. */
#include "yardstick_train.h"

#include <stddef.h>

#include "yardstick.h"

static general_f32 *general;

void train_product(bool a_turned, bool b_turned, int m, int n, int k, const float *a, const float *b, float keep,
                   float *c)
{
    product_f32 *product32;
    product_f64 *product64;
    if (!general && yardstick_openblas(&product32, &product64))
        general = yardstick_general();
    const int lda = a_turned ? m : k, ldb = b_turned ? k : n;
    if (general) {
        general(101, a_turned ? 112 : 111, b_turned ? 112 : 111, m, n, k, 1, a, lda, b, ldb, keep, c, n);
        return;
    }
    for (int i = 0; i < m; i++)
        for (int q = 0; q < n; q++) {
            float sum = keep * c[i * n + q];
            for (int p = 0; p < k; p++)
                sum += a[a_turned ? p * lda + i : i * lda + p] * b[b_turned ? q * ldb + p : p * ldb + q];
            c[i * n + q] = sum;
        }
}
