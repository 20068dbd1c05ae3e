/* W3: one epoch of 10,000 points in batches of 32, in a new order each epoch: 2-16-16-1, binary cross-entropy of the
 * logits, SGD, the losses added up. The first weight is compared, after an epoch in the same order. */
#include "training.h"

#include <string.h>

#include "yardstick.h"

enum { POINTS = 10000, BATCH = 32 };
static const int64_t sizes[] = {2, 16, 16, 1};
static const double rate = 1e-3;

static training train;
static tn_loader *loader;
static int64_t order[POINTS]; /* of the yardstick's next epoch */
static double losses;
static uint64_t random_state;

static bool setup(fixture *f)
{
    f->numel = POINTS * 2;
    f->result_numel = 32;
    f->cx = bench_values(f, POINTS * 2, 0, 1, 0);
    f->cy = bench_block(f, POINTS * sizeof(float));
    f->cout = bench_block(f, 32 * sizeof(float));
    float *batch = bench_block(f, 3 * BATCH * sizeof *batch);
    if (!f->cx || !f->cy || !f->cout || !batch || !training_begin(f, &train, 1, sizes, BATCH, TRAIN_BCE))
        return false;
    for (int i = 0; i < POINTS; i++)
        ((float *)f->cy)[i] = (float)(i % 2);
    train.c.x = batch;
    train.c.y = batch + 2 * BATCH;
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS, 2}, 2, f->dtype);
    f->y = tn_from_array(f->cy, (int64_t[]){POINTS, 1}, 2, f->dtype);
    train.optimizer = tn_sgd(tn_parameters(train.net), &(tn_sgd_options){.lr = rate});
    loader = tn_loader_new(tn_tensor_dataset(f->x, f->y), &(tn_loader_options){.batch_size = BATCH, .shuffle = true});
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    random_state = 1;
    return tn_torch_loader_begin_epoch(&generator, order, POINTS) == TN_OK && loader && train.optimizer;
}

static tn_tensor *tenon(fixture *f, int64_t n)
{
    (void)f;
    for (; n > 0; n--) {
        losses = 0;
        for (tn_batch b; tn_loader_next(loader, &b);) {
            tn_scope scope = tn_scope_begin();
            tn_tensor *loss = tn_bce_with_logits(tn_forward(train.net, b.x), b.y, TN_MEAN);
            tn_zero_grad(train.optimizer);
            tn_backward(loss);
            tn_step(train.optimizer);
            losses += tn_item(loss);
            tn_scope_end(scope);
        }
    }
    return train.parameter[0];
}

static void shuffle(void)
{
    for (int i = POINTS - 1; i > 0; i--) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        int64_t j = (int64_t)((random_state >> 32) * (uint64_t)(i + 1) >> 32), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void c(fixture *f, int64_t n)
{
    const float *x = f->cx, *y = f->cy;
    float *batch_x = (float *)train.c.x, *batch_y = (float *)train.c.y;
    const train_functions *functions = &yardstick_pick()->train;
    for (; n > 0; n--) {
        losses = 0;
        for (int first = 0; first < POINTS; first += BATCH) {
            train.c.points = POINTS - first < BATCH ? POINTS - first : BATCH;
            for (int i = 0; i < train.c.points; i++) {
                memcpy(batch_x + 2 * i, x + 2 * order[first + i], 2 * sizeof *x);
                batch_y[i] = y[order[first + i]];
            }
            functions->gradients(&train.c);
            functions->sgd(&train.c, (float)rate);
            losses += train.c.loss;
        }
        shuffle();
    }
    memcpy(f->cout, train.c.parameter[0].value, 32 * sizeof(float));
}

const row rows_w3[] = {
    {.work = "W3", .name = "epoch", .unit = UNIT_MS, .dtypes = DTYPE_F32, .setup = setup, .tenon = tenon, .c = c},
};
const int rows_w3_count = sizeof rows_w3 / sizeof *rows_w3;
