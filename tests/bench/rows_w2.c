/* W2: one full-batch step of training 2-16-16-1 (ReLU inside, logits out) on 200 points: forward, binary cross-entropy
 * of the logits, backward, SGD or Adam. W9: one step of SGD for each of 1000 such nets, one after another. The
 * gradient of the first weight is compared, of the last net in W9. */
#include "training.h"

#include <string.h>

#include "yardstick.h"

enum { POINTS = 200, MODELS = 1000 };
static const int64_t sizes[] = {2, 16, 16, 1};

static training train[MODELS];

static bool setup(fixture *f, int models)
{
    f->numel = POINTS * 2;
    f->result_numel = 32;
    f->cx = bench_values(f, POINTS * 2, 0, 1, 0);
    f->cy = bench_block(f, POINTS * sizeof(float));
    f->cout = bench_block(f, 32 * sizeof(float));
    if (!f->cx || !f->cy || !f->cout || !training_begin(f, train, models, sizes, POINTS, TRAIN_BCE))
        return false;
    for (int i = 0; i < POINTS; i++)
        ((float *)f->cy)[i] = (float)(i % 2);
    for (int m = 0; m < models; m++) {
        train[m].c.x = f->cx;
        train[m].c.y = f->cy;
    }
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS, 2}, 2, f->dtype);
    f->y = tn_from_array(f->cy, (int64_t[]){POINTS, 1}, 2, f->dtype);
    return f->x && f->y;
}

static bool setup_sgd(fixture *f)
{
    if (!setup(f, 1))
        return false;
    train->optimizer = tn_sgd(tn_parameters(train->net), &(tn_sgd_options){.lr = training_rate});
    return train->optimizer != NULL;
}

static bool setup_adam(fixture *f)
{
    if (!setup(f, 1))
        return false;
    train->optimizer = tn_adam(tn_parameters(train->net), &(tn_adam_options){.lr = training_rate});
    return train->optimizer != NULL;
}

static bool setup_models(fixture *f)
{
    bool ok = setup(f, MODELS);
    for (int m = 0; ok && m < MODELS; m++) {
        train[m].optimizer = tn_sgd(tn_parameters(train[m].net), &(tn_sgd_options){.lr = training_rate});
        ok = train[m].optimizer != NULL;
    }
    return ok;
}

static void step(const fixture *f, const training *t)
{
    tn_scope scope = tn_scope_begin();
    tn_zero_grad(t->optimizer);
    tn_backward(tn_bce_with_logits(tn_forward(t->net, f->x), f->y, TN_MEAN));
    tn_step(t->optimizer);
    tn_scope_end(scope);
}

static tn_tensor *tenon(fixture *f, int64_t n)
{
    for (; n > 0; n--)
        step(f, train);
    return tn_grad_of(train->parameter[0]);
}

static tn_tensor *tenon_models(fixture *f, int64_t n)
{
    for (; n > 0; n--)
        for (int m = 0; m < MODELS; m++)
            step(f, &train[m]);
    return tn_grad_of(train[MODELS - 1].parameter[0]);
}

static void c_sgd(fixture *f, int64_t n)
{
    training_c(f, train, n, training_c_sgd);
}

static void c_adam(fixture *f, int64_t n)
{
    training_c(f, train, n, training_c_adam);
}

static void c_models(fixture *f, int64_t n)
{
    for (; n > 0; n--)
        for (int m = 0; m < MODELS; m++)
            training_c_sgd(&train[m].c);
    memcpy(f->cout, train[MODELS - 1].c.parameter[0].grad, 32 * sizeof(float));
}

const row rows_w2[] = {
    {.work = "W2",
     .name = "SGD",
     .unit = UNIT_US,
     .dtypes = DTYPE_F32,
     .setup = setup_sgd,
     .tenon = tenon,
     .c = c_sgd},
    {.work = "W2",
     .name = "Adam",
     .unit = UNIT_US,
     .dtypes = DTYPE_F32,
     .setup = setup_adam,
     .tenon = tenon,
     .c = c_adam},
};
const int rows_w2_count = sizeof rows_w2 / sizeof *rows_w2;

const row rows_w9[] = {
    {.work = "W9",
     .name = "1000 models",
     .unit = UNIT_MS,
     .dtypes = DTYPE_F32,
     .setup = setup_models,
     .tenon = tenon_models,
     .c = c_models},
};
const int rows_w9_count = sizeof rows_w9 / sizeof *rows_w9;
