/* W2: one full-batch step of training 2-16-16-1 (ReLU inside, logits out) on 200 points: forward, binary cross-entropy
 * of the logits, backward, SGD or Adam. The rate is so small that the weights, those of W1, stay: every step gives the
 * same gradient, that of the first weight, which is compared. */
#include "bench.h"
#include "yardstick_train.h"
#include <string.h>

enum { POINTS = 200, LAYERS = 3, PARAMETERS = 2 * LAYERS };
static const int64_t sizes[LAYERS + 1] = {2, 16, 16, 1};
static const double rate = 1e-9;

static train_job train;
static tn_tensor *parameters[PARAMETERS], *moments[2][PARAMETERS];
static int64_t adam_steps;

/* Parameter i, weight [out, in] or bias, in both sides; the yardstick's stands at *room with its gradient and moments,
 * zero, behind it. */
static bool make_parameter(fixture *f, int i, float **room)
{
    const int layer = i / 2, out = (int)sizes[layer + 1], n = i % 2 ? out : out * (int)sizes[layer];
    const size_t bytes = (size_t)n * sizeof(float);
    const float *values = bench_values(f, n, (uint32_t)(i % 2 ? 20 + layer : 10 + layer), 0.25, -0.25);
    tn_tensor *p = parameters[i] = tn_parameter(f->net, i);
    void *data = p ? tn_data_mut(p) : NULL;
    if (!values || !data)
        return false;
    memcpy(data, values, bytes);
    float *own = *room;
    *room += 4 * n;
    memset(own, 0, 4 * bytes);
    memcpy(own, values, bytes);
    train.parameter[i] = (train_parameter){own, own + n, own + 2 * n, own + 3 * n, n};
    for (int k = 0; k < 2; k++)
        moments[k][i] = tn_zeros(tn_sizes(p), tn_ndim(p), f->dtype);
    return moments[0][i] && moments[1][i] && tn_requires_grad_(p, true) == TN_OK;
}

static bool setup(fixture *f)
{
    const size_t hidden = POINTS * 16 * sizeof(float);
    f->numel = POINTS * 2;
    f->result_numel = 32;
    f->cx = bench_values(f, POINTS * 2, 0, 1, 0);
    f->cy = bench_block(f, POINTS * sizeof(float));
    f->cout = bench_block(f, 32 * sizeof(float));
    f->net = tn_mlp(sizes, LAYERS + 1, f->dtype);
    train = (train_job){.x = f->cx, .y = f->cy, .points = POINTS};
    for (int i = 0; i < 3; i++) {
        train.h[i] = bench_block(f, hidden);
        train.g[i] = bench_block(f, hidden);
        if (!train.h[i] || !train.g[i])
            return false;
    }
    float *room = bench_block(f, 4 * 337 * sizeof(float));
    if (!f->cx || !f->cy || !f->cout || !f->net || !room)
        return false;
    for (int i = 0; i < POINTS; i++)
        ((float *)f->cy)[i] = (float)(i % 2);
    for (int i = 0; i < PARAMETERS; i++)
        if (!make_parameter(f, i, &room))
            return false;
    adam_steps = train.steps = 0;
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS, 2}, 2, f->dtype);
    f->y = tn_from_array(f->cy, (int64_t[]){POINTS, 1}, 2, f->dtype);
    return f->x && f->y;
}

static void gradients(fixture *f)
{
    for (int i = 0; i < PARAMETERS; i++)
        tn_set_grad(parameters[i], NULL);
    tn_backward(tn_bce_with_logits(tn_forward(f->net, f->x), f->y, TN_MEAN));
}

static tn_tensor *tenon_sgd(fixture *f, int64_t n)
{
    for (; n > 0; n--) {
        tn_scope scope = tn_scope_begin();
        gradients(f);
        tn_grad_mode mode = tn_no_grad();
        for (int i = 0; i < PARAMETERS; i++)
            tn_sgd_step_(parameters[i], tn_grad_of(parameters[i]), NULL, &(tn_sgd_step_options){.lr = rate});
        tn_grad_mode_restore(mode);
        tn_scope_end(scope);
    }
    return tn_grad_of(parameters[0]);
}

static tn_tensor *tenon_adam(fixture *f, int64_t n)
{
    for (; n > 0; n--) {
        tn_scope scope = tn_scope_begin();
        gradients(f);
        const tn_adam_step_options o = {.step = ++adam_steps, .lr = rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
        tn_grad_mode mode = tn_no_grad();
        for (int i = 0; i < PARAMETERS; i++)
            tn_adam_step_(parameters[i], tn_grad_of(parameters[i]), moments[0][i], moments[1][i], NULL, &o);
        tn_grad_mode_restore(mode);
        tn_scope_end(scope);
    }
    return tn_grad_of(parameters[0]);
}

static void c_sgd(fixture *f, int64_t n)
{
    for (; n > 0; n--) {
        train_gradients(&train);
        train_sgd(&train, (float)rate);
    }
    memcpy(f->cout, train.parameter[0].grad, 32 * sizeof(float));
}

static void c_adam(fixture *f, int64_t n)
{
    for (; n > 0; n--) {
        train_gradients(&train);
        train_adam(&train, rate);
    }
    memcpy(f->cout, train.parameter[0].grad, 32 * sizeof(float));
}

const row rows_w2[] = {
    {.work = "W2",
     .name = "SGD",
     .unit = UNIT_US,
     .dtypes = DTYPE_F32,
     .setup = setup,
     .tenon = tenon_sgd,
     .c = c_sgd},
    {.work = "W2",
     .name = "Adam",
     .unit = UNIT_US,
     .dtypes = DTYPE_F32,
     .setup = setup,
     .tenon = tenon_adam,
     .c = c_adam},
};
const int rows_w2_count = sizeof rows_w2 / sizeof *rows_w2;
