/* One CPU level's loops of yardstick_train.h. */

static void train_forward(train_job *j)
{
    const float *x = j->x;
    for (int layer = 0; layer < TRAIN_LAYERS; layer++) {
        const int in = j->sizes[layer], out = j->sizes[layer + 1], n = j->points * out;
        float *h = j->h[layer];
        for (int i = 0; i < j->points; i++)
            memcpy(h + i * out, j->parameter[2 * layer + 1].value, (size_t)out * sizeof *h);
        train_product(false, true, j->points, out, in, x, j->parameter[2 * layer].value, 1, h);
        for (int i = 0; layer < TRAIN_LAYERS - 1 && i < n; i++)
            h[i] = h[i] > 0 ? h[i] : 0;
        x = h;
    }
}

static void train_bce(train_job *j, const float *h, float *g)
{
    float loss = 0;
    for (int i = 0; i < j->points; i++) {
        const float z = h[i], e = expf(-fabsf(z)), s = z > 0 ? 1 / (1 + e) : e / (1 + e);
        loss += (z > 0 ? z : 0) - z * j->y[i] + log1pf(e);
        g[i] = (s - j->y[i]) / (float)j->points;
    }
    j->loss = loss / (float)j->points;
}

static void train_cross_entropy(train_job *j, const float *h, float *g)
{
    const int n = j->sizes[TRAIN_LAYERS];
    float loss = 0;
    for (int i = 0; i < j->points; i++, h += n, g += n) {
        float most = h[0], sum = 0;
        for (int k = 1; k < n; k++)
            most = h[k] > most ? h[k] : most;
        for (int k = 0; k < n; k++)
            sum += g[k] = expf(h[k] - most);
        loss += logf(sum) + most - h[j->classes[i]];
        for (int k = 0; k < n; k++)
            g[k] /= sum * (float)j->points;
        g[j->classes[i]] -= 1 / (float)j->points;
    }
    j->loss = loss / (float)j->points;
}

static void train_mse(train_job *j, const float *h, float *g)
{
    const int n = j->points * j->sizes[TRAIN_LAYERS];
    float loss = 0;
    for (int i = 0; i < n; i++) {
        const float gap = h[i] - j->y[i];
        loss += gap * gap;
        g[i] = 2 * gap / (float)n;
    }
    j->loss = loss / (float)n;
}

static void train_gradients(train_job *j)
{
    static void (*const losses[])(train_job *, const float *, float *) = {
        [TRAIN_BCE] = train_bce, [TRAIN_CROSS_ENTROPY] = train_cross_entropy, [TRAIN_MSE] = train_mse};
    train_forward(j);
    losses[j->kind](j, j->h[TRAIN_LAYERS - 1], j->g[TRAIN_LAYERS - 1]);
    for (int layer = TRAIN_LAYERS - 1; layer >= 0; layer--) {
        const int in = j->sizes[layer], out = j->sizes[layer + 1];
        const float *x = layer > 0 ? j->h[layer - 1] : j->x, *g = j->g[layer];
        float *sums = j->parameter[2 * layer + 1].grad;
        train_product(true, false, out, in, j->points, g, x, 0, j->parameter[2 * layer].grad);
        memset(sums, 0, (size_t)out * sizeof *sums);
        for (int i = 0; i < j->points; i++)
            for (int k = 0; k < out; k++)
                sums[k] += g[i * out + k];
        if (layer == 0)
            break;
        float *below = j->g[layer - 1];
        train_product(false, false, j->points, in, out, g, j->parameter[2 * layer].value, 0, below);
        for (int i = 0; i < j->points * in; i++)
            below[i] = x[i] > 0 ? below[i] : 0;
    }
}

static void train_sgd(train_job *j, float rate)
{
    for (int p = 0; p < TRAIN_PARAMETERS; p++) {
        float *restrict value = j->parameter[p].value;
        const float *restrict grad = j->parameter[p].grad;
        for (int i = 0; i < j->parameter[p].n; i++)
            value[i] -= rate * grad[i];
    }
}

static void train_adam(train_job *j, double rate)
{
    j->steps++;
    const float size = (float)(rate / (1 - pow(0.9, (double)j->steps)));
    const float root = (float)sqrt(1 - pow(0.999, (double)j->steps));
    for (int p = 0; p < TRAIN_PARAMETERS; p++) {
        const train_parameter *q = &j->parameter[p];
        float *restrict value = q->value, *restrict first = q->first, *restrict second = q->second;
        const float *restrict grad = q->grad;
        for (int i = 0; i < q->n; i++) {
            first[i] += 0.1f * (grad[i] - first[i]);
            second[i] = 0.999f * second[i] + 0.001f * grad[i] * grad[i];
            value[i] -= size * first[i] / (sqrtf(second[i]) / root + 1e-8f);
        }
    }
}
