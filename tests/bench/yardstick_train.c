/* See yardstick_train.h. */
#include "yardstick_train.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "yardstick.h"

static const int sizes[] = {2, 16, 16, 1};
static general_f32 *general;

/* C [m, n] = op A op B + keep C; a transposed operand is stored the other way round. */
static void product(bool a_turned, bool b_turned, int m, int n, int k, const float *a, const float *b, float keep,
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

static void forward(train_job *j)
{
    const float *x = j->x;
    for (int layer = 0; layer < 3; layer++) {
        const int in = sizes[layer], out = sizes[layer + 1], n = j->points * out;
        float *h = j->h[layer];
        for (int i = 0; i < j->points; i++)
            memcpy(h + i * out, j->parameter[2 * layer + 1].value, (size_t)out * sizeof *h);
        product(false, true, j->points, out, in, x, j->parameter[2 * layer].value, 1, h);
        for (int i = 0; layer < 2 && i < n; i++)
            h[i] = h[i] > 0 ? h[i] : 0;
        x = h;
    }
}

void train_gradients(train_job *j)
{
    forward(j);
    float loss = 0;
    for (int i = 0; i < j->points; i++) {
        const float z = j->h[2][i], e = expf(-fabsf(z)), s = z > 0 ? 1 / (1 + e) : e / (1 + e);
        loss += (z > 0 ? z : 0) - z * j->y[i] + log1pf(e);
        j->g[2][i] = (s - j->y[i]) / (float)j->points;
    }
    j->loss = loss / (float)j->points;
    for (int layer = 2; layer >= 0; layer--) {
        const int in = sizes[layer], out = sizes[layer + 1];
        const float *x = layer > 0 ? j->h[layer - 1] : j->x, *g = j->g[layer];
        float *sums = j->parameter[2 * layer + 1].grad;
        product(true, false, out, in, j->points, g, x, 0, j->parameter[2 * layer].grad);
        memset(sums, 0, (size_t)out * sizeof *sums);
        for (int i = 0; i < j->points; i++)
            for (int k = 0; k < out; k++)
                sums[k] += g[i * out + k];
        if (layer == 0)
            break;
        float *below = j->g[layer - 1];
        product(false, false, j->points, in, out, g, j->parameter[2 * layer].value, 0, below);
        for (int i = 0; i < j->points * in; i++)
            below[i] = x[i] > 0 ? below[i] : 0;
    }
}

void train_sgd(train_job *j, float rate)
{
    for (int p = 0; p < 6; p++)
        for (int i = 0; i < j->parameter[p].n; i++)
            j->parameter[p].value[i] -= rate * j->parameter[p].grad[i];
}

void train_adam(train_job *j, double rate)
{
    j->steps++;
    const float size = (float)(rate / (1 - pow(0.9, (double)j->steps)));
    const float root = (float)sqrt(1 - pow(0.999, (double)j->steps));
    for (int p = 0; p < 6; p++) {
        const train_parameter *q = &j->parameter[p];
        for (int i = 0; i < q->n; i++) {
            q->first[i] += 0.1f * (q->grad[i] - q->first[i]);
            q->second[i] = 0.999f * q->second[i] + 0.001f * q->grad[i] * q->grad[i];
            q->value[i] -= size * q->first[i] / (sqrtf(q->second[i]) / root + 1e-8f);
        }
    }
}
