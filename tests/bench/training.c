/* See training.h. */
#include "training.h"

#include <math.h>
#include <string.h>

#include "yardstick.h"

const double training_rate = 1e-9;

/* Parameter i, weight [out, in] or bias, of all models. */
static bool make_parameter(fixture *f, training *t, int models, const int64_t *sizes, int i)
{
    const int layer = i / 2;
    const int64_t in = sizes[layer], out = sizes[layer + 1], n = i % 2 ? out : out * in;
    const double scale = in <= 16 ? 0.25 : 0.5 / sqrt((double)in);
    float *room = bench_block(f, 4 * (size_t)(n * models) * sizeof *room);
    if (!room)
        return false;
    bench_fill(room, n * models, f->dtype, (uint32_t)(i % 2 ? 20 + layer : 10 + layer), scale, -scale);
    for (int m = 0; m < models; m++) {
        float *value = room + m * n, *rest = room + models * n + 3 * m * n;
        t[m].c.parameter[i] = (train_parameter){value, rest, rest + n, rest + 2 * n, (int)n};
        t[m].parameter[i] = tn_parameter(t[m].net, i);
        void *data = tn_data_mut(t[m].parameter[i]);
        if (!data || tn_requires_grad_(t[m].parameter[i], true))
            return false;
        memcpy(data, value, (size_t)n * sizeof *value);
    }
    return true;
}

bool training_begin(fixture *f, training *t, int models, const int64_t *sizes, int points, train_loss kind)
{
    float *h[TRAIN_LAYERS], *g[TRAIN_LAYERS];
    for (int layer = 0; layer < TRAIN_LAYERS; layer++) {
        const size_t bytes = (size_t)(points * sizes[layer + 1]) * sizeof(float);
        h[layer] = bench_block(f, 2 * bytes);
        g[layer] = h[layer] ? h[layer] + points * sizes[layer + 1] : NULL;
        if (!h[layer])
            return false;
    }
    for (int m = 0; m < models; m++) {
        t[m] = (training){.c = {.kind = kind, .points = points}, .net = tn_mlp(sizes, TRAIN_LAYERS + 1, f->dtype)};
        for (int i = 0; i <= TRAIN_LAYERS; i++)
            t[m].c.sizes[i] = (int)sizes[i];
        memcpy(t[m].c.h, h, sizeof h);
        memcpy(t[m].c.g, g, sizeof g);
    }
    for (int i = 0; i < TRAIN_PARAMETERS; i++)
        if (!make_parameter(f, t, models, sizes, i))
            return false;
    return true;
}

void training_c(fixture *f, training *t, int64_t n, void (*step)(train_job *))
{
    yardstick_threads(f->threads);
    for (; n > 0; n--)
        step(&t->c);
    yardstick_threads(1);
    if (f->cout)
        memcpy(f->cout, t->c.parameter[0].grad, (size_t)t->c.parameter[0].n * sizeof(float));
}

void training_c_sgd(train_job *j)
{
    const train_functions *train = &yardstick_pick()->train;
    train->gradients(j);
    train->sgd(j, (float)training_rate);
}

void training_c_adam(train_job *j)
{
    const train_functions *train = &yardstick_pick()->train;
    train->gradients(j);
    train->adam(j, training_rate);
}
