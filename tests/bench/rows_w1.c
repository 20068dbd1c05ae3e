/* W1: forward of 2-16-16-1 (ReLU, ReLU, sigmoid) on 200 points. Weights and biases are in [-0.5, 0.5). */
#include "bench.h"
#include "yardstick.h"
#include <string.h>

enum { POINTS = 200, LAYERS = 3 };
static const int64_t sizes[LAYERS + 1] = {2, 16, 16, 1};

static forward_job forward;
static product_f32 *product32;
static product_f64 *product64;

/* Layer i of Tenon's net, with weight [out, in] and bias as given, and the activation behind it. */
static bool append_layer(fixture *f, int i, const void *weight, const void *bias)
{
    size_t bytes = tn_itemsize(f->dtype);
    tn_module *linear = tn_linear_module(sizes[i], sizes[i + 1], true, f->dtype);
    tn_sequential_append(f->net, linear);
    tn_sequential_append(f->net, i + 1 < LAYERS ? tn_relu_module() : tn_sigmoid_module());
    void *w = tn_data_mut(tn_parameter(linear, 0)), *b = tn_data_mut(tn_parameter(linear, 1));
    if (!w || !b)
        return false;
    memcpy(w, weight, (size_t)(sizes[i] * sizes[i + 1]) * bytes);
    memcpy(b, bias, (size_t)sizes[i + 1] * bytes);
    return true;
}

/* The yardstick's weight [in, out], from one stored [out, in]. */
static void *transposed(fixture *f, const char *weight, int64_t out, int64_t in)
{
    size_t bytes = tn_itemsize(f->dtype);
    char *w = bench_block(f, (size_t)(out * in) * bytes);
    for (int64_t i = 0; w && i < out * in; i++)
        memcpy(w + (size_t)(i % in * out + i / in) * bytes, weight + (size_t)i * bytes, bytes);
    return w;
}

static bool setup(fixture *f)
{
    size_t hidden = POINTS * 16 * tn_itemsize(f->dtype);
    f->numel = POINTS * 2;
    f->result_numel = POINTS;
    f->cx = bench_values(f, POINTS * 2, 0, 1, 0);
    f->cout = bench_block(f, hidden);
    f->net = tn_sequential();
    forward = (forward_job){
        .x = f->cx, .h1 = bench_block(f, hidden), .h2 = bench_block(f, hidden), .out = f->cout, .points = POINTS};
    bool ok = f->cx && f->cout && f->net && forward.h1 && forward.h2;
    for (int i = 0; ok && i < LAYERS; i++) {
        void *weight = bench_values(f, sizes[i] * sizes[i + 1], 10 + (uint32_t)i, 0.25, -0.25);
        void *bias = bench_values(f, sizes[i + 1], 20 + (uint32_t)i, 0.25, -0.25);
        ok = weight && bias && append_layer(f, i, weight, bias);
        forward.b[i] = bias;
        forward.w[i] = ok ? transposed(f, weight, sizes[i + 1], sizes[i]) : NULL;
        ok = forward.w[i] != NULL;
    }
    if (!ok)
        return false;
    if (!yardstick_openblas(&product32, &product64)) {
        product32 = yardstick_pick()->product_f32;
        product64 = yardstick_pick()->product_f64;
    }
    f->x = tn_from_array(f->cx, (int64_t[]){POINTS, 2}, 2, f->dtype);
    return f->x != NULL;
}

/* Nothing is recorded, as in the peers' inference mode. */
static tn_tensor *tenon(fixture *f, int64_t n)
{
    tn_grad_mode mode = tn_no_grad();
    for (; n > 1; n--) {
        tn_tensor *y = tn_forward(f->net, f->x);
        tn_drop(&y);
    }
    tn_tensor *last = tn_forward(f->net, f->x);
    tn_grad_mode_restore(mode);
    return last;
}

static void c(fixture *f, int64_t n)
{
    const yardstick *y = yardstick_pick();
    for (; n > 0; n--) {
        if (f->dtype == TN_FLOAT32)
            y->forward_f32(&forward, product32);
        else
            y->forward_f64(&forward, product64);
    }
}

const row rows_w1[] = {
    {.work = "W1",
     .name = "forward",
     .unit = UNIT_US,
     .dtypes = DTYPE_F32 | DTYPE_F64,
     .setup = setup,
     .tenon = tenon,
     .c = c},
};
const int rows_w1_count = sizeof rows_w1 / sizeof *rows_w1;
