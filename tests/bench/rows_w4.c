/* Steps of larger nets. W4: 784-256-128-10 on 128 points, cross-entropy, Adam. W5: 1024-1024-1024-1024 on 512 points,
 * mean squared error, SGD. The gradient of the first weight is compared. */
#include "training.h"

static const int64_t sizes_w4[] = {784, 256, 128, 10}, sizes_w5[] = {1024, 1024, 1024, 1024};
enum { POINTS_W4 = 128, POINTS_W5 = 512, SIDE_W5 = 1024, CLASSES = 10 };

static training train;

static bool setup_w4(fixture *f)
{
    f->numel = POINTS_W4 * sizes_w4[0];
    f->result_numel = sizes_w4[1] * sizes_w4[0];
    f->cx = bench_values(f, f->numel, 0, 1, 0);
    f->cy = bench_block(f, POINTS_W4 * sizeof(int64_t));
    f->cout = bench_block(f, (size_t)f->result_numel * sizeof(float));
    if (!f->cx || !f->cy || !f->cout || !training_begin(f, &train, 1, sizes_w4, POINTS_W4, TRAIN_CROSS_ENTROPY))
        return false;
    for (int i = 0; i < POINTS_W4; i++)
        ((int64_t *)f->cy)[i] = i % CLASSES;
    train.c.x = f->cx;
    train.c.classes = f->cy;
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS_W4, sizes_w4[0]}, 2, f->dtype);
    f->y = tn_from_array(f->cy, (int64_t[]){POINTS_W4}, 1, TN_INT64);
    train.optimizer = tn_adam(tn_parameters(train.net), &(tn_adam_options){.lr = training_rate});
    return f->x && f->y && train.optimizer;
}

static bool setup_w5(fixture *f)
{
    f->numel = POINTS_W5 * SIDE_W5;
    f->result_numel = SIDE_W5 * SIDE_W5;
    f->cx = bench_values(f, f->numel, 0, 1, 0);
    f->cy = bench_values(f, f->numel, 1, 1, 0);
    f->cout = bench_block(f, (size_t)f->result_numel * sizeof(float));
    if (!f->cx || !f->cy || !f->cout || !training_begin(f, &train, 1, sizes_w5, POINTS_W5, TRAIN_MSE))
        return false;
    train.c.x = f->cx;
    train.c.y = f->cy;
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS_W5, SIDE_W5}, 2, f->dtype);
    f->y = tn_from_array(f->cy, (int64_t[]){POINTS_W5, SIDE_W5}, 2, f->dtype);
    train.optimizer = tn_sgd(tn_parameters(train.net), &(tn_sgd_options){.lr = training_rate});
    return f->x && f->y && train.optimizer;
}

static tn_tensor *steps(fixture *f, int64_t n, tn_tensor *(*lossof)(tn_tensor *, tn_tensor *, tn_reduction))
{
    for (; n > 0; n--) {
        tn_scope scope = tn_scope_begin();
        tn_zero_grad(train.optimizer);
        tn_backward(lossof(tn_forward(train.net, f->x), f->y, TN_MEAN));
        tn_step(train.optimizer);
        tn_scope_end(scope);
    }
    return tn_grad_of(train.parameter[0]);
}

static tn_tensor *tenon_w4(fixture *f, int64_t n)
{
    return steps(f, n, tn_cross_entropy);
}

static tn_tensor *tenon_w5(fixture *f, int64_t n)
{
    return steps(f, n, tn_mse_loss);
}

static void c_w4(fixture *f, int64_t n)
{
    training_c(f, &train, n, training_c_adam);
}

static void c_w5(fixture *f, int64_t n)
{
    training_c(f, &train, n, training_c_sgd);
}

const row rows_w4[] = {
    {.work = "W4",
     .name = "step",
     .unit = UNIT_MS,
     .dtypes = DTYPE_F32,
     .setup = setup_w4,
     .tenon = tenon_w4,
     .c = c_w4},
};
const int rows_w4_count = sizeof rows_w4 / sizeof *rows_w4;

/* Products: three forward, three of gradients of weights, two of gradients of inputs. */
const row rows_w5[] = {
    {.work = "W5",
     .name = "step",
     .unit = UNIT_GFLOPS,
     .dtypes = DTYPE_F32,
     .traffic = 8.0 * 2 * POINTS_W5 * SIDE_W5 * SIDE_W5,
     .setup = setup_w5,
     .tenon = tenon_w5,
     .c = c_w5},
};
const int rows_w5_count = sizeof rows_w5 / sizeof *rows_w5;
